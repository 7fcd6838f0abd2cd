r"""Sums of weights by cells of a marker, for what holds subjects against each other.

A *key* is a whole number that grows with a marker, and is made of it alone. A cell is a run of :math:`2^l` keys. The
level l is the lowest at which all keys met so far lie in a given number of cells: more subjects can only raise it, and
where it is raised cells are added up. So the cells, and the sums in them, are those of all subjects together, however
they are cut into batches, and in whatever order they come.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cocensor._checks import BoolArray, FloatArray, IntArray, Rows

Keys = npt.NDArray[np.signedinteger[Any]]
# From a survival of 1 to one half, and from there to 0, are so many keys: of all, each level has a power of 2 of cells.
_SURVIVAL_KEYS = 2.0**30 - 1
_ROOT_OF_HALF = np.sqrt(0.5)
# From a risk score of 0 to 1.
_RISK_KEYS = 2.0**50
# A weight that is below 0 by no more than this is so by rounding.
_ROUNDING = 1e-12
# Where a smaller share of weights is not 0, these are looked for first.
_SPARSE = 0.25
_NOBODY, _ALIKE, _MIXED = range(3)


def survival_keys(survival: FloatArray) -> Keys:
    r"""Keys that grow as predicted survival falls, by the root of how far it is from 0 or 1, whichever is nearer.

    Where risks p are small, cells have a width of :math:`\sqrt p`. The standard error of an AUC is as one over the root
    of the number of events: so cells cost the same share of it whether events are rare or not.
    """
    # Every step is rounded to the nearest, and so never turns an order round, and is the same on all machines.
    above = survival - 0.5
    root = 0.5 - np.abs(above)
    np.sqrt(root, out=root)
    np.subtract(_ROOT_OF_HALF, root, out=root)
    np.copysign(root, above, out=root)
    root *= -_SURVIVAL_KEYS / _ROOT_OF_HALF
    return root.astype(np.int32)


def survival_at(keys: FloatArray | IntArray) -> FloatArray:
    """The survival probabilities of keys."""
    root = _ROOT_OF_HALF * np.maximum(1.0 - np.abs(keys) / _SURVIVAL_KEYS, 0.0)
    return np.where(keys < 0, 1.0 - root**2, root**2)


def risk_keys(risk: FloatArray) -> Keys:
    """Keys that grow with a number of any size: with its fourth root up to 1, and with its logarithm beyond."""
    size = np.abs(risk)
    small = np.sqrt(np.sqrt(np.minimum(size, 1.0))) * _RISK_KEYS
    # The bits of a positive number, read as a whole number, grow with it: from each power of 2 to the next by as much.
    beyond = np.maximum(size.view(np.int64) - np.float64(1.0).view(np.int64), 0)
    keys = small.astype(np.int64) + (beyond >> 4)
    return np.where(risk < 0, -keys, keys)


class Column(NamedTuple):
    """The cells of one column between the extremes, from the lowest marker to the highest.

    ``sums`` has the weights, (weights, cells), and ``sizes`` their absolute values, where these make a difference. All
    in a cell that is not ``mixed`` have the same marker. ``low`` and ``high`` are keys: where a cell begins, and where
    the next one does.
    """

    sums: FloatArray
    sizes: FloatArray
    mixed: BoolArray
    low: IntArray
    high: IntArray

    def only(self, some: BoolArray) -> Column:
        """Some of the cells."""
        return Column(
            self.sums[:, some], self.sizes[:, some], self.mixed[some], self.low[some], self.high[some]
        )


class Cells:
    """Sums of some weights by cells of a marker, in several columns: each with a marker of its own, or all with one.

    Examples
    --------
    >>> cells = Cells(n_markers=1, n_columns=1, n_cells=4, n_weights=1)
    >>> marker = np.array([[1.0, 2.0, 9.0]])
    >>> cells.reach(np.array([1]), np.array([9]))
    >>> cells.add(marker.astype(np.int64), lambda rows: marker[:, rows], [np.array([[10.0, 20.0, 90.0]])])
    >>> cells.column(0).sums, cells.column(0).mixed
    (array([[30.,  0., 90.]]), array([ True, False, False]))
    """

    def __init__(self, n_markers: int, n_columns: int, n_cells: int, n_weights: int) -> None:
        self._n_cells = n_cells
        # A cell is kept at its number modulo that of cells: no two between the extremes share a place.
        self._sums = np.zeros((n_weights, n_columns, n_cells))
        self._negative: FloatArray | None = None
        # Whether there is nobody in a cell, or subjects with one and the same, or different markers; and one of these.
        self._state = np.zeros((n_markers, n_cells), dtype=np.uint8)
        self._marker = np.zeros((n_markers, n_cells))
        self._level = np.zeros(n_markers, dtype=np.int64)
        self._low, self._high = np.zeros((2, n_markers), dtype=np.int64)
        self._empty = True

    def reach(self, low: IntArray, high: IntArray) -> None:
        """Make room for keys from ``low`` to ``high``: raise levels until all lie in as many cells as there are."""
        if not self._empty:
            low, high = np.minimum(low, self._low), np.maximum(high, self._high)
        level = self._level.copy()
        while (too_wide := (high >> level) - (low >> level) >= self._n_cells).any():
            level[too_wide] += 1
        for m in np.flatnonzero(level > self._level) if not self._empty else ():
            self._raise(int(m), level[m])
        self._level, self._low, self._high, self._empty = level, low, high, False

    def add(self, keys: Keys, marker: Callable[[Rows], FloatArray], weights: Sequence[FloatArray]) -> None:
        """Subjects for whose keys, (markers, subjects), there is room, with their weights, (columns, subjects) each.

        ``marker`` gives the markers themselves of some of the subjects.
        """
        # One column after the other: so its cells stay in the cache.
        open_cells, open_rows = list[npt.NDArray[np.intp]](), list[Rows]()
        for m, of_marker in enumerate(keys):
            numbers = of_marker >> self._level[m].astype(keys.dtype)
            numbers &= self._n_cells - 1
            cells = numbers.astype(np.intp)
            rows = np.flatnonzero(self._state[m].take(cells) != _MIXED)
            open_cells.append(cells[rows] + m * self._n_cells)
            open_rows.append(rows)
            for k in range(self._sums.shape[1]) if len(keys) == 1 else (m,):
                for j, each in enumerate(weights):
                    self._add(j, k, cells, each[k])
        rows = np.concatenate(open_rows)
        if rows.size:
            asked = np.zeros(keys.shape[1], dtype=bool)
            asked[rows] = True
            markers = np.repeat(np.arange(len(keys)), [each.size for each in open_rows])
            met = marker(np.flatnonzero(asked))[markers, (np.cumsum(asked) - 1)[rows]]
            self._meet(np.concatenate(open_cells), met)

    def merge(self, other: Cells) -> None:
        """Those of other subjects."""
        if not other._empty:
            self.reach(other._low, other._high)
            for m in range(self._level.size):
                self._pour(m, other, m)

    def column(self, k: int) -> Column:
        """What is in the cells of one column."""
        m = k if self._level.size > 1 else 0
        numbers = self._numbers(m)
        places = numbers & (self._n_cells - 1)
        sums = self._sums[:, k, places]
        sizes = sums if self._negative is None else sums - 2.0 * self._negative[:, k, places]
        low, high = (each << self._level[m] for each in (numbers, numbers + 1))
        return Column(sums, sizes, self._state[m, places] == _MIXED, low, high)

    @property
    def _below_zero(self) -> FloatArray:
        """The sums of what is below 0 alone, which most weights never are."""
        if self._negative is None:
            self._negative = np.zeros_like(self._sums)
        return self._negative

    def _add(self, j: int, k: int, cells: npt.NDArray[np.intp], weights: FloatArray) -> None:
        if np.count_nonzero(weights) < _SPARSE * weights.size:
            counted = np.flatnonzero(weights)
            cells, weights = cells[counted], weights[counted]
        np.add.at(self._sums[j, k], cells, weights)
        if weights.min(initial=0.0) < -_ROUNDING:
            np.add.at(self._below_zero[j, k], cells, np.minimum(weights, 0.0))

    def _columns(self, m: int) -> slice:
        """Those that have a marker."""
        return slice(None) if self._level.size == 1 else slice(m, m + 1)

    def _numbers(self, m: int) -> IntArray:
        """The cells of a marker between its extremes."""
        if self._empty:
            return np.empty(0, dtype=np.int64)
        low, high = (key >> self._level[m] for key in (self._low[m], self._high[m]))
        return np.arange(low, high + 1)

    def _meet(self, cells: npt.NDArray[np.intp], met: FloatArray) -> None:
        """See which cells, numbered over all markers, have different ones."""
        marker, state = self._marker.ravel(), self._state.ravel()
        first = state[cells] == _NOBODY
        marker[cells[first]], state[cells[first]] = met[first], _ALIKE
        state[cells[marker[cells] != met]] = _MIXED

    def _raise(self, m: int, level: int) -> None:
        """Add up the cells of a marker until they are those of a higher level."""
        columns = self._columns(m)
        before = Cells(1, self._sums[:, columns].shape[1], self._n_cells, len(self._sums))
        before._sums[:], self._sums[:, columns] = self._sums[:, columns], 0.0
        before._marker[0] = self._marker[m]
        before._state[0], self._state[m] = self._state[m], _NOBODY
        if self._negative is not None:
            before._below_zero[:], self._negative[:, columns] = self._negative[:, columns], 0.0
        before._level[0], before._low[0], before._high[0] = self._level[m], self._low[m], self._high[m]
        before._empty, self._level[m] = False, level
        self._pour(m, before, 0)

    def _pour(self, m: int, other: Cells, of: int) -> None:
        """Add what is in the cells of a marker of another, whose level is no higher."""
        numbers, mask = other._numbers(of), self._n_cells - 1
        theirs, ours = numbers & mask, (numbers >> (self._level[m] - other._level[of])) & mask
        starts = np.flatnonzero(np.diff(ours, prepend=-1))

        def pour(into: FloatArray, out_of: FloatArray) -> None:
            for mine, added in zip(into[:, self._columns(m)], out_of[:, other._columns(of)], strict=True):
                mine[:, ours[starts]] += np.add.reduceat(added[:, theirs], starts, axis=1)

        pour(self._sums, other._sums)
        if other._negative is not None:
            pour(self._below_zero, other._negative)
        marker, state = other._marker[of, theirs], other._state[of, theirs]
        met = state != _NOBODY
        self._meet(ours[met] + m * self._n_cells, marker[met])
        self._state[m, ours[state == _MIXED]] = _MIXED
