r"""Sums of weights by cells of a marker, for what holds subjects against each other.

A *key* is a whole number that grows with a marker, made of it alone. A cell is a run of :math:`2^l` keys, and the level l
of a column is the least at which all keys met so far lie in a given number of cells. More subjects can only raise it, and
raising it adds cells up in pairs: so cells and sums are those of all subjects, however these are cut into batches,
and in whatever order they come.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cocensor._validation import BoolArray, FloatArray, IntArray

Keys = npt.NDArray[np.signedinteger[Any]]
# Keys of survival probabilities have so many to 1 on the scale of their root, those of risk scores so many to a risk of 1.
_SURVIVAL_BITS = 30
_RISK_BITS = 50
# A weight that is below 0 by no more is so by rounding.
_ROUNDING = 1e-12


def survival_keys(survival: FloatArray) -> Keys:
    r"""Keys that grow as predicted survival falls, by the root of what it is from 0 or 1, whichever is nearer.

    Around small risks p the root leaves cells of a width that grows as :math:`\sqrt p`: as the standard error of an AUC
    falls with the number of events, its share that cells cost is about the same for rare events as for frequent ones.
    """
    root = np.minimum(survival, 1.0 - survival)
    np.sqrt(root, out=root)
    root *= 2.0**_SURVIVAL_BITS
    keys = root.astype(np.int32)
    below = survival < 0.5
    np.negative(keys, out=keys, where=below)
    keys += np.multiply(below, _SURVIVAL_TOP, dtype=np.int32)
    return keys


# Twice the key of one half, where both sides meet.
_SURVIVAL_TOP = 2 * int(np.sqrt(0.5) * 2.0**_SURVIVAL_BITS)


def risk_keys(risk: FloatArray) -> Keys:
    """Keys that grow with a risk score of any size: by its fourth root up to 1, and by its logarithm beyond."""
    size = np.abs(risk)
    with np.errstate(over="ignore"):
        small = np.sqrt(np.sqrt(np.minimum(size, 1.0))) * 2.0**_RISK_BITS
    # The bits of a positive number grow with it, by as much from each power of 2 to the next.
    beyond = np.maximum(np.ascontiguousarray(size).view(np.int64) - np.float64(1.0).view(np.int64), 0)
    keys = small.astype(np.int64) + (beyond >> 4)
    return np.where(risk < 0, -keys, keys)


class Column(NamedTuple):
    """The cells of one column that lie between the extremes, from the lowest marker to the highest.

    ``sums`` has the weights, (weights, cells), and ``sizes`` their absolute values, where a bound asks for these. Those
    in a cell that is not ``mixed`` have one and the same marker.
    """

    sums: FloatArray
    sizes: FloatArray
    mixed: BoolArray


class Cells:
    """Sums of some weights by cells of a marker, in several columns with cells of their own.

    Examples
    --------
    >>> cells = Cells(n_columns=1, n_cells=4, n_weights=1)
    >>> marker = np.array([1.0, 2.0, 9.0])
    >>> cells.add(0, marker.astype(np.int64), marker, [np.array([10.0, 20.0, 90.0])])
    >>> cells.column(0).sums, cells.column(0).mixed
    (array([[30.,  0., 90.]]), array([ True, False, False]))
    """

    def __init__(self, n_columns: int, n_cells: int, n_weights: int) -> None:
        if n_cells & (n_cells - 1):
            raise ValueError(f"n_cells must be a power of 2, but is {n_cells}.")
        self._n_cells = n_cells
        # A cell is kept at its number modulo that of cells: between the extremes no two share a place.
        self._sums = np.zeros((n_columns, n_weights, n_cells))
        self._below_zero: FloatArray | None = None
        # The marker of those in a cell, of one of them where it is mixed; NaN while the cell is empty.
        self._marker = np.full((n_columns, n_cells), np.nan)
        self._mixed = np.zeros((n_columns, n_cells), dtype=bool)
        self._level = np.zeros(n_columns, dtype=np.int64)
        self._extremes: list[tuple[int, int] | None] = [None] * n_columns

    def add(self, k: int, keys: Keys, marker: FloatArray, weights: Sequence[FloatArray]) -> None:
        """Subjects of column k, of whom there must be one at least."""
        self._reach(k, int(keys.min()), int(keys.max()))
        places = self._places(k, keys)
        for j, each in enumerate(weights):
            np.add.at(self._sums[k, j], places, each)
            if each.min() < -_ROUNDING:
                np.add.at(self._negative[k, j], places, np.minimum(each, 0.0))
        self._met(k, places, marker)

    def merge(self, other: Cells) -> None:
        """Those of other subjects."""
        for k, extremes in enumerate(other._extremes):
            if extremes is not None:
                self._reach(k, *extremes)
                self._pour(k, other)

    def column(self, k: int) -> Column:
        """What is in the cells of one column."""
        numbers = self._numbers(k)
        places = numbers & (self._n_cells - 1)
        sums, mixed = self._sums[k][:, places], self._mixed[k, places]
        sizes = sums if self._below_zero is None else sums - 2.0 * self._below_zero[k][:, places]
        return Column(sums, sizes, mixed)

    @property
    def _negative(self) -> FloatArray:
        """The sums of what is below 0 alone, which most weights never are."""
        if self._below_zero is None:
            self._below_zero = np.zeros_like(self._sums)
        return self._below_zero

    def _places(self, k: int, keys: Keys) -> npt.NDArray[np.intp]:
        return np.asarray((keys >> self._level[k].astype(keys.dtype)) & (self._n_cells - 1), dtype=np.intp)

    def _numbers(self, k: int) -> IntArray:
        """The cells of a column between its extremes."""
        extremes = self._extremes[k]
        if extremes is None:
            return np.empty(0, dtype=np.int64)
        low, high = (key >> int(self._level[k]) for key in extremes)
        return np.arange(low, high + 1)

    def _met(self, k: int, places: npt.NDArray[np.intp], marker: FloatArray) -> None:
        """See which cells have different markers."""
        known, mixed = self._marker[k], self._mixed[k]
        open_ = np.flatnonzero(~mixed.take(places))
        if open_.size:
            places, marker = places[open_], marker[open_]
            empty = np.isnan(known[places])
            known[places[empty]] = marker[empty]
            mixed[places[known[places] != marker]] = True

    def _reach(self, k: int, low: int, high: int) -> None:
        """Make room for keys: raise the level until all lie in as many cells as there are."""
        extremes = self._extremes[k]
        if extremes is not None:
            low, high = min(low, extremes[0]), max(high, extremes[1])
        level = int(self._level[k])
        while (high >> level) - (low >> level) >= self._n_cells:
            level += 1
        if extremes is not None and level > self._level[k]:
            before = self._only(k)
            for each in (self._sums, self._mixed, self._below_zero):
                if each is not None:
                    each[k] = 0
            self._marker[k] = np.nan
            self._level[k] = level
            self._pour(k, before, 0)
        self._level[k], self._extremes[k] = level, (low, high)

    def _only(self, k: int) -> Cells:
        """A copy of one column."""
        made = Cells(1, self._n_cells, self._sums.shape[1])
        made._sums[0], made._marker[0], made._mixed[0] = self._sums[k], self._marker[k], self._mixed[k]
        if self._below_zero is not None:
            made._negative[0] = self._below_zero[k]
        made._level[0], made._extremes[0] = self._level[k], self._extremes[k]
        return made

    def _pour(self, k: int, other: Cells, of: int | None = None) -> None:
        """Add the cells of a column of another, whose level is not higher, to column k."""
        of = k if of is None else of
        numbers, mask = other._numbers(of), self._n_cells - 1
        theirs = numbers & mask
        places = (numbers >> int(self._level[k] - other._level[of])) & mask
        for j in range(self._sums.shape[1]):
            np.add.at(self._sums[k, j], places, other._sums[of, j, theirs])
            if other._below_zero is not None:
                np.add.at(self._negative[k, j], places, other._below_zero[of, j, theirs])
        met = ~np.isnan(other._marker[of, theirs])
        self._met(k, places[met], other._marker[of, theirs[met]])
        self._mixed[k, places[other._mixed[of, theirs]]] = True
