"""Comparisons of values that histograms leave open by a bound."""

import json
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cocensor as cc
from cocensor.stream import histograms
from cocensor.study.curves import curve_errors
from cocensor.study.standing import standing
from tests.stream.studies import Study, study

PAIRS = ["auc", "concordance", cc.metric("auc", at=0.9)]
OTHERS = [cc.metric(name, at=0.9) for name in ("ici", "e50", "discrimination", "miscalibration")]


def of_few_cells(data, n_cells, **asked):
    with patch.object(histograms, "cells_for", lambda n, n_times: n_cells):
        return data.scan().evaluate(**asked)


@pytest.fixture(scope="module")
def same_order():
    """A model, and another that puts all subjects in the same order."""
    data = study(3000, 2)
    times, curves = data.models["full"]
    return Study({"cox": (times, curves), "weak": (times, curves**0.8)}, data.y)


def test_models_that_differ_by_a_monotone_transform_are_not_told_apart(same_order):
    found = same_order.scan().evaluate(adjustments="ipcw", metrics=PAIRS, n_kept=500)
    for metric in found.metrics:
        pair = found.compare("cox", "weak", metric)
        # By the standard error alone they would be.
        assert 1e-12 < abs(pair.difference) <= pair.bound
        assert abs(pair.difference) > 3 * pair.standard_error
        assert pair.pvalue == 1
        assert pair.better("greater") is None
        assert set(standing(found, metric).best) == {"cox", "weak"}
        assert standing(found, metric).ranks == {"cox": 1, "weak": 1}
        ranks = found.table("ranks", metric)
        assert ranks[["lowest", "highest"]].to_numpy().tolist() == [[1, 2], [1, 2]]
        assert ranks["may_be_best"].all()
    assert "beats" not in str(found)
    values = curve_errors(found, "auc").of("cox", minus="weak")
    low, high = values.confidence_intervals()
    known = ~np.isnan(values.values)
    assert known.sum() > 50
    assert ((low < 0) & (high > 0))[known].all()
    assert (values.band().low[known] < low[known] + 1e-12).all()


def test_without_intervals_scores_whose_order_is_open_share_the_first_rank(same_order):
    found = same_order.scan().evaluate(adjustments="ipcw", metrics="auc", n_kept=500, confidence_level=None)
    assert set(standing(found).best) == {"cox", "weak"}
    assert found.score("cox").bound > 0
    assert np.isnan(found.score("cox").confidence_interval()).all()


def test_a_difference_beyond_the_bound_is_found():
    data = study(4000, 3)
    asked = {"adjustments": "ipcw", "metrics": PAIRS}
    found, held = data.scan().evaluate(**asked, n_kept=1000), data.evaluate(**asked)
    for metric in found.metrics:
        pair = found.compare("full", "part", metric)
        assert pair.bound > 0
        assert pair.better("greater") == held.compare("full", "part", metric).better("greater") == "full"
        assert standing(found, metric).ranks == {"full": 1, "part": 2}
        low, high = found.score("full", metric).confidence_interval()
        error, bound = found.score("full", metric).standard_error, found.score("full", metric).bound
        assert (high - low) / 2 == pytest.approx(1.959964 * error + bound, rel=1e-6)
    skill, score = found.score("full", "auc").skill, found.score("full", "auc")
    assert skill.bound == pytest.approx(2 * score.bound)  # from one half, without error, to 1


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([4, 16, 256]), st.booleans())
def test_the_difference_of_all_subjects_held_at_once_lies_within_the_bound(seed, n_cells, ties):
    data = study(200, seed, ties=ties)
    asked = {"adjustments": ["ipcw", "imputation"], "metrics": [*PAIRS, *OTHERS], "times": [0.3, 0.6, 0.9]}
    held, found = data.evaluate(**asked), of_few_cells(data, n_cells, **asked, n_kept=80)
    for metric in found.metrics:
        for name in found.results:
            one, other = (each.compare("full", "part", metric, name) for each in (found, held))
            assert abs(one.difference - other.difference) <= one.bound + 1e-7
            low, high = one.confidence_interval(0.01)
            assert low - 1e-7 <= other.difference <= high + 1e-7


def test_bounds_are_in_the_numbers_and_in_a_note():
    data = study(1500, 4)
    found = data.scan().evaluate(
        adjustments="ipcw", metrics=["ibs", "auc", cc.metric("ici", at=0.9)], n_kept=400
    )
    numbers = {each["name"]: each for each in json.loads(found.to_json())["metrics"]}
    assert "bound" not in numbers["ibs"]
    assert numbers["auc"]["bound"]["ipcw"]["full"] == found.score("full", "auc").bound > 0
    assert found.compare("full", "part", "ibs").bound == 0
    [note] = [each for each in found.notes if "cells" in each.text]
    assert note.kind == "decision"
    assert "at most" in note.text.partition("mean AUC")[0]
    assert "about" in note.text.partition("mean AUC")[2]


def test_a_bound_that_is_not_known_is_null():
    """Of weights below 0, as AIPCW has, the bound of parts of the Brier score is not proven."""
    found = study(600, 5).scan().evaluate(adjustments=cc.AIPCW(folds=2), metrics=OTHERS[2], n_kept=200)
    score = found.score("full")
    assert np.isfinite(score.value)
    assert np.isnan(score.bound)
    assert score.missing is not None
    [numbers] = json.loads(found.to_json())["metrics"]
    assert list(numbers["bound"].values()) == [{"full": None, "part": None}]
