"""What stands below curves over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocensor._checks import escaped
from cocensor.data import RiskTable
from cocensor.data.times import TimeAxis
from cocensor.views.plots.panels import ticks_with_room

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The colour of what is said of all curves alike.
INK = "0.2"
# In points: from one line of numbers to the next, and from the label of the axis to the first.
_LINE, _GAP = 12.0, 3.0
_SMALL: dict[str, Any] = {"fontsize": "small", "va": "top", "annotation_clip": False}


@dataclass(frozen=True, eq=False)
class BelowCurves:
    """What time is called, and how many are at risk: by the colour of the numbers, the outcomes of a sample."""

    time_axis: TimeAxis
    at_risk: Mapping[str, RiskTable]

    @classmethod
    def of(cls, time_axis: TimeAxis, table: RiskTable | None) -> BelowCurves:
        """With the numbers of one sample, where they are known."""
        return cls(time_axis, {} if table is None else {INK: table})

    def n_lines(self, at_risk: bool) -> int:
        """How many lines the numbers at risk take, their heading among them."""
        return 1 + len(self.at_risk) if at_risk and self.at_risk else 0

    def draw(self, ax: Axes, start: float, end: float, at_risk: bool) -> None:
        """Mark the axis of time from ``start`` to ``end``, with the numbers at risk below the marks if asked to."""
        marks = self.time_axis.marks(start, end)
        ax.set(xlabel=escaped(self.time_axis.label), xlim=(start, end))
        ax.set_xticks(marks)
        if not self.n_lines(at_risk):
            return
        rows = {
            colour: [_count(n) for n in table.at_risk_at(marks)] for colour, table in self.at_risk.items()
        }
        widest = [max(texts, key=len) for texts in zip(*rows.values(), strict=True)]
        kept = {at for _, at in ticks_with_room(ax, zip(widest, marks, strict=True))}
        labels: Any = ax.xaxis.get_tightbbox()
        down = (labels.y0 - ax.bbox.y0) * 72.0 / ax.figure.dpi - _GAP
        below = {"xycoords": ax.get_xaxis_transform(), "textcoords": "offset points", **_SMALL}
        ax.annotate("number at risk", (start, 0.0), (0.0, down), color=INK, **below)
        for line, (colour, texts) in enumerate(rows.items(), start=1):
            for at, text in zip(marks, texts, strict=True):
                if at in kept:
                    place = (0.0, down - line * _LINE)
                    ax.annotate(text, (at, 0.0), place, ha="center", color=colour, **below)


def _count(n: float) -> str:
    """A number at risk, which is whole unless subjects have weights."""
    return f"{n:,.0f}" if float(n).is_integer() else f"{n:,.1f}"
