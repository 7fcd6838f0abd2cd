"""The standing of models by one metric under one assumption, and which of them differ significantly."""

from __future__ import annotations

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
    """Models by one metric under one assumption, and which of them differ significantly."""

    metric: Metric
    adjustment: str
    #: By model that may be ranked and has one.
    scores: dict[str, float]
    #: Estimates with errors under one assumption, or under several that must agree.
    errors: tuple[Estimates, ...] = field(repr=False)
    #: The level of intervals; None where none are wanted.
    level: float | None
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
        """The best model and those that do not differ from it significantly; without intervals, the best by score."""
        if self.best_of_several is not None:
            return self.best_of_several
        if self.level is None or not self.errors or not self.ranks:
            return self.leaders if self.counts else ()
        [errors] = self.errors
        errors = errors.only([model for model in errors.names if model in self.scores])
        kept = may_be_best(errors, self.metric.direction, self.level)
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
        """The better one of two models by the interval of their difference; None where that covers 0."""
        if self.level is None:
            return None
        both = [compare(errors, a, b) for errors in self.errors if {a, b} <= set(errors.names)]
        winners = {pair.better(self.metric.direction, self.level) for pair in both}
        return winners.pop() if len(winners) == 1 and len(both) == len(self.errors) else None

    def equal(self, a: str, b: str) -> bool:
        """Whether the scores of two models are the same in every sample."""
        pairs = [compare(errors, a, b) for errors in self.errors if {a, b} <= set(errors.names)]
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
        return tuple(
            model for model in others if all(self.better(first, model) == first for first in self.first)
        )

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
    return Standing(by, scores.name, by_model, errors, level, scores.name in counted(evaluation))
