"""Models that predict the chance of the event by one time, and no curves."""

import json

import numpy as np
import pytest

import cocensor as cc
from cocensor.study.lookup import results_of
from cocensor.study.ranking import standing
from tests.refusals import refuses
from tests.study.noted import noted


@pytest.fixture(scope="module")
def result(study):
    """Two models by their curves, and one of them cut to its column at time 12."""
    models = {**study.models, "cut": (12.0, study.models["three"]([12.0])[:, 0])}
    metrics = [
        "ibs",
        "brier",
        "auc",
        "ici",
        "e50",
        "e90",
        "concordance",
        cc.metric("net_benefit", threshold=0.12),
    ]
    return study.evaluate(models, metrics=metrics, at=[9.0, 12.0], copula=None)


@pytest.mark.parametrize("adjustment", ["ipcw", "imputation"])
@pytest.mark.parametrize("metric", ["brier", "auc", "ici", "e50", "e90", "net_benefit", "ibs"])
def test_at_its_time_it_scores_as_the_curves_it_is_cut_from(result, metric, adjustment):
    cut, curves = (result.score(name, metric, adjustment, at=12.0) for name in ("cut", "three"))
    assert cut.value == pytest.approx(curves.value, rel=1e-12)
    assert cut.standard_error == pytest.approx(curves.standard_error, rel=1e-9)
    pair = result.compare("cut", "three", metric, adjustment, at=12.0)
    assert (pair.difference, pair.standard_error) == pytest.approx((0.0, 0.0), abs=1e-12)


def test_over_time_and_at_other_times_it_has_no_value_and_one_note_says_why(study, result):
    [note] = [each for each in noted(result) if each.kind == "missing"]
    assert note.about.model == "cut"
    assert "12" in note.text
    for metric in ("ibs", "concordance", "brier at 9", "auc at 9", "ici at 9"):
        score = result.score("cut", metric)
        assert np.isnan(score.value)
        assert score.notes == (note,)
        assert set(standing(result, metric).ranks) == {"three", "one"}
        assert "cut" not in standing(result, metric).best
    assert result.data.horizon == study.evaluate(copula=None, adjustments="ipcw").data.horizon
    assert np.isnan(result.compare("cut", "one").difference)


def test_the_imputation_model_reads_it_at_its_time(study):
    p = study.models["three"]([12.0])[:, 0]
    found = study.evaluate(
        {"cut": ([12.0], p[:, None])}, metrics="brier", covariates=None, adjustments="imputation"
    )
    assert found.results["imputation"].fitted.design.columns[0] == "score of cut at 12"
    assert found.results["imputation"].fitted.design.matrix[:, 0] == pytest.approx(np.log(-np.log(p)))


def test_it_is_resampled_moves_with_the_copula_and_has_bounds(result):
    resampled = result.bootstrap(3)
    cut, curves = (resampled.score(name, "brier at 12", "ipcw") for name in ("cut", "three"))
    assert cut.replicates == pytest.approx(curves.replicates)
    grid = result.sensitivity(["clayton", "hazard_ratio"], [0.0, 0.4], hazard_ratios=[2.0]).over_tau
    moved = grid.values("clayton", 0.4, "brier at 12")
    assert moved["cut"] == pytest.approx(moved["three"])
    assert grid.values("clayton", 0.4).keys() == {"three", "one"}
    over_time, at_12 = result.bounds(), result.bounds("brier", at=12.0)
    assert np.isnan(over_time["cut"].low)
    assert at_12["cut"] == at_12["three"]
    assert json.loads(result.to_json())["models"][2]["only_at"] == 12.0


def test_calibration_and_benefit_at_its_time_alone(result):
    assert result.calibration_curve("cut", 12.0).ici.value == pytest.approx(
        result.score("three", "ici", at=12.0).value
    )
    refuses(lambda: result.calibration_curve("cut", 9.0), "model", "'cut'", "12")
    refuses(lambda: result.d_calibration("cut"), "model", "'cut'", "12")
    assert result.decision_curve(12.0).keys() == {"three", "one", "cut"}
    assert result.decision_curve(9.0).keys() == {"three", "one"}


def test_default_metrics_are_also_at_its_time_with_the_brier_score(study):
    models = {**study.models, "cut": (12.5, study.models["three"]([12.5])[:, 0])}
    curves, found = (
        study.evaluate(each, metrics="default", adjustments="ipcw", copula=None)
        for each in (study.models, models)
    )
    assert found.metrics[:2] == ("ibs", "brier at 12.5")
    assert {"auc at 12.5", "ici at 12.5"} == set(found.metrics) - set(curves.metrics) - {"brier at 12.5"}
    assert found.data.at == tuple(sorted({*curves.data.at, 12.5}))
    pair = study.evaluate(
        {name: models[name] for name in ("one", "cut")}, metrics="default", adjustments="ipcw"
    )
    assert pair.metrics[:2] == ("brier at 12.5", "ibs")
    assert standing(pair).ranks.keys() == {"one", "cut"}
    assert [note.kind for note in found.notes if "12.5" in note.text] == ["decision", "missing"]


def test_where_all_predict_at_one_time_it_is_the_horizon_and_verdicts_are_by_the_brier_score(study):
    models = {name: (12.0, each([12.0])[:, 0]) for name, each in study.models.items()}
    found = study.evaluate(models, metrics="default", copula=None, adjustments=["ipcw", "imputation"])
    assert found.metrics == ("brier at 12", "auc at 12", "ici at 12")
    assert (found.data.horizon.time, found.data.horizon.by) == (12.0, "predictions")
    assert not [note for note in found.notes if note.kind == "missing"]
    curves = study.evaluate(metrics="brier", at=12.0, adjustments="ipcw", copula=None)
    assert found.score("one", adjustment="ipcw").value == curves.score("one").value
    assert repr(found)
    last = study.evaluate(models, metrics="brier", adjustments="ipcw")
    assert last.score("one").value == curves.score("one").value
    assert study.evaluate(models, metrics="auc", at=12.0, adjustments="ipcw").metrics == ("auc at 12",)
    refuses(
        lambda: study.evaluate(models, metrics="ibs"), "metric", "'ibs'", "'one' predicts at time 12 alone"
    )
    refuses(lambda: study.evaluate(models, metrics="brier", at=9.0), "metric", "'brier at 9'")


def test_several_times_and_risk_scores_side_by_side(study):
    one = study.models["one"]
    models = {
        "early": (9.0, one([9.0])[:, 0]),
        "late": (12.0, one([12.0])[:, 0]),
        "order": study.test.X[:, 0],
    }
    found = study.evaluate(models, metrics="default", copula=None, adjustments="ipcw")
    assert found.metrics[:2] == ("brier at 9", "brier at 12")
    assert results_of(found).values["auc at 9"].keys() == {"early", "order"}
    assert results_of(found).values["auc"].keys() == {"order"}
    assert results_of(found).values["brier at 12"].keys() == {"late"}


def test_a_time_past_the_horizon_costs_the_model_alone(study):
    late = (12.0, study.models["one"]([12.0])[:, 0])
    found = study.evaluate({**study.models, "late": late}, horizon=10.0, adjustments="ipcw")
    assert set(standing(found).ranks) == {"three", "one"}
    [note] = [each for each in found.notes if each.kind == "missing"]
    assert note.about.model == "late"
    assert "12" in note.text
    assert "10" in note.text
    refuses(lambda: study.evaluate({"late": late}, horizon=10.0), "models['late']", "12", "10")


def test_a_prediction_at_time_0_is_refused_by_its_name(study):
    start = (0.0, np.ones(len(study.test.y)))
    refuses(lambda: study.evaluate({"start": start}, adjustments="ipcw"), "models['start']", "time 0")
    found = study.evaluate({**study.models, "start": start}, metrics="default", adjustments="ipcw")
    assert set(standing(found).ranks) == {"three", "one"}
    assert [note.about.model for note in found.notes if note.kind == "missing"] == ["start"]
    assert 0.0 not in found.data.at


def test_what_is_refused_is_said_where_only_others_are_left_that_a_metric_cannot_score(study):
    models = {"curves": (np.array([1.0, 2.0]), np.full((300, 2), 7.0)), "order": study.test.X[:, 0]}
    refuses(
        lambda: study.evaluate(models, metrics="ibs"),
        "'ibs'",
        "'order' is a risk score",
        "models['curves']",
        "7.0",
    )


def test_score_functions_take_it_at_its_time_alone(study):
    cut = (12.0, study.models["one"]([12.0])[:, 0])
    given = {"y_train": study.train.y, "y_test": study.test.y}
    whole = cc.brier_score(estimate=study.models["one"], times=12.0, **given)
    assert cc.brier_score(estimate=cut, times=12.0, **given) == whole
    refuses(lambda: cc.brier_score(estimate=cut, times=[9.0, 12.0], **given), "times", "12", "9")
    refuses(lambda: cc.integrated_brier_score(estimate=cut, times=[0.0, 12.0], **given), "times", "12", "0")
