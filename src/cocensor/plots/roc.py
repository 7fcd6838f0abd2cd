"""ROC curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from cocensor._validation import escaped
from cocensor.plots.lines import Line, draw_lines
from cocensor.plots.panels import draw_panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False)
class RocDisplay:
    """Who had the event by a time against who is still event-free: a ROC curve per model, a panel per time.

    The higher a curve, the better: a model finds more of those who had the event for the same share of false alarms. On
    the diagonal it does no better than chance.

    Attributes
    ----------
    models : tuple of str
        All models of the evaluation: a model has the same line in every display.
    panels : dict of dict of Line
        By time and model, the share of events found over the share of false alarms.
    areas : dict of dict of str
        By time and model, the area under the curve (AUC), with its interval.
    labels : pair of str
        What the axes show.
    adjustment : str
        What the curves are adjusted by.
    shaded : str
        What the shaded areas are; empty where nothing is shaded.
    """

    models: tuple[str, ...]
    panels: dict[float, dict[str, Line]]
    areas: dict[float, dict[str, str]]
    labels: tuple[str, str]
    adjustment: str
    shaded: str = ""

    def plot(self, ax: Axes | Sequence[Axes] | None = None) -> Axes | list[Axes]:
        """Draw into ``ax``, one axes per time, or into a new figure; returns the axes, several as a list."""
        size = (5.2, 4.8) if len(self.panels) == 1 else (3.4, 3.6)
        return draw_panels([partial(self._draw, t) for t in self.panels], ax, size=size)

    def _draw(self, t: float, ax: Axes) -> None:
        ax.plot([0.0, 1.0], [0.0, 1.0], color="0.6", linewidth=1.0, zorder=1, label="chance")
        draw_lines(ax, self.models, self.panels[t], self.shaded, self._labels())
        ax.set(xlabel=self.labels[0], ylabel=self.labels[1], xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        ax.set_title(f"{self.adjustment}\nevent by time {t:g}")

    def _labels(self) -> dict[str, str]:
        """The models with their areas at all times, as all panels share one legend."""
        several = len(self.areas) > 1
        told = {model: [] for model in self.models}
        for t, areas in self.areas.items():
            for model, area in areas.items():
                told[model].append(f"{area} by {t:g}" if several else area)
        return {model: f"{escaped(model)}: AUC {', '.join(each)}" for model, each in told.items()}
