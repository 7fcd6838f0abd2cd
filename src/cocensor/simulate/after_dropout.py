"""Weibull event times whose hazard is multiplied from a dropout on."""

from __future__ import annotations

import numpy as np

from cocensor._checks import FloatArray
from cocensor._numerics import hazard_from_survival

_N_NODES = 80


def moved_after_dropout(event: FloatArray, dropout: FloatArray, shape: float, ratio: float) -> FloatArray:
    """The event times, where what is left of the cumulative hazard after an earlier dropout is passed faster."""
    first = np.minimum(dropout / event, 1.0) ** shape
    moved = event * (first + (1.0 - first) / ratio) ** (1.0 / shape)
    # Whoever drops out first still does.
    return np.where(dropout < event, np.maximum(moved, np.nextafter(dropout, np.inf)), event)


def survival_with_dropouts(
    event: FloatArray, dropout: FloatArray, shapes: tuple[float, float], ratio: float
) -> FloatArray:
    r"""S_E(t) over all, from what both survival functions would be without a change at the dropout.

    .. math:: \Pi(t) + \int_0^t \Pi(s)\, e^{-r[\Lambda(t) - \Lambda(s)]}\, dM(s),
        \qquad \Pi = e^{-\Lambda - M},

    by a Gauss rule in the share of M(t) that has passed.
    """
    x, y = hazard_from_survival(event), hazard_from_survival(dropout)
    nodes, weights = np.polynomial.legendre.leggauss(_N_NODES)
    total = event * dropout
    for share, weight in zip(0.5 * (nodes + 1.0), 0.5 * weights, strict=True):
        passed = share ** (shapes[0] / shapes[1])
        total = total + weight * y * np.exp(-x * (passed + ratio * (1.0 - passed)) - share * y)
    return total
