"""The true event times, where a simulation knows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cocensor._checks import FloatArray, as_vector, check_length, read_only
from cocensor.adjustments.base import Adjustment, Fitted
from cocensor.adjustments.models.margins import given_censoring
from cocensor.adjustments.samples import Resample
from cocensor.adjustments.weights import EventWeights, NothingFitted, cut_where_unknown
from cocensor.adjustments.whole import WholeSample, refuse_part
from cocensor.copulas import Copula
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

    assumption: ClassVar[str] = "The true event times are known, as in a simulation."

    def __post_init__(self) -> None:
        times = as_vector(self.event_times, "event_times", copy=True, negative=False)
        object.__setattr__(self, "event_times", read_only(times))

    def fit_to(self, sample: Sample, predictions: Mapping[str, Predicted]) -> Fitted:
        """Learn from the sample what the weights need."""
        return _FittedOracle(self)


@dataclass(frozen=True, eq=False, repr=False)
class _FittedOracle(Fitted):
    adjustment: Oracle

    def resampled(self, resample: Resample, predictions: Mapping[str, Predicted]) -> Fitted:
        return _FittedOracle(Oracle(self.adjustment.event_times[resample.test]))

    def weights_for(self, sample: Sample, grid: TimeGrid, _: Any, whole: WholeSample) -> EventWeights:
        times = self.adjustment.event_times
        refuse_part(sample.y, whole, "event_times")
        check_length(times, "event_times", len(sample), "y_test")
        return NothingFitted(grid, grid.cut(times))


# From one moment to the next a smooth curve falls by less than this.
_STEP = 1e-9


@dataclass(frozen=True, eq=False)
class TrueLaw(Adjustment):
    """The floor: imputation by the true distribution of event and dropout. Its error is chance alone.

    Parameters
    ----------
    copula : Copula
        Of event and dropout, given all that the survival functions are given.
    event_survival : callable
        S_E of all test subjects at some times, (n, times).
    event_survival_at, dropout_survival_at : callable
        S_E and S_C of each test subject at a time of its own, (n,).

    Examples
    --------
    >>> import numpy as np
    >>> from cocensor import Clayton
    >>> from cocensor.adjustments import TrueLaw
    >>> def alike(t):
    ...     return np.exp(-t)
    >>> law = TrueLaw(Clayton(4.0), lambda t: np.tile(np.exp(-t), (1, 1)), alike, alike)
    >>> y = ([1.0], [0])
    >>> law.fit(y).weights(y, [1.5, 2.0]).a.round(3)
    array([[0.165, 0.015]])
    """

    copula: Copula
    event_survival: Callable[[FloatArray], FloatArray]
    event_survival_at: Callable[[FloatArray], FloatArray]
    dropout_survival_at: Callable[[FloatArray], FloatArray]

    assumption: ClassVar[str] = "The law of the simulation is known."
    #: There is one truth.
    rests_on_copula: ClassVar[bool] = False

    def fit_to(self, sample: Sample, predictions: Mapping[str, Predicted]) -> Fitted:
        """Learn from the sample what the weights need."""
        return _FittedLaw(self)


@dataclass(frozen=True, eq=False, repr=False)
class _FittedLaw(Fitted):
    adjustment: TrueLaw

    def resampled(self, resample: Resample, predictions: Mapping[str, Predicted]) -> Fitted:
        raise ValueError(
            "the law of the simulation holds for the test subjects as drawn, not for a resample."
        )

    def weights_for(self, sample: Sample, grid: TimeGrid, _: Any, whole: WholeSample) -> EventWeights:
        y, law = sample.y, self.adjustment
        refuse_part(y, whole, "the law of the simulation")
        cut, unknown = cut_where_unknown(sample, grid)
        s_t, s_c = law.event_survival(grid.sorted), law.event_survival_at(y.time)
        after = law.dropout_survival_at(y.time)
        before = law.dropout_survival_at(np.nextafter(y.time, 0.0))
        at_c = np.stack((s_c, np.where(before - after > _STEP, before, after), after))
        modelled = given_censoring(y, cut, unknown, law.copula, s_t, at_c)
        return NothingFitted(grid, cut, modelled=modelled)
