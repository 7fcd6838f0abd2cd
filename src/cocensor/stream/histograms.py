r"""Values that hold subjects against each other, of subjects who come in batches.

The sums over pairs of subjects that AUC and concordance are made of need an order of all. Here subjects are in cells of
the marker (:mod:`cocensor.stream.cells`), and two in one and the same cell count as level, by one half. With X and Y the sums
over a cell of the two weights of a pair, no such pair counts less than 0 or more than 1, so that a value is off by at
most

.. math:: \frac{\tfrac12 \sum_c X_c Y_c}{\sum_{i \ne j} x_i y_j},

where the sum is over cells with different markers: of equal ones one half is right. Nothing is assumed, and what is
found is usually far closer, as within a narrow cell subjects are in no particular order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from cocensor._validation import FloatArray
from cocensor.adjustments import Status
from cocensor.curves import Predictions, TimeGrid
from cocensor.metrics import Metric, MetricValue
from cocensor.metrics.auc import CumulativeDynamicAUC, mean_over_events, new_events
from cocensor.metrics.base import Profile
from cocensor.metrics.concordance import Concordance, one_risk, steps_of
from cocensor.metrics.ranks import Order
from cocensor.metrics.roc import FALSE_ALARMS, Roc
from cocensor.stream.cells import Cells, Keys, risk_keys, survival_keys


# What is left of a difference by rounding alone is a smaller share than this of what was taken off.
_ROUNDING = 1e-13


class _Marked(NamedTuple):
    """A marker and its keys, with a row for each time, or one row for all."""

    marker: FloatArray
    keys: Keys


_MARKED: WeakKeyDictionary[Predictions, dict[object, _Marked]] = WeakKeyDictionary()


def _marked(metric: Metric, predictions: Predictions, times: FloatArray) -> _Marked:
    """What orders the subjects by one model, which is the same under all adjustments."""
    one_order = isinstance(metric, Concordance) and not metric.time_dependent
    kept = _MARKED.setdefault(predictions, {})
    key = "risk" if predictions.risk is not None else (one_order, times.tobytes())
    if key not in kept:
        if one_order or predictions.risk is not None:
            marker = one_risk(predictions, times)[None]
            kept[key] = _Marked(marker, risk_keys(marker))
        else:
            survival = np.ascontiguousarray(predictions.read(times, slice(None)).T)
            kept[key] = _Marked(survival, survival_keys(survival))
    return kept[key]


def _weights(metric: Metric, status: Status) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
    """The two weights of pairs, (columns, subjects) each: of whom the event comes first, and of whom it does not."""
    if isinstance(metric, Concordance):
        for steps in steps_of(status):
            gained, around = (np.ascontiguousarray(each.T) for each in steps.both)
            yield steps.tile.columns, gained, around
    else:
        for tile in status.tiles():
            free, event = tile.by_time
            yield tile.columns, event, free


class _PairSums:
    """By time, what sums over pairs are made of, for one model."""

    def __init__(self, n_times: int, n_cells: int) -> None:
        self.cells = Cells(n_times, n_cells, n_weights=2)
        # Of pairs of a subject with itself, which are none.
        self.own = np.zeros(n_times)
        self.first = np.zeros(n_times)

    def add(self, columns: slice, marked: _Marked, x: FloatArray, y: FloatArray) -> None:
        for at, k in enumerate(range(columns.start, columns.stop)):
            row = k if len(marked.keys) > 1 else 0
            self.cells.add(k, marked.keys[row], marked.marker[row], (x[at], y[at]))
        self.own[columns] += np.einsum("ij,ij->i", x, y)
        self.first[columns] += x.sum(axis=1)

    def merge(self, other: _PairSums) -> None:
        self.cells.merge(other.cells)
        self.own += other.own
        self.first += other.first

    def sums(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """By time the sums over ordered pairs and over all, and how far the first may be off."""
        found = np.empty((3, self.own.size))
        for k, own in enumerate(self.own):
            (x, y), sizes, mixed = self.cells.column(k)
            found[0, k] = x @ (np.cumsum(y) - 0.5 * y) - 0.5 * own
            # Where nobody has anybody to be held against, rounding leaves next to nothing.
            both = x.sum() * y.sum()
            found[1, k] = both - own if abs(both - own) > _ROUNDING * abs(own) else 0.0
            found[2, k] = 0.5 * (sizes[0] * sizes[1]) @ mixed
        ordered, pairs, off = found
        return ordered, pairs, off


class PairAccumulator:
    """AUC or concordance of several models, by cells of their markers."""

    def __init__(
        self, metric: CumulativeDynamicAUC | Concordance, grid: TimeGrid, models: Sequence[str], n_cells: int
    ) -> None:
        self.metric, self.grid = metric, grid
        self._sums = {name: _PairSums(grid.sorted.size, n_cells) for name in models}

    def update(self, status: Status, predictions: Mapping[str, Predictions]) -> None:
        """More subjects: their status, and what models predict for them."""
        for columns, x, y in _weights(self.metric, status):
            for name, each in predictions.items():
                self._sums[name].add(columns, _marked(self.metric, each, status.grid.sorted), x, y)

    def merge(self, other: PairAccumulator) -> None:
        """The subjects of another."""
        for name, sums in self._sums.items():
            sums.merge(other._sums[name])

    def result(self, until: float) -> dict[str, MetricValue]:
        """The values of the models; from the time ``until`` on the adjustment gives no answer."""
        find = self._concordance if isinstance(self.metric, Concordance) else self._auc
        return {name: find(sums, until) for name, sums in self._sums.items()}

    def _concordance(self, sums: _PairSums, until: float) -> MetricValue:
        if until <= self.grid.last:
            raise ValueError(f"times must not reach {until:g}, from where the adjustment gives no score.")
        ordered, pairs, off = (each.sum() for each in sums.sums())
        if not pairs > 0:
            return MetricValue(np.nan, bound=np.nan)
        return MetricValue(float(ordered / pairs), bound=float(off / pairs))

    def _auc(self, sums: _PairSums, until: float) -> MetricValue:
        ordered, pairs, off = sums.sums()
        defined = (pairs > 0) & (self.grid.sorted < until)
        curve, bounds = (
            np.divide(each, pairs, out=np.full(pairs.size, np.nan), where=defined) for each in (ordered, off)
        )
        if self.metric.at is not None:
            value, bound = float(curve[0]), float(bounds[0])
            return MetricValue(value, profile=_roc(sums.cells) if defined[0] else None, bound=bound)
        events = new_events(sums.first)
        value = mean_over_events(curve, events)
        used = events != 0
        bound = float(bounds[used] @ np.abs(events[used]) / abs(events.sum())) if np.isfinite(value) else np.nan
        return MetricValue(
            value, self.grid.restore(curve), bound=bound, curve_bounds=self.grid.restore(bounds)
        )


def _roc(cells: Cells) -> Profile:
    """The ROC curve at the one time, straight within cells."""
    event, free = cells.column(0).sums
    return Profile(FALSE_ALARMS, Roc(Order(np.arange(event.size)), free, event).found())


def histogram_accumulator(
    metric: Metric, grid: TimeGrid, models: Sequence[str], n: int | None = None
) -> PairAccumulator | None:
    """What adds up a metric over batches by cells of a marker; None where that is not done for this metric.

    The number of cells grows with the root of the number ``n`` of subjects, as their standard errors fall.
    """
    grid = metric.grid(grid)
    if isinstance(metric, CumulativeDynamicAUC | Concordance):
        return PairAccumulator(metric, grid, models, cells_for(n, grid.sorted.size))
    return None


def cells_for(n: int | None, n_times: int) -> int:
    """How many cells there are at each time, a power of 2."""
    n = 10**7 if n is None else n
    wanted = (32.0 if n_times == 1 else 8.0) * np.sqrt(n)
    return 2 ** int(np.clip(np.ceil(np.log2(max(wanted, 1.0))), 10, 18 if n_times == 1 else 16))
