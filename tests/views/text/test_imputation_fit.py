"""What is said of the fit of the imputation model, of numbers made up for it."""

import numpy as np

import cocensor as cc
from cocensor.study.imputation_fit import FitCells
from cocensor.views.text.fits import imputation_fit_in_words, joint_fit
from cocensor.views.text.names import ISOLATE, ON_PAGE


def fit(off, n=100.0):
    """Of 20 cells with ``n`` expected, by model the share by which every other one is above and below."""
    signs = np.tile([1.0, -1.0], (10, 1))
    expected = np.full((10, 2), n)
    cells = {
        model: FitCells((expected * (1 + share * signs)).astype(int), expected, expected)
        for model, share in off.items()
    }
    by_kind = {model: {"event": each, "dropout": fine(expected)} for model, each in cells.items()}
    return cc.study.ImputationFit(cc.Independence(), np.array([1.0, 2.0]), by_kind)


def fine(expected):
    return FitCells(expected.astype(int), expected, expected)


def test_a_misfit_within_chance_has_its_p_value_and_no_size():
    found = fit({"a": 0.1, "b": 0.0})  # χ² = 20 of 20 cells
    said = imputation_fit_in_words(found)
    assert "model fits" in said
    assert f"p = {found.pvalue:.2g}" in said
    assert "%" not in said
    assert "not τ" in said


def test_a_significant_misfit_too_small_to_matter_has_its_size():
    found = fit({"a": 0.1, "b": 0.0}, n=10_000.0)
    assert [(model, kind) for model, kind, _ in found.significant] == [("a", "event")]
    assert found.failed == ()
    said = imputation_fit_in_words(found)
    assert "model fits" in said
    assert "10 %" in said


def test_a_large_and_significant_misfit_is_told_by_its_worst_model():
    found = fit({"a": 0.4, "b": 0.6, "c": 0.0})
    assert found.failed == (("a", "event"), ("b", "event"))
    assert found.worst == "b"
    said = imputation_fit_in_words(found, ON_PAGE)
    assert "does not fit" in said
    assert "b".join(ISOLATE) in said
    assert "59 %" in said  # 60 % less what chance gives
    assert "dropouts" not in said


def test_too_few_events_are_said():
    few = imputation_fit_in_words(fit({"a": 0.0}, n=0.1))
    assert "too few" in few


def test_it_is_that_of_the_primary_adjustment_where_there_is_an_imputation_model(three, split, cox):
    assert joint_fit(three) is three.results["imputation"].imputation_fit
    _, test = split
    usual = cc.evaluate({"a": cox(0)}, test.y, adjustments="ipcw", metrics="ibs")
    assert usual.results["ipcw"].imputation_fit is None
    assert joint_fit(usual) is None
