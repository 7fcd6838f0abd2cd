"""Values of metrics over subjects that come in batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, Self

import numpy as np

from cocensor._checks import FloatArray
from cocensor.adjustments import EventWeights
from cocensor.data.predictions import Predicted, RiskScores
from cocensor.data.times import TimeGrid
from cocensor.inference.influence import own_parts
from cocensor.metrics import Metric, MetricValue, PointwiseMetric
from cocensor.metrics.auc import CumulativeDynamicAUC, Roc, area
from cocensor.metrics.base import Profile
from cocensor.metrics.d_calibration import DCalibration
from cocensor.metrics.horizon import refuse_until
from cocensor.metrics.kernel import warn_above_largest
from cocensor.metrics.ranks import Order

#: Up to this many subjects the AUC at a single time is that of all, whose predictions for that time are held.
MOST_HELD = 10_000_000


class Accumulator(Protocol):
    """What one metric needs of all subjects under one fit, for several ``models``: picklable, and small."""

    models: tuple[str, ...]

    @property
    def covariance(self) -> FloatArray | None:
        """Of the own parts of all subjects, by model; None where they are not known."""

    def update(self, status: EventWeights, predictions: Mapping[str, Predicted]) -> None:
        """Take up the subjects of a batch."""

    def merge(self, other: Self) -> None:
        """Take up what another has taken up."""

    def result(self, until: float) -> dict[str, MetricValue]:
        """The values by model, where ``until`` is from when on there are none."""


def accumulator_of(
    metric: Metric, grid: TimeGrid, models: Sequence[str], n: int, with_errors: bool = True
) -> Accumulator | None:
    """What adds up a metric over batches of n subjects in all; None where it takes all of them at once."""
    if metric.mean_of_losses:
        return MeanOfLosses(metric, metric.grid(grid), models, with_errors)
    if isinstance(metric, DCalibration):
        return LevelSums(metric, metric.grid(grid), models)
    if isinstance(metric, CumulativeDynamicAUC) and metric.at is not None and n <= MOST_HELD:
        return SingleTimeAUC(metric.grid(grid), models)
    return None


class Moments:
    """Number, mean and products of deviations from it of rows of numbers, in one pass (Chan, Golub & LeVeque 1979).

    Examples
    --------
    >>> rows = np.array([[1.0, 2.0], [2.0, 2.0], [6.0, 5.0]])
    >>> whole, part = Moments(rows), Moments(rows[:1])
    >>> part.merge(Moments(rows[1:]))
    >>> np.allclose(part.covariance, whole.covariance)
    True
    """

    def __init__(self, rows: FloatArray) -> None:
        self.n, self.mean = len(rows), rows.mean(axis=0)
        centred = rows - self.mean
        self.products = centred.T @ centred

    def merge(self, other: Moments) -> None:
        """Those of the rows of both."""
        n = self.n + other.n
        gap = other.mean - self.mean
        self.products = self.products + other.products + np.multiply.outer(gap, gap) * (self.n * other.n / n)
        self.mean = self.mean + gap * (other.n / n)
        self.n = n

    @property
    def covariance(self) -> FloatArray:
        """Of the rows; NaN of a single one."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.products / np.float64(self.n - 1))


class MeanOfLosses:
    """A metric that is a mean over subjects: its values over batches, weighed by their normalisers, are that of all.

    Sums rather than means are kept of values, curves and profiles.
    """

    def __init__(self, metric: Metric, grid: TimeGrid, models: Sequence[str], with_errors: bool) -> None:
        self.metric, self.grid, self.models, self.with_errors = metric, grid, tuple(models), with_errors
        self.normaliser = 0.0
        self.sums: dict[str, FloatArray] = {}
        #: The values of one batch.
        self.like: dict[str, MetricValue] = {}
        self.moments: Moments | None = None

    def update(self, status: EventWeights, predictions: Mapping[str, Predicted]) -> None:
        """Take up the subjects of a batch."""
        if not status.normaliser:  # nobody of them counts
            if self.with_errors:
                self._add_moments(Moments(np.zeros((status.n, len(self.models)))))
            return
        read = {name: predictions[name] for name in self.models}
        values, known = (
            self.metric.evaluate_linearised(status, read)
            if self.with_errors
            else (self.metric.evaluate(status, read), None)
        )
        found = {name: status.normaliser * _flat(each) for name, each in values.items()}
        self._add(status.normaliser, found, values)
        if self.with_errors:
            own = own_parts(status, known or self.metric.functionals(status, read))
            self._add_moments(Moments(own * (status.normaliser / status.n)))

    def merge(self, other: MeanOfLosses) -> None:
        """Take up what another has taken up."""
        self._add(other.normaliser, other.sums, other.like)
        if other.moments is not None:
            self._add_moments(other.moments)

    def result(self, until: float) -> dict[str, MetricValue]:
        """The values by model; warns of those that are larger than any loss."""
        found = {name: _shaped(each / self.normaliser, self.like[name]) for name, each in self.sums.items()}
        if isinstance(self.metric, PointwiseMetric):
            curves = [[each.value] if each.curve is None else each.curve for each in found.values()]
            warn_above_largest(self.grid.by_sorted(np.array(curves)), self.grid.sorted, self.metric.loss)
        return found

    @property
    def covariance(self) -> FloatArray | None:
        """Of the own parts of all subjects, by model."""
        if self.moments is None:
            return None
        return self.moments.covariance * (self.moments.n / self.normaliser) ** 2

    def _add(
        self, normaliser: float, sums: Mapping[str, FloatArray], like: Mapping[str, MetricValue]
    ) -> None:
        self.normaliser += normaliser
        self.like |= like
        for name, each in sums.items():
            self.sums[name] = self.sums[name] + each if name in self.sums else each

    def _add_moments(self, moments: Moments) -> None:
        if self.moments is None:
            self.moments = moments
        else:
            self.moments.merge(moments)


def _flat(value: MetricValue) -> FloatArray:
    """A value, its curve and its profile as one vector."""
    parts = (np.array([value.value]), value.curve, None if value.profile is None else value.profile.y)
    return np.concatenate([part for part in parts if part is not None])


def _shaped(flat: FloatArray, like: MetricValue) -> MetricValue:
    """The value of a vector, with a curve and a profile where another has such."""
    n = 0 if like.curve is None else like.curve.size
    curve = None if like.curve is None else flat[1 : 1 + n]
    profile = None if like.profile is None else Profile(like.profile.x, flat[1 + n :])
    return MetricValue(float(flat[0]), curve, profile)


class LevelSums:
    """D-calibration of several models: what is in the cells of predicted levels are sums over subjects."""

    covariance = None

    def __init__(self, metric: DCalibration, grid: TimeGrid, models: Sequence[str]) -> None:
        self.metric, self.grid, self.models = metric, grid, tuple(models)
        self._surplus = {name: np.zeros(metric.n_cells + 1) for name in self.models}
        self._normaliser = 0.0

    def update(self, status: EventWeights, predictions: Mapping[str, Predicted]) -> None:
        """Take up the subjects of a batch."""
        asked = {name: predictions[name] for name in self.models}
        for name, surplus in self.metric.surpluses(status, asked).items():
            self._surplus[name] += surplus
        self._normaliser += status.normaliser

    def merge(self, other: LevelSums) -> None:
        """Take up what another has taken up."""
        for name, surplus in other._surplus.items():
            self._surplus[name] += surplus
        self._normaliser += other._normaliser

    def result(self, until: float) -> dict[str, MetricValue]:
        """The values by model."""
        refuse_until(until, self.grid)
        return {name: self.metric.of_gaps(each / self._normaliser) for name, each in self._surplus.items()}


class SingleTimeAUC:
    """The AUC of several models at one time: the weights and predictions of all subjects at that time are held."""

    covariance = None

    def __init__(self, grid: TimeGrid, models: Sequence[str]) -> None:
        self.grid, self.models = grid, tuple(models)
        #: By batch, two rows of weights (event-free and event), and by model a row of markers.
        self._batches: list[tuple[FloatArray, dict[str, FloatArray]]] = []

    def update(self, status: EventWeights, predictions: Mapping[str, Predicted]) -> None:
        """Take up the subjects of a batch."""
        [tile] = status.tiles()
        weights = np.concatenate(tile.by_time)
        markers = {name: _marker(predictions[name], self.grid.sorted) for name in self.models}
        self._batches.append((weights, markers))

    def merge(self, other: SingleTimeAUC) -> None:
        """Take up what another has taken up."""
        self._batches += other._batches

    def result(self, until: float) -> dict[str, MetricValue]:
        """The values by model; NaN from the time ``until`` on."""
        if until <= self.grid.last:
            return {name: MetricValue(np.nan) for name in self.models}
        event_free, event = np.concatenate([weights for weights, _ in self._batches], axis=1)
        found = {}
        for name in self.models:
            order = Order(np.concatenate([markers[name] for _, markers in self._batches]))
            value = area(order, event_free, event)
            profile = Roc(order, event_free, event).profile if np.isfinite(value) else None
            found[name] = MetricValue(value, profile=profile)
        return found


def _marker(predictions: Predicted, times: FloatArray) -> FloatArray:
    """What orders subjects by their predicted risk at one time."""
    return (
        predictions.risk
        if isinstance(predictions, RiskScores)
        else -predictions.read(times, slice(None))[:, 0]
    )
