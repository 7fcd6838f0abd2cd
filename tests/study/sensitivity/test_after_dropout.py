"""The hazard ratio after dropout as a line of the sensitivity analysis, and as the second axis of the copulas."""

import numpy as np
import pytest

import cocensor as cc
from cocensor.simulate import SyntheticDesign
from cocensor.study.lookup import results_of
from cocensor.views.numbers import sensitivity_numbers
from tests.refusals import refuses


@pytest.fixture(scope="module")
def sample():
    data = SyntheticDesign(n=400, n_features=2, copula=cc.Clayton.from_tau(0.3)).draw(1)
    why = np.where(np.arange(400) % 3 == 0, "moved", "ill")
    curves = {
        name: cc.CoxPH().fit(data.X[:, :k], data.y).predict_survival_function(data.X[:, :k])
        for name, k in (("two", 2), ("one", 1))
    }
    return curves, cc.Survival(data.y.time, data.y.event, None, why), data.X


@pytest.fixture(scope="module")
def result(sample):
    curves, y, X = sample
    return cc.evaluate(curves, y, X, metrics="ibs", copula=cc.Clayton.from_tau(0.2))


@pytest.fixture(scope="module")
def found(result):
    return result.sensitivity(
        ["clayton", "frank", "hazard_ratio"], [-0.2, 0.0, 0.4], hazard_ratios=[0.5, 1, 3]
    )


def test_a_ratio_of_one_is_the_point_at_tau_zero(found):
    over_tau, over_ratio = found.grids
    for line in over_ratio.lines:
        assert over_ratio.values(line, 1.0) == over_tau.values("clayton", 0.0)
        assert over_ratio.errors(line, 1.0) is over_tau.errors("clayton", 0.0)


def test_each_point_is_an_evaluation_under_that_ratio(sample, found):
    curves, y, X = sample
    after = found.over_ratio
    for line, ratio in (("all", 3.0), ("all", {"ill": 0.5}), ("all", {"moved": 3.0})):
        imputation = cc.Imputation("everything", hazard_ratio=ratio)
        again = cc.evaluate(curves, y, X, metrics="ibs", adjustments={"imputation": imputation})
        point = ratio
        if isinstance(ratio, dict):
            [(line, point)] = ratio.items()
        assert after.values(line, point)["one"] == pytest.approx(again.score("one").value, rel=1e-10)
        error = after.errors(line, point).estimate("one").standard_error
        assert error == pytest.approx(again.score("one").standard_error, rel=1e-8)


def test_lines_are_everybody_and_each_reason(found):
    after = found.over_ratio
    assert after.lines == ("all", "ill", "moved")
    assert after.points == (0.5, 1.0, 3.0)
    table = found.table()
    rows = table[table["family"] == "hazard_ratio"]
    assert len(rows) == 3 * 3 * 2
    assert rows["tau"].isna().all()
    assert set(rows["hazard_ratio"]) == {0.5, 1.0, 3.0}
    assert rows["reason"].isna().sum() == 6
    moved = rows[(rows["reason"] == "moved") & (rows["hazard_ratio"] == 3.0)].set_index("model")
    assert moved["score"]["two"] == after.values("moved", 3.0)["two"]
    assert list(table.columns[:7]) == [
        "metric",
        "adjustment",
        "family",
        "reason",
        "tau",
        "hazard_ratio",
        "model",
    ]
    held = sensitivity_numbers(found)["after_dropout"]
    assert held["hazard_ratios"] == [0.5, 1.0, 3.0]
    assert held["scores"]["ibs"]["imputation"]["moved"]["two"][2] == after.values("moved", 3.0)["two"]
    assert held["errors"]["ibs"]["imputation"]["all"]["two"]["low"][0] is not None
    assert held["pairs"]["ibs"]["imputation"][0].keys() >= {"lead", "lead_by_line", "tipping_points"}


def test_groups_move_alone_by_label_or_column(sample, result):
    import pandas as pd

    curves, y, X = sample
    half = np.where(X[:, 0] > 0.5, "high", "low")
    asked = {"families": ["clayton", "hazard_ratio"], "taus": [0.0], "hazard_ratios": [2.0]}
    after = result.sensitivity(**asked, hazard_ratio_by=half).over_ratio
    assert after.lines == ("all", "high", "low")
    named = cc.evaluate(curves, y, pd.DataFrame({"a": X[:, 0], "sex": half == "high"}), metrics="ibs")
    assert named.sensitivity(**asked, hazard_ratio_by="sex").over_ratio.lines == ("all", "0", "1")
    fitted = results_of(result).fits["one"].with_copula(cc.Independence())
    status = fitted.with_hazard_ratio(np.where(half == "low", 2.0, 1.0))
    found = cc.evaluate(curves, y, X, metrics="ibs", adjustments={"imputation": status}).score("one").value
    assert after.values("low", 2.0)["one"] == pytest.approx(found, rel=1e-10)
    # One group is everybody.
    assert result.sensitivity(**asked, hazard_ratio_by=["a"] * 400).over_ratio.lines == ("all",)


def test_the_second_axis_of_clayton_is_one_plus_theta(found):
    assert found.over_tau.hazard_ratio("clayton", 0.4) == pytest.approx((1 + 0.4) / (1 - 0.4))
    assert found.over_tau.hazard_ratio("clayton", 0.0) == 1.0
    # Along a line in its logarithm.
    assert found.over_tau.hazard_ratio("clayton", 0.2) == pytest.approx(np.sqrt(1.4 / 0.6))
    assert np.isnan(found.over_tau.hazard_ratio("clayton", -0.2))
    assert found.over_tau.hazard_ratio("frank", -0.2) < 1
    ratios = sensitivity_numbers(found)["hazard_ratios"]["imputation"]
    assert ratios["clayton"] == [None, 1.0, pytest.approx(7 / 3)]


def test_without_its_name_there_are_no_ratios(result):
    found = result.sensitivity("clayton", [0.0])
    assert found.over_ratio is None
    assert set(found.table()["family"]) == {"clayton"}


def test_where_no_adjustment_takes_a_ratio_a_note_says_so(sample, found):
    curves, y, _ = sample
    plain = cc.evaluate(curves, y, metrics="ibs", adjustments="cg_q", copula=cc.Clayton(1.0))
    without = plain.sensitivity(["clayton", "hazard_ratio"], [0.0])
    assert without.over_ratio is None
    assert without.over_tau.missing["cg_q", "hazard_ratio"].kind == "missing"
    assert not found.over_tau.missing


def test_answers_are_ratios(found):
    after = found.over_ratio
    low, high = after.uncertainty(0.5, 2.0, "one").ignorance
    assert low < after.values("all", 1.0)["one"] < high
    refuses(lambda: after.uncertainty(0.1, 2.0, "one"), "low", "0.5 to 3", "0.1")
    refuses(lambda: after.compare("one", "two", "all", 4.0), "ratio", "0.5, 1, 3", "4")
    np.testing.assert_allclose(after.along("one")["all"].positions, np.log([0.5, 1, 3]))


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"hazard_ratios": [1.0, 0.0]}, ("hazard_ratios", "0")),
        ({"hazard_ratios": [-1.0]}, ("hazard_ratios", "-1")),
        ({"hazard_ratios": [np.inf]}, ("hazard_ratios", "inf")),
        ({"hazard_ratios": []}, ("hazard_ratios", "empty")),
        ({"hazard_ratio_by": ["a"] * 3}, ("hazard_ratio_by", "3")),
        ({"hazard_ratio_by": np.arange(400)}, ("hazard_ratio_by", "400")),
        ({"hazard_ratio_by": ["all", "b"] * 200}, ("hazard_ratio_by", "'all'")),
        ({"hazard_ratio_by": [None, "b"] * 200}, ("hazard_ratio_by", "None")),
        ({"hazard_ratio_by": "sex"}, ("hazard_ratio_by", "'sex'")),
        ({"families": ["clayton"], "hazard_ratio_by": ["a", "b"] * 200}, ("families", "hazard_ratio_by")),
        ({"families": ["clayton"], "hazard_ratios": [2.0]}, ("families", "hazard_ratios")),
        ({"families": ["hazard_ratio"]}, ("families", "hazard_ratio")),
        ({"plausible": (0.3, 0.0)}, ("plausible", "0.3, 0")),
        ({"plausible": (0.0, 1.0)}, ("plausible", "1")),
        ({"plausible": (0.1, 0.2, 0.3)}, ("plausible", "3")),
    ],
)
def test_ratios_that_make_no_sense_are_refused(result, options, parts):
    refuses(lambda: result.sensitivity(**({"taus": [0.0]} | options)), *parts)


def test_reasons_asked_for_must_be_there(sample):
    curves, y, X = sample
    bare = cc.evaluate(curves, cc.Survival(y.time, y.event), X, metrics="ibs")
    refuses(lambda: bare.sensitivity(taus=[0.0], hazard_ratio_by="reason"), "hazard_ratio_by", "'reason'")


def test_many_reasons_have_no_lines_and_a_note(sample):
    curves, y, X = sample
    many = cc.Survival(y.time, y.event, None, np.arange(400) % 20)
    found = cc.evaluate(curves, many, X, metrics="ibs")
    asked = {"families": ["clayton", "hazard_ratio"], "taus": [0.0], "hazard_ratios": [2.0]}
    after = found.sensitivity(**asked).over_ratio
    assert after.lines == ("all",)
    assert "20" in after.missing["imputation", "reason"].text
    refuses(lambda: found.sensitivity(**asked, hazard_ratio_by="reason"), "y_test", "20")
