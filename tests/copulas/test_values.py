"""Values of the families from formulas in high precision and from other software."""

import numpy as np
import pytest
import pyvinecopulib as pv
from mpmath import mp, mpf

import cocensor as cc
from tests.strategies import member_id, members

CDF = {
    "independence": lambda _, u, v: u * v,
    "clayton": lambda t, u, v: (u**-t + v**-t - 1) ** (-1 / t),
    "frank": lambda t, u, v: -mp.log1p(mp.expm1(-t * u) * mp.expm1(-t * v) / mp.expm1(-t)) / t,
    "gumbel": lambda t, u, v: mp.exp(-(((-mp.log(u)) ** t + (-mp.log(v)) ** t) ** (1 / t))),
    "joe": lambda t, u, v: 1 - ((1 - u) ** t + (1 - v) ** t - (1 - u) ** t * (1 - v) ** t) ** (1 / t),
}
PHI = {
    "independence": lambda _, s: -mp.log(s),
    "clayton": lambda t, s: (s**-t - 1) / t,
    "frank": lambda t, s: -mp.log(mp.expm1(-t * s) / mp.expm1(-t)),
    "gumbel": lambda t, s: (-mp.log(s)) ** t,
    "joe": lambda t, s: -mp.log(1 - (1 - s) ** t),
}
ARCHIMEDEAN = members([f for f in cc.copulas.copula_families().values() if f is not cc.Gaussian])
POINTS = [1e-300, 1e-30, 1e-5, 0.1, 0.5, 0.9, 0.9999999]


def close(value, exact, rel=1e-11):
    exact = mp.log(exact)
    return abs(value - float(exact)) <= rel * max(1.0, abs(float(exact)))


@pytest.mark.no_cover
@pytest.mark.parametrize("copula", ARCHIMEDEAN, ids=member_id)
@mp.workdps(700)
def test_cdf_h_and_density_against_high_precision_differences(copula):
    if copula.is_independence:
        copula = cc.Independence()
    theta = mpf(copula.theta)

    def exact(u, v):
        return CDF[copula.name](theta, u, v)

    checked = 0
    for u in POINTS:
        for v in POINTS:
            a, b = mpf(u), mpf(v)
            assert close(copula.log_cdf(u, v), exact(a, b))
            da, db = (min(x, 1 - x) * mpf(10) ** -60 for x in (a, b))
            slope = (exact(a + da, b) - exact(a - da, b)) / (2 * da)
            if slope < mpf(10) ** -450:  # below what the differences resolve
                continue
            assert close(copula.log_hfunc1(u, v), slope)
            assert close(copula.log_hfunc2(v, u), slope)
            corners = (
                exact(a + da, b + db) - exact(a - da, b + db) - exact(a + da, b - db) + exact(a - da, b - db)
            )
            density = corners / (4 * da * db)
            if density > mpf(10) ** -150:
                assert close(copula.log_pdf(u, v), density, rel=1e-10)
                checked += 1
    assert checked >= 15


@pytest.mark.no_cover
@pytest.mark.parametrize("copula", ARCHIMEDEAN, ids=member_id)
@mp.workdps(700)
def test_log_cdf_keeps_its_relative_accuracy_in_cumulative_hazards(copula):
    if copula.is_independence:
        copula = cc.Independence()
    hazards = [1e-12, 1e-7, 1e-3, 0.2, 0.4, 3.0, 40.0, 700.0]
    for x in hazards:
        for y in hazards:
            exact = mp.log(CDF[copula.name](mpf(copula.theta), mp.exp(-mpf(x)), mp.exp(-mpf(y))))
            value = float(copula.log_cdf_hazard(np.array(x), np.array(y)))
            assert value == pytest.approx(float(exact), rel=1e-11)


@pytest.mark.no_cover
@pytest.mark.parametrize("copula", ARCHIMEDEAN, ids=member_id)
@mp.workdps(500)
def test_generators_against_high_precision_differences(copula):
    if copula.is_independence:
        copula = cc.Independence()
    theta = mpf(copula.theta)
    for s in POINTS:
        x = mpf(s)
        step = min(x, 1 - x) * mpf(10) ** -60
        values = [PHI[copula.name](theta, x + k * step) for k in (-1, 0, 1)]
        assert close(copula.log_phi(s), values[1])
        slope = (values[2] - values[0]) / (2 * step)
        assert close(float(copula.log_elasticity(np.array(-np.log(s)))), -x * slope)
        curvature = (values[2] - 2 * values[1] + values[0]) / step**2
        if 1e-300 < -slope < 1e300:
            assert copula.phi_prime(s) == pytest.approx(float(slope), rel=1e-10)
        if 1e-300 < curvature < 1e300:
            assert copula.phi_second(s) == pytest.approx(float(curvature), rel=1e-10)


@pytest.mark.no_cover
@pytest.mark.parametrize("tau", [-0.99, -0.4, 0.3, 0.9, 0.99])
@mp.workdps(30)
def test_gaussian_cdf_against_integration_in_high_precision(tau):
    copula = cc.Gaussian.from_tau(tau)
    rho = mpf(copula.theta)
    scale = mp.sqrt(1 - rho**2)
    for u, v in ((1e-12, 1e-8), (0.5, 1e-8), (0.01, 0.02), (0.01, 0.5), (0.9, 0.2), (0.3, 0.70001)):
        h, k = (mp.sqrt(2) * mp.erfinv(2 * mpf(p) - 1) for p in (u, v))
        # Break points around the edge of the range and around the step of the conditional distribution.
        breaks = {h - 50, h} | {h - mpf(10) ** (-mpf(j) / 2) for j in range(-3, 16)}
        breaks |= {p for j in range(-40, 41) if h - 50 < (p := k / rho + j * scale / 2) < h}

        def density(z, k=k):
            return mp.npdf(z) * mp.ncdf((k - rho * z) / scale)

        peak = max(map(density, breaks))  # mp.quad stops at an absolute error
        share = mp.quad(lambda z, peak=peak: density(z) / peak, sorted(breaks), method="gauss-legendre")
        assert close(copula.log_cdf(u, v), peak * share, rel=1e-9)


@pytest.mark.no_cover
@pytest.mark.parametrize("rho", [-1 + 1e-7, -0.9999, -0.6, 1e-6, 0.5, 0.9999, 1 - 1e-9])
@mp.workdps(60)
def test_gaussian_log_cdf_keeps_its_relative_accuracy_in_cumulative_hazards(rho):
    """Also where u + v − 1 or the difference of the quantiles cancels, in either order."""
    copula, angle = cc.Gaussian(rho), mp.asin(mpf(rho))
    pairs = [(23.0, 1e-10), (1e-12, 1e-5), (0.69, 0.7), (0.2, 0.2 + 1e-6), (1.0, 0.45867514)]
    if rho > 0:  # otherwise lost in 60 digits
        pairs.append((30.0, 29.0))
    for x, y in pairs:
        u, v = mp.exp(-mpf(x)), mp.exp(-mpf(y))
        h, k = (mp.sqrt(2) * mp.erfinv(2 * p - 1) for p in (u, v))

        def density(phi, h=h, k=k):
            return mp.exp(-(h**2 + k**2 - 2 * h * k * mp.sin(phi)) / (2 * mp.cos(phi) ** 2)) / (2 * mp.pi)

        exact = mp.log(u * v + mp.quad(density, [angle * (1 - mpf(2) ** -j) for j in range(24)] + [angle]))
        for a, b in ((x, y), (y, x)):
            value = float(copula.log_cdf_hazard(np.array(a), np.array(b)))
            assert value == pytest.approx(float(exact), rel=1e-11)


@pytest.mark.no_cover
@pytest.mark.parametrize("tau", [-0.99, -0.4, 1e-6, 0.3, 0.9, 0.99])
@mp.workdps(60)
def test_gaussian_h_and_density_against_the_formula_in_high_precision(tau):
    copula = cc.Gaussian.from_tau(tau)
    rho = mpf(copula.theta)
    for u in (1e-12, 1e-3, 0.3, 0.9, 1 - 1e-9):
        for v in (1e-8, 0.02, 0.6, 0.999):
            a, b = (mp.sqrt(2) * mp.erfinv(2 * mpf(p) - 1) for p in (u, v))
            assert close(copula.log_hfunc1(u, v), mp.ncdf((b - rho * a) / mp.sqrt(1 - rho**2)), rel=1e-10)
            exponent = -(rho**2 * (a**2 + b**2) - 2 * rho * a * b) / (2 * (1 - rho**2))
            assert close(copula.log_pdf(u, v), mp.exp(exponent) / mp.sqrt(1 - rho**2), rel=1e-10)


def test_gaussian_near_the_corner():
    """For tiny x, y: −log C ≈ 1 − C = x + y − C̄(x, y), the radial reflection."""
    copula = cc.Gaussian.from_tau(0.5)
    x = np.array([1e-12, 1e-9, 1e-6])
    expected = 2 * x - copula.cdf(x, x)
    np.testing.assert_allclose(-copula.log_cdf_hazard(x, x), expected, rtol=1e-5)


PEERS = {
    "clayton": pv.BicopFamily.clayton,
    "frank": pv.BicopFamily.frank,
    "gumbel": pv.BicopFamily.gumbel,
    "joe": pv.BicopFamily.joe,
    "gaussian": pv.BicopFamily.gaussian,
}


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("tau", [0.1, 0.4, 0.75])
def test_agreement_with_pyvinecopulib(name, tau):
    copula = cc.copula(name, tau=tau)
    peer = pv.Bicop(family=PEERS[name], parameters=np.array([[copula.theta]]))
    u = np.random.default_rng(0).uniform(0.01, 0.99, size=(200, 2))
    # Its bivariate normal distribution function is good to 1e-7 or so.
    cdf_tolerance = 1e-6 if name == "gaussian" else 1e-9
    np.testing.assert_allclose(copula.cdf(*u.T), peer.cdf(u), atol=cdf_tolerance)
    np.testing.assert_allclose(copula.hfunc1(*u.T), peer.hfunc1(u), atol=1e-8)
    np.testing.assert_allclose(copula.hfunc2(*u.T), peer.hfunc2(u), atol=1e-8)
    np.testing.assert_allclose(copula.pdf(*u.T), peer.pdf(u), rtol=1e-6)
    assert peer.parameters_to_tau(np.array([[copula.theta]])) == pytest.approx(tau, abs=1e-6)


def test_theta_at_strong_dependence():
    """The textbook parameters at τ = 0.99, and Joe's closed form at θ = 2."""
    assert cc.Clayton.from_tau(0.99).theta == pytest.approx(198.0)
    assert cc.Frank.from_tau(0.99).theta == pytest.approx(398.3, abs=0.05)
    assert cc.Gumbel.from_tau(0.99).theta == pytest.approx(100.0)
    assert cc.Joe.from_tau(0.99).theta == pytest.approx(198.7, abs=0.05)
    assert cc.Joe(2.0).tau == pytest.approx(1 - (np.pi**2 / 6 - 1), rel=1e-14)
