"""Sums over batches, merged in any order, and what they take of memory."""

import gc
import pickle
import tracemalloc
import weakref
from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cocensor as cc
from cocensor.adjustments.whole import WholeSample
from cocensor.data.predictions import RiskScores
from cocensor.data.times import TimeGrid
from cocensor.inference.influence import own_parts
from cocensor.metrics.auc import MOST_HELD
from cocensor.scale.passes import Moments, accumulator_of, merged
from cocensor.scale.scan import Batch, Part, Scan, hashed
from tests.scale.studies import study

METRICS = [
    cc.metrics.IntegratedBrierScore(),
    cc.metrics.BrierScore(0.5),
    cc.metric("ils", floor=0.01),
    cc.metric("net_benefit", threshold=0.3, at=0.5),
    cc.metrics.RestrictedAbsoluteError(),
    cc.metric("d_calibration"),
    cc.metric("auc", at=0.5),
]
GRID = TimeGrid.of(np.linspace(0.0, 1.0, 9))


@pytest.fixture(scope="module")
def data():
    whole = study(300, 2)
    curves = {
        name: cc.Predictions(times, values, "linear", "last")
        for name, (times, values) in whole.models.items()
    }
    return whole.y, curves, cc.IPCW().fit(whole.y), WholeSample.of(whole.y)


def summed(data, metric, rows):
    y, curves, fitted, whole = data
    grid = metric.grid(GRID)
    found = accumulator_of(metric, grid, tuple(curves), len(y))
    status = fitted.weights(y[rows], grid, whole=whole)
    found.update(status, {name: each[rows] for name, each in curves.items()})
    return found


@pytest.mark.filterwarnings("ignore::cocensor.warnings.HorizonWarning")  # about single batches
@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
@given(cuts=st.sets(st.integers(1, 299), max_size=6), seed=st.integers(0, 99), backwards=st.booleans())
def test_any_batches_in_any_order_add_up_to_the_same(data, metric, cuts, seed, backwards):
    y, curves, fitted, _ = data
    order = np.random.default_rng(seed).permutation(300)
    parts = [summed(data, metric, rows) for rows in np.split(order, sorted(cuts))]
    if backwards:  # another tree of merges
        found = reduce(lambda one, other: merged(other, one), parts[::-1])
    else:
        found = reduce(merged, parts)
    status = fitted.weights(y, metric.grid(GRID))
    held = metric.evaluate(status, curves)
    for name, value in found.result(np.inf).items():
        assert value.value == pytest.approx(held[name].value, rel=1e-12, abs=1e-14)
        if held[name].curve is not None:
            np.testing.assert_allclose(value.curve, held[name].curve, rtol=1e-12, atol=1e-14)
        if held[name].profile is not None:
            np.testing.assert_allclose(value.profile.y, held[name].profile.y, rtol=1e-11, atol=1e-13)
    if not metric.mean_of_losses:
        assert found.covariance is None
        return
    own = own_parts(status, metric.functionals(status, curves))
    expected = np.cov(own, rowvar=False)
    np.testing.assert_allclose(found.covariance, expected, rtol=1e-10, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize(
    "adjustment",
    [
        cc.AIPCW(folds=2),
        cc.adjustment("imputation_margins", copula=cc.Clayton(2.0)),
        cc.adjustment("dependent_ipcw", copula=cc.Frank(5.0)),
    ],
    ids=repr,
)
@pytest.mark.parametrize("scores", ["curves", "rounded", "constant", "risk"])
def test_the_auc_at_one_time_is_that_of_all_subjects(data, adjustment, scores):
    """Whatever the weights, some of them negative, and however predictions tie."""
    y, curves, _, _ = data
    x = np.log(-np.log(curves["full"].probabilities[:, :1]))
    models = dict(curves)
    if scores == "risk":
        models = {"m": RiskScores(x[:, 0]), "ties": RiskScores(x[:, 0].round())}
    elif scores != "curves":
        times, table = curves["full"].times, curves["full"].probabilities
        table = table.round(1) if scores == "rounded" else np.broadcast_to(table.mean(axis=0), table.shape)
        models = {"m": cc.Predictions(times, table, "linear", "last")}
    metric, fitted = cc.metric("auc", at=0.5), adjustment.fit(y, x if adjustment.needs else None)
    grid, whole = metric.grid(GRID), WholeSample.of(y)
    parts = []
    for rows in np.split(np.random.default_rng(1).permutation(300), [1, 100, 220]):
        part = accumulator_of(metric, GRID, tuple(models), 300)
        given = {name: each.taken(rows) for name, each in models.items()}
        part.update(fitted.weights(y[rows], grid, x[rows] if adjustment.needs else None, whole=whole), given)
        parts.append(pickle.loads(pickle.dumps(part)))
    status = fitted.weights(y, grid, x if adjustment.needs else None)
    found, held = reduce(merged, parts).result(status.valid_until), metric.evaluate(status, models)
    for name, value in found.items():
        assert value.value == pytest.approx(held[name].value, rel=1e-12)
        np.testing.assert_allclose(value.profile.y, held[name].profile.y, rtol=1e-10, atol=1e-12)
    assert all(np.isnan(value.value) for value in reduce(merged, parts).result(0.5).values())


def test_the_auc_of_a_single_subject_is_not_defined(data):
    """Also where imputation makes it a case and a control at once."""
    y, curves, _, whole = data
    metric, fitted = cc.metric("auc", at=0.5), cc.adjustment("imputation_margins").fit(y)
    rows = np.flatnonzero(~y.event & (y.time < 0.4))[:1]
    weights = fitted.weights(y[rows], metric.grid(GRID), whole=whole)
    assert 0 < weights.b[0, 0] < 1
    found = accumulator_of(metric, GRID, tuple(curves), 1)
    found.update(weights, {name: each[rows] for name, each in curves.items()})
    assert np.isnan([value.value for value in found.result(np.inf).values()]).all()


def test_of_a_batch_no_more_than_its_one_column_is_held(data):
    y, curves, fitted, whole = data
    metric = cc.metric("auc", at=0.5)
    status = fitted.weights(y, metric.grid(GRID), whole=whole)
    given = {name: each.taken(np.arange(300)) for name, each in curves.items()}
    found = accumulator_of(metric, GRID, tuple(given), 300)
    found.update(status, given)
    left = [weakref.ref(status), *(weakref.ref(each) for each in given.values())]
    del status, given
    gc.collect()
    assert [each() for each in left] == [None] * 3


def test_what_needs_all_subjects_at_once_is_not_added_up():
    for name in ("auc", "concordance"):
        assert accumulator_of(cc.metric(name), GRID, ["full"], 300) is None
    for name in ("ici", "e50", "discrimination"):
        assert accumulator_of(cc.metric(name, at=0.5), GRID, ["full"], 300) is None
    at = cc.metric("auc", at=0.5)
    assert accumulator_of(at, GRID, ["full"], MOST_HELD) is not None
    assert accumulator_of(at, GRID, ["full"], MOST_HELD + 1) is None


@given(
    rows=st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=30),
    shift=st.sampled_from([0.0, 1e6]),
    cut=st.integers(1, 29),
)
def test_moments_survive_a_large_mean(rows, shift, cut):
    values = np.column_stack((rows, np.square(rows) / 1e3)) + shift
    cut = min(cut, len(rows) - 1)
    found = merged(Moments(values[:cut]), Moments(values[cut:]))
    spread = np.abs(values - shift).max() ** 2 + 1e-300
    np.testing.assert_allclose(
        found.covariance, np.cov(values - shift, rowvar=False), atol=1e-7 * spread + 1e-18
    )


class Made(Scan):
    """Subjects that are made when they are read."""

    def __init__(self, n_parts):
        self.parts = tuple(Part(4000 * k, 4000 * (k + 1), f"part {k}") for k in range(n_parts))
        self.n, self.models, self.covariates = 4000 * n_parts, ("full", "part"), ()

    def grid(self, model):
        return np.linspace(0.1, 1.2, 12)

    def batches(self, part, columns=None):
        made, rows = study(part.stop - part.start, part.start // 4000), np.arange(part.start, part.stop)
        asked = dict.fromkeys(self.models, slice(None)) if columns is None else columns
        curves = {
            name: cc.Predictions.trusted(made.models[name][0][some], made.models[name][1][:, some])
            for name, some in asked.items()
        }
        yield Batch(rows, made.y, None, curves, hashed(rows))


def peak(n_parts, monkeypatch):
    monkeypatch.setattr("cocensor._parallel.n_cores", lambda: 1)
    tracemalloc.start()
    try:
        found = Made(n_parts).evaluate(
            adjustments=["ipcw", "imputation"], metrics=["ibs", "brier"], n_fit=1000, n_kept=500
        )
        return found, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_number_of_subjects(monkeypatch):
    peak(2, monkeypatch)  # what is made once
    few, many = peak(4, monkeypatch), peak(24, monkeypatch)
    assert (few[0].data.whole.n, many[0].data.whole.n) == (16_000, 96_000)
    # One more part would be as much: 4,000 subjects at 12 times of two models in double precision.
    assert many[1] - few[1] < 4000 * 12 * 2 * 8
