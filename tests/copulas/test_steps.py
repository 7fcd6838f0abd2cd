"""The probability of a step of one margin, against high precision: however small the step."""

import numpy as np
import pytest
from mpmath import mp, mpf

import cocensor as cc
from cocensor.copulas.base import log_step
from tests.copulas.test_values import CDF

STARTS = (1e-300, 1e-17, 1e-8, 1e-3, 0.5)
WIDTHS = (1e-17, 1e-13, 1e-9, 1e-5, 1e-2, 1.0)
OTHERS = (1e-10, 1e-3, 0.5, 3.0)
CASES = [
    cc.Independence(),
    *(cc.Clayton.from_tau(tau) for tau in (0.01, 0.5, 0.9)),
    *(cc.Frank.from_tau(tau) for tau in (-0.9, 0.1, 0.9)),
    *(cc.Gumbel.from_tau(tau) for tau in (0.01, 0.5, 0.9)),
    *(cc.Joe.from_tau(tau) for tau in (0.01, 0.5, 0.9)),
]


@pytest.mark.parametrize("copula", CASES, ids=repr)
@mp.workdps(400)
def test_against_high_precision(copula):
    points = [(s, s + w, y) for s in STARTS for w in WIDTHS for y in OTHERS if s + w > s]
    start, end, y = np.array(points).T
    found = log_step(copula, start, end, y)
    cdf, theta = CDF[copula.name], mpf(copula.theta)
    for value, (a, b, c) in zip(found, points, strict=True):
        upper, lower, v = (mp.exp(-mpf(hazard)) for hazard in (a, b, c))
        exact = cdf(theta, upper, v) - cdf(theta, lower, v)
        assert value == pytest.approx(float(mp.log(exact)), abs=1e-4 if exact < 1e-12 else 1e-7)


def normal_step(rho, start, end, y):
    """The integral of the normal density times Φ, from one quantile to the other."""

    def quantile(hazard):
        below = -mp.expm1(-mpf(hazard))
        guess = -mp.sqrt(-2 * mp.log(below)) if below < 0.01 else mpf(0)
        return -mp.findroot(lambda z: mp.log(mp.erfc(-z / mp.sqrt(2)) / 2) - mp.log(below), guess)

    high, low, other = (quantile(hazard) for hazard in (start, end, y))
    rho = mpf(rho)
    pieces = [low + (high - low) * mpf(share) for share in (0, 0.003, 0.01, 0.03, 0.1, 0.2, 0.5, 1)]
    return mp.quad(lambda z: mp.npdf(z) * mp.ncdf((other - rho * z) / mp.sqrt(1 - rho**2)), pieces)


@pytest.mark.parametrize("tau", [-0.5, 0.1, 0.5])
@mp.workdps(30)
def test_of_the_normal_copula_against_high_precision(tau):
    copula = cc.Gaussian.from_tau(tau)
    for point in [(1e-12, 1e-10, 0.5), (1e-8, 1.00001e-8, 3.0), (1e-3, 0.5, 1.0), (0.5, 0.5 + 1e-13, 0.5)]:
        start, end, y = (np.array([hazard]) for hazard in point)
        exact = float(mp.log(normal_step(copula.theta, *point)))
        assert log_step(copula, start, end, y)[0] == pytest.approx(exact, abs=1e-8)
