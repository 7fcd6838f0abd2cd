import numpy as np
import pytest
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.util import Surv

import cocensor as cc
from cocensor.paper.learners import CoxLearner
from tests.paper.learners.data import gbsg2, simulated


def peer_of(X, y, **settings):
    return CoxPHSurvivalAnalysis(
        **{"alpha": 0.01, "ties": "breslow", "n_iter": 100, "tol": 1e-9, **settings}
    ).fit(X, Surv.from_arrays(y.event, y.time))


@pytest.mark.parametrize("settings", [{}, {"alpha": 5.0}, {"ties": "efron"}])
def test_equals_scikit_survival(settings):
    X, y = gbsg2()
    peer = peer_of(X, y, **settings)
    model = CoxLearner(ridge=settings.get("alpha", 0.01), ties=settings.get("ties", "breslow")).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-6, atol=1e-12)
    curves = model.predict(X)
    np.testing.assert_allclose(
        curves(peer.unique_times_), peer.predict_survival_function(X, return_array=True), atol=1e-8
    )


def test_equals_the_estimator():
    X, y = simulated()
    estimator = cc.CoxPH(ties="breslow", ridge=0.01).fit(X, y)
    expected = estimator.predict_survival_function(X)
    curves = CoxLearner().fit(X, y).predict(X)
    np.testing.assert_array_equal(curves.times, expected.times)
    np.testing.assert_allclose(curves.probabilities, expected.probabilities, rtol=1e-10)


def test_a_constant_column_has_the_coefficient_of_the_penalised_optimum():
    X, y = simulated()
    with_constant = np.insert(X, 1, 7.0, axis=1)
    model = CoxLearner().fit(with_constant, y)
    np.testing.assert_allclose(model.coef_, peer_of(with_constant, y).coef_, atol=1e-8)
    assert model.coef_[1] == 0
    with pytest.raises(ValueError, match="^X .*column 1 "):
        CoxLearner(ridge=0.0).fit(with_constant, y)


def test_dependent_columns_share_a_coefficient():
    X, y = simulated()
    model = CoxLearner().fit(np.c_[X, X[:, 0]], y)
    assert model.coef_[0] == pytest.approx(model.coef_[3])


def test_columns_far_from_zero():
    X, y = simulated()
    expected = CoxLearner(ridge=0.0).fit(X, y).predict(X).probabilities
    moved = CoxLearner(ridge=0.0).fit(X + 1000.0, y).predict(X + 1000.0).probabilities
    np.testing.assert_allclose(moved, expected, rtol=1e-6)
