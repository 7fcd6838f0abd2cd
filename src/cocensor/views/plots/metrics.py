"""Several metrics at chosen times at a glance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cocensor._checks import FloatArray, as_tuple
from cocensor.data import TimeAxis
from cocensor.inference.comparisons import Direction
from cocensor.metrics.single_time import label_without_time, time_in_label
from cocensor.study.evaluation import Evaluation, results_of
from cocensor.study.lookup import metric_named
from cocensor.study.standing import standing
from cocensor.views.plots.comparison import Rows
from cocensor.views.plots.panels import draw_panels, wrapped
from cocensor.views.plots.style import MARKERS, line_styles
from cocensor.views.text.digits import level_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# How much of the room of a model the dots of several times take.
_SPREAD = 0.6


@dataclass(frozen=True, eq=False)
class MetricPanel:
    """One metric: by time, or None for a value over all times, what it says of each model."""

    label: str
    direction: Direction
    rows: dict[float | None, Rows]
    reference: dict[float | None, float]
    truth: dict[float | None, FloatArray]


@dataclass(eq=False)
class MetricsDisplay:
    """A panel per metric, a row per model, a dot with its interval per time.

    Filled dots are the models that cannot be distinguished from the best, by metric and time. Grey ticks are
    those of one Kaplan–Meier curve for everybody, which is calibrated, and orders nobody. Diamonds are the true
    values, where data are simulated.

    Attributes
    ----------
    models : tuple of str
    panels : tuple of MetricPanel
    adjustment : str
        What all values are adjusted by.
    mark : str
        What filled dots are.
    time_axis : TimeAxis
        What time is called, and its unit.

    Examples
    --------
    >>> import cocensor as cc
    >>> from cocensor.views.plots import MetricsDisplay
    >>> y = cc.Survival([1, 2, 3, 4], [1, 1, 1, 1])
    >>> models = {"half": [[0.5, 0.5]] * 4, "sure": [[0.9, 0.1]] * 4}
    >>> result = cc.evaluate(models, y, adjustments="ipcw", metrics=["ibs", "auc"], times=[1.0, 2.0])
    >>> display = MetricsDisplay.from_evaluation(result)
    >>> [panel.label for panel in display.panels]
    ['integrated Brier score', 'mean AUC']
    >>> display.panels[1].rows[None].values
    array([0.5, 0.5])
    """

    models: tuple[str, ...]
    panels: tuple[MetricPanel, ...]
    adjustment: str
    mark: str
    time_axis: TimeAxis = field(default_factory=TimeAxis)

    @classmethod
    def from_evaluation(
        cls, evaluation: Evaluation, metrics: str | Sequence[str] | None = None, adjustment: str | None = None
    ) -> Self:
        """From what :func:`cocensor.evaluate` returns.

        Parameters
        ----------
        evaluation : Evaluation
        metrics : str or sequence of str, optional
            By default all of the evaluation that have a score.
        adjustment : str, optional
            By default the evaluation's ``primary``.
        """
        scores, level = results_of(evaluation, adjustment), evaluation.data.confidence_level
        asked = evaluation.metrics if metrics is None else as_tuple(metrics, "metrics", str)
        known, panels = evaluation.data.metrics, dict[str, MetricPanel]()
        for by in [metric_named(known, name, argument="metrics") for name in asked]:
            if not scores.values[by.name]:
                continue
            found = [evaluation.score(model, by.name, scores.name) for model in evaluation.models]
            ends = [(np.nan, np.nan) if level is None else each.confidence_interval(level) for each in found]
            low, high = np.array(ends).T
            best = standing(evaluation, by.name, scores.name).best
            label, at = label_without_time(by), by.at
            panel = panels.setdefault(label, MetricPanel(label, by.direction, {}, {}, {}))
            values = np.array([each.value for each in found])
            panel.rows[at] = Rows(values, low, high, tuple(model in best for model in evaluation.models))
            if by.name in scores.reference:
                panel.reference[at] = scores.reference[by.name].value
            if evaluation.truth is not None:
                panel.truth[at] = np.array(
                    [evaluation.truth.value(by.name, model) for model in evaluation.models]
                )
        if not panels:
            raise ValueError(f"metrics must have one with scores under {scores.name!r}, but has none.")
        filled = "best" if level is None else f"not distinguishable from the best ({level_in_words(level)})"
        return cls(evaluation.models, tuple(panels.values()), scores.label, filled, evaluation.data.time_axis)

    def plot(self, ax: Axes | Sequence[Axes] | None = None) -> Axes | list[Axes]:
        """Draw into ``ax``, one axes per metric, or into a new figure; returns the axes, several as a list."""
        n_dots = len(self.models) * max(len(panel.rows) for panel in self.panels)
        size = (3.4 if len(self.panels) > 1 else 6.0, 1.2 + max(0.22 * n_dots, 0.35 * len(self.models)))
        return draw_panels([partial(self._draw, panel) for panel in self.panels], ax, size=size)

    def _draw(self, panel: MetricPanel, ax: Axes) -> None:
        looks = dict(zip(self._times, zip(line_styles(), cycle(MARKERS), strict=False), strict=False))
        for at, (style, marker) in looks.items():
            if at is not None:  # in every panel, so that times come first in the legend
                label = f"at {time_in_label(at, self.time_axis.unit)}"
                ax.plot([], [], marker=marker, linestyle="none", color=style["color"], label=label)
        for k, (at, rows) in enumerate(panel.rows.items()):
            style, marker = looks[at]
            look: dict[str, Any] = {"color": style["color"], "zorder": 3}
            y = np.arange(len(self.models)) + _SPREAD * ((k + 0.5) / len(panel.rows) - 0.5)
            ax.hlines(y, rows.low, rows.high, linewidth=1.8, **look)
            for at_y, value, marked in zip(y, rows.values, rows.marked, strict=True):
                face = style["color"] if marked else "white"
                ax.plot(value, at_y, marker=marker, markersize=6.5, markerfacecolor=face, **look)
            if at in panel.reference:
                known = np.isfinite(rows.values)
                ax.plot(np.full(known.sum(), panel.reference[at]), y[known], **_REFERENCE)
            if at in panel.truth:
                ax.plot(panel.truth[at], y, **_TRUTH)
        ax.plot([], [], marker="o", linestyle="none", color="0.4", label=self.mark)
        if panel.reference:
            ax.plot([], [], label="Kaplan–Meier for everybody", **_REFERENCE)
        if panel.truth:
            ax.plot([], [], label="truth", **_TRUTH)
        ax.set_title(panel.label, fontsize="medium")
        ax.set(xlabel=f"{panel.direction} is better", ylabel=self.adjustment)
        ax.locator_params(axis="x", nbins=4)
        ax.set_yticks(range(len(self.models)), [wrapped(model, 24) for model in self.models])
        ax.set_ylim(len(self.models) - 0.5, -0.5)

    @property
    def _times(self) -> list[float | None]:
        return list(dict.fromkeys(at for panel in self.panels for at in panel.rows))


_REFERENCE: dict[str, Any] = {
    "color": "0.6",
    "marker": "|",
    "markersize": 9.0,
    "linestyle": "none",
    "zorder": 2,
}
_TRUTH: dict[str, Any] = {"color": "0.1", "marker": "d", "markersize": 5.0, "linestyle": "none", "zorder": 4}
