"""A fitted adjustment answers for any subjects, and for a part of a sample what it answers within the whole."""

import pickle
import warnings
from dataclasses import replace
from functools import reduce

import numpy as np
import pytest

import cocensor as cc
from cocensor.adjustments.samples import Samples
from cocensor.adjustments.whole import WeightLoad, WholeSample
from cocensor.data import Sample
from cocensor.data.border import as_predictions
from cocensor.data.predictions import RiskScores
from cocensor.data.times import TimeGrid
from cocensor.joint import fit_joint
from tests.refusals import refuses

N = 400
COPULAS = [cc.Clayton.from_tau(tau) for tau in (0.0, 0.5)]
GRID = TimeGrid.of(np.linspace(0.25, 4.0, 12))


def subjects(seed=0, *, ties=False, last=None, censored=True):
    """Outcomes with reasons of dropout and ends of study, covariates, and what two models predict."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(N, 2))
    e, c = (rng.exponential(scale * np.exp(-0.5 * x[:, 0])) for scale in (2.0, 3.0))
    if ties:
        e, c = np.ceil(2 * e) / 2, np.ceil(2 * c) / 2
    y = (
        cc.Survival.from_latent(e, c, rng.uniform(1.0, 6.0, size=N))
        if censored
        else cc.Survival(e, np.ones(N))
    )
    if last is not None:  # the last time is an event, or a censoring
        time, event, ended = y.time.copy(), y.event.copy(), y.administrative.copy()
        time[7], event[7], ended[7] = 4.0, last == "event", False
        time = np.minimum(time, 4.0 if last == "censoring" else 3.9 + 0.1 * (np.arange(N) == 7))
        y = cc.Survival(time, event, ended)
    times = np.linspace(0.2, 5.0, 20)
    curves = {
        "a": np.exp(-0.5 * times * np.exp(0.5 * x[:, [0]])),
        "b": np.exp(-((times / 2) ** np.exp(0.3 * x[:, [1]]))),
    }
    curves["b"][3] = 0.0  # infinite scores
    return y, x, {name: as_predictions(each, N, times=times) for name, each in curves.items()}


def some(given, rows):
    return {name: each[rows] for name, each in given.items()}


def parts_of(y, seed=1):
    """One subject, seven, the rest; in the order of time, and in any order; the censored apart."""
    shuffled, by_time = np.random.default_rng(seed).permutation(N), np.argsort(y.time)
    for order in (shuffled, by_time):
        yield [order[:1], order[1:8], order[8:]]
    yield [rows for rows in (np.flatnonzero(y.event), np.flatnonzero(~y.event)) if rows.size]


def said_by(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = call()
    return found, [str(each.message) for each in caught]


def check_parts(fitted, y, x, predictions, grid=GRID):
    whole, said = said_by(lambda: fitted.weights(y, grid, x, predictions))
    of_whole = WholeSample.of(y)
    light = pickle.loads(pickle.dumps(fitted.for_others()))
    known = grid.times < whole.valid_until
    for parts in parts_of(y):
        found = []
        for rows in parts:
            given = (y[rows], grid, x[rows], some(predictions, rows))
            status, heard = said_by(lambda given=given: light.weights(*given, whole=of_whole))
            assert heard == []
            np.testing.assert_allclose(status.a[:, known], whole.a[rows][:, known], rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(status.b[:, known], whole.b[rows][:, known], rtol=1e-12, atol=1e-12)
            found.append(status)
        assert reduce(WholeSample.merge, [WholeSample.of(y[rows]) for rows in parts]) == of_whole
        assert sum(each.normaliser for each in found) == pytest.approx(whole.normaliser, rel=1e-12)
        loads = [each.load for each in found]
        load = None if loads[0] is None else reduce(WeightLoad.merge, loads)
        settled, heard = said_by(lambda part=found[0], load=load: light.settled(part, of_whole, load))
        assert (settled.valid_until, heard) == (whole.valid_until, said)
        assert (0 if load is None else load.n_floored) == whole.n_floored
        assert settled.notes == whole.notes
    return whole


def build(name, copula):
    plain = name in ("ipcw", "ipcw_cox", "aipcw", "margin_km")
    made = (
        cc.AIPCW("cox", "cox") if name == "aipcw" else cc.adjustment(name, copula=None if plain else copula)
    )
    return replace(made, tail="last") if hasattr(made, "tail") else made


def fitted_to(adjustment, y, x, predictions, train=None):
    y_train, x_train = (None, None) if train is None else train[:2]
    return Samples.of(y, x, y_train, x_train).fit(adjustment, predictions)


every = pytest.mark.parametrize("name", cc.adjustments.adjustment_names())


@every
@pytest.mark.parametrize("copula", COPULAS, ids=["independence", "clayton"])
@pytest.mark.parametrize("separate", [False, True])
def test_a_part_has_the_weights_that_it_has_within_the_whole(name, copula, separate):
    given = subjects()
    train = subjects(1) if separate else None
    check_parts(fitted_to(build(name, copula), *given, train), *given)


@every
@pytest.mark.parametrize(
    "kind", [{"ties": True}, {"last": "event"}, {"last": "censoring"}, {"censored": False}], ids=str
)
def test_parts_of_samples_with_edges(name, kind):
    given = subjects(2, **kind)
    fitted = fitted_to(build(name, COPULAS[1]), *given)
    check_parts(fitted, *given)
    if kind != {"ties": True}:  # also beyond the last time, and at it
        check_parts(fitted, *given, TimeGrid.of([4.5, 1.0, 4.0]))


def test_a_part_without_anybody_censored_at_the_last_time_knows_of_those_who_are():
    """At the end of the study those censored then are event-free, by 1/G just before it."""
    y = cc.Survival([1.0, 2.0, 3.0, 4.0, 4.0], [1, 0, 1, 0, 0])
    fitted = cc.IPCW().fit(y)
    part = fitted.weights(y[:3], [4.0], whole=WholeSample.of(y))
    np.testing.assert_allclose(part.b[:, 0], fitted.weights(y, [4.0]).b[:3, 0])
    assert part.load.total[0] == pytest.approx(1.0 + 4 / 3)


def test_when_nobody_is_seen_any_more_is_known_of_the_whole_alone():
    given = subjects(2, last="censoring")
    assert check_parts(cc.IPCW().fit(given[0]), *given, TimeGrid.of([4.5, 1.0, 4.0])).valid_until == 4.5
    assert check_parts(cc.DependentIPCW(given="covariates").fit(*given[:2]), *given).valid_until == 4.0
    late = cc.Survival([1.0, 2.0, 50.0], [1, 1, 0])  # an end that the sample fitted to does not know
    fitted = cc.Imputation("covariates").fit(*given[:2])
    x, beyond = given[1][:3], TimeGrid.of([1.0, 9.0])
    whole, said = said_by(lambda: fitted.weights(late, beyond, x))
    assert said == []  # nobody is asked for
    early = cc.Survival([1.0, 2.0, 3.0], [1, 0, 0])
    whole, said = said_by(lambda: fitted.weights(early, beyond, x))
    assert len(said) == 1
    assert said_by(lambda: fitted.settled(whole, WholeSample.of(early), whole.load))[1] == said


@pytest.mark.parametrize(
    "how",
    [
        cc.IPCW(min_probability=0.6),
        cc.IPCW("cox", min_probability=0.6),
        cc.IPCW(convention="scikit-survival"),
        cc.DependentIPCW(cc.Clayton(1.0), given="covariates"),
        cc.AIPCW("cox", "cox", min_probability=0.7),
        cc.adjustments.MarginTime(weighting="uncertainty", interpolation="linear"),
        cc.Imputation("covariates", hazard_ratio=2.0),
        cc.Imputation("predictions", cc.Frank(4.0), score_df=4, score_times=3),
    ],
    ids=lambda how: type(how).__name__,
)
def test_floors_limits_and_ratios_are_those_of_the_whole(how):
    given = subjects(3)
    whole = check_parts(fitted_to(how, *given), *given)
    if getattr(how, "min_probability", None) == 0.6:
        assert whole.n_floored > 0
    if isinstance(how, cc.AIPCW):
        assert f"of {N} subjects" in whole.notes[-1].text


def test_a_ratio_by_reason_is_known_in_parts():
    y, x, predictions = subjects(4)
    why = np.where(np.arange(N) % 3, "moved", "ill")
    y = cc.Survival(y.time, y.event, y.administrative, why)
    check_parts(
        fitted_to(cc.Imputation("everything", hazard_ratio={"ill": 3.0}), y, x, predictions),
        y,
        x,
        predictions,
    )


def test_what_is_known_by_row_is_refused_for_a_part():
    y, x, predictions = subjects(5)
    ratios = fitted_to(cc.Imputation("everything", hazard_ratio=np.full(N, 2.0)), y, x, predictions)
    whole, rows = WholeSample.of(y), np.arange(5)
    refuses(
        lambda: ratios.weights(y[rows], GRID, x[rows], some(predictions, rows), whole=whole),
        "hazard_ratio",
        str(N),
    )
    oracle = cc.Oracle(y.time).fit(y)
    refuses(lambda: oracle.weights(y[rows], GRID, whole=whole), "event_times", str(N))
    np.testing.assert_array_equal(oracle.weights(y, GRID, whole=whole).a, oracle.weights(y, GRID).a)


@pytest.mark.parametrize("copula", COPULAS, ids=["independence", "clayton"])
def test_a_judge_answers_for_subjects_that_it_has_not_seen(copula):
    """By hand: the scores at the median time as covariates of a joint model."""
    y, _, predictions = subjects(6)
    fit, others = np.arange(N // 2), np.arange(N // 2, N)
    fitted = cc.Imputation("predictions", copula, knots=2).fit(y[fit], None, some(predictions, fit))
    median = np.quantile(y.time[fit], 0.5, method="inverted_cdf")
    curves = {name: each([median])[:, 0] for name, each in predictions.items()}
    with np.errstate(divide="ignore"):
        scores = {name: np.log(-np.log(each)) for name, each in curves.items()}
    scores["b"][3] = np.delete(scores["b"][fit], 3).max()  # whose prediction is 0
    z = np.column_stack([scores[column.split()[2]] for column in fitted.design.columns])
    model = fit_joint(z[fit], y[fit], copula, margins="spline", knots=2)
    expected = model.conditional_survival(GRID.times, y.time[others], z[others], ~y.dropout[others])
    status = fitted.for_others().weights(y[others], GRID, None, some(predictions, others))
    censored = ~y.event[others]
    np.testing.assert_allclose(status.a[censored], expected[censored], rtol=1e-9)
    np.testing.assert_array_equal(status.a[~censored], y.time[others][~censored, None] > GRID.times)


@pytest.mark.parametrize("given", ["everything", "prediction"])
def test_the_subjects_fitted_to_go_the_same_way_as_others(given):
    y, x, predictions = subjects(7)
    seen = (
        predictions if given == "everything" else some(predictions, slice(None)) and {"b": predictions["b"]}
    )
    fitted = cc.Imputation(given, cc.Clayton(1.0)).fit(y, x, seen)
    np.testing.assert_allclose(
        fitted.weights(y, GRID, x, predictions).a, fitted.weights(y, GRID).a, rtol=1e-12, atol=1e-12
    )


def test_a_prediction_of_0_or_1_gets_the_extremes_of_the_subjects_fitted_to():
    y, _, predictions = subjects(8)
    fitted = cc.Imputation("predictions").fit(y, None, predictions)
    certain = cc.Predictions(predictions["a"].times, np.tile([[0.0], [1.0]], (1, 20)))
    matrix = fitted.design.matrix_of(Sample(y[:2]), {"a": certain, "b": predictions["b"][:2]})
    at = fitted.design.columns.index(next(each for each in fitted.design.columns if " a " in each))
    own = fitted.design.matrix[:, at]
    np.testing.assert_array_equal(matrix[:, at], [own.max(), own.min()])


def test_a_fit_to_out_of_fold_predictions_has_no_others():
    y, _, predictions = subjects(9)
    folds = np.where(np.arange(N) < 150, "one", "two")
    fitted = cc.Imputation("predictions").fit(y, None, predictions, folds)
    rows = np.r_[3:8, 300:303]
    refuses(lambda: fitted.weights(y[rows], GRID, None, some(predictions, rows)), "folds")


def test_others_must_be_given_what_the_fit_was():
    y, x, predictions = subjects(10)
    fitted = cc.Imputation("everything").fit(y, x, predictions)
    few = y[:9]
    refuses(lambda: fitted.for_others().weights(few, GRID, x[:9]), "predictions")
    refuses(lambda: fitted.weights(few, GRID, x[:9]), "y_test", str(N), "9", "predictions")
    mine = some(predictions, slice(0, 9))
    refuses(lambda: fitted.weights(few, GRID, None, mine), "x_test")
    refuses(lambda: fitted.weights(few, GRID, x[:9, :1], mine), "x_test", "2 columns", "has 1")
    refuses(lambda: fitted.weights(few, GRID, x[:9], {"a": mine["a"]}), "predictions", "'b'")
    refuses(lambda: fitted.weights(few, GRID, x[:9], mine | {"a": mine["a"][:3]}), "predictions['a']", "3")
    risk = RiskScores(np.arange(9.0))
    refuses(lambda: fitted.weights(few, GRID, x[:9], mine | {"a": risk}), "'a'", "survival curves")


@every
def test_a_copy_for_others_is_small_and_travels(name):
    """Nothing of the subjects fitted to but the steps of their curves."""
    y, x, predictions = subjects(11, ties=True)  # of few steps
    fitted = fitted_to(build(name, COPULAS[1]), y, x, predictions)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(
        again.weights(y, GRID, x, predictions).a, fitted.weights(y, GRID, x, predictions).a
    )
    # Trees of learned scores take half a kilobyte each.
    assert len(pickle.dumps(fitted.for_others())) < (1_000_000 if name == "imputation" else 30_000)


def test_a_judge_travels_without_the_subjects_fitted_to():
    y, x, predictions = subjects(12)
    sizes = []
    for n in (N // 2, N):
        fitted = cc.Imputation("everything", learned=False).fit(y[:n], x[:n], some(predictions, slice(0, n)))
        sizes.append(len(pickle.dumps(fitted.for_others())))
    assert abs(sizes[1] - sizes[0]) < N  # not even a byte for each
