"""Tests of whether dropout depends on covariates and predictions: values of R, size and power, edges."""

import numpy as np
import pandas as pd
import pytest
from lifelines import CoxPHFitter

import cocensor as cc
from tests.oracles.data import load, values
from tests.refusals import refuses

ORACLE = values("dropout_check")


def close(test, oracle, columns):
    assert list(test.hazard_ratios) == columns
    np.testing.assert_allclose(list(test.hazard_ratios.values()), oracle["ratios"], rtol=1e-7)
    np.testing.assert_allclose([ends.low for ends in test.intervals.values()], oracle["low"], rtol=1e-7)
    np.testing.assert_allclose([ends.high for ends in test.intervals.values()], oracle["high"], rtol=1e-7)
    assert test.statistic == pytest.approx(oracle["statistic"], rel=1e-7)
    assert test.pvalue == pytest.approx(oracle["pvalue"], rel=1e-7)


@pytest.mark.parametrize("name", ["gbsg", "whas500"])
def test_hazard_ratios_and_likelihood_ratio_tests_against_r(name):
    frame, columns = load(name), ORACLE[name]["columns"]
    y = cc.Survival(frame["time"], frame["event"])
    check = cc.dropout_check(
        y, frame[columns], {"age": frame["age"].to_numpy(), "none": np.ones(len(y))}, confidence_level=0.9
    )
    close(check.covariates, ORACLE[name]["covariates"], columns)
    close(check.predictions["age"], ORACLE[name]["age"], ["risk score"])
    assert check.left_out == ("none",)
    assert (check.n, check.n_events, check.n_dropouts) == (len(y), y.n_events, int((~frame["event"]).sum()))


def drawn(seed, n=300, on_dropout=0.0, p=3):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p))
    event = rng.exponential(np.exp(-x[:, 0]))
    dropout = rng.exponential(np.exp(-on_dropout * x[:, 0]))
    return cc.Survival.from_latent(event, dropout), x


def test_administrative_ends_are_censorings_of_the_dropout():
    """Against lifelines: who is there at the end of the study has not dropped out."""
    y, x = drawn(0)
    ended = y.time > 0.8
    cut = cc.Survival(np.minimum(y.time, 0.8), y.event & ~ended, administrative=ended)
    check = cc.dropout_check(cut, x)
    frame = pd.DataFrame(x, columns=list("abc")).assign(time=cut.time, left=cut.dropout)
    fit = CoxPHFitter().fit(frame, "time", "left", fit_options={"precision": 1e-10})
    assert ended.sum() > 30
    assert check.n_dropouts == cut.dropout.sum()
    assert check.covariates.statistic == pytest.approx(
        fit.log_likelihood_ratio_test().test_statistic, rel=1e-6
    )
    ratios = list(check.covariates.hazard_ratios.values())
    np.testing.assert_allclose(ratios, np.exp(fit.params_ * x.std(axis=0)), rtol=1e-4)


def test_size_is_the_level_though_events_depend_on_the_covariate():
    """The event depends on x, dropout does not: 5% of tests reject, within 4 standard errors of 400 samples."""
    checks = [cc.dropout_check(y, x, {"m": x[:, 0]}) for y, x in (drawn(seed) for seed in range(400))]
    for pvalues in ([c.covariates.pvalue for c in checks], [c.predictions["m"].pvalue for c in checks]):
        assert np.mean(np.array(pvalues) < 0.05) == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / 400))
    held = [ends.low <= 1.0 <= ends.high for c in checks for ends in c.covariates.intervals.values()]
    assert np.mean(held) == pytest.approx(0.95, abs=4 * np.sqrt(0.05 * 0.95 / 1200))


def test_power_is_that_of_a_wald_test_with_so_many_dropouts():
    """A log hazard ratio of 0.25 per SD with D dropouts: power about Φ(0.25 √D − 1.96)."""
    from scipy.special import ndtr

    samples = [drawn(seed, on_dropout=0.25) for seed in range(300)]
    checks = [cc.dropout_check(y, predictions={"m": x[:, 0]}) for y, x in samples]
    # Among those still under observation x varies less: events take the risky.
    spread = np.mean([x[y.dropout, 0].std() for y, x in samples])
    expected = ndtr(0.25 * spread * np.sqrt(np.mean([c.n_dropouts for c in checks])) - 1.96)
    assert 0.5 < expected < 0.9
    assert np.mean([c.predictions["m"].pvalue < 0.05 for c in checks]) == pytest.approx(expected, abs=0.12)


def test_what_no_test_can_see():
    """A hidden factor acts on event and dropout: strong dependence, and tests reject at their level."""
    rejected = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        x, hidden = rng.normal(size=(200, 2)), rng.normal(size=200)
        event = rng.exponential(np.exp(-x[:, 0] - 2 * hidden))
        y = cc.Survival.from_latent(event, rng.exponential(np.exp(-2 * hidden)))
        rejected.append(cc.dropout_check(y, predictions={"m": x[:, 1]}).predictions["m"].pvalue < 0.05)
    assert np.mean(rejected) == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / 200))


def test_all_dropouts_and_ties():
    y, x = drawn(1, n=80)
    tied = cc.Survival(np.ceil(4 * y.time), np.zeros(80, dtype=bool))
    check = cc.dropout_check(tied, x)
    frame = pd.DataFrame(x, columns=list("abc")).assign(time=tied.time, left=True)
    fit = CoxPHFitter().fit(frame, "time", "left", fit_options={"precision": 1e-10})
    assert (check.n_events, check.n_dropouts) == (0, 80)
    assert check.covariates.statistic == pytest.approx(
        fit.log_likelihood_ratio_test().test_statistic, rel=1e-6
    )


def test_categories_are_levels_against_the_first_and_numbers_per_standard_deviation():
    y, x = drawn(2, on_dropout=0.5)
    stage = np.where(x[:, 0] > 0, "II", "I")
    frame = pd.DataFrame(
        {"stage": stage, "age": 50 + 10 * x[:, 1], "site": "east", "months": 1200 + 240 * x[:, 1]}
    )
    check = cc.dropout_check(y, frame)
    assert list(check.covariates.hazard_ratios) == ["stage=II", "age"]
    assert check.left_out == ("site", "months")
    by_hand = cc.CoxPH(of="dropout").fit(np.column_stack((stage == "II", x[:, 1])), y).coef_
    expected = np.exp(by_hand * [1.0, x[:, 1].std()])
    np.testing.assert_allclose(list(check.covariates.hazard_ratios.values()), expected, rtol=1e-6)
    assert "site, months" in check.statement
    table = check.table()
    assert list(table["column"]) == ["stage=II", "age"]
    assert (table["df"] == 2).all()


def test_predictions_of_every_kind_are_one_score():
    y, x = drawn(3, on_dropout=0.4)
    model = cc.CoxPH().fit(x, y)
    median = float(np.sort(y.time)[149])
    kinds = {
        "model": model,
        "curves": model.predict_survival_function(x),
        "array": model.survival([0.1, median, 1.0], x),
        "risk": model.predict(x),
    }
    check = cc.dropout_check(y, x, kinds, times=[0.1, median, 1.0])
    first = check.predictions["model"]
    for test in check.predictions.values():
        assert test.statistic == pytest.approx(first.statistic, rel=1e-6)
        assert test.hazard_ratios["risk score"] == pytest.approx(first.hazard_ratios["risk score"], rel=1e-6)


def test_a_separating_column_and_few_dropouts_are_said():
    y = cc.Survival([1.0, 2.0, 3.0, 4.0, 5.0], [1, 0, 1, 1, 1])
    check = cc.dropout_check(y, [[0.0], [5.0], [1.0], [2.0], [3.0]])
    assert not check.covariates.finite
    assert check.few
    assert "no finite estimate" in check.statement
    assert "few dropouts (1)" in check.statement


@pytest.mark.parametrize(
    ("call", "parts"),
    [
        (lambda y, x: cc.dropout_check(y), ("x or predictions",)),
        (lambda y, x: cc.dropout_check(cc.Survival(y.time, np.ones(len(y))), x), ("y must have dropouts",)),
        (lambda y, x: cc.dropout_check(y, x[:5]), ("x has length 5", "300")),
        (lambda y, x: cc.dropout_check(y, predictions=[x]), ("predictions must be a dict", "list")),
        (lambda y, x: cc.dropout_check(y, predictions={"m": x[:4, 0]}), ("predictions['m']", "300", "4")),
        (lambda y, x: cc.dropout_check(y, predictions={"m": x}), ("predictions['m']", "times")),
        (lambda y, x: cc.dropout_check(y, x, confidence_level=95), ("confidence_level", "95")),
        (
            lambda y, x: cc.dropout_check(
                ([1.0, 2, 3, 4], [True, False, False, True]), [[5.0], [1], [1], [1]]
            ),
            ("x must vary in each column", "among those at risk"),
        ),
    ],
)
def test_refusals(call, parts):
    refuses(lambda: call(*drawn(0)), *parts)
