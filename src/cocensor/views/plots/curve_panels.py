"""A panel of curves with their bands, and what they are read against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray, IntArray, escaped
from cocensor.views.plots.style import TRUTH, Limits, explain_area, line_styles, shade

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Groups of subjects around a calibration curve.
GROUP: dict[str, Any] = {
    "marker": "o",
    "markersize": 5.0,
    "markerfacecolor": "white",
    "linestyle": "none",
    "zorder": 4,
}
_BARS: dict[str, Any] = {
    "color": "0.75",
    "edgecolor": "0.5",
    "linewidth": 0.5,
    "align": "edge",
    "label": "number of predictions",
}
# A histogram lies below 0, between these shares of the height above.
_STRIP = (-0.24, -0.04)
# Shading around a line, and between limits alone.
_PALE, _DARK = 0.15, 0.35


class Line(NamedTuple):
    """Values along x, and the lower and the upper limits of all, if there are any."""

    x: FloatArray
    y: FloatArray
    limits: Limits | None = None


class Guide(NamedTuple):
    """A line that curves are read against, with its text in the legend, if any."""

    label: str
    x: npt.ArrayLike
    y: npt.ArrayLike
    look: dict[str, Any]


@dataclass(frozen=True, eq=False)
class CurvePanel:
    """Curves of one panel.

    By name, ``truth`` has the true values of lines, and ``groups`` dots with intervals around a line. ``histogram``
    has counts and edges of bars below.
    """

    lines: dict[str, Line]
    guides: Sequence[Guide] = ()
    title: str = ""
    xlabel: str = ""
    ylabel: str = ""
    truth: dict[str, FloatArray] = field(default_factory=dict)
    groups: dict[str, Line] = field(default_factory=dict)
    histogram: tuple[IntArray, FloatArray] | None = None
    xlim: tuple[float, float] | None = None
    ylim: tuple[float, float] | None = None
    bottom: float | None = None

    def draw(
        self, ax: Axes, names: Sequence[str], legend: Mapping[str, str], shaded: str, look: dict[str, Any]
    ) -> None:
        """Draw the lines of the names that have one, in the style that belongs to the place of the name."""
        for guide in self.guides:
            ax.plot(guide.x, guide.y, label=guide.label, **guide.look)
        for name, style in zip(names, line_styles(), strict=False):
            if name not in self.lines:
                continue
            line, colour = self.lines[name], style["color"]
            ax.plot(line.x, line.y, label=legend.get(name, escaped(name)), **{"zorder": 3} | style | look)
            if line.limits is not None:
                alpha = _PALE if np.isfinite(line.y).any() else _DARK
                shade(ax, line.x, line.limits, colour, alpha, "post" if "drawstyle" in look else None)
            if name in self.truth:
                ax.plot(line.x, self.truth[name], color=colour, **TRUTH)
            if name in self.groups:
                x, y, limits = self.groups[name]
                ax.plot(x, y, color=colour, **GROUP)
                if limits is not None:
                    ax.vlines(x, *limits, color=colour, linewidth=1.0, zorder=2)
        if any(line.limits is not None and np.isfinite(line.limits[0]).any() for line in self.lines.values()):
            explain_area(ax, shaded)
        if self.truth:
            ax.plot([], [], color="0.4", label="truth", **TRUTH)
        ax.set(xlabel=self.xlabel, ylabel=self.ylabel)
        ax.set_title(self.title, fontsize="medium")
        if self.xlim is not None:
            ax.set_xlim(self.xlim)
        if self.ylim is not None:
            ax.set_ylim(self.ylim)
        if self.bottom is not None:
            ax.set_ylim(bottom=self.bottom)
        if self.histogram is not None:
            _draw_histogram(ax, *self.histogram)


def _draw_histogram(ax: Axes, counts: IntArray, edges: FloatArray) -> None:
    """Bars below 0, and ticks of y from 0 on alone, at the places of those of x."""
    top = ax.get_ylim()[1]
    bottom, ceiling = (top * share for share in _STRIP)
    ax.bar(edges[:-1], (ceiling - bottom) * counts / max(counts.max(), 1), np.diff(edges), bottom, **_BARS)
    ax.set_ylim(bottom, top)
    ax.set_yticks([tick for tick in ax.get_xticks() if 0.0 <= tick <= top])
