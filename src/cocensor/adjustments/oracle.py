"""The true event times, where a simulation knows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cocensor._checks import FloatArray, as_times, as_vector, check_length, read_only
from cocensor.adjustments.base import Adjustment, Fitted
from cocensor.adjustments.samples import Resample
from cocensor.adjustments.status import EventWeights, Group, NothingFitted
from cocensor.adjustments.weights import EVENT, EVENT_FREE
from cocensor.adjustments.whole import WholeSample, refuse_part
from cocensor.data import Sample
from cocensor.data.predictions import Predicted
from cocensor.data.times import TimeGrid


@dataclass(frozen=True, eq=False)
class Oracle(Adjustment):
    r"""Weights :math:`a = 1[e_i > t]`, :math:`b = 1[e_i \le t]` from the true event times of the test subjects.

    The observed outcomes are ignored.

    Parameters
    ----------
    event_times : array-like of shape (n_test,)
        The true event time of every test subject, censored ones included.

    Examples
    --------
    >>> from cocensor import Oracle
    >>> y = ([1.0, 5.0], [0, 1])
    >>> Oracle([2.0, 5.0]).fit(y).weights(y, [1.0, 3.0]).a
    array([[1., 0.],
           [1., 1.]])
    """

    event_times: FloatArray

    def __post_init__(self) -> None:
        times = as_times(as_vector(self.event_times, "event_times", copy=True), "event_times")
        object.__setattr__(self, "event_times", read_only(times))

    @property
    def assumption(self) -> str:
        """What the weights rest on."""
        return "The true event times are known, as in a simulation."

    def fit_to(self, sample: Sample, predictions: Mapping[str, Predicted]) -> Fitted:
        """Learn from the sample what the weights need."""
        return _FittedOracle(self)


@dataclass(frozen=True, eq=False, repr=False)
class _FittedOracle(Fitted):
    adjustment: Oracle

    def resampled(self, resample: Resample, predictions: Mapping[str, Predicted]) -> Fitted:
        return _FittedOracle(Oracle(self.adjustment.event_times[resample.test]))

    def weights_for(
        self, sample: Sample, grid: TimeGrid, predictions: Any, whole: WholeSample
    ) -> EventWeights:
        y = sample.y
        times = self.adjustment.event_times
        refuse_part(y, whole, "event_times")
        check_length(times, "event_times", len(y), "y_test")
        group = Group.of(np.arange(len(y)), grid.cut(times), EVENT_FREE, EVENT)
        return NothingFitted(grid, len(y), (group,))
