"""What keeps the cumulative hazards of all subjects rising."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cocensor._newton import Derivatives
from cocensor._validation import FloatArray, IntArray, row_blocks
from cocensor.joint.predictors import Table

# A root is good to this share of its bracket; what a barrier is worth does not hang on more.
_PRECISION = 1e-14
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
        gradient, hessian = scaled.sum(axis=0), -(scaled.T @ scaled)
        if self.drifts is not None:
            (n, n_drifts), size = self.drifts.shape, gradient.size
            total, product, squares = np.zeros(n_drifts), np.zeros((n_drifts, n_drifts)), np.zeros(n_drifts)
            for rows in row_blocks(n, n_drifts):
                room = below[rows]
                pulled = self.drifts[rows] / room[:, None]
                total += pulled.sum(axis=0)
                product += pulled.T @ pulled
                squares += (1.0 / room) @ pulled
            gradient = np.concatenate((gradient, total / n))
            whole = np.zeros((gradient.size, gradient.size))
            whole[:size, :size] = hessian
            whole[size:, size:] = -product / n
            # c moves along with the parameters.
            along = np.concatenate(((1.0 / above) @ scaled, -squares / n))
            hessian = whole + np.outer(along, along) / (np.sum(above**-2.0) + np.mean(below**-2.0))
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
        if not slopes.min() + drifts.min() > 0:
            return None
        c = _between(slopes, drifts)
        return slopes - c, drifts + c


def _between(slopes: FloatArray, drifts: FloatArray) -> float:
    """The best c, by Newton's method, halving where that leaves the bracket."""
    low, high = -float(drifts.min()), float(slopes.min())
    width = high - low
    c = 0.5 * (low + high)
    for _ in range(_MAX_STEPS):
        above, below = 1.0 / (slopes - c), 1.0 / (drifts + c)
        rise = float(below.sum()) / below.size - float(above.sum())
        low, high = (c, high) if rise > 0 else (low, c)
        moved = c + rise / (float(above @ above) + float(below @ below) / below.size)
        if not low < moved < high:
            moved = 0.5 * (low + high)
        if abs(moved - c) <= _PRECISION * width:
            break
        c = moved
    return c
