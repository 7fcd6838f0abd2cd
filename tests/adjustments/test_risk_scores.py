"""Imputation given predictions: where they are read, and what is made of them."""

import re
import warnings

import numpy as np

import cocensor as cc
from cocensor.adjustments.samples import Samples
from cocensor.data import Predictions
from cocensor.data.border import as_predictions
from cocensor.data.times import TimeGrid
from cocensor.simulate import SyntheticDesign
from tests.adjustments.joint import brier, setting, status_of


def texts(status):
    assert {note.kind for note in status.notes} == {"decision"}
    assert {note.about.model for note in status.notes} <= {"model", None}
    return [note.text for note in status.notes]


def test_one_score_at_the_median_by_default():
    """Arrays run straight between their times, so that every kind of prediction is read at the median itself."""
    _, y, train, test, times, curves = setting(cc.Clayton(2.0))
    median = np.quantile(y[test].time, 0.5, method="inverted_cdf")
    assert median not in times
    known = Predictions(np.append(0.0, times), np.column_stack((np.ones(len(test)), curves)))
    found = [
        status_of(cc.Imputation("prediction", cc.Clayton(2.0)), y, train, test, times, None, each)
        for each in (curves, known)
    ]
    for status in found:
        [text] = texts(status)
        assert f"{median:.4g}" in text
        assert status.model.event.beta.size == 1
    np.testing.assert_allclose(found[0].a, found[1].a, atol=1e-12)


def test_scores_of_a_cox_model_at_several_times_are_one():
    _, y, train, test, times, curves = setting(cc.Clayton(2.0))
    grid = np.append(0.0, times)
    exact = np.column_stack((np.ones(len(test)), curves))
    # Read at times of the grid: between them a straight line is no proportional hazard.
    at = tuple(grid[[3, 6, 9]])
    status = status_of(cc.Imputation("prediction", score_times=at), y, train, test, grid, None, exact)
    assert status.model.event.beta.size == 1
    [left_out] = [note.text for note in status.notes if note.about.model is None]
    assert left_out.count("score of model at") == 2


def test_curves_that_cross_keep_their_scores():
    _, y, train, test, times, _ = setting(cc.Clayton(2.0))
    rng = np.random.default_rng(0)
    shape, scale = rng.uniform(1, 6, len(test)), rng.uniform(10, 20, len(test))
    at = np.array([6.0, 10.0, 14.0])
    grid = np.unique(np.concatenate((times, at)))
    curves = np.exp(-((grid / scale[:, None]) ** shape[:, None]))
    status = status_of(cc.Imputation("prediction", score_times=at), y, train, test, grid, None, curves)
    assert status.model.event.beta.size == 2  # log(−log S) is linear in two numbers per subject


def test_a_constant_prediction_leaves_no_score():
    _, y, train, test, times, _ = setting(cc.Clayton(2.0))
    same = np.broadcast_to(np.exp(-times / 15), (len(test), times.size))
    for curves in (same, np.ones((len(test), times.size))):
        adjustment = cc.Imputation("prediction", cc.Clayton(2.0))
        status = status_of(adjustment, y, train, test, times, None, curves)
        assert status.model.event.beta.size == 0


def test_predictions_of_0_or_1_are_moved_inside_for_the_score_only():
    _, y, train, test, times, curves = setting(cc.Clayton(2.0))
    sure = curves.copy()
    sure[:5] = 0.0
    sure[5:8] = 1.0
    grid, sure = np.append(0.0, times), np.column_stack((np.ones(len(test)), sure))
    at = (float(times[5]),)
    adjustment = cc.Imputation("prediction", cc.Clayton(2.0), score_times=at)
    status = status_of(adjustment, y, train, test, grid, None, sure)
    assert any(re.search(r"\b8\b.* 0 or 1", text) for text in texts(status))
    assert np.isfinite(brier(status, sure)).all()


def test_several_models_have_each_their_own_status():
    data, y, train, test, times, curves = setting(cc.Clayton(2.0))
    worse = curves**1.5
    flipped = curves[::-1]
    adjustment = cc.Imputation("prediction", cc.Clayton(2.0))
    together = cc.brier_score(
        y[train], y[test], {"a": curves, "b": worse, "c": flipped}, times, adjustment=adjustment
    )
    for name, each in (("a", curves), ("b", worse), ("c", flipped)):
        alone = cc.brier_score(y[train], y[test], each, times, adjustment=adjustment)
        np.testing.assert_array_equal(together[name], alone)
    by_name = cc.brier_score(
        y[train], y[test], curves, times, adjustment="imputation_prediction", copula=cc.Clayton(2.0)
    )
    np.testing.assert_array_equal(by_name, together["a"])
    with_x = cc.brier_score(
        y[train],
        y[test],
        curves,
        times,
        adjustment="imputation_covariates",
        copula=cc.Clayton(2.0),
        x_train=data.X[train],
        x_test=data.X[test],
    )
    assert not np.array_equal(with_x, by_name)


def test_the_scores_of_all_models_at_once_give_one_status():
    data, y, train, test, times, curves = setting(cc.Clayton(2.0))
    one = cc.CoxPH().fit(data.X[train][:, :1], y[train]).survival(times, data.X[test][:, :1])
    models = {
        name: as_predictions(each, len(test), times=times) for name, each in (("a", curves), ("b", one))
    }
    samples = Samples.of(y[test], data.X[test], y[train], data.X[train])
    for given, columns in (("predictions", 2), (("covariates", "predictions"), 5)):
        adjustment = cc.Imputation(given, cc.Clayton(2.0))
        [served] = samples.groups(adjustment, models)
        assert list(served) == ["a", "b"]
        fitted = samples.fit(adjustment, served)
        status = samples.weights(fitted, TimeGrid.of(times))
        # A Cox model's own score is what covariates explain, but for the straight lines between times.
        assert status.model.event.beta.size <= columns
        assert {note.about.model for note in fitted.notes} >= {"a", "b"}
        assert not y[test].event.all()
        np.testing.assert_allclose(status.a + status.b, 1.0, atol=1e-12)
    own = samples.groups(cc.Imputation("prediction", cc.Clayton(2.0)), models)
    assert [list(served) for served in own] == [["a"], ["b"]]


def test_scores_come_from_where_predictions_differ():
    data = SyntheticDesign(n=600, n_features=2).draw(0)
    cox = cc.CoxPH().fit(data.X, data.y)
    times = np.array([0.0, 25.0])
    every = np.arange(600)
    # At time 0 all predictions are 1: they are read where they differ, at the end of the array.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.warnings.HorizonWarning)
        at = cc.Imputation("prediction", score_times=[0.0])
        status = status_of(at, data.y, every, every, times, None, cox.survival(times, data.X))
    assert re.findall(r"time (\S+?)\.?$", status.notes[0].text) == ["25"]
    # curves that end before the median are read at their end
    grid = np.linspace(0.0, 4.0, 9)
    short = Predictions(grid, cox.survival(grid, data.X))
    status = status_of(cc.Imputation("prediction"), data.y, every, every, [2.0, 3.0], None, short)
    assert re.findall(r"time (\S+?)\.?$", status.notes[0].text) == ["4"]
    assert cc.Imputation("prediction", score_times=np.int64(3)).score_times == 3
