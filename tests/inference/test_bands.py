"""Quantiles of several estimates at once."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.linalg import sqrtm
from scipy.optimize import brentq
from scipy.stats import multivariate_normal, norm

from cocensor.inference.bands import N_DRAWS, normal_draws, simultaneous_quantile
from cocensor.inference.estimates import Estimates

Z = norm.ppf(0.975)
#: Four standard errors of a quantile of 20,000 draws, where the density of the maximum is 0.1.
TOLERANCE = 4 * np.sqrt(0.05 * 0.95 / 20_000) / 0.1


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.99])
def test_one_estimate_has_the_normal_quantile(level):
    rows = np.random.default_rng(0).standard_normal((30, 1))
    assert simultaneous_quantile(rows, level) == pytest.approx(norm.ppf((1 + level) / 2), abs=1e-12)


@pytest.mark.parametrize("size", [2, 5, 40])
def test_independent_estimates_have_sidak_s(size):
    assert simultaneous_quantile(np.eye(size)) == pytest.approx(
        norm.ppf((1 + 0.95 ** (1 / size)) / 2), abs=TOLERANCE
    )


@pytest.mark.parametrize("correlation", [0.5, 0.9])
def test_correlated_estimates_have_the_quantile_of_scipy_s_normal(correlation):
    covariance = np.full((3, 3), correlation) + (1 - correlation) * np.eye(3)

    def excess(q):
        return multivariate_normal(cov=covariance).cdf([q] * 3, lower_limit=[-q] * 3) - 0.95

    rows = 7.0 * np.linalg.cholesky(covariance).T
    assert simultaneous_quantile(rows) == pytest.approx(brentq(excess, 1.9, 2.5), abs=TOLERANCE)


def test_many_rows_are_the_same_as_few_with_their_covariance():
    few = np.array([[1.0, 0.4, 0.1], [0.0, 1.0, 0.5], [0.0, 0.0, 2.0]])
    turned, _ = np.linalg.qr(np.random.default_rng(5).standard_normal((500, 3)))
    assert simultaneous_quantile(turned @ few) == pytest.approx(simultaneous_quantile(few), abs=TOLERANCE)


@pytest.mark.parametrize(("n_rows", "size"), [(5, 5), (3, 30), (200, 13), (200, 104), (200, 111), (3, 3_000)])
def test_draws_are_those_of_one_stream_however_many_estimates_there_are(n_rows, size):
    rows = np.random.default_rng(2).standard_normal((n_rows, size))
    factor = sqrtm(rows.T @ rows).real if n_rows >= size else rows[np.argsort((rows**2).sum(axis=1))]
    expected = np.random.default_rng(0).standard_normal((N_DRAWS, len(factor)))
    start = 0
    for drawn in normal_draws(rows):
        stop = start + drawn.shape[1]
        np.testing.assert_allclose(drawn.T, expected[start:stop] @ factor, rtol=0, atol=1e-10)
        start = stop
    assert start == N_DRAWS


def test_draws_of_estimates_that_depend_on_each_other_do_not_hang_on_rounding():
    """Points of smooth curves with few parameters; the same subjects in another order round otherwise."""
    rng, x = np.random.default_rng(4), np.linspace(0.0, 1.0, 41)
    rows = rng.standard_normal((200, 5)) @ np.vander(x, 5, increasing=True).T
    rows /= np.sqrt((rows**2).sum(axis=0))
    for one, other in zip(normal_draws(rows), normal_draws(rows[::-1]), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-11)
    covariance = np.cov(np.concatenate(list(normal_draws(rows)), axis=1))
    np.testing.assert_allclose(covariance, rows.T @ rows, rtol=0, atol=4 * np.sqrt(2.0 / N_DRAWS))


@pytest.mark.parametrize(("n_rows", "size"), [(30, 50), (50, 50), (80, 50)])
def test_draws_do_not_hang_on_the_order_of_subjects(n_rows, size):
    rng = np.random.default_rng(7)
    rows = rng.standard_normal((n_rows, size))
    for one, other in zip(normal_draws(rows), normal_draws(rows[rng.permutation(n_rows)]), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-11)


@pytest.mark.parametrize("n_rows", [6, 7, 300])
def test_draws_do_not_hang_on_rounding(n_rows):
    """Where estimates are the same, or one determines another: a direction that is rounding counts for nothing.

    Nor on the signs of a first row that is rounding alone.
    """
    rows = np.random.default_rng(3).standard_normal((n_rows, 3))
    rows = rows @ np.array([[1, 1, 0, 2, 0.5, 0.1], [0, 0, 1, 1, 0.5, 0.1], [0, 0, 0, 0, 0, 1]])
    expected = np.concatenate(list(normal_draws(rows)), axis=1)
    np.testing.assert_allclose(expected[1], expected[0], atol=1e-9)
    for seed in range(5):
        noise = np.random.default_rng(seed).uniform(-1.0, 1.0, rows.shape)
        rounded = np.vstack((1e-17 * noise[:1], rows * (1.0 + 1e-15 * noise)))
        for again in (rounded, np.linalg.qr(rounded, mode="r")):
            drawn = np.concatenate(list(normal_draws(again)), axis=1)
            np.testing.assert_allclose(drawn, expected, atol=1e-11 * np.sqrt(n_rows))


def test_draws_keep_a_difference_that_is_tiny_beside_its_parts():
    rng = np.random.default_rng(6)
    apart = 1e-10 * rng.standard_normal((500, 1))
    first = rng.standard_normal((500, 1))
    drawn = np.concatenate([each[1] - each[0] for each in normal_draws(np.hstack([first, first + apart]))])
    assert np.std(drawn) == pytest.approx(np.sqrt((apart**2).sum()), rel=0.03)


def test_equal_estimates_need_no_more_than_one():
    rows = np.repeat(np.random.default_rng(1).standard_normal((50, 1)), 9, axis=1)
    assert simultaneous_quantile(rows) == pytest.approx(Z, abs=TOLERANCE)


def test_estimates_without_error_or_without_interval_take_no_part():
    rows = np.array([[1.0, 0.0, np.nan], [1.0, 0.0, 1.0]])
    assert simultaneous_quantile(rows) == pytest.approx(Z)
    assert np.isnan(simultaneous_quantile(rows[:, 1:]))
    assert np.isnan(simultaneous_quantile(np.empty((3, 0))))


@given(arrays(float, st.tuples(st.integers(1, 6), st.integers(1, 6)), elements=st.floats(-10, 10)))
@example(np.array([[1e-162, 3e-162], [2e-162, -1e-162]]))
@example(np.array([[1e-200, 0.0, 1.0], [2e-200, 0.0, 5e-324]]))
def test_between_pointwise_and_bonferroni_at_any_scale(rows):
    found = simultaneous_quantile(rows)
    used = (rows != 0).any(axis=0).sum()
    if not used:
        assert np.isnan(found)
        return
    assert Z - 1e-12 <= found <= norm.ppf(1 - 0.025 / used) + 1e-12
    assert simultaneous_quantile(1000 * rows) == pytest.approx(found, abs=1e-9)


@pytest.mark.no_cover
def test_a_band_holds_a_whole_curve_as_often_as_it_says():
    """A true curve at 0, and estimates with correlated errors estimated from 300 subjects."""
    rng, repeats, n, size = np.random.default_rng(7), 400, 300, 12
    held = pointwise = 0
    for _ in range(repeats):
        data = rng.standard_normal((n, size)).cumsum(axis=1)
        mean = data.mean(axis=0)
        curve = Estimates(tuple(map(str, range(size))), mean, (data - mean) / np.sqrt(n * (n - 1)))
        low, high, _ = curve.band()
        held += ((low <= 0) & (high >= 0)).all()
        low, high = curve.confidence_intervals()
        pointwise += ((low <= 0) & (high >= 0)).all()
    assert held / repeats == pytest.approx(0.95, abs=3 * np.sqrt(0.05 * 0.95 / repeats))
    assert pointwise / repeats < 0.9
