import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp
from scipy.optimize import brentq

from cocensor._numerics import (
    log1mexp,
    log_softplus,
    lookup,
    quantile,
    root,
    row_products,
    running_logsumexp,
    segments,
    softplus,
)


@pytest.mark.parametrize("x", [1e-300, 1e-16, 1e-5, 0.3, 0.7, 1.0, 30.0, 40.0, 700.0])
@mp.workdps(400)
def test_elementary_functions_against_mpmath(x):
    assert float(log1mexp(x)) == pytest.approx(float(mp.log(1 - mp.exp(-mp.mpf(x)))), rel=1e-14)
    for signed in (x, -x):
        exact = mp.log(1 + mp.exp(mp.mpf(signed)))
        assert float(softplus(signed)) == pytest.approx(float(exact), rel=1e-14)
        assert float(log_softplus(signed)) == pytest.approx(float(mp.log(exact)), rel=1e-13)


@given(st.lists(st.floats(-5000, 5000) | st.just(-np.inf), max_size=30))
def test_running_logsumexp_against_accumulated_logaddexp(terms):
    terms = np.array(terms, dtype=float)
    expected = np.logaddexp.accumulate(terms) if terms.size else terms
    np.testing.assert_allclose(running_logsumexp(terms), expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n_columns", [1, 4, 20, 131])
@pytest.mark.parametrize("n_rows", [1, 150, 151, 1_001])
def test_rows_that_are_the_same_have_the_same_product(n_rows, n_columns, order):
    rng = np.random.default_rng(0)
    different, coef = rng.normal(size=(10, n_columns)), rng.normal(size=n_columns)
    kind = rng.integers(10, size=n_rows)
    X = np.array(different[kind], order=order)
    found = row_products(X, coef)
    np.testing.assert_allclose(found, X @ coef, rtol=0, atol=1e-12)
    assert all(np.unique(found[kind == k]).size == 1 for k in set(kind))


def test_segments_cover_everything_once():
    scale = np.concatenate((np.full(3, -np.inf), np.linspace(-1000, 3000, 50)))
    parts = segments(scale)
    np.testing.assert_array_equal(np.concatenate([np.arange(53)[p] for p in parts]), np.arange(53))
    assert all(np.ptp(scale[p]) <= 200 for p in parts[1:])


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("kind", ["spread", "ties", "constant", "extreme"])
@pytest.mark.parametrize("shape", [(50, 60), (50, 1500)])  # searched one by one, and in bins
def test_lookup_is_searchsorted(kind, side, shape):
    rng = np.random.default_rng(0)
    grid = np.unique(rng.exponential(size=500))
    t = rng.exponential(size=shape)
    if kind == "ties":
        t = rng.choice(grid, size=shape)
    elif kind == "constant":
        t = np.full(shape, grid[7])
    elif kind == "extreme":
        t[0] = 1e308
        t[1] = -1e308
    np.testing.assert_array_equal(lookup(grid, t, side), np.searchsorted(grid, t, side=side))


@given(
    st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 4)), min_size=1, max_size=20),
    st.floats(0.0, 1.0),
)
def test_weighted_quantiles_are_those_of_repeated_values(pairs, level):
    values, weight = np.array(pairs, dtype=float).T
    weight[0] += not weight.any()
    levels = [0.0, level, 0.5, 1.0]
    counted = weight > 0
    expected = np.quantile(np.repeat(values, weight.astype(int)), levels)
    found = quantile(values[counted], levels, weight[counted])
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    # Weights below 1 leave the ends where they are.
    assert quantile(values, [0.0, 1.0], np.full(values.size, 0.3)).tolist() == [values.min(), values.max()]


@pytest.mark.parametrize(
    ("function", "low", "high"),
    [
        (lambda x: np.tanh(x) - 0.3, 0.0, 50.0),
        (lambda x: x**3 - 1e-9, -1.0, 2.0),
        (lambda x: np.exp(x) - 1e10, 0.0, 100.0),
        (lambda x: 1.0 / (1.0 + np.exp(-100.0 * x)) - 0.2, -3.0, 4.0),
        (lambda x: x, -1.0, 3.0),
        (lambda x: 2.0 - x, 2.0, 5.0),
    ],
)
def test_a_root_is_that_of_scipy(function, low, high):
    calls = []

    def counted(x):
        calls.append(x)
        return function(x)

    expected = brentq(function, low, high, xtol=1e-300, rtol=1e-15)
    assert root(counted, low, high) == pytest.approx(expected, rel=1e-14, abs=1e-300)
    assert len(calls) < 40


def test_a_root_needs_two_signs():
    with pytest.raises(ValueError, match="one sign at 1 and at 2"):
        root(lambda x: x, 1.0, 2.0)
