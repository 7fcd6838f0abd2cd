"""Scores along Kendall's τ, and along the hazard ratio after dropout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cocensor._validation import FloatArray, escaped
from cocensor.evaluation import Evaluation
from cocensor.plots.grid_axes import GridLine, RatioAxis, TauAxis, lines_after_dropout, lines_of, size_of
from cocensor.plots.panels import draw_panels, wrapped
from cocensor.plots.style import MARKERS, TRUTH, Limits, line_styles, shade
from cocensor.sensitivity import AfterDropout, Sensitivity
from cocensor.sensitivity.after_dropout import ALL
from cocensor.words.digits import level_in_words

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
class SensitivityDisplay:
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
    >>> from cocensor.plots import SensitivityDisplay
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
    ) -> Self:
        """From what :meth:`Evaluation.sensitivity` returns.

        Parameters
        ----------
        sensitivity : Sensitivity
        metric : str, optional
            By default the evaluation's first.
        adjustment : str, optional
            By default the analysis's ``primary``.
        family : str, optional
            Of copulas, or "hazard_ratio"; by default all.
        """
        by, name = sensitivity.evaluation.metric(metric).name, adjustment or sensitivity.primary
        return cls._of(sensitivity.evaluation, lines_of(sensitivity, by, name, family), by, name)

    @classmethod
    def from_after_dropout(
        cls,
        after_dropout: AfterDropout,
        metric: str | None = None,
        adjustment: str | None = None,
        line: str | Sequence[str] = ALL,
    ) -> Self:
        """From :attr:`Sensitivity.after_dropout`.

        Parameters
        ----------
        after_dropout : AfterDropout
        metric : str, optional
            By default the evaluation's first.
        adjustment : str, optional
            By default the analysis's ``primary``.
        line : str or sequence of str
            Whose hazard ratio moves: "all", or reasons or groups, a panel each.
        """
        by, name = after_dropout.evaluation.metric(metric).name, adjustment or after_dropout.primary
        return cls._of(after_dropout.evaluation, lines_after_dropout(after_dropout, by, name, line), by, name)

    @classmethod
    def _of(cls, evaluation: Evaluation, asked: dict[str, GridLine], metric: str, adjustment: str) -> Self:
        ipcw, truth = (
            {} if found is None else {model: each.value for model, each in found.values[metric].items()}
            for found in (evaluation.under_ipcw(metric), evaluation.truth)
        )
        lines = {key: _scores(each, metric, adjustment) for key, each in asked.items()}
        label, level = evaluation.metric(metric).label, evaluation.confidence_level
        return cls(lines, ipcw, label, evaluation.results[adjustment].label, level, truth)

    def plot(self, ax: Axes | Sequence[Axes] | None = None) -> Axes | list[Axes]:
        """Draw into ``ax``, one axes per line, or into a new figure; returns the axes, several as a list."""
        return draw_panels(
            [partial(self._draw, panel) for panel in self.lines.values()], ax, size=size_of(len(self.lines))
        )

    def _draw(self, panel: LineScores, ax: Axes) -> None:
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
        best = "best" if level is None else f"not distinguishable from the best ({level_in_words(level)})"
        ax.plot([], [], color="0.4", label=best, **_BEST)
        if level is not None:
            ax.fill_between(
                [], [], color="0.5", alpha=0.3, linewidth=0, label=f"{level_in_words(level)} interval"
            )
        if panel.changes:
            ax.plot([], [], label="another model becomes best", **_CHANGE)
        if self.ipcw:
            ax.plot([], [], color="0.4", label="IPCW (assumes τ = 0)", **_TICK)
        if self.truth:
            ax.plot([], [], color="0.4", label="truth", **TRUTH)
        ax.set_ylabel(self.label)
        ax.set_title(wrapped(f"{self.adjustment}, {panel.axis.title}"), fontsize="medium")
        panel.axis.draw(ax)


def _scores(asked: GridLine, metric: str, adjustment: str) -> LineScores:
    grid, line, axis = asked
    points = list(grid.leaders(metric, adjustment)[line])
    values = [grid.values(line, point, metric, adjustment) for point in points]
    models = grid.evaluation.models
    scores = {model: np.array([found.get(model, np.nan) for found in values]) for model in models}
    best = tuple(grid.best_at(line, point, metric, adjustment) for point in points)
    changes = tuple(each.at for each in grid.changes(metric, adjustment) if each.family == line)
    limits = {}
    if grid.evaluation.confidence_level is not None:
        answered = np.isin(list(grid.answers[adjustment][line]), points)
        for model in models:
            curve = grid.along(model, None, metric, adjustment)[line]
            limits[model] = curve.low[answered], curve.high[answered]
    return LineScores(axis, np.array(points), scores, best, changes, limits)
