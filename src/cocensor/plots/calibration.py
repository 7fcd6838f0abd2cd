"""Calibration at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from cocensor._validation import FloatArray
from cocensor.plots.lines import Line
from cocensor.plots.panels import draw_panels, wrapped
from cocensor.plots.style import line_styles, shade

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Of the height above 0: where the histogram of the predictions ends, and where it starts.
_STRIP = (-0.24, -0.04)
_GROUP: dict[str, Any] = {"marker": "o", "markersize": 5.0, "markerfacecolor": "white", "linestyle": "none", "zorder": 4}
_NO_MARK: dict[str, Any] = {"linestyle": "none", "marker": "none", "zorder": 2}
_BARS: dict[str, Any] = {"color": "0.75", "edgecolor": "0.5", "linewidth": 0.5}


@dataclass(frozen=True, eq=False)
class CalibrationPanel:
    """What is known of one model at one time.

    ``curve`` is the observed risk over the predicted one, with its limits; ``groups`` are subjects with like predictions,
    by mean prediction, with the same; ``counts`` says how many predictions lie between each two of ``edges``.
    """

    model: str
    time: float
    curve: Line
    groups: Line
    counts: FloatArray
    edges: FloatArray
    summary: str


@dataclass(eq=False)
class CalibrationDisplay:
    """Observed against predicted risks: a smooth curve and groups of subjects, a panel per model and time.

    Of subjects for whom a calibrated model predicts a risk of 20 %, 20 % have the event: its curve is the diagonal. Above
    it risks are underrated, below it overrated. Bars below show for how many subjects a risk was predicted: where there
    are few, the curve is guesswork, as the shaded limits say.

    Attributes
    ----------
    models : tuple of str
        All models of the evaluation: a model has the same line in every display.
    panels : tuple of CalibrationPanel
    adjustment : str
        What the observed risks are adjusted by.
    shaded : str
        What the shaded areas and the error bars are; empty where there are none.
    """

    models: tuple[str, ...]
    panels: tuple[CalibrationPanel, ...]
    adjustment: str
    shaded: str = ""

    def plot(self, ax: Axes | Sequence[Axes] | None = None) -> Axes | list[Axes]:
        """Draw into ``ax``, one axes per model and time, or into a new figure; returns the axes, several as a list."""
        size = (5.2, 5.2) if len(self.panels) == 1 else (3.4, 3.9)
        return draw_panels([partial(self._draw, panel) for panel in self.panels], ax, size=size)

    def _draw(self, panel: CalibrationPanel, ax: Axes) -> None:
        colour = next(style["color"] for model, style in zip(self.models, line_styles(), strict=False) if model == panel.model)
        top, groups = self._top, panel.groups
        ax.plot([0.0, top], [0.0, top], color="0.6", linewidth=1.0, zorder=1)
        ax.plot(panel.curve.x, panel.curve.y, color=colour, zorder=3)
        shade(ax, panel.curve.x, (panel.curve.low, panel.curve.high), colour)
        reach = np.stack((groups.y - groups.low, groups.high - groups.y))
        known = np.isfinite(reach).all(axis=0)
        ax.errorbar(groups.x[known], groups.y[known], reach[:, known], color=colour, linewidth=1.0, **_NO_MARK)
        ax.plot(groups.x, groups.y, color=colour, **_GROUP)
        bottom, ceiling = (top * end for end in _STRIP)
        heights = (ceiling - bottom) * panel.counts / max(panel.counts.max(), 1)
        ax.bar(panel.edges[:-1], heights, np.diff(panel.edges), bottom, align="edge", label="how many predictions", **_BARS)
        ax.axhline(0.0, color="black", linewidth=0.6, zorder=1)
        self._explain(ax)
        ax.set(xlabel=f"predicted risk by time {panel.time:g}", ylabel=f"observed risk, {self.adjustment}")
        ax.set(xlim=(0.0, top), ylim=(bottom, top))
        ax.set_yticks([tick for tick in ax.get_xticks() if 0.0 <= tick <= top])
        ax.set_title(f"{wrapped(panel.model)}\n{panel.summary}", fontsize="medium")

    def _explain(self, ax: Axes) -> None:
        """What a legend shows, in grey, as it holds of all models."""
        ax.plot([], [], color="0.6", linewidth=1.0, label="as predicted")
        ax.plot([], [], color="0.2", label="smooth curve")
        ax.plot([], [], color="0.2", label="groups of subjects", **_GROUP)
        if self.shaded:
            ax.fill_between([], [], color="0.5", alpha=0.3, linewidth=0, label=self.shaded)

    @property
    def _top(self) -> float:
        """The end of the axes: of risks, predicted and observed, of all panels."""
        highest = [
            np.nanmax(np.concatenate((panel.curve.x, panel.curve.y, panel.groups.x, panel.groups.y)))
            for panel in self.panels
        ]
        return min(1.0, 1.08 * float(max(highest)))
