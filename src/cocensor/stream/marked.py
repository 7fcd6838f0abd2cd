"""What orders the subjects of a batch, as keys; and their weights, by time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from cocensor._checks import FloatArray, IntArray, Rows, row_blocks
from cocensor.adjustments import Status
from cocensor.adjustments.tile import Block
from cocensor.data import Predicted, RiskScores
from cocensor.metrics.concordance import one_risk
from cocensor.stream.cells import Keys, risk_keys, survival_keys

# So many weights are held by time at once; and so many are kept for other metrics.
_ELEMENTS = 2**21
_KEPT_ELEMENTS = 2**23


class Marked(NamedTuple):
    """The keys of what orders subjects, (times, subjects), or (1, subjects) where all times have one; their extremes.

    ``marker`` is the same, and None where it is read off the predictions.
    """

    keys: Keys
    low: IntArray
    high: IntArray
    marker: FloatArray | None

    @classmethod
    def of(cls, keys: Keys, marker: FloatArray | None = None) -> Marked:
        """With the extremes of the keys."""
        low, high = (each.astype(np.int64) for each in (keys.min(axis=1), keys.max(axis=1)))
        return cls(keys, low, high, marker)

    def markers(self, predictions: Predicted, times: FloatArray, rows: Rows) -> FloatArray:
        """The markers of some subjects, as the keys are; of survival its probability, which tells as much apart."""
        return predictions.read(times, rows).T if self.marker is None else self.marker[:, rows]


# What is the same under all adjustments, and by all metrics.
_MARKED: WeakKeyDictionary[Predicted, dict[object, Marked]] = WeakKeyDictionary()
_BLOCKS: WeakKeyDictionary[Status, list[Block]] = WeakKeyDictionary()


def marked(predictions: Predicted, times: FloatArray, *, one_order: bool) -> Marked:
    """What orders subjects by one model."""
    kept = _MARKED.setdefault(predictions, {})
    key = (one_order, None if isinstance(predictions, RiskScores) else times.tobytes())
    if key not in kept:
        kept[key] = _one_order(predictions, times) if one_order else _orders(predictions, times)
    return kept[key]


def _one_order(predictions: Predicted, times: FloatArray) -> Marked:
    marker = one_risk(predictions, times)[None]
    if isinstance(predictions, RiskScores) or not times[-1] > 0:
        return Marked.of(risk_keys(marker), marker)
    # Of curves it is the mean survival over time, which is between 0 and 1 as survival is.
    return Marked.of(survival_keys(np.clip(-marker / times[-1], 0.0, 1.0)), marker)


def _orders(predictions: Predicted, times: FloatArray) -> Marked:
    keys = np.empty((times.size, len(predictions)), dtype=np.int32)
    for rows in row_blocks(len(predictions), times.size):
        keys[:, rows] = survival_keys(predictions.read(times, rows)).T
    return Marked.of(keys)


def lots(status: Status) -> Iterator[list[Block]]:
    """The blocks of a status, which are costly to come by, in lots of as many subjects as can be held by time."""
    n_times = status.grid.sorted.size
    if status not in _BLOCKS and status.n * n_times <= _KEPT_ELEMENTS:
        _BLOCKS[status] = list(status.blocks())
    most = _ELEMENTS // n_times
    lot, n = list[Block](), 0
    for block in _BLOCKS.get(status) or status.blocks():
        if lot and n + block.rows.size > most:
            yield lot
            lot, n = [], 0
        lot.append(block)
        n += block.rows.size
    if lot:
        yield lot
