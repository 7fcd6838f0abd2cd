"""Scores from other software, and by hand."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sksurv.datasets import load_gbsg2
from sksurv.ensemble import RandomSurvivalForest
from sksurv.metrics import brier_score as peer_brier
from sksurv.metrics import integrated_brier_score as peer_integrated
from sksurv.util import Surv

import cocensor as cc
from tests.oracles.data import load, values

ORACLE = values("brier")
PEER = cc.IPCW(convention="scikit-survival")


def structured(y):
    return Surv.from_arrays(y.event, y.time)


@pytest.mark.filterwarnings("ignore::cocensor.warnings.HorizonWarning")  # at the tail of twenty subjects
@given(st.integers(0, 2**32 - 1), st.integers(20, 200), st.sampled_from([1.0, 4.0, 100.0]))
def test_scikit_survival_on_data_with_ties(seed, n, grain):
    rng = np.random.default_rng(seed)

    def draw():
        e, c = np.ceil(grain * rng.exponential(size=(2, n))) / grain
        return cc.Survival.from_latent(e, c)

    train, test = draw(), draw()
    inside = test.time < train.t_max
    assume(np.unique(test.time[inside]).size >= 3)
    test = test[inside]
    # Observed times, and times between: the peer takes times for equal that differ by rounding.
    observed = np.unique(test.time)[:-1]
    between = rng.uniform(observed[0], test.t_max, size=6)
    times = np.unique(np.concatenate((rng.choice(observed, size=6), between)))
    assume(cc.KaplanMeier(of="dropout").fit(train).predict(times[-1]) > 0)
    predicted = np.exp(-times * rng.gamma(2.0, 0.5, size=len(test))[:, None])
    arguments = structured(train), structured(test), predicted, times
    _, expected = peer_brier(*arguments)
    np.testing.assert_allclose(cc.brier_score(*arguments, adjustment=PEER), expected, atol=1e-12)
    integrated = cc.integrated_brier_score(*arguments, adjustment=PEER)
    assert integrated == pytest.approx(peer_integrated(*arguments), abs=1e-12)


def test_gbsg2_with_the_nottingham_index():
    X, y = load_gbsg2()
    grade = X["tgrade"].map({"I": 1, "II": 2, "III": 3}).astype(float)
    index = 0.02 * X["tsize"] + 1 + grade
    group = np.digitize(index, [3.4, 5.4], right=False)
    group[index == 5.4] = 1
    times = np.array([365.0, 730.0, 1095.0, 1460.0, 1825.0])
    predicted = np.empty((len(X), 5))
    for g in np.unique(group):
        predicted[group == g] = cc.KaplanMeier().fit(y[group == g]).predict(times)
    expected = [
        0.0762922458520448,
        0.182536421174199,
        0.220017747254941,
        0.234133800146671,
        0.233822955042198,
    ]
    np.testing.assert_allclose(cc.brier_score(y, y, predicted, times, adjustment=PEER), expected, atol=1e-12)
    left = [0.0762866816, 0.1825214819, 0.2199837168, 0.2340860139, 0.2337424393]
    np.testing.assert_allclose(cc.brier_score(y, y, predicted, times), left, atol=1e-10)


def r_data(name, part):
    oracle, data = ORACLE[name], load(name)
    rows = data.sort_values(oracle["sort_by"])
    train, test = {
        "all": (data, data),
        "test": (rows.iloc[1::2], rows.iloc[1::2]),
        "train_test": (rows.iloc[0::2], rows.iloc[1::2]),
    }[part]
    return oracle, train, test


def r_prediction(oracle, frame, times):
    lp = oracle["intercept"] + frame[oracle["covariates"]].to_numpy() @ oracle["coefficients"]
    return np.exp(-np.outer(np.exp(lp), times) / oracle["scale"])


def test_where_nobody_is_left_uncensored_the_peers_weights_are_0():
    """The last training time is a dropout: G = 0 there, and an event of the test part at that time weighs nothing."""
    train = cc.Survival([1.0, 2.0, 3.0, 4.0], [True, False, True, False])
    test = cc.Survival([1.0, 2.5, 4.0, 3.0], [True, True, True, True])
    predicted = np.tile([0.9, 0.5, 0.2], (4, 1))
    times = np.array([1.5, 3.5, 4.0])
    with pytest.warns(cc.warnings.HorizonWarning, match="weights are set to 0"):
        found = cc.brier_score(train, test, predicted, times, adjustment=PEER)
    structured = [Surv.from_arrays(y.event, y.time) for y in (train, test)]
    _, expected = peer_brier(structured[0], structured[1], predicted[:, :2], times[:2])
    np.testing.assert_allclose(found[:2], expected, atol=1e-12)
    # At the last time only the three earlier events count.
    weights = 1 / np.array([1.0, 2 / 3, 2 / 3])
    assert found[2] == pytest.approx(0.2**2 * weights.sum() / 4)


def r_scores(name, part, adjustment):
    oracle, train, test = r_data(name, part)
    return r_brier(oracle, train, test, np.array(oracle["times"], dtype=float), adjustment)


def r_brier(oracle, train, test, times, adjustment):
    return cc.brier_score(
        (train["time"], train["event"]),
        (test["time"], test["event"]),
        r_prediction(oracle, test, times),
        times,
        adjustment=adjustment,
        x_train=train[oracle["covariates"]],
        x_test=test[oracle["covariates"]],
    )


PARTS = [(name, part) for name in ("gbsg", "whas500") for part in ("all", "test", "train_test")]
# How far Score() with Cox weights is from ours: nothing but ties, which weigh more where few are censored.
TIES = {"gbsg": 2e-5, "whas500": 2e-5, "veteran": 4e-4}


@pytest.mark.parametrize(("name", "part"), [*PARTS, ("veteran", "all")])
def test_against_risk_regression(name, part):
    expected = ORACLE[name][part]
    np.testing.assert_allclose(r_scores(name, part, "ipcw"), expected["km"], atol=1e-12)
    if part in ("all", "test"):  # where weights come from the sample that is scored: no other is needed
        oracle, _, test = r_data(name, part)
        times = np.array(oracle["times"], dtype=float)
        alone = cc.brier_score(None, (test["time"], test["event"]), r_prediction(oracle, test, times), times)
        np.testing.assert_allclose(alone, expected["km"], atol=1e-12)
    # The same Cox model in R, with events before the censorings that they are tied with, as for "km".
    cox = r_scores(name, part, "ipcw_cox")
    np.testing.assert_allclose(cox, expected["cox_first_efron"], atol=1e-10)
    if "cox" in expected:
        # Score() itself leaves tied events at risk and takes Efron's baseline.
        difference = np.abs(cox - expected["cox"]).max()
        assert TIES[name] / 5 < difference < TIES[name]


@pytest.mark.parametrize(("unit", "apart"), [(30, 4.1e-4), (91, 1.2e-3), (182, 2.1e-3)])
def test_against_risk_regression_with_rounded_times(unit, apart):
    """The same model by hand is met whatever the ties; Score(), which treats them otherwise, is left behind."""
    oracle, data = ORACLE["gbsg"], load("gbsg")
    expected = ORACLE["gbsg_rounded"][str(unit)]
    rounded = data.assign(time=np.ceil(data["time"] / unit))
    scaled = oracle | {"scale": oracle["scale"] / unit}
    cox = r_brier(scaled, rounded, rounded, np.array(expected["times"], dtype=float), "ipcw_cox")
    np.testing.assert_allclose(cox, expected["cox_first_efron"], atol=1e-10)
    assert apart / 5 < np.abs(cox - expected["cox"]).max() < apart


@pytest.mark.parametrize("name", ["gbsg", "whas500", "veteran"])
def test_against_pec(name):
    oracle, data, _ = r_data(name, "all")
    grid = oracle["integrated_all"]
    times = np.array(grid["at"], dtype=float)
    y = cc.Survival(data["time"], data["event"])
    predicted = r_prediction(oracle, data, times)
    np.testing.assert_allclose(cc.brier_score(y, y, predicted, times), grid["km"]["brier"], atol=1e-12)
    for integration, key in (("step", "crps"), ("trapezoid", "trapezoid")):
        score = cc.integrated_brier_score(y, y, predicted, times, integration=integration)
        assert score == pytest.approx(grid["km"][key], abs=1e-12)


def test_the_papers_scores_by_hand():
    """IBS-Dep and CG-Q in the authors' way: linear margin times, ten points from 0 to the largest time."""
    train = cc.Survival([1, 3, 5, 4, 7, 8, 10, 13], [1, 0, 0, 1, 1, 0, 1, 0])
    test = cc.Survival([2.0, 6.0, 9.0, 11.0], [1, 0, 1, 0])
    copula = cc.Clayton(2.0)
    S = cc.CopulaGraphic(copula).fit(train).predict
    knots = np.array([0, 1, 3, 4, 5, 7, 8, 10, 13.0])
    heights = np.append(S(knots[:-1]), 0.0)  # forced to 0 at the largest time

    def margin_time(c):
        later = knots > c
        x, y = np.append(c, knots[later]), np.append(S(c), heights[later])
        return c + np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2) / S(c)

    times = np.linspace(0, 13.0, 10)
    predicted = np.exp(-np.outer([0.2, 0.1, 0.1, 0.05], times))
    e = np.array([2.0, margin_time(6.0), 9.0, margin_time(11.0)])
    w = np.array([1.0, 1 - S(6.0), 1.0, 1 - S(11.0)])
    residual = ((e[:, None] > times) - predicted) ** 2
    dep = np.trapezoid(w @ residual / w.sum(), times) / 13.0
    adjustment = cc.adjustments.MarginTime(copula, weighting="uncertainty", interpolation="linear")
    assert cc.integrated_brier_score(train, test, predicted, times, adjustment=adjustment) == pytest.approx(
        dep
    )

    q = (np.array([2.0, 0, 9.0, 0])[:, None] > times).astype(float)
    for row, c in ((1, 6.0), (3, 11.0)):
        q[row] = [1.0 if t <= c else S(t) / S(c) for t in times]
    cg_q = np.trapezoid(np.mean(q * (1 - predicted) ** 2 + (1 - q) * predicted**2, axis=0), times) / 13.0
    score = cc.integrated_brier_score(train, test, predicted, times, adjustment="cg_q", copula=copula)
    assert score == pytest.approx(cg_q)


def test_log_score_by_hand():
    y = cc.Survival([1.0, 2.0, 3.0], [1, 1, 1])
    predicted = np.array([[0.9, 0.5], [0.8, 0.0], [1.0, 1.0]])
    floor = 0.01
    at_one = -(np.log(1 - 0.9) + np.log(0.8) + np.log(1.0)) / 3
    at_two = -(np.log(0.5) + np.log(1.0) + np.log(1.0)) / 3
    score = cc.log_score(y, y, predicted, [1.0, 2.5], floor=floor)
    np.testing.assert_allclose(score, [at_one, at_two])
    wrong = cc.log_score(y, y, np.array([[1.0], [0.0], [0.0]]), [1.0], floor=floor)
    np.testing.assert_allclose(wrong, [-np.log(floor)])
    integrated = cc.integrated_log_score(y, y, predicted, [1.0, 2.5], floor=floor)
    assert integrated == pytest.approx((at_one + at_two) / 2)


def test_skill_is_zero_for_the_reference_and_positive_for_a_better_model():
    rng = np.random.default_rng(0)
    risk = rng.gamma(1.0, 1.0, size=500)
    y = cc.Survival.from_latent(rng.exponential(1 / risk), rng.exponential(size=500))
    times = np.linspace(0.05, 1.0, 20)
    copula = cc.Clayton(1.0)
    km, cg = cc.KaplanMeier().fit(y), cc.CopulaGraphic(copula).fit(y)
    models = {
        "km": np.tile(km.predict(times), (500, 1)),
        "cg": np.tile(cg.predict(times), (500, 1)),
        "true": np.exp(-risk[:, None] * times),
    }
    skill = cc.brier_skill_score(y, y, models, times)
    assert skill["km"] == pytest.approx(0.0, abs=1e-12)
    assert skill["true"] > 0.1
    assert cc.brier_skill_score(y, y, models["true"], times) == pytest.approx(skill["true"])
    dependent = cc.brier_skill_score(
        y, y, models, times, adjustment="imputation_margins", copula=copula, reference="copula_graphic"
    )
    assert dependent["cg"] == pytest.approx(0.0, abs=1e-12)
    assert dependent["km"] < 0


def test_estimates_may_be_predictions_or_step_functions():
    X, y = load_gbsg2()
    X = X[["age", "tsize", "pnodes"]].to_numpy(dtype=float)
    forest = RandomSurvivalForest(n_estimators=5, random_state=0).fit(X, y)
    functions = forest.predict_survival_function(X)
    times = np.array([1000.0, 400.0, 700.0])
    table = np.array([f(times) for f in functions])
    expected = cc.brier_score(y, y, table, times)
    np.testing.assert_allclose(cc.brier_score(y, y, functions, times), expected, atol=1e-14)
    curves = cc.Predictions.from_step_functions(functions)
    np.testing.assert_allclose(cc.brier_score(y, y, curves, times), expected, atol=1e-14)
