import numpy as np
import pytest

import cocensor as cc
from cocensor.paper.learners import MTLR
from cocensor.paper.learners.mtlr import bin_ends
from tests.paper.learners.data import simulated


def chances(x, ends, weights, biases):
    """The chance of each bin from the definition: scores are sums over the bins from it on."""
    scores = [sum(x @ weights[:, j] + biases[j] for j in range(k, len(ends))) for k in range(len(ends))]
    odds = np.exp(np.array([*scores, 0.0]))
    return odds / odds.sum()


def cost(X, y, ends, weights, biases):
    """The negative log-likelihood per subject from the definition."""
    starts, closed = np.array([0.0, *ends]), np.array([*ends, np.inf])
    total = 0.0
    for x, time, event in zip(X, y.time, y.event, strict=True):
        chance = chances(x, ends, weights, biases)
        if event:
            total -= np.log(chance[(starts < time) & (time <= closed)].sum())
        else:
            total -= np.log(chance[closed > time].sum())
    return total / len(y)


def test_likelihood_and_curves_against_the_definition():
    X, y = simulated(80)
    model = MTLR(max_epochs=20, lr=0.02).fit(X[:60], y[:60], X[60:], y[60:])
    ends, weights, biases = model.times_, model.weights_[0], model.biases_[0]
    assert cost(X[60:], y[60:], ends, weights, biases) == pytest.approx(
        model.validation_losses_.min(), rel=1e-12
    )
    expected = [1.0 - np.cumsum(chances(x, ends, weights, biases))[:-1] for x in X]
    np.testing.assert_allclose(model.predict(X).probabilities, expected, atol=1e-12)


def test_a_small_example_by_hand():
    """Two bins, up to 1 and up to 2; b = (log 2, log 3) gives odds 6 : 3 : 1, and w = (log 2, 0) doubles the first."""
    y = cc.Survival([1.0, 2.0], [1, 1])
    model = MTLR(n_bins=2, max_epochs=1, patience=None).fit([[0.0], [1.0]], y)
    np.testing.assert_array_equal(model.times_, [1.0, 2.0])
    model.weights_, model.biases_ = [np.log([[2.0, 1.0]])], [np.log([2.0, 3.0])]
    curves = model.predict([[0.0], [1.0]])
    np.testing.assert_allclose(curves.probabilities, [[4 / 10, 1 / 10], [4 / 16, 1 / 16]])
    np.testing.assert_allclose(curves([0.5, 1.5, 7.0])[0], [0.7, 0.25, 0.1])


def test_without_covariates_it_finds_kaplan_meier():
    """With a bin for each event time the likelihood is that of the Kaplan–Meier estimator, censorings included."""
    rng = np.random.default_rng(0)
    y = cc.Survival(rng.integers(1, 7, size=80), rng.random(80) < 0.6)
    model = MTLR(n_bins=80, batch_size=None, patience=None, lr=0.03, max_epochs=800).fit(np.zeros((80, 1)), y)
    np.testing.assert_array_equal(model.times_, np.arange(1.0, 7.0))
    expected = cc.KaplanMeier().fit(y).predict(model.times_)
    np.testing.assert_allclose(model.predict([[0.0]]).probabilities[0], expected, atol=1e-4)


def test_the_penalty_counts_once_per_batch():
    """Where the loss of a full batch plus c₁/2 ‖w‖² is smallest, its gradient is zero."""
    X, y = simulated(100)
    model = MTLR(n_bins=2, c1=2.0, batch_size=None, patience=None, lr=0.02, max_epochs=1000).fit(X, y)
    weights, biases = model.weights_[0], model.biases_[0]

    def objective(weights):
        return 100 * cost(X, y, model.times_, weights, biases) + np.sum(weights**2)

    for k in range(weights.size):
        step = 1e-4 * np.eye(weights.size)[k].reshape(weights.shape)
        assert (objective(weights + step) - objective(weights - step)) / 2e-4 == pytest.approx(0.0, abs=1e-3)


def test_bins_hold_as_many_events_each():
    _, y = simulated(900)
    ends = bin_ends(cc.Survival(np.arange(1.0, 901.0), np.arange(900) % 9 != 0), None)
    assert ends.size == 29  # of 800 events
    counts = np.diff(
        np.searchsorted(np.flatnonzero(np.arange(900) % 9 != 0) + 1.0, ends, side="right"), prepend=0
    )
    assert counts.sum() == 800
    assert set(counts) <= {27, 28}
    assert bin_ends(y, None)[-1] == y.time[y.event].max()
    np.testing.assert_array_equal(bin_ends(cc.Survival([1, 1, 1, 1, 5], [1, 1, 1, 1, 0]), None), [1.0])


def test_a_validation_part_may_reach_beyond_the_bins_or_have_no_event():
    X, y = simulated(100)
    late = cc.Survival(y.time + y.t_max, np.arange(100) % 2)
    assert np.isfinite(MTLR(max_epochs=2).fit(X, y, X, late).validation_losses_).all()
    assert np.isfinite(MTLR(max_epochs=2).fit(X, y, X, (y.time, np.zeros(100))).validation_losses_).all()


def test_one_event():
    X, y = simulated(20)
    event = np.arange(20) == 7
    model = MTLR(max_epochs=3, patience=None).fit(X, (y.time, event))
    np.testing.assert_array_equal(model.times_, y.time[[7]])
