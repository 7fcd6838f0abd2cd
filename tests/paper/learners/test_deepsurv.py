import numpy as np
import pytest

import cocensor as cc
from cocensor.paper.learners import DeepSurv
from tests.paper.learners.data import simulated

LINEAR = {
    "hidden_size": 0,
    "dropout": 0.0,
    "batch_size": None,
    "patience": None,
    "lr": 0.02,
    "max_epochs": 1200,
}


def cost(log_hazard, y):
    """The negative partial log-likelihood per event, from its definition."""
    terms = [
        np.log(np.exp(log_hazard[y.time >= y.time[i]]).sum()) - log_hazard[i]
        for i in range(len(y))
        if y.event[i]
    ]
    return np.mean(terms)


@pytest.mark.parametrize("c1", [0.0, 0.1])
def test_without_a_hidden_layer_it_is_a_cox_model(c1):
    X, y = simulated(300)
    model = DeepSurv(c1=c1, **LINEAR).fit(X, y)
    # The loss is a mean over events, so the penalty counts once per event.
    expected = cc.CoxPH(ties="breslow", ridge=c1 * y.n_events).fit(X, y)
    np.testing.assert_allclose(model.weights_[0], expected.coef_, atol=1e-5)
    assert model.biases_ == []
    log_likelihood = -y.n_events * cost(X @ model.weights_[0], y)
    assert log_likelihood == pytest.approx(expected.log_likelihood_, abs=1e-6 if c1 == 0 else 1e-3)
    curves = model.predict(X)
    np.testing.assert_allclose(curves.probabilities, expected.survival(curves.times, X), atol=1e-5)


def test_the_validation_loss_is_the_partial_likelihood_of_the_validation_part():
    X, y = simulated(300)
    model = DeepSurv(max_epochs=6).fit(X[:200], y[:200], X[200:], y[200:])
    hidden = np.maximum(X[200:] @ model.weights_[0] + model.biases_[0], 0.0)
    assert model.weights_[0].shape == (3, 100)
    assert cost(hidden @ model.weights_[1], y[200:]) == pytest.approx(
        model.validation_losses_.min(), rel=1e-12
    )


def test_batches_form_their_own_risk_sets():
    """One step of Adam from zero moves each weight by lr against the sign of its gradient: two batches, two steps."""
    X, y = simulated(64, p=1)
    model = DeepSurv(hidden_size=0, c1=0.0, patience=None, max_epochs=1, lr=1e-3, batch_size=64).fit(X, y)
    halves = DeepSurv(hidden_size=0, c1=0.0, patience=None, max_epochs=1, lr=1e-3, batch_size=32).fit(X, y)
    start = DeepSurv(hidden_size=0, c1=0.0, patience=None, max_epochs=1, lr=1e-300, batch_size=64).fit(X, y)
    assert abs(model.weights_[0] - start.weights_[0]) == pytest.approx(1e-3, rel=1e-6)
    assert abs(halves.weights_[0] - start.weights_[0]) == pytest.approx(2e-3, rel=0.1)


def test_batches_without_an_event_are_passed_over():
    X, y = simulated(64)
    event = np.zeros(64, bool)
    event[[5, 40]] = True
    model = DeepSurv(batch_size=4, patience=None, max_epochs=2).fit(X, (y.time, event))
    assert np.isfinite(model.predict(X).probabilities).all()


def test_early_stopping_needs_an_event_to_look_at():
    X, y = simulated(100)
    with pytest.raises(ValueError, match="^y_val .*event"):
        DeepSurv().fit(X, y, X[:10], (y.time[:10], np.zeros(10)))


def test_a_strong_penalty_leaves_the_curve_of_nelson_and_aalen():
    X, y = simulated(200)
    curves = (
        DeepSurv(c1=100.0, patience=None, max_epochs=300, batch_size=None, lr=0.01, hidden_size=10)
        .fit(X, y)
        .predict(X)
    )
    table = y.risk_table
    rows = table.events > 0
    expected = np.exp(-np.cumsum(table.events[rows] / table.at_risk[rows]))
    np.testing.assert_allclose(curves.probabilities, np.tile(expected, (200, 1)), atol=1e-3)


def test_it_sees_what_no_linear_model_sees():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, size=(600, 1))
    y = (rng.exponential(np.exp(-(X[:, 0] ** 2))), np.ones(600))
    at_risk = DeepSurv(lr=0.01, max_epochs=30).fit(X, y).predict([[-1.5], [0.0], [1.5]])([0.3])[:, 0]
    assert at_risk[1] > 0.6
    assert max(at_risk[[0, 2]]) < 0.3
