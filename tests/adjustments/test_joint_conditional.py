"""Imputation and weights from a joint model."""

import warnings

import numpy as np
import pytest

import cocensor as cc
from cocensor.metrics.brier import BRIER
from cocensor.simulate import SyntheticDesign

COPULAS = [cc.Independence(), cc.Clayton(2.0), cc.Frank(-3.0), cc.Gaussian(0.5)]
every_copula = pytest.mark.parametrize("copula", COPULAS, ids=lambda copula: copula.name)
every_given = pytest.mark.parametrize("given", ["covariates", "prediction"])


def setting(copula, seed=0, n=1500, administrative=False):
    data = SyntheticDesign(n=n, n_features=3, copula=copula).draw(seed)
    y = data.y
    if administrative:
        end = np.random.default_rng(seed).uniform(5, 30, size=n)
        y = cc.Survival.from_latent(data.event_time, data.dropout_time, end)
    half = n // 2
    times = np.linspace(0.0, float(np.quantile(y.time[:half], 0.9)), 13)[1:]
    cox = cc.CoxPH().fit(data.X[:half], y[np.arange(half)])
    train, test = np.arange(half), np.arange(half, n)
    return data, y, train, test, times, cox.survival(times, data.X[half:])


@every_copula
@every_given
def test_weights_are_probabilities_and_follow_what_is_known(copula, given):
    data, y, train, test, times, curves = setting(copula, administrative=True)
    adjustment = cc.JointConditional(given, copula).fit(y[train], data.X[train])
    status = adjustment.status(y[test], times, data.X[test], curves)
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
    fitted = cc.JointConditional("covariates", copula).fit(y[train], data.X[train])
    taken = cc.JointConditional("covariates", model=model).fit(y[train])
    outcome = y[test]
    for adjustment in (fitted, taken):
        status = adjustment.status(outcome, times, data.X[test])
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
    adjustment = cc.JointConditional(given, cc.Clayton(2.0)).fit(y[train], data.X[train])
    status = adjustment.status(y[test], times, data.X[test], curves)
    oracle = cc.Oracle(data.event_time[test]).status(y[test], times)
    np.testing.assert_array_equal(status.a, oracle.a)
    weighted = cc.DependentIPCW(cc.Clayton(2.0), given="covariates").fit(y[train], data.X[train])
    np.testing.assert_array_equal(weighted.status(y[test], times, data.X[test]).a, oracle.a)
    if given == "covariates":
        with pytest.raises(ValueError, match="cannot be fitted to x_train and y_train: y has no dropout"):
            adjustment.status(data.y[test], times, data.X[test])


@every_given
@every_copula
def test_order_and_units_do_not_matter(copula, given):
    data, y, train, test, times, curves = setting(copula, n=600)
    rng = np.random.default_rng(1)
    adjustment = cc.JointConditional(given, copula).fit(y[train], data.X[train])
    status = adjustment.status(y[test], times, data.X[test], curves)
    shuffled_train, order = rng.permutation(train), rng.permutation(len(test))
    other = cc.JointConditional(given, copula).fit(
        cc.Survival(8 * y.time[shuffled_train], y.event[shuffled_train]), 3 * data.X[shuffled_train] - 1
    )
    outcome = cc.Survival(8 * y.time[test][order], y.event[test][order])
    moved = other.status(outcome, 8 * times, 3 * data.X[test][order] - 1, curves[order])
    np.testing.assert_allclose(moved.a, status.a[order], atol=2e-5)


@every_given
def test_the_kernel_sums_the_weights_that_the_status_shows(given):
    data, y, train, test, times, curves = setting(cc.Clayton(2.0), n=16_000, administrative=True)
    reverse = times[::-1]
    adjustments = [cc.JointConditional(given, cc.Clayton(2.0))]
    if given == "covariates":
        adjustments.append(cc.DependentIPCW(cc.Frank(2.0), given="covariates"))
    for adjustment in adjustments:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cc.HorizonWarning)
            status = adjustment.fit(y[train], data.X[train]).status(
                y[test], reverse, data.X[test], curves[:, ::-1]
            )
        valid = status.times < status.until
        direct = (status.a * (1 - curves[:, ::-1]) ** 2 + status.b * curves[:, ::-1] ** 2).mean(axis=0)
        np.testing.assert_allclose(status.mean(BRIER, curves[:, ::-1])[valid], direct[valid], rtol=1e-11)
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
        errors["covariates"].append(score(cc.JointConditional("covariates", copula, "weibull")) - truth)
        # given the score, the dependence is weaker than given all covariates
        weaker = type(copula).from_tau(0.42)
        errors["prediction"].append(score(cc.JointConditional("prediction", weaker)) - truth)
    size = {name: np.abs(values).mean() for name, values in errors.items()}
    assert size["covariates"] < size["ipcw"] / 5
    assert size["prediction"] < size["ipcw"] / 3


def test_dependent_ipcw_given_covariates_is_unbiased_where_it_answers():
    """Weights of the true model: the mean of a and b are the shares event-free and not, within their error."""
    copula = cc.Clayton(1.0)
    data = SyntheticDesign(n=60_000, n_features=2, copula=copula, censoring_rate=0.3).draw(3)
    times = np.array([5.0, 9.0, 12.0])
    adjustment = cc.DependentIPCW(copula, given="covariates", margins="weibull").fit(data.y, data.X)
    status = adjustment.status(data.y, times, data.X)
    assert status.until > times[-1]
    free = data.event_time[:, None] > times
    np.testing.assert_allclose(status.a.mean(axis=0), free.mean(axis=0), atol=0.01)
    np.testing.assert_allclose(status.b.mean(axis=0), 1 - free.mean(axis=0), atol=0.01)
    # also within halves of the covariates, which marginal weights do not manage
    high = data.X @ data.event_coef > np.median(data.X @ data.event_coef)
    np.testing.assert_allclose(status.b[high].mean(axis=0), 1 - free[high].mean(axis=0), atol=0.015)


def test_dependent_ipcw_given_covariates_stops_where_next_to_nothing_is_seen():
    data = SyntheticDesign(n=3000, copula=cc.Clayton(6.0)).draw(0)
    adjustment = cc.DependentIPCW(cc.Clayton(6.0), given="covariates").fit(data.y, data.X)
    with pytest.warns(cc.HorizonWarning, match="fewer than 5% of the events are seen"):
        status = adjustment.status(data.y, [1.0, data.y.t_max], data.X)
    assert np.isnan(status.a[:, 1]).all()
    assert not np.isnan(status.a[:, 0]).any()


# --- the risk score -----------------------------------------------------------------------------------------


def test_one_score_at_the_median_by_default():
    _, y, train, test, times, curves = setting(cc.Clayton(2.0))
    status = (
        cc.JointConditional("prediction", cc.Clayton(2.0)).fit(y[train]).status(y[test], times, None, curves)
    )
    median = np.quantile(y[test].time, 0.5, method="inverted_cdf")
    nearest = times[np.argmin(np.abs(times - median))]
    assert status.notes == (f"risk score at time {nearest:g}",)
    assert status.model.event.beta.size == 1
    # curves are read at the median itself
    known = cc.SurvivalCurves(np.append(0.0, times), np.column_stack((np.ones(len(test)), curves)))
    status = (
        cc.JointConditional("prediction", cc.Clayton(2.0)).fit(y[train]).status(y[test], times, None, known)
    )
    assert status.notes == (f"risk score at time {median:g}",)


def test_scores_of_a_cox_model_at_several_times_are_one():
    _, y, train, test, times, curves = setting(cc.Clayton(2.0))
    adjustment = cc.JointConditional("prediction", score_times=3).fit(y[train])
    status = adjustment.status(y[test], times, None, curves)
    assert status.model.event.beta.size == 1
    assert sum("left out: constant, or explained by the others" in note for note in status.notes) == 2


def test_curves_that_cross_keep_their_scores():
    _, y, train, test, times, _ = setting(cc.Clayton(2.0))
    rng = np.random.default_rng(0)
    shape, scale = rng.uniform(1, 6, len(test)), rng.uniform(10, 20, len(test))
    curves = np.exp(-((times / scale[:, None]) ** shape[:, None]))
    adjustment = cc.JointConditional("prediction", score_times=(6.0, 10.0, 14.0)).fit(y[train])
    status = adjustment.status(y[test], times, None, curves)
    assert status.model.event.beta.size == 2  # log(−log S) is linear in two numbers per subject


def test_a_constant_prediction_leaves_no_score():
    _, y, train, test, times, _ = setting(cc.Clayton(2.0))
    same = np.broadcast_to(np.exp(-times / 15), (len(test), times.size))
    status = (
        cc.JointConditional("prediction", cc.Clayton(2.0)).fit(y[train]).status(y[test], times, None, same)
    )
    assert status.model.event.beta.size == 0
    certain = np.ones((len(test), times.size))
    status = (
        cc.JointConditional("prediction", cc.Clayton(2.0)).fit(y[train]).status(y[test], times, None, certain)
    )
    assert status.model.event.beta.size == 0


def test_predictions_of_0_or_1_are_moved_inside_for_the_score_only():
    _, y, train, test, times, curves = setting(cc.Clayton(2.0))
    sure = curves.copy()
    sure[:5] = 0.0
    sure[5:8] = 1.0
    adjustment = cc.JointConditional("prediction", cc.Clayton(2.0)).fit(y[train])
    status = adjustment.status(y[test], times, None, sure)
    assert "8 predictions of 0 or 1" in status.notes[0]
    assert np.isfinite(status.mean(BRIER, sure)).all()


def test_several_models_have_each_their_own_status():
    data, y, train, test, times, curves = setting(cc.Clayton(2.0))
    worse = curves**1.5
    flipped = curves[::-1]
    adjustment = cc.JointConditional("prediction", cc.Clayton(2.0))
    together = cc.brier_score(
        y[train], y[test], {"a": curves, "b": worse, "c": flipped}, times, adjustment=adjustment
    )
    for name, each in (("a", curves), ("b", worse), ("c", flipped)):
        alone = cc.brier_score(y[train], y[test], each, times, adjustment=adjustment)
        np.testing.assert_array_equal(together[name], alone)
    by_name = cc.brier_score(
        y[train], y[test], curves, times, adjustment="given_prediction", copula=cc.Clayton(2.0)
    )
    np.testing.assert_array_equal(by_name, together["a"])
    with_x = cc.brier_score(
        y[train],
        y[test],
        curves,
        times,
        adjustment="given_covariates",
        copula=cc.Clayton(2.0),
        x_train=data.X[train],
        x_test=data.X[test],
    )
    assert not np.array_equal(with_x, by_name)


def test_grouped_times():
    """Months: what is imputed changes only from one end of a month to the next."""
    data = SyntheticDesign(
        n=4000, n_features=2, event=(1.2, 6.0), dropout=(1.5, 5.0), copula=cc.Clayton(1.0)
    ).draw(1)
    y = cc.Survival.from_latent(np.ceil(data.event_time), np.ceil(data.dropout_time))
    status = (
        cc.JointConditional("covariates", cc.Clayton(1.0))
        .fit(y, data.X)
        .status(y, [3.0, 3.5, 3.99, 4.0], data.X)
    )
    assert status.model.time_kind_ == "grouped"
    np.testing.assert_array_equal(status.a[:, 0], status.a[:, 2])
    free = (np.ceil(data.event_time)[:, None] > [3.0, 3.5, 3.99, 4.0]).mean(axis=0)
    np.testing.assert_allclose(status.a.mean(axis=0), free, atol=0.02)
    weighted = cc.DependentIPCW(cc.Clayton(1.0), given="covariates", margins="weibull").fit(y, data.X)
    status = weighted.status(y, [2.0, 4.0], data.X)
    np.testing.assert_allclose(
        status.b.mean(axis=0), (np.ceil(data.event_time)[:, None] <= [2.0, 4.0]).mean(axis=0), atol=0.03
    )


def test_what_it_says_of_itself():
    given_x = cc.JointConditional("covariates", cc.Clayton(2.0))
    assert given_x.needs == {"covariates"}
    assert given_x.assumption == (
        "Given the covariates, event and dropout have Clayton(theta=2.0) and margins of the stated form."
    )
    estimated = cc.JointConditional("prediction", "frank", "weibull")
    assert estimated.needs == {"estimate"}
    assert "the evaluated model's own risk score" in estimated.assumption
    assert "a frank copula with the θ that fits best" in estimated.assumption
    assert repr(estimated) == "JointConditional('prediction', copula='frank', margins='weibull')"
    weighted = cc.DependentIPCW(cc.Gaussian(0.3), given="covariates")
    assert weighted.needs == {"covariates"}
    assert repr(weighted) == "DependentIPCW(Gaussian(theta=0.3), given='covariates')"
    assert weighted.assumption.startswith("Given the covariates")
    assert cc.DependentIPCW().needs == frozenset()


def test_refusals():
    data, y, train, test, times, curves = setting(cc.Clayton(2.0), n=400)
    X = data.X
    with pytest.raises(ValueError, match="x_train is needed: the joint model is given covariates"):
        cc.JointConditional("covariates").fit(y[train])
    fitted = cc.JointConditional("covariates").fit(y[train], X[train])
    with pytest.raises(ValueError, match="x_test is needed: the joint model is given covariates"):
        fitted.status(y[test], times)
    with pytest.raises(ValueError, match="x_test must have 3 columns, as in the fit, but has 2"):
        fitted.status(y[test], times, X[test][:, :2])
    with pytest.raises(ValueError, match="estimate is needed: the joint model is given the prediction"):
        cc.JointConditional("prediction").fit(y[train]).status(y[test], times)
    few = test[:6]
    with pytest.raises(ValueError, match="the joint model cannot be fitted to y_test: y has too few"):
        cc.JointConditional("prediction").fit(y[train]).status(y[few], times, None, curves[:6])
    zero = cc.Survival(np.where(np.arange(len(test)) == 2, 0.0, y[test].time), y[test].event)
    with pytest.raises(ValueError, match="y must have times above 0 for a joint model, but row 2 is 0.0"):
        cc.JointConditional("prediction").fit(y[train]).status(zero, times, None, curves)
    with pytest.raises(ValueError, match="given must be one of 'covariates', 'prediction', but is 'x'"):
        cc.JointConditional("x")
    model = fitted.status(y[test], times, X[test]).model
    with pytest.raises(ValueError, match="copula must be None where a model is given"):
        cc.JointConditional("covariates", cc.Clayton(1.0), model=model)
    with pytest.raises(ValueError, match="model must be None given the prediction"):
        cc.JointConditional("prediction", model=model)
    with pytest.raises(ValueError, match="model must be None unless given is 'covariates'"):
        cc.DependentIPCW(model=model)
    with pytest.raises(TypeError, match="model must be a JointModel, but is of type int"):
        cc.JointConditional("covariates", model=3)
    with pytest.raises(ValueError, match="score_times must be at least 1, but is 0"):
        cc.JointConditional("prediction", score_times=0)
    with pytest.warns(cc.HorizonWarning, match="beyond it the margins extrapolate"):
        fitted.status(y[test], [1.0, 1e3], X[test])


# --- where it went wrong once -------------------------------------------------------------------------------


def test_fitted_again_it_forgets_the_first_sample():
    first = SyntheticDesign(n=600, n_features=2).draw(0)
    second = SyntheticDesign(n=600, n_features=2, event=(1.0, 3.0)).draw(7)
    for make in (
        lambda: cc.DependentIPCW(cc.Clayton(2.0), given="covariates", margins="weibull"),
        lambda: cc.JointConditional("covariates", cc.Clayton(2.0), "weibull"),
    ):
        twice = make().fit(first.y, first.X).fit(second.y, second.X)
        once = make().fit(second.y, second.X)
        times = np.quantile(second.y.time, [0.1, 0.3])
        np.testing.assert_array_equal(
            twice.status(second.y, times, second.X).b, once.status(second.y, times, second.X).b
        )


def test_weights_stop_where_nobody_is_left_to_be_weighed():
    """A common end of study: from there on the event-free have no one to stand for them."""
    data = SyntheticDesign(
        n=20_000, n_features=2, event=(1.2, 6.0), dropout=(1.5, 5.0), copula=cc.Clayton(1.0)
    ).draw(0)
    y = cc.Survival.from_latent(data.event_time, data.dropout_time, 4.0)
    adjustment = cc.DependentIPCW(cc.Clayton(1.0), given="covariates", margins="weibull").fit(y, data.X)
    with pytest.warns(cc.HorizonWarning):
        status = adjustment.status(y, [3.0, 3.9, 4.0, 5.0], data.X)
    assert status.until == 4.0
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
        warnings.simplefilter("ignore", cc.HorizonWarning)
        status = adjustment.status(y, times, X)
    valid = times < status.until
    assert np.isfinite(status.mean(BRIER, np.full((n, 3), 0.5))[valid]).all()


def test_a_test_time_of_zero_is_refused():
    data = SyntheticDesign(n=600, n_features=2).draw(0)
    test = cc.Survival(np.where(np.arange(600) == 3, 0.0, data.y.time), data.y.event)
    for adjustment in (cc.JointConditional("covariates"), cc.DependentIPCW(given="covariates")):
        with pytest.raises(
            ValueError, match="y_test must have times above 0 for a joint model, but row 3 is 0.0"
        ):
            adjustment.fit(data.y, data.X).status(test, [5.0, 10.0], data.X)


def test_a_model_without_covariates_ignores_them():
    data = SyntheticDesign(n=600, n_features=2).draw(0)
    model = cc.fit_joint(None, data.y, cc.Clayton(1.0))
    adjustment = cc.JointConditional("covariates", model=model).fit(data.y, data.X)
    with_x, without = (adjustment.status(data.y, [5.0, 10.0], x).a for x in (data.X, None))
    np.testing.assert_array_equal(with_x, without)
    assert "margins=" not in repr(adjustment).replace(repr(model), "")


def test_scores_come_from_where_predictions_differ():
    data = SyntheticDesign(n=600, n_features=2).draw(0)
    cox = cc.CoxPH().fit(data.X, data.y)
    times = np.array([0.0, 25.0])
    adjustment = cc.JointConditional("prediction").fit(data.y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.HorizonWarning)
        status = adjustment.status(data.y, times, None, cox.survival(times, data.X))
    assert status.notes == ("risk score at time 25",)
    # curves that end before the median are read at their end
    grid = np.linspace(0.0, 4.0, 9)
    short = cc.SurvivalCurves(grid, cox.survival(grid, data.X))
    status = adjustment.status(data.y, [2.0, 3.0], None, short)
    assert status.notes == ("risk score at time 4",)
    assert cc.JointConditional("prediction", score_times=np.int64(3)).score_times == 3


def test_the_skill_score_takes_what_adjustments_take():
    data = SyntheticDesign(n=800, n_features=2, copula=cc.Clayton(2.0)).draw(0)
    times = np.linspace(1.0, 10.0, 10)
    curves = cc.CoxPH().fit(data.X, data.y).survival(times, data.X)
    choice = cc.select_copula(data.X, data.y, data.X, data.y, families=("clayton",))
    model = cc.fit_joint(data.X, data.y, cc.Clayton(2.0))
    for options in (
        {"adjustment": "conditional", "copula": choice},
        {"adjustment": cc.JointConditional("covariates", model=model)},
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
    with pytest.raises(ValueError, match="copula is needed for the reference"):
        cc.brier_skill_score(
            data.y,
            data.y,
            curves,
            times,
            reference="copula_graphic",
            x_train=data.X,
            x_test=data.X,
            adjustment=cc.JointConditional("covariates", "clayton"),
        )
