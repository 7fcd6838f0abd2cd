"""Sums over pairs of subjects by sorting."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from cocensor._validation import FloatArray, IntArray, Rows

#: Gives two weights of some subjects, (subjects, columns) each.
Taken = Callable[[Any], tuple[FloatArray, FloatArray]]
# So many weights are taken at once: what is made of them stays in the cache.
_TAKEN_ELEMENTS = 2**15
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

    def pair_sums(self, taken: Taken, n_columns: int) -> tuple[float, float]:
        r"""Over all pairs of two subjects, and all columns, the sums of two weights:

        :math:`\sum_{i \ne j} x_i y_j (1[M_i > M_j] + \tfrac12 1[M_i = M_j])` and :math:`\sum_{i \ne j} x_i y_j`. The
        weights are taken some subjects at a time, so that there is no array of them all in order.
        """
        ordered, turned = _ahead_and_behind(self.rows, taken, n_columns)
        pairs = ordered + turned
        if self.ties is not None:
            # Of two that tie each is ahead once, in the one order or in the other.
            first, end = self.ties
            rows = self.rows[first + end - 1 - np.arange(self.rows.size)]
            ordered = 0.5 * (ordered + _ahead_and_behind(rows, taken, n_columns)[0])
        return ordered, pairs

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


class OrdersByColumn:
    """Subjects in the order of a marker that differs by column, (subjects, columns)."""

    def __init__(self, marker: FloatArray) -> None:
        orders = Orders()
        self._orders = [orders.of(column) for column in np.ascontiguousarray(marker.T)]

    def below(self, weights: FloatArray) -> FloatArray:
        """For each subject the weights of those below it, as :meth:`Order.below`."""
        result = np.empty_like(weights)
        for k, order in enumerate(self._orders):
            result[:, k] = order.below(np.ascontiguousarray(weights[:, k]))
        return result

    def pair_sums(self, taken: Taken, n_columns: int) -> tuple[float, float]:
        """Sums over all pairs, as :meth:`Order.pair_sums`."""
        # Nothing is subtracted but what was added last: where there are no pairs, the sums are 0.
        x, y = taken(slice(None))
        ordered = float(np.vdot(x, self.below(y) - 0.5 * y))
        return ordered, ordered + float(np.vdot(y, self.below(x) - 0.5 * x))


def _sorted_rows(marker: FloatArray) -> IntArray:
    """What sorts a marker: by bins first, after which little is left to sort."""
    low, high = marker.min(), marker.max()
    with np.errstate(all="ignore"):
        scale = (_BINS - 1) / (high - low)
    if not 0.0 < scale < np.inf:
        return np.argsort(marker)
    roughly = np.argsort(((marker - low) * scale).astype(np.uint16), kind="stable")
    return roughly[np.argsort(marker[roughly], kind="stable")]


def _ahead_and_behind(rows: Rows, taken: Taken, n_columns: int) -> tuple[float, float]:
    """The sums of x_i y_j over all i that come after j in ``rows``, and over all that come before.

    Stretches of the rows go side by side: the first of each, then the second, and so on. So each step takes
    subjects from all over, adds to as many running sums, and no sum waits for the one before it.
    """
    length = max(1, -(-rows.size * n_columns // _TAKEN_ELEMENTS))
    n_stretches = rows.size // length
    side_by_side = rows[: n_stretches * length].reshape(n_stretches, length)
    sums_x, sums_y = np.zeros((2, n_stretches + 1, n_columns))
    ahead = behind = 0.0
    for step in range(length):
        x, y = taken(side_by_side[:, step])
        ahead += float(np.vdot(x, sums_y[:-1]))
        behind += float(np.vdot(y, sums_x[:-1]))
        sums_x[:-1] += x
        sums_y[:-1] += y
    x, y = taken(rows[n_stretches * length :])  # fewer than a stretch is long
    sums_x[-1], sums_y[-1] = x.sum(axis=0), y.sum(axis=0)
    for later, earlier in (x, y), (sums_x, sums_y):
        ahead += float(np.vdot(later[1:], np.cumsum(earlier, axis=0)[:-1]))
        behind += float(np.vdot(earlier[1:], np.cumsum(later, axis=0)[:-1]))
    return ahead, behind
