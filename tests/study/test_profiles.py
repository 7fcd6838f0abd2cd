"""Curves behind values at single times, in tables, with errors and as JSON; calibration and benefit in full."""

import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import cocensor as cc
from cocensor.metrics.base import Linear, Profile, SectionFunctionals, SectionMetric
from cocensor.study.curves import profile_errors
from tests.refusals import refuses

AT = 12.0


@dataclass(frozen=True)
class Share(SectionMetric):
    """The share of events by a time; behind it, that share and its double."""

    at: float | None = None
    name: ClassVar[str] = "share"
    label: ClassVar[str] = "share of events"
    direction: ClassVar[str] = "lower"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    profile_labels: ClassVar[tuple[str, str]] = ("factor", "share")

    def value(self, section):
        return float(section.event.sum() / section.normaliser)

    def linear(self, section):
        each = np.ones(section.event.size) / section.normaliser
        return Linear(self.value(section), 0.0 * each, each)

    def profile(self, section):
        return Profile(np.array([1.0, 2.0]), np.array([1.0, 2.0]) * self.value(section))

    def profile_functionals(self, status, predictions):
        return SectionFunctionals(self.linear, predictions, np.array([[1.0, 2.0]]))


@pytest.fixture(scope="module")
def result(study):
    models = {**study.models, "order": -study.models["one"]([AT])[:, 0]}
    return study.evaluate(models, metrics=["ibs", "auc", Share()], at=AT, copula=None)


def test_the_errors_of_a_curve_are_those_of_the_value_that_it_passes_through(result):
    for adjustment in result.results:
        errors = profile_errors(result, "share", adjustment).of("three")
        score = result.score("three", "share", adjustment)
        assert errors.values == pytest.approx([score.value, 2 * score.value])
        assert errors.standard_errors == pytest.approx([score.standard_error, 2 * score.standard_error])
    nothing = profile_errors(result, "share").of("three", minus="one")
    assert nothing.values == pytest.approx([0.0, 0.0], abs=1e-12)
    assert nothing.standard_errors == pytest.approx([0.0, 0.0], abs=1e-12)


def test_the_table_of_curves_has_limits_where_intervals_were_asked_for(study):
    options = {"metrics": Share(), "at": AT, "copula": None}
    plain = study.evaluate(**options, confidence_level=None).table("profiles")
    assert list(plain.columns) == ["metric", "adjustment", "model", "x", "y"]
    result = study.evaluate(**options)
    table = result.table("profiles").set_index(["adjustment", "model", "x"])
    for adjustment in result.results:
        errors = profile_errors(result, adjustment=adjustment).of("one")
        row = table.loc[(adjustment, "one", 2.0)]
        assert row["standard_error"] == errors.standard_errors[1]
        assert row["band_high"] == errors.band(0.95).high[1]


def test_curves_at_other_times_are_computed_when_asked_for(result):
    later = result.table("profiles", "share", at=15.0)
    assert (later["y"].to_numpy() > result.table("profiles", "share")["y"].to_numpy()).all()
    errors = profile_errors(result, "share", "ipcw", at=15.0)
    assert errors.of("one").standard_errors[0] == pytest.approx(
        result.score("one", "share", "ipcw", at=15.0).standard_error
    )


def test_a_metric_without_such_a_curve_is_refused(result):
    refuses(lambda: result.table("profiles", "ibs"), "metric", "'ibs'")
    refuses(lambda: profile_errors(result, "ibs"), "metric", "'ibs'")


def test_json_holds_times_curves_and_which_models_are_risk_scores(result):
    errors = {("share at 12", "ipcw"): profile_errors(result, "share", "ipcw")}
    sensitivity = result.sensitivity("clayton", [0.0, 0.4])
    numbers = json.loads(result.to_json(sensitivity=sensitivity, profiles=errors))
    assert numbers["at"] == [AT]
    assert [each["risk_score"] for each in numbers["models"]] == [False, False, True]
    by_name = {each["name"]: each for each in numbers["metrics"]}
    share = by_name["share at 12"]
    assert (share["family"], share["at"], share["profile_labels"]) == ("share", AT, ["factor", "share"])
    assert share["profiles"]["ipcw"]["one"]["x"] == [1.0, 2.0]
    assert share["profile_errors"]["ipcw"]["one"].keys() >= {"standard_errors", "low", "band_high"}
    assert by_name["auc at 12"]["profiles"]["ipcw"]["order"]["y"][-1] == 1.0
    assert by_name["ibs"]["profiles"] == {"ipcw": {}, "imputation": {}}


def test_calibration_and_benefit_in_full_are_those_of_the_functions(study, result):
    y, curves, at = (study.train.y, study.test.y), study.models["three"], 15.0
    calibrated = result.calibration_curve("three", at, "ipcw")
    known = cc.survival_calibration_curve(*y, curves, at)
    assert calibrated.ici.value == pytest.approx(known.ici.value)
    assert calibrated.ici.standard_error == pytest.approx(known.ici.standard_error)
    known = cc.d_calibration(*y, curves, result.data.times)
    assert result.d_calibration("three", "ipcw").pvalue == pytest.approx(known.pvalue)
    benefit = result.decision_curve(at, "ipcw", thresholds=[0.2, 0.5])
    known = cc.decision_curve(*y, study.models, at, [0.2, 0.5])
    assert list(benefit) == ["three", "one"]  # a risk score is no probability
    assert benefit["one"].net_benefit.high == pytest.approx(known["one"].net_benefit.high)


def test_details_are_refused_past_the_horizon_and_of_risk_scores(result):
    refuses(lambda: result.calibration_curve("three", 99.0), "at", "99")
    refuses(lambda: result.decision_curve(99.0), "at", "99")
    refuses(lambda: result.decision_curve(AT, thresholds=[0.0]), "thresholds", "0")
    refuses(lambda: result.calibration_curve("order", AT), "model", "'order'")
    refuses(lambda: result.d_calibration("order"), "model", "'order'")
    refuses(lambda: result.d_calibration("none"), "model", "'none'")
