"""What type checkers know of results: mypy reads this file (`make lint`), and its calls are tried as well."""

from typing import Any, assert_type

import numpy as np
import pytest

import cocensor as cc
from cocensor.inference import Influence
from cocensor.metrics.auc import RocCurve

Y = cc.Survival([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 1])
TIMES = np.array([1.5, 3.5])
ONE = np.array([[0.6, 0.2], [0.9, 0.6], [0.8, 0.4], [0.9, 0.7]])
#: Of a dict of arrays, whose shapes are unknown to it, mypy takes any overload to be possible.
SEVERAL = {"cox": cc.Predictions(TIMES, ONE), "forest": cc.Predictions(TIMES, ONE**2)}


def test_one_number() -> None:
    assert_type(cc.concordance_index(Y, Y, ONE, TIMES), float)
    assert_type(cc.concordance_index(Y, Y, SEVERAL, TIMES, time_dependent=True), dict[str, float])
    value, influence = cc.concordance_index(Y, Y, ONE, TIMES, return_influence=True)
    assert_type(value, float)
    assert_type(influence, Influence)
    pair = cc.brier_skill_score(Y, Y, SEVERAL, TIMES, adjustment="ipcw", return_influence=True)
    assert_type(pair, tuple[dict[str, float], dict[str, Influence]])
    assert np.isfinite(value + pair[0]["cox"])
    assert np.isfinite(influence.standard_errors + pair[1]["cox"].standard_errors)


def test_arrays_whose_kind_is_that_of_the_predictions() -> None:
    scores, influence = cc.brier_score(Y, Y, ONE, TIMES, return_influence=True)
    assert_type(influence, Influence)
    assert scores.shape == influence.standard_errors.shape == (2,)
    assert_type(cc.brier_score(Y, Y, SEVERAL, TIMES), dict[str, Any])
    moved = cc.integrated_brier_score(Y, Y, SEVERAL, TIMES, integration="step", return_influence=True)
    assert_type(moved, tuple[dict[str, Any], dict[str, Influence]])


def test_pairs() -> None:
    (aucs, mean), (of_aucs, of_mean) = cc.cumulative_dynamic_auc(Y, Y, ONE, TIMES, return_influence=True)
    assert_type(mean, float)
    assert_type(of_mean, Influence)
    assert_type(of_aucs, Influence)
    assert aucs.shape == (2,)


def test_results_of_their_own() -> None:
    assert_type(cc.d_calibration(Y, Y, ONE, TIMES).pvalue, float)
    curves = cc.survival_roc_curve(Y, Y, SEVERAL, TIMES, confidence_level=None)
    assert isinstance(curves["cox"][0], RocCurve)


def test_a_wrong_setting_is_known_to_be_one() -> None:
    with pytest.raises(TypeError, match="thresh"):
        cc.brier_score(Y, Y, ONE, TIMES, thresh=0.5)  # type: ignore[call-overload]
