"""Forest plots: rows of estimates with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray, as_tuple, check_whole, escaped
from cocensor.inference.comparisons import Comparison
from cocensor.metrics.base import label_without_time, time_in_label, time_in_name
from cocensor.study.evaluation import Evaluation
from cocensor.study.lookup import metric_of, results_of
from cocensor.study.ranking import standing
from cocensor.study.scores import Score
from cocensor.study.sensitivity import Bound, Bounds, CovariateBenchmarks, induced_tau
from cocensor.study.sensitivity.benchmarks import USUAL
from cocensor.views.plots.panels import (
    at_least_one,
    draw_panels,
    draw_plausible,
    draw_second_axis,
    label_minus,
    wrapped,
)
from cocensor.views.plots.style import (
    MARKERS,
    ZERO,
    Legend,
    Look,
    area,
    best_in_words,
    explain,
    line_styles,
)
from cocensor.views.text.digits import level_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_Key = tuple[str, float | None]
_Bar = tuple[Bound, tuple[float, float] | None, tuple[str, float]]

# Hazard ratios of a hidden factor. What leaves no room for those behind it is left out, so the more telling come first.
_HIDDEN = (2.0, 1.5, 3.0, 5.0, 1.2, 10.0)
# How much of the room of a model the dots of several times take.
_SPREAD = 0.6
_GREY: Look = {"color": "0.4", "marker": "o"}
_REFERENCE: Look = {"color": "0.6", "marker": "|", "markersize": 9.0, "zorder": 2}
_TRUTH: Look = {"color": "0.1", "marker": "d", "markersize": 5.0, "zorder": 4}
_WHISKER: Look = {"color": "0.2", "linewidth": 1.2, "marker": "|", "markersize": 9.0, "zorder": 2}
_SCORE: Look = {"color": "0.1", "markersize": 5.0, "markerfacecolor": "white"}
_SHRUNKEN: Look = {"color": "black", "marker": "|", "markersize": 11.0, "zorder": 4}
_COVARIATE: Look = {"color": "#0072B2", "marker": "o"}
_TOGETHER: Look = {"color": "#D55E00", "marker": "o"}
_TIMES: Look = {"color": "0.25", "marker": "D"}
_NONE = (float("nan"), float("nan"))
_OPEN, _CERTAIN = ("0.6", 0.35), 0.55


@dataclass(frozen=True, eq=False)
class Marks:
    """A value per row with its interval, NaN where there is none; the looks of the rows, and which are filled."""

    values: FloatArray
    low: FloatArray
    high: FloatArray
    looks: Sequence[Look]
    filled: tuple[bool, ...] = ()

    @classmethod
    def of(cls, values: npt.ArrayLike, look: Look) -> Self:
        """Values alone, which all look alike."""
        numbers = np.array(values, dtype=float)
        none = np.full(numbers.shape, np.nan)
        return cls(numbers, none, none, [look] * numbers.size)

    def draw(self, ax: Axes, shift: float) -> None:
        """Dots, and lines for their intervals, so far from the middles of the rows."""
        for k, look in enumerate(self.looks):
            y = k + shift
            if np.isfinite(self.low[k] + self.high[k]):
                ax.plot((self.low[k], self.high[k]), (y, y), color=look["color"], linewidth=2.0, zorder=2)
            look = {"linestyle": "none", "zorder": 3, **look}
            if self.filled and not self.filled[k]:
                look["markerfacecolor"] = "white"
            ax.plot(self.values[k], y, **look)


@dataclass(frozen=True, eq=False)
class ForestPanel:
    """Rows from top to bottom, with marks by what they are and at which time."""

    rows: tuple[str, ...]
    marks: dict[_Key, Marks]
    #: Bounds, with an interval that covers the true value where there is one, a colour and how opaque it is.
    bars: Sequence[_Bar] = ()
    title: str = ""
    xlabel: str = ""
    ylabel: str = ""
    zero: bool = False

    @property
    def times(self) -> list[float | None]:
        """The times whose marks stand beside each other within a row."""
        return list(dict.fromkeys(at for _, at in self.marks))

    def draw(self, ax: Axes, n_ticks: int) -> None:
        """Bars and marks, with the names of the rows beside them."""
        if self.zero:
            ax.axvline(0.0, **ZERO)
        for k, (bound, interval, (colour, alpha)) in enumerate(self.bars):
            ax.barh(k, bound.width, 0.6, bound.low, color=colour, alpha=alpha, linewidth=0, zorder=1.5)
            if interval is not None and np.isfinite(interval).all():
                ax.plot(interval, (k, k), **_WHISKER)
        for (_, at), marks in self.marks.items():
            marks.draw(ax, _SPREAD * ((self.times.index(at) + 0.5) / len(self.times) - 0.5))
        ax.use_sticky_edges = False
        ax.set_title(wrapped(self.title), fontsize="medium")
        ax.set(xlabel=self.xlabel, ylabel=self.ylabel)
        ax.locator_params(axis="x", nbins=n_ticks)
        ax.set_yticks(range(len(self.rows)), [wrapped(row, 24) for row in self.rows])
        ax.set_ylim(len(self.rows) - 0.5, -0.5)


@dataclass(eq=False)
class ForestDisplay:
    """Estimates with their intervals, a row for each model, pair of models or covariate.

    Attributes
    ----------
    panels : dict of ForestPanel
        By adjustment or metric: the names of the ``rows``, and ``marks`` by what they are and at which time, which have
        ``values``, ``low`` and ``high`` per row.
    legend : list of pair
        What looks mean: a text and a look each.
    plausible : pair of float or None
        From which to which τ dependence is held plausible, where the rows are covariates.

    Examples
    --------
    >>> import cocensor as cc
    >>> from cocensor.views.plots import ForestDisplay
    >>> y = cc.Survival([1, 2, 3, 4], [1, 1, 1, 1])
    >>> models = {"half": [[0.5, 0.5]] * 4, "sure": [[0.9, 0.1]] * 4}
    >>> evaluation = cc.evaluate(models, y, adjustments="ipcw", times=[1.0, 2.0])
    >>> display = ForestDisplay.from_scores(evaluation, minus="half")
    >>> display.panels["ipcw"].rows, display.panels["ipcw"].marks["score", None].values.round(3)  # and display.plot()
    (('half', 'sure'), array([0.  , 0.06]))
    """

    panels: dict[str, ForestPanel]
    legend: Legend
    plausible: tuple[float, float] | None = None

    @classmethod
    def from_scores(
        cls,
        evaluation: Evaluation,
        adjustment: str | Sequence[str] | None = None,
        metric: str | None = None,
        *,
        minus: str | None = None,
    ) -> Self:
        """A row per model with its score, a panel per adjustment.

        Filled markers are the models that cannot be distinguished from the best. Two models may differ although their
        intervals overlap, as they are scored on the same subjects: with ``minus`` the rows are differences from one
        model, and one that reaches 0 cannot be distinguished from it.

        Parameters
        ----------
        evaluation : Evaluation
        adjustment : str or sequence of str, optional
            By default all that have scores.
        metric : str, optional
            By default the evaluation's first.
        minus : str, optional
            A model: all scores minus that of this one.
        """
        by = metric_of(evaluation, metric)
        label = label_minus(by.label, minus, evaluation.models)
        looks = _looks(len(evaluation.models), 8.0)
        scored = [name for name, scores in evaluation.results.items() if scores.values[by.name]]
        panels = {}
        for name in at_least_one(adjustment, "adjustment", scored):
            scores = results_of(evaluation, name)
            marks: dict[_Key, Marks] = {("score", None): _scores(evaluation, by.name, name, looks, minus)}
            panels[scores.name] = ForestPanel(
                evaluation.models, marks, title=scores.label, xlabel=label, zero=minus is not None
            )
        return cls(panels, [(best_in_words(evaluation.data.confidence_level), _GREY)])

    @classmethod
    def from_metrics(
        cls, evaluation: Evaluation, metrics: str | Sequence[str] | None = None, adjustment: str | None = None
    ) -> Self:
        """A row per model with a dot per time, a panel per metric.

        Filled dots are the models that cannot be distinguished from the best, by metric and time. Grey ticks are those
        of one Kaplan–Meier curve for everybody, which is calibrated, and orders nobody. Diamonds are the true values,
        where data are simulated.

        Parameters
        ----------
        evaluation : Evaluation
        metrics : str or sequence of str, optional
            By default all of the evaluation that have a score.
        adjustment : str, optional
            By default the evaluation's ``primary``.
        """
        scores, models = results_of(evaluation, adjustment), evaluation.models
        names = evaluation.metrics if metrics is None else as_tuple(metrics, "metrics", str)
        named = [metric_of(evaluation, name, argument="metrics") for name in names]
        shown = [by for by in named if scores.values[by.name]]
        if not shown:
            raise ValueError(f"metrics must have one with scores under {scores.name!r}, but has none.")
        times = dict.fromkeys(by.at for by in shown)
        looks = dict(zip(times, _looks(len(times), 6.5), strict=True))
        unit = evaluation.data.time_axis.unit
        legend = [(f"at {time_in_label(at, unit)}", look) for at, look in looks.items() if at is not None]
        legend.append((best_in_words(evaluation.data.confidence_level), _GREY))
        if any(by.name in scores.reference for by in shown):
            legend.append(("Kaplan–Meier for everybody", _REFERENCE))
        if evaluation.truth is not None:
            legend.append(("truth", _TRUTH))
        panels = dict[str, ForestPanel]()
        for by in shown:
            label, better = label_without_time(by), f"{by.direction} is better"
            empty = ForestPanel(models, {}, title=label, xlabel=better, ylabel=scores.label)
            marks = panels.setdefault(label, empty).marks
            own = [looks[by.at]] * len(models) if len(looks) > 1 else _looks(len(models), 6.5)
            dots = marks["score", by.at] = _scores(evaluation, by.name, scores.name, own)
            if by.name in scores.reference:
                value = np.where(np.isfinite(dots.values), scores.reference[by.name].value, np.nan)
                marks["reference", by.at] = Marks.of(value, _REFERENCE)
            if evaluation.truth is not None:
                truth = [evaluation.truth.value(by.name, model) for model in models]
                marks["truth", by.at] = Marks.of(truth, _TRUTH)
        return cls(panels, legend)

    @classmethod
    def from_bounds(cls, bounds: Bounds, evaluation: Evaluation | None = None) -> Self:
        """How low and how high scores, and differences of two models, can be whatever the dependence.

        A row per model, and in a second panel one per pair. Bars are the bounds, whiskers the intervals that cover the
        one true value. A difference whose interval leaves out 0 has the colour of the better model: it is better
        whatever the dependence.

        Parameters
        ----------
        bounds : Bounds
            What :meth:`Evaluation.bounds` returns.
        evaluation : Evaluation, optional
            Draws the scores under each adjustment, which assumes some dependence, as small markers.
        """
        by, level = bounds.metric, bounds.level
        own = {model: str(look["color"]) for model, look in zip(bounds.models, line_styles(), strict=False)}
        models = [name for name in bounds.models if np.isfinite(bounds[name].low)]
        pairs = [pair for pair in bounds.pairs if np.isfinite(bounds[pair].low)]
        if not models:
            raise ValueError(f"bounds must have one that is known, but {bounds[bounds.models[0]].missing}.")
        legend = list[tuple[str, Look]]()
        scores, differences = dict[_Key, Marks](), dict[_Key, Marks]()
        if evaluation is not None:
            metric = by.name if by.at is None else by.name.removesuffix(f" at {time_in_name(by.at)}")
            for (name, under), marker in zip(evaluation.results.items(), cycle(MARKERS), strict=False):
                look = {**_SCORE, "marker": marker}
                legend.append((escaped(under.label), look))
                values = [evaluation.score(model, metric, name, at=by.at).value for model in models]
                gaps = [evaluation.compare(*pair, metric, name, at=by.at).difference for pair in pairs]
                scores[name, None] = Marks.of(values, look)
                differences[name, None] = Marks.of(gaps, look)
        legend.append(("whatever the dependence", area(*_OPEN)))
        if level is not None:
            whisker = {**_WHISKER, "linestyle": "-"}
            legend.append((f"{level_in_words(level)} interval of the true value", whisker))
        bars = [_bar(bounds[name], level, own[name]) for name in models]
        label = f"{wrapped(by.label)}\n({by.direction} is better)"
        panels = {"scores": ForestPanel(tuple(models), scores, bars, xlabel=label)}
        if pairs:
            winners = {pair: bounds.certain(*pair, level) for pair in pairs}
            if any(winners.values()):
                certain = area(own[bounds.models[0]], _CERTAIN)
                legend.append(("certain: colour of the better model", certain))
            bars = [_bar(bounds[pair], level, best and own[best]) for pair, best in winners.items()]
            sign = "below" if by.direction == "lower" else "above"
            label = f"{wrapped(f'difference of the {by.label}', 28)}\n({sign} 0: the first is better)"
            rows = tuple(f"{a} minus {b}" for a, b in pairs)
            panels["differences"] = ForestPanel(rows, differences, bars, xlabel=label, zero=True)
        return cls(panels, legend)

    @classmethod
    def from_benchmarks(cls, benchmarks: CovariateBenchmarks, most: int = 15) -> Self:
        """The τ that leaving out measured covariates would induce, the strongest on top.

        Below them that of all together, and of a factor with 1, 2 and 3 times the log hazard ratios of the strongest.
        A bracket is the plausible range. The axis on top says how strong a hidden normal factor would have to be to
        induce τ: its hazard ratio per standard deviation, alike on event and dropout; for negative τ, one on dropout
        turned over (:func:`cocensor.study.sensitivity.hidden_hazard_ratio`).

        Parameters
        ----------
        benchmarks : CovariateBenchmarks
            What :func:`cocensor.plausible_tau` returns.
        most : int
            How many covariates have a row, at most.
        """
        check_whole(most, "most", 1)
        shown = benchmarks.benchmarks[:most]
        rows = [(row.name, row.tau, tuple(row.interval), row.shrunken_tau, _COVARIATE) for row in shown]
        if n_left_out := len(benchmarks.benchmarks) - len(rows):
            rows.append((f"and {n_left_out} weaker", np.nan, _NONE, np.nan, _COVARIATE))
        rows.append(("all together", benchmarks.together, benchmarks.together_interval, np.nan, _TOGETHER))
        for times, tau in benchmarks.multiples.items():
            rows.append((f"{times} × {benchmarks.strongest.name}", tau, _NONE, np.nan, _TIMES))
        names, taus, intervals, shrunken, looks = zip(*rows, strict=True)
        low, high = np.array(intervals).T
        dots = Marks(np.array(taus), low, high, looks)
        marks: dict[_Key, Marks] = {("tau", None): dots, ("shrunken", None): Marks.of(shrunken, _SHRUNKEN)}
        panel = ForestPanel(names, marks, xlabel="induced Kendall's τ of event and dropout", zero=True)
        left_out = f"τ if left out, {level_in_words(benchmarks.confidence_level)} interval"
        legend = [
            (left_out, {**_GREY, "linestyle": "-", "linewidth": 2.0}),
            ("shrunk for noise", _SHRUNKEN),
            ("multiples of the strongest", _TIMES),
        ]
        return cls({"": panel}, legend, (-USUAL, USUAL))

    def plot(self, ax: Axes | Sequence[Axes] | None = None) -> Any:
        """Draw into ``ax``, one axes per panel, or into a new figure; returns the axes, several as a list."""
        panels = list(self.panels.values())
        same = len({panel.rows for panel in panels}) == 1
        width = 7.0 if len(panels) == 1 else 3.4 if same else 4.2
        heights = [len(panel.rows) * max(0.35, 0.22 * len(panel.times)) for panel in panels]
        size = (width, 1.4 + max(heights) + (0.0 if self.plausible is None else 0.6))
        return draw_panels([partial(self._draw, panel) for panel in panels], ax, size=size, share_y=same)

    def _draw(self, panel: ForestPanel, ax: Axes) -> None:
        if self.plausible is not None:
            draw_plausible(ax, *self.plausible)
        panel.draw(ax, n_ticks=5 if len(self.panels) == 1 else 4)
        explain(ax, self.legend)
        if self.plausible is not None:
            ax.set_xlim(*ax.get_xlim())
            induced = [(f"{ratio:g}", induced_tau(ratio, ratio)) for ratio in _HIDDEN]
            places = [("1", 0.0), *((text, sign * tau) for text, tau in induced for sign in (1, -1))]
            label = "hazard ratio per SD of a hidden factor that induces τ (left of 1: inverted on dropout)"
            draw_second_axis(ax, label, places)


def _bar(bound: Bound, level: float | None, colour: str | None) -> _Bar:
    """A bar of a bound, grey without a colour."""
    interval = None if level is None else bound.confidence_interval(level)
    return bound, interval, _OPEN if colour is None else (colour, _CERTAIN)


def _looks(n: int, size: float) -> list[Look]:
    """A colour and a marker for one model or time after the other."""
    return [
        {"color": style["color"], "marker": marker, "markersize": size}
        for _, style, marker in zip(range(n), line_styles(), cycle(MARKERS), strict=False)
    ]


def _scores(
    evaluation: Evaluation, metric: str, adjustment: str, looks: Sequence[Look], minus: str | None = None
) -> Marks:
    """Scores of all models, or their differences from one; those that may be the best are filled."""
    level, best = evaluation.data.confidence_level, standing(evaluation, metric, adjustment).best
    results: list[Score | Comparison] = [
        evaluation.score(model, metric, adjustment)
        if minus is None
        else evaluation.compare(model, minus, metric, adjustment)
        for model in evaluation.models
    ]
    values = [row.value if isinstance(row, Score) else row.difference for row in results]
    low, high = np.array([_NONE if level is None else row.confidence_interval(level) for row in results]).T
    return Marks(np.array(values), low, high, looks, tuple(model in best for model in evaluation.models))
