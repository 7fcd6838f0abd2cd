"""Metrics and adjustments of an evaluation, asked for by name or by the label that tables print."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from cocensor._checks import as_choice
from cocensor.metrics import Metric
from cocensor.metrics.single_time import label_without_time, time_in_name

if TYPE_CHECKING:
    from cocensor.study.scores import AdjustmentScores


class Results(dict[str, "AdjustmentScores"]):
    """Scores by adjustment, which may be asked for by its name or by its label."""

    def __missing__(self, key: str) -> AdjustmentScores:
        return self[adjustment_named(self, key)]


def adjustment_named(
    results: Mapping[str, AdjustmentScores],
    name: str,
    among: Iterable[str] | None = None,
    *,
    argument: str = "adjustment",
) -> str:
    """The name of the adjustment of this name or label, ``among`` some of the ``results``."""
    labels = {each: results[each].label for each in (results if among is None else among)}
    return as_choice(name, argument, labels)


def metric_named(
    metrics: Sequence[Metric],
    name: str | None = None,
    at: float | None = None,
    unit: str | None = None,
    *,
    argument: str = "metric",
) -> Metric:
    """The metric of this name or label, by default the first; with ``at``, that whose value is at this time."""
    named = [metrics[0]] if name is None else _named(metrics, name)
    if not named:
        as_choice(name, argument, {each.name: each.label for each in metrics})
    if at is None:
        if len(named) > 1:
            times = ", ".join(time_in_name(each.at) for each in named if each.at is not None)
            raise ValueError(f"at is needed for the metric {name!r}, which is scored at {times}.")
        return named[0]
    single = named[0].at_time(at).in_unit(unit)
    return next((each for each in metrics if each.name == single.name and each.at == single.at), single)


def _named(metrics: Sequence[Metric], name: str) -> list[Metric]:
    """Those of this name, or family, or label, or label without its time: the first of these that any has."""
    label = name.casefold() if isinstance(name, str) else name
    for named in (
        [each for each in metrics if each.name == name],
        [each for each in metrics if each.family == name],
        [each for each in metrics if each.label.casefold() == label],
        [each for each in metrics if label_without_time(each).casefold() == label],
    ):
        if named:
            return named
    return []
