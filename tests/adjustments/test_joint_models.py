"""Imputation and weights from a joint model."""

import warnings

import numpy as np
import pytest

import cocensor as cc
from cocensor.adjustments.samples import Samples
from cocensor.data.border import as_predictions
from cocensor.data.times import TimeGrid
from cocensor.simulate import SyntheticDesign
from tests.adjustments.joint import brier, setting, status_of
from tests.refusals import refuses

COPULAS = [cc.Independence(), cc.Clayton(2.0), cc.Frank(-3.0), cc.Gaussian(0.5)]
every_copula = pytest.mark.parametrize("copula", COPULAS, ids=lambda copula: copula.name)
every_given = pytest.mark.parametrize("given", ["covariates", "prediction"])


@every_copula
@every_given
def test_weights_are_probabilities_and_follow_what_is_known(copula, given):
    data, y, train, test, times, curves = setting(copula, administrative=True)
    status = status_of(cc.Imputation(given, copula), y, train, test, times, data.X, curves)
    np.testing.assert_allclose(status.a + status.b, 1.0, atol=1e-12)
    assert ((status.a >= 0) & (status.a <= 1)).all()
    observed = y[test].event
    oracle = (y[test].time[:, None] > times).astype(float)
    np.testing.assert_array_equal(status.a[observed], oracle[observed])
    before = times <= y[test].time[:, None]
    assert (status.a[before & ~observed[:, None]] == 1.0).all()
    assert status.normaliser == len(test)
    assert (np.diff(status.a, axis=1) <= 1e-12).all()


@every_copula
def test_given_covariates_it_is_the_models_conditional_survival(copula):
    data, y, train, test, times, _ = setting(copula, administrative=True)
    model = cc.fit_joint(data.X[train], y[train], copula, "spline")
    fitted = cc.Imputation("covariates", copula).fit(y[train], data.X[train])
    taken = cc.Imputation("covariates", model=model).fit(y[train])
    outcome = y[test]
    for adjustment in (fitted, taken):
        status = adjustment.weights(outcome, times, data.X[test])
        censored = np.flatnonzero(~outcome.event)
        direct = model.conditional_survival(
            times, outcome.time[censored], data.X[test][censored], outcome.administrative[censored]
        )
        np.testing.assert_allclose(status.a[censored], direct, atol=1e-9)
        assert status.model.copula == copula


@every_given
def test_without_censoring_it_is_the_oracle(given):
    data, _, train, test, times, curves = setting(cc.Independence())
    y = cc.Survival(data.event_time, np.ones(len(data), bool))
    status = status_of(cc.Imputation(given, cc.Clayton(2.0)), y, train, test, times, data.X, curves)
    oracle = cc.Oracle(data.event_time[test]).fit(y[test]).weights(y[test], times)
    np.testing.assert_array_equal(status.a, oracle.a)
    weighted = cc.DependentIPCW(cc.Clayton(2.0), given="covariates").fit(y[train], data.X[train])
    np.testing.assert_array_equal(weighted.weights(y[test], times, data.X[test]).a, oracle.a)
    if given == "covariates":
        fitted = cc.Imputation(given, cc.Clayton(2.0)).fit(y[train], data.X[train])
        refuses(
            lambda: fitted.weights(data.y[test], times, data.X[test]), "x_train and y_train", "no dropout"
        )


@every_given
@every_copula
def test_order_and_units_do_not_matter(copula, given):
    data, y, train, test, times, curves = setting(copula, n=600)
    rng = np.random.default_rng(1)
    adjustment = cc.Imputation(given, copula)
    status = status_of(adjustment, y, train, test, times, data.X, curves)
    order = rng.permutation(len(test))
    rows = np.concatenate((rng.permutation(train), test[order]))
    other, X = cc.Survival(8 * y.time[rows], y.event[rows]), 3 * data.X[rows] - 1
    moved = status_of(adjustment, other, train, test, 8 * times, X, curves[order])
    np.testing.assert_allclose(moved.a, status.a[order], atol=2e-5)


@every_given
def test_the_kernel_sums_the_weights_that_the_status_shows(given):
    data, y, train, test, times, curves = setting(cc.Clayton(2.0), n=16_000, administrative=True)
    reverse = times[::-1]
    adjustments = [cc.Imputation(given, cc.Clayton(2.0))]
    if given == "covariates":
        adjustments.append(cc.DependentIPCW(cc.Frank(2.0), given="covariates"))
    for adjustment in adjustments:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cc.warnings.HorizonWarning)
            status = status_of(adjustment, y, train, test, reverse, data.X, curves[:, ::-1])
        valid = status.times < status.valid_until
        direct = (status.a * (1 - curves[:, ::-1]) ** 2 + status.b * curves[:, ::-1] ** 2).mean(axis=0)
        np.testing.assert_allclose(brier(status, curves[:, ::-1])[valid], direct[valid], rtol=1e-11)
        assert valid[-3:].all()


@pytest.mark.parametrize("copula", [cc.Clayton.from_tau(0.5), cc.Frank.from_tau(0.5)])
def test_it_removes_most_of_the_error(copula):
    """The paper's setting with half of the covariates in the evaluated model; two of the ten seeds of the docs."""
    errors = {"ipcw": [], "covariates": [], "prediction": []}
    for seed in range(2):
        data = SyntheticDesign(copula=copula).draw(seed)
        train, test = data[:7000], data[7000:]
        times = np.linspace(0.0, float(np.quantile(train.y.time, 0.9)), 51)[1:]
        curves = cc.CoxPH().fit(train.X[:, :5], train.y).survival(times, test.X[:, :5])

        def score(adjustment, train=train, test=test, curves=curves, times=times):
            return cc.integrated_brier_score(
                train.y, test.y, curves, times, adjustment=adjustment, x_train=train.X, x_test=test.X
            )

        truth = score(cc.Oracle(test.event_time))
        errors["ipcw"].append(score(cc.IPCW()) - truth)
        errors["covariates"].append(score(cc.Imputation("covariates", copula, margins="weibull")) - truth)
        # given the score, the dependence is weaker than given all covariates
        weaker = type(copula).from_tau(0.42)
        errors["prediction"].append(score(cc.Imputation("prediction", weaker)) - truth)
    size = {name: np.abs(values).mean() for name, values in errors.items()}
    assert size["covariates"] < size["ipcw"] / 5
    assert size["prediction"] < size["ipcw"] / 3


def test_dependent_ipcw_given_covariates_is_unbiased_where_it_answers():
    """Weights of the true model: the mean of a and b are the shares event-free and not, within their error."""
    copula = cc.Clayton(1.0)
    data = SyntheticDesign(n=60_000, n_features=2, copula=copula, censoring_rate=0.3).draw(3)
    times = np.array([5.0, 9.0, 12.0])
    adjustment = cc.DependentIPCW(copula, given="covariates", margins="weibull").fit(data.y, data.X)
    status = adjustment.weights(data.y, times, data.X)
    assert status.valid_until > times[-1]
    free = data.event_time[:, None] > times
    np.testing.assert_allclose(status.a.mean(axis=0), free.mean(axis=0), atol=0.01)
    np.testing.assert_allclose(status.b.mean(axis=0), 1 - free.mean(axis=0), atol=0.01)
    # also within halves of the covariates, which marginal weights do not manage
    high = data.X @ data.event_coef > np.median(data.X @ data.event_coef)
    np.testing.assert_allclose(status.b[high].mean(axis=0), 1 - free[high].mean(axis=0), atol=0.015)


def test_dependent_ipcw_given_covariates_stops_where_next_to_nothing_is_seen():
    data = SyntheticDesign(n=3000, copula=cc.Clayton(6.0)).draw(0)
    adjustment = cc.DependentIPCW(cc.Clayton(6.0), given="covariates").fit(data.y, data.X)
    with pytest.warns(cc.warnings.HorizonWarning, match="fewer than 5%"):
        status = adjustment.weights(data.y, [1.0, data.y.t_max], data.X)
    assert np.isnan(status.a[:, 1]).all()
    assert not np.isnan(status.a[:, 0]).any()


def test_grouped_times():
    """Months: what is imputed changes only from one end of a month to the next."""
    data = SyntheticDesign(
        n=4000, n_features=2, event=(1.2, 6.0), dropout=(1.5, 5.0), copula=cc.Clayton(1.0)
    ).draw(1)
    y = cc.Survival.from_latent(np.ceil(data.event_time), np.ceil(data.dropout_time))
    status = (
        cc.Imputation("covariates", cc.Clayton(1.0)).fit(y, data.X).weights(y, [3.0, 3.5, 3.99, 4.0], data.X)
    )
    assert status.model.time_kind_ == "grouped"
    np.testing.assert_array_equal(status.a[:, 0], status.a[:, 2])
    free = (np.ceil(data.event_time)[:, None] > [3.0, 3.5, 3.99, 4.0]).mean(axis=0)
    np.testing.assert_allclose(status.a.mean(axis=0), free, atol=0.02)
    weighted = cc.DependentIPCW(cc.Clayton(1.0), given="covariates", margins="weibull").fit(y, data.X)
    status = weighted.weights(y, [2.0, 4.0], data.X)
    np.testing.assert_allclose(
        status.b.mean(axis=0), (np.ceil(data.event_time)[:, None] <= [2.0, 4.0]).mean(axis=0), atol=0.03
    )


def test_under_another_copula_it_is_what_a_fit_under_that_copula_is():
    data, y, train, test, times, curves = setting(cc.Clayton(2.0), n=600)
    predicted = {"m": as_predictions(curves, len(test), times=times)}
    samples = Samples.of(y[test], data.X[test], y[train], data.X[train])
    for adjustment in (
        cc.Imputation("covariates", cc.Clayton(2.0)),
        cc.Imputation("prediction", cc.Clayton(2.0)),
        cc.Imputation((), cc.Clayton(2.0)),
        cc.adjustments.MarginTime(cc.Clayton(2.0), "uncertainty"),
        cc.DependentIPCW(cc.Clayton(0.2)),
    ):
        before = samples.fit(adjustment, predicted)
        moved = before.with_copula(cc.Frank(0.5))
        again = samples.fit(adjustment.with_copula(cc.Frank(0.5)), predicted)
        early = TimeGrid.of(times[:4])
        found, expected = samples.weights(moved, early), samples.weights(again, early)
        np.testing.assert_allclose(found.a, expected.a, atol=1e-6)
        assert moved.adjustment == again.adjustment
        assert before.adjustment == adjustment  # and stays what it was
    fixed = cc.IPCW().fit(y)
    refuses(lambda: fixed.with_copula(cc.Frank(1.0)), "IPCW", "copula")
    refuses(lambda: cc.IPCW().with_copula(cc.Frank(1.0)), "IPCW", "copula")


def test_what_it_says_of_itself():
    given_x = cc.Imputation("covariates", cc.Clayton(2.0))
    assert given_x.needs == {"covariates"}
    assert given_x.assumption == (
        "Given the covariates, event and dropout have the stated copula and margins of the stated form."
    )
    estimated = cc.Imputation("prediction", "frank", margins="weibull")
    assert estimated.needs == {"prediction"}
    assert "risk score" in estimated.assumption
    assert "frank" in estimated.assumption
    both = cc.Imputation(["predictions", "covariates"])
    assert both.given == ("covariates", "predictions")
    assert both.needs == {"covariates", "predictions"}
    weighted = cc.DependentIPCW(cc.Gaussian(0.3), given="covariates")
    assert weighted.needs == {"covariates"}
    assert "covariates" in weighted.assumption
    assert cc.DependentIPCW().needs == frozenset()


def test_refusals():
    data, y, train, test, times, curves = setting(cc.Clayton(2.0), n=400)
    X = data.X
    predicted = {"m": as_predictions(curves, len(test), times=times)}
    refuses(lambda: cc.Imputation("covariates").fit(y[train]), "x_train")
    refuses(lambda: cc.Imputation(("covariates", "predictions")).fit(y[test], None, predicted), "x_test")
    fitted = cc.Imputation("covariates").fit(y[train], X[train])
    refuses(lambda: fitted.weights(y[test], times), "x_test")
    refuses(lambda: fitted.weights(y[test], times, X[test][:, :2]), "x_test", "3 columns", "has 2")
    refuses(lambda: cc.Imputation("prediction").fit(y[test]), "predictions")
    of_test = cc.Imputation("prediction").fit(y[test], None, predicted)
    refuses(lambda: of_test.weights(y[train][:7], times), "y_test", str(len(test)), "7")
    few = test[:6]
    refuses(
        lambda: cc.Imputation("prediction", knots=3).fit(y[few], None, {"m": predicted["m"][:6]}),
        "y_test",
        "too few",
    )
    refuses(lambda: cc.Imputation("x"), "given", "'x'")
    refuses(lambda: cc.Imputation(None), "given", "NoneType", kind=TypeError)
    refuses(lambda: cc.Imputation(("prediction", "predictions")), "given", "'prediction', 'predictions'")
    refuses(lambda: cc.Imputation("covariates", conditioning="event_free"), "conditioning", "covariates")
    refuses(lambda: cc.Imputation("covariates", time_kind="days"), "time_kind", "'days'")
    refuses(lambda: cc.Imputation("covariates", knots=0), "knots", "0")
    model = fitted.weights(y[test], times, X[test]).model
    refuses(lambda: cc.Imputation("covariates", cc.Clayton(1.0), model=model), "copula", "Clayton")
    refuses(lambda: cc.Imputation("prediction", model=model), "model")
    refuses(lambda: cc.DependentIPCW(model=model), "model", "given")
    refuses(lambda: cc.DependentIPCW(given="prediction"), "given", "'prediction'")
    refuses(lambda: cc.Imputation("covariates", model=3), "model", "int", kind=TypeError)
    refuses(lambda: cc.Imputation("prediction", score_times=0), "score_times", "0")
    refuses(lambda: cc.Imputation("prediction", score_times=[]), "score_times", "empty")
    with pytest.warns(cc.warnings.HorizonWarning, match=f"{model.t_max_:.4g}"):
        status = fitted.weights(y[test], [1.0, 1e3], X[test])
    assert np.isfinite(status.a).all()


# --- where it went wrong once -------------------------------------------------------------------------------


def test_weights_stop_where_nobody_is_left_to_be_weighed():
    """A common end of study: from there on the event-free have no one to stand for them."""
    data = SyntheticDesign(
        n=20_000, n_features=2, event=(1.2, 6.0), dropout=(1.5, 5.0), copula=cc.Clayton(1.0)
    ).draw(0)
    y = cc.Survival.from_latent(data.event_time, data.dropout_time, 4.0)
    adjustment = cc.DependentIPCW(cc.Clayton(1.0), given="covariates", margins="weibull").fit(y, data.X)
    with pytest.warns(cc.warnings.HorizonWarning):
        status = adjustment.weights(y, [3.0, 3.9, 4.0, 5.0], data.X)
    assert status.valid_until == 4.0
    found = status.a.mean(axis=0)
    np.testing.assert_allclose(found[:2], (data.event_time[:, None] > [3.0, 3.9]).mean(axis=0), atol=0.02)
    assert np.isnan(found[2:]).all()


def test_infinite_weights_of_those_who_are_gone_do_not_matter():
    copula = cc.Gaussian.from_tau(-0.95)
    rng = np.random.default_rng(0)
    n = 400
    X = rng.normal(size=(n, 1))
    u, v = copula.sample(n, rng).T
    y = cc.Survival.from_latent((-np.log(u) * np.exp(-2 * X[:, 0])) ** 0.5, (-np.log(v)) ** 0.5)
    times = np.quantile(y.time, [0.2, 0.5, 0.8])
    adjustment = cc.DependentIPCW(copula, given="covariates", margins="weibull").fit(y, X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.warnings.HorizonWarning)
        status = adjustment.weights(y, times, X)
    valid = times < status.valid_until
    assert np.isfinite(brier(status, np.full((n, 3), 0.5))[valid]).all()


def test_at_time_zero_an_event_has_happened_and_a_dropout_knows_nothing():
    data = SyntheticDesign(n=600, n_features=2, copula=cc.Clayton(2.0)).draw(0)
    happened, left = np.flatnonzero(data.y.event)[0], np.flatnonzero(~data.y.event)[0]
    time = data.y.time.copy()
    time[[happened, left]] = 0.0
    test = cc.Survival(time, data.y.event)
    times = np.array([0.0, 5.0, 10.0])
    fitted = cc.Imputation("covariates", cc.Clayton(2.0)).fit(data.y, data.X)
    status = fitted.weights(test, times, data.X)
    np.testing.assert_array_equal(status.a[happened], 0.0)
    np.testing.assert_allclose(status.a[left], status.model.survival(times, data.X[[left]])[0], atol=1e-12)
    weighted = cc.DependentIPCW(cc.Clayton(2.0), given="covariates").fit(data.y, data.X)
    status = weighted.weights(test, times, data.X)
    np.testing.assert_allclose(status.b[happened], 1.0)
    np.testing.assert_array_equal(status.a[left][1:], 0.0)
    with pytest.warns(cc.warnings.FitWarning, match="^2 subjects .* 0"):
        itself = cc.Imputation("covariates", cc.Clayton(2.0)).fit(test, data.X).weights(test, times, data.X)
    assert np.isfinite(itself.a).all()


def test_a_model_without_covariates_ignores_them():
    data = SyntheticDesign(n=600, n_features=2).draw(0)
    model = cc.fit_joint(None, data.y, cc.Clayton(1.0))
    adjustment = cc.Imputation("covariates", model=model).fit(data.y, data.X)
    with_x, without = (adjustment.weights(data.y, [5.0, 10.0], x).a for x in (data.X, None))
    np.testing.assert_array_equal(with_x, without)


def test_the_skill_score_takes_what_adjustments_take():
    data = SyntheticDesign(n=800, n_features=2, copula=cc.Clayton(2.0)).draw(0)
    times = np.linspace(1.0, 10.0, 10)
    curves = cc.CoxPH().fit(data.X, data.y).survival(times, data.X)
    choice = cc.select_copula(data.X, data.y, data.X, data.y, families=("clayton",))
    model = cc.fit_joint(data.X, data.y, cc.Clayton(2.0))
    for options in (
        {"adjustment": "imputation_margins", "copula": choice},
        {"adjustment": cc.Imputation("covariates", model=model)},
    ):
        skill = cc.brier_skill_score(
            data.y,
            data.y,
            curves,
            times,
            reference="copula_graphic",
            x_train=data.X,
            x_test=data.X,
            **options,
        )
        assert 0 < skill < 1
    options = {"adjustment": cc.Imputation("covariates", "clayton"), "x_train": data.X, "x_test": data.X}
    refuses(
        lambda: cc.brier_skill_score(data.y, data.y, curves, times, reference="copula_graphic", **options),
        "copula",
        "'copula_graphic'",
    )
