"""Sums over pairs of subjects by sorting."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from cocensor._validation import FloatArray, IntArray

# So many bins are sorted by counting.
_BINS = 2**16


class Order:
    """Subjects in the order of a marker; ``like`` is an order that may be the same.

    Examples
    --------
    >>> order = Order(np.array([0.2, 0.9, 0.2]))
    >>> order.below(np.array([1.0, 10.0, 100.0]))
    array([ 50.5, 106. ,  50.5])
    """

    #: The subjects, and their markers, from the lowest to the highest.
    rows: IntArray
    sorted: FloatArray

    def __init__(self, marker: FloatArray, like: Order | None = None) -> None:
        marker = np.ascontiguousarray(marker)
        rows = _sorted_rows(marker) if like is None else like.rows
        taken = marker[rows]
        if like is not None and (taken[1:] < taken[:-1]).any():
            rows = _sorted_rows(marker)
            taken = marker[rows]
        self.rows, self.sorted = rows, taken

    @cached_property
    def ties(self) -> tuple[IntArray, IntArray] | None:
        """By place in the order, where those with an equal marker begin, and after the last of them; None without."""
        new = np.flatnonzero(self.sorted[1:] != self.sorted[:-1]) + 1
        if new.size == self.rows.size - 1:
            return None
        ends = np.append(new, self.rows.size)
        sizes = np.diff(ends, prepend=0)
        return np.repeat(ends - sizes, sizes), np.repeat(ends, sizes)

    def below(self, weights: FloatArray) -> FloatArray:
        r"""For each subject i the weights of those below it, and half of those level with it, its own among them:

        :math:`\sum_j w_j (1[M_j < M_i] + \tfrac12 1[M_j = M_i])`, for each column of (subjects, columns).
        """
        halfway = self._halfway(weights[self.rows])
        result = np.empty_like(halfway)
        result[self.rows] = halfway
        return result

    def pairs(self, lower: FloatArray, upper: FloatArray) -> float:
        r""":math:`\sum_{i,j} u_i\,l_j (1[M_j < M_i] + \tfrac12 1[M_j = M_i])`, those of i = j among them."""
        return float(upper[self.rows] @ self._halfway(lower[self.rows]))

    def _halfway(self, taken: FloatArray) -> FloatArray:
        """Sums of weights in the order up to halfway through those with an equal marker."""
        sums = np.zeros((len(taken) + 1, *taken.shape[1:]))
        np.cumsum(taken, axis=0, out=sums[1:])
        if self.ties is None:
            halfway = sums[:-1]
            halfway += 0.5 * taken
            return halfway
        first, end = self.ties
        return 0.5 * (sums[first] + sums[end])


class Orders:
    """The orders of one marker after the other, which are often the same; then a look is enough."""

    def __init__(self) -> None:
        self._last: tuple[FloatArray, Order] | None = None

    def of(self, marker: FloatArray) -> Order:
        """The order of a marker."""
        if self._last is None or self._last[0] is not marker:
            self._last = marker, Order(marker, None if self._last is None else self._last[1])
        return self._last[1]


def _sorted_rows(marker: FloatArray) -> IntArray:
    """What sorts a marker: by bins first, after which little is left to sort."""
    low, high = marker.min(), marker.max()
    with np.errstate(all="ignore"):
        scale = (_BINS - 1) / (high - low)
    if not 0.0 < scale < np.inf:
        return np.argsort(marker)
    roughly = np.argsort(((marker - low) * scale).astype(np.uint16), kind="stable")
    return roughly[np.argsort(marker[roughly], kind="stable")]
