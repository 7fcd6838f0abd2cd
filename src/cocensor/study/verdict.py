"""The verdict: who leads, who is beaten, who ties, and how far that holds, as data for the sentences of views."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

from cocensor._checks import escaped
from cocensor._json import finite
from cocensor._views import view
from cocensor.adjustments import IPCW, Imputation
from cocensor.copulas import Copula
from cocensor.study.evaluation import Evaluation
from cocensor.study.ranking import Standing, counted, rankable, standing
from cocensor.study.sensitivity.benchmarks import PlausibleRange
from cocensor.study.sensitivity.grid import Grid
from cocensor.study.sensitivity.leading_range import (
    Along,
    LeadingRange,
    OverRatios,
    Reach,
    Span,
    along,
    first_point,
    over_ratios_of,
    standing_at_start,
    weakest,
)

if TYPE_CHECKING:
    from cocensor.study.sensitivity.result import Sensitivity

State = Literal["no_usable_model", "tie", "settled", "settled_at_independence", "not_settled"]


@dataclass(frozen=True)
class Robustness:
    """The smallest dependence at which a lead is lost, in the family where that comes first."""

    #: Kendall's τ.
    tau: float
    #: The hazard ratio of the event right after leaving; NaN where it is not known.
    hazard_ratio: float
    family: str
    #: The model that the lead is lost against.
    against: str
    #: Whether that lies within the plausible range.
    within_plausible: bool


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
    #: Whether there are dropouts at all.
    anybody_left: bool = True


@dataclass(frozen=True, eq=False)
class Verdict:
    """Who leads by one metric under one assumption, as far as the data show, and how far that holds."""

    #: The first that applies: "no_usable_model" (none may be called best), "tie" (no two models differ significantly,
    #: at any dependence that was tried), "settled" (one model leads all others, at every dependence of the plausible
    #: range, all of which was tried), "settled_at_independence" (one model leads all others where independence, or the
    #: dependence that was assumed, holds), or "not_settled".
    state: State
    assumption: Assumption
    #: The standing under the assumption.
    standing: Standing = field(repr=False)
    #: The models that may be ranked and have no score.
    unscored: tuple[str, ...] = ()
    #: The standing by each metric of the evaluation, under the same adjustment.
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
    #: The measured covariate that would induce most dependence.
    strongest_covariate: str | None = None
    #: How far the lead holds over the hazard ratio after dropout.
    over_ratios: OverRatios | None = field(default=None, repr=False)

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
        """The model that alone may be best; None where several may, or there is nothing to lead."""
        first = _first(self.standing)
        return first[0] if len(first) == 1 and len(self.standing.scores) > 1 else None

    @property
    def beaten(self) -> tuple[str, ...]:
        """The models that are significantly worse than each that may be best."""
        return self.standing.beaten

    @property
    def tied(self) -> tuple[str, ...]:
        """The models that may be best, where these are several."""
        first = _first(self.standing)
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
        return (
            self.covered is not None and self.reach is not None and all(map(self.reach.holds, self.covered))
        )

    @property
    def robustness(self) -> Robustness | None:
        """The point where the lead is lost first; None where there is none, or it is not lost."""
        lost = [] if self.reach is None else [limit for limit in self.reach.limits if not limit.is_silent]
        if not lost or self.leader is None or not self.standing.beaten:
            return None
        nearest = lost[0]
        within = self.plausible is not None and self.plausible.low <= nearest.at <= self.plausible.high
        against = next((model for model in nearest.models if model != self.leader), nearest.models[-1])
        return Robustness(nearest.at, nearest.hazard_ratio, str(nearest.line), against, within)

    def to_dict(self) -> dict[str, Any]:
        """The verdict as JSON can hold it."""
        robust = self.robustness
        return {
            "state": self.state,
            "metric": self.metric,
            "adjustment": self.adjustment,
            "tau": self.assumption.tau,
            "leader": self.leader,
            "beaten": list(self.beaten),
            "tied": list(self.tied),
            "behind": list(self.behind),
            "unscored": list(self.unscored),
            "by_metric": {
                name: {"best": list(place.best), "leaders": list(place.leaders)}
                for name, place in self.by_metric.items()
            },
            "plausible": None if self.plausible is None else [self.plausible.low, self.plausible.high],
            "stretches": [{**vars(part), "models": list(part.models)} for part in self.stretches],
            "robustness": None
            if robust is None
            else {**vars(robust), "hazard_ratio": finite(robust.hazard_ratio)},
            "statement": str(self),
        }

    def __str__(self) -> str:
        return escaped(view("text.verdict.verdict_in_words")(self))


def _first(place: Standing) -> tuple[str, ...]:
    """Return the models that may be best: by intervals where there are some, else by scores."""
    return place.first if place.tells else place.leaders


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
    # Scores that no verdict counts do not show how far one holds.
    if sensitivity is None or grid is None or not grid.leaders() or grid.primary not in counted(evaluation):
        return _verdict(evaluation, place, assumption)
    if grid.primary != scores.name or (assumption.tau == 0 and first_point(grid) != 0):
        start = first_point(grid)
        place, assumption = standing_at_start(grid, start), assumption_of(evaluation, grid.primary)
        assumption = replace(assumption, tau=start, family=None, hazard_ratio=None)
    return _verdict_over(sensitivity, place, assumption)


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


def _verdict(evaluation: Evaluation, place: Standing, assumption: Assumption) -> Verdict:
    """Return the verdict at one dependence."""
    unscored = tuple(model for model in rankable(evaluation) if model not in place.scores)
    by_metric = {name: standing(evaluation, name, place.adjustment) for name in evaluation.metrics}
    verdict = Verdict("not_settled", assumption, place, unscored, by_metric)
    return replace(verdict, state=_state(verdict))


def _state(verdict: Verdict) -> State:
    place = verdict.standing
    if not place.scores:
        return "no_usable_model"
    alike = all(part.agreed and set(part.models) == set(place.scores) for part in verdict.stretches)
    if place.tells and set(verdict.tied) == set(place.scores) and alike:
        return "tie"
    if verdict.leader is None or not place.tells or set(place.beaten) != set(place.scores) - {verdict.leader}:
        return "not_settled"
    return "settled" if verdict.is_covered and verdict.holds_in_plausible else "settled_at_independence"


def _verdict_over(sensitivity: Sensitivity, place: Standing, assumption: Assumption) -> Verdict:
    """Return the verdict over a grid, from the point nearest to independence outward."""
    grid, benchmarks = sensitivity.over_tau, sensitivity.benchmarks
    over = along(grid, place)
    if over.reach is not None and benchmarks is not None:
        ends = (
            end if end is None or end.is_silent else replace(end, multiple=benchmarks.multiple_for(end.at))
            for end in over.reach
        )
        over = replace(over, reach=Reach(*ends))
    verdict = replace(
        _verdict(sensitivity.evaluation, place, assumption),
        plausible=sensitivity.plausible,
        over_tau=over,
        silent=tuple(line for line in grid.lines if line not in grid.leaders()),
        strongest_covariate=None if benchmarks is None else benchmarks.strongest.name,
        over_ratios=None if sensitivity.over_ratio is None else over_ratios_of(sensitivity.over_ratio),
    )
    verdict = replace(verdict, plausible_ratios=_plausible_ratios(grid, verdict), spans=_spans(grid, verdict))
    return replace(verdict, state=_state(verdict))


def _plausible_ratios(grid: Grid, verdict: Verdict) -> tuple[float, float] | None:
    """Return the hazard ratios right after leaving that the plausible range stands for, if all of it was tried."""
    if verdict.plausible is None or not verdict.is_covered:
        return None
    ends = verdict.plausible.low, verdict.plausible.high
    low, high = (weakest(grid, [(family, tau) for family in grid.leaders()]) for tau in ends)
    return (low, high) if isfinite(low) and isfinite(high) else None


def _spans(grid: Grid, verdict: Verdict) -> dict[str, Span]:
    """Between which values the score of the only model that may be ranked lies."""
    models, tried = rankable(grid.evaluation), verdict.tried
    if len(models) != 1 or models[0] not in verdict.standing.scores:
        return {}
    ranges = {"grid": (tried[0], tried[-1])}
    if verdict.covered is not None and verdict.covered[0] < verdict.covered[1]:
        ranges["plausible"] = verdict.covered
    spans = {}
    for name, between in ranges.items():
        spread = grid.uncertainty(*between, models[0])
        with_error = () if grid.evaluation.data.confidence_level is None else spread.strong
        spans[name] = Span(*spread.ignorance, *with_error)
    return spans
