"""Scores do not depend on the order of the rows, of either sample."""

from collections import Counter

import numpy as np
import pytest

import cocensor as cc
from cocensor.adjustments.models.nuisances import dealt, places
from tests.metrics.test_metrics import METRICS

TIMES = np.linspace(0.1, 1.0, 10)


def sample(n, seed, tied):
    rng = np.random.default_rng(seed)
    x = np.column_stack((rng.normal(size=(n, 2)), rng.random(n) < 0.4))
    event, dropout = (
        rng.exponential(np.exp(-x @ [0.6, -0.4, 0.3])),
        1.4 * rng.exponential(np.exp(-0.3 * x[:, 0])),
    )
    time = np.minimum(event, dropout)
    if tied:
        time, x = np.ceil(8 * time) / 8, np.round(x)
    return cc.Survival(time, event <= dropout), x


def scores(adjustment, metrics, order_train, order_test, tied, with_train=True):
    (y_train, x_train), (y_test, x_test) = sample(120, 1, tied), sample(90, 2, tied)
    risk = x_test @ [0.6, -0.4, 0.3]
    if with_train:
        # Predictions differ between subjects who are alike in covariates and outcome. Fitted to the test sample, AIPCW
        # deals these out to its folds in the order that they have.
        risk = risk + 0.3 * np.random.default_rng(3).normal(size=90)
    curves = np.exp(-np.exp(risk)[:, None] * TIMES)[order_test]
    training = {"y_train": y_train[order_train], "x_train": x_train[order_train]} if with_train else {}
    found = cc.evaluate(
        {"m": (TIMES, curves)},
        y_test[order_test],
        x_test[order_test],
        adjustments=adjustment,
        metrics=metrics,
        horizon=1.0,
        copula=cc.Clayton(1.0),
        confidence_level=None,
        **training,
    )
    return np.array([found.score("m", metric=metric.name).value for metric in found.data.metrics])


def orders():
    rng = np.random.default_rng(4)
    return rng.permutation(120), rng.permutation(90)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("adjustment", cc.adjustments.adjustment_names())
# Some adjustments warn of so few subjects, in every order.
@pytest.mark.filterwarnings(
    "ignore::cocensor.warnings.FitWarning", "ignore::cocensor.warnings.HorizonWarning"
)
def test_under_every_adjustment(adjustment, tied):
    metrics, as_they_are = ["ibs", "concordance"], (np.arange(120), np.arange(90))
    expected = scores(adjustment, metrics, *as_they_are, tied)
    assert np.isfinite(expected).all()
    np.testing.assert_allclose(scores(adjustment, metrics, *orders(), tied), expected, rtol=1e-10)
    if "covariates" in cc.adjustment(adjustment).needs:
        alone = scores(adjustment, metrics, *as_they_are, tied, with_train=False)
        again = scores(adjustment, metrics, *orders(), tied, with_train=False)
        np.testing.assert_allclose(again, alone, rtol=1e-10)


@pytest.mark.parametrize("adjustment", ["ipcw", "imputation"])
def test_by_every_metric(adjustment):
    expected = scores(adjustment, METRICS, np.arange(120), np.arange(90), tied=True)
    np.testing.assert_allclose(
        scores(adjustment, METRICS, *orders(), tied=True), expected, rtol=1e-10, atol=1e-13
    )


def test_folds_are_balanced_and_belong_to_the_row_but_among_those_who_are_alike():
    for tied in (False, True):
        y, x = sample(500, 5, tied)
        order = np.random.default_rng(6).permutation(500)
        fold = dealt(places(y, x, 0), y.event, 5)
        rows = [tuple(row) for row in np.column_stack((y.time, y.event, x))]
        permuted = dealt(places(y[order], x[order], 0), y[order].event, 5)
        assert Counter(zip(rows, fold, strict=True)) == Counter(
            zip([rows[k] for k in order], permuted, strict=True)
        )
        again = dealt(places(cc.Survival(30.0 * y.time, y.event), 2.0 * x + 1.0, 0), y.event, 5)
        assert np.array_equal(again, fold)
        assert not np.array_equal(dealt(places(y, x, 1), y.event, 5), fold)
        for some in (y.event, ~y.event):
            counts = np.bincount(fold[some], minlength=5)
            assert counts.max() - counts.min() <= 1


def test_no_fold_takes_all_events_of_a_time():
    """Of one flag and six times, 600 subjects are few kinds: each is in all folds alike."""
    rng = np.random.default_rng(8)
    x, time, event = rng.integers(0, 2, (600, 1)), rng.integers(1, 7, 600), rng.random(600) < 0.5
    y = cc.Survival(time, event)
    fold = dealt(places(y, x, 0), y.event, 5)
    for kind in {(int(a), int(t), bool(e)) for a, t, e in zip(x[:, 0], time, event, strict=True)}:
        counts = np.bincount(fold[(x[:, 0] == kind[0]) & (time == kind[1]) & (event == kind[2])], minlength=5)
        assert counts.max() - counts.min() <= 1
