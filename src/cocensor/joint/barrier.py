"""What keeps the cumulative hazards of all subjects rising."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cocensor._newton import Derivatives
from cocensor._validation import FloatArray, IntArray

# A slope is d log H / d log t, 1 for a constant hazard: the smooth minimum lies below the true one by at most this.
_BELOW = 0.01


@dataclass(frozen=True, eq=False)
class Barrier:
    r"""A weight times the sum of the logs of the least slopes.

    The slope of :math:`\log H(t \mid x)` by log t is :math:`s'(\log t) + w'\gamma`, with w the columns whose effect
    changes with log time. It is positive for all subjects at all times if every bound on :math:`s'` and the least
    :math:`w_i'\gamma` sum to more than 0. For the least stands a smooth minimum, which lies below it:

    .. math:: m(\gamma) = -\frac{1}{\kappa} \log \sum_i e^{-\kappa w_i'\gamma}, \qquad \kappa = \log(n) / 0.01.

    It is concave, and so is the barrier.
    """

    margin: int
    at: IntArray
    bounds: FloatArray
    drifts: FloatArray | None
    weight: float

    def value(self, parameters: FloatArray) -> float:
        """The barrier; −∞ where a cumulative hazard may fall."""
        slopes = self.bounds @ parameters[: self.bounds.shape[1]]
        if self.drifts is not None:
            slopes = slopes + _least(self.drifts, parameters[self.bounds.shape[1] :])[0]
        if not (slopes > 0).all():
            return -np.inf
        return self.weight * float(np.log(slopes).sum())

    def derivatives(self, parameters: FloatArray) -> Derivatives:
        """The barrier with its gradient and Hessian."""
        size = self.bounds.shape[1]
        slopes, extended = self.bounds @ parameters[:size], self.bounds
        if self.drifts is not None:
            least, shares = _least(self.drifts, parameters[size:])
            mean = shares @ self.drifts
            slopes = slopes + least
            extended = np.hstack((self.bounds, np.broadcast_to(mean, (slopes.size, mean.size))))
        scaled = extended / slopes[:, None]
        hessian = -(scaled.T @ scaled)
        if self.drifts is not None:
            centred = self.drifts - mean
            spread = (centred * shares[:, None]).T @ centred
            hessian[size:, size:] -= np.sum(1.0 / slopes) * _sharpness(len(shares)) * spread
        value = float(np.log(slopes).sum())
        return Derivatives(self.weight * value, self.weight * scaled.sum(axis=0), self.weight * hessian)


def _least(drifts: FloatArray, gamma: FloatArray) -> tuple[float, FloatArray]:
    """The smooth minimum of the drifts, and the share of every subject in it."""
    kappa = _sharpness(len(drifts))
    values = drifts @ gamma
    lowest = float(values.min())
    shares = np.exp(-kappa * (values - lowest))
    total = float(shares.sum())
    return lowest - np.log(total) / kappa, shares / total


def _sharpness(n: int) -> float:
    return float(np.log(max(n, 2))) / _BELOW
