"""Case weights: a subject of weight w counts w times."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lifelines import CoxPHFitter, KaplanMeierFitter

import cocensor as cc
from tests.oracles.data import load, values
from tests.refusals import refuses
from tests.strategies import archimedean, outcomes

ORACLE = values("weights")


def sample(n=150, seed=3):
    """Covariates and tied outcomes with an end of study."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) * [1.0, 10.0] + [0.0, 20.0]
    e, c = np.ceil(8 * rng.exponential(size=(2, n)) * np.exp(-0.5 * X[:, 0])) / 8
    return X, cc.Survival.from_latent(e, c, 2.0)


def repeated(weight):
    return np.repeat(np.arange(len(weight)), weight)


# --- Kaplan–Meier and Copula-Graphic ------------------------------------------------------------------


@given(outcomes(administrative=True), archimedean(), st.sampled_from(["event", "dropout"]), st.data())
def test_whole_weights_are_repeated_rows(y, copula, of, data):
    weight = np.array(data.draw(st.lists(st.integers(0, 4), min_size=len(y), max_size=len(y))))
    weight[0] += not weight.any()
    one = cc.CopulaGraphic(copula, of).fit(y, weight)
    other = cc.CopulaGraphic(copula, of).fit(y[repeated(weight)])
    np.testing.assert_array_equal(one.survival_.times, other.survival_.times)
    np.testing.assert_array_equal(one.survival_.values, other.survival_.values)
    assert (one.n_, one.t_max_) == (other.n_, other.t_max_)
    t = np.linspace(0.0, one.t_max_, 9)
    np.testing.assert_array_equal(one.variance(t), other.variance(t))
    np.testing.assert_array_equal(one.dropout_survival(t), other.dropout_survival(t))


@pytest.mark.filterwarnings("ignore::cocensor.warnings.TiedTimesWarning")  # repeated rows are ties
@pytest.mark.parametrize("of", ["event", "dropout"])
@pytest.mark.parametrize("copula", [cc.Independence(), cc.Clayton(3.0)])
def test_intervals_are_those_of_repeated_rows(copula, of):
    _, y = sample()
    weight = np.arange(len(y)) % 3
    one = cc.CopulaGraphic(copula, of).fit(y, weight)
    other = cc.CopulaGraphic(copula, of).fit(y[repeated(weight)])
    # The first is before all events, where the interval is exact.
    t = [0.01, 0.125, 0.5, 1.0, 2.0]
    np.testing.assert_allclose(one.confidence_interval(t), other.confidence_interval(t), rtol=1e-13)
    horizon = 1.5
    variances = [each.margin_time_variance([0.0, 0.5], horizon) for each in (one, other)]
    np.testing.assert_allclose(*variances, rtol=1e-13)


@given(outcomes(administrative=True), archimedean(), st.data())
def test_the_unit_and_the_order_of_weights_do_not_matter_to_a_curve(y, copula, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    weight, order = rng.uniform(0.2, 3.0, len(y)), rng.permutation(len(y))
    curve = cc.CopulaGraphic(copula).fit(y, weight).survival_
    for other in (
        cc.CopulaGraphic(copula).fit(y, 1e6 * weight),
        cc.CopulaGraphic(copula).fit(y[order], weight[order]),
    ):
        np.testing.assert_allclose(other.survival_.values, curve.values, rtol=1e-8, atol=1e-12)
    alike = cc.CopulaGraphic(copula).fit(y, np.ones(len(y))).survival_
    np.testing.assert_array_equal(alike.values, cc.CopulaGraphic(copula).fit(y).survival_.values)


@pytest.mark.parametrize("of", ["event", "dropout"])
def test_a_curve_of_all_who_are_left_reaches_zero_exactly(of):
    """Sums of fractions are rounded; what they leave at the last time is nobody all the same."""
    rng = np.random.default_rng(0)
    n = 12
    for _ in range(50):
        # At the last time all have the event, or some have it and the others drop out.
        event = np.append(rng.random(n - 3) < 0.5, [True, of == "event", of == "event"])
        y = cc.Survival(np.minimum(np.arange(n), n - 3.0), event)
        values = cc.KaplanMeier(of).fit(y, rng.uniform(0.1, 0.9, n)).survival_.values
        assert values[-1] == 0.0
        assert (np.diff(values) < 0).all()


@pytest.mark.parametrize("copula", [cc.Independence(), cc.Clayton(2.0), cc.Gumbel(1.5)])
def test_next_to_no_weight_is_rounded_to_none(copula):
    """A step beside which the weight that is left vanishes takes everyone, and nobody is left after it."""
    y = cc.Survival([1.0, 2.0, 3.0, 4.0], [True, True, True, False])
    values = cc.CopulaGraphic(copula).fit(y, [1.0, 1.0, 1e-20, 1e-40]).survival_.values
    assert values.tolist() == [values[0], 0.0, 0.0]
    light = cc.CopulaGraphic(copula).fit(y, np.full(4, 1e-7))
    for t in (0.5, 1.5):  # before the first event, and after it
        assert light.confidence_interval(t) == (0.0, 1.0)


def test_whoever_has_the_weight_0_is_left_out():
    y = cc.Survival([1.0, 2.0, 3.0, 9.0], [1, 0, 1, 0])
    one, other = cc.KaplanMeier().fit(y, [1.5, 1, 1, 0]), cc.KaplanMeier().fit(y[:3], [1.5, 1, 1])
    assert (one.t_max_, one.n_) == (3.0, 3.5) == (other.t_max_, other.n_)
    assert one.predict([1.0, 3.0]).tolist() == other.predict([1.0, 3.0]).tolist()


def test_weights_beyond_double_precision_of_each_other():
    """Whoever is too light beside others to count leaves the curve at 0; too few cases tell nothing."""
    y = cc.Survival([1.0, 2.0, 3.0], [0, 1, 1])
    cg = cc.CopulaGraphic(cc.Joe(2.0)).fit(y, [1.0, 1e4, 1e-14])
    assert cg.predict([1.0, 2.0, 3.0]).tolist() == [1.0, 0.0, 0.0]
    assert np.transpose(cc.KaplanMeier().fit(y, [1e-8] * 3).confidence_interval([2.0])).tolist() == [[0, 1]]


@pytest.mark.parametrize("name", ["gbsg", "whas500"])
def test_kaplan_meier_against_survfit(name):
    expected, data = ORACLE[name], load(name)
    km = cc.KaplanMeier().fit((data["time"], data["event"]), (1 + data["age"] % 5) / 3)
    at = expected["at"]
    np.testing.assert_allclose(km.predict(at), expected["survival"], rtol=1e-12)
    np.testing.assert_allclose(np.sqrt(km.variance(at)), expected["std_error"], rtol=1e-12)
    limits = expected["lower"], expected["upper"]
    np.testing.assert_allclose(km.confidence_interval(at), limits, rtol=1e-12)


@pytest.mark.filterwarnings("ignore")  # lifelines warns of weights that are not whole
def test_kaplan_meier_against_lifelines():
    _, y = sample()
    weight = np.random.default_rng(1).uniform(0.2, 3.0, len(y))
    peer = KaplanMeierFitter().fit(y.time, y.event, weights=weight)
    expected = peer.survival_function_at_times(y.time)
    np.testing.assert_allclose(cc.KaplanMeier().fit(y, weight).predict(y.time), expected, rtol=1e-12)


# --- Cox ----------------------------------------------------------------------------------------------


def same_model(one, other, rtol=1e-10):
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=rtol)
    np.testing.assert_allclose(one.covariance_, other.covariance_, rtol=rtol)
    np.testing.assert_allclose(one.centre_, other.centre_, rtol=rtol)
    baselines = one.baseline_at_centre_, other.baseline_at_centre_
    np.testing.assert_array_equal(*(each.times for each in baselines))
    np.testing.assert_allclose(*(each.values for each in baselines), rtol=rtol)
    assert one.log_likelihood_ == pytest.approx(other.log_likelihood_, rel=rtol)


@pytest.mark.parametrize("of", ["event", "dropout"])
@pytest.mark.parametrize("ridge", [0.0, 3.0])
def test_cox_with_whole_weights_is_that_of_repeated_rows(of, ridge):
    X, y = sample()
    weight = np.arange(len(y)) % 4
    rows = repeated(weight)
    settings = {"ties": "breslow", "ridge": ridge, "of": of}
    same_model(cc.CoxPH(**settings).fit(X, y, weight), cc.CoxPH(**settings).fit(X[rows], y[rows]))


@pytest.mark.parametrize("ties", ["efron", "breslow"])
def test_cox_weights_of_0_and_1(ties):
    X, y = sample()
    rng = np.random.default_rng(2)
    weight, order = rng.integers(0, 2, len(y)), rng.permutation(len(y))
    rows = np.flatnonzero(weight)
    same_model(cc.CoxPH(ties).fit(X, y, weight), cc.CoxPH(ties).fit(X[rows], y[rows]))
    same_model(cc.CoxPH(ties).fit(X, y, np.ones(len(y))), cc.CoxPH(ties).fit(X, y), rtol=1e-13)
    same_model(cc.CoxPH(ties).fit(X[order], y[order], weight[order]), cc.CoxPH(ties).fit(X, y, weight))


@pytest.mark.parametrize("ties", ["efron", "breslow"])
@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_the_unit_of_weights_is_that_of_the_information(ties, unit):
    X, y = sample()
    weight = np.random.default_rng(4).uniform(0.2, 3.0, len(y))
    one, other = cc.CoxPH(ties).fit(X, y, weight), cc.CoxPH(ties).fit(X, y, unit * weight)
    np.testing.assert_allclose(other.coef_, one.coef_, rtol=1e-10)
    np.testing.assert_allclose(other.covariance_ * unit, one.covariance_, rtol=1e-10)


@pytest.mark.parametrize("name", ["gbsg", "whas500"])
@pytest.mark.parametrize("ties", ["efron", "breslow"])
def test_cox_against_coxph_of_r(name, ties):
    expected, data = ORACLE[name], load(name)
    weight = (1 + data["age"] % 5) / 3
    model = cc.CoxPH(ties).fit(data[expected["covariates"]], (data["time"], data["event"]), weight)
    np.testing.assert_allclose(model.coef_, expected[ties]["coefficients"], rtol=1e-8)
    np.testing.assert_allclose(model.covariance_, expected[ties]["variance"], rtol=1e-8, atol=1e-14)
    assert model.log_likelihood_ == pytest.approx(expected[ties]["loglik"], rel=1e-12)
    if ties == "breslow":
        baseline = model.baseline_(expected["at"])
        np.testing.assert_allclose(baseline, expected[ties]["baseline_breslow"], rtol=1e-8)


@pytest.mark.filterwarnings("ignore")  # lifelines warns of weights that are not whole
def test_cox_against_lifelines():
    X, y = sample()
    weight = np.random.default_rng(1).uniform(0.2, 3.0, len(y))
    data = pd.DataFrame(X, columns=["a", "b"]).assign(t=y.time, e=y.event, w=weight)
    peer = CoxPHFitter().fit(data, "t", "e", weights_col="w", fit_options={"precision": 1e-14})
    model = cc.CoxPH().fit(X, y, weight)
    np.testing.assert_allclose(model.coef_, peer.params_, rtol=1e-7)
    assert model.log_likelihood_ == pytest.approx(peer.log_likelihood_, rel=1e-12)


def test_cox_follows_a_weight_by_the_score_residual():
    r"""dβ/dw_i is the inverse information times :math:`\int (x_i - \bar x(t)) dM_i(t)`, at weights that differ."""
    X, _ = sample(40)
    rng = np.random.default_rng(5)
    y = cc.Survival(rng.exponential(size=40), rng.random(40) < 0.6)
    weight = rng.uniform(0.3, 2.0, 40)
    model = cc.CoxPH().fit(X, y, weight)
    risk = np.exp(X @ model.coef_ - X.mean(axis=0) @ model.coef_)
    residuals = np.zeros_like(X)
    for j in np.flatnonzero(y.event):
        at_risk = y.time >= y.time[j]
        total = (weight * risk)[at_risk].sum()
        mean = (weight * risk)[at_risk] @ X[at_risk] / total
        residuals[j] += X[j] - mean
        residuals[at_risk] -= weight[j] * risk[at_risk, None] * (X[at_risk] - mean) / total
    step = 1e-4
    for i in (0, 7, 21):
        change = step * (np.arange(40) == i)
        up, down = (cc.CoxPH().fit(X, y, weight + sign * change).coef_ for sign in (1, -1))
        np.testing.assert_allclose((up - down) / (2 * step), model.covariance_ @ residuals[i], rtol=1e-6)


# --- refusals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weight", "parts"),
    [
        ([1, -0.5, 1], ("must not be negative", "row 1 is -0.5")),
        ([1, 1, np.nan], ("must be finite", "row 2 is nan")),
        ([np.inf, 1, 1], ("must be finite", "row 0 is inf")),
        ([0, 0, 0], ("must be above 0", "row 0")),
        ([1, 1], ("has length 2", "length 3")),
        (1.0, ("must be one-dimensional",)),
        (["a", 1, 1], ("must be numeric",)),
        ([1, 1e-200, 1], ("row 1 is 1e-200",)),
    ],
)
@pytest.mark.parametrize(
    "fit",
    [
        lambda y, w: cc.KaplanMeier().fit(y, w),
        lambda y, w: cc.CoxPH().fit(np.arange(3.0)[:, None], y, w),
        lambda y, w: cc.fit_joint(None, y, sample_weight=w),
    ],
)
def test_refusals(fit, weight, parts):
    refuses(lambda: fit(cc.Survival([1, 2, 3], [1, 0, 1]), weight), "sample_weight", *parts, kind=ValueError)


def test_events_of_weight_0_are_none():
    y = cc.Survival([1, 2, 3], [1, 0, 0])
    refuses(lambda: cc.CoxPH().fit(np.arange(3.0)[:, None], y, [0, 1, 1]), "y has no event")
    assert cc.KaplanMeier().fit(y, [0, 1, 1]).predict(3.0) == 1.0
