"""How models stand by one metric under one assumption, and which of them the data tell apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite, nan

from cocensor._cached import cached_property
from cocensor.inference.comparisons import compare, may_be_best
from cocensor.inference.estimates import Estimates
from cocensor.metrics import Metric
from cocensor.study.evaluation import Evaluation
from cocensor.study.lookup import metric_of, results_of


@dataclass(frozen=True, eq=False)
class Standing:
    """Models by one metric under one assumption, and which of them the data tell apart."""

    metric: Metric
    adjustment: str
    #: Of the models that may be ranked and have one.
    scores: dict[str, float]
    #: 1 for the best; empty under an adjustment that no verdict counts.
    ranks: dict[str, int]
    #: The one with the best score, and those that the interval of the difference does not tell from it; without
    #: intervals, the best by their scores alone.
    best: tuple[str, ...]
    #: Those with the best score, whether or not they can be told from others.
    leaders: tuple[str, ...]
    #: Those that have an interval, best score first.
    compared: tuple[str, ...]
    #: Whether intervals were asked for.
    asked: bool
    #: What tells models apart: under one assumption, or under several that must agree.
    errors: tuple[Estimates, ...] = field(repr=False)
    level: float

    @property
    def tells(self) -> bool:
        """Whether there are intervals to tell models apart by."""
        return len(self.compared) > 1

    def better(self, a: str, b: str) -> str | None:
        """Of two models the better one by the interval of their difference; None where that holds 0."""
        if not self.asked:
            return None
        winners = {self._compared(errors, a, b) for errors in self.errors}
        return winners.pop() if len(winners) == 1 else None

    def _compared(self, errors: Estimates, a: str, b: str) -> str | None:
        if not {a, b} <= set(errors.names):
            return None
        return compare(errors, a, b).better(self.metric.direction, self.level)

    def equal(self, a: str, b: str) -> bool:
        """Whether the scores of two models are the same in every sample."""
        pairs = [compare(errors, a, b) for errors in self.errors if {a, b} <= set(errors.names)]
        return bool(pairs) and all(pair.difference == 0 and pair.standard_error == 0 for pair in pairs)

    @cached_property
    def first(self) -> tuple[str, ...]:
        """Of the models with an interval, those that cannot be distinguished from the best, by their scores."""
        return tuple(model for model in self.scores if model in self.best and model in self.compared)

    @cached_property
    def beaten(self) -> tuple[str, ...]:
        """The models that are told from each of the first."""
        return tuple(
            model for model in self._others if all(self.better(first, model) == first for first in self.first)
        )

    @cached_property
    def behind(self) -> tuple[str, ...]:
        """The models that are not among the best, but cannot be told from each of them."""
        return tuple(model for model in self._others if model not in self.beaten)

    @cached_property
    def _others(self) -> tuple[str, ...]:
        return tuple(model for model in self.scores if model in self.compared and model not in self.best)


def rankable(evaluation: Evaluation) -> tuple[str, ...]:
    """The models that may be called best: those that have predictions, and that no check disqualifies."""
    off = {check.model for check in evaluation.checks if check.disqualifies}
    return () if None in off else tuple(model for model in evaluation.data.predictions if model not in off)


def counted(evaluation: Evaluation) -> tuple[str, ...]:
    """The adjustments that ranks and verdicts count: those that vote, or all if none of these has a score."""
    able = [name for name, each in evaluation.results.items() if each.adjustment.counts_in_ranking]
    return tuple(able if any(evaluation.results[name].answered for name in able) else evaluation.results)


def standing(evaluation: Evaluation, metric: str | None = None, adjustment: str | None = None) -> Standing:
    """How models stand by a metric under an adjustment, by default by the first and under the primary one."""
    by, scores = metric_of(evaluation, metric), results_of(evaluation, adjustment)
    able = rankable(evaluation)
    return standing_by(
        by,
        scores.name,
        {model: each.value for model, each in scores.values[by.name].items() if model in able},
        scores.errors.get(by.name),
        evaluation.data.confidence_level,
        counts=scores.name in counted(evaluation),
        order=able,
    )


def standing_by(
    metric: Metric,
    adjustment: str,
    scores: dict[str, float],
    errors: Estimates | None,
    level: float | None,
    *,
    counts: bool = True,
    order: Sequence[str] = (),
) -> Standing:
    """How models with some scores and errors stand; ``order`` is that of ties in rank."""
    ranks = metric.ranks(scores)
    leaders = tuple(model for model, rank in ranks.items() if rank == 1)
    # A score without error, such as that of a coin, has no interval of its own, but differences from it have.
    known = {} if errors is None else dict(zip(errors.names, errors.standard_errors, strict=True))
    compared = tuple(
        model
        for model in sorted(ranks, key=lambda model: ranks[model])
        if level is not None and isfinite(known.get(model, nan))
    )
    in_order = {model: ranks[model] for model in (order or ranks) if model in ranks} if counts else {}
    best = tuple(model for model, rank in in_order.items() if rank == 1)
    if level is not None and errors is not None and in_order:
        kept = may_be_best(
            errors.only([name for name in errors.names if name in scores]), metric.direction, level
        )
        best = tuple(sorted(kept, key=lambda model: in_order[model]))
    told = () if errors is None else (errors,)
    return Standing(
        metric,
        adjustment,
        scores,
        in_order,
        best,
        leaders,
        compared,
        level is not None,
        told,
        level or 0.95,
    )
