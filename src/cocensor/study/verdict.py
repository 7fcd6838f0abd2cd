"""The verdict: who leads, who is beaten, who ties, and how far that holds, as data for the sentences of views."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import nan
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from cocensor._checks import escaped
from cocensor._json import plain
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
from cocensor.study.sensitivity.grid import ALL, Grid
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


@dataclass(frozen=True)
class Stretch:
    """From one τ of the grid to another, the same models may be best, each in some family, or have no score there."""

    low: float
    high: float
    models: tuple[str, ...]
    #: Whether they are the same in every family.
    agreed: bool = True


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
    #: From which to which τ of the grid the same models may be best.
    stretches: tuple[Stretch, ...] = ()
    #: The smallest τ at which the lead is lost in any family; None where there is no lead, or it is not lost.
    robustness: Robustness | None = None
    #: The families without an answer.
    silent: tuple[str, ...] = ()
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
    if sensitivity is not None and grid is not None and tells:
        taus = sensitivity.tau_of_ratio
        points = plausible_points(sensitivity)
        reference = {
            model: answer._replace(over_plausible=_over_plausible(points, model, answer.here))
            for model, answer in reference.items()
        }
        verdict = replace(verdict, better_than_reference=reference)
        lost = _robustness(sensitivity, verdict)
        ends = sensitivity.plausible.low, sensitivity.plausible.high
        family = None if lost is None else lost.family
        verdict = replace(
            verdict,
            plausible=sensitivity.plausible,
            stretches=_stretches(grid, place),
            robustness=lost,
            silent=tuple(line for line in grid.lines if line not in leaders),
            courses=courses(sensitivity.grids, place, rankable(evaluation), ends, taus, family),
            unanswered=sum(point is None for point in points),
            tau_of_ratio=taus,
        )
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


def plausible_points(sensitivity: Sensitivity) -> list[Point | None]:
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
        ratios = (
            ratio
            for ratio in after.points
            if not _is_outside(sensitivity.tau_of_ratio.get(ratio, nan), low, high)
        )
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


def _stretches(grid: Grid, place: Standing) -> tuple[Stretch, ...]:
    """Return who may be best from where to where: by intervals where there are some, else by scores."""
    by_family = grid.best() if place.tells else grid.leaders()
    stretches: list[Stretch] = []
    for tau in sorted({tau for by_tau in by_family.values() for tau in by_tau}):
        # A model without a score may be best too.
        sets = [
            set(by_tau[tau]) | (set(place.scores) - set(grid.values(family, tau)))
            for family, by_tau in by_family.items()
            if tau in by_tau
        ]
        models = tuple(model for model in rankable(grid.evaluation) if any(model in some for some in sets))
        agreed = all(some == set(models) for some in sets)
        if stretches and (stretches[-1].models, stretches[-1].agreed) == (models, agreed):
            stretches[-1] = replace(stretches[-1], high=tau)
        else:
            stretches.append(Stretch(tau, tau, models, agreed))
    return tuple(stretches)


def _robustness(sensitivity: Sensitivity, verdict: Verdict) -> Robustness | None:
    """Return the smallest τ at which the leader ceases to be better than a model that it beats at the start."""
    grid, plausible, lost = sensitivity.over_tau, sensitivity.plausible, list[Robustness]()
    for loser in verdict.beaten if verdict.leader is not None else ():
        pair = grid.pair(verdict.leader or "", loser)
        for family in pair.curves:
            lead = pair.lead(family)
            if lead is None or pair.better(lead.sign) != verdict.leader:
                return None
            for tau in (lead.lost_below, lead.lost_above):
                if tau is not None:
                    within = plausible.low <= tau <= plausible.high
                    lost.append(Robustness(tau, grid.hazard_ratio(family, tau), family, loser, within))
    return min(lost, key=lambda point: abs(point.tau), default=None)
