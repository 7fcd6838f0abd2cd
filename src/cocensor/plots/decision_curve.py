"""Net benefit over thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from cocensor.plots.lines import Line, draw_lines
from cocensor.plots.panels import draw_panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# How far the axis reaches below 0, as a share of what lies above it: "treat all" falls without end.
_DEEPEST = 0.25


@dataclass(eq=False)
class DecisionCurveDisplay:
    """The net benefit of treating whom a model gives a risk above a threshold, over thresholds, a panel per time.

    Whoever treats at a risk of 20 % takes four needless treatments for one that is needed. At that threshold a model is
    of use if its net benefit is above that of treating all, and of treating none, which is 0. Far below 0 the axis is
    cut.

    Attributes
    ----------
    models : tuple of str
        All models of the evaluation: a model has the same line in every display.
    panels : dict of dict of Line
        By time and model, the net benefit over thresholds.
    treat_all : dict of Line
        By time.
    adjustment : str
        What the net benefit is adjusted by.
    shaded : str
        What the shaded areas are; empty where nothing is shaded.
    """

    models: tuple[str, ...]
    panels: dict[float, dict[str, Line]]
    treat_all: dict[float, Line]
    adjustment: str
    shaded: str = ""

    def plot(self, ax: Axes | Sequence[Axes] | None = None) -> Axes | list[Axes]:
        """Draw into ``ax``, one axes per time, or into a new figure; returns the axes, several as a list."""
        return draw_panels([partial(self._draw, t) for t in self.panels], ax)

    def _draw(self, t: float, ax: Axes) -> None:
        everyone = self.treat_all[t]
        ax.plot(everyone.x, everyone.y, color="0.6", linewidth=2.5, zorder=2, label="treat all")
        ax.axhline(0.0, color="black", linewidth=1.0, zorder=2, label="treat none")
        draw_lines(ax, self.models, self.panels[t], self.shaded)
        ax.set(xlabel="threshold of the predicted risk", ylabel=f"net benefit, {self.adjustment}")
        ax.set_title(f"event by time {t:g}")
        ax.set(xlim=(float(everyone.x.min()), float(everyone.x.max())), ylim=self._limits())

    def _limits(self) -> tuple[float, float]:
        """One range for all panels, that holds the models as far as they are near 0 or above."""
        lines = [line for panel in self.panels.values() for line in panel.values()]
        ends = np.concatenate([each for line in lines for each in (line.y, line.low, line.high)])
        top = 1.05 * float(
            max(np.nanmax(ends), *(np.nanmax(line.y) for line in self.treat_all.values()), 1e-3)
        )
        return max(min(0.0, 1.1 * float(np.nanmin(ends))), -_DEEPEST * top) - 0.02 * top, top
