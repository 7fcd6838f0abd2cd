"""The error of predicted times."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any, Literal, Self, Unpack, get_args

import numpy as np

from cocensor._checks import FloatArray, check_choice, row_blocks
from cocensor.adjustments import EventWeights
from cocensor.adjustments.gradient import Functionals
from cocensor.data import Predictions
from cocensor.data.predictions import Predicted
from cocensor.data.times import TimeGrid
from cocensor.metrics.base import Metric, MetricValue, Models, Scored
from cocensor.metrics.d_calibration import refuse_unless_known
from cocensor.metrics.kernel import Loss, LossGradient, SumsBySubject, mean_losses
from cocensor.metrics.scoring import Assumed, Given, score_function

PredictedTime = Literal["median", "mean"]


def _event_free(before: FloatArray) -> FloatArray:
    return 1.0 - before


def _known(event_free: FloatArray, before: FloatArray, out: FloatArray) -> None:
    np.abs(np.subtract(event_free, before, out=out), out=out)


# Of the time that a grid time stands for, what is after the predicted time is lost on those event-free, what is before
# on those with an event.
_MISSED = Loss(event_free=_event_free, event=np.positive, known=_known, largest=1.0)


@dataclass(frozen=True)
class RestrictedAbsoluteError(Metric):
    """The mean distance of predicted from true times, both cut at the last time; see
    :func:`restricted_absolute_error`.

    Parameters
    ----------
    predicted : {"median", "mean"}
        Which time a curve predicts.

    Examples
    --------
    >>> import numpy as np
    >>> import cocensor as cc
    >>> y = cc.Survival([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 1])
    >>> times = np.linspace(0.0, 3.5, 36)
    >>> curves = {"cox": np.exp(-times * np.array([[0.6], [0.3], [0.3], [0.2]]))}
    >>> error = cc.metrics.RestrictedAbsoluteError("median")
    >>> round(float(cc.evaluate(curves, y, times=times, adjustments="ipcw", metrics=error).score("cox")), 2)
    0.3
    """

    predicted: PredictedTime = "median"

    name = "absolute_error"
    label = "restricted absolute error"
    kind = "overall"
    in_brief = "the mean distance between predicted and true times of the event"
    explanation = (
        "Restricted absolute error",
        "How far, on average, predicted times are from those of the events, up to the horizon, in units of time.",
    )
    direction = "lower"
    range = (0.0, np.inf)
    mean_of_losses = True

    def __post_init__(self) -> None:
        check_choice(self.predicted, "predicted", get_args(PredictedTime))
        if self.predicted != "median":
            for field in ("name", "label"):
                object.__setattr__(self, field, f"{getattr(type(self), field)} ({self.predicted})")

    def in_unit(self, unit: str | None) -> Self:
        """Return the metric with the unit of its values in its label."""
        if unit is None:
            return self
        labelled = copy(self)
        object.__setattr__(labelled, "label", f"{self.label} in {unit}")
        return labelled

    def grid(self, times: TimeGrid) -> TimeGrid:
        """All times, and 0."""
        return times.from_zero

    def evaluate(
        self, status: EventWeights, predictions: Models, by_subject: SumsBySubject | None = None
    ) -> dict[str, MetricValue]:
        """The values of several models, in one pass over the weights."""
        refuse_unless_known(status)
        missed = mean_losses(status, _MISSED, self._shares(status, predictions), by_subject)
        values = missed @ _widths(status.grid.sorted)
        return {name: MetricValue(float(value)) for name, value in zip(predictions, values, strict=True)}

    def evaluate_linearised(self, status: EventWeights, predictions: Models) -> Scored:
        """The values of several models, and the part of each subject, in one pass over the weights."""
        by_subject = SumsBySubject(status, _widths(status.grid.sorted), len(predictions))
        values = self.evaluate(status, predictions, by_subject)
        return values, by_subject.known_of(self.functionals(status, predictions))

    def functionals(self, status: EventWeights, predictions: Models) -> Functionals:
        """The values as functions of the weights, in which they are linear."""
        refuse_unless_known(status)
        gradients = (LossGradient(status, _MISSED, shares) for shares in self._shares(status, predictions))
        return Functionals(tuple(gradients), _widths(status.grid.sorted)[:, None])

    def _shares(self, status: EventWeights, predictions: Models) -> list[Predicted]:
        times = (predicted_times(model, status.grid.last, self.predicted) for model in predictions.values())
        return [_ShareBefore(predicted) for predicted in times]


@score_function
def restricted_absolute_error(
    given: Given, *, predicted: PredictedTime = "median", **how: Unpack[Assumed]
) -> float:
    r"""The mean error of predicted times, up to the last of the times, h:

    .. math:: \frac1m\sum_i \int_0^h \left( b_i(t)\,1[t < p_i] + a_i(t)\,1[t \ge p_i] \right) dt,

    with the weights of the adjustment, on whose ``assumption`` it rests. Without censoring it is the mean of
    :math:`|\min(E_i, h) - \min(p_i, h)|`, in the unit of time. The predicted time :math:`p_i` is the median of the
    curve (h if the curve stays above one half) or its restricted mean :math:`\int_0^h \hat S_i(t)\,dt`. This error
    rewards the median; both tell less of a model than its curves do. The weights are read at ``times`` and at 0, with
    lines in between: with few times the error itself is a little off.

    Parameters
    ----------
    y_train, y_test, estimate, times, adjustment, x_train, x_test, copula, return_influence
        As in :func:`brier_score`.
    predicted : {"median", "mean"}
        Which time a curve predicts.

    Returns
    -------
    float, or a dict of such; with ``return_influence`` a pair

    Examples
    --------
    >>> import numpy as np
    >>> from cocensor import restricted_absolute_error
    >>> y = (np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 0, 1, 1]))
    >>> times = np.linspace(0.0, 3.5, 36)
    >>> curves = np.exp(-times * np.array([[0.6], [0.3], [0.3], [0.2]]))
    >>> round(restricted_absolute_error(y, y, curves, times), 2)
    0.3
    >>> round(restricted_absolute_error(y, y, curves, times, predicted="mean"), 2)
    0.79
    """
    return given.read(**how).values(RestrictedAbsoluteError(predicted))


def predicted_times(predictions: Predicted, horizon: float, predicted: PredictedTime) -> FloatArray:
    """The time that each curve predicts, at most the horizon."""
    if not isinstance(predictions, Predictions):
        raise ValueError(f"times must be several for predicted times, but a model {predictions.limit}.")
    times = np.empty(len(predictions))
    for rows in row_blocks(len(predictions), predictions.times.size):
        curves = predictions[rows]
        times[rows] = curves.median() if predicted == "median" else curves.restricted_mean(horizon)
    return np.minimum(times, horizon)


class _ShareBefore(Predictions):
    """The share before the predicted time of the time that a grid time stands for: a hat, 0 at its neighbours."""

    _predicted: FloatArray

    def __init__(self, predicted: FloatArray) -> None:
        self.__dict__["_predicted"] = predicted

    def __len__(self) -> int:
        return self._predicted.size

    @property
    def alike(self) -> bool:
        """False: predicted times are by subject."""
        return False

    def read(self, times: FloatArray, rows: Any) -> FloatArray:
        """The shares of some ``rows`` at sorted times."""
        gaps = np.diff(times)
        # How much of each gap lies before, and of it under the hat of its left end, as a share of the gap.
        passed = np.clip((self._predicted[rows][:, None] - times[:-1]) / gaps, 0.0, 1.0)
        right = 0.5 * passed**2
        before = np.zeros((len(passed), times.size))
        before[:, :-1] += gaps * (passed - right)
        before[:, 1:] += gaps * right
        return before / _widths(times)


def _widths(times: FloatArray) -> FloatArray:
    """Return the length of time that each of the sorted times stands for."""
    gaps = np.diff(times)
    if not gaps.size:
        raise ValueError("times must reach beyond 0.")
    return 0.5 * (np.append(gaps, 0.0) + np.append(0.0, gaps))
