r"""Calibration at one time, of subjects who come in batches.

Subjects in one cell of the predicted chance (:mod:`cocensor.stream.cells`) are taken to be alike, with their mean
prediction, and the sums of their weights: the code is the same as for all subjects held at once.

- *Parts of the Brier score.* The score itself is a sum, and exact. The isotonic regression of cells is the best of
  those that are constant on each. With w the weight of a cell, r the rise of the exact regression within it and m the
  normaliser, the means of the exact one over cells are such a regression too, and cost at most :math:`\sum_c w_c
  r_c^2/4m`; the rises add up to 1 at most. So the score of the recalibrated predictions is too large by 0 to
  :math:`\max_c w_c/4m`, over cells with different predictions.
- *ICI, E50, E90.* The distance between curve and prediction of a subject is off by at most the width of its cell and
  the rise of the curve over it, and by half of this on average over the cell, as predictions are there from their mean.
  So is the mean distance; a quantile is off by the largest such value at most. Both are doubled for the curve, which
  is fitted to the means of cells itself. This is no proof, as the former is; a smooth fit is off by far less, by the
  square of the width.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cocensor.adjustments import Status
from cocensor.data import Predicted, TimeGrid
from cocensor.metrics import MetricValue
from cocensor.metrics.calibration import CalibrationMetric
from cocensor.metrics.calibration_fit import smooth_calibration
from cocensor.metrics.d_calibration import DCalibration
from cocensor.metrics.decomposition import Miscalibration, PartOfBrier, brier_parts
from cocensor.metrics.horizon import refuse_until
from cocensor.metrics.sections import Section
from cocensor.stream.cells import Cells, Column, survival_at
from cocensor.stream.marked import marked


class _Batches:
    """What is known of the subjects so far, for one model."""

    def __init__(self, n_cells: int) -> None:
        #: Of a, b, subjects and predictions.
        self.cells = Cells(1, 1, n_cells, n_weights=4)
        self.normaliser = 0.0
        #: The sum of Brier scores.
        self.loss = 0.0
        self.least_weight = np.inf

    def add(self, status: Status, predictions: Predicted) -> None:
        times = status.grid.sorted
        order = marked(predictions, times, one_order=False)
        survival = order.markers(predictions, times, np.arange(status.n))
        [tile] = status.tiles()
        a, b = tile.by_time
        self.cells.reach(order.low, order.high)
        self.cells.add(order.keys, lambda rows: survival[:, rows], (a, b, np.ones_like(a), survival))
        self.normaliser += status.normaliser
        self.loss += float(np.vdot(a, np.square(1.0 - survival)) + np.vdot(b, np.square(survival)))
        self.least_weight = min(self.least_weight, float((a + b).min()))

    def merge(self, other: _Batches) -> None:
        self.cells.merge(other.cells)
        self.normaliser += other.normaliser
        self.loss += other.loss
        self.least_weight = min(self.least_weight, other.least_weight)

    def section(self, time: float) -> tuple[Section, Column]:
        """All subjects, those in a cell as one row; and the cells with anybody in them."""
        found = self.cells.column(0)
        column = found.only(found.sums[2] > 0)
        a, b, cases, total = column.sums
        return Section.of_cases(time, a, b, total / cases, self.normaliser, cases), column


class SectionAccumulator:
    """Calibration of several models at one time, by cells of their predictions."""

    covariance = None

    def __init__(
        self, metric: CalibrationMetric | PartOfBrier, grid: TimeGrid, models: Sequence[str], n_cells: int
    ) -> None:
        self.metric, self.grid, self.models = metric, grid, tuple(models)
        self._batches = {name: _Batches(n_cells) for name in self.models}

    def update(self, status: Status, predictions: Mapping[str, Predicted]) -> None:
        """More subjects: their status at the time of the metric, and what models predict for them."""
        for name, batches in self._batches.items():
            batches.add(status, predictions[name])

    def merge(self, other: SectionAccumulator) -> None:
        """The subjects of another."""
        for name, batches in self._batches.items():
            batches.merge(other._batches[name])

    def result(self, until: float) -> dict[str, MetricValue]:
        """The values of the models; from the time ``until`` on the adjustment gives no answer."""
        if until <= self.grid.last:
            return {name: MetricValue(np.nan, bound=np.nan) for name in self.models}
        return {name: self._value(batches) for name, batches in self._batches.items()}

    def _value(self, batches: _Batches) -> MetricValue:
        section, cells = batches.section(self.grid.last)
        if isinstance(self.metric, PartOfBrier):
            return _part_of_brier(self.metric, batches, section, cells)
        return _calibration(self.metric, section, cells)


def _part_of_brier(metric: PartOfBrier, batches: _Batches, section: Section, cells: Column) -> MetricValue:
    parts = section.once(brier_parts) if batches.least_weight >= 0 else None
    if parts is None:
        return MetricValue(np.nan, bound=np.nan)
    value = parts.discrimination
    if isinstance(metric, Miscalibration):
        recalibrated = parts.uncertainty - parts.discrimination
        value = max(0.0, batches.loss / batches.normaliser - recalibrated)
    if not np.array_equal(cells.sums, cells.sizes):  # weights below 0: the rises may add up to more than 1
        return MetricValue(value, bound=np.nan)
    weight = (cells.sums[0] + cells.sums[1])[cells.mixed]
    return MetricValue(value, bound=0.25 * float(weight.max(initial=0.0)) / batches.normaliser)


def _calibration(metric: CalibrationMetric, section: Section, cells: Column) -> MetricValue:
    smooth = section.once(smooth_calibration)
    if smooth is None:
        return MetricValue(np.nan, bound=np.nan)
    ends = 1.0 - np.stack([survival_at(each) for each in (cells.low, cells.high)])
    curve = smooth.curve(ends.ravel()).reshape(ends.shape)
    off = np.where(cells.mixed, np.ptp(ends, axis=0) + np.ptp(curve, axis=0), 0.0)
    bound = 2.0 * off.max() if metric.level is not None else np.average(off, weights=cells.sums[2])
    return MetricValue(metric.value(section), profile=metric.profile(section), bound=float(bound))


class DCalibrationAccumulator:
    """D-calibration of several models: what is in the cells of predicted levels are sums over subjects, and exact."""

    covariance = None

    def __init__(self, metric: DCalibration, grid: TimeGrid, models: Sequence[str]) -> None:
        self.metric, self.grid, self.models = metric, grid, tuple(models)
        self._surplus = {name: np.zeros(metric.n_cells + 1) for name in self.models}
        self._normaliser = 0.0

    def update(self, status: Status, predictions: Mapping[str, Predicted]) -> None:
        """More subjects: their status at the times of the metric, and what models predict for them."""
        asked = {name: predictions[name] for name in self.models}
        for name, surplus in self.metric.surpluses(status, asked).items():
            self._surplus[name] += surplus
        self._normaliser += status.normaliser

    def merge(self, other: DCalibrationAccumulator) -> None:
        """The subjects of another."""
        for name, surplus in other._surplus.items():
            self._surplus[name] += surplus
        self._normaliser += other._normaliser

    def result(self, until: float) -> dict[str, MetricValue]:
        """The values of the models; from the time ``until`` on the adjustment gives no answer."""
        refuse_until(until, self.grid)
        return {name: self.metric.of_gaps(each / self._normaliser) for name, each in self._surplus.items()}
