"""Derivatives in (log hazard, log hazard, θ), by jets, against mpmath in many digits."""

import mpmath as mp
import numpy as np
import pytest

import cocensor as cc
from cocensor._jets import Jet

LOG_CDF = {
    "independence": lambda theta, x, y: -x - y,
    "clayton": lambda theta, x, y: (
        -mp.log(mp.exp(theta * x) + mp.exp(theta * y) - 1) / theta if theta else -x - y
    ),
    "frank": lambda theta, x, y: mp.log(
        -mp.log1p(mp.expm1(-theta * mp.exp(-x)) * mp.expm1(-theta * mp.exp(-y)) / mp.expm1(-theta)) / theta
    ),
    "gumbel": lambda theta, x, y: -((x**theta + y**theta) ** (1 / theta)),
    "joe": lambda theta, x, y: mp.log(
        1 - (1 - (1 - (1 - mp.exp(-x)) ** theta) * (1 - (1 - mp.exp(-y)) ** theta)) ** (1 / theta)
    ),
}
LOG_HFUNC1 = {
    "independence": lambda theta, x, y: -y,
    "clayton": lambda theta, x, y: (
        (theta + 1) * x - (1 + 1 / theta) * mp.log(mp.exp(theta * x) + mp.exp(theta * y) - 1)
    ),
    "frank": lambda theta, x, y: (
        -theta * mp.exp(-x)
        + mp.log(
            mp.expm1(-theta * mp.exp(-y))
            / (mp.expm1(-theta) + mp.expm1(-theta * mp.exp(-x)) * mp.expm1(-theta * mp.exp(-y)))
        )
    ),
    "gumbel": lambda theta, x, y: (
        x
        - (x**theta + y**theta) ** (1 / theta)
        + (theta - 1) * mp.log(x)
        - (1 - 1 / theta) * mp.log(x**theta + y**theta)
    ),
    "joe": lambda theta, x, y: (
        (theta - 1) * mp.log(1 - mp.exp(-x))
        + mp.log(1 - (1 - mp.exp(-y)) ** theta)
        - (1 - 1 / theta) * mp.log(1 - (1 - (1 - mp.exp(-x)) ** theta) * (1 - (1 - mp.exp(-y)) ** theta))
    ),
}
THETAS = {
    "independence": [0.0],
    "clayton": [1e-8, 1e-3, 0.0099, 0.0101, 0.5, 6.0, 40.0],
    "frank": [-20.0, -0.6, -0.4, 1e-8, 1e-3, 0.4, 0.6, 5.7, 60.0],
    "gumbel": [1.0, 1.0 + 1e-8, 1.3, 4.0, 20.0],
    "joe": [1.0, 1.0 + 1e-8, 1.3, 4.0, 20.0],
}
POINTS = [(0.5, 0.4), (0.01, 0.02), (0.2, 0.25), (3.0, 0.05), (0.02, 5.0), (12.0, 9.0), (1e-4, 1.0)]
CASES = [(name, theta) for name, thetas in THETAS.items() for theta in thetas]


def jets(family, theta, points):
    """The variables (a, b, θ) with x = e^a, y = e^b."""
    x, y = np.array(points).T
    a, b, t = (Jet.variable(value, i, 3) for i, value in enumerate((np.log(x), np.log(y), theta)))
    return family.formulas_at(t), np.exp(a), np.exp(b)


@pytest.mark.parametrize(("name", "theta"), CASES)
@pytest.mark.parametrize("which", ["log_cdf_hazard", "log_hfunc1_hazard"])
def test_gradient_and_hessian_against_mpmath(name, theta, which):
    formulas, x, y = jets(cc.copulas.copula_families()[name], theta, POINTS)
    found = getattr(formulas, which)(x, y)
    exact = (LOG_CDF if which == "log_cdf_hazard" else LOG_HFUNC1)[name]
    with mp.workdps(60):
        for k, (px, py) in enumerate(POINTS):
            point = [mp.log(mp.mpf(px)), mp.log(mp.mpf(py)), mp.mpf(theta)]

            def at(a, b, t):
                return exact(t, mp.exp(a), mp.exp(b))

            wanted = [float(mp.diff(at, point, order)) for order in ((1, 0, 0), (0, 1, 0), (0, 0, 1))]
            got = [0.0 if d is None else float(np.broadcast_to(d, len(POINTS))[k]) for d in found.first]
            scale = 1.0 + max(map(abs, wanted))
            np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-11 * scale)
            orders = ((2, 0, 0), (1, 1, 0), (1, 0, 1), (0, 2, 0), (0, 1, 1), (0, 0, 2))
            wanted = [float(mp.diff(at, point, order)) for order in orders]
            got = [0.0 if d is None else float(np.broadcast_to(d, len(POINTS))[k]) for d in found.second]
            scale = 1.0 + max(map(abs, wanted))
            np.testing.assert_allclose(got, wanted, rtol=1e-8, atol=1e-10 * scale)
