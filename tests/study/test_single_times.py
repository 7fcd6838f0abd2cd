"""Metrics at chosen single times, and the metrics that are asked for by default."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import cocensor as cc
from cocensor.adjustments.samples import Samples
from tests.refusals import refuses

AT = (12.0, 15.0)


@pytest.fixture(scope="module")
def result(study):
    return study.evaluate(metrics=["brier", "auc"], at=[15.0, 12.0, 15.0], adjustments=["ipcw", "imputation"])


def test_metrics_are_scored_at_each_of_the_single_times(study, result):
    assert result.metrics == ("brier at 12", "brier at 15", "auc at 12", "auc at 15")
    assert result.data.at == AT
    y, curves = (study.train.y, study.test.y), study.models["one"]
    known = cc.brier_score(*y, curves, AT)
    found = [result.score("one", "brier", "ipcw", at=t) for t in AT]
    assert [each.value for each in found] == pytest.approx(known, rel=1e-12)
    assert [each.at for each in found] == list(AT)
    assert found[0].metric == "brier at 12"
    assert result.score("one", "brier at 15", "ipcw").value == found[1].value
    table = result.table().set_index(["metric", "adjustment", "model"])["score"]
    assert table["auc at 12", "imputation", "three"] == result.score("three", "auc", at=12.0).value
    pair = result.compare("three", "one", "auc", at=12.0)
    assert pair.difference == pytest.approx(
        table["auc at 12", "imputation", "three"] - table["auc at 12", "imputation", "one"]
    )


def test_any_other_time_up_to_the_horizon_can_be_asked_for_later(study, result):
    known = cc.brier_score(study.train.y, study.test.y, study.models["one"], [13.3])
    score = result.score("one", "brier", "ipcw", at=13.3)
    assert score.value == pytest.approx(known[0], rel=1e-12)
    assert (score.metric, score.at) == ("brier at 13.3", 13.3)
    refuses(lambda: result.score("one", "brier", at=99.0), "at", "99")


def test_a_name_without_a_time_is_clear_where_there_is_one_time(study, result):
    refuses(lambda: result.score("one", "brier"), "'brier'", "12", "15")
    single = study.evaluate(metrics="brier", at=12.0, adjustments="ipcw")
    assert single.metrics == ("brier at 12",)
    assert single.score("one", "brier").value == result.score("one", "brier", "ipcw", at=12.0).value


def test_sensitivity_goes_by_the_same_names(study, result):
    grid = result.sensitivity("frank", [0.0, 0.3]).over_tau
    assert grid.values("frank", 0.3, "brier at 15")["one"] == pytest.approx(
        result.score("one", "brier", "imputation", at=15.0).value, rel=1e-6
    )


def test_metrics_at_one_time_share_its_weights(study, monkeypatch):
    asked = Counter()
    weights = Samples.weights

    def counted(self, fitted, grid):
        if self.y_train is not None:  # what looks for mistakes has none
            asked[tuple(grid.times)] += 1
        return weights(self, fitted, grid)

    monkeypatch.setattr(Samples, "weights", counted)
    study.evaluate(metrics=["brier", "ibs", "auc"], at=AT, adjustments="ipcw")
    assert sorted(map(len, asked)) == [1, 1, 100]
    assert set(asked.values()) == {1}


def test_a_value_that_is_not_defined_at_one_time_costs_no_other(study):
    first = float(study.test.y.time.min())
    result = study.evaluate(metrics="auc", at=[0.5 * first, 12.0], adjustments="ipcw")
    none = result.score("one", "auc", at=0.5 * first)
    assert np.isnan(none.value)
    assert [note.kind for note in none.notes] == ["missing"]
    assert "nobody had the event" in none.notes[0].text
    assert np.isfinite(result.score("one", "auc", at=12.0).value)


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"metrics": "brier", "at": [12.0, 99.0]}, ("at", "99")),
        ({"metrics": "brier", "at": []}, ("at", "empty")),
        ({"metrics": "brier", "at": [12.0, np.nan]}, ("at", "row 1", "nan")),
        ({"metrics": "brier", "at": -1.0}, ("at", "-1")),
        ({"metrics": "ibs", "at": 12.0}, ("at", "ibs")),
        ({"metrics": [cc.metric("brier", at=12.0), "brier"], "at": 12.0 + 1e-9}, ("metrics", "brier at 12")),
    ],
)
def test_times_that_are_refused(study, options, parts):
    refuses(lambda: study.evaluate(adjustments="ipcw", **options), *parts)


def test_a_metric_that_brings_its_time_is_not_scored_at_it_twice(study):
    metrics = [cc.metric("brier", at=12.0), "brier"]
    assert study.evaluate(metrics=metrics, at=AT, adjustments="ipcw").metrics == (
        "brier at 12",
        "brier at 15",
    )


def test_by_default_there_are_scores_at_quartiles_of_the_event_times(study):
    result = study.evaluate(metrics="default", adjustments="ipcw")
    assert result.metrics[:2] == ("ibs", "auc")
    events = study.test.y.time[study.test.y.event & (study.test.y.time <= result.data.horizon.time)]
    assert np.array(result.data.at) == pytest.approx(np.quantile(events, [0.25, 0.5, 0.75]), rel=0.05)
    assert all(float(f"{t:.2g}") == t <= result.data.horizon.time for t in result.data.at)
    assert [note.kind for note in result.notes if f"{result.data.at[0]:g}" in note.text] == ["decision"]
    given = study.evaluate(metrics="default", at=9.0, adjustments="ipcw")
    assert given.data.at == (9.0,)


def test_default_times_do_not_pass_the_horizon():
    y = cc.Survival(np.array([10.0, 99.7, 99.8, 99.8]), np.ones(4, bool))
    curves = cc.Predictions([100.0], [[0.1], [0.2], [0.3], [0.3]], tail="last")
    result = cc.evaluate({"m": curves}, y, metrics="default", adjustments="ipcw", horizon="t_max")
    assert max(result.data.at) == 99.0


def test_without_events_there_is_no_discrimination_and_other_metrics_go_on(study):
    y = cc.Survival(study.test.y.time, np.zeros(len(study.test.y), bool))
    result = cc.evaluate(study.models, y, y_train=study.train.y, adjustments="ipcw", metrics=["ibs", "auc"])
    assert np.isnan(result.score("one", "auc").value)
    assert np.isfinite(result.score("one").standard_error)
    assert [note.kind for note in result.results["ipcw"].notes if "AUC" in note.text] == ["missing"]


def test_answers_come_from_an_adjustment_with_scores_by_the_first_metric(result):
    silent = replace(
        result.results["imputation"], values=result.results["imputation"].values | {"brier at 12": {}}
    )
    found = replace(result, results=result.results | {"imputation": silent})
    assert (result.primary, found.primary) == ("imputation", "ipcw")
    assert "Brier score at 12" in repr(found)
