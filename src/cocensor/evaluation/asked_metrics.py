"""Which metrics score an evaluation, and those at single times at which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cocensor._notes import Note
from cocensor._validation import FloatArray, as_times, as_tuple, as_vector, read_only
from cocensor.curves import Predictions, TimeGrid
from cocensor.metrics import Metric, metric
from cocensor.outcomes import Survival, TimeAxis

#: Metrics that are asked for together.
DEFAULT_METRICS = ("ibs", "auc", "concordance", "ici")
_QUARTILES = (0.25, 0.5, 0.75)


def as_metrics(metrics: Any) -> tuple[Metric, ...]:
    """Metrics by name or as they are, each once."""
    listed = as_tuple(metrics, "metrics", str, Metric)
    if not listed:
        raise ValueError("metrics is empty: at least one is needed.")
    found = tuple(each if isinstance(each, Metric) else metric(each) for each in listed)
    _check_differ(found)
    return found


def as_interval(times: npt.ArrayLike) -> FloatArray:
    """Times to score at: a copy, in any order, that spans an interval."""
    grid = as_times(as_vector(times, "times", copy=True), "times")
    if not grid.size or grid.min() == grid.max():
        raise ValueError(f"times must span an interval, but are {grid.tolist()}.")
    return read_only(grid)


def as_scored_times(times: npt.ArrayLike, metrics: Sequence[Metric]) -> FloatArray:
    """Times to score at, of which a single one will do where every metric picks its own."""
    if not all(each.single_times == "only" or each.at is not None for each in metrics):
        return as_interval(times)
    return TimeGrid.of(times).times


def as_single_times(at: Any, metrics: Sequence[Metric]) -> tuple[float, ...] | None:
    """The single times that were asked for, sorted, each once, where a metric takes them; None for none."""
    if at is None:
        return None
    found = np.unique(as_times(as_vector(at, "at", single=True), "at"))
    if not found.size:
        raise ValueError("at is empty: at least one time is needed, or None.")
    if not any(map(_takes_times, metrics)):
        named = ", ".join(each.name for each in metrics)
        raise ValueError(
            f"metrics must have one at single times, such as 'brier', beside at, but are {named}."
        )
    return tuple(found.tolist())


def without_curves(metrics: tuple[Metric, ...], as_a_set: bool) -> tuple[tuple[Metric, ...], list[Note]]:
    """The metrics that score models all of which are risk scores; others are refused, but left out of a set."""
    able = tuple(each for each in metrics if not each.needs_curves)
    if len(able) == len(metrics):
        return metrics, []
    left = [each for each in metrics if each.needs_curves]
    if not (as_a_set and able):
        raise ValueError(
            f"metrics must do with risk scores, as all models are, but {left[0].name!r} needs survival curves."
        )
    named = ", ".join(each.name for each in left)
    return able, [
        Note("decision", f"Left out, as all models are risk scores and no survival curves: {named}.")
    ]


def unscored(metrics: Sequence[Metric], predictions: Mapping[str, Predictions]) -> list[Note]:
    """Why risk scores have no value by some metrics."""
    left = [each.label for each in metrics if each.needs_curves]
    text = f"there is none by the {', '.join(left)}: a risk score orders subjects, and is no survival curve."
    return [
        Note("missing", text, model=name)
        for name, each in predictions.items()
        if left and each.risk is not None
    ]


def ranked_across_folds(predictions: Mapping[str, Predictions]) -> list[Note]:
    """That risk scores of several folds are held against each other."""
    text = (
        "AUC and concordance rank its scores across folds as they are: scores of models that were fitted to "
        "different folds need not be on one scale, as survival curves are."
    )
    return [Note("caution", text, model=name) for name, each in predictions.items() if each.risk is not None]


def default_times(y: Survival, times: FloatArray, axis: TimeAxis) -> tuple[tuple[float, ...], list[Note]]:
    """A few single times within ``times``, and a note that says which and why."""
    first, end = float(times.min()), float(times.max())
    seen = y.time[y.event & (y.time >= first) & (y.time <= end) & (y.time > 0)]
    if not seen.size:
        return (), []
    found = sorted({_in_two_digits(float(t), end) for t in np.quantile(seen, _QUARTILES)})
    text = (
        f"Scores at single times are at {axis.said(*found)}: quartiles of the observed event times up to the "
        "horizon, rounded to two digits."
    )
    return tuple(found), [Note("decision", text)]


def at_single_times(metrics: Sequence[Metric], at: Sequence[float]) -> tuple[Metric, ...]:
    """The metrics, with those that take single times at each of these; all that have no other value alone there."""
    found = list[Metric]()
    for each in metrics:
        taken = at if _takes_times(each) else ()
        if not taken or each.single_times == "also":
            found.append(each)
        found += [each.at_time(t) for t in taken if each.at_time(t) not in metrics]
    _check_differ(found)
    return tuple(found)


def _takes_times(each: Metric) -> bool:
    return each.single_times != "never" and each.at is None


def _check_differ(metrics: Sequence[Metric]) -> None:
    if len({each.name for each in metrics}) < len(metrics):
        raise ValueError(
            f"metrics must have different names, but are {', '.join(each.name for each in metrics)}."
        )


def _in_two_digits(t: float, end: float) -> float:
    """A time rounded to two digits; down where it would pass ``end``."""
    rounded = float(f"{t:.2g}")
    if rounded <= end:
        return rounded
    unit = 10.0 ** (np.floor(np.log10(t)) - 1)
    return float(f"{np.floor(t / unit) * unit:.2g}")
