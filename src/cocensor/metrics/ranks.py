"""Sums over pairs of subjects by sorting."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from cocensor._cached import cached_property
from cocensor._checks import FloatArray, IntArray, Rows
from cocensor.data.predictions import Predicted

#: Gives two weights of some subjects, (subjects, columns) each.
Taken = Callable[[Rows], tuple[FloatArray, FloatArray]]
#: Some subjects, a share, two weights of each of them, and of all below each, summed up: (subjects, columns). Where
#: markers tie, subjects come twice, with a share of one half: each of two that tie is below the other once.
Lower = tuple[Rows, float, FloatArray, FloatArray, FloatArray, FloatArray]
# So many weights are taken at once: what is made of them stays in the cache.
_TAKEN_ELEMENTS = 2**15
# So many bins are sorted by counting, and up to so much is kept of the orders of one model.
_BINS, _KEPT_BYTES = 2**16, 2**25


class Order:
    """Subjects in the order of a marker; ``like`` is an order that may be the same.

    >>> order = Order(np.array([0.2, 0.9, 0.2]))
    >>> order.by_subject(order.others_below(np.array([1.0, 10.0, 100.0])[order.rows]))
    array([ 50. , 101. ,   0.5])
    """

    #: The subjects, from the lowest marker to the highest.
    rows: IntArray
    #: By place in the order, after the last of each lot with an equal marker; None where no two are equal.
    ends: IntArray | None

    def __init__(self, marker: FloatArray, like: Order | None = None) -> None:
        marker = np.ascontiguousarray(marker)
        rows = _sorted_rows(marker) if like is None else like.rows
        taken = marker[rows]
        if like is not None and (taken[1:] < taken[:-1]).any():
            rows = _sorted_rows(marker)
            taken = marker[rows]
        rises = taken[1:] != taken[:-1]
        self.rows, self.ends = rows, None if rises.all() else np.append(np.flatnonzero(rises) + 1, rows.size)

    @property
    def constant(self) -> bool:
        """Whether all subjects are level."""
        return self.ends is not None and self.ends.size == 1

    @cached_property
    def ties(self) -> tuple[IntArray, IntArray] | None:
        """Where subjects with an equal marker begin, and end, by place in the order; None without ties."""
        if self.ends is None:
            return None
        sizes = np.diff(self.ends, prepend=0)
        return np.repeat(self.ends - sizes, sizes), np.repeat(self.ends, sizes)

    def same_as(self, other: Order) -> bool:
        """Whether another order is the same."""
        if self.ends is None or other.ends is None:
            return self.rows is other.rows and self.ends is other.ends
        return self.rows is other.rows and np.array_equal(self.ends, other.ends)

    def others_below(self, taken: FloatArray) -> FloatArray:
        """Sums of weights in the order: of those below each, and half of the others level with it."""
        if self.ends is None:
            sums = np.empty_like(taken)
            sums[0] = 0.0
            np.cumsum(taken[:-1], axis=0, out=sums[1:])
            return sums
        upper = np.cumsum(taken, axis=0)[self.ends - 1]
        lower = np.concatenate((np.zeros_like(upper[:1]), upper[:-1]))
        halfway = np.repeat(0.5 * (lower + upper), np.diff(self.ends, prepend=0), axis=0)
        halfway -= 0.5 * taken
        return halfway

    def by_subject(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Values in the order, by subject."""
        result = np.empty_like(values)
        result[self.rows] = values
        return result

    def pair_sums(self, taken: Taken, n_columns: int) -> tuple[float, float]:
        r"""Return :math:`\sum_{i \ne j} x_i y_j (1[M_i > M_j] + \tfrac12 1[M_i = M_j])` and
        :math:`\sum_{i \ne j} x_i y_j` over all columns; some subjects' weights x and y are taken at a time.
        """
        ordered, turned = _ahead_and_behind(self.rows, taken, n_columns)
        pairs = ordered + turned
        if self.ties is not None:
            ordered = 0.5 * (ordered + _ahead_and_behind(self._ties_turned, taken, n_columns)[0])
        return ordered, pairs

    def lower(self, taken: Taken, n_columns: int) -> Iterator[Lower]:
        """All subjects, some at a time, with the weights of those below; what is given is to be read at once."""
        if self.ties is None:
            yield from _lower(self.rows, 1.0, taken, n_columns)
        else:
            for rows in (self.rows, self._ties_turned):
                yield from _lower(rows, 0.5, taken, n_columns)

    @cached_property
    def _ties_turned(self) -> IntArray:
        """The order, but those that tie are the other way round: of two of them each is ahead once."""
        first, end = self.ties or (0, 0)
        return self.rows[first + end - 1 - np.arange(self.rows.size)]


class Orders:
    """The orders of one model's markers, such as those at different times, kept as far as they take little memory."""

    def __init__(self) -> None:
        self._last: Order | None = None
        self._kept: dict[Hashable, Order] = {}
        self._n_bytes = 0

    def of(self, key: Hashable, marker: Callable[[], FloatArray]) -> Order:
        """The order of the marker that is known by a ``key``."""
        if key in self._kept:
            return self._kept[key]
        last, order = self._last, Order(marker(), self._last)
        if last is not None and order.same_as(last):
            self._kept[key] = order = last
        elif self._n_bytes <= _KEPT_BYTES:
            self._kept[key] = order
            self._n_bytes += order.rows.nbytes + (0 if order.ends is None else order.ends.nbytes)
        self._last = order
        return order


_ORDERS: WeakKeyDictionary[Predicted, Orders] = WeakKeyDictionary()


def orders_of(predictions: Predicted) -> Orders:
    """The orders of what one model predicts, which are the same under all adjustments."""
    return _ORDERS.setdefault(predictions, Orders())


class OrdersByColumn:
    """Subjects in the order of a marker that differs by column, (subjects, columns)."""

    def __init__(self, marker: FloatArray) -> None:
        self._orders = list[Order]()
        for column in np.ascontiguousarray(marker.T):
            self._orders.append(Order(column, self._orders[-1] if self._orders else None))

    def pair_sums(self, taken: Taken, n_columns: int) -> tuple[float, float]:
        """Sums over all pairs, as :meth:`Order.pair_sums`."""
        # Nothing is subtracted but what was added last: where there are no pairs, the sums are 0.
        [(_, _, x, y, x_below, y_below)] = self.lower(taken, n_columns)
        ordered = float(np.vdot(x, y_below))
        return ordered, ordered + float(np.vdot(y, x_below))

    def lower(self, taken: Taken, n_columns: int) -> Iterator[Lower]:
        """All subjects at once, with the weights of those below."""
        rows = np.arange(self._orders[0].rows.size)
        x, y = taken(rows)
        yield rows, 1.0, x, y, self._others_below(x), self._others_below(y)

    def _others_below(self, weights: FloatArray) -> FloatArray:
        result = np.empty_like(weights)
        for k, order in enumerate(self._orders):
            result[order.rows, k] = order.others_below(weights[order.rows, k])
        return result


def _sorted_rows(marker: FloatArray) -> IntArray:
    """Return the rows that sort a marker: by bins first, after which little is left to sort."""
    low, high = marker.min(), marker.max()
    with np.errstate(all="ignore"):
        scale = (_BINS - 1) / (high - low)
    if not 0.0 < scale < np.inf:
        return np.argsort(marker)
    roughly = np.argsort(((marker - low) * scale).astype(np.uint16), kind="stable")
    return roughly[np.argsort(marker[roughly], kind="stable")]


def _stretches(rows: Rows, n_columns: int) -> tuple[Rows, Rows]:
    """Stretches of the rows side by side, (stretches, length), and the rest: so no sum waits for the one before it."""
    length = max(1, -(-rows.size * n_columns // _TAKEN_ELEMENTS))
    n_stretches = rows.size // length
    return rows[: n_stretches * length].reshape(n_stretches, length), rows[n_stretches * length :]


def _ahead_and_behind(rows: Rows, taken: Taken, n_columns: int) -> tuple[float, float]:
    """The sums of x_i y_j over all i that come after j in ``rows``, and over all that come before."""
    side_by_side, rest = _stretches(rows, n_columns)
    sums_x, sums_y = np.zeros((2, len(side_by_side) + 1, n_columns))
    ahead = behind = 0.0
    for some in side_by_side.T:
        x, y = taken(some)
        ahead += float(np.vdot(x, sums_y[:-1]))
        behind += float(np.vdot(y, sums_x[:-1]))
        sums_x[:-1] += x
        sums_y[:-1] += y
    x, y = taken(rest)
    sums_x[-1], sums_y[-1] = x.sum(axis=0), y.sum(axis=0)
    for later, earlier in (x, y), (sums_x, sums_y):
        ahead += float(np.vdot(later[1:], np.cumsum(earlier, axis=0)[:-1]))
        behind += float(np.vdot(earlier[1:], np.cumsum(later, axis=0)[:-1]))
    return ahead, behind


def _lower(rows: Rows, share: float, taken: Taken, n_columns: int) -> Iterator[Lower]:
    """All subjects, with the weights of those before them in ``rows``."""
    side_by_side, rest = _stretches(rows, n_columns)
    sums_x, sums_y = np.zeros((2, len(side_by_side) + 1, n_columns))
    for some in side_by_side.T:
        x, y = taken(some)
        sums_x[1:] += x
        sums_y[1:] += y
    # What comes before each stretch, and before the rest.
    for sums in (sums_x, sums_y):
        np.cumsum(sums, axis=0, out=sums)
    for some in side_by_side.T:
        x, y = taken(some)
        yield some, share, x, y, sums_x[:-1], sums_y[:-1]
        sums_x[:-1] += x
        sums_y[:-1] += y
    if rest.size:
        x, y = taken(rest)
        x_below, y_below = (
            np.cumsum(np.concatenate((sums[-1:], weights[:-1])), axis=0)
            for sums, weights in ((sums_x, x), (sums_y, y))
        )
        yield rest, share, x, y, x_below, y_below
