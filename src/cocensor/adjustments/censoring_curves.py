"""The probability of being uncensored given covariates, for weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from cocensor._checks import FloatArray, Rows, Side, as_matrix, check_length
from cocensor._namespaces import Array, Placing, at_most, namespace
from cocensor.data import Predictions
from cocensor.data.border import as_predictions
from cocensor.estimators import CoxPH
from cocensor.estimators.cox import from_log_hazard


class CensoringCurves(Protocol):
    """G of each test subject."""

    def grid(self, times: FloatArray, rows: Rows) -> FloatArray:
        """G of ``rows`` at all ``times``."""

    def own(self, times: FloatArray, rows: Rows, side: Side) -> FloatArray:
        """G of each of ``rows`` at its own time."""


def by_model(model: Any, x: Any, n: int) -> CensoringCurves:
    """From any model of the censoring; beyond what it was fitted to its curves are held."""
    predicted = model.predict_survival_function(x)
    check_length(predicted, "what censoring predicts", n, "y_test")
    curves = as_predictions(predicted, n, name="what censoring predicts")
    if isinstance(curves, Predictions):
        held = curves.tail or "last"
        stated = curves.interpolation, held, curves.source, curves.n_rounded
        return _ByCurves(Predictions.trusted(curves.times, curves.probabilities, *stated))
    raise ValueError(f"what censoring predicts must be survival curves, but it {curves.limit}.")


class ByCox:
    """From a Cox model of the censoring."""

    def __init__(self, model: CoxPH, x: Any) -> None:
        self.log_ratio, self.log_baseline = model.log_relative_hazard(x), model.log_baseline_at_centre_
        self.covariates, self.centre = as_matrix(x, "x_test"), model.centre_

    def grid(self, times: FloatArray, rows: Rows) -> FloatArray:
        """G of ``rows`` at all ``times``."""
        return from_log_hazard(self.log_baseline(times) + self.log_ratio[rows][:, None])

    def own(self, times: FloatArray, rows: Rows, side: Side) -> FloatArray:
        """G of each of ``rows`` at its own time."""
        return from_log_hazard(self.log_baseline(times, side) + self.log_ratio[rows])

    def placed(self, placing: Placing, times: FloatArray, floor: float | None) -> InverseByCox:
        """1/G at the sorted ``times`` for arrays of another library, with G of at least ``floor``."""
        smallest = float(placing.place.xp.finfo(placing.place.dtype).smallest_normal)
        return InverseByCox(
            placing.times(self.log_baseline(times)),
            placing.subjects(self.log_ratio),
            -math.log(floor or smallest),
        )


@dataclass(frozen=True, eq=False)
class InverseByCox:
    """1/G of all subjects from a Cox model of the censoring, for arrays of another library."""

    log_baseline: Array
    log_ratio: Array
    largest: float

    def __call__(self, rows: Any) -> Array:
        """Those of ``rows``, (rows, times)."""
        log_hazard = self.log_baseline + self.log_ratio[rows][:, None]
        xp = namespace(log_hazard)
        # After its censoring nobody is asked for, whose weight need not be finite.
        return xp.exp(at_most(xp.exp(log_hazard), self.largest))


class _ByCurves:
    def __init__(self, curves: Predictions) -> None:
        self.curves = curves

    def grid(self, times: FloatArray, rows: Rows) -> FloatArray:
        return self.curves.read(times, rows)

    def own(self, times: FloatArray, rows: Rows, side: Side) -> FloatArray:
        before = np.nextafter(times, 0.0) if side == "left" else times
        pairs = zip(before, rows, strict=True)
        values = np.array([self.grid(np.array([t]), np.array([row]))[0, 0] for t, row in pairs])
        return np.where((times == 0) & (side == "left"), 1.0, values)
