"""The verdict: who leads, who is beaten, who ties, and how far that holds, as data for the sentences of views."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import isfinite, nan
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from cocensor._checks import escaped
from cocensor._json import plain
from cocensor._notes import Note
from cocensor._views import view
from cocensor.adjustments import IPCW, Imputation
from cocensor.copulas import Copula, copula_families
from cocensor.study.evaluation import Evaluation
from cocensor.study.ranking import (
    Answer,
    Standing,
    beats_reference,
    better_than_reference,
    counted,
    rankable,
    reference_metric,
    standing,
)
from cocensor.study.sensitivity.benchmarks import PlausibleRange
from cocensor.study.sensitivity.grid import ALL, Grid, Pair
from cocensor.study.sensitivity.zones import Course, courses

if TYPE_CHECKING:
    from cocensor.study.sensitivity.run import Sensitivity

State = Literal["no_usable_model", "tie", "settled", "settled_at_independence", "not_settled"]


@dataclass(frozen=True)
class Robustness:
    """The smallest dependence at which a lead is lost against a model, in the family where that comes first."""

    tau: float
    #: Right after leaving; NaN where it is not known.
    hazard_ratio: float
    family: str
    against: str
    within_plausible: bool


class BetterThanReference(NamedTuple):
    """Whether a model is better than one Kaplan–Meier curve for all, by the intervals of the difference."""

    #: At the dependence that was assumed: independence, unless a copula was stated.
    here: Answer
    #: At every point of the plausible range; "cannot tell" where answers differ. None without a sensitivity analysis.
    over_plausible: Answer | None = None


@dataclass(frozen=True)
class Assumption:
    """The assumption that a verdict is made under."""

    adjustment: str
    label: str
    #: Kendall's τ of event and dropout given what is known of subjects; None where no copula is assumed.
    tau: float | None
    #: The family of the copula; None at independence, and where every family agrees.
    family: str | None = None
    #: The hazard ratio right after leaving; None where it is not known.
    hazard_ratio: float | None = None
    #: What the dependence is conditional on: "predictions", "covariates".
    given: tuple[str, ...] = ()
    anybody_left: bool = True


@dataclass(frozen=True, eq=False)
class Verdict:
    """Who leads by one metric under one assumption, as far as the data show, and how far that holds."""

    #: The first that applies: "no_usable_model" (no model may be better than Kaplan–Meier), "tie" (all remaining models
    #: are equivalent, throughout the plausible range), "settled" (one model is better than every other at all points of
    #: the plausible range, both ends included, in every family that reaches the point, and at every hazard ratio after
    #: dropout whose τ lies in the range), "settled_at_independence" (the same at the dependence that was assumed), or
    #: "not_settled". A point without an answer prevents "tie" and "settled". One remaining model is held against the
    #: Kaplan–Meier curve. Without a sensitivity analysis there is no "settled", and "tie" is about one dependence.
    state: State
    assumption: Assumption
    standing: Standing = field(repr=False)
    #: Whether each model is better than one Kaplan–Meier curve for all, under this assumption.
    better_than_reference: Mapping[str, BetterThanReference] = field(default_factory=dict)
    #: Of those that may be ranked.
    unscored: tuple[str, ...] = ()
    #: By each metric of the evaluation, under the same adjustment.
    by_metric: Mapping[str, Standing] = field(default_factory=dict, repr=False)
    #: The τ that are held plausible, and where that is from; None without a sensitivity analysis.
    plausible: PlausibleRange | None = None
    #: The hazard ratios right after leaving that its ends stand for, under every family.
    plausible_ratios: tuple[float, float] | None = None
    #: How far the standing holds over Kendall's τ, and who may be best where; None without a sensitivity analysis.
    over_tau: Along | None = field(default=None, repr=False)
    #: The families without an answer.
    silent: tuple[str, ...] = ()
    #: Where the score of the only model that may be ranked lies: "plausible", over the part of the plausible range that
    #: was tried, and "grid".
    spans: Mapping[str, Span] = field(default_factory=dict, repr=False)
    strongest_covariate: str | None = None
    #: How far the lead holds over the hazard ratio after dropout.
    over_ratios: OverRatios | None = field(default=None, repr=False)
    #: The model with the best score against each other that remains, the most serious rival first; against the
    #: Kaplan–Meier curve where no other does.
    courses: tuple[Course, ...] = field(default=(), repr=False)
    #: So many points of the plausible range have no answer.
    unanswered: int = 0
    #: Kendall's τ that each hazard ratio after dropout implies, by the fitted margins; NaN where it is not known.
    tau_of_ratio: Mapping[float, float] = field(default_factory=dict)

    @property
    def metric(self) -> str:
        """The name of its metric."""
        return self.standing.metric.name

    @property
    def adjustment(self) -> str:
        """The name of its adjustment."""
        return self.assumption.adjustment

    @property
    def leader(self) -> str | None:
        """The model that alone may be best; None where several may, or the only one may be no better than nothing."""
        first, alone = self.standing.contenders, len(self.standing.scores) == 1
        leads = len(first) == 1 and (not alone or self.better_than_reference[first[0]].here == "yes")
        return first[0] if leads else None

    @property
    def margin(self) -> float:
        """Differences within ± this are too small to matter."""
        return self.standing.margin

    @property
    def beaten(self) -> tuple[str, ...]:
        """The models that are significantly worse than each that may be best."""
        return self.standing.beaten

    @property
    def tied(self) -> tuple[str, ...]:
        """The models that may be best, where these are several."""
        first = self.standing.contenders
        return first if len(first) > 1 else ()

    @property
    def behind(self) -> tuple[str, ...]:
        """The models that are not among the best, but do not differ from each of them significantly."""
        return self.standing.behind

    @property
    def tried(self) -> tuple[float, ...]:
        """The τ of the grid that have an answer."""
        return () if self.over_tau is None else self.over_tau.tried

    @property
    def stretches(self) -> tuple[LeadingRange, ...]:
        """From which to which τ the same models may be best."""
        return () if self.over_tau is None else self.over_tau.stretches

    @property
    def reach(self) -> Reach | None:
        """How far the standing holds over τ under every family; None where it does not at its start."""
        return None if self.over_tau is None else self.over_tau.reach

    @property
    def covered(self) -> tuple[float, float] | None:
        """The part of the plausible range that the grid covers; None where that is none."""
        if self.plausible is None or not self.tried:
            return None
        low, high = max(self.plausible.low, self.tried[0]), min(self.plausible.high, self.tried[-1])
        return (low, high) if low <= high else None

    @property
    def is_covered(self) -> bool:
        """Whether the grid covers all of the plausible range."""
        return self.plausible is not None and self.covered == (self.plausible.low, self.plausible.high)

    @property
    def holds_in_plausible(self) -> bool:
        """Whether the lead holds all over the part of the plausible range that was tried."""
        reach, covered = self.reach, self.covered
        return reach is not None and covered is not None and all(map(reach.holds, covered))

    @property
    def robustness(self) -> Robustness | None:
        """The point where the lead is lost first; None where there is none, or it is not lost."""
        limits = [] if self.reach is None else self.reach.limits
        nearest = next((limit for limit in limits if not limit.is_silent), None)
        if nearest is None or self.leader is None or not self.beaten:
            return None
        within = self.plausible is not None and self.plausible.low <= nearest.at <= self.plausible.high
        against = next((model for model in nearest.models if model != self.leader), nearest.models[-1])
        return Robustness(nearest.at, nearest.hazard_ratio, str(nearest.line), against, within)

    def to_dict(self) -> dict[str, Any]:
        """The verdict as JSON can hold it."""
        same = ("state", "metric", "adjustment", "leader", "beaten", "tied", "behind", "unscored", "margin")
        numbers = {name: getattr(self, name) for name in same} | {
            "tau": self.assumption.tau,
            "better_than_reference": {
                model: answer._asdict() for model, answer in self.better_than_reference.items()
            },
            "tau_of_ratio": [list(pair) for pair in self.tau_of_ratio.items()],
            "by_metric": {
                name: {"best": by.best, "leaders": by.leaders} for name, by in self.by_metric.items()
            },
            "plausible": self.plausible and (self.plausible.low, self.plausible.high),
            "stretches": list(map(vars, self.stretches)),
            "courses": [course.to_dict() for course in self.courses],
            "robustness": self.robustness and vars(self.robustness),
            "statement": str(self),
        }
        return dict(plain(numbers))

    def __str__(self) -> str:
        return escaped(view("text.verdict.verdict_in_words")(self))


@dataclass(frozen=True)
class Limit:
    """The point up to which something holds, outward from independence."""

    #: Kendall's τ, or the hazard ratio after dropout.
    at: float
    #: Up to which it holds on all lines; NaN where it is not known.
    hazard_ratio: float = nan
    #: On which it is lost first; None where it is not lost, but an interval or a score is missing beyond.
    line: str | None = None
    #: Whether it is lost on other lines too, further out.
    other_lines: bool = False
    #: The two that cannot be distinguished beyond; or those that may be best there.
    models: tuple[str, ...] = ()
    #: Whether the interval of a difference comes to cover 0 here, perhaps between two points of the grid; else this is
    #: the last point of the grid where it holds.
    by_interval: bool = False
    #: That of :meth:`CovariateBenchmarks.multiple_for`; NaN where no covariate tells.
    multiple: float = nan

    @property
    def is_silent(self) -> bool:
        """Whether nothing is lost here, but an interval, or a score, is missing beyond."""
        return self.line is None


class Reach(NamedTuple):
    """From where to where something holds, outward from independence; None for the end of the grid."""

    low: Limit | None = None
    high: Limit | None = None

    def holds(self, point: float) -> bool:
        """Whether a point is within."""
        return (self.low is None or self.low.at <= point) and (self.high is None or point <= self.high.at)

    @property
    def ways(self) -> list[tuple[int, Limit]]:
        """The limits that there are, each on the way up (1) or down (-1), the nearest to independence first."""
        limits = [(way, limit) for way, limit in zip((-1, 1), self, strict=True) if limit is not None]
        return sorted(limits, key=lambda on_way: abs(on_way[1].at))

    @property
    def limits(self) -> list[Limit]:
        """The limits that there are, the nearest to independence first."""
        return [limit for _, limit in self.ways]


@dataclass(frozen=True)
class LeadingRange:
    """From one point of the grid to another, the same models may be best, each on some line, or have no score there."""

    low: float
    high: float
    models: tuple[str, ...]
    #: Whether they are the same on every line.
    agreed: bool = True


@dataclass(frozen=True, eq=False)
class Along:
    """A standing along the points of a grid that have an answer, on all lines together or on one."""

    #: The standing at the point nearest to independence, and that point.
    standing: Standing
    start: float
    tried: tuple[float, ...]
    stretches: tuple[LeadingRange, ...]
    #: From where to where the standing holds on every line; None where that is not so even at its start.
    reach: Reach | None

    def after(self, way: int, point: float) -> list[LeadingRange]:
        """The stretches that begin beyond a point on the way up (1), or down (-1), in the order of that way."""
        stretches = self.stretches[::way]
        return [part for part in stretches if ((part.low if way > 0 else part.high) - point) * way > 0]

    def next_leader(self, way: int) -> LeadingRange | None:
        """The first stretch on the way up (1), or down (-1), where one new model alone may be best."""
        alone = (part for part in self.after(way, self.start) if len(part.models) == 1)
        return next((part for part in alone if part.models[0] not in self.standing.contenders), None)


@dataclass(frozen=True, eq=False)
class OverRatios:
    """The range of hazard ratios after dropout over which a lead holds."""

    #: For "all" dropouts, and for one reason or group alone.
    lines: Mapping[str, Along]
    #: Where the score of the only model that may be ranked lies.
    span: Span | None = None
    #: Whether the lines beside "all" are reasons of dropout.
    by_reason: bool = False
    #: Why reasons that there are have no lines.
    unnamed: Note | None = None


class Span(NamedTuple):
    """Between which values a score lies over some dependences; with sampling error, where there is one."""

    low: float
    high: float
    low_with_error: float = nan
    high_with_error: float = nan


def verdict_of(evaluation: Evaluation, sensitivity: Sensitivity | None = None) -> Verdict:
    """Return who leads by the first metric under the primary adjustment, and over a sensitivity analysis how far.

    It holds at the dependence that the evaluation assumes, by the first adjustment from the primary one on that has
    scores; over a grid of another adjustment, at its point nearest to independence. How far it holds goes outward from
    there in any case.
    """
    metric = evaluation.data.metrics[0]
    order = [evaluation.results[name] for name in dict.fromkeys((evaluation.primary, *counted(evaluation)))]
    scores = next((scores for scores in order if scores.values[metric.name]), order[0])
    place, assumption = standing(evaluation, metric.name, scores.name), assumption_of(evaluation, scores.name)
    grid = None if sensitivity is None else sensitivity.over_tau
    leaders = {} if grid is None else grid.leaders()
    # Scores that no verdict counts do not show how far one holds.
    tells = grid is not None and bool(leaders) and grid.primary in counted(evaluation)
    if grid is not None and tells:
        start = grid.nearest(tau for by_tau in leaders.values() for tau in by_tau)
        if grid.primary != scores.name or (assumption.tau == 0 and start != 0):
            assumption = assumption_of(evaluation, grid.primary)
            assumption = replace(assumption, tau=start, family=None, hazard_ratio=None)
            # Every line that has an answer there agrees on this standing.
            places = [grid.standing(line, start) for line, by_tau in leaders.items() if start in by_tau]
            best = tuple(model for model in places[0].scores if any(model in line.best for line in places))
            errors = sum((line.errors for line in places), ())
            place = replace(places[0], errors=errors, best_of_several=best)
    unscored = tuple(model for model in rankable(evaluation) if model not in place.scores)
    by_metric = {name: standing(evaluation, name, place.adjustment) for name in evaluation.metrics}
    reference = {
        model: BetterThanReference(better_than_reference(evaluation, model))
        for model in evaluation.data.predictions
    }
    verdict = Verdict("not_settled", assumption, place, reference, unscored, by_metric)
    points: list[Point | None] | None = None
    if sensitivity is not None and tells:
        verdict = _over(sensitivity, verdict)
        points = plausible_points(sensitivity, verdict.tau_of_ratio)
        ends = sensitivity.plausible.low, sensitivity.plausible.high
        lost = verdict.robustness and verdict.robustness.family
        found = courses(
            sensitivity.grids, place, rankable(evaluation), ends, verdict.tau_of_ratio, lost or None
        )
        verdict = replace(verdict, courses=found, unanswered=sum(point is None for point in points))
        reference = {
            model: answer._replace(over_plausible=_over_plausible(points, model, answer.here))
            for model, answer in reference.items()
        }
        verdict = replace(verdict, better_than_reference=reference)
    return replace(verdict, state=_state(evaluation, verdict, points))


def assumption_of(evaluation: Evaluation, adjustment: str) -> Assumption:
    """Return what the scores under an adjustment assume."""
    scores = evaluation.results[adjustment]
    value, copula = scores.adjustment, getattr(scores.adjustment, "copula", None)
    tau, family = 0.0 if isinstance(value, IPCW) else None, None
    if isinstance(copula, Copula) and not isinstance(value, IPCW):
        tau, family = (0.0, None) if copula.is_independence else (float(copula.tau), copula.name)
    given = ["predictions"] if value.needs & {"prediction", "predictions"} else []
    everything = isinstance(value, Imputation) and "everything" in value.given
    if "covariates" in value.needs or (everything and evaluation.data.samples.x_test is not None):
        given.append("covariates")
    left = evaluation.data.anybody_left
    return Assumption(adjustment, scores.label, tau, family, scores.hazard_ratio, tuple(given), left)


def _state(evaluation: Evaluation, verdict: Verdict, points: Sequence[Point | None] | None) -> State:
    """Return the first state that applies; ``points`` are those of the plausible range, None for one without answer."""
    place, remaining = verdict.standing, rankable(evaluation)
    if not remaining or not place.scores:
        return "no_usable_model"
    if len(remaining) > 1 and _equivalent(place, remaining):
        throughout = points is None or all(
            point and _equivalent(point.standing, remaining) for point in points
        )
        if throughout:
            return "tie"
    leader = verdict.leader
    if leader is None or not place.leads(leader, _rivals(leader, remaining)):
        return "not_settled"
    if len(remaining) == 1:
        everywhere = verdict.better_than_reference[leader].over_plausible == "yes"
    else:
        everywhere = points is not None and all(
            point and point.standing.leads(leader, _rivals(leader, remaining)) for point in points
        )
    return "settled" if everywhere else "settled_at_independence"


def _rivals(leader: str, remaining: Iterable[str]) -> list[str]:
    return [model for model in remaining if model != leader]


def _equivalent(place: Standing, models: Iterable[str]) -> bool:
    return all(place.equivalent(a, b) for a, b in combinations(models, 2))


class Point(NamedTuple):
    """A point of a grid, and the standing of the models there."""

    grid: Grid
    line: str
    at: float
    standing: Standing


def plausible_points(sensitivity: Sensitivity, tau_of_ratio: Mapping[float, float]) -> list[Point | None]:
    """Return all points of the plausible range; None for each without an answer, and for an end that is no point.

    The points of a family are those that it reaches. A hazard ratio after dropout belongs to the range if the τ that it
    implies does, or is not known.
    """
    grid, after, plausible = sensitivity.over_tau, sensitivity.over_ratio, sensitivity.plausible
    low, high = plausible.low, plausible.high
    taus = [tau for tau in grid.points if low <= tau <= high]
    points: list[Point | None] = [None for end in (low, high) if end not in taus]
    wanted = [(grid, family, tau) for family in grid.lines for tau in taus if _reaches(family, tau)]
    if after is not None and ALL in after.lines:
        ratios = (ratio for ratio in after.points if not _is_outside(tau_of_ratio.get(ratio, nan), low, high))
        wanted += [(after, ALL, ratio) for ratio in ratios]
    return points + [
        Point(*place, place[0].standing(*place[1:])) if place[0].values(*place[1:]) else None
        for place in wanted
    ]


def _reaches(family: str, tau: float) -> bool:
    low, high = copula_families()[family].tau_range
    return tau == 0 or low < tau < high


def _is_outside(tau: float, low: float, high: float) -> bool:
    return tau < low or tau > high


def _over_plausible(points: Sequence[Point | None], model: str, here: Answer) -> Answer:
    """Return whether a model is better than the reference curve at all points; one that is disqualified is not."""
    answers: set[Answer] = {here}
    for point in points:
        if point is None:
            return "no" if here == "no" else "cannot tell"
        evaluation = point.grid.evaluation
        by = reference_metric(evaluation)
        errors = point.grid.errors(point.line, point.at, by.name)
        answers.add(beats_reference(errors, model, by, evaluation.data.level))
    return here if here == "no" or answers == {here} else "cannot tell"


def _over(sensitivity: Sensitivity, verdict: Verdict) -> Verdict:
    """Return a verdict with how far it holds over a grid, from the point nearest to independence outward."""
    grid, benchmarks = sensitivity.over_tau, sensitivity.benchmarks
    over, leaders, models = along(grid, verdict.standing), grid.leaders(), rankable(grid.evaluation)
    if over.reach is not None and benchmarks is not None:
        ends = (
            end if end is None or end.is_silent else replace(end, multiple=benchmarks.multiple_for(end.at))
            for end in over.reach
        )
        over = replace(over, reach=Reach(*ends))
    verdict = replace(
        verdict,
        plausible=sensitivity.plausible,
        over_tau=over,
        silent=tuple(line for line in grid.lines if line not in leaders),
        strongest_covariate=None if benchmarks is None else benchmarks.strongest.name,
        over_ratios=None if sensitivity.over_ratio is None else over_ratios_of(sensitivity.over_ratio),
        tau_of_ratio=tau_of_ratio(grid, sensitivity.over_ratio),
    )
    covered, ratios, spans = verdict.covered, None, dict[str, Span]()
    if covered is not None and verdict.is_covered:
        low, high = (_weakest(grid.hazard_ratio(family, tau) for family in leaders) for tau in covered)
        ratios = (low, high) if isfinite(low) and isfinite(high) else None
    if len(models) == 1 and models[0] in verdict.standing.scores:
        ranges = {"grid": (over.tried[0], over.tried[-1])}
        if covered is not None and covered[0] < covered[1]:
            ranges["plausible"] = covered
        for name, between in ranges.items():
            spread = grid.uncertainty(*between, models[0])
            with_error = () if grid.evaluation.data.confidence_level is None else spread.strong
            spans[name] = Span(*spread.ignorance, *with_error)
    return replace(verdict, plausible_ratios=ratios, spans=spans)


def tau_of_ratio(grid: Grid, after: Grid | None) -> dict[float, float]:
    """Return Kendall's τ that each hazard ratio after dropout implies, a mean over the fits of the adjustment."""
    if after is None:
        return {}
    fits = [fitted for fitted, _ in grid.evaluation.results[grid.primary].served]
    return {
        ratio: float(np.mean([fitted.tau_after_dropout(ratio) for fitted in fits])) if fits else nan
        for ratio in after.points
    }


def along(grid: Grid, place: Standing, line: str | None = None) -> Along:
    """Return a standing along a grid: who may be best where, and from where to where it holds."""
    # By intervals where there are some; a model without a score may be best too.
    best = {
        name: {point: set(models) | _missing(grid, place, name, point) for point, models in by_point.items()}
        for name, by_point in (grid.best() if place.tells else grid.leaders()).items()
        if line in (None, name)
    }
    tried = tuple(sorted({point for by_point in best.values() for point in by_point}))
    ranges: list[LeadingRange] = []
    for point in tried:
        sets = [by_point[point] for by_point in best.values() if point in by_point]
        models = tuple(model for model in rankable(grid.evaluation) if any(model in some for some in sets))
        agreed = all(some == set(models) for some in sets)
        if ranges and (ranges[-1].models, ranges[-1].agreed) == (models, agreed):
            ranges[-1] = replace(ranges[-1], high=point)
        else:
            ranges.append(LeadingRange(point, point, models, agreed))
    whole = Along(place, grid.nearest(tried), tried, tuple(ranges), None)
    return replace(whole, reach=_reach(grid, whole, best, line)) if len(place.scores) > 1 else whole


def _missing(grid: Grid, place: Standing, line: str, point: float) -> set[str]:
    """Return the models of a standing without a score at a point of the grid."""
    return set(place.scores) - set(grid.values(line, point))


def _reach(
    grid: Grid, whole: Along, best: Mapping[str, Mapping[float, set[str]]], line: str | None
) -> Reach | None:
    """From where to where the same models are first and, by the intervals of differences, beat the same."""
    place, start = whole.standing, whole.start
    wanted = set(place.contenders)
    rivals = set(place.compared) - set(place.beaten) if place.tells else set(place.scores)

    def lost_on(point: float) -> list[str]:
        return [name for name, by in best.items() if point in by and by[point] & rivals != wanted]

    by_interval = _reach_of_lead(grid, whole, line) if place.tells and place.beaten else Reach()
    if by_interval is None or lost_on(start):
        return None
    ends: list[Limit | None] = []
    for way, limit in zip((-1, 1), by_interval, strict=True):
        points = [at for at in whole.tried[::way] if (at - start) * way >= 0]
        lost = next((k for k, at in enumerate(points) if lost_on(at)), None)
        if lost is not None and (limit is None or limit.at * way > points[lost] * way):
            at, lines = points[lost - 1], lost_on(points[lost])
            limit = Limit(at)
            scored = [name for name in lines if not _missing(grid, place, name, points[lost])]
            if scored:
                later = {name for point in points[lost + 1 :] for name in lost_on(point)} - set(lines)
                ratio = _weakest(grid.hazard_ratio(name, at) for name in best if at in best[name])
                limit = Limit(at, ratio, scored[0], bool(later), whole.after(way, at)[0].models)
        ends.append(limit)
    return Reach(*ends)


def _reach_of_lead(grid: Grid, whole: Along, line: str | None) -> Reach | None:
    """From where to where each of the first models beats all that are beaten, by the intervals of their differences."""
    place, ends = whole.standing, list[Limit | None]()
    sign = -1 if place.metric.direction == "lower" else 1
    pairs = [grid.pair(model, loser) for model in place.first for loser in place.beaten]
    leads = [(pair, lead) for pair in pairs if (lead := pair.lead(line)) is not None and lead.sign == sign]
    if len(leads) < len(pairs):
        return None
    for way, held, lost, end in ((-1, "low", "lost_below", 0), (1, "high", "lost_above", -1)):
        limits = []
        for pair, lead in leads:
            last, at = getattr(lead, held), getattr(lead, lost)
            if at is not None:
                limits.append(_lost(pair, sign, at, lost, line))
            elif (whole.tried[end] - last) * way > 0:
                limits.append(Limit(last))
        nearest = min(limits, key=lambda limit: limit.at * way, default=None)
        ratio = _weakest(limit.hazard_ratio for limit in limits)
        ends.append(None if nearest is None else replace(nearest, hazard_ratio=ratio))
    return Reach(*ends)


def _lost(pair: Pair, sign: int, at: float, side: str, line: str | None) -> Limit:
    """Return the end of a lead, with the line on which it is lost first."""
    lost = {}
    for name in pair.curves if line is None else (line,):
        lead = pair.lead(name)
        # A line that begins where the lead is lost never had it.
        end = at if lead is None or lead.sign != sign else getattr(lead, side)
        if end is not None:
            lost[name] = end
    first = min(lost, key=lambda name: abs(lost[name] - at))
    ratio = _weakest(pair.grid.hazard_ratio(*end) for end in lost.items())
    return Limit(at, ratio, first, len(lost) > 1, (pair.a, pair.b), by_interval=True)


def over_ratios_of(grid: Grid) -> OverRatios | None:
    """Return how far a lead holds over the hazard ratio after dropout; None where no other than 1 was tried."""
    data, leaders, models = grid.evaluation.data, grid.leaders(), rankable(grid.evaluation)
    if set(leaders.get(ALL, {})) <= {1.0} or not data.anybody_left or not models:
        return None
    place, span = grid.standing(ALL, grid.nearest(leaders[ALL])), None
    if len(models) == 1:
        scores = [grid.values(ALL, ratio)[models[0]] for ratio in leaders[ALL]]
        span = Span(min(scores), max(scores))
    by_reason = set(leaders) - {ALL} <= set(data.samples.y_test.reasons)
    lines = {line: along(grid, place, line) for line in leaders}
    return OverRatios(lines, span, by_reason, grid.missing.get((grid.primary, "reason")))


def _weakest(ratios: Iterable[float]) -> float:
    """Return the hazard ratio nearest to 1 of those that are known; NaN where there is none."""
    return min(filter(isfinite, ratios), key=lambda ratio: max(ratio, 1 / ratio), default=nan)
