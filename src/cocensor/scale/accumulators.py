"""Values of metrics over subjects that come in batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cocensor._checks import FloatArray
from cocensor.adjustments import EventWeights
from cocensor.data.predictions import Predicted
from cocensor.data.times import TimeGrid
from cocensor.inference.influence import own_parts
from cocensor.metrics import Metric, MetricValue, PointwiseMetric
from cocensor.metrics.base import Accumulator, Profile
from cocensor.metrics.kernel import warn_above_largest


def accumulator_of(
    metric: Metric, grid: TimeGrid, models: Sequence[str], n: int, with_errors: bool = True
) -> Accumulator | None:
    """Return what adds up a metric over batches of n subjects in all; None where it takes all of them at once."""
    if metric.mean_of_losses:
        return MeanOfLosses(metric, metric.grid(grid), models, with_errors)
    return metric.accumulator(metric.grid(grid), models, n)


class Moments:
    """Number, mean and products of deviations from it of rows of numbers, in one pass (Chan, Golub & LeVeque 1979)."""

    def __init__(self, rows: FloatArray) -> None:
        self.n = len(rows)
        self.mean = rows.sum(axis=0) / max(self.n, 1)
        centred = rows - self.mean
        self.products = centred.T @ centred

    def merge(self, other: Moments) -> None:
        """Take up the rows of another."""
        n, gap = self.n + other.n, other.mean - self.mean
        self.products = self.products + other.products + np.multiply.outer(gap, gap) * (self.n * other.n / n)
        self.mean = self.mean + gap * (other.n / n)
        self.n = n

    @property
    def covariance(self) -> FloatArray:
        """The covariance of the columns; NaN of a single row."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.products / np.float64(self.n - 1))


class MeanOfLosses:
    """A metric that is a mean over subjects: that of all is the mean over batches, weighed by their normalisers."""

    def __init__(self, metric: Metric, grid: TimeGrid, models: Sequence[str], with_errors: bool) -> None:
        self.metric, self.grid, self.models, self.with_errors = metric, grid, tuple(models), with_errors
        self.normaliser = 0.0
        self.values: dict[str, MetricValue] = {}
        self.moments = Moments(np.empty((0, len(models))))

    def update(self, status: EventWeights, predictions: Mapping[str, Predicted]) -> None:
        """Take up the subjects of a batch."""
        own = np.zeros((status.n, len(self.models)))
        if status.normaliser:  # else nobody of them counts
            read = {name: predictions[name] for name in self.models}
            if self.with_errors:
                values, linearised = self.metric.evaluate_linearised(status, read)
                linearised = linearised or self.metric.functionals(status, read)
                own = own_parts(status, linearised) * (status.normaliser / status.n)
            else:
                values = self.metric.evaluate(status, read)
            self._add(status.normaliser, values)
        if self.with_errors:
            self.moments.merge(Moments(own))

    def merge(self, other: MeanOfLosses) -> None:
        """Take up what another has taken up."""
        if other.normaliser:
            self._add(other.normaliser, other.values)
        if self.with_errors:
            self.moments.merge(other.moments)

    def result(self, until: float) -> dict[str, MetricValue]:
        """Return the values by model; warn of those that are larger than any loss."""
        if isinstance(self.metric, PointwiseMetric):
            values = self.values.values()
            curves = [[value.value] if value.curve is None else value.curve for value in values]
            warn_above_largest(self.grid.by_sorted(np.array(curves)), self.grid.sorted, self.metric.loss)
        return dict(self.values)

    @property
    def covariance(self) -> FloatArray | None:
        """The covariance of the own parts of all subjects, by model."""
        scale = (self.moments.n / self.normaliser) ** 2
        return self.moments.covariance * scale if self.with_errors else None

    def _add(self, normaliser: float, values: Mapping[str, MetricValue]) -> None:
        self.normaliser += normaliser
        for name, value in values.items():
            share = normaliser / self.normaliser
            self.values[name] = _mean(self.values[name], value, share) if name in self.values else value


def _mean(one: MetricValue, other: MetricValue, share: float) -> MetricValue:
    """Return the mean of two values with curves alike, where the other has a share."""

    def mean(a: Any, b: Any) -> Any:
        return None if a is None or b is None else (1.0 - share) * a + share * b

    profile = None
    if one.profile is not None and other.profile is not None:
        profile = Profile(one.profile.x, mean(one.profile.y, other.profile.y))
    return MetricValue(mean(one.value, other.value), mean(one.curve, other.curve), profile)
