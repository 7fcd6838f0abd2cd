"""Metrics that are a mean loss over subjects, averaged over time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from cocensor._validation import FloatArray, check_choice
from cocensor.adjustments import Gradient, Status
from cocensor.curves import Predictions, TimeGrid
from cocensor.metrics.base import Direction, Metric, MetricValue
from cocensor.metrics.kernel import Loss, LossGradient, mean_losses

Integration = Literal["trapezoid", "step"]


class PointwiseMetric(Metric):
    """The mean over time of a loss that each subject has at each time."""

    direction: ClassVar[Direction] = "smaller"

    @property
    @abstractmethod
    def loss(self) -> Loss:
        """The loss of a predicted probability, event-free and after the event."""

    def evaluate(self, status: Status, predictions: Mapping[str, Predictions]) -> dict[str, MetricValue]:
        """The values of all models in one pass over the weights."""
        curves = self.values_over_time(status, predictions)
        return {name: MetricValue(time_average(status.times, curve), curve) for name, curve in curves.items()}

    def values_over_time(
        self, status: Status, predictions: Mapping[str, Predictions]
    ) -> dict[str, FloatArray]:
        """The mean loss of all models at each time, in one pass over the weights."""
        curves = mean_losses(status, self.loss, list(predictions.values()))
        return dict(zip(predictions, curves, strict=True))

    def gradient(self, status: Status, predictions: Predictions) -> Gradient:
        """The derivatives of the mean loss at each time by the weights."""
        return LossGradient(status, self.loss, predictions)

    def time_weights(self, grid: TimeGrid) -> FloatArray:
        """Those of the time average."""
        return time_weights(grid.sorted)


def time_weights(times: FloatArray, integration: Integration = "trapezoid") -> FloatArray:
    r"""The weights of sorted times in the mean :math:`\frac{1}{t_2 - t_1}\int_{t_1}^{t_2}`."""
    check_choice(integration, "integration", ("trapezoid", "step"))
    if times[-1] == times[0]:
        raise ValueError("times must span an interval to be averaged over, but hold a single time.")
    widths = np.diff(times) / (times[-1] - times[0])
    if integration == "step":
        return np.append(widths, 0.0)
    return 0.5 * (np.append(widths, 0.0) + np.append(0.0, widths))


def time_average(times: npt.ArrayLike, values: Any, integration: Integration = "trapezoid") -> Any:
    r"""The mean of scores over time, :math:`\frac{1}{t_2 - t_1}\int_{t_1}^{t_2}`, whatever the order of the times.

    ``"trapezoid"`` joins the scores by lines; ``"step"`` holds each until the next time.
    """
    if isinstance(values, dict):
        return {name: time_average(times, each, integration) for name, each in values.items()}
    given = np.atleast_1d(np.asarray(times, dtype=np.float64))
    order = np.argsort(given, kind="stable")
    t, v = given[order], np.asarray(values)[order]
    weights = time_weights(t, integration)
    if np.isnan(v).any():
        raise ValueError(
            f"times must not pass {t[np.argmax(np.isnan(v))]:g}, from where the adjustment gives no score."
        )
    return float(weights @ v)
