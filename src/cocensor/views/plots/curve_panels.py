"""A panel of curves with their bands, what they are read against, and the axis of time below them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray, IntArray, escaped
from cocensor.data import RiskTable
from cocensor.data.times import TimeAxis
from cocensor.views.plots.panels import NAMED, Tick, ticks_with_room
from cocensor.views.plots.style import TRUTH, ZERO, Legend, Limits, Look, area, explain, line_styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The colour of what is said of all curves alike.
INK = "0.2"
# In points: from one line of numbers at risk to the next, and from the label of the axis to the first.
_LINE, _GAP = 12.0, 3.0
_SMALL: dict[str, Any] = {"fontsize": "small", "va": "top", "annotation_clip": False}
#: Groups of subjects around a calibration curve.
GROUP: Look = {"marker": "o", "markersize": 5.0, "markerfacecolor": "white", "linestyle": "none"}
_HISTOGRAM: dict[str, Any] = {"color": "0.75", "edgecolor": "0.5", "linewidth": 0.5, "align": "edge"}
_BARS: dict[str, Any] = {"edgecolor": "0.3", "linewidth": 0.6, "alpha": 0.5, "zorder": 1, "align": "edge"}
# A histogram lies below 0, between these shares of the height above.
_STRIP = (-0.24, -0.04)
# Shading around a line, and of limits without one.
_PALE, _DARK = 0.15, 0.3


class Line(NamedTuple):
    """Values along x, their limits where there are any, and how the line differs in look."""

    x: FloatArray
    y: FloatArray
    limits: Limits | None = None
    look: Look | None = None


class Marks(NamedTuple):
    """Dots in the colour of a name, with an interval each where there are limits."""

    name: str
    x: npt.ArrayLike
    y: npt.ArrayLike
    look: Look
    limits: Limits | None = None


class Guide(NamedTuple):
    """A line that curves are read against, with its text in the legend; upright without y, level without x."""

    label: str
    x: Any
    y: Any
    look: Look


#: Where a difference is 0.
AT_ZERO = Guide("", None, 0.0, ZERO)


@dataclass(frozen=True, eq=False)
class CurvePanel:
    """Curves of one panel."""

    lines: dict[str, Line]
    guides: Sequence[Guide] = ()
    title: str = ""
    xlabel: str = ""
    ylabel: str = ""
    #: The true values of lines by name, one number where they do not vary.
    truth: Mapping[str, FloatArray | float] = field(default_factory=dict)
    marks: Sequence[Marks] = ()
    #: By name the left ends, heights and widths of bars, of which the last is hatched.
    bars: Mapping[str, tuple[FloatArray, FloatArray, FloatArray]] = field(default_factory=dict)
    #: Counts and edges of bars below 0.
    histogram: tuple[IntArray, FloatArray] | None = None
    xlim: tuple[float, float] | None = None
    ylim: tuple[float | None, float | None] = (None, None)
    xticks: Sequence[Tick] = ()
    #: Draws what lies along x.
    axis: Callable[[Axes], None] | None = None

    def draw(
        self, ax: Axes, names: Sequence[str], labels: Mapping[str, str], legend: Legend, shaded: str
    ) -> None:
        """Draw the lines of the names that have one, in the style that belongs to the place of the name."""
        styles = dict(zip(names, line_styles(), strict=False))
        for label, x, y, look in self.guides:
            if y is None:
                ax.axvline(x, label=label, **look)
            elif x is None:
                ax.axhline(y, label=label, **look)
            else:
                ax.plot(x, y, label=label, **look)
        for name, style in styles.items():
            if name in self.lines:
                line, label = self.lines[name], labels.get(name, escaped(name))
                look = {"zorder": 3} | style | dict(line.look or {})
                ends_named = name not in labels and look["linestyle"] != "none"
                ax.plot(line.x, line.y, label=label, gid=NAMED if ends_named else None, **look)
                _shade(ax, line, style["color"])
        for mark in self.marks:
            look = {"color": styles[mark.name]["color"], "zorder": 4, **mark.look}
            ax.plot(mark.x, mark.y, **look)
            if mark.limits is not None:
                ax.vlines(mark.x, *mark.limits, color=look["color"], linewidth=1.0, zorder=2)
        for name, (left, height, width) in self.bars.items():
            ax.bar(left, height, width, color=styles[name]["color"], **_BARS)[-1].set_hatch("///")
        explain(ax, legend)
        if any(line.limits is not None and np.isfinite(line.limits[0]).any() for line in self.lines.values()):
            explain(ax, [(shaded, area("0.5", 0.3))])
        for name in filter(self.lines.__contains__, self.truth):
            value, look = self.truth[name], {"color": styles[name]["color"]} | TRUTH
            if isinstance(value, float):
                ax.axhline(value, **look)
            else:
                ax.plot(self.lines[name].x, value, **look)
        if self.truth:
            explain(ax, [("truth", {"color": "0.4"} | TRUTH)])
        ax.set(xlabel=self.xlabel, ylabel=self.ylabel)
        ax.set_title(self.title, fontsize="medium")
        if self.xticks:
            ax.set_xticks([at for _, at in self.xticks], [text for text, _ in self.xticks])
        if self.xlim is not None:
            ax.set_xlim(self.xlim)
        if self.ylim != (None, None):
            ax.set_ylim(*self.ylim)
        if self.histogram is not None:
            _draw_histogram(ax, *self.histogram)
        if self.axis is not None:
            self.axis(ax)


def _shade(ax: Axes, line: Line, colour: str) -> None:
    """Fill what lies between the limits of a line; where one limit is missing, nothing."""
    if line.limits is not None and np.isfinite(line.limits[0] + line.limits[1]).any():
        step: Any = "post" if "drawstyle" in (line.look or {}) else None
        alpha = _PALE if np.isfinite(line.y).any() else _DARK
        ax.fill_between(line.x, *line.limits, step=step, color=colour, alpha=alpha, linewidth=0, zorder=0.5)


def _draw_histogram(ax: Axes, counts: IntArray, edges: FloatArray) -> None:
    """Bars below 0, and ticks of y from 0 on alone, at the places of those of x."""
    top = ax.get_ylim()[1]
    bottom, ceiling = (top * share for share in _STRIP)
    heights, label = (ceiling - bottom) * counts / max(counts.max(), 1), "number of predictions"
    ax.bar(edges[:-1], heights, np.diff(edges), bottom, label=label, **_HISTOGRAM)
    ax.set_ylim(bottom, top)
    ax.set_yticks([tick for tick in ax.get_xticks() if 0.0 <= tick <= top])


@dataclass(frozen=True, eq=False)
class BelowCurves:
    """The axis of time below curves, and the outcomes behind the numbers at risk, by the colour of the numbers."""

    time_axis: TimeAxis
    at_risk: Mapping[str, RiskTable]

    @classmethod
    def of(cls, time_axis: TimeAxis, table: RiskTable | None) -> BelowCurves:
        """With the numbers of one sample, where they are known."""
        return cls(time_axis, {} if table is None else {INK: table})

    @property
    def n_lines(self) -> int:
        """The number of lines that the numbers at risk take, their heading among them."""
        return len(self.at_risk) + bool(self.at_risk)

    def draw(self, ax: Axes, start: float, end: float) -> None:
        """Mark the axis of time from ``start`` to ``end``, with the numbers at risk below the marks."""
        marks = self.time_axis.marks(start, end)
        ax.set(xlabel=escaped(self.time_axis.label), xlim=(start, end))
        ax.set_xticks(marks)
        if not self.at_risk:
            return
        rows = {
            colour: [f"{n:,.{0 if n == int(n) else 1}f}" for n in table.at_risk_at(marks)]
            for colour, table in self.at_risk.items()
        }
        widest = [max(texts, key=len) for texts in zip(*rows.values(), strict=True)]
        kept = {at for _, at in ticks_with_room(ax, zip(widest, marks, strict=True))}
        labels: Any = ax.xaxis.get_tightbbox()
        down = (labels.y0 - ax.bbox.y0) * 72.0 / ax.figure.dpi - _GAP
        below = {"xycoords": ax.get_xaxis_transform(), "textcoords": "offset points", **_SMALL}
        ax.annotate("number at risk", (start, 0.0), (0.0, down), color=INK, **below)
        for line, (colour, texts) in enumerate(rows.items(), start=1):
            place = (0.0, down - line * _LINE)
            for at, text in zip(marks, texts, strict=True):
                if at in kept:
                    ax.annotate(text, (at, 0.0), place, ha="center", color=colour, **below)
