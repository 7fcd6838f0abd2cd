"""Training, which both networks share."""

import pickle
import sys

import numpy as np
import pytest
import torch

from cocensor.paper.learners import learner
from cocensor.paper.learners.network import set_aside
from tests.paper.learners.data import simulated

both = pytest.mark.parametrize("name", ["deepsurv", "mtlr"])


@both
def test_training_stops_after_patience_and_keeps_the_best_epoch(name):
    X, y = simulated(300)
    model = learner(name, lr=0.02, patience=4).fit(X[:200], y[:200], X[200:], y[200:])
    losses = model.validation_losses_
    assert model.best_epoch_ == np.argmin(losses) + 1
    assert losses.size == model.n_epochs_ == model.best_epoch_ + 4
    shorter = learner(name, lr=0.02, patience=4, max_epochs=model.best_epoch_)
    shorter.fit(X[:200], y[:200], X[200:], y[200:])
    np.testing.assert_array_equal(shorter.predict(X).probabilities, model.predict(X).probabilities)


@both
def test_without_a_validation_part_an_eighth_is_set_aside(name):
    X, y = simulated(160)
    aside = set_aside(y, seed=3)
    assert aside[y.event].sum() == round(y.n_events / 8)
    assert aside[~y.event].sum() == round((160 - y.n_events) / 8)
    model = learner(name, max_epochs=5, seed=3).fit(X, y)
    given = learner(name, max_epochs=5, seed=3).fit(X[~aside], y[~aside], X[aside], y[aside])
    np.testing.assert_array_equal(model.predict(X).probabilities, given.predict(X).probabilities)


@both
def test_one_event_is_too_few_to_set_some_aside(name):
    X, y = simulated(20)
    with pytest.raises(ValueError, match="^y .* 1 event.*X_val"):
        learner(name).fit(X, (y.time, np.arange(20) == 7))


@both
def test_without_patience_all_subjects_train_for_all_epochs(name):
    X, y = simulated(100)
    model = learner(name, patience=None, max_epochs=7).fit(X, y, X[:10], y[:10])
    assert model.n_epochs_ == model.best_epoch_ == 7
    assert model.validation_losses_.size == 0
    alone = learner(name, patience=None, max_epochs=7).fit(X, y)
    np.testing.assert_array_equal(model.predict(X).probabilities, alone.predict(X).probabilities)


@both
def test_standardizing_is_what_one_would_do_by_hand(name):
    X, y = simulated(200)
    X = np.c_[1000.0 * X + 5000.0, np.full(200, 3.0)]
    rest, aside = slice(0, 150), slice(150, 200)
    centre, scale = X[rest].mean(axis=0), X[rest].std(axis=0)
    Z = (X - centre) / np.where(scale > 0, scale, 1.0)
    own = learner(name, max_epochs=5, standardize=True).fit(X[rest], y[rest], X[aside], y[aside])
    by_hand = learner(name, max_epochs=5).fit(Z[rest], y[rest], Z[aside], y[aside])
    np.testing.assert_array_equal(own.predict(X).probabilities, by_hand.predict(Z).probabilities)


@both
def test_a_column_far_from_scale_one_warns(name):
    X, y = simulated(100)
    X[:, 1] += 50.0
    with pytest.warns(UserWarning, match=r"column 1 .*49\.98.*standardize=True") as record:
        learner(name, max_epochs=1).fit(X, y)
    assert record[0].filename == __file__


@both
@pytest.mark.parametrize("patience", [10, None])
def test_divergence_is_an_error(name, patience):
    X, y = simulated(100)
    with pytest.raises(ValueError, match=r"epoch .*lr.*1e\+300"):
        learner(name, lr=1e300, patience=patience, max_epochs=5).fit(X, y)


@both
def test_the_surroundings_of_a_fit_do_not_matter(name):
    X, y = simulated(100)
    expected = learner(name, max_epochs=2).fit(X, y).predict(X).probabilities
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(threads + 1)
        with torch.no_grad():
            model = learner(name, max_epochs=2).fit(X, y)
        assert torch.get_num_threads() == threads + 1
    finally:
        torch.set_num_threads(threads)
    np.testing.assert_array_equal(model.predict(X).probabilities, expected)


@both
def test_prediction_does_not_need_torch(name, monkeypatch):
    X, y = simulated(100)
    model = learner(name, max_epochs=2).fit(X, y)
    expected = model.predict(X).probabilities
    stored = pickle.dumps(model)
    monkeypatch.setitem(sys.modules, "torch", None)
    np.testing.assert_array_equal(pickle.loads(stored).predict(X).probabilities, expected)
