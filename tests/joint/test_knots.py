"""The knots of a margin follow the data."""

import numpy as np
import pytest

import cocensor as cc
from cocensor._newton import Derivatives, minimise
from cocensor.joint.knots import CANDIDATES, chosen_basis, constant_hazard, in_intervals, negative_loglik
from cocensor.joint.likelihood import BARRIER, Likelihood
from cocensor.joint.margins import Basis

MANY = 10**9


def drawn(form, n, rng):
    if form == "weibull":
        return rng.weibull(1.5, n)
    if form == "bathtub":
        return np.minimum(20 * rng.weibull(0.4, n), 3 * rng.weibull(5.0, n))
    # Two waves, and some in no wave.
    waves = np.array([rng.normal(1.0, 0.1, n), rng.normal(3.0, 0.2, n), rng.exponential(5.0, n) + 1e-6])
    return np.abs(waves[rng.choice(3, size=n, p=[0.4, 0.4, 0.2]), np.arange(n)])


def sample(form, n, seed):
    rng = np.random.default_rng(seed)
    event = drawn(form, n, rng)
    return cc.Survival.from_latent(event, rng.exponential(2.0 * np.median(event), n))


def inner(y, most=MANY):
    return max(chosen_basis(y, y.event, None, most).knots.size - 2, 0)


@pytest.mark.parametrize("n", [300, 3_000])
@pytest.mark.parametrize(
    ("form", "fewest", "most"), [("weibull", 0, 1), ("bathtub", 2, 8), ("waves", 8, CANDIDATES[-1])]
)
def test_how_many_knots_a_form_needs(form, fewest, most, n):
    """The median over draws: a straight line none, two waves many."""
    assert fewest <= np.median([inner(sample(form, n, seed)) for seed in range(9)]) <= most


def test_an_excess_in_the_first_hundredth_is_followed():
    """A hundredth of the events come at once, the others as a Weibull law has it: evenly spread knots miss that."""
    rng = np.random.default_rng(0)
    event = np.where(
        rng.random(4_000) < 0.01, rng.uniform(0.0005, 0.001, 4_000), 1.0 + rng.weibull(4.0, 4_000)
    )
    y = cc.Survival.from_latent(event, np.full(4_000, 9.0))
    knots = np.exp(chosen_basis(y, y.event, None, MANY).knots)
    assert np.sum(knots < 1.0) >= 2


def test_no_more_knots_than_there_may_be():
    y = sample("waves", 2_000, 0)
    assert inner(y, 3) == 3
    assert inner(y[:60]) <= 6  # ten events each


def test_grouped_times_have_a_knot_for_each():
    y = sample("weibull", 2_000, 1)
    ends = np.quantile(y.time, [0.2, 0.4, 0.6, 0.8, 1.0])
    grouped = cc.Survival(ends[np.searchsorted(ends, y.time)], y.event)
    basis = chosen_basis(grouped, grouped.event, ends, 3)
    np.testing.assert_allclose(np.exp(basis.knots), ends)
    assert chosen_basis(grouped, grouped.event, ends, 2).knots.size == 4


@pytest.mark.parametrize("knots", [[0.5], [0.05, 0.5, 1.5, 2.5]])
def test_counts_in_intervals_say_what_the_likelihood_says(knots):
    """Gains in log-likelihood over a straight line, against the likelihood of the times themselves."""
    y = sample("bathtub", 2_000, 2)
    alone = cc.Survival(y.time, y.event, administrative=~y.event)

    def exact(basis):
        basis = basis.orthonormal(np.log(y.time))
        never = Basis(np.empty(0), present=False)
        likelihood = Likelihood(alone, np.empty((len(y), 0)), (basis, never), None, BARRIER)

        def value(point):
            return -likelihood.value(point, cc.Independence())

        def derivatives(point):
            at = likelihood.derivatives(point, cc.Independence(), free=False)
            return Derivatives(-at.value, -at.gradient, -at.hessian)

        start = constant_hazard(basis, y.n_events, float(y.time.sum()))
        return minimise(derivatives, value, start, tolerance=1e-3).value

    counts = in_intervals(y.time, y.event, np.ones(len(y)))
    assert counts[1].sum() == y.n_events
    straight, bent = Basis(np.empty(0)), Basis(np.log([0.01, *knots, 3.0]))
    gain = negative_loglik(straight, *counts) - negative_loglik(bent, *counts)
    assert gain == pytest.approx(exact(straight) - exact(bent), rel=0.02, abs=0.1)
