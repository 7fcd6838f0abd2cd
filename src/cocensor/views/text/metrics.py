"""Metrics in words: verbs, explanations, and several in a list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cocensor.data.times import with_unit
from cocensor.metrics import Metric
from cocensor.metrics.base import label_without_time, time_in_name
from cocensor.views.text.names import listed


class Doing(NamedTuple):
    """Verbs of the best model by a metric, of a better one, and of several better ones."""

    is_best: str
    beats: str
    beat: str


#: Who is best, in short.
IN_SHORT = Doing("is best", "beats", "beat")
#: By what a metric is about.
_DOING = {
    "overall": Doing("predicts best", "predicts better than", "predict better than"),
    "discrimination": Doing("ranks subjects best", "ranks subjects better than", "rank subjects better than"),
    "calibration": Doing("is best calibrated", "is better calibrated than", "are better calibrated than"),
    "benefit": Doing(
        "has the greatest net benefit", "has more net benefit than", "have more net benefit than"
    ),
}


def doing(metric: Metric) -> Doing:
    """The verbs of a metric."""
    return IN_SHORT if metric.kind is None else _DOING[metric.kind]


def briefly(metric: Metric, named: str = "This") -> str:
    """A sentence on a metric and its better values; ``named`` is what it is called there."""
    better = f"{metric.direction} is better"
    return f"{named} is {metric.in_brief}; {better}." if metric.in_brief else f"{better.capitalize()}."


def meanings(metrics: Iterable[Metric]) -> list[tuple[str, str]]:
    """The names of metrics and what they measure, each once; of one without explanation, its range and direction."""
    return list(dict.fromkeys(map(_meaning, metrics)))


def _meaning(metric: Metric) -> tuple[str, str]:
    if metric.explanation is not None:
        return metric.explanation
    low, high = metric.range
    within = f"From {low:g} to {high:g}; {metric.direction}" if abs(low) + abs(high) < float("inf") else ""
    return metric.label, f"{within or metric.direction.capitalize()} is better."


def metrics_in_words(metrics: Sequence[Metric]) -> str:
    """Metrics as in a sentence, with the times of the same one together."""
    times: dict[tuple[str, str | None], list[str]] = {}
    for metric in metrics:
        label = label_without_time(metric)
        own = times.setdefault((label, metric.unit), [])
        own += [] if metric.at is None or label == metric.label else [time_in_name(metric.at)]
    return listed(
        [f"{label} at {with_unit(at, unit)}" if at else label for (label, unit), at in times.items()]
    )
