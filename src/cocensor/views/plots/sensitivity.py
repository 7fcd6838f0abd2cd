"""Scores and differences of scores along Kendall's τ, and along the hazard ratio after dropout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cocensor._checks import FloatArray, check_choice, escaped
from cocensor.adjustments import IPCW
from cocensor.inference.along_axis import AxisCurve
from cocensor.inference.bands import Band
from cocensor.inference.tipping import SignChange
from cocensor.metrics import MetricValue
from cocensor.study.lookup import metric_of
from cocensor.study.sensitivity import Sensitivity
from cocensor.views.plots.grid_axes import GridLine, RatioAxis, TauAxis, lines_of
from cocensor.views.plots.panels import draw_panels, wrapped
from cocensor.views.plots.style import (
    MARKERS,
    TRUTH,
    ZERO,
    Limits,
    best_in_words,
    explain_area,
    line_styles,
    shade,
    shaded_area,
)
from cocensor.views.text.digits import level_in_words

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
_TIPPING: dict[str, Any] = {"markersize": 9.0, "markeredgecolor": "black", "linestyle": "none", "zorder": 4}
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
        chosen = lines_of(sensitivity, by.name, name, family, line)
        lines = {key: _scores(one, by.name, name) for key, one in chosen.items()}
        # Marginal weights rather than those given covariates.
        under_ipcw = sorted(
            (scores for scores in evaluation.results.values() if isinstance(scores.adjustment, IPCW)),
            key=lambda scores: len(scores.adjustment.needs),
        )
        ipcw = next((scores.values[by.name] for scores in under_ipcw if scores.values[by.name]), {})
        truth = {} if evaluation.truth is None else evaluation.truth.values[by.name]
        level = evaluation.data.confidence_level
        return cls(lines, _numbers(ipcw), by.label, evaluation.results[name].label, level, _numbers(truth))

    def plot(self, ax: Axes | Sequence[Axes] | None = None) -> Any:
        """Draw into ``ax``, one axes per line, or into a new figure; returns the axes, several as a list."""
        return _plot(self, ax)

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


@dataclass(frozen=True, eq=False)
class Difference:
    """The score of a model minus that of the reference along τ or hazard ratios, and where its sign changes.

    ``along.positions`` are the ``points``; of hazard ratios, their logarithms. ``band`` holds the whole curve, on all
    lines of its grid at once: under all families, or whosever hazard ratio moves; None where there are no intervals.
    """

    points: FloatArray
    along: AxisCurve
    band: Band | None
    tipping: tuple[SignChange, ...]


@dataclass(eq=False)
class DifferenceDisplay:
    """The score of every model minus that of a reference model, a panel per copula family and for hazard ratios.

    Along Kendall's τ, and along the hazard ratio after dropout. The dark area is the interval of each difference for
    itself; the light one holds whole curves, under all families at once. Where the dark area leaves out 0, the two
    models differ. A marker on the line at 0 is where the order of two scores turns, and the thick line
    through it is where that may truly be. The second axis, triangles and the shaded range are those of
    :class:`SensitivityDisplay`.

    Attributes
    ----------
    reference : str
    models : tuple of str
        All models of the evaluation: a model has the same line in every display.
    lines : dict of dict of Difference
        By family, "hazard_ratio" last, or by whose hazard ratio after dropout moves; and by model.
    axes : dict of TauAxis or RatioAxis
        What each line is drawn along.
    label, adjustment, direction : str
        What the scores are, what they are adjusted by, and which are better.
    confidence_level : float or None
        Of intervals and bands, if there are any.

    Examples
    --------
    >>> import cocensor as cc
    >>> from cocensor.views.plots import DifferenceDisplay
    >>> from cocensor.simulate import SyntheticDesign
    >>> data = SyntheticDesign(n=600, n_features=3, copula=cc.Clayton.from_tau(0.5)).draw(0)
    >>> train, test = data[:300], data[300:]
    >>> models = {f"{k}": cc.CoxPH().fit(train.X[:, :k], train.y).predict_survival_function(test.X[:, :k])
    ...           for k in (1, 3)}
    >>> result = cc.evaluate(models, test.y, test.X, y_train=train.y, metrics="ibs")
    >>> display = DifferenceDisplay.from_sensitivity(result.sensitivity("clayton", [0.0, 0.4, 0.8]))
    >>> display.reference, list(display.lines["clayton"])
    ('1', ['3'])
    """

    reference: str
    models: tuple[str, ...]
    lines: dict[str, dict[str, Difference]]
    axes: dict[str, TauAxis | RatioAxis]
    label: str
    adjustment: str
    direction: str
    confidence_level: float | None

    @classmethod
    def from_sensitivity(
        cls,
        sensitivity: Sensitivity,
        reference: str | None = None,
        metric: str | None = None,
        adjustment: str | None = None,
        family: str | None = None,
        line: str | Sequence[str] | None = None,
    ) -> Self:
        """From what :meth:`Evaluation.sensitivity` returns.

        Parameters
        ----------
        sensitivity : Sensitivity
        reference : str, optional
            The model that all others are compared with; by default the one with the best score at independence.
        metric, adjustment, family, line : str, optional
            Those of :meth:`SensitivityDisplay.from_sensitivity`.
        """
        evaluation = sensitivity.evaluation
        by, name = metric_of(evaluation, metric), sensitivity.over_tau.adjustment(adjustment)
        chosen = lines_of(sensitivity, by.name, name, family, line)
        grid = sensitivity.over_tau if line is None else next(iter(chosen.values())).grid
        against = grid.reference(by.name, name) if reference is None else reference
        check_choice(against, "reference", evaluation.models)
        lines = {key: _differences(one, against, by.name, name) for key, one in chosen.items()}
        if not any(lines.values()):
            raise ValueError(
                f"sensitivity must have the scores of two models at least, but has those of {against!r} alone."
            )
        return cls(
            against,
            evaluation.models,
            lines,
            {key: one.axis for key, one in chosen.items()},
            by.label,
            evaluation.results[name].label,
            by.direction,
            evaluation.data.confidence_level,
        )

    def plot(self, ax: Axes | Sequence[Axes] | None = None) -> Any:
        """Draw into ``ax``, one axes per line, or into a new figure; returns the axes, several as a list."""
        return _plot(self, ax)

    def _draw(self, line: str, ax: Axes) -> None:
        panel, axis, level = self.lines[line], self.axes[line], self.confidence_level
        ax.axhline(0.0, **ZERO)
        for k, (model, style) in enumerate(zip(self.models, line_styles(), strict=False)):
            if model not in panel:
                continue
            difference, marker = panel[model], MARKERS[k % len(MARKERS)]
            points, along, look = (
                difference.points,
                difference.along,
                {"marker": marker, "markersize": 4.0, "zorder": 3, **style},
            )
            ax.plot(points, along.values, label=escaped(model), **look)
            if level is not None:
                shade(ax, points, (along.low, along.high), style["color"], 0.28)
            if difference.band is not None:
                shade(ax, points, difference.band[:2], style["color"], 0.12)
            for point in difference.tipping:
                ax.plot(point.at, 0.0, marker=marker, color=style["color"], **_TIPPING)
                if point.interval is not None:
                    low, high = point.interval
                    ends = [points[0] if low is None else low, points[-1] if high is None else high]
                    ax.plot(ends, [0.0, 0.0], color=style["color"], linewidth=4.0, alpha=0.8, zorder=2)
        if level is not None:
            explain_area(ax, f"{level_in_words(level)} interval", "0.4", 0.45)
            explain_area(ax, f"{level_in_words(level)} band for whole curves", "0.4", 0.2)
        if any(difference.tipping for difference in panel.values()):
            mark = "order turns" if level is None else "scores change order, with interval"
            ax.plot([], [], marker="o", color="0.6", label=mark, **_TIPPING)
        better = "above" if self.direction == "smaller" else "below"
        lines = self.label, f"minus that of {self.reference}", f"({better} 0: {self.reference} is better)"
        ax.set_ylabel("\n".join(map(wrapped, lines)))
        ax.set_title(wrapped(f"{self.adjustment}, {axis.title}"), fontsize="medium")
        axis.draw(ax)


def _plot(display: SensitivityDisplay | DifferenceDisplay, ax: Axes | Sequence[Axes] | None) -> Any:
    """Draw a panel per line; several have room for the axis on top."""
    panels = [partial(display._draw, line) for line in display.lines]
    return draw_panels(panels, ax, size=None if len(panels) == 1 else (3.2, 3.1))


def _numbers(values: Mapping[str, MetricValue]) -> dict[str, float]:
    return {model: value.value for model, value in values.items()}


def _scores(grid_line: GridLine, metric: str, adjustment: str) -> LineScores:
    grid, line, axis = grid_line
    points = list(grid.leaders(metric, adjustment)[line])
    values = [grid.values(line, point, metric, adjustment) for point in points]
    models = grid.evaluation.models
    scores = {model: np.array([row.get(model, np.nan) for row in values]) for model in models}
    best = tuple(grid.standing(line, point, metric, adjustment).best for point in points)
    changes = tuple(turn.at for turn in grid.changes(metric, adjustment) if turn.family == line)
    limits = {}
    if grid.evaluation.data.confidence_level is not None:
        answered = np.isin(list(grid.answers[adjustment][line]), points)
        for model in models:
            curve = grid.along(model, None, metric, adjustment)[line]
            limits[model] = curve.low[answered], curve.high[answered]
    return LineScores(axis, np.array(points), scores, best, changes, limits)


def _differences(grid_line: GridLine, reference: str, metric: str, adjustment: str) -> dict[str, Difference]:
    """The differences of each model that has scores on the line."""
    grid, line, _ = grid_line
    points, differences = np.array(list(grid.answers[adjustment][line])), {}
    for model in grid.evaluation.models:
        pair = grid.pair(model, reference, metric, adjustment)
        along = pair.curves[line]
        if model == reference or not np.isfinite(along.values).any():
            continue
        has_level = grid.evaluation.data.confidence_level is not None
        band = grid.bands(model, reference, metric, adjustment)[line] if has_level else None
        differences[model] = Difference(points, along, band, pair.tipping_points(line))
    return differences
