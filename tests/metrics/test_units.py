"""Scores do not depend on the unit that times are measured in."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import cocensor as cc

ADJUSTMENTS = ("ipcw", "ipcw_cox", "margin", "dep", "cg_q", "imputation_margins", "dependent_ipcw")


def times_12(t):
    return t * 12.0


def by_12(t):
    return t / 12.0


def by_365(t):
    return t / 365.25


def times_7(t):
    return t * 7.0


def months_to_days(t):
    return t * 30.4


def there_and_back(t):
    return t / 12.0 * 365.25 / 30.4


UNITS = (times_12, by_12, by_365, times_7, months_to_days, there_and_back)


@st.composite
def studies(draw):
    """Whole months with many ties, for training and test, covariates, and curves that step at whole months."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    longest = draw(st.sampled_from((6, 11, 33, 36, 60, 99)))
    n = draw(st.integers(30, 120))
    X = rng.normal(size=(2 * n, 2))
    latent = np.ceil(rng.exponential(longest / 3 * np.exp(-0.5 * X[:, :1]), size=(2 * n, 2)))
    month, event = np.minimum(latent.min(axis=1), longest), latent[:, 0] <= latent[:, 1]
    steps = np.arange(1.0, longest + 1.0)
    curves = np.exp(-np.outer(rng.exponential(size=n) + 0.2, steps / longest))
    return n, month, event, X, steps, curves


def scores(study, unit):
    n, month, event, X, steps, curves = study
    y = cc.Survival(unit(month), event)
    models = {"steps": cc.Predictions(unit(steps), curves, "step", tail="last")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = cc.evaluate(
            models,
            y[n:],
            X[n:],
            y_train=y[:n],
            x_train=X[:n],
            adjustments=ADJUSTMENTS,
            copula=cc.Clayton(1.0),
            metrics="ibs",
        )
    return [result.score("steps", adjustment=each).value for each in ADJUSTMENTS]


@settings(max_examples=20)
@given(studies())
def test_no_score_depends_on_the_unit_of_time(study):
    expected = scores(study, np.array)
    assume(np.isfinite(expected[0]))  # G may reach 0
    for unit in UNITS:
        np.testing.assert_allclose(scores(study, unit), expected, rtol=0, atol=1e-10, err_msg=unit.__name__)


@pytest.mark.parametrize("unit", UNITS)
def test_the_grid_meets_the_ties_in_every_unit(unit):
    month = np.repeat(np.arange(1.0, 100.0), 3)
    grid = cc.time_grid((unit(month), np.ones(month.size, bool)), n=100)
    np.testing.assert_array_equal(grid[1:], np.unique(unit(month)))


def test_a_horizon_up_to_rounding_is_the_observed_time():
    y = (np.arange(1.0, 51.0) / 12.0, np.ones(50, bool))
    for horizon in (np.nextafter(40 / 12.0, 0.0), np.nextafter(40 / 12.0, 9.0)):
        assert cc.time_grid(y, horizon=horizon)[-1] == 40 / 12.0


def test_a_grid_that_meets_no_observed_time_is_equally_spaced():
    y = (np.random.default_rng(0).exponential(size=500), np.ones(500, bool))
    np.testing.assert_array_equal(cc.time_grid(y, horizon=1.0), np.linspace(0.0, 1.0, 100))
