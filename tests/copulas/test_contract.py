"""What must hold of every family in the registry."""

import numpy as np
import pytest
from scipy.stats import kendalltau

import cocensor as cc
from tests.strategies import ARCHIMEDEAN, member_id, members

GRID = np.array([1e-300, 1e-100, 1e-16, 1e-5, 0.02, 0.3, 0.5, 0.8, 0.99, 1 - 1e-9, 1 - 1e-16])
INTERIOR = np.linspace(0.01, 0.99, 30)

every = pytest.mark.parametrize("copula", members(), ids=member_id)
every_archimedean = pytest.mark.parametrize("copula", members(ARCHIMEDEAN), ids=member_id)


@every
def test_margins_and_groundedness(copula):
    u = np.concatenate(([0.0], GRID, [1.0]))
    np.testing.assert_allclose(copula.cdf(u, 1.0), u, rtol=1e-13)
    np.testing.assert_allclose(copula.cdf(1.0, u), u, rtol=1e-13)
    np.testing.assert_array_equal(copula.cdf(u, 0.0), 0.0)
    np.testing.assert_array_equal(copula.cdf(0.0, u), 0.0)
    np.testing.assert_array_equal(copula.hfunc1(GRID, 0.0), 0.0)
    np.testing.assert_array_equal(copula.hfunc1(GRID, 1.0), 1.0)
    for single in (0.0, 0.3, 1.0):  # also for single numbers
        assert copula.cdf(single, 1.0) == pytest.approx(single, rel=1e-13)
        assert copula.cdf(1.0, single) == pytest.approx(single, rel=1e-13)
        assert copula.cdf(single, 0.0) == copula.cdf(0.0, single) == 0.0
    assert copula.log_cdf(1.0, 1.0) == 0.0


@every
def test_two_increasing_on_a_grid(copula):
    c = copula.cdf(INTERIOR[:, None], INTERIOR[None, :])
    volume = np.diff(np.diff(c, axis=0), axis=1)
    assert volume.min() > -1e-15


@every
def test_between_the_frechet_bounds_and_exchangeable(copula):
    u, v = GRID[:, None], GRID[None, :]
    c = copula.cdf(u, v)
    assert (c <= np.minimum(u, v) * (1 + 1e-12)).all()
    assert (c >= np.maximum(u + v - 1, 0) * (1 - 1e-12)).all()
    np.testing.assert_allclose(copula.log_cdf(u, v), copula.log_cdf(v, u), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(copula.log_hfunc2(u, v), copula.log_hfunc1(v, u))


@every
def test_finite_on_the_whole_square(copula):
    u, v = GRID[:, None], GRID[None, :]
    for values in (copula.log_cdf(u, v), copula.log_hfunc1(u, v), copula.log_pdf(u, v)):
        assert np.isfinite(values).all()
    assert (copula.log_hfunc1(u, v) <= 0).all()


@every
def test_cumulative_hazards_from_1e_12_to_700(copula):
    x = np.array([1e-12, 1e-6, 0.1, 1.0, 30.0, 50.0, 700.0])
    x, y = x[:, None], x[None, :]
    for values in (copula.log_cdf_hazard(x, y), copula.log_hfunc1_hazard(x, y), copula.log_pdf_hazard(x, y)):
        assert np.isfinite(values).all()


@every
def test_hazards_as_far_as_joint_models_go(copula):
    """From 1e-300 to e^600, without a warning."""
    hazards = np.exp(np.concatenate((np.linspace(-690.0, 600.0, 44), [600.0 - 1e-13])))
    x, y = (each.ravel() for each in np.meshgrid(hazards, hazards))
    log_cdf, log_h = copula.log_cdf_hazard(x, y), copula.log_hfunc1_hazard(x, y)
    assert (log_cdf <= -np.maximum(x, y) * (1.0 - 1e-12)).all()
    assert copula.tau < 0 or (log_cdf >= -(x + y) * (1.0 + 1e-12)).all()
    assert (log_h <= 1e-9).all()
    assert not np.isnan(copula.log_pdf_hazard(x, y)).any()


def test_the_density_of_gumbel_near_1_1_at_the_strongest_dependence():
    """On the diagonal it is (θ − 1) 2^(1/θ − 2) / x, to first order."""
    theta, x = 1e10, np.array([1e-300])
    expected = np.log(theta - 1.0) + (1.0 / theta - 2.0) * np.log(2.0) - np.log(x)
    np.testing.assert_allclose(cc.Gumbel(theta).log_pdf_hazard(x, x), expected, rtol=1e-12)


@every
def test_h_function_is_a_distribution_function_in_v(copula):
    v = np.linspace(0.0, 1.0, 101)
    for u in (1e-10, 0.2, 0.7, 1 - 1e-10):
        assert (np.diff(copula.hfunc1(u, v)) >= -1e-15).all()


@every
def test_single_numbers_give_floats(copula):
    for value in (
        copula.cdf(0.3, 0.4),
        copula.hfunc1(0.3, 0.4),
        copula.hfunc2(0.3, 0.4),
        copula.pdf(0.3, 0.4),
    ):
        assert type(value) is float
    assert type(copula.tau) is float


@pytest.mark.parametrize(
    "family", cc.copulas.copula_families().values(), ids=list(cc.copulas.copula_families())
)
def test_tau_and_theta_round_trip(family):
    lower, upper = family.tau_range
    for tau in (-0.99, -0.9, -0.3, -1e-3, -1e-6, 0.0, 1e-6, 1e-3, 0.1, 0.355, 0.36, 0.5, 0.75, 0.9, 0.99):
        if tau == 0 or lower < tau < upper:
            assert family.from_tau(tau).tau == pytest.approx(tau, rel=1e-9, abs=1e-15)
        else:
            with pytest.raises(ValueError, match=rf"^tau.*{family.name}.*{tau:g}"):
                family.from_tau(tau)


@pytest.mark.parametrize(
    "family", cc.copulas.copula_families().values(), ids=list(cc.copulas.copula_families())
)
def test_independence_limit_is_exact(family):
    at_limit, independence = family(family.independence_theta), cc.Independence()
    assert at_limit == family.from_tau(0.0)
    assert at_limit.is_independence
    assert at_limit.tau == 0.0
    u, v = GRID[:, None], GRID[None, :]
    np.testing.assert_array_equal(at_limit.log_cdf(u, v), independence.log_cdf(u, v))
    np.testing.assert_array_equal(at_limit.log_hfunc1(u, v), independence.log_hfunc1(u, v))
    np.testing.assert_array_equal(at_limit.log_pdf(u, v), 0.0)
    np.testing.assert_allclose(at_limit.cdf(u, v), u * v, rtol=1e-13)
    np.testing.assert_array_equal(
        at_limit.sample_given(INTERIOR, rng=3), independence.sample_given(INTERIOR, rng=3)
    )


@pytest.mark.parametrize("family", [cc.Clayton, cc.Frank, cc.Gumbel, cc.Joe, cc.Gaussian])
def test_continuous_at_the_independence_limit(family):
    near, limit = family.from_tau(1e-8), cc.Independence()
    u, v = INTERIOR[:, None], INTERIOR[None, :]
    np.testing.assert_allclose(near.cdf(u, v), limit.cdf(u, v), atol=1e-7)
    np.testing.assert_allclose(near.hfunc1(u, v), limit.hfunc1(u, v), atol=1e-6)
    np.testing.assert_allclose(near.pdf(u, v), 1.0, atol=1e-5)


@every
def test_sampled_tau_within_its_standard_error(copula):
    n = 4000
    draws = copula.sample(n, rng=7)
    assert draws.shape == (n, 2)
    assert ((draws > 0) & (draws < 1)).all()
    # The variance of Kendall's statistic is at most 2(1 − τ²)/n for large n (Kruskal 1958).
    error = np.sqrt(2.0 * (1.0 - copula.tau**2) / n)
    assert kendalltau(*draws.T).statistic == pytest.approx(copula.tau, abs=4 * error)


@every
def test_both_sampled_margins_are_uniform(copula):
    n = 20_000
    grid = np.linspace(0.1, 0.9, 9)
    for column in copula.sample(n, rng=11).T:
        share = np.searchsorted(np.sort(column), grid) / n
        np.testing.assert_allclose(share, grid, atol=4 * np.sqrt(0.25 / n))


@every
def test_sampling_inverts_the_h_function(copula):
    u = np.concatenate(([1e-12, 1 - 1e-12], np.linspace(0.001, 0.999, 200)))
    w = np.maximum(np.random.default_rng(5).random(u.size), 2.0**-54)
    v = copula.sample_given(u, rng=5)
    inside = (v > 0) & (v < 1)
    assert inside.sum() > 190
    # dh₁/dv is the density: v rounded to double precision moves h₁ by that much.
    rounding = copula.pdf(u[inside], v[inside]) * np.spacing(np.maximum(v[inside], 0.5))
    error = np.abs(copula.hfunc1(u[inside], v[inside]) - w[inside])
    assert (error < 1e-11 + 20 * rounding).all()


def test_sampling_is_reproducible_and_leaves_global_state_alone():
    copula = cc.Clayton(2.0)
    np.testing.assert_array_equal(copula.sample(5, rng=1), copula.sample(5, rng=np.random.default_rng(1)))
    generator = np.random.default_rng(1)
    first, second = copula.sample(5, generator), copula.sample(5, generator)
    assert (first != second).all()


@every_archimedean
def test_generator_gives_back_the_copula(copula):
    u, v = INTERIOR[:, None], INTERIOR[None, :]
    total = copula.phi(u) + copula.phi(v)
    fits = (total > 0) & np.isfinite(total)  # strong dependence leaves the range of double precision
    np.testing.assert_allclose(copula.phi_inv(total[fits]), copula.cdf(u, v)[fits], rtol=1e-9)
    u, v = (np.broadcast_to(p, fits.shape)[fits] for p in (u, v))
    slope = copula.phi_prime(copula.cdf(u, v))
    fits = slope < -1e-300
    h = copula.phi_prime(u[fits]) / slope[fits]
    np.testing.assert_allclose(h, copula.hfunc1(u, v)[fits], rtol=1e-6, atol=1e-12)


@every_archimedean
def test_generator_edges_and_shape(copula):
    assert copula.phi(1.0) == 0.0
    assert copula.phi(0.0) == np.inf
    assert copula.phi_inv(0.0) == 1.0
    assert copula.phi_inv(np.inf) == 0.0
    assert np.isfinite(copula.log_phi(GRID)).all()
    assert (np.diff(copula.log_phi(GRID)) < 0).all()
    middle = np.linspace(0.1, 0.9, 9)
    assert (copula.phi_prime(middle) < 0).all()
    assert (copula.phi_second(middle) > 0).all()
    np.testing.assert_allclose(copula.phi_inv(copula.phi(middle)), middle, rtol=1e-9)


def test_value_objects():
    assert cc.Clayton(2.0) == cc.Clayton(2)
    assert hash(cc.Clayton(2.0)) == hash(cc.Clayton(2))
    assert cc.Clayton(2.0) != cc.Frank(2.0)
    assert repr(cc.Frank(-1.5)) == "Frank(theta=-1.5)"
    with pytest.raises(AttributeError):
        cc.Clayton(2.0).theta = 3.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cc.Clayton(-1.0), r"theta of the clayton copula must lie in \[0, inf\), but is -1"),
        (lambda: cc.Gumbel(0.5), r"theta of the gumbel copula must lie in \[1, inf\), but is 0.5"),
        (lambda: cc.Gaussian(1.0), r"theta of the gaussian copula must lie in \(-1, 1\), but is 1"),
        (lambda: cc.Independence(1.0), "theta of the independence copula must be 0, but is 1"),
        (lambda: cc.Frank(np.nan), "theta must be finite, but is nan"),
        (lambda: cc.Frank([1.0, 2.0]), "theta must be a single number"),
        (
            lambda: cc.copula("plackett", tau=0.1),
            "name must be one of independence, clayton, .* but is 'plackett'",
        ),
        (
            lambda: cc.copula("clayton", tau=-0.1),
            r"tau of the clayton copula must lie in \[0, 1\), but is -0.1",
        ),
        (lambda: cc.copula("independence", tau=0.1), "tau of the independence copula must be 0, but is 0.1"),
        (lambda: cc.copula("clayton"), "tau or theta is needed for the clayton copula"),
        (lambda: cc.copula("clayton", tau=0.1, theta=1.0), "tau and theta exclude each other"),
        (lambda: cc.Clayton(2.0).cdf(1.1, 0.5), r"u must lie in \[0, 1\], but is 1.1"),
        (lambda: cc.Clayton(2.0).cdf([0.1, 0.2], [0.3, -1]), r"v must lie in \[0, 1\], but row 1 is -1"),
        (lambda: cc.Clayton(2.0).hfunc1(0.0, 0.5), "u must lie strictly between 0 and 1, but is 0"),
        (lambda: cc.Clayton(2.0).hfunc2(0.5, 1.0), "v must lie strictly between 0 and 1, but is 1"),
        (lambda: cc.Clayton(2.0).log_pdf(0.5, 0.0), "v must lie strictly between 0 and 1, but is 0"),
        (lambda: cc.Clayton(2.0).phi_prime(0.0), "s must be positive"),
        (lambda: cc.Clayton(2.0).phi_inv(-1.0), "t must not be negative, but is -1.0"),
        (lambda: cc.Clayton(2.0).phi_inv([0.5, np.nan]), "t must not be negative, but row 1 is nan"),
        (
            lambda: cc.Clayton(2.0).cdf([0.1, 0.2], [0.1, 0.2, 0.3]),
            r"u and v must have matching shapes, but have \(2,\) and \(3,\)",
        ),
        (lambda: cc.Clayton(None), "theta must be numeric, but is None"),
        (lambda: cc.Clayton(2.0).sample(-1), "n must be a whole number from 0 on, but is -1"),
        (lambda: cc.Clayton(2.0).sample(10**400), "n must be a whole number from 0 on, but is 1000"),
        (lambda: cc.Clayton(2.0).sample([1]), r"n must be a whole number from 0 on, but is \[1\]"),
        (
            lambda: cc.Clayton(2.0).sample(np.ma.masked_array([1, 2], [0, 1])),
            "n must be a whole number from 0 on, but is masked_array[^\n]*$",
        ),
        (lambda: cc.Clayton(2.0).sample_given(1.0), "u must lie strictly between 0 and 1"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_names_are_found_in_any_case():
    assert cc.copula("Clayton", theta=2.0) == cc.Clayton(2.0)
    assert cc.copula("independence") == cc.Independence()


@pytest.mark.parametrize("family", ["gumbel", "joe"])
def test_draws_given_the_smallest_probability(family):
    v = cc.copula(family, tau=0.999).sample_given(np.full(100, 5e-324), 0)
    assert ((v >= 0) & (v < 0.01)).all()


@pytest.mark.parametrize("theta", [-2000.0, -800.0, 800.0, 2000.0])
def test_frank_samples_where_its_exponentials_overflow(theta):
    u, v = cc.Frank(theta).sample(2000, rng=0).T
    assert ((v > 0) & (v < 1)).all()
    np.testing.assert_allclose(v, u if theta > 0 else 1 - u, atol=0.02)


@pytest.mark.parametrize("tau", [-0.3, 0.0, 0.4])
def test_the_cross_ratio_is_a_ratio_of_hazards(tau):
    """Of E at its time: given that the dropout is at c, against given that it is later. Without a generator too."""
    copula = cc.Gaussian.from_tau(tau)
    x, y = np.array([0.05, 0.4, 1.5])[:, None], np.array([0.1, 0.9, 2.0])
    step = 1e-5 * x

    def hazard(log_chance):
        return (log_chance(x + step, y) - log_chance(x - step, y)) / (2.0 * step)

    expected = hazard(copula.log_hfunc2_hazard) / hazard(copula.log_cdf_hazard)
    np.testing.assert_allclose(np.exp(copula.log_cross_ratio_hazard(x, y)), expected, rtol=1e-5)


@every_archimedean
def test_the_cross_ratio_is_a_curvature_of_the_generator(copula):
    x, y = np.array([0.05, 0.4, 1.5])[:, None], np.array([0.1, 0.9, 2.0])
    joint = -copula.log_cdf_hazard(x, y)
    expected = 0.0 if copula.is_independence else copula.log_curvature(joint)
    np.testing.assert_allclose(copula.log_cross_ratio_hazard(x, y), expected, rtol=1e-7, atol=1e-7)


def test_the_cross_ratio_of_clayton_is_constant():
    x, y = np.array([1e-3, 1.0, 20.0]), np.array([1.0, 1e-3, 30.0])
    for tau in (0.2, 0.5):
        found = cc.Clayton.from_tau(tau).log_cross_ratio_hazard(x, y)
        np.testing.assert_allclose(np.exp(found), (1 + tau) / (1 - tau), rtol=1e-10)
