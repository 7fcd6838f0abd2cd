"""The name and the unit of time, in labels, words and numbers of an evaluation."""

import numpy as np
import pytest

import cocensor as cc
from cocensor.study.curves import margin_curves
from cocensor.study.lookup import metric_of
from cocensor.study.report import Report
from cocensor.views.text.names import metrics_in_words

RNG = np.random.default_rng(5)
TIMES = np.linspace(0.0, 12.0, 7)
Y = cc.Survival(RNG.exponential(9.0, 120).round(1), RNG.random(120) < 0.7)
CURVES = np.exp(-TIMES / RNG.uniform(5.0, 15.0, (120, 1)))
METRICS = ("ibs", "auc", "brier", "ici", "absolute_error", cc.metric("net_benefit", threshold=0.2))


def evaluated(**names):
    models = {"a": (TIMES, CURVES), "b": (TIMES, CURVES**1.5)}
    settings = {"adjustments": "ipcw", "metrics": METRICS, "at": [1.0, 4.5, 8.0]}
    return cc.evaluate(models, Y, **settings, **names)


@pytest.fixture(scope="module")
def plain():
    return evaluated()


@pytest.fixture(scope="module")
def months():
    return evaluated(time_name="rfstime", time_unit="months")


def test_labels_say_the_unit_and_names_stay(plain, months):
    assert months.metrics == plain.metrics
    labels = {each.name: each.label for each in months.data.metrics}
    assert labels["auc at 8"] == "AUC at 8 months"
    assert labels["brier at 1"] == "Brier score at 1 month"
    assert labels["net_benefit at 4.5"] == "net benefit at 4.5 months from a risk of 0.2"
    assert labels["absolute_error"] == "restricted absolute error in months"
    assert labels["ibs"] == metric_of(plain, "ibs").label
    assert metric_of(months, "ibs", at=5.0).label == "Brier score at 5 months"
    assert metric_of(months, "auc", at=5.0).label == "AUC at 5 months"
    assert metric_of(plain, "auc at 8").label == "AUC at 8"


def test_scores_do_not_depend_on_what_time_is_called(plain, months):
    for name in plain.metrics:
        assert months.score("a", name).value == plain.score("a", name).value
    assert months.score("a", "auc", at=5.0).value == plain.score("a", "auc", at=5.0).value


def test_words_say_the_unit(plain, months):
    text = repr(months)
    assert "up to 12 months" in text
    aucs = [each for each in months.data.metrics if each.family == "auc"]
    assert metrics_in_words(aucs) == "AUC at 1, 4.5 and 8 months"
    assert "up to time 12" in repr(plain)
    assert "month" not in repr(plain)
    assert "up to 12 months" in months._repr_html_()


def test_the_note_on_default_times_says_the_unit():
    models = {"a": (TIMES, CURVES)}
    found = cc.evaluate(models, Y, adjustments="ipcw", confidence_level=None, time_unit="months")
    [said] = [note.text for note in found.notes if "quartiles" in note.text]
    assert found.data.time_axis.said(*found.data.at) in said
    assert found.data.time_axis.said(*found.data.at).endswith(" months")


def test_a_horizon_has_four_digits_in_words():
    found = cc.evaluate({"a": (TIMES, CURVES)}, Y, adjustments="ipcw", metrics="ibs", horizon=9.784312)
    assert repr(found).splitlines()[0].endswith("up to time 9.78")


def test_numbers_have_the_axis_and_who_is_at_risk(plain, months):
    found = Report(months).to_dict()
    assert found["time"] == {"name": "rfstime", "unit": "months", "label": "rfstime (months)"}
    assert Report(plain).to_dict()["time"] == {"name": None, "unit": None, "label": "time"}
    assert found["at_risk"]["times"] == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0]
    assert found["at_risk"]["test"] == [int((Y.time >= t).sum()) for t in found["at_risk"]["times"]]
    assert found["at_risk"]["test"][0] == len(Y)


def test_survival_curves_have_the_numbers_at_risk_of_their_sample():
    train = cc.Survival([1, 2, 3, 3, 20], [1, 0, 1, 1, 0])
    found = cc.evaluate(
        {"a": (TIMES, CURVES)}, Y, y_train=train, adjustments="ipcw", metrics="ibs", horizon=4.0
    )
    curves = margin_curves(found)
    assert curves.sample == "training"
    assert curves.at_risk == {0.0: 5, 1.0: 5, 2.0: 4, 3.0: 3, 4.0: 1}
    assert curves.to_dict()["at_risk"] == {"times": [0.0, 1.0, 2.0, 3.0, 4.0], "n": [5, 5, 4, 3, 1]}


def test_resampling_keeps_the_axis(months):
    again = months.bootstrap(3)
    assert again.data.time_axis == months.data.time_axis
    assert metric_of(again, "auc at 8").label == "AUC at 8 months"


def test_the_page_says_the_unit(months, tmp_path):
    path = months.to_html(tmp_path / "page.html")
    page = path.read_text(encoding="utf-8")
    assert "Scored until 12 months: " in page
    assert "AUC at 8 months" in page
    assert "time_name=&#39;rfstime&#39;, time_unit=&#39;months&#39;" in page
