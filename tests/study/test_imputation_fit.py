"""Whether the imputation model is right about what was observed, where the truth is known."""

import json

import numpy as np
import pytest

import cocensor as cc
from cocensor.study.imputation_fit import FitCells, imputation_fit_under
from cocensor.study.lookup import results_of
from tests.refusals import refuses

LINEAR = {"score_times": 1, "score_df": 1, "time_varying": False, "shrink": False}


def evaluated(seed=0, n=800, *, crossing=False, waves=False, copula=None, imputation=None, **options):
    """An evaluation of two scores, of which the first is the event's own, by the imputation model that is asked for."""
    rng = np.random.default_rng(seed)
    copula = copula or cc.Independence()
    x = rng.normal(size=(n, 2))
    u, v = copula.sample(n, rng).T
    hazard = -np.log(u) * np.exp(-(0.0 if crossing else 0.8) * x[:, 0])
    event = hazard ** np.exp(-0.6 * x[:, 0]) if crossing else hazard ** (1 / 1.5)
    if waves:
        t = np.linspace(0.0, 30.0, 6001)
        rate = np.where(t < 0.1, 4.0, np.where((t > 0.8) & (t < 0.9), 8.0, 0.15))
        event = np.interp(hazard, np.concatenate(([0.0], np.cumsum(rate[1:] * np.diff(t)))), t)
    y = cc.Survival.from_latent(event, -np.log(v) / 0.5 * np.exp(-0.3 * x[:, 1]))
    times = np.array([0.0, 0.5, 1.0, 3.0])
    models = {
        name: np.exp(-times * np.exp(0.8 * score)[:, None])
        for name, score in (("own", x[:, 0]), ("other", x[:, 1]))
    }
    models = {name: (times, curves) for name, curves in models.items()}
    adjustments = {"imputation": imputation or cc.Imputation("everything", copula)}
    return cc.evaluate(models, y, x, adjustments=adjustments, copula=None, **({"metrics": "ibs"} | options))


def cautions(result):
    return result.results["imputation"].notes_of("caution")


def fit_of(result):
    return results_of(result).imputation_fit


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "copula", [cc.Independence(), cc.Clayton.from_tau(0.5)], ids=lambda copula: copula.name
)
def test_a_right_model_is_rarely_called_wrong(copula):
    """Observed minus expected is smaller than chance, as the model has learned from it: χ² over its df is below 1."""
    fits = [fit_of(evaluated(seed, 400, copula=copula)) for seed in range(12)]
    cells = [each for fit in fits for *_, each in fit.tests]
    assert len(cells) == 48
    assert np.mean([each.pvalue < 0.05 for each in cells]) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 48)
    ratios = [each.statistic / each.df for each in cells]
    assert 0.7 < np.mean(ratios) < 1.0
    assert not any(fit.failed for fit in fits)


def test_crossing_hazards_refute_a_judge_with_proportional_ones():
    found = evaluated(crossing=True, imputation=cc.Imputation("everything", **LINEAR))
    assert fit_of(found).failed == (("own", "event"),)
    (note,) = cautions(found)
    assert note.about.adjustment == "imputation"
    assert note.text == fit_of(found).statement
    assert "own" in note.text
    assert "τ" in note.text
    assert "own" in repr(found)
    bent = fit_of(evaluated(crossing=True))
    lines = fit_of(found)
    assert bent.cells["own"]["event"].misfit < 0.6 * lines.cells["own"]["event"].misfit


def test_waves_of_events_refute_a_margin_without_knots_for_them():
    found = fit_of(evaluated(waves=True, imputation=cc.Imputation("everything", knots=1)))
    assert {("own", "event"), ("other", "event")} == set(found.failed)
    assert not cautions(evaluated(waves=False, imputation=cc.Imputation("everything", knots=1)))


def test_the_fit_does_not_tell_tau():
    """Margins are fitted under each copula anew, so that a wrong one fits as well."""
    found = evaluated(n=2000, copula=cc.Clayton.from_tau(0.6), imputation=cc.Imputation("everything"))
    for copula in (None, cc.Clayton.from_tau(0.6), cc.Frank.from_tau(0.3)):
        fit = fit_of(found) if copula is None else imputation_fit_under(found, copula)
        assert not fit.failed
        assert max(cells.misfit for *_, cells in fit.tests) < 0.15
        assert fit.copula == (copula or cc.Independence())
    anew = imputation_fit_under(found, cc.Independence())
    assert anew.table().equals(fit_of(found).table())


def test_every_event_and_dropout_up_to_the_horizon_is_in_one_cell():
    found = evaluated()
    y, horizon = found.data.samples.y_test, found.data.horizon.time
    table = fit_of(found).table()
    for kind, happened in (("event", y.event), ("dropout", y.dropout)):
        for model in found.models:
            rows = table[(table["kind"] == kind) & (table["model"] == model)]
            assert len(rows) == 40
            assert rows["observed"].sum() == (happened & (y.time <= horizon)).sum()
            assert (rows["lower"] <= rows["ratio"]).all()
            assert (rows["ratio"] <= rows["upper"]).all()
    summary = fit_of(found).summary()
    totals = table.groupby(["model", "kind"])[["observed", "expected"]].sum()
    for row in summary.itertuples():
        assert totals.loc[(row.model, row.kind), "observed"] == row.observed
        assert totals.loc[(row.model, row.kind), "expected"] == pytest.approx(row.expected)


def test_the_interval_is_garwoods():
    """By the textbook, 10 observed have the limits 4.795 and 18.39, and none 0 and 3.689."""
    cells = FitCells(np.array([[10, 0]]), np.array([[5.0, 2.0]]), np.array([[5.0, 2.0]]))
    lower, upper = cells.interval()
    np.testing.assert_allclose(lower * cells.expected, [[4.795, 0.0]], atol=1e-3)
    np.testing.assert_allclose(upper * cells.expected, [[18.390, 3.689]], atol=1e-3)


def test_cells_are_pooled_until_five_are_expected():
    observed, expected = np.array([[3, 9], [4, 1]]), np.array([[2.0, 7.0], [4.0, 1.0]])
    cells = FitCells(observed, expected, expected)
    assert cells.df == 2
    assert cells.statistic == pytest.approx((7 - 6) ** 2 / 6 + (10 - 8) ** 2 / 8)
    few = FitCells(observed, 0.1 * expected, 0.1 * expected)
    assert few.df == 0
    assert np.isnan(few.pvalue)
    assert np.isnan(few.misfit)


def test_a_misfit_of_10_percent_has_that_size_whatever_n():
    rng = np.random.default_rng(0)
    for n in (1e3, 1e5):
        expected = np.full((10, 4), n)
        observed = rng.poisson(expected * np.where(rng.random((10, 4)) < 0.5, 0.9, 1.1))
        assert FitCells(observed, expected, expected).misfit == pytest.approx(0.1, rel=0.25)
        chance = FitCells(rng.poisson(expected), expected, expected)
        assert chance.misfit < 1.5 / np.sqrt(n)


def test_predictions_that_are_the_same_for_all_are_one_group():
    rng = np.random.default_rng(1)
    y = cc.Survival.from_latent(*rng.exponential(size=(2, 300)))
    risk = rng.normal(size=300)
    models = {
        "flat": cc.Predictions([0.0, 1.0], np.tile([1.0, 0.4], (300, 1))),
        "two": cc.Predictions([0.0, 1.0], np.column_stack((np.ones(300), np.where(risk > 0, 0.3, 0.5)))),
    }
    fit = fit_of(cc.evaluate(models, y, adjustments="imputation", copula=None, horizon=1.0, metrics="ibs"))
    assert fit.cells["flat"]["event"].observed.shape == (1, 4)
    assert fit.cells["two"]["event"].observed.shape == (2, 4)


def test_too_few_for_a_test_is_said_and_no_misfit():
    rng = np.random.default_rng(4)
    y = cc.Survival(rng.exponential(size=200), np.arange(200) % 50 > 0)
    curves = np.column_stack((np.ones(200), rng.uniform(0.2, 0.8, 200)))
    models = {"a": cc.Predictions([0.0, 1.0], curves)}
    found = cc.evaluate(models, y, adjustments="imputation", copula=None, horizon=1.0, metrics="ibs")
    dropouts = fit_of(found).cells["a"]["dropout"]
    assert dropouts.df == 0
    assert not fit_of(found).failed
    entry = json.loads(found.to_json())["adjustments"][0]["imputation_fit"]
    assert entry["models"]["a"]["dropout"]["pvalue"] is None
    assert entry["models"]["a"]["event"]["observed"] == fit_of(found).cells["a"]["event"].observed.tolist()
    assert entry["copula"]["tau"] == 0.0


def test_without_a_joint_model_of_the_test_outcomes_there_is_nothing_to_check(study):
    result = study.evaluate(adjustments="ipcw")
    assert fit_of(result) is None
    refuses(lambda: imputation_fit_under(result, cc.Clayton(1.0)), "no adjustment has a joint model")
