"""What keeps the cumulative hazards of all subjects rising."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cocensor._checks import FloatArray, IntArray, row_blocks
from cocensor._newton import Derivatives
from cocensor.joint.predictors import Table

# Once a step of Newton's method is this share of c, what is left is about the square of it.
_PRECISION = 1e-8
_MAX_STEPS = 200


@dataclass(frozen=True, eq=False)
class Barrier:
    r"""A weight times the logs of the slopes that must stay positive.

    The slope of :math:`\log H(t \mid x)` by log t is :math:`s'(\log t) + w'\gamma`, with w the columns whose effect
    changes with log time. It is positive for all subjects at all times if some c lies below all bounds :math:`b_k` on
    :math:`s'` and if :math:`w_i'\gamma + c` is positive for all of the n subjects. The barrier is

    .. math:: \max_c \; \sum_k \log(b_k - c) + \frac{1}{n} \sum_i \log(w_i'\gamma + c),

    and :math:`\sum_k \log b_k` where no effect changes. It is concave, and as smooth as Newton's method likes: a
    maximum over c of logs of linear functions.
    """

    margin: int
    at: IntArray
    bounds: FloatArray
    drifts: Table | None
    weight: float

    def value(self, parameters: FloatArray) -> float:
        """The barrier; −∞ where a cumulative hazard may fall."""
        found = self._rooms(parameters)
        return -np.inf if found is None else self._worth(*found)

    def derivatives(self, parameters: FloatArray) -> Derivatives:
        """The barrier with its gradient and Hessian; where it is −∞ these are NaN."""
        found = self._rooms(parameters)
        if found is None:
            unknown = np.full(parameters.size, np.nan)
            return Derivatives(-np.inf, unknown, np.outer(unknown, unknown))
        above, below = found
        scaled = self.bounds / above[:, None]
        gradient = scaled.sum(axis=0)
        if self.drifts is None:
            hessian = -(scaled.T @ scaled)
            return Derivatives(self._worth(above, below), self.weight * gradient, self.weight * hessian)
        (n, n_drifts), size = self.drifts.shape, gradient.size
        total, squares = np.zeros(n_drifts), np.zeros(n_drifts)
        for rows in row_blocks(n, n_drifts):
            pulled = self.drifts[rows] / below[rows, None]
            total += pulled.sum(axis=0)
            squares += (1.0 / below[rows]) @ pulled
        # c moves along with the parameters. What it moves is taken from every slope before these are squared: taken
        # from the sum of squares it would leave rounding alone, where one subject is next to the barrier.
        motion = np.concatenate(((1.0 / above) @ scaled, -squares / n))
        motion /= np.sum(above**-2.0) + np.mean(below**-2.0)
        of_bounds = (np.pad(self.bounds, ((0, 0), (0, n_drifts))) - motion) / above[:, None]
        hessian = -(of_bounds.T @ of_bounds)
        for rows in row_blocks(n, motion.size):
            of_drifts = (np.pad(self.drifts[rows], ((0, 0), (size, 0))) + motion) / below[rows, None]
            hessian -= of_drifts.T @ of_drifts / n
        gradient = np.concatenate((gradient, total / n))
        return Derivatives(self._worth(above, below), self.weight * gradient, self.weight * hessian)

    def _worth(self, above: FloatArray, below: FloatArray) -> float:
        return self.weight * float(np.log(above).sum() + (np.log(below).mean() if below.size else 0.0))

    def _rooms(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        """How far the bounds are above the best c, and the drifts above −c; None where there is none between."""
        size = self.bounds.shape[1]
        slopes = self.bounds @ parameters[:size]
        if self.drifts is None:
            return (slopes, np.empty(0)) if (slopes > 0).all() else None
        drifts = np.concatenate(
            [self.drifts[rows] @ parameters[size:] for rows in row_blocks(*self.drifts.shape)]
        )
        room = float(slopes.min() + drifts.min())
        if not room > 0:
            return None
        # Counted from the lowest, slopes and drifts keep their digits where there is next to no room.
        slopes, drifts = slopes - slopes.min(), drifts - drifts.min()
        c = _between(slopes, drifts, room)
        return slopes + (room - c), drifts + c


def _between(slopes: FloatArray, drifts: FloatArray, room: float) -> float:
    """The best c, counted from the lowest that is allowed, by Newton's method, halving where that leaves the bracket.

    Each bound weighs as much as all subjects together, so that c is in the lower half of the room.
    """
    low, high = 0.0, 0.5 * room
    c = 0.5 * high
    for _ in range(_MAX_STEPS):
        above, below = 1.0 / (slopes + (room - c)), 1.0 / (drifts + c)
        rise = float(below.sum()) / below.size - float(above.sum())
        low, high = (c, high) if rise > 0 else (low, c)
        before, c = c, c + rise / (float(above @ above) + float(below @ below) / below.size)
        if not low <= c <= high:
            c = 0.5 * (low + high)
        if abs(c - before) <= _PRECISION * before:
            break
    return c
