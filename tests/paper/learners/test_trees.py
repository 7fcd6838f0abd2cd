import numpy as np
import pytest
from sksurv.ensemble import GradientBoostingSurvivalAnalysis, RandomSurvivalForest
from sksurv.ensemble.survival_loss import CoxPH
from sksurv.util import Surv

from cocensor.paper.learners import GBSA, RSF, trees
from cocensor.paper.learners.cox_boosting import SortedCoxLoss
from tests.paper.learners.data import gbsg2, simulated


def as_structured(y):
    return Surv.from_arrays(y.event, y.time)


def to_seven_decimals(function):
    return lambda *args, **kwargs: np.round(function(*args, **kwargs), 7)


@pytest.mark.parametrize("seed", [0, 2])
@pytest.mark.parametrize("depth", [1, 3])
def test_boosting_equals_scikit_survival(depth, seed, monkeypatch):
    X, y = gbsg2()
    # Between splits that are equally good the last digits of the gradient decide: both get it without these.
    for loss in (CoxPH, SortedCoxLoss):
        monkeypatch.setattr(loss, "gradient", to_seven_decimals(loss.gradient))
    peer = GradientBoostingSurvivalAnalysis(
        n_estimators=100, max_depth=depth, max_features="sqrt", subsample=0.8, random_state=seed
    ).fit(X.to_numpy(), as_structured(y))
    model = GBSA(max_depth=depth, seed=seed).fit(X, y)
    np.testing.assert_allclose(
        model.model_.predict(X.to_numpy()), peer.predict(X.to_numpy()), rtol=1e-8, atol=1e-10
    )
    np.testing.assert_allclose(model.model_.train_score_, peer.train_score_, rtol=1e-10)
    curves = model.predict(X)(peer.unique_times_)
    np.testing.assert_allclose(
        curves, peer.predict_survival_function(X.to_numpy(), return_array=True), atol=1e-9
    )


@pytest.mark.parametrize("max_features", [None, 2, 0.5, "log2"])
def test_splits_choose_among_a_rule_a_number_a_share_or_all(max_features):
    X, y = simulated(100, p=4)
    assert GBSA(max_features=max_features, n_estimators=3).fit(X, y).model_.max_features_ == {None: 4}.get(
        max_features, 2
    )


def test_the_sorted_loss_is_that_over_all_pairs():
    _, y = simulated(300)
    outcomes = as_structured(y)
    scores = np.random.default_rng(1).normal(scale=3.0, size=(300, 1))
    ours, theirs = SortedCoxLoss(), CoxPH()
    assert ours(outcomes, scores) == pytest.approx(theirs(outcomes, scores), rel=1e-12)
    np.testing.assert_allclose(ours.gradient(outcomes, scores), theirs.gradient(outcomes, scores), atol=1e-12)
    step = 1e-6
    nudged = scores + step * np.eye(300)[:, [5]]
    slope = (ours(outcomes, nudged) - ours(outcomes, scores)) / step
    assert -slope == pytest.approx(ours.gradient(outcomes, scores)[5], abs=1e-4)
    weights = np.linspace(0.0, 1.0, 300)
    np.testing.assert_allclose(
        ours.gradient(outcomes, scores, weights), weights * ours.gradient(outcomes, scores), atol=1e-12
    )
    assert ours(outcomes[:0], scores[:0]) == 0


@pytest.mark.parametrize("depth", [1, 3, None])
def test_forest_equals_scikit_survival_at_every_time(depth, monkeypatch):
    X, y = gbsg2()
    peer = RandomSurvivalForest(
        n_estimators=30,
        max_depth=depth,
        min_samples_split=2,
        min_samples_leaf=1,
        max_features="sqrt",
        random_state=0,
    ).fit(X.to_numpy(), as_structured(y))
    model = RSF(n_estimators=30, max_depth=depth).fit(X, y)
    curves = model.predict(X)
    assert curves.times.size < peer.unique_times_.size
    everywhere = np.concatenate((peer.unique_times_, peer.unique_times_ + 0.5))
    expected = np.array([f(peer.unique_times_) for f in peer.predict_survival_function(X.to_numpy())])
    np.testing.assert_allclose(curves(everywhere), np.hstack((expected, expected)), atol=1e-12)

    monkeypatch.setattr(trees, "_BLOCK_ELEMENTS", 10_000)
    np.testing.assert_array_equal(model.predict(X).probabilities, curves.probabilities)
