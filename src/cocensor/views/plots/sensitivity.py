"""Scores along Kendall's τ, and along the hazard ratio after dropout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cocensor._checks import FloatArray, escaped
from cocensor.adjustments import IPCW
from cocensor.study.evaluation import Evaluation, metric_of
from cocensor.study.scores import AdjustmentScores
from cocensor.study.sensitivity import Sensitivity
from cocensor.views.plots.grid_axes import GridDisplay, GridLine, RatioAxis, TauAxis, lines_of
from cocensor.views.plots.panels import wrapped
from cocensor.views.plots.style import (
    MARKERS,
    TRUTH,
    Limits,
    best_in_words,
    explain_area,
    line_styles,
    shade,
    shaded_area,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BEST: dict[str, Any] = {"marker": "o", "linestyle": "none", "markersize": 6.5}
# Below the lines: a score under IPCW must not hide one at independence.
_TICK: dict[str, Any] = {
    "marker": "_",
    "markersize": 16.0,
    "markeredgewidth": 2.5,
    "linestyle": "none",
    "zorder": 1,
}
_ON_TICK: dict[str, Any] = {"markersize": 8.0, "markerfacecolor": "white", "linestyle": "none", "zorder": 1}
_CHANGE: dict[str, Any] = {"color": "0.6", "linewidth": 1.0, "zorder": 0}


@dataclass(frozen=True, eq=False)
class LineScores:
    """By model the scores along ``points``, NaN where there is none; who is best at each; where the leader changes.

    Points are τ under a family, or hazard ratios after dropout, as ``axis`` says. ``best`` are the models that cannot
    be distinguished from the best; without intervals, those with the best score. ``limits`` has by model the ends of
    the intervals of its scores.
    """

    axis: TauAxis | RatioAxis
    points: FloatArray
    scores: dict[str, FloatArray]
    best: tuple[tuple[str, ...], ...]
    changes: tuple[float, ...]
    limits: dict[str, Limits]


@dataclass(eq=False)
class SensitivityDisplay(GridDisplay):
    """The score of every model along Kendall's τ, a panel per copula family, and along the hazard ratio after dropout.

    Shaded are the intervals of the scores, each for its own point. Large dots mark the models that cannot be
    distinguished from the best at each point; without intervals, those with the best score. Vertical lines are where
    the best score passes from one model to another. Ticks at independence, with the marker of the model, are
    the scores under IPCW, if the evaluation has them: what is reported where nobody asks. Dotted lines are the true
    scores, where data are simulated.

    What helps to judge τ: the axis on top is the mean hazard ratio right after leaving that τ stands for, where it is
    known; triangles at the bottom are the τ that leaving out measured covariates would induce; and the plausible range
    is shaded (:attr:`Sensitivity.plausible`).

    Whether two models differ is seen in :class:`DifferenceDisplay`, and not from whether their intervals overlap: both
    are scored on the same subjects.

    Attributes
    ----------
    lines : dict of LineScores
        By family, "hazard_ratio" last; or by whose hazard ratio after dropout moves.
    ipcw : dict
        Scores under IPCW by model, of the marginal one if there is one; empty where there are none.
    label, adjustment : str
        What the scores are, and what they are adjusted by.
    confidence_level : float or None
        Of the intervals, if there are any.
    truth : dict
        By model the scores by the true event times (:attr:`Evaluation.truth`); empty where these are not known.

    Examples
    --------
    >>> import cocensor as cc
    >>> from cocensor.views.plots import SensitivityDisplay
    >>> from cocensor.simulate import SyntheticDesign
    >>> data = SyntheticDesign(n=600, n_features=3, copula=cc.Clayton.from_tau(0.5)).draw(0)
    >>> train, test = data[:300], data[300:]
    >>> models = {f"{k}": cc.CoxPH().fit(train.X[:, :k], train.y).predict_survival_function(test.X[:, :k])
    ...           for k in (1, 3)}
    >>> result = cc.evaluate(models, test.y, y_train=train.y, adjustments="cg_q", copula=cc.Clayton(2.0), metrics="ibs")
    >>> display = SensitivityDisplay.from_sensitivity(result.sensitivity("clayton", [0.0, 0.4, 0.8]))
    >>> display.lines["clayton"].points, display.label  # and display.plot()
    (array([0. , 0.4, 0.8]), 'integrated Brier score')
    """

    lines: dict[str, LineScores]
    ipcw: dict[str, float]
    label: str
    adjustment: str
    confidence_level: float | None = None
    truth: dict[str, float] = field(default_factory=dict)

    @classmethod
    def from_sensitivity(
        cls,
        sensitivity: Sensitivity,
        metric: str | None = None,
        adjustment: str | None = None,
        family: str | None = None,
        line: str | Sequence[str] | None = None,
    ) -> Self:
        """From what :meth:`Evaluation.sensitivity` returns.

        Parameters
        ----------
        sensitivity : Sensitivity
        metric : str, optional
            By default the evaluation's first.
        adjustment : str, optional
            By default the primary one.
        family : str, optional
            Of copulas, or "hazard_ratio"; by default all.
        line : str or sequence of str, optional
            Instead of families, along the hazard ratio after dropout of "all", or of reasons or groups, a panel each.
        """
        evaluation = sensitivity.evaluation
        by, name = metric_of(evaluation, metric), sensitivity.over_tau.adjustment(adjustment)
        asked = lines_of(sensitivity, by.name, name, family, line)
        lines = {key: _scores(each, by.name, name) for key, each in asked.items()}
        ipcw, truth = (
            {} if found is None else {model: each.value for model, each in found.values[by.name].items()}
            for found in (_ipcw(evaluation, by.name), evaluation.truth)
        )
        level = evaluation.data.confidence_level
        return cls(lines, ipcw, by.label, evaluation.results[name].label, level, truth)

    def _draw(self, line: str, ax: Axes) -> None:
        panel = self.lines[line]
        looks = zip(panel.scores.items(), line_styles(), cycle(MARKERS), strict=False)
        for (model, scores), style, marker in looks:
            ax.plot(panel.points, scores, marker=marker, markersize=4.0, label=escaped(model), **style)
            won = np.array([model in winners for winners in panel.best])
            ax.plot(panel.points[won], scores[won], color=style["color"], **_BEST)
            if model in panel.limits:
                shade(ax, panel.points, panel.limits[model], style["color"], 0.12)
            if model in self.ipcw:
                at, score = panel.axis.independence, self.ipcw[model]
                ax.plot(at, score, color=style["color"], **_TICK)
                ax.plot(at, score, color=style["color"], marker=marker, **_ON_TICK)
            if model in self.truth:
                ax.axhline(self.truth[model], color=style["color"], **TRUTH)
        for at in panel.changes:
            ax.axvline(at, **_CHANGE)
        level = self.confidence_level
        ax.plot([], [], color="0.4", label=best_in_words(level), **_BEST)
        if level is not None:
            explain_area(ax, shaded_area("pointwise", level))
        if panel.changes:
            ax.plot([], [], label="another model becomes best", **_CHANGE)
        if self.ipcw:
            ax.plot([], [], color="0.4", label="IPCW (assumes τ = 0)", **_TICK)
        if self.truth:
            ax.plot([], [], color="0.4", label="truth", **TRUTH)
        ax.set_ylabel(self.label)
        ax.set_title(wrapped(f"{self.adjustment}, {panel.axis.title}"), fontsize="medium")
        panel.axis.draw(ax)


def _ipcw(evaluation: Evaluation, metric: str) -> AdjustmentScores | None:
    """The scores under IPCW, the marginal one rather than one given covariates; None where it has none."""
    found = [
        each
        for each in evaluation.results.values()
        if isinstance(each.adjustment, IPCW) and each.values[metric]
    ]
    return min(found, key=lambda each: len(each.adjustment.needs), default=None)


def _scores(asked: GridLine, metric: str, adjustment: str) -> LineScores:
    grid, line, axis = asked
    points = list(grid.leaders(metric, adjustment)[line])
    values = [grid.values(line, point, metric, adjustment) for point in points]
    models = grid.evaluation.models
    scores = {model: np.array([found.get(model, np.nan) for found in values]) for model in models}
    best = tuple(grid.best_at(line, point, metric, adjustment) for point in points)
    changes = tuple(each.at for each in grid.changes(metric, adjustment) if each.family == line)
    limits = {}
    if grid.evaluation.data.confidence_level is not None:
        answered = np.isin(list(grid.answers[adjustment][line]), points)
        for model in models:
            curve = grid.along(model, None, metric, adjustment)[line]
            limits[model] = curve.low[answered], curve.high[answered]
    return LineScores(axis, np.array(points), scores, best, changes, limits)
