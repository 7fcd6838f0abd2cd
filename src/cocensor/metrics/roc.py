r"""The ROC curve of subjects at a time, and how it answers to their weights.

An alarm is raised for a share h of a subject with the marker M: 1 above a threshold, 0 below, and one and the same
share of all who are level with it, such that the share of false alarms among those event-free is
:math:`p = \sum_i a_i h_i / \sum_i a_i`. Of the events the share :math:`R(p) = \sum_i b_i h_i / \sum_i b_i` is found.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cocensor._cached import cached_property
from cocensor._checks import FloatArray, IntArray, Rows
from cocensor.adjustments.gradient import DenseGradient
from cocensor.metrics.ranks import Order

#: False positive rates at which a ROC curve is given.
FALSE_ALARMS = np.linspace(0.0, 1.0, 101)
# A share of false alarms that the subjects give, up to rounding, is met.
_ROUNDING = 1e-12
# Half the width over which slopes are taken is at least this.
_NARROWEST = 0.02


@dataclass(frozen=True, eq=False)
class Roc:
    """A ROC curve: its corners, from nobody called to all, and the subjects behind it."""

    order: Order
    event_free: FloatArray
    event: FloatArray

    @cached_property
    def _corners(self) -> tuple[FloatArray, FloatArray, IntArray]:
        """False alarms and events found, and one subject of those who are called next; none at the end."""
        rows = self.order.rows[::-1]
        alarms, found = (np.concatenate(([0.0], np.cumsum(w[rows]))) for w in (self.event_free, self.event))
        ends = np.arange(1, rows.size + 1) if self.order.ends is None else self.order.ends
        called = np.append(rows.size - ends[::-1], rows.size)
        with np.errstate(divide="ignore", invalid="ignore"):
            # Weights below 0 would make the curve turn back.
            alarms = np.maximum.accumulate(alarms[called] / alarms[-1])
            return alarms, found[called] / found[-1], rows[called[:-1]]

    def found(self, false_alarms: FloatArray = FALSE_ALARMS) -> FloatArray:
        """The share of events found at shares of false alarms; NaN without events, or without anybody event-free."""
        alarms, found, _ = self._corners
        if not np.isfinite(alarms[-1] + found[-1]):
            return np.full(false_alarms.shape, np.nan)
        return np.interp(false_alarms + _ROUNDING, alarms, found)

    def slopes(self) -> FloatArray:
        r"""The rise of the curve around each share, over a width that narrows with the number of those event-free.

        It is :math:`(R(p + h) - R(p - h))/2h` with :math:`h = \max(0.02, m^{-1/3}/2)`, cut to [0, 1], where
        :math:`m = (\sum a)^2/\sum a^2`.
        """
        number = self.event_free.sum() ** 2 / np.square(self.event_free).sum()
        half = max(_NARROWEST, 0.5 * number ** (-1.0 / 3.0))
        low, high = np.maximum(FALSE_ALARMS - half, 0.0), np.minimum(FALSE_ALARMS + half, 1.0)
        return (self.found(high) - self.found(low)) / (high - low)

    def gradients(self, marker: FloatArray) -> list[RocGradient]:
        """The derivatives at each share of false alarms; ``marker`` is that of the order, by subject."""
        alarms, _, following = self._corners
        found = self.found()
        if not np.isfinite(found[0]):
            return [NO_CURVE] * FALSE_ALARMS.size
        at = np.minimum(np.searchsorted(alarms, FALSE_ALARMS + _ROUNDING, "right") - 1, alarms.size - 2)
        with np.errstate(divide="ignore", invalid="ignore"):
            called = np.clip((FALSE_ALARMS - alarms[at]) / (alarms[at + 1] - alarms[at]), 0.0, 1.0)
        by_free, by_event = -self.slopes() / self.event_free.sum(), 1.0 / self.event.sum()
        each = zip(marker[following[at]], np.nan_to_num(called), FALSE_ALARMS, found, by_free, strict=True)
        return [
            RocGradient(marker, level, share, p, value, slope, float(by_event))
            for level, share, p, value, slope in each
        ]


@dataclass(frozen=True, eq=False)
class RocGradient:
    r"""The derivatives of the share of events found at one share p of false alarms.

    By b it is :math:`(h_i - R(p))/\sum b`. Who joins those event-free moves the threshold: by a it is
    :math:`-R'(p)(h_i - p)/\sum a`.
    """

    marker: FloatArray | None
    level: float = 0.0
    called: float = 0.0
    false_alarms: float = 0.0
    found: float = 0.0
    by_free: float = 0.0
    by_event: float = 0.0

    def of_subjects(self, rows: Rows) -> DenseGradient:
        """Those of some subjects, at the one time."""
        if self.marker is None:
            return DenseGradient(np.zeros((rows.size, 1)), np.zeros((rows.size, 1)))
        marker = self.marker[rows][:, None]
        share = (marker > self.level) + self.called * (marker == self.level)
        return DenseGradient(self.by_free * (share - self.false_alarms), self.by_event * (share - self.found))


#: Of a curve that is not defined.
NO_CURVE = RocGradient(None)
