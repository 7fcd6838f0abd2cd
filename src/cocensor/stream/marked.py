"""What orders the subjects of a batch, as keys."""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from cocensor._validation import FloatArray, IntArray, row_blocks
from cocensor.curves import Predictions
from cocensor.metrics.concordance import one_risk
from cocensor.stream.cells import Keys, risk_keys, survival_keys


class Marked(NamedTuple):
    """The keys of what orders subjects, (subjects, times), or (subjects, 1) where all times have one; their extremes.

    ``marker`` is None where it is read off the predictions.
    """

    keys: Keys
    low: IntArray
    high: IntArray
    marker: FloatArray | None

    @classmethod
    def of(cls, keys: Keys, marker: FloatArray | None = None) -> Marked:
        """With the extremes of the keys."""
        low, high = (each.astype(np.int64) for each in (keys.min(axis=0), keys.max(axis=0)))
        return cls(keys, low, high, marker)


_MARKED: WeakKeyDictionary[Predictions, dict[object, Marked]] = WeakKeyDictionary()


def marked(predictions: Predictions, times: FloatArray, *, one_order: bool) -> Marked:
    """What orders subjects by one model, which is the same under all adjustments."""
    kept = _MARKED.setdefault(predictions, {})
    key = (one_order, None if predictions.risk is not None else times.tobytes())
    if key not in kept:
        if one_order:
            marker = one_risk(predictions, times)[:, None]
            kept[key] = Marked.of(_keys_of_one_risk(predictions, times, marker), marker)
        else:
            keys = np.empty((len(predictions), times.size), dtype=np.int32)
            for rows in row_blocks(*keys.shape):
                keys[rows] = survival_keys(predictions.read(times, rows))
            kept[key] = Marked.of(keys)
    return kept[key]


def _keys_of_one_risk(predictions: Predictions, times: FloatArray, risk: FloatArray) -> Keys:
    """Of curves, the mean survival over time lies between 0 and 1 as survival does."""
    if predictions.risk is not None or not times[-1] > 0:
        return risk_keys(risk)
    return survival_keys(np.clip(-risk / times[-1], 0.0, 1.0))
