"""The standing of models by one metric under one assumption, and which of them differ significantly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import isfinite, nan
from typing import Literal

from cocensor._cached import cached_property
from cocensor.inference.comparisons import Comparison, compare, may_be_best
from cocensor.inference.estimates import Estimates
from cocensor.metrics import Metric
from cocensor.study.data import REFERENCE
from cocensor.study.evaluation import Evaluation
from cocensor.study.lookup import metric_of, results_of

Answer = Literal["yes", "no", "cannot tell"]
# The margin of relevance by default, as a share of the score of the reference curve.
_OF_REFERENCE = 0.01


@dataclass(frozen=True, eq=False)
class Standing:
    """Models by one metric under one assumption, and which of them differ significantly."""

    metric: Metric
    adjustment: str
    #: By model that may be ranked and has one.
    scores: dict[str, float]
    #: Estimates with errors under one assumption, or under several that must agree.
    errors: tuple[Estimates, ...] = field(repr=False)
    #: The level of intervals; None where none are wanted.
    level: float | None
    #: Differences within ± this are too small to matter; see :meth:`Comparison.relation`.
    margin: float = 0.0
    #: Whether verdicts count the adjustment.
    counts: bool = True
    #: The best models, where several assumptions decide.
    best_of_several: tuple[str, ...] | None = None

    @cached_property
    def _places(self) -> dict[str, int]:
        return self.metric.ranks(self.scores)

    @property
    def ranks(self) -> dict[str, int]:
        """1 for the best; empty under an adjustment that no verdict counts."""
        return self._places if self.counts else {}

    @cached_property
    def leaders(self) -> tuple[str, ...]:
        """The models with the best score, whether or not they differ significantly from others."""
        return tuple(model for model, rank in self._places.items() if rank == 1)

    @cached_property
    def best(self) -> tuple[str, ...]:
        """The best model and those that it is not better than; without intervals, the best by score."""
        if self.best_of_several is not None:
            return self.best_of_several
        if self.level is None or not self.errors or not self.ranks:
            return self.leaders if self.counts else ()
        [errors] = self.errors
        errors = errors.only([model for model in errors.names if model in self.scores])
        kept = may_be_best(errors, self.metric.direction, self.level, self.margin)
        return tuple(sorted(kept, key=lambda model: self.ranks[model]))

    @cached_property
    def compared(self) -> tuple[str, ...]:
        """The models that have an interval, best score first."""
        if self.level is None or not self.errors:
            return ()
        # A score without error, such as that of a coin, has no interval of its own, but differences from it have.
        errors = dict(zip(self.errors[0].names, self.errors[0].standard_errors, strict=True))
        ranked = sorted(self._places, key=self._places.__getitem__)
        return tuple(model for model in ranked if isfinite(errors.get(model, nan)))

    @property
    def tells(self) -> bool:
        """Whether there are intervals that models may differ by."""
        return len(self.compared) > 1

    def better(self, a: str, b: str) -> str | None:
        """The better one of two models by the interval of their difference; None where that does not tell."""
        if self.level is None:
            return None
        winners = {
            pair.better(self.metric.direction, self.level, self.margin) for pair in self._compared(a, b)
        }
        return winners.pop() if len(winners) == 1 else None

    def equivalent(self, a: str, b: str) -> bool:
        """Whether the interval of the difference of two models lies within the margin."""
        level, pairs = self.level, self._compared(a, b)
        if level is None:
            return False
        return bool(pairs) and all(pair.relation(self.margin, level) == "equivalent" for pair in pairs)

    def leads(self, model: str, others: Iterable[str]) -> bool:
        """Whether a model is better than each of the others."""
        return all(self.better(model, other) == model for other in others)

    def _compared(self, a: str, b: str) -> list[Comparison]:
        """Return the two compared under every assumption; nothing where one of them lacks a score."""
        both = [compare(errors, a, b) for errors in self.errors if {a, b} <= set(errors.names)]
        return both if len(both) == len(self.errors) else []

    def equal(self, a: str, b: str) -> bool:
        """Whether the scores of two models are the same in every sample."""
        pairs = self._compared(a, b)
        return bool(pairs) and all(pair.difference == 0 and pair.standard_error == 0 for pair in pairs)

    @cached_property
    def first(self) -> tuple[str, ...]:
        """The models with an interval that cannot be distinguished from the best."""
        return tuple(model for model in self.scores if model in self.best and model in self.compared)

    @property
    def contenders(self) -> tuple[str, ...]:
        """The models that may be best: by intervals where there are some, else by scores."""
        return self.first if self.tells else self.leaders

    @cached_property
    def beaten(self) -> tuple[str, ...]:
        """The models that are significantly worse than each of the first."""
        others = (model for model in self.scores if model in self.compared and model not in self.best)
        return tuple(model for model in others if all(self.leads(first, [model]) for first in self.first))

    @cached_property
    def behind(self) -> tuple[str, ...]:
        """The models that are not among the best, but do not differ from each of them significantly."""
        elsewhere = {*self.best, *self.beaten}
        return tuple(model for model in self.scores if model in self.compared and model not in elsewhere)


def rankable(evaluation: Evaluation) -> tuple[str, ...]:
    """The models that may be called best: those that have predictions, and that no check disqualifies."""
    off = {check.model for check in evaluation.checks if check.disqualifies}
    return () if None in off else tuple(model for model in evaluation.data.predictions if model not in off)


def counted(evaluation: Evaluation) -> tuple[str, ...]:
    """The adjustments that ranks and verdicts count: those that vote, or all if none of these has a score."""
    results = evaluation.results
    voting = [name for name, scores in results.items() if scores.adjustment.counts_in_ranking]
    return tuple(voting if any(results[name].answered for name in voting) else results)


def standing(evaluation: Evaluation, metric: str | None = None, adjustment: str | None = None) -> Standing:
    """Return the standing of the models by a metric under an adjustment, by default the first and the primary one."""
    by, scores = metric_of(evaluation, metric), results_of(evaluation, adjustment)
    values, level = scores.values[by.name], evaluation.data.confidence_level
    by_model = {model: values[model].value for model in rankable(evaluation) if model in values}
    errors = (scores.errors[by.name],) if by.name in scores.errors else ()
    margin = margin_of(evaluation, by)
    return Standing(by, scores.name, by_model, errors, level, margin, scores.name in counted(evaluation))


def margin_of(evaluation: Evaluation, by: Metric) -> float:
    """Return the margin of relevance: as given, else 1% of the primary score of the reference curve, if it has one."""
    given, first = evaluation.plan.margin, evaluation.metrics[0]
    by_metric = {} if given is None else given if isinstance(given, Mapping) else {first: given}
    for name in (by.name, by.family):
        if name in by_metric:
            return by_metric[name]
    base = results_of(evaluation).reference.get(by.name)
    return (
        _OF_REFERENCE * abs(base.value) if base is not None and by.has_skill and isfinite(base.value) else 0.0
    )


def better_than_reference(evaluation: Evaluation, model: str) -> Answer:
    """Return whether a model is better than one Kaplan–Meier curve for all, under the primary adjustment.

    By the first metric by which that curve can be beaten: "no" where a check finds that it is worse, "yes" where the
    interval of the difference says so, else "cannot tell".
    """
    if model not in rankable(evaluation):
        return "no"
    by = reference_metric(evaluation)
    errors = results_of(evaluation).errors.get(by.name)
    return "yes" if beats_reference(errors, model, by, evaluation.data.level) == "yes" else "cannot tell"


def reference_metric(evaluation: Evaluation) -> Metric:
    """Return the first metric by which a curve that is the same for all can be beaten, if there is one."""
    return next((by for by in evaluation.data.metrics if by.has_skill), evaluation.data.metrics[0])


def beats_reference(errors: Estimates | None, model: str, by: Metric, level: float) -> Answer:
    """Return what the interval of the difference from the reference curve says."""
    if errors is None or not {model, REFERENCE} <= set(errors.names) or not by.has_skill:
        return "cannot tell"
    better = compare(errors, model, REFERENCE).better(by.direction, level)
    return "cannot tell" if better is None else "yes" if better == model else "no"
