"""Until when, and at which times, an evaluation scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from cocensor._notes import Note
from cocensor._numerics import settled
from cocensor._validation import FloatArray
from cocensor.adjustments.samples import Samples
from cocensor.curves import Predictions
from cocensor.evaluation.data import Horizon
from cocensor.metrics import time_grid

HorizonRule = str | float | Mapping[str, float] | None
_AT_RISK = 0.05
DEFAULT_HORIZON = {"at_risk": _AT_RISK}
N_TIMES = 100


def times_of_samples(
    samples: Samples, times: FloatArray | None, horizon: HorizonRule
) -> tuple[FloatArray, Horizon]:
    """The times to score at as far as the samples decide it, and why they end where they do."""
    if times is not None:
        _grid(samples, 2, float(times.max()))  # warns where next to nobody is left
        return times, Horizon(float(times.max()), "times", "the times were given")
    rule = DEFAULT_HORIZON if horizon is None else horizon
    grid = _grid(samples, N_TIMES, rule)
    both = "the test sample" if samples.y_train is None else "both samples"
    if isinstance(rule, Mapping):
        reason = f"the largest time with at least {100 * rule['at_risk']:g} % of {both} at risk"
    else:
        reason = f"the last time of {both}" if rule == "t_max" else "as asked"
    by: Literal["default", "asked"] = "default" if horizon is None else "asked"
    return grid, Horizon(float(grid[-1]), by, reason)


def _grid(samples: Samples, n: int, horizon: str | float | Mapping[str, float]) -> FloatArray:
    """Equally spaced times that all samples reach."""
    y_test = samples.y_test
    return time_grid(y_test if samples.y_train is None else samples.y_train, y_test, n=n, horizon=horizon)


def within_predictions(
    samples: Samples, predictions: Mapping[str, Predictions], grid: FloatArray, ends: Horizon
) -> tuple[FloatArray, Horizon]:
    """The times that all curves are known at; without any, those up to the last time of a prediction."""
    curves = [each.end for each in predictions.values() if each.only_at is None]
    if curves:
        known, reason = min(curves), "the largest time up to which all predictions are known"
    else:
        last = min(y.t_max for y in (samples.y_test, samples.y_train) if y is not None)
        within = [each.end for each in predictions.values() if 0 < each.end <= last]
        known, reason = max(within, default=np.inf), "the last time that is predicted"
    if ends.time <= known and (curves or ends.by != "default" or not np.isfinite(known)):
        return grid, ends
    return _grid(samples, N_TIMES, known), Horizon(known, "predictions", reason)


def moved_by_times(samples: Samples, predictions: Mapping[str, Predictions], ends: Horizon) -> list[Note]:
    """That scores end elsewhere than they would without the times given, where that is so."""
    try:
        otherwise = within_predictions(samples, predictions, *times_of_samples(samples, None, None))[1]
    except ValueError:  # without times there would be no scores
        return []
    if np.isclose(ends.time, otherwise.time, rtol=1e-9, atol=0.0):
        return []
    text = (
        f"Scores go up to {ends.time:g}, the last of the times given; without times= they would end at "
        f"{otherwise.time:g}, {otherwise.reason}."
    )
    return [Note("decision", text)]


def outside_horizon(predictions: Mapping[str, Predictions], ends: Horizon) -> dict[str, Exception]:
    """Why predictions at one time alone cannot be scored: it is 0, or past the end."""
    return {
        name: ValueError(
            f"models[{name!r}] {each.limit}, "
            + (f"but scores end at {ends.time:g}, {ends.reason}." if each.only_at else "before any event.")
        )
        for name, each in predictions.items()
        if each.only_at is not None and not 0 < each.only_at <= ends.time
    }


def met_by_steps(grid: FloatArray, predictions: Mapping[str, Predictions], ends: Horizon) -> FloatArray:
    """The grid, in which a step of a curve that rounding puts behind a time has happened there."""
    for each in predictions.values():
        if each.times.size and each.only_at is None:  # a risk score has no times
            grid = np.maximum(grid, settled(grid, each.times))
    return np.minimum(grid, ends.time)
