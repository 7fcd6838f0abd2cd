"""A label is accepted wherever a name is: every door, by name and by what tables print."""

from functools import partial

import numpy as np
import pytest

import cocensor as cc
from cocensor.cli.inputs import Inputs
from cocensor.cli.plan import PlanOptions, plan_of
from cocensor.study.lookup import metric_of, results_of
from cocensor.study.ranking import standing
from cocensor.views.plots import CurveDisplay, ForestDisplay

BRIER, JUDGE = "integrated Brier score", "Imputation"


@pytest.fixture(scope="module")
def result(study):
    return study.evaluate(metrics=["ibs", "brier"], at=[8.0, 12.0], adjustments=["ipcw", "imputation"])


@pytest.fixture(scope="module")
def sensitivity(result):
    return result.sensitivity("clayton", [0.0, 0.3])


@pytest.mark.parametrize(
    "read",
    [
        lambda result, by, how: result.score("one", by, how).value,
        lambda result, by, how: result.score("one", by, how).skill.value,
        lambda result, by, how: result.compare("one", "three", by, how).difference,
        lambda result, by, how: standing(result, by, how).ranks,
        lambda result, by, how: standing(result, by, how).best,
        lambda result, by, how: results_of(result, how).name,
        lambda result, by, how: result.results[how].name,
        lambda result, by, how: metric_of(result, by),
        lambda result, by, how: result.calibration_curve("one", 8.0, how).ici.value,
        lambda result, by, how: result.d_calibration("one", how).pvalue,
        lambda result, by, how: result.decision_curve(8.0, how)["one"].net_benefit.high.tolist(),
        lambda result, by, how: CurveDisplay.from_scores(result, how, by).panels.keys(),
        lambda result, by, how: [
            panel.ylabel for panel in ForestDisplay.from_metrics(result, by, how).panels.values()
        ],
    ],
)
def test_scores_by_label(result, read):
    for name, label in (("ipcw", "IPCW"), ("imputation", JUDGE)):
        assert read(result, BRIER, label) == read(result, "ibs", name)


@pytest.mark.parametrize("kind", ["scores", "differences", "ranks", "curves"])
def test_tables_by_label(result, kind):
    for name, label in (("ipcw", "IPCW"), ("imputation", JUDGE)):
        assert result.table(kind, BRIER, label).equals(result.table(kind, "ibs", name))


def test_bounds_by_label(result):
    assert result.bounds(BRIER).to_dict() == result.bounds("ibs").to_dict()


def test_one_time_by_label_and_by_the_label_less_the_time(result):
    value = result.score("one", "brier", at=12.0).value
    assert result.score("one", "Brier score at 12").value == value
    assert result.score("one", "Brier score", at=12.0).value == value
    with pytest.raises(ValueError, match="^at is needed for the metric 'Brier score', .* 8, 12"):
        result.score("one", "Brier score")


@pytest.mark.parametrize(
    "read",
    [
        lambda found, by, how: found.over_tau.values("clayton", 0.3, by, how),
        lambda found, by, how: found.over_tau.leaders(by, how),
        lambda found, by, how: found.over_tau.compare("one", "three", "clayton", 0.3, by, how).difference,
        lambda found, by, how: found.over_tau.hazard_ratio("clayton", 0.3, how),
        lambda found, by, how: found.tipping_points("one", "three", by, how),
        lambda found, by, how: CurveDisplay.from_sensitivity(found, by, how).panels["clayton"].title,
        lambda found, by, how: CurveDisplay.from_differences(found, "one", by, how).panels["clayton"].title,
    ],
)
def test_a_sensitivity_analysis_by_label(sensitivity, read):
    assert read(sensitivity, BRIER, JUDGE) == read(sensitivity, "ibs", "imputation")


def test_what_is_asked_for_by_label_has_its_name(study, result):
    by_label = study.evaluate(metrics=BRIER, adjustments=["IPCW", "imputation"])
    assert (by_label.metrics, list(by_label.results)) == (("ibs",), ["ipcw", "imputation"])
    again = result.sensitivity("clayton", [0.0, 0.3], adjustments=JUDGE)
    assert list(again.over_tau.answers) == ["imputation"]
    drawn = study.evaluate(adjustments=["ipcw", "dep"]).bootstrap(20, adjustments="IPCW", seed=1)
    assert drawn.score("one", adjustment="IPCW").value == result.score("one", adjustment="ipcw").value


def test_registries_functions_and_command_line_by_label(study):
    assert cc.adjustment("IPCW (Cox)") == cc.adjustment("ipcw_cox")
    assert cc.metric(BRIER) == cc.metric("ibs")
    options = PlanOptions(adjustments="IPCW,imputation", metrics=f"{BRIER},mean AUC")
    plan = plan_of(options, {}, Inputs(test="test.csv", event="died", time="months"))
    assert [each.name for each in plan.adjustments] == ["ipcw", "imputation"]
    assert plan.metrics == (cc.metric("ibs"), cc.metric("auc"))
    given = study.train.y, study.test.y, study.models["one"], [4.0, 8.0]
    np.testing.assert_array_equal(
        cc.brier_score(*given, adjustment="IPCW"), cc.brier_score(*given, adjustment="ipcw")
    )


def test_neither_name_nor_label_is_refused_with_the_names(result, sensitivity):
    asked = (
        partial(result.score, "one"),
        partial(result.compare, "one", "three"),
        partial(result.table, "ranks"),
        partial(sensitivity.over_tau.values, "clayton", 0.3),
    )
    for ask in asked:
        with pytest.raises(ValueError, match="^adjustment must be one of .*'imputation', but is 'imputed'"):
            ask("ibs", "imputed")
        with pytest.raises(ValueError, match="^metric must be one of 'ibs', .* but is 'log'"):
            ask("log", "imputation")


def test_a_name_comes_before_a_label_of_another(study):
    result = study.evaluate(adjustments={"IPCW": "imputation", "other": "ipcw"})
    assert result.results["IPCW"].adjustment == cc.adjustment("imputation", copula=cc.Frank.from_tau(0.3))
