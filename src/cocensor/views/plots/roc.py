"""ROC curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Self

import numpy.typing as npt

from cocensor._checks import escaped
from cocensor.data import TimeAxis
from cocensor.study.curves import profile_errors
from cocensor.study.evaluation import Evaluation, results_of
from cocensor.study.scores import Score
from cocensor.views.plots.asked import asked_models, asked_times
from cocensor.views.plots.panels import draw_panels
from cocensor.views.plots.style import BandKind, Line, check_band, draw_lines, shaded_area
from cocensor.views.text.digits import decimals, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False)
class RocDisplay:
    """Who had the event by a time against who is still event-free: a ROC curve per model, a panel per time.

    The higher a curve, the better: a model finds more of those who had the event for the same share of false alarms. On
    the diagonal it does no better than chance. A point of the curve is a threshold of the predicted risk.

    Attributes
    ----------
    models : tuple of str
        All models of the evaluation: a model has the same line in every display.
    panels : dict of dict of Line
        By time and model, the share of events found over the share of false alarms.
    areas : dict of dict of str
        By time and model, the area under the curve (AUC), with its interval.
    adjustment : str
        What the curves are adjusted by.
    shaded : str
        What the shaded areas are; empty where nothing is shaded.
    time_axis : TimeAxis
        What time is called, and its unit.

    Examples
    --------
    >>> import cocensor as cc
    >>> from cocensor.views.plots import RocDisplay
    >>> from cocensor.simulate import SyntheticDesign
    >>> data = SyntheticDesign(n=300, n_features=2).draw(0)
    >>> model = cc.CoxPH().fit(data.X, data.y).predict_survival_function(data.X)
    >>> result = cc.evaluate({"cox": model}, data.y, adjustments="ipcw", metrics="auc")
    >>> display = RocDisplay.from_evaluation(result, at=15.0)
    >>> display.areas[15.0]["cox"]  # and display.plot()
    '0.522 (0.436 to 0.608)'
    """

    models: tuple[str, ...]
    panels: dict[float, dict[str, Line]]
    areas: dict[float, dict[str, str]]
    adjustment: str
    shaded: str = ""
    time_axis: TimeAxis = field(default_factory=TimeAxis)

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Evaluation,
        at: npt.ArrayLike | None = None,
        models: str | Sequence[str] | None = None,
        adjustment: str | None = None,
        *,
        band: BandKind = "pointwise",
    ) -> Self:
        """From what :func:`cocensor.evaluate` returns, with ``"auc"`` among its metrics.

        Parameters
        ----------
        evaluation : Evaluation
        at : float or array-like, optional
            Up to the horizon; by default all single times of the evaluation.
        models : str or sequence of str, optional
            By default all.
        adjustment : str, optional
            By default the evaluation's ``primary``.
        band : "pointwise", "simultaneous" or None
            What is shaded: an interval at each share of false alarms, a band that holds a whole curve, or nothing.
        """
        scores, level = results_of(evaluation, adjustment), evaluation.data.confidence_level
        names = asked_models(evaluation, models)
        panels: dict[float, dict[str, Line]] = {}
        areas: dict[float, dict[str, str]] = {}
        for t in asked_times(evaluation, at):
            errors = profile_errors(evaluation, "auc", scores.name, at=t)
            known = [model for model in names if model in errors.values]
            panels[t] = {model: Line.of(errors.x[model], errors.of(model), band, level) for model in known}
            areas[t] = {
                model: _area(evaluation.score(model, "auc", scores.name, at=t), level) for model in known
            }
        check_band(band)
        shaded = shaded_area(band, level)
        return cls(evaluation.models, panels, areas, scores.label, shaded, evaluation.data.time_axis)

    def plot(self, ax: Axes | Sequence[Axes] | None = None) -> Axes | list[Axes]:
        """Draw into ``ax``, one axes per time, or into a new figure; returns the axes, several as a list."""
        size = (5.2, 4.8) if len(self.panels) == 1 else (3.4, 3.6)
        return draw_panels([partial(self._draw, t) for t in self.panels], ax, size=size)

    def _draw(self, t: float, ax: Axes) -> None:
        ax.plot([0.0, 1.0], [0.0, 1.0], color="0.6", linewidth=1.0, zorder=1, label="chance")
        draw_lines(ax, self.models, self.panels[t], self.shaded, self._labels())
        ax.set(xlabel="false positive rate", ylabel=f"true positive rate\n{self.adjustment}")
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), title=f"event by {self.time_axis.named(t)}")

    def _labels(self) -> dict[str, str]:
        """The models with their areas at all times, as all panels share one legend."""
        labels = {}
        for model in self.models:
            areas = {t: by_model[model] for t, by_model in self.areas.items() if model in by_model}
            several = len(self.areas) > 1
            values = ", ".join(
                f"{area} by {self.time_axis.said(t)}" if several else area for t, area in areas.items()
            )
            labels[model] = f"{escaped(model)}: AUC {values}"
        return labels


def _area(score: Score, level: float | None) -> str:
    places = decimals(score.standard_error)
    if level is None or not isfinite(score.standard_error):
        return number(score.value, places)
    low, high = (number(end, places) for end in score.confidence_interval(level))
    return f"{number(score.value, places)} ({low} to {high})"
