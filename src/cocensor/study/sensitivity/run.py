"""One evaluation over assumed dependences: families of copulas along Kendall's τ, and hazard ratios after dropout."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from itertools import combinations
from operator import methodcaller
from threading import Event
from typing import Any, Literal

import numpy as np

from cocensor._cached import cached_property
from cocensor._checks import Progress, check_length, escaped, refuse_at, spelled, to_numpy
from cocensor._notes import Note, noted
from cocensor._parallel import ProgressCount, in_threads, one_blas_thread
from cocensor._views import view
from cocensor.adjustments import Adjustment, Fitted
from cocensor.adjustments.samples import Samples
from cocensor.copulas import Independence, copula_families
from cocensor.copulas.registry import walks_from_independence
from cocensor.data.covariates import column_names
from cocensor.study.evaluation import Evaluation
from cocensor.study.lookup import adjustment_named
from cocensor.study.plan import HAZARD_RATIO, RATIOS, SensitivityPlan, check_has_ratios
from cocensor.study.ranking import rankable
from cocensor.study.scores import AdjustmentScores, refit, score_refit
from cocensor.study.sensitivity.benchmarks import CovariateBenchmarks, PlausibleRange
from cocensor.study.sensitivity.grid import ALL, Answers, Grid
from cocensor.study.verdict import Verdict, verdict_of
from cocensor.warnings import FitWarning, HorizonWarning, collected

# The τ by default, in tenths: the first, where nothing below it is plausible, and the last.
_FIRST_TENTH, _LAST_TENTH = -3, 9
# The farthest hazard ratio after dropout that stands for an end of the plausible range, and its inverse.
_FARTHEST = 10.0
# The most groups whose hazard ratio moves alone.
_MOST_GROUPS = 12
Kind = Literal["estimate", "interval"]
#: The place of an answer in the grids: an axis, a line, a point.
Place = tuple[Literal["tau", "hazard_ratio"], str, float]
#: By adjustment and line, and then by point, the scores, or why there are none.
Outcomes = dict[tuple[str, str], dict[float, AdjustmentScores | Note]]
#: By line and hazard ratio, the argument of ``with_hazard_ratio``.
RatioLines = dict[str, dict[float, Any]]


@dataclass(frozen=True)
class TippingPoint:
    """The point where a statement about two models stops to hold, outward from independence along one line."""

    #: The order of the scores, or the interval of their difference, which excludes 0 up to there.
    kind: Kind
    #: Of copulas, or "hazard_ratio".
    family: str
    #: The reason or group whose hazard ratio moves alone.
    reason: str | None
    #: NaN for hazard ratios.
    tau: float
    #: After dropout; under a copula that of :meth:`Grid.hazard_ratio`, NaN where that is not known.
    hazard_ratio: float
    #: That of :meth:`CovariateBenchmarks.multiple_for`; NaN for hazard ratios and without covariates.
    multiple: float
    #: The model with the better score further out; None of an interval, where none is distinguishable.
    winner_beyond: str | None


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity:
    """Every score over families of copulas and τ, and hazard ratios after dropout, by :meth:`Evaluation.sensitivity`.

    Attributes
    ----------
    evaluation : Evaluation
    over_tau : Grid
        Scores along Kendall's τ, a line for each family of copulas.
    over_ratio : Grid or None
        Scores along the hazard ratio after dropout, of all and by reason or group; None where that was not wanted or
        no adjustment takes it.
    plausible : PlausibleRange
        The τ that are held plausible: as given, or from −0.2 to 0.2.
    benchmarks : CovariateBenchmarks or None
        Measured covariates as benchmarks of τ; None where none can be one.
    tau_of_ratio : dict of float
        Kendall's τ that each hazard ratio after dropout implies, by the fitted margins; NaN where it is not known.

    Examples
    --------
    >>> import cocensor as cc
    >>> from cocensor.simulate import SyntheticDesign
    >>> data = SyntheticDesign(n=600, n_features=3, copula=cc.Clayton.from_tau(0.5)).draw(0)
    >>> train, test = data[:300], data[300:]
    >>> models = {f"{k}": cc.CoxPH().fit(train.X[:, :k], train.y).predict_survival_function(test.X[:, :k])
    ...           for k in (1, 3)}
    >>> result = cc.evaluate(models, test.y, y_train=train.y, adjustments="cg_q", copula=cc.Clayton(2.0), metrics="ibs")
    >>> over = result.sensitivity("clayton", [0.0, 0.4, 0.8])
    >>> {tau: round(over.over_tau.values("clayton", tau)["1"], 3) for tau in over.over_tau.points}
    {0.0: 0.113, 0.4: 0.11, 0.8: 0.114}
    """

    evaluation: Evaluation
    over_tau: Grid
    over_ratio: Grid | None
    plausible: PlausibleRange
    benchmarks: CovariateBenchmarks | None
    tau_of_ratio: Mapping[float, float] = field(default_factory=dict)

    @cached_property
    def verdict(self) -> Verdict:
        """Who leads by the first metric under the primary adjustment, and how far that holds."""
        return verdict_of(self.evaluation, self)

    def table(self) -> Any:
        """One row per metric, adjustment, family, τ or hazard ratio, and model: score, error, interval, and rank.

        The family of hazard ratios after dropout is "hazard_ratio": there ``tau`` is NaN, and ``reason`` the reason or
        group whose ratio moves alone. Under copulas ``hazard_ratio`` is that of :meth:`Grid.hazard_ratio`.
        """
        data, metrics = self.evaluation.data, self.evaluation.metrics
        rows = [(metric, *row) for metric in metrics for grid in self.grids for row in grid.rows(metric)]
        errors = () if data.confidence_level is None else ("standard_error", "low", "high")
        where = ("family", "reason", "tau", "hazard_ratio")
        return data.frame(("metric", "adjustment", *where, "model", "score", *errors, "rank"), rows)

    @property
    def grids(self) -> tuple[Grid, ...]:
        """The grid over τ, and that over hazard ratios where there is one."""
        return (self.over_tau,) if self.over_ratio is None else (self.over_tau, self.over_ratio)

    def tipping_points(
        self, a: str, b: str, metric: str | None = None, adjustment: str | None = None
    ) -> tuple[TippingPoint, ...]:
        """Where the order of two models turns or becomes uncertain, on every scale; see :class:`TippingPoint`.

        Under copulas, then by hazard ratio after dropout; each nearest to independence first. There is none where one
        of the models may not be ranked.
        """
        name, points = self.over_tau.adjustment(adjustment), list[TippingPoint]()
        ranked = {a, b} <= set(rankable(self.evaluation))
        for grid in self.grids if ranked else ():
            turns = _turns(grid, a, b, metric, name) if name in grid.answers else ()
            for kind, line, at, winner in sorted(turns, key=lambda turn: abs(grid.position(turn[2]))):
                place = grid.place(name, line, at)
                points.append(TippingPoint(kind, *place, multiple(self.benchmarks, place[2]), winner))
        return tuple(points)

    def tipping_table(self) -> Any:
        """One row per metric, adjustment, pair of models and tipping point; see :class:`TippingPoint`."""
        names = [own.name for own in fields(TippingPoint)]
        rows = [
            (metric, adjustment, a, b, *vars(tip).values())
            for metric in self.evaluation.metrics
            for adjustment in self.over_tau.answers
            for a, b in combinations(self.evaluation.models, 2)
            for tip in self.tipping_points(a, b, metric, adjustment)
        ]
        return self.evaluation.data.frame(("metric", "adjustment", "a", "b", *names), rows)

    @property
    def statement(self) -> str:
        """The answer in words, by the primary adjustment and the first metric of the evaluation."""
        return str(view("text.sensitivity.sensitivity_in_words")(self))

    def plot(self, ax: Any = None, *, line: str | Sequence[str] | None = None) -> Any:
        """Scores along τ and hazard ratios; returns the axes (a :class:`~cocensor.views.plots.CurveDisplay`).

        With ``line``, along the hazard ratio after dropout of "all", or of reasons or groups, a panel each.
        """
        return view("plots.CurveDisplay").from_sensitivity(self, line=line).plot(ax=ax)

    def plot_differences(
        self, reference: str | None = None, ax: Any = None, *, line: str | Sequence[str] | None = None
    ) -> Any:
        """As :meth:`plot`, of scores minus that of one model."""
        return view("plots.CurveDisplay").from_differences(self, reference, line=line).plot(ax=ax)

    def __repr__(self) -> str:
        return escaped(view("text.terminal.sensitivity_as_text")(self))

    def _repr_html_(self) -> str:
        return escaped(view("html.notebook.sensitivity_as_html")(self))


def multiple(benchmarks: CovariateBenchmarks | None, tau: float) -> float:
    """Return how many times as strong as the strongest measured covariate a factor must be to induce τ, or NaN."""
    return float("nan") if np.isnan(tau) or benchmarks is None else benchmarks.multiple_for(tau)


def _turns(
    grid: Grid, a: str, b: str, metric: str | None, adjustment: str
) -> Iterator[tuple[Kind, str, float, str | None]]:
    """By kind and line, the points of a grid, and the model with the better score beyond."""
    pair = grid.pair(a, b, metric, adjustment)
    for point in pair.tipping_points():
        outward = point.sign_above if grid.position(point.at) >= 0 else -point.sign_above
        yield "estimate", point.line, point.at, pair.better(outward)
    for line in grid.answers[adjustment]:
        led = pair.lead(line)
        if led is not None:
            for lost, side in ((led.lost_below, -1.0), (led.lost_above, 1.0)):
                # Without independence in the grid, a lead may be lost on the way to it, which is no way outward.
                if lost is not None and side * grid.position(lost) >= 0:
                    yield "interval", line, lost, None


@one_blas_thread
def sensitivity(
    evaluation: Evaluation,
    plan: SensitivityPlan,
    hazard_ratio_by: Any = None,
    benchmarks: CovariateBenchmarks | None = None,
    progress: Progress | None = None,
) -> Sensitivity:
    """Score all models again under every family and τ, and every hazard ratio; see :meth:`Evaluation.sensitivity`."""
    measured: CovariateBenchmarks | ValueError
    try:
        measured = benchmarks = benchmarks or evaluation.benchmarks()
    except ValueError as error:
        measured = error
    plausible = PlausibleRange.of(evaluation, measured, plan.plausible)
    taus = default_taus(plausible) if plan.taus is None else plan.taus
    ratios, lines, unnamed = plan.hazard_ratios, RatioLines(), None
    if HAZARD_RATIO in plan.families:
        ratios = ratios or default_ratios(evaluation, plausible)
        lines, unnamed = _ratio_lines(hazard_ratio_by, evaluation.data.samples, ratios)
    elif hazard_ratio_by is not None:
        check_has_ratios(plan.families, "hazard_ratio_by")
    results = evaluation.results
    varied = {name: scores for name, scores in results.items() if scores.adjustment.rests_on_copula}
    if plan.adjustments is not None:
        names = [adjustment_named(varied, name, "adjustments") for name in plan.adjustments]
        varied = {name: varied[name] for name in names}
    if not varied:
        raise ValueError("adjustments must include one that depends on a copula: no other changes with τ.")
    # The longest first, so that no thread is left alone with them.
    walks = [
        (name, walk)
        for name, scores in reversed(varied.items())
        for walk in _walks(scores.adjustment, plan.copulas, taus, lines)
    ]
    finished = ProgressCount(sum(bool(step.places) for _, walk in walks for step in walk), progress)
    outcomes: dict[str, Outcomes] = {"tau": {}, "hazard_ratio": {}}
    # The evaluation itself has noted what there is to warn of.
    with collected(HorizonWarning, FitWarning):
        jobs = [partial(_followed, evaluation, name, walk, finished) for name, walk in walks]
        for (name, walk), answers in zip(walks, in_threads(jobs), strict=True):
            for step, answer in zip(walk, answers, strict=True):
                for axis, line, point in step.places:
                    outcomes[axis].setdefault((name, line), {})[point] = answer
    by_tau, missing = _settled(outcomes["tau"], varied, 0.0)
    if not by_tau:
        raise ValueError(f"no point of the grid has a score: {next(iter(missing.values()), '')}")
    by_ratio, without = _settled(outcomes["hazard_ratio"], varied, 1.0)
    over_ratio = None
    if by_ratio:
        if unnamed is not None:
            without |= {(name, "reason"): unnamed.on(adjustment=name) for name in by_ratio}
        tried = tuple(sorted(ratios or ()))
        over_ratio = Grid(evaluation, "hazard_ratio", tuple(lines), tried, by_ratio, without)
    elif lines:
        for name in varied:
            why = (note for (adjustment, _), note in without.items() if adjustment == name)
            missing[name, HAZARD_RATIO] = next(why, noted("no_hazard_ratio", adjustment=name))
    over_tau = Grid(evaluation, "tau", plan.copulas, taus, by_tau, missing)
    points = () if over_ratio is None else over_ratio.points
    implied = {ratio: tau_of_ratio(evaluation, over_tau.primary, ratio) for ratio in points}
    return Sensitivity(evaluation, over_tau, over_ratio, plausible, benchmarks, implied)


def default_taus(plausible: PlausibleRange) -> tuple[float, ...]:
    """Tenths from -0.3, or from the lower end of the plausible range where that lies below, to 0.9, and both ends."""
    first = max(min(math.floor(10.0 * plausible.low), _FIRST_TENTH), -_LAST_TENTH)
    tenths = {round(0.1 * tenth, 1) for tenth in range(first, _LAST_TENTH + 1)}
    return tuple(sorted(tenths | {plausible.low, plausible.high}))


def default_ratios(evaluation: Evaluation, plausible: PlausibleRange) -> tuple[float, ...]:
    """0.5 to 5, and the hazard ratios that imply the ends of the plausible range, as far as from 0.1 to 10."""
    from scipy.optimize import brentq  # late: it takes a moment

    def beyond(log_ratio: float, tau: float) -> float:
        return tau_of_ratio(evaluation, evaluation.primary, math.exp(log_ratio)) - tau

    ratios, farthest = set(RATIOS), math.log(_FARTHEST)
    for tau in (plausible.low, plausible.high):
        side = math.copysign(farthest, tau)
        at_end = beyond(side, tau)
        if tau and np.isfinite(at_end):
            reached = at_end * tau > 0
            log_ratio = float(brentq(lambda at, tau=tau: beyond(at, tau), 0.0, side)) if reached else side
            # Rounded towards 1, so that the τ stays within the range.
            digits = 2 - math.floor(log_ratio / math.log(10.0))
            step = math.floor if tau > 0 else math.ceil
            ratios.add(step(math.exp(log_ratio) * 10.0**digits + (1e-9 if tau > 0 else -1e-9)) / 10.0**digits)
    return tuple(sorted(ratios))


def tau_of_ratio(evaluation: Evaluation, adjustment: str, ratio: float) -> float:
    """Return Kendall's τ that a hazard ratio after dropout implies, a mean over the fits; NaN where it is not known."""
    fits = [fitted for fitted, _ in evaluation.results[adjustment].served]
    return float(np.mean([fitted.tau_after_dropout(ratio) for fitted in fits])) if fits else math.nan


def _settled(
    outcomes: Outcomes, adjustments: Iterable[str], independence: float
) -> tuple[Answers, dict[tuple[str, str], Note]]:
    """Return the answers along an axis in order, and by adjustment and line why some are missing."""
    answers: Answers = {name: {} for name in adjustments}
    missing: dict[tuple[str, str], Note] = {}
    for (name, line), by_point in outcomes.items():
        scores = {point: answer for point, answer in by_point.items() if not isinstance(answer, Note)}
        notes = {point: answer for point, answer in by_point.items() if isinstance(answer, Note)}
        if notes:
            missing[name, line] = notes[min(notes, key=lambda point: abs(point - independence))]
        # Independence alone is not an answer of a line that failed.
        if scores and not (notes and scores.keys() <= {independence}):
            answers[name][line] = dict(sorted(scores.items()))
    return {name: by_line for name, by_line in answers.items() if by_line}, dict(sorted(missing.items()))


@dataclass(frozen=True, eq=False)
class _Step:
    """From fits to others, whose scores stand at some places; ``stays`` where the steps after it start from there."""

    move: Callable[[Fitted], Fitted]
    places: list[Place]
    stays: bool = False


def _followed(
    evaluation: Evaluation, name: str, walk: list[_Step], points: ProgressCount, stopped: Event
) -> list[AdjustmentScores | Note]:
    """Return the scores along a walk, or why there are none."""
    start = evaluation.results[name]
    answers: list[AdjustmentScores | Note] = []
    for step in walk:
        if stopped.is_set():
            break
        try:
            moved = refit(start, step.move)
            start = moved if step.stays else start
            scores = score_refit(evaluation.data, moved) if step.places else moved
            answers.append(scores if scores.answered or not step.places else scores.notes_of("missing")[0])
        except (TypeError, ValueError) as error:
            answers.append(noted("no_score", adjustment=name, why=str(error)))
        if step.places:
            points.count()
    return answers


def _walks(
    adjustment: Adjustment, families: Sequence[str], taus: Sequence[float], lines: RatioLines
) -> list[list[_Step]]:
    """Independence with the hazard ratios, which move from there; then family by family away from τ = 0."""
    at_independence: list[Place] = [("tau", family, 0.0) for family in families if 0.0 in taus]
    by_ratio = list[_Step]()
    for line, by_line in lines.items() if adjustment.takes_hazard_ratio else ():
        for ratio, given in by_line.items():
            if ratio == 1:
                at_independence.append(("hazard_ratio", line, 1.0))
            else:
                move = methodcaller("with_hazard_ratio", given)
                by_ratio.append(_Step(move, [("hazard_ratio", line, ratio)]))
    walks = list[list[_Step]]()
    for family in families:
        kind = copula_families()[family]
        for walk in walks_from_independence(kind, taus):
            moves = [(methodcaller("with_copula", kind.from_tau(tau)), tau) for tau in walk]
            walks.append([_Step(move, [("tau", family, tau)]) for move, tau in moves])
    if not (at_independence or by_ratio):
        return walks
    first = _Step(methodcaller("with_copula", Independence()), at_independence, stays=True)
    return [[first, *by_ratio], *walks]


def _ratio_lines(by: Any, samples: Samples, ratios: Sequence[float]) -> tuple[RatioLines, Note | None]:
    """Return the lines, on which the ratio of everybody or of one reason or group moves; why reasons have none."""
    lines: RatioLines = {ALL: {ratio: ratio for ratio in ratios}}
    reasons, names = samples.y_test.reasons, column_names(samples.x_test) or []
    if isinstance(by, str) and by != "reason":
        if by not in names:
            raise ValueError(
                f"hazard_ratio_by must be a column of numbers in x_test, or a label per test subject, but is {by!r}."
            )
        by = np.asarray(samples.x_test)[:, names.index(by)]
    if by is not None and not isinstance(by, str):
        check_length(by, "hazard_ratio_by", len(samples.y_test), "y_test")
        values = to_numpy(by, "hazard_ratio_by")
        if values.ndim != 1:
            raise ValueError(
                f"hazard_ratio_by must have one label per test subject, but its shape is {values.shape}."
            )
        labels = as_labels(values.tolist(), "hazard_ratio_by")
        groups = check_groups(labels, "hazard_ratio_by")
        for group in groups if len(groups) > 1 else ():
            members = np.array(labels) == group
            lines[group] = {ratio: np.where(members, ratio, 1.0) for ratio in ratios}
        return lines, None
    if by is not None and not reasons:
        raise ValueError("hazard_ratio_by must not be 'reason' where y_test names no reasons of dropout.")
    if by is None and len(reasons) > _MOST_GROUPS:
        return lines, noted("too_many_reasons", most=_MOST_GROUPS, n=len(reasons))
    check_groups(reasons, "y_test", "reasons for a line each")
    for reason in reasons if len(reasons) > 1 else ():
        lines[reason] = {ratio: {reason: ratio} for ratio in ratios}
    return lines, None


def as_labels(values: Sequence[Any], argument: str) -> list[str]:
    """Return a text per test subject."""
    labels = ["" if value is None else spelled(value).strip() for value in values]
    if "" in labels:
        row = labels.index("")
        refuse_at((row,), values[row], f"{argument} must have a label for each test subject")
    return labels


def check_groups(labels: Sequence[str], argument: str, what: str = "groups") -> list[str]:
    """The different labels, in their order, if they are few."""
    names = sorted(set(labels))
    if len(names) > _MOST_GROUPS:
        raise ValueError(
            f"{argument} must have at most {_MOST_GROUPS} {what}, but has {len(names)}: put some of them together."
        )
    if ALL in names:
        raise ValueError(f"{argument} must not call a group {ALL!r}: that is everybody's hazard ratio.")
    return names
