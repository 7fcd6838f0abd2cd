"""The probability of a step: what a copula loses between two values of one margin."""

from __future__ import annotations

from typing import Any

import numpy as np

from cocensor._jets import value_of
from cocensor._numerics import log1mexp
from cocensor.copulas.base import Copula

# A difference of logarithms below this share of them has lost too many digits, and is integrated instead.
_CLOSE = 1e-6
# Gauss–Legendre quadrature on (0, 1).
_FLANK = 0.95
_POINTS = [
    (0.5 * (1.0 + node), 0.5 * weight)
    for node, weight in zip(*np.polynomial.legendre.leggauss(16), strict=True)
]


def log_step(copula: Copula, start: Any, end: Any, y: Any) -> Any:
    r"""Log of :math:`C(e^{-start}, e^{-y}) - C(e^{-end}, e^{-y})` for hazards ``start`` < ``end``; takes jets.

    Where the two are too close for their difference, it is :math:`\int e^{-x} h_1(e^{-x}, e^{-y})\,dx` over the step.
    """
    above = copula.log_cdf_hazard(start, y)
    gap = above - copula.log_cdf_hazard(end, y)
    close = ~(value_of(gap) > -_CLOSE * value_of(above))
    if not close.any():
        return above + log1mexp(gap)
    apart = above + log1mexp(np.where(close, 1.0, gap))
    return np.where(close, _log_integral(copula, start, end, y), apart)


def _log_integral(copula: Copula, start: Any, end: Any, y: Any) -> Any:
    """Log of the integral over the step, by quadrature in s with x = end · s^k.

    Near (1, 1) the integrand is a power of x: θ − 1 for Gumbel and Joe, about ρ²/(1 − ρ²) for the normal copula. The
    exponent k is such that the integral is that of s³ at the end of the step, and smooth at its start.
    """

    def log_density(x: Any) -> Any:
        return copula.log_hfunc1_hazard(x, y) - x

    last = value_of(end)
    rise = value_of(log_density(last)) - value_of(log_density(_FLANK * last))
    k = 4.0 / np.fmax(1.0 - rise / np.log(_FLANK), 0.5)
    width = (end - start) / end
    narrow = value_of(width) < 0.5
    log_ratio = np.where(narrow, -np.log1p(-np.where(narrow, width, 0.25)), np.log(end) - np.log(start))
    share = -np.expm1(-log_ratio / k)
    total: Any = None
    for node, weight in _POINTS:
        log_s = np.log1p(-share * (1.0 - node))
        log_x = np.log(end) + k * log_s
        term = np.log(weight) + log_x - log_s + log_density(np.exp(log_x))
        total = term if total is None else np.logaddexp(total, term)
    return total + log1mexp(log_ratio / k) + np.log(k)
