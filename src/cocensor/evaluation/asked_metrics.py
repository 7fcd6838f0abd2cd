"""Which metrics score an evaluation, and those at single times at which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cocensor._notes import Note
from cocensor._validation import FloatArray, as_times, as_tuple, as_vector, read_only
from cocensor.curves import Predictions, TimeGrid
from cocensor.metrics import BrierScore, Metric, metric
from cocensor.metrics.single_time import time_in_name
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


def scorable(
    metrics: Sequence[Metric],
    predictions: Mapping[str, Predictions],
    times: TimeGrid,
    as_a_set: bool,
    refused: Mapping[str, Exception],
) -> tuple[tuple[Metric, ...], list[Note]]:
    """The metrics that can score a model, and a note on those left out; asked for by name, one is refused instead.

    Of a metric at several times that can score somebody at one of them, the others are left out.
    """
    able = [each for each in metrics if any(each.can_score(of, times) for of in predictions.values())]
    lost = [each for each in metrics if each not in able]
    if not lost:
        return tuple(metrics), []
    families = {each.family for each in able}
    hopeless = [each for each in lost if not (families if as_a_set else each.family in families)]
    if hopeless:
        why = "; ".join(f"{name!r} {of.limit}" for name, of in predictions.items())
        others = "".join(f" {name!r} is refused: {fault}" for name, fault in refused.items())
        raise ValueError(
            f"metrics must do with what models predict, but {hopeless[0].name!r} needs survival curves: {why}.{others}"
        )
    named = ", ".join(each.name for each in lost)
    return tuple(able), [Note("decision", f"Left out, as no model predicts what they need: {named}.")]


def unscored(
    metrics: Sequence[Metric], predictions: Mapping[str, Predictions], times: TimeGrid
) -> list[Note]:
    """Why models that predict no survival curves have no value by some metrics."""
    notes = []
    for name, of in predictions.items():
        left = [each for each in metrics if not each.can_score(of, times)]
        if left:
            labels = dict.fromkeys(each.label.partition(" at ")[0] for each in left)
            need = "need survival curves" if len(labels) > 1 else "needs survival curves"
            text = f"it {of.limit}, but the {' and '.join(labels)} {need}."
            if of.only_at is not None and len(left) < len(metrics):
                text = f"it predicts at {time_in_name(of.only_at)} alone, so other scores are missing."
            notes.append(Note("missing", text, model=name))
    return notes


def ranked_across_folds(predictions: Mapping[str, Predictions]) -> list[Note]:
    """That risk scores of several folds are held against each other."""
    text = (
        "AUC and concordance rank its scores across folds as they are: scores of models that were fitted to "
        "different folds need not be on one scale, as survival curves are."
    )
    return [Note("caution", text, model=name) for name, each in predictions.items() if each.risk is not None]


def default_times(
    y: Survival, times: FloatArray, predictions: Mapping[str, Predictions], axis: TimeAxis
) -> tuple[tuple[float, ...], list[Note]]:
    """A few single times within ``times``, and a note that says which and why."""
    parts = []
    if any(each.only_at is None for each in predictions.values()):
        why = "quartiles of the observed event times up to the horizon, rounded to two digits"
        parts.append((_quartiles(y, times), why))
    parts.append((single_predictions(predictions), "the only time that some models predict"))
    # Times that would be called the same are one.
    found = {time_in_name(t): t for at, _ in parts for t in at}
    said = [f"{axis.said(*at)}: {why}" for at, why in parts if at]
    if not said:
        return (), []
    return tuple(sorted(found.values())), [
        Note("decision", f"Scores at single times are at {'; and at '.join(said)}.")
    ]


def single_predictions(predictions: Mapping[str, Predictions]) -> list[float]:
    """The times of models that predict at one time alone."""
    return sorted({each.only_at for each in predictions.values() if each.only_at is not None})


def default_metrics(at: Sequence[float], predictions: Mapping[str, Predictions]) -> tuple[Metric, ...]:
    """The default ones; where models predict at one time alone, with the Brier score there.

    That comes first where it compares models, and the first of the default ones would not.
    """
    first, *others = as_metrics(DEFAULT_METRICS)
    there = [BrierScore(t) for t in single_predictions(predictions) if t in at]
    curves = [each for each in predictions.values() if each.limit is None]
    return (first, *there, *others) if len(curves) > 1 else (*there, first, *others)


def _quartiles(y: Survival, times: FloatArray) -> list[float]:
    first, end = float(times.min()), float(times.max())
    seen = y.time[y.event & (y.time >= first) & (y.time <= end) & (y.time > 0)]
    return sorted({_in_two_digits(float(t), end) for t in np.quantile(seen, _QUARTILES)}) if seen.size else []


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
