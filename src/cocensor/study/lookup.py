"""Metrics and adjustments of an evaluation by name, by label, or by preference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING, TypeVar

from cocensor._checks import as_choice
from cocensor.adjustments import Adjustment, Fitted, Imputation
from cocensor.metrics import Metric
from cocensor.metrics.base import label_without_time, time_in_name
from cocensor.study.scores import AdjustmentScores, bootstrapped, score_with_metric

if TYPE_CHECKING:
    from cocensor.study.evaluation import Evaluation

Candidate = TypeVar("Candidate", bound=Adjustment | Fitted)
# What imputation is given, preferred first: all models' weights are the same, then by each model's own prediction.
_GIVEN = (("everything",), ("covariates", "predictions"), ("predictions",), ("covariates",), ("prediction",))


def imputation_among(adjustments: Iterable[Candidate]) -> Candidate | None:
    """Return the preferred one of those given what all models predict, which gives all of them the same weights."""
    pairs = ((choice.adjustment if isinstance(choice, Fitted) else choice, choice) for choice in adjustments)
    shared = [(_preference(bare), choice) for bare, choice in pairs if "predictions" in bare.needs]
    return min(shared, key=itemgetter(0))[1] if shared else None


def preferred(results: Sequence[AdjustmentScores], metric: str) -> str:
    """Return the name of the adjustment that answers should come from: that votes, and has scores by a metric."""
    places = [
        _preference(scores.adjustment, scores.answered and not scores.values[metric]) for scores in results
    ]
    return results[places.index(min(places))].name


def _preference(adjustment: Adjustment, silent: bool = False) -> tuple[bool, bool, bool, int]:
    """Return the place of an adjustment among those that answers could come from; the smallest comes first."""
    given = adjustment.given if isinstance(adjustment, Imputation) else None
    place = _GIVEN.index(given) if given in _GIVEN else len(_GIVEN)
    return not adjustment.counts_in_ranking, silent, not adjustment.rests_on_copula, place


class Results(dict[str, AdjustmentScores]):
    """Scores by adjustment, of which the name or the label is a key."""

    def __missing__(self, key: str) -> AdjustmentScores:
        return self[adjustment_named(self, key)]


def adjustment_named(results: Mapping[str, AdjustmentScores], name: str, argument: str = "adjustment") -> str:
    """The name of the adjustment of this name or label."""
    return as_choice(name, argument, {key: scores.label for key, scores in results.items()})


def metric_of(
    evaluation: Evaluation, name: str | None = None, at: float | None = None, *, argument: str = "metric"
) -> Metric:
    """A metric of an evaluation by name or label, by default its first; with ``at``, that whose value is at this time.

    A time past the horizon is refused.
    """
    data, metrics = evaluation.data, evaluation.data.metrics
    named = [metrics[0]] if name is None else _named(metrics, name)
    if not named:
        as_choice(name, argument, {metric.name: metric.label for metric in metrics})
    if at is not None:
        single = named[0].at_time(at).in_unit(data.time_axis.unit)
        single.grid(data.grid)
        return next((by for by in metrics if by.name == single.name and by.at == single.at), single)
    if len(named) > 1:
        times = ", ".join(time_in_name(metric.at) for metric in named if metric.at is not None)
        raise ValueError(f"at is needed for the metric {name!r}, which is scored at {times}.")
    return named[0]


def _named(metrics: Sequence[Metric], name: str) -> list[Metric]:
    """Return the metrics of this name, or else family, or else label, or else label without its time."""
    label = name.casefold() if isinstance(name, str) else name
    return (
        [metric for metric in metrics if metric.name == name]
        or [metric for metric in metrics if metric.family == name]
        or [metric for metric in metrics if metric.label.casefold() == label]
        or [metric for metric in metrics if label_without_time(metric).casefold() == label]
    )


def results_of(evaluation: Evaluation, adjustment: str | None = None) -> AdjustmentScores:
    """All scores under an adjustment by name or label, by default the primary one."""
    return evaluation.results[evaluation.primary if adjustment is None else adjustment]


def scores_at(
    evaluation: Evaluation, metric: Metric, adjustment: str | None
) -> tuple[Metric, AdjustmentScores]:
    """A metric, and the scores by it under an adjustment: those that there are, or new ones at its time."""
    data, scores = evaluation.data, results_of(evaluation, adjustment)
    if metric in data.metrics:
        return metric, scores
    scored = score_with_metric(data, scores, metric)
    if scores.resampling is not None:
        data = replace(data, metrics=(metric,))
        scored = bootstrapped(data, {scores.name: scored}, scores.resampling)[scores.name]
    return metric, scored
