"""Sums over pairs of subjects by sorting."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from cocensor._validation import FloatArray


class Order:
    """Subjects in the order of a marker.

    Examples
    --------
    >>> order = Order(np.array([0.2, 0.9, 0.2]))
    >>> order.below(np.array([1.0, 10.0, 100.0]))
    array([ 50.5, 106. ,  50.5])
    """

    def __init__(self, marker: FloatArray) -> None:
        self.rows = np.argsort(marker, kind="stable")
        self._sorted = marker[self.rows]

    @cached_property
    def ties(self) -> tuple[FloatArray, FloatArray] | None:
        """By place in the order, where those with an equal marker begin, and after the last of them; None without."""
        new = np.flatnonzero(self._sorted[1:] != self._sorted[:-1]) + 1
        if new.size == self.rows.size - 1:
            return None
        ends = np.append(new, self.rows.size)
        sizes = np.diff(ends, prepend=0)
        return np.repeat(ends - sizes, sizes), np.repeat(ends, sizes)

    def below(self, weights: FloatArray) -> FloatArray:
        r"""For each subject i the weights of those below it, and half of those level with it, its own among them:

        :math:`\sum_j w_j (1[M_j < M_i] + \tfrac12 1[M_j = M_i])`, for each column of (subjects, columns).
        """
        taken = weights[self.rows]
        sums = np.zeros((len(taken) + 1, *taken.shape[1:]))
        np.cumsum(taken, axis=0, out=sums[1:])
        if self.ties is None:
            halfway = sums[:-1]
            halfway += 0.5 * taken
        else:
            first, end = self.ties
            halfway = 0.5 * (sums[first] + sums[end])
        result = np.empty_like(taken)
        result[self.rows] = halfway
        return result
