"""What JSON holds of sampling errors."""

import json
from functools import partial

import numpy as np
import pytest

import cocensor as cc
from cocensor.simulate import SyntheticDesign
from cocensor.study.curves import curve_errors
from cocensor.study.ranking import standing
from cocensor.study.report import Report
from cocensor.views.numbers import sensitivity_numbers
from tests.strategies import cox_predictions

OF_ERRORS = {"standard_errors", "intervals", "no_interval", "skill_intervals", "comparisons", "curve_errors"}


@pytest.fixture(scope="module")
def asked():
    data = SyntheticDesign(n=300, n_features=3, copula=cc.Clayton.from_tau(0.5)).draw(0)
    train, test = data[:150], data[150:]
    cox = partial(cox_predictions, train, test)
    models = {"all": cox(0, 1, 2), "one": cox(2), "bad": ([0.0, 1.0], np.full((150, 2), 2.0))}
    return partial(cc.evaluate, models, test.y, test.X, y_train=train.y, metrics="ibs")


@pytest.fixture(scope="module")
def evaluation(asked):
    return asked(confidence_level=0.9)


def metric_of(evaluation):
    return json.loads(evaluation.to_json())["metrics"][0]


def test_scores_skills_and_differences_have_the_intervals_of_the_results(evaluation):
    held, level = metric_of(evaluation), 0.9
    for name in evaluation.results:
        assert set(held["intervals"][name]) == {"all", "one"}  # the one that is refused has no score
        for model in ("all", "one"):
            score = evaluation.score(model, adjustment=name)
            skill = score.skill
            assert held["standard_errors"][name][model] == score.standard_error
            assert held["intervals"][name][model] == list(score.confidence_interval(level))
            assert held["skill_standard_errors"][name][model] == skill.standard_error
            assert held["skill_intervals"][name][model] == list(skill.confidence_interval(level))
        rows = evaluation.table("differences", adjustment=name).drop(columns=["metric", "adjustment"])
        assert held["comparisons"][name] == [
            dict(zip(rows.columns, row, strict=True)) for row in rows.to_numpy()
        ]
        assert held["best"][name] == list(standing(evaluation, adjustment=name).best)
    assert json.loads(evaluation.to_json())["confidence_level"] == level


def test_errors_over_time_are_those_that_are_handed_over(asked):
    result = asked(adjustments="ipcw", times=[5.0, 2.0, 8.0])
    assert metric_of(result)["curve_errors"] == {}
    table = result.table("curves")
    assert metric_of(result)["curve_errors"] == {}
    held = metric_of(Report(result, curves={("ibs", "ipcw"): curve_errors(result)}))["curve_errors"]["ipcw"]
    rows = table[table["model"] == "one"]
    for name, column in {"standard_errors": "standard_error", "band_low": "band_low", "high": "high"}.items():
        assert held["one"][name] == rows[column].tolist()
    assert metric_of(result)["times"] == rows["time"].tolist()


def test_without_a_level_there_are_no_errors(asked):
    plain = asked(adjustments="ipcw", confidence_level=None)
    assert not OF_ERRORS & metric_of(plain).keys()
    assert metric_of(plain)["best"] == {"ipcw": list(standing(plain).best)}
    assert Report(plain).to_dict()["confidence_level"] is None


class Hope(cc.metrics.Metric):
    """The mean prediction, whose error nobody has worked out."""

    name, label, direction, range = "hope", "hope", "higher", (0.0, 1.0)

    def evaluate(self, status, predictions):
        read = {name: each.read(status.grid.sorted, slice(None)) for name, each in predictions.items()}
        return {name: cc.metrics.MetricValue(float(values.mean())) for name, values in read.items()}


def test_what_has_no_interval_is_null_with_its_reason(asked):
    result = asked(adjustments="ipcw", metrics=[Hope(), "ibs"])
    held, other = json.loads(result.to_json())["metrics"]
    missing = result.score("all").missing
    assert missing
    assert held["no_interval"]["ipcw"] == {"all": missing, "one": missing}
    assert held["intervals"]["ipcw"] == held["standard_errors"]["ipcw"] == {"all": None, "one": None}
    [pair] = held["comparisons"]["ipcw"]
    assert (pair["low"], pair["pvalue"]) == (None, None)
    assert other["no_interval"] == {"ipcw": {}}


def test_a_bootstrap_is_named(asked):
    result = asked(adjustments=["ipcw", "imputation"]).bootstrap(10, seed=3, adjustments="ipcw")
    held = {each["name"]: each["resampling"] for each in json.loads(result.to_json())["adjustments"]}
    assert held == {"ipcw": {"n_resamples": 10, "seed": 3}, "imputation": None}
    score = result.score("all", adjustment="ipcw")
    assert metric_of(result)["intervals"]["ipcw"]["all"] == list(score.confidence_interval(0.95))


def test_the_grid_has_errors_differences_leads_and_turns(evaluation):
    sensitivity = evaluation.sensitivity(("clayton", "frank"), (-0.2, 0.0, 0.5, 0.9))
    held = json.loads(json.dumps(sensitivity_numbers(sensitivity), allow_nan=False))
    grid = sensitivity.over_tau
    by, level = grid.primary, evaluation.data.confidence_level
    assert held["confidence_level"] == level
    errors = held["errors"]["ibs"][by]["clayton"]["one"]
    assert errors["low"][0] is None  # a τ that the family does not have
    for k, tau in enumerate(grid.points[1:], start=1):
        known = grid.errors("clayton", tau).estimate("one")
        assert errors["standard_errors"][k] == pytest.approx(known.standard_error)
        assert (errors["low"][k], errors["high"][k]) == pytest.approx(known.confidence_interval(level))
        assert errors["band_low"][k] <= errors["low"][k]
        assert held["best"]["ibs"][by]["clayton"][k] == list(grid.best()["clayton"][tau])
    against = held["differences"]["ibs"][by]
    assert against["reference"] == grid.reference() == "all"
    pair = grid.compare("one", "all", "frank", 0.5)
    assert against["families"]["frank"]["one"]["differences"][2] == pytest.approx(pair.difference)
    [found] = [each for each in held["pairs"]["ibs"][by] if {each["a"], each["b"]} == {"all", "one"}]
    both = grid.pair("all", "one")
    lead = both.lead()
    assert found["lead"] == (None if lead is None else vars(lead))
    turns = both.tipping_points()
    assert [point["at"] for point in found["tipping_points"]] == [point.at for point in turns]
    assert not any("bad" in (each["a"], each["b"]) for each in held["pairs"]["ibs"][by])
