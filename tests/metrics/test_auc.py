"""The AUC over time: against its definition, and against other software."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score
from sksurv.metrics import cumulative_dynamic_auc as peer_auc
from sksurv.util import Surv

import cocensor as cc
from cocensor.adjustments import weights as event_weights
from cocensor.data.predictions import PredictionsAt
from cocensor.inference.influence import influence
from cocensor.metrics.auc import mean_over_events
from cocensor.simulate import SyntheticDesign
from tests.refusals import refuses

AUC = cc.metric("auc")
DATA = SyntheticDesign(n=150, n_features=3, copula=cc.Clayton.from_tau(0.4)).draw(3)
Y = DATA.y
TIMES = np.quantile(Y.time, [0.6, 0.2, 0.4, 0.8])
RISK = DATA.X @ [0.6, -0.3, 0.2] + np.random.default_rng(0).normal(size=len(Y))
TIED = np.round(RISK)
MONTHS = cc.Survival(np.ceil(Y.time * 8 / np.median(Y.time)), Y.event)
CURVES = np.exp(-np.outer(np.exp(0.5 * RISK), np.sort(TIMES)) / np.median(Y.time))
ADJUSTMENTS = {
    "ipcw": cc.IPCW(),
    "margins": cc.Imputation((), cc.Clayton(1.5)),
    "dependent": cc.DependentIPCW(cc.Frank.from_tau(0.3)),
    "oracle": cc.Oracle(DATA.event_time),
}
every_adjustment = pytest.mark.parametrize("name", ADJUSTMENTS)


def structured(y):
    return Surv.from_arrays(y.event, y.time)


def by_pairs(a, b, marker):
    """The AUC by its definition, over all pairs of two subjects."""
    better = (marker[:, None] > marker) + 0.5 * (marker[:, None] == marker)
    weight = np.outer(b, a)
    np.fill_diagonal(weight, 0.0)
    return (weight * better).sum() / weight.sum()


@every_adjustment
@pytest.mark.parametrize("marker", [RISK, TIED], ids=["untied", "tied"])
def test_it_is_a_sum_over_pairs(name, marker):
    aucs, mean = cc.cumulative_dynamic_auc(None, Y, marker, TIMES, adjustment=ADJUSTMENTS[name])
    status = ADJUSTMENTS[name].fit(Y).weights(Y, TIMES)
    expected = [by_pairs(status.a[:, k], status.b[:, k], marker) for k in range(TIMES.size)]
    np.testing.assert_allclose(aucs, expected, rtol=1e-12)
    order = np.argsort(TIMES)
    new = np.diff(status.b.sum(axis=0)[order], prepend=0.0)
    assert mean == pytest.approx(new @ aucs[order] / new.sum(), rel=1e-12)


@every_adjustment
def test_who_orders_nobody_is_right_half_the_time(name):
    """Also where an imputed status makes a subject both a case and a control."""
    arguments = {"adjustment": ADJUSTMENTS[name]}
    for constant in (np.zeros(len(Y)), np.full((len(Y), TIMES.size), 0.3)):
        aucs, mean = cc.cumulative_dynamic_auc(None, Y, constant, TIMES, **arguments)
        np.testing.assert_allclose([*aucs, mean], 0.5, rtol=0, atol=1e-14)
    backwards, _ = cc.cumulative_dynamic_auc(None, Y, -RISK, TIMES, **arguments)
    forwards, _ = cc.cumulative_dynamic_auc(None, Y, RISK, TIMES, **arguments)
    np.testing.assert_allclose(forwards + backwards, 1.0, rtol=1e-13)


@pytest.mark.parametrize("adjustment", ["ipcw", "imputation_margins"])
@pytest.mark.parametrize("marker", [RISK, TIED], ids=["untied", "tied"])
def test_without_censoring_it_is_the_textbook_auc(adjustment, marker):
    y = cc.Survival(DATA.event_time, np.ones(len(Y), bool))
    aucs, _ = cc.cumulative_dynamic_auc(y, y, marker, TIMES, adjustment=adjustment)
    np.testing.assert_allclose(aucs, [roc_auc_score(y.time <= t, marker) for t in TIMES], rtol=1e-12)
    known, _ = cc.cumulative_dynamic_auc(None, Y, marker, TIMES, adjustment=cc.Oracle(DATA.event_time))
    np.testing.assert_allclose(known, aucs, rtol=1e-12)


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.sampled_from([np.exp, np.tanh, lambda x: x**3, lambda x: 1e-300 * x]))
def test_only_the_order_of_the_marker_counts(seed, change):
    marker = np.round(np.random.default_rng(seed).normal(size=len(Y)), 2)
    for adjustment in ADJUSTMENTS.values():
        fitted = adjustment.fit(Y)
        first, other = (
            cc.cumulative_dynamic_auc(None, Y, each, TIMES, adjustment=fitted)[0]
            for each in (marker, change(marker))
        )
        np.testing.assert_allclose(first, other, rtol=1e-14)


def test_markers_far_apart_and_of_all_sizes_are_sorted():
    rng = np.random.default_rng(5)
    y = cc.Survival(rng.exponential(size=400), np.ones(400, bool))
    for marker in (rng.standard_cauchy(400) ** 9, rng.choice([-1e308, 1e308, 0.0, 5e-324], 400)):
        aucs, _ = cc.cumulative_dynamic_auc(y, y, marker, [0.5])
        assert aucs[0] == pytest.approx(by_pairs(y.time > 0.5, y.time <= 0.5, marker), rel=1e-12)


@pytest.mark.filterwarnings("ignore::cocensor.warnings.HorizonWarning")  # at the tail of twenty subjects
@given(st.integers(0, 2**32 - 1), st.integers(20, 200), st.sampled_from([1.0, 4.0, 100.0]), st.booleans())
def test_scikit_survival(seed, n, grain, same):
    """Its mean is weighted by the Kaplan–Meier curve of the test sample: as ours, where G is fitted to that."""
    rng = np.random.default_rng(seed)

    def draw():
        return cc.Survival.from_latent(*np.ceil(grain * rng.exponential(size=(2, n))) / grain)

    test = draw()
    train = test if same else draw()
    inside = test.time < train.t_max
    assume(np.unique(test.time[inside]).size >= 4)
    if not same:
        test = test[inside]
    observed = np.unique(test.time)[:-1]
    times = np.unique(rng.choice(observed, size=5))
    at_end = cc.KaplanMeier(of="dropout").fit(train).predict(test.t_max)
    assume(at_end > 0 and test.event[test.time <= times[0]].any())
    marker = np.round(rng.normal(size=len(test)), 1)
    curves = np.exp(-times * np.round(rng.gamma(2.0, 0.5, size=(len(test), 1)), 1) ** (1 + times))
    curves = np.minimum.accumulate(np.round(curves, 3), axis=1)
    peer = cc.IPCW(convention="scikit-survival")
    for ours, theirs in ((marker, marker), (curves, 1.0 - curves)):
        arguments = structured(train), structured(test)
        expected, mean = peer_auc(*arguments, theirs, times)
        aucs, our_mean = cc.cumulative_dynamic_auc(*arguments, ours, times, adjustment=peer)
        np.testing.assert_allclose(aucs, expected, rtol=0, atol=1e-10)
        if not same:
            status = peer.fit(train).weights(test, times)
            new = np.diff(status.b.sum(axis=0), prepend=0.0)
            assert our_mean == pytest.approx(new @ expected / new.sum(), abs=1e-10)
        elif not set(test.time[test.event]) & set(test.time[~test.event]):
            assert our_mean == pytest.approx(mean, abs=1e-10)


@pytest.mark.parametrize("size", [1, 400, 1000])
@every_adjustment
def test_tiles_make_no_difference(monkeypatch, size, name):
    y, adjustment = MONTHS, ADJUSTMENTS[name]
    fitted, analytic = adjustment.fit(y), name != "dependent"
    times = [6.0, 2.0, 11.0, 4.0]
    models = {"curves": cc.Predictions(np.sort(times), CURVES), "risk": TIED}

    def found():
        return cc.cumulative_dynamic_auc(None, y, models, times, adjustment=fitted, return_influence=analytic)

    whole = found()
    monkeypatch.setattr(event_weights, "_TILE_ELEMENTS", size)
    parts = found()
    if analytic:
        for model in models:
            for first, other in zip(whole[1][model], parts[1][model], strict=True):
                np.testing.assert_allclose(other.test, first.test, atol=1e-11)
        whole, parts = whole[0], parts[0]
    for model in models:
        np.testing.assert_allclose(parts[model][0], whole[model][0], rtol=1e-13)
        assert parts[model][1] == pytest.approx(whole[model][1], rel=1e-13)


def test_arrays_in_other_orders_and_precisions():
    times = np.sort(TIMES)
    plain, mean = cc.cumulative_dynamic_auc(Y, Y, CURVES, times)
    fortran, _ = cc.cumulative_dynamic_auc(Y, Y, np.asfortranarray(CURVES), times)
    np.testing.assert_array_equal(fortran, plain)
    single = CURVES.astype(np.float32)
    found, _ = cc.cumulative_dynamic_auc(Y, Y, single, times)
    expected, _ = cc.cumulative_dynamic_auc(Y, Y, single.astype(float), times)
    np.testing.assert_array_equal(found, expected)
    strided, _ = cc.cumulative_dynamic_auc(Y, Y, np.repeat(RISK, 2)[::2], times)
    np.testing.assert_array_equal(strided, cc.cumulative_dynamic_auc(Y, Y, RISK, times)[0])
    # Times in another order, and on another grid than the predictions.
    on_grid = cc.Predictions(
        [0.0, *times, 2 * times[-1]], np.c_[np.ones(len(Y)), CURVES, 0.5 * CURVES[:, -1]]
    )
    back, same_mean = cc.cumulative_dynamic_auc(Y, Y, on_grid, times[::-1])
    np.testing.assert_allclose(back[::-1], plain, rtol=1e-14)
    assert same_mean == pytest.approx(mean, rel=1e-14)


def test_several_models_come_with_the_influence_of_each():
    models = {"risk": RISK, "tied": TIED}
    values, moved = cc.cumulative_dynamic_auc(Y, Y, models, TIMES, return_influence=True)
    assert list(values) == list(moved) == list(models)
    for name, marker in models.items():
        (aucs, mean), (of_aucs, of_mean) = cc.cumulative_dynamic_auc(
            Y, Y, marker, TIMES, return_influence=True
        )
        np.testing.assert_array_equal(values[name][0], aucs)
        assert values[name][1] == mean
        assert of_aucs.test.shape == (len(Y), TIMES.size)
        assert of_mean.test.shape == (len(Y),)
        np.testing.assert_allclose(moved[name][0].test, of_aucs.test, atol=1e-13)
        np.testing.assert_allclose(moved[name][1].standard_errors, of_mean.standard_errors, rtol=1e-12)


def test_times_without_cases_and_without_controls():
    y = cc.Survival([1.0, 2.0, 3.0, 4.0], [True, True, True, True])
    risk = [4.0, 1.0, 3.0, 2.0]
    aucs, mean = cc.cumulative_dynamic_auc(y, y, risk, [0.5, 1.5, 2.5])
    np.testing.assert_array_equal(np.isnan(aucs), [True, False, False])
    assert mean == pytest.approx((aucs[1] + aucs[2]) / 2)
    for times in ([1.5, 4.5], [0.5]):
        with pytest.warns(cc.warnings.HorizonWarning, match="mean AUC is NaN"):
            aucs, mean = cc.cumulative_dynamic_auc(y, y, risk, times)
        assert np.isnan(mean)
        assert np.isnan(aucs[-1])
    status = cc.IPCW().fit(y).weights(y, [0.5])
    found = influence(status, AUC.functionals_over_time(status, {"": PredictionsAt(0.5, [0.5] * 4)}), y)
    np.testing.assert_array_equal(found.test, 0.0)


@pytest.mark.parametrize("score", [cc.cumulative_dynamic_auc, cc.integrated_calibration_index])
def test_a_value_that_is_not_defined_has_no_standard_error(score):
    y = cc.Survival([1.0, 2.0, 3.0, 4.0], [True, False, True, True])
    curves = np.array([[0.9, 0.6], [0.8, 0.5], [0.7, 0.6], [0.9, 0.8]])
    found, moved = score(y, y, curves, [0.5, 1.5], return_influence=True)
    values, moved = (found[0], moved[0]) if score is cc.cumulative_dynamic_auc else (found, moved)
    np.testing.assert_array_equal(np.isfinite(values), [False, True])
    np.testing.assert_array_equal(np.isfinite(moved.standard_errors), [False, True])


def test_without_any_event_neither_the_mean_nor_its_error_is_defined():
    y = cc.Survival([1.0, 2.0, 3.0], [False, False, False])
    with pytest.warns(cc.warnings.HorizonWarning, match="mean AUC is NaN") as warned:
        (_, mean), (_, moved) = cc.cumulative_dynamic_auc(
            y, y, [3.0, 1.0, 2.0], [0.5, 1.5], return_influence=True
        )
    assert len(warned) == 1
    assert np.isnan(mean)
    assert np.isnan(moved.standard_errors)


def test_events_that_weights_below_zero_take_back_have_no_mean():
    assert np.isnan(mean_over_events(np.array([0.6, 0.7]), np.array([0.5, -0.5])))


def test_risks_where_survival_is_meant_are_refused():
    risks = 1.0 - CURVES
    times = np.sort(TIMES)
    refuses(
        lambda: cc.cumulative_dynamic_auc(Y, Y, risks, times),
        "estimate",
        "increase",
        "survival probabilities",
    )
    hazards = -np.log(CURVES)
    refuses(lambda: cc.cumulative_dynamic_auc(Y, Y, 3 * hazards, times), "estimate", "survival probabilities")
    refuses(
        lambda: cc.cumulative_dynamic_auc(Y, Y, RISK[1:], times), "estimate", f"{len(Y)}", f"{len(Y) - 1}"
    )
    refuses(
        lambda: cc.cumulative_dynamic_auc(Y, Y, {"m": risks}, times),
        "estimate['m']",
        "survival probabilities",
    )
    refuses(lambda: cc.cumulative_dynamic_auc(Y, Y, np.append(RISK[1:], np.nan), times), "estimate", "nan")
