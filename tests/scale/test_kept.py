"""What comes from the subjects kept, and the AUC at single times, which comes from all of them."""

from unittest.mock import patch

import numpy as np
import pytest

import cocensor as cc
from cocensor.metrics import auc
from cocensor.scale.evaluate import _Study
from cocensor.scale.scan import hashed
from cocensor.study.ranking import standing
from tests.scale.studies import Study, study
from tests.scale.test_evaluate import agree, table

#: Not added up over batches.
KEPT = [
    "auc",
    "concordance",
    *(cc.metric(name, at=0.6) for name in ("ici", "e50", "e90", "miscalibration", "discrimination")),
]
AT = [cc.metric("auc", at=t) for t in (0.3, 0.6)]
ADJUSTMENTS = ["ipcw", "imputation"]
TIMES = [0.2, 0.4, 0.6, 0.8]


def kept_of(data, n):
    """The subjects who are kept, as a study of their own."""
    rows = np.sort(np.argsort(hashed(np.arange(len(data.y))))[:n])
    models, y, x = data.part(rows)
    return Study(models, y, x)


@pytest.mark.parametrize("cuts", [1, [1, 2, 300]])
def test_order_and_calibration_are_those_of_the_subjects_kept_with_their_errors(cuts):
    data = study(1500, 2)
    asked = {"adjustments": ADJUSTMENTS, "metrics": KEPT, "times": TIMES}
    found = data.scan(cuts).evaluate(**asked, n_fit=400, n_kept=400)
    held = kept_of(data, 400).evaluate(**asked)
    agree(found, held, ("score", "standard_error", "low", "high", "skill"), rtol=1e-9)
    for metric in found.metrics:
        for name in ADJUSTMENTS:
            one, other = (each.compare("full", "part", metric, name) for each in (found, held))
            np.testing.assert_allclose(
                (one.difference, one.standard_error, one.pvalue),
                (other.difference, other.standard_error, other.pvalue),
                rtol=1e-8,
            )


def test_their_intervals_are_wider_than_those_of_all_subjects():
    data = study(4000, 3)
    asked = {"adjustments": "ipcw", "metrics": KEPT, "times": TIMES}
    held, found = data.evaluate(**asked), data.scan().evaluate(**asked, n_kept=1000)
    ratio = table(found, "standard_error") / table(held, "standard_error")
    # Four times as many subjects halve an error; those of calibration are told by 1,000 subjects to a fifth or so.
    assert np.median(ratio) == pytest.approx(2, rel=0.1)
    assert (np.abs(np.log(ratio / 2)) < 0.5).all()
    z = (table(found, "score") - table(held, "score")) / table(found, "standard_error")
    assert np.abs(z).max() < 4


@pytest.mark.parametrize("cuts", [1, 4, [1, 2, 300]])
def test_the_auc_at_single_times_is_that_of_all_subjects(cuts):
    data = study(1200, 4, ties=True)
    asked = {"adjustments": [*ADJUSTMENTS, "dep"], "metrics": AT, "times": TIMES}
    found, held = data.scan(cuts).evaluate(**asked, n_kept=50), data.evaluate(**asked)
    agree(found, held, ("score", "skill"))
    profiles = [
        [
            each.results[name].values[metric][model].profile.y
            for name in ADJUSTMENTS
            for metric in found.metrics
            for model in data.models
        ]
        for each in (found, held)
    ]
    np.testing.assert_allclose(*profiles, rtol=1e-9, atol=1e-12)
    assert found.data.streamed.metrics == set(found.metrics)


def test_its_error_is_that_of_all_subjects_told_by_those_kept():
    data = study(4000, 5)
    asked = {"adjustments": ADJUSTMENTS, "metrics": AT, "times": TIMES}
    held, found = data.evaluate(**asked), data.scan().evaluate(**asked, n_kept=1000)
    ratio = table(found, "standard_error") / table(held, "standard_error")
    assert np.abs(ratio - 1).max() < 0.1


def test_models_in_the_same_order_have_the_same_auc():
    data = study(3000, 6)
    times, curves = data.models["full"]
    data = Study({"cox": (times, curves), "weak": (times, curves**0.8)}, data.y)
    found = data.scan().evaluate(adjustments="ipcw", metrics=["auc", *AT], n_kept=500)
    for metric in found.metrics:
        pair = found.compare("cox", "weak", metric)
        assert (pair.difference, pair.pvalue) == (0, 1)
        assert standing(found, metric).ranks == {"cox": 1, "weak": 1}


def test_a_note_names_what_comes_from_the_subjects_kept():
    asked = {"adjustments": "ipcw", "metrics": ["ibs", "concordance", *AT, "d_calibration"], "n_kept": 120}
    found = study(600, 7).scan().evaluate(**asked)
    [note] = [each for each in found.notes if each.code == "from_kept_rows"]
    assert note.kind == "decision"
    assert note.values["metrics"] == ["concordance"]
    assert note.text.endswith("those 120 subjects alone: concordance.")
    with patch.object(auc, "MOST_HELD", 599):
        many = study(600, 7).scan().evaluate(**asked)
    [note] = [each for each in many.notes if each.code == "from_kept_rows"]
    assert note.values["metrics"] == ["concordance", "AUC at 0.3", "AUC at 0.6"]
    assert many.data.streamed.metrics == {"ibs", "d_calibration"}
    kept = kept_of(study(600, 7), 120).evaluate(adjustments="ipcw", metrics=AT, y_train=study(600, 7).y)
    for metric in ("auc at 0.3", "auc at 0.6"):
        assert many.score("full", metric).value == pytest.approx(kept.score("full", metric).value, rel=1e-10)
        assert many.score("full", metric).standard_error > 1.5 * found.score("full", metric).standard_error


def test_by_default_as_many_are_kept_as_take_a_gibibyte():
    wide = np.linspace(0.001, 1.2, 400)
    data = study(20, 8)
    assert _Study(data.scan(), cc.study.Plan.of()).most_kept == 1_000_000
    data = Study(
        {name: (wide, np.exp(-np.ones((20, 1)) * wide)) for name in "ab"} | {"r": np.ones(20)}, data.y
    )
    assert _Study(data.scan(), cc.study.Plan.of()).most_kept == 2**30 // (8 * 801)
