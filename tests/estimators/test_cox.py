import warnings

import numpy as np
import pandas as pd
import pytest
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.util import Surv

import cocensor as cc
from tests.oracles.data import load, values
from tests.refusals import refuses

ORACLE = values("coxph")


def tied_data(n=400):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4)) * [1, 10, 0.1, 1] + [0, 20, 5, 0]
    e = np.ceil(rng.exponential(np.exp(-X[:, 0])) * 20) / 20
    return X, cc.Survival.from_latent(e, np.ceil(rng.exponential(size=n) * 20) / 20)


@pytest.mark.parametrize("name", ["gbsg", "whas500"])
@pytest.mark.parametrize("ties", ["efron", "breslow"])
@pytest.mark.parametrize("of", ["event", "dropout"])
def test_against_coxph_of_r(name, ties, of):
    expected = ORACLE[name][ties if of == "event" else f"censoring_{ties}"]
    data = load(name)
    model = cc.CoxPH(ties=ties, of=of).fit(data[ORACLE[name]["covariates"]], (data["time"], data["event"]))
    assert model.converged_
    np.testing.assert_allclose(model.coef_, expected["coefficients"], rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(model.covariance_, expected["variance"], rtol=1e-8, atol=1e-14)
    assert model.log_likelihood_ == pytest.approx(expected["loglik"], rel=1e-12)
    at = np.array(ORACLE[name]["baseline_at"], dtype=float)
    np.testing.assert_allclose(model.baseline_(at), expected["baseline_breslow"], rtol=1e-8, atol=1e-14)


def test_ridge_against_r():
    expected, data = ORACLE["gbsg"]["ridge_breslow"], load("gbsg")
    X = data[ORACLE["gbsg"]["covariates"]]
    model = cc.CoxPH(ties="breslow", ridge=expected["theta"]).fit(X, (data["time"], data["event"]))
    np.testing.assert_allclose(model.coef_, expected["coefficients"], rtol=1e-8)
    np.testing.assert_allclose(model.covariance_, expected["variance"], rtol=1e-7, atol=1e-13)


@pytest.mark.parametrize("ties", ["efron", "breslow"])
@pytest.mark.parametrize("ridge", [0.0, 5.0])
def test_against_scikit_survival(ties, ridge):
    X, y = tied_data()
    peer = CoxPHSurvivalAnalysis(ties=ties, alpha=ridge, tol=1e-14, n_iter=200)
    peer.fit(X, Surv.from_arrays(y.event, y.time))
    model = cc.CoxPH(ties=ties, ridge=ridge).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-8)
    np.testing.assert_allclose(
        model.baseline_(peer.cum_baseline_hazard_.x), peer.cum_baseline_hazard_.y, rtol=1e-8
    )
    curves = model.predict_survival_function(X[:3])
    np.testing.assert_allclose(curves(model.baseline_.times), model.survival(model.baseline_.times, X[:3]))


def test_derivatives_against_differences():
    from cocensor.estimators.cox import RiskSets

    X, y = tied_data(60)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    penalty = np.full(4, 0.7)
    for ties in ("efron", "breslow"):
        for of in ("event", "dropout"):
            sets = RiskSets(y, of, ties)
            Z, coef = X[sets.order], np.array([0.3, -0.2, 0.5, 0.1])
            at = sets.derivatives(Z, coef, penalty)
            for k, step in enumerate(1e-5 * np.eye(4)):
                up, down = (sets.derivatives(Z, coef + sign * step, penalty) for sign in (1, -1))
                assert (up.value - down.value) / 2e-5 == pytest.approx(at.gradient[k], rel=1e-6, abs=1e-6)
                difference = (up.gradient - down.gradient) / 2e-5
                np.testing.assert_allclose(difference, at.hessian[k], rtol=1e-5, atol=1e-5)


def test_units_do_not_matter():
    X, y = tied_data()
    one, other = cc.CoxPH().fit(X, y), cc.CoxPH().fit(X * [1, 1000, 1e-6, 1] + 7, y)
    np.testing.assert_allclose(one.coef_, other.coef_ * [1, 1000, 1e-6, 1], rtol=1e-8)
    np.testing.assert_allclose(
        one.survival([0.5], X[:5]), other.survival([0.5], X[:5] * [1, 1000, 1e-6, 1] + 7), rtol=1e-8
    )


def test_separation_warns_and_ridge_mends():
    X = np.arange(10.0)[:, None]
    y = (10.0 - X[:, 0], np.ones(10, bool))
    with pytest.warns(cc.warnings.FitWarning, match="did not converge"):
        model = cc.CoxPH().fit(X, y)
    assert not model.converged_
    assert cc.CoxPH(ridge=1.0).fit(X, y).converged_


def test_a_group_without_events_warns():
    rng = np.random.default_rng(0)
    x = np.repeat([0.0, 1.0], 50)[:, None]
    with pytest.warns(cc.warnings.FitWarning, match="coefficient"):
        model = cc.CoxPH().fit(x, (rng.exponential(size=100), (x[:, 0] == 0)))
    assert model.coef_[0] < -5


def test_columns_must_come_in_the_order_of_the_fit():
    X, y = tied_data()
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = cc.CoxPH().fit(frame, y)
    np.testing.assert_array_equal(model.predict(frame), model.predict(X))
    refuses(lambda: model.predict(frame[list("bacd")]), "X must have the columns", "order")


@pytest.mark.parametrize(
    ("call", "parts"),
    [
        (lambda X, y: cc.CoxPH().fit(X[:5], y), ("X has", "5", "y has", "400")),
        (lambda X, y: cc.CoxPH().fit(X[:, :0], y), ("X must", "(n, p)", "(400, 0)")),
        (lambda X, y: cc.CoxPH().fit(np.c_[X, X[:, 0] + X[:, 3]], y), ("X has", "dependent columns")),
        (lambda X, y: cc.CoxPH().fit(np.c_[X, np.ones(400)], y), ("column 4", "constant")),
        (lambda X, y: cc.CoxPH().fit(X, cc.Survival(y.time, np.zeros(400))), ("y has no event",)),
        (
            lambda X, y: cc.CoxPH(of="dropout").fit(X, cc.Survival(y.time, np.ones(400))),
            ("y has no dropout",),
        ),
        (lambda X, y: cc.CoxPH().fit(X * [1.0, 1e300, 1.0, 1.0], y), ("X must", "column 1", "e+301")),
        (lambda X, y: cc.CoxPH().fit(X * [1.0, 1e-155, 1.0, 1.0], y), ("X must", "column 1", "e-15")),
        (lambda X, y: cc.CoxPH().fit(np.c_[X, 1.7e308 * np.sign(X[:, 0])], y), ("column 4",)),
        (lambda X, y: cc.CoxPH().fit(X, y).survival([[1.0], [2.0]], X), ("times", "(2, 1)")),
        (lambda X, y: cc.CoxPH().fit(X, y).survival(np.empty((0, 3)), X), ("times", "(0, 3)")),
        (
            lambda X, y: cc.CoxPH().fit(X, y).survival([[1.0], [1.0, 2.0]], X),
            ("times must be a rectangular",),
        ),
        (lambda X, y: cc.CoxPH().predict(X), ("CoxPH", "not fitted")),
        (lambda X, y: cc.CoxPH().fit(X, y).predict(X[:, :2]), ("X must", "4 columns", "2")),
        (lambda X, y: cc.CoxPH(ridge=-1.0), ("ridge", "-1.0")),
        (lambda X, y: cc.CoxPH(ties="exact"), ("ties", "'exact'")),
        (lambda X, y: cc.CoxPH(ridge="1"), ("ridge", "numeric")),
        (lambda X, y: cc.CoxPH(max_iter=0), ("max_iter", "is 0")),
        (lambda X, y: cc.CoxPH().baseline_, ("CoxPH", "not fitted")),
        (lambda X, y: cc.CoxPH().fit(pd.DataFrame({"a": ["x"] * 400}), y), ("X['a']", "numeric")),
    ],
)
def test_refusals(call, parts):
    refuses(lambda: call(*tied_data()), *parts, kind=ValueError)


def test_a_column_that_does_not_vary_among_those_at_risk_is_named():
    X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0], [0.5, 0.0]])
    y = cc.Survival(
        [1.0, 2.0, 3.0, 4.0], [False, True, True, True]
    )  # the only bearer leaves before the first event
    refuses(lambda: cc.CoxPH().fit(X, y), "X must vary", "column 1")


@pytest.mark.parametrize(("sign", "at_the_end"), [(-1.0, 1.0), (1.0, 0.0)])
def test_hazard_ratios_beyond_double_precision(sign, at_the_end):
    X, y = np.random.default_rng(0).normal(size=(200, 1)), tied_data(200)[1]
    model = cc.CoxPH().fit(X, y)
    far = np.array([[sign * np.sign(model.coef_[0]) * 1e5]])
    assert sign * model.predict(far)[0] > 1e3
    survival = model.survival([0.0, y.t_max], far)
    np.testing.assert_array_equal(survival, [[1.0, at_the_end]])  # nothing has happened at time 0
    np.testing.assert_array_equal(model.predict_survival_function(far)([0.0, y.t_max]), survival)


def test_log_hazard_ratios_that_are_no_numbers_are_refused():
    X, y = tied_data()
    with pytest.raises(ValueError, match="^X .* row 1 "):
        cc.CoxPH().fit(X, y).survival([1.0], [X[0], np.sign(cc.CoxPH().fit(X, y).coef_) * 1.7e308])


@pytest.mark.parametrize("of", ["event", "dropout"])
@pytest.mark.parametrize("shape", [(8, 3), (6, 2)])
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_small_samples_end_in_a_fit_or_in_a_sentence(shape, of):
    unconverged, said = 0, []
    for seed in range(130):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=shape)
        y = cc.Survival(rng.exponential(size=shape[0]), rng.random(shape[0]) < 0.5)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cc.warnings.FitWarning)
            try:
                model = cc.CoxPH(of=of).fit(X, y)
            except ValueError as error:
                said.append(str(error))
                continue
        unconverged += not model.converged_
        assert np.isfinite(model.coef_).all()
        assert np.isfinite(model.covariance_).all()
        assert np.isfinite(model.survival([0.0, 1.0], X)).all()
    assert unconverged
    assert all(each.startswith(("X must vary", "X has linearly dependent", "y has no")) for each in said)


def test_separation_in_three_covariates_warns():
    rng = np.random.default_rng(31)
    X = rng.normal(size=(8, 3))
    y = cc.Survival(rng.exponential(size=8), rng.random(8) < 0.5)
    with pytest.warns(cc.warnings.FitWarning, match="a covariate may separate"):
        cc.CoxPH().fit(X, y)
