"""Metrics that are a mean loss over subjects, averaged over time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray, check_choice
from cocensor.adjustments import EventWeights
from cocensor.adjustments.gradient import Functionals, Linearised
from cocensor.data.predictions import Predicted
from cocensor.data.times import TimeGrid
from cocensor.inference.comparisons import Direction
from cocensor.metrics.base import Metric, MetricValue, SingleTime, SingleTimes
from cocensor.metrics.kernel import Loss, LossGradient, SumsBySubject, mean_losses

Integration = Literal["trapezoid", "step"]


class PointwiseMetric(Metric):
    r"""A mean of a loss over subjects, averaged over time: all that a subclass says is its ``loss``.

    .. math:: \frac{1}{t_2 - t_1} \int_{t_1}^{t_2} \frac1m \sum_i
        \left[ a_i(t)\,\ell_1(\hat S_i(t)) + b_i(t)\,\ell_0(\hat S_i(t)) \right] dt

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import cocensor as cc
    >>> from cocensor.metrics.kernel import Loss
    >>> @dataclass(frozen=True)
    ... class AbsoluteError(cc.metrics.PointwiseMetric):
    ...     name, label, range = "absolute", "mean absolute error of the status", (0.0, 1.0)
    ...     @property
    ...     def loss(self):
    ...         return Loss(event_free=lambda p: 1.0 - p, event=lambda p: p, largest=1.0)
    >>> y = cc.Survival([1.0, 2.0, 3.0, 4.0], [1, 1, 1, 1])
    >>> curves = {"flat": [[0.7, 0.4]] * 4}
    >>> result = cc.evaluate(curves, y, times=[1.5, 3.5], adjustments="ipcw", metrics=AbsoluteError())
    >>> round(float(result.score("flat")), 4)
    0.425
    """

    direction: ClassVar[Direction] = "lower"
    mean_of_losses: ClassVar[bool] = True

    @property
    @abstractmethod
    def loss(self) -> Loss:
        """The loss of a predicted probability, event-free and after the event."""

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The one loss."""
        return (self.loss,)

    @property
    def single(self) -> bool:
        """True: it has one value at each time."""
        return True

    def evaluate(self, status: EventWeights, predictions: Mapping[str, Predicted]) -> dict[str, MetricValue]:
        """The values of all models in one pass over the weights."""
        return self._summed_up(status, self.values_over_time(status, predictions))

    def evaluate_linearised(
        self, status: EventWeights, predictions: Mapping[str, Predicted]
    ) -> tuple[dict[str, MetricValue], Linearised | None]:
        """The values of all models, and the part of each subject, in one pass over the weights."""
        by_subject = SumsBySubject(status, self.time_weights(status.grid), len(predictions))
        curves = mean_losses(status, self.loss, list(predictions.values()), by_subject)
        values = self._summed_up(status, dict(zip(predictions, curves, strict=True)))
        return values, by_subject.known_of(self.functionals(status, predictions))

    def values_over_time(
        self, status: EventWeights, predictions: Mapping[str, Predicted]
    ) -> dict[str, FloatArray]:
        """The mean loss of all models at each time, in one pass over the weights."""
        curves = mean_losses(status, self.loss, list(predictions.values()))
        return dict(zip(predictions, curves, strict=True))

    def _summed_up(self, status: EventWeights, curves: Mapping[str, FloatArray]) -> dict[str, MetricValue]:
        return {name: MetricValue(time_average(status.times, curve), curve) for name, curve in curves.items()}

    def at_time(self, t: float) -> Metric:
        """The mean loss at one time."""
        return ValueAt(self, t)

    def functionals(self, status: EventWeights, predictions: Mapping[str, Predicted]) -> Functionals:
        """The mean losses, summed over time."""
        return self.functionals_by_time(status, predictions, self.time_weights(status.grid)[:, None])

    def functionals_over_time(
        self, status: EventWeights, predictions: Mapping[str, Predicted]
    ) -> Functionals:
        """The mean losses at each time, in the order given."""
        return self.functionals_by_time(
            status, predictions, status.grid.restore(np.eye(status.grid.sorted.size))
        )

    def functionals_by_time(
        self, status: EventWeights, predictions: Mapping[str, Predicted], weights: FloatArray
    ) -> Functionals:
        """The mean losses, summed over time with weights (times, F)."""
        gradients = (LossGradient(status, self.loss, predicted) for predicted in predictions.values())
        return Functionals(tuple(gradients), weights)

    def time_weights(self, grid: TimeGrid) -> FloatArray:
        """Return the weights of the time average, for the mean losses at the sorted times."""
        return time_weights(grid.sorted)


class AtOneTime(SingleTime, PointwiseMetric):
    """A loss at one time, ``at``, or at the last of an evaluation where that is None."""

    single_times: ClassVar[SingleTimes] = "only"

    def _summed_up(self, status: EventWeights, curves: Mapping[str, FloatArray]) -> dict[str, MetricValue]:
        return {name: MetricValue(float(curve[0])) for name, curve in curves.items()}

    def time_weights(self, grid: TimeGrid) -> FloatArray:
        """Return 1 for the one time."""
        return np.ones(1)


@dataclass(frozen=True)
class ValueAt(AtOneTime):
    """The value at one time of a metric ``of`` which is an average over time."""

    of: PointwiseMetric
    at: float | None

    name: ClassVar[str] = "value"
    label: ClassVar[str] = "value"
    range: ClassVar[tuple[float, float]] = (-np.inf, np.inf)

    def __post_init__(self) -> None:
        object.__setattr__(self, "range", self.of.range)
        self._check_time(self.of.name, self.of.curve_label or self.of.label)

    @property
    def loss(self) -> Loss:
        """The loss of the metric."""
        return self.of.loss


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
        return {name: time_average(times, curve, integration) for name, curve in values.items()}
    given = np.atleast_1d(np.asarray(times, dtype=np.float64))
    order = np.argsort(given, kind="stable")
    t, v = given[order], np.asarray(values)[order]
    weights = time_weights(t, integration)
    if np.isnan(v).any():
        raise ValueError(
            f"times must not pass {t[np.argmax(np.isnan(v))]:g}, from where the adjustment gives no score."
        )
    return float(weights @ v)
