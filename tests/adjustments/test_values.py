"""Adjustments are values: compared by their settings, with reprs that make them again, and never changed by a fit."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from sksurv.linear_model import CoxPHSurvivalAnalysis

import cocensor as cc
from cocensor.simulate import SyntheticDesign
from tests.refusals import refuses

DATA = SyntheticDesign(n=120, n_features=2, copula=cc.Clayton(2.0)).draw(0)
KINDS = [
    lambda: cc.IPCW(),
    lambda: cc.IPCW("cox"),
    lambda: cc.IPCW(min_probability=0.3),
    lambda: cc.IPCW(convention="scikit-survival"),
    lambda: cc.IPCW(tail="last"),
    lambda: cc.adjustments.MarginTime(),
    lambda: cc.adjustments.MarginTime(cc.Clayton(2.0)),
    lambda: cc.adjustments.MarginTime(cc.Clayton(2.5)),
    lambda: cc.adjustments.MarginTime(cc.Clayton(2.0), "uncertainty"),
    lambda: cc.adjustments.MarginTime(cc.Clayton(2.0), interpolation="linear"),
    lambda: cc.adjustments.MarginTime(cc.Clayton(2.0), tail=None),
    lambda: cc.Imputation(),
    lambda: cc.Imputation((), cc.Frank(2.0)),
    lambda: cc.Imputation((), cc.Frank(2.0), "event_free"),
    lambda: cc.Imputation("covariates", cc.Gaussian(0.3)),
    lambda: cc.Imputation("covariates", "frank", margins="weibull"),
    lambda: cc.Imputation("covariates", "frank", knots=5),
    lambda: cc.Imputation("covariates", "frank", penalty=1.0),
    lambda: cc.Imputation("covariates", "frank", time_kind="grouped"),
    lambda: cc.Imputation("prediction", cc.Frank(2.0)),
    lambda: cc.Imputation("prediction", cc.Frank(2.0), score_times=3),
    lambda: cc.Imputation("prediction", cc.Frank(2.0), score_times=[2.0, 1.0]),
    lambda: cc.Imputation(("covariates", "predictions")),
    lambda: cc.DependentIPCW(cc.Joe(2.0)),
    lambda: cc.DependentIPCW(cc.Joe(2.0), tail="last"),
    lambda: cc.DependentIPCW(cc.Joe(2.0), given="covariates"),
    lambda: cc.Oracle([1.0, 2.0]),
    lambda: cc.Oracle([1.0, 3.0]),
]


def test_equal_settings_are_equal_and_others_are_not():
    for k, make in enumerate(KINDS):
        assert make() == make()
        assert hash(make()) == hash(make())
        assert [j for j, other in enumerate(KINDS) if other() == make()] == [k]
    assert len({make() for make in KINDS} | {make() for make in KINDS}) == len(KINDS)
    assert cc.IPCW() != cc.IPCW(min_probability=0.3)
    assert cc.IPCW() != "ipcw"


def test_ways_to_write_one_setting_are_one():
    for one, other in (
        (cc.adjustments.MarginTime(), cc.adjustments.MarginTime(cc.Independence())),
        (cc.Imputation("covariates", penalty=1), cc.Imputation("covariates", penalty=1.0)),
        (cc.Imputation(["predictions", "covariates"]), cc.Imputation(("covariates", "predictions"))),
        (
            cc.Imputation("prediction", score_times=[2.0, 1.0]),
            cc.Imputation("prediction", score_times=(1, 2)),
        ),
        (cc.IPCW(min_probability=np.float32(0.5)), cc.IPCW(min_probability=0.5)),
        (cc.Oracle(np.array([0.0, 1.0])), cc.Oracle([-0.0, 1])),
    ):
        assert one == other
        assert hash(one) == hash(other)


@pytest.mark.parametrize("make", KINDS)
def test_a_repr_makes_the_same_again(make):
    names = {**vars(cc.adjustments), **vars(cc), "array": np.array}
    assert eval(repr(make()), names) == make()


def test_what_holds_a_model_or_a_users_object_is_compared_by_it():
    model, other = (cc.fit_joint(DATA.X, DATA.y, cc.Clayton(2.0), "weibull") for _ in range(2))
    held = cc.Imputation("covariates", model=model)
    assert held == cc.Imputation("covariates", model=model)
    assert held != cc.Imputation("covariates", model=other)
    assert isinstance(hash(held), int)
    peer = CoxPHSurvivalAnalysis()
    assert cc.IPCW(peer) == cc.IPCW(peer)
    assert cc.IPCW(peer) != cc.IPCW(CoxPHSurvivalAnalysis(alpha=1.0))
    assert "CoxPHSurvivalAnalysis" in repr(cc.IPCW(peer))


def test_a_selected_copula_and_that_of_a_model_are_taken_from_them():
    model = cc.fit_joint(DATA.X, DATA.y, cc.Clayton(2.0), "weibull")
    assert cc.adjustments.MarginTime(model) == cc.adjustments.MarginTime(cc.Clayton(2.0))
    assert cc.Imputation("covariates", model=model).copula == cc.Clayton(2.0)


@pytest.mark.parametrize("make", KINDS[:-2])
def test_a_fit_changes_nothing_and_is_another_thing(make):
    adjustment, untouched = make(), make()
    curves = {"m": cc.CoxPH().fit(DATA.X, DATA.y).predict_survival_function(DATA.X)}
    fitted = adjustment.fit(DATA.y, DATA.X, curves)
    assert adjustment == untouched
    assert vars(adjustment).keys() == vars(untouched).keys()
    assert isinstance(fitted, cc.adjustments.Fitted)
    assert fitted.adjustment is adjustment
    assert fitted is not adjustment.fit(DATA.y, DATA.X, curves)
    assert repr(adjustment) in repr(fitted)
    with pytest.raises(FrozenInstanceError):
        adjustment.tail = "last"


def test_names():
    names = cc.adjustments.adjustment_names()
    assert len(set(names)) == len(names)
    for name in names:
        try:
            adjustment = cc.adjustment(name)
        except ValueError:
            adjustment = cc.adjustment(name, copula=cc.Clayton(2.0))
            assert adjustment.copula == cc.Clayton(2.0)
        assert isinstance(adjustment, cc.adjustments.Adjustment)
    names.append("mine")  # a list of its own
    assert "mine" not in cc.adjustments.adjustment_names()
    refuses(lambda: cc.adjustments.register_adjustment("ipcw", cc.IPCW), "name", "'ipcw'")
    refuses(lambda: cc.adjustments.register_adjustment("my weights", cc.IPCW), "name", "'my weights'")
