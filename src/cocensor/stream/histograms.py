r"""Values that hold subjects against each other, of subjects who come in batches.

The sums over pairs of subjects that AUC and concordance are made of need all in order. Here subjects are in cells of
the marker (:mod:`cocensor.stream.cells`), and two of the same cell count as level, by one half. In truth such a pair
counts no less than 0 and no more than 1. With X and Y the sums over a cell of the two weights of a pair, a value is off
by at most

.. math:: \frac{\tfrac12 \sum_c X_c Y_c}{\sum_{i \ne j} x_i y_j},

where the sum is over cells with different markers: of equal ones one half is right. Nothing is assumed. The value is
far closer as a rule, as in a narrow cell subjects are in next to no order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cocensor._checks import FloatArray, Rows
from cocensor.adjustments import Status
from cocensor.adjustments.tile import Block
from cocensor.data import Predicted, RiskScores, TimeGrid
from cocensor.metrics import Metric, MetricValue
from cocensor.metrics.auc import CumulativeDynamicAUC, mean_over_events, new_events
from cocensor.metrics.base import Profile
from cocensor.metrics.calibration import CalibrationMetric
from cocensor.metrics.concordance import Concordance, of_steps
from cocensor.metrics.d_calibration import DCalibration
from cocensor.metrics.decomposition import PartOfBrier
from cocensor.metrics.horizon import refuse_until
from cocensor.metrics.ranks import Order
from cocensor.metrics.roc import FALSE_ALARMS, Roc
from cocensor.stream.cells import Cells
from cocensor.stream.marked import lots, marked
from cocensor.stream.sections import DCalibrationAccumulator, SectionAccumulator

# What rounding leaves of a difference is a smaller share than this of what was taken off.
_ROUNDING = 1e-13
# Cells at each time, at least; and at all times, 25 bytes each, unless more are needed, of which there is a limit too.
_FEWEST, _HELD, _MOST_AT_EACH = 2**10, 2**20, 2**16


class _PairSums:
    """By time, what sums over pairs are made of, for one model."""

    def __init__(self, n_times: int, n_cells: int, *, one_order: bool) -> None:
        self.one_order = one_order
        self.cells = Cells(1 if one_order else n_times, n_times, n_cells, n_weights=2)
        # Of pairs of a subject with itself, which are none.
        self.own = np.zeros(n_times)

    def add(
        self, rows: Rows, predictions: Predicted, times: FloatArray, x: FloatArray, y: FloatArray
    ) -> None:
        """Some subjects of a batch with their weights, (times, subjects) each."""
        order = marked(predictions, times, one_order=self.one_order)
        self.cells.reach(order.low, order.high)
        self.cells.add(
            order.keys.take(rows, axis=1),
            lambda some: order.markers(predictions, times, rows[some]),
            (x, y),
        )
        self.own += np.einsum("ij,ij->i", x, y)

    def merge(self, other: _PairSums) -> None:
        """Other subjects."""
        self.cells.merge(other.cells)
        self.own += other.own

    @np.errstate(invalid="ignore")  # from where the adjustment gives no answer, weights may be infinite
    def sums(self) -> FloatArray:
        """By time the sums over pairs in order and over all, how far the first may be off, and the sum of x."""
        found = np.empty((4, self.own.size))
        for k, own in enumerate(self.own):
            (x, y), sizes, mixed, *_ = self.cells.column(k)
            pairs = x.sum() * y.sum() - own
            found[:, k] = (
                x @ (np.cumsum(y) - 0.5 * y) - 0.5 * own,
                # Where nobody has anybody to be held against, rounding may leave a little.
                pairs if abs(pairs) > _ROUNDING * abs(own) else 0.0,
                0.5 * (sizes[0] * sizes[1]) @ mixed,
                x.sum(),
            )
        return found


class PairAccumulator:
    """AUC or concordance of several models, by cells of their markers."""

    covariance = None

    def __init__(
        self, metric: CumulativeDynamicAUC | Concordance, grid: TimeGrid, models: Sequence[str], n_cells: int
    ) -> None:
        self.metric, self.grid, self.models, self.n_cells = metric, grid, tuple(models), n_cells
        self._sums = dict[str, _PairSums]()

    def update(self, status: Status, predictions: Mapping[str, Predicted]) -> None:
        """More subjects: their status at the times of the metric, and what models predict for them."""
        n_times, asked = self.grid.sorted.size, {name: predictions[name] for name in self.models}
        for name, each in asked.items():
            if name not in self._sums:
                self._sums[name] = _PairSums(n_times, self.n_cells, one_order=self._one_order(each))
        for lot in lots(status):
            rows = np.concatenate([block.rows for block in lot])
            x, y = self._weights(lot, rows.size)
            for name, each in asked.items():
                self._sums[name].add(rows, each, self.grid.sorted, x, y)

    def merge(self, other: PairAccumulator) -> None:
        """The subjects of another."""
        for name, sums in other._sums.items():
            if name in self._sums:
                self._sums[name].merge(sums)
            else:
                self._sums[name] = sums

    def result(self, until: float) -> dict[str, MetricValue]:
        """The values of the models; from the time ``until`` on the adjustment gives no answer."""
        if isinstance(self.metric, Concordance):
            refuse_until(until, self.grid)
            return {name: _concordance(sums) for name, sums in self._sums.items()}
        return {name: self._auc(sums, until) for name, sums in self._sums.items()}

    def _one_order(self, predictions: Predicted) -> bool:
        by_one_risk = isinstance(self.metric, Concordance) and not self.metric.time_dependent
        return by_one_risk or isinstance(predictions, RiskScores)

    def _weights(self, lot: list[Block], n: int) -> FloatArray:
        """The two weights of pairs, (2, times, subjects): of those whose event comes first, and of the others.

        They are those of events and of event-free subjects, or those of steps in time.
        """
        columns, both = slice(0, self.grid.sorted.size), np.empty((2, self.grid.sorted.size, n))
        start = 0
        for block in lot:
            a, b = block.dense(columns)
            if isinstance(self.metric, Concordance):
                b, a = of_steps(a, b, a[:, 0] + b[:, 0], np.zeros(len(b)))
            stop = start + len(a)
            both[0, :, start:stop], both[1, :, start:stop] = b.T, a.T
            start = stop
        return both

    def _auc(self, sums: _PairSums, until: float) -> MetricValue:
        ordered, pairs, off, events = sums.sums()
        defined = (pairs > 0) & (self.grid.sorted < until)
        curve, bounds = (
            np.divide(each, pairs, out=np.full(pairs.size, np.nan), where=defined) for each in (ordered, off)
        )
        if self.metric.at is not None:
            profile = _roc(sums.cells) if defined[0] else None
            return MetricValue(float(curve[0]), profile=profile, bound=float(bounds[0]))
        new = new_events(events)
        used = new != 0
        value = mean_over_events(curve, new)
        bound = float(bounds[used] @ np.abs(new[used]) / abs(new.sum())) if np.isfinite(value) else np.nan
        curve, bounds = self.grid.restore(np.stack((curve, bounds)))
        return MetricValue(value, curve, bound=bound, curve_bounds=bounds)


def _concordance(sums: _PairSums) -> MetricValue:
    ordered, pairs, off, _ = sums.sums().sum(axis=1)
    if not pairs > 0:
        return MetricValue(np.nan, bound=np.nan)
    return MetricValue(float(ordered / pairs), bound=float(off / pairs))


def _roc(cells: Cells) -> Profile:
    """The ROC curve at the one time, a straight line within a cell."""
    event, free = cells.column(0).sums
    return Profile(FALSE_ALARMS, Roc(Order(np.arange(event.size)), free, event).found())


def histogram_accumulator(
    metric: Metric, grid: TimeGrid, models: Sequence[str], n: int | None = None
) -> PairAccumulator | SectionAccumulator | DCalibrationAccumulator | None:
    """What adds up over batches a metric that holds subjects against each other; None of others, and unknown ones."""
    grid = metric.grid(grid)
    if isinstance(metric, CumulativeDynamicAUC | Concordance):
        return PairAccumulator(metric, grid, models, cells_for(n, grid.sorted.size))
    if isinstance(metric, CalibrationMetric | PartOfBrier):
        return SectionAccumulator(metric, grid, models, cells_for(n, 1) // 2)
    if isinstance(metric, DCalibration):
        return DCalibrationAccumulator(metric, grid, models)
    return None


def cells_for(n: int | None, n_times: int) -> int:
    """How many cells there are at each time, a power of 2.

    They grow with the root of the number ``n`` of subjects, as standard errors fall with it: to so many that a bound is
    small against the error of a difference of two models; at many times to as many as memory holds, or as are enough
    for the errors of single scores.
    """
    root = np.sqrt(max(10**7 if n is None else n, 1))
    fine, enough = _power_of_2(128.0 * root), min(_power_of_2(8.0 * root), _MOST_AT_EACH)
    return max(_FEWEST, min(fine, max(enough, _HELD // _power_of_2(n_times))))


def _power_of_2(least: float) -> int:
    return 2 ** int(np.ceil(np.log2(least)))
