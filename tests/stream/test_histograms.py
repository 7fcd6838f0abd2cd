"""Values that hold subjects against each other, of subjects who come in batches."""

from __future__ import annotations

import gc
import pickle
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cocensor as cc
from cocensor.data import Predictions, PredictionsAt, RiskScores, TimeGrid
from cocensor.inference import influence
from cocensor.metrics import metric
from cocensor.stream.histograms import PairAccumulator, cells_for, histogram_accumulator
from tests.stream.given_weights import Sample, sample, status_of

PAIRS = {
    "auc": metric("auc"),
    "auc at 2": metric("auc", at=2.0),
    "concordance": metric("concordance"),
    "time-dependent": metric("concordance", time_dependent=True),
}


WEIGHTS = st.sampled_from(["ipcw", "imputation", "signed"])
SCORES = st.sampled_from(["curves", "rounded", "single precision", "constant", "extreme", "risk"])


def scored(which, scores):
    """Whether a metric has values of such scores."""
    return not (which == "time-dependent" and scores == "risk")


@settings(max_examples=120, deadline=None)
@given(
    st.integers(0, 2**32 - 1), st.integers(1, 60), WEIGHTS, SCORES, st.sampled_from([4, 32, 1024]),
    st.sampled_from(list(PAIRS)), st.integers(1, 5),
)  # fmt: skip
def test_the_value_of_all_subjects_lies_within_the_bound(seed, n, weights, scores, n_cells, which, n_parts):
    if not scored(which, scores):
        return
    rng = np.random.default_rng(seed)
    asked, data = PAIRS[which], sample(rng, n, weights=weights, scores=scores)
    grid = asked.grid(TimeGrid.of(data.times))
    parts = [rows for rows in np.array_split(rng.permutation(n), n_parts) if rows.size]
    found = data.batches(asked, parts, lambda: PairAccumulator(asked, grid, ("m", "other"), n_cells))
    for name, exact in data.in_memory(asked).items():
        assert np.isnan(found[name].value) == np.isnan(exact.value)
        if not np.isnan(exact.value):
            scale = 1.0 + abs(exact.value)
            assert abs(found[name].value - exact.value) <= found[name].bound + 1e-9 * scale
        if exact.curve is not None:
            defined = ~np.isnan(exact.curve)
            assert (defined == ~np.isnan(found[name].curve)).all()
            off = np.abs(found[name].curve - exact.curve) - found[name].curve_bounds
            assert (off[defined] <= 1e-9 * (1.0 + np.abs(exact.curve[defined]))).all()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 60), WEIGHTS, SCORES, st.sampled_from(list(PAIRS)))
def test_batches_and_their_order_do_not_matter(seed, n, weights, scores, which):
    if not scored(which, scores):
        return
    rng = np.random.default_rng(seed)
    asked, data = PAIRS[which], sample(rng, n, weights=weights, scores=scores)
    grid = asked.grid(TimeGrid.of(data.times))

    def found(parts):
        return data.batches(asked, parts, lambda: PairAccumulator(asked, grid, ("m", "other"), 16))

    whole = found([np.arange(n)])
    for parts in (np.arange(n)[:, None], np.array_split(rng.permutation(n), min(n, 4))):
        for name, each in found(parts).items():
            for one, other in ((each.value, whole[name].value), (each.bound, whole[name].bound)):
                np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("which", PAIRS)
def test_equal_scores_are_level_without_error(which):
    asked, data = PAIRS[which], sample(np.random.default_rng(0), 50, scores="constant")
    found = histogram_accumulator(asked, TimeGrid.of(data.times), ["m"])
    found.update(*data.at(asked))
    result = found.result(np.inf)["m"]
    assert result.value == pytest.approx(0.5, abs=1e-14)
    assert result.bound == 0


@pytest.mark.parametrize("which", PAIRS)
@pytest.mark.parametrize("weights", ["ipcw", "imputation"])
def test_few_distinct_scores_are_exact(which, weights):
    rng = np.random.default_rng(1)
    asked, data = PAIRS[which], sample(rng, 500, weights=weights, scores="rounded")
    if which == "concordance":
        data = Sample(data.times, data.a, data.b, {"m": RiskScores(rng.integers(-5, 5, 500) * 0.1)})
    found = histogram_accumulator(asked, TimeGrid.of(data.times), ["m"])
    for rows in np.array_split(np.arange(500), 7):
        found.update(*data.at(asked, rows))
    result = found.result(np.inf)["m"]
    assert result.bound == 0
    assert result.value == pytest.approx(data.in_memory(asked)["m"].value, abs=1e-12)


def test_perfect_order_is_found():
    times, n = np.array([1.0]), 200
    event = np.arange(n) < 60
    survival = np.where(event, 0.4, 0.6) + np.linspace(-0.1, 0.1, n)
    data = Sample(
        times,
        1.0 - event[:, None],
        event[:, None] * 1.0,
        {"m": Predictions(times, survival[:, None], tail="last")},
    )
    found = histogram_accumulator(metric("auc", at=1.0), TimeGrid.of(times), ["m"])
    found.update(*data.at(found.metric))
    result = found.result(np.inf)["m"]
    assert result.value == 1.0
    assert result.bound == 0


def test_a_single_subject_has_no_value():
    data = sample(np.random.default_rng(0), 1, weights="imputation")
    for asked in PAIRS.values():
        found = histogram_accumulator(asked, TimeGrid.of(data.times), ["m"])
        found.update(*data.at(asked))
        assert np.isnan(found.result(np.inf)["m"].value)


def test_nothing_is_said_from_where_the_adjustment_has_no_answer():
    data = sample(np.random.default_rng(0), 80)
    curve = histogram_accumulator(metric("auc"), TimeGrid.of(data.times), ["m"])
    curve.update(*data.at(metric("auc")))
    cut = curve.result(3.0)["m"]
    assert np.isnan(cut.curve).tolist() == [False, False, True, True]
    whole = metric("auc").evaluate(status_of(data.times, data.a, data.b, until=3.0), data.models)["m"]
    assert np.isnan(whole.value)
    assert np.isnan(cut.value)
    data.a[:, 2:] = np.inf  # and what the weights are there does not matter
    curve.update(*data.at(metric("auc")))
    np.testing.assert_array_equal(np.isnan(curve.result(3.0)["m"].curve), np.isnan(cut.curve))
    ici = histogram_accumulator(metric("ici", at=3.0), TimeGrid.of(data.times), ["m"])
    ici.update(*data.at(metric("ici", at=3.0)))
    assert np.isnan(ici.result(3.0)["m"].value)
    for name in ("concordance", "d_calibration"):
        found = histogram_accumulator(metric(name), TimeGrid.of(data.times), ["m"])
        with pytest.raises(ValueError, match="3"):
            found.result(3.0)


@pytest.mark.parametrize(
    "adjustment",
    [
        cc.adjustment("ipcw"),
        cc.AIPCW(folds=2),
        cc.adjustment("imputation_margins", copula=cc.Independence()),
        cc.adjustment("imputation_margins", copula=cc.Clayton(2.0)),
        cc.adjustment("dependent_ipcw", copula=cc.Frank(5.0)),
    ],
    ids=repr,
)
@pytest.mark.parametrize("which", PAIRS)
def test_the_weights_of_adjustments_are_read(adjustment, which):
    rng = np.random.default_rng(3)
    n, times = 300, np.array([0.5, 2.0, 1.0, 1.0, 3.0])
    lp = rng.normal(size=n)
    event, censored = rng.exponential(np.exp(-lp) * 3.0), rng.exponential(4.0, size=n)
    y = cc.Survival(np.minimum(event, censored), event <= censored)
    curves = np.exp(-np.exp(0.6 * lp)[:, None] * np.unique(times) / 3.0)
    models, asked = {"m": Predictions(np.unique(times), curves)}, PAIRS[which]
    grid = asked.grid(TimeGrid.of(times))
    x = lp[:, None] if isinstance(adjustment, cc.AIPCW) else None
    status = adjustment.fit(y, x).status(y, grid, x)
    found = histogram_accumulator(asked, grid, ["m"])
    found.update(status, models)
    result, exact = found.result(status.until)["m"], asked.evaluate(status, models)["m"]
    assert abs(result.value - exact.value) <= result.bound + 1e-12
    if exact.curve is not None:
        assert (np.abs(result.curve - exact.curve) <= result.curve_bounds + 1e-12).all()
    if exact.profile is not None:
        # Within a cell the curve is straight: it is off by what is in one cell at most.
        np.testing.assert_allclose(result.profile.y, exact.profile.y, atol=0.03)


def test_the_bound_is_a_fraction_of_the_standard_error():
    n, rng = 20_000, np.random.default_rng(4)
    lp = rng.normal(size=n)
    event, censored = rng.exponential(np.exp(-lp) * 3.0), rng.exponential(4.0, size=n)
    y, times = cc.Survival(np.minimum(event, censored), event <= censored), np.linspace(0.2, 4.0, 20)
    models = {"m": Predictions(times, np.exp(-np.exp(0.6 * lp)[:, None] * times / 3.0))}
    for asked in (metric("auc"), metric("auc", at=2.0), metric("concordance")):
        grid = asked.grid(TimeGrid.of(times))
        status = cc.IPCW().fit(y).status(y, grid)
        found = histogram_accumulator(asked, grid, ["m"], n)
        found.update(status, models)
        result, exact = found.result(np.inf)["m"], asked.evaluate(status, models)["m"]
        error = float(influence(status, asked.functionals(status, models), y).standard_errors[0])
        assert result.bound < 0.5 * error
        assert abs(result.value - exact.value) < 0.1 * result.bound


def test_rare_events_and_small_differences_have_fine_cells():
    n, rng = 5000, np.random.default_rng(5)
    risk = 1e-5 * (1.0 + rng.random(n))
    event = rng.random(n) < risk * 1e4
    for survival in (1.0 - risk, 0.5 + risk, risk):
        data = Sample(
            np.array([1.0]),
            1.0 - event[:, None],
            1.0 * event[:, None],
            {"m": PredictionsAt(1.0, survival), "risk": RiskScores(survival * 1e-3)},
        )
        found = histogram_accumulator(metric("auc", at=1.0), TimeGrid.of([1.0]), ["m", "risk"], n)
        found.update(*data.at(found.metric))
        for each in found.result(np.inf).values():
            assert each.bound < 1e-3


def test_more_subjects_have_finer_cells():
    assert cells_for(10**8, 100) > cells_for(10**7, 100) > cells_for(10**6, 100)
    assert cells_for(10**6, 1) > cells_for(10**6, 10) > cells_for(10**6, 100)


def test_accumulators_travel():
    data = sample(np.random.default_rng(10), 60)
    for asked in (metric("auc"), metric("concordance"), metric("ici", at=2.0)):
        found = histogram_accumulator(asked, TimeGrid.of(data.times), ["m"])
        found.update(*data.at(asked, slice(0, 30)))
        there = pickle.loads(pickle.dumps(found))
        for each in (found, there):
            each.update(*data.at(asked, slice(30, 60)))
        assert there.result(np.inf)["m"].value == found.result(np.inf)["m"].value


def test_nothing_of_a_batch_is_kept():
    data, asked = sample(np.random.default_rng(11), 60), metric("auc")
    found = histogram_accumulator(asked, TimeGrid.of(data.times), ["m"])
    status, models = data.at(asked)
    found.update(status, models)
    left = [weakref.ref(status), weakref.ref(models["m"])]
    del status, models
    gc.collect()
    assert [each() for each in left] == [None, None]


def test_means_over_subjects_are_left_to_others():
    for each in (metric("ibs"), metric("absolute_error"), metric("net_benefit", threshold=0.2)):
        assert histogram_accumulator(each, TimeGrid.of([1.0, 2.0]), ["m"]) is None
