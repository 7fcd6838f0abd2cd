"""Errors and intervals from a bootstrap of subjects."""

import signal
import threading
import time
from dataclasses import dataclass, replace

import numpy as np
import pytest

import cocensor as cc
from cocensor import _parallel
from cocensor.adjustments import Adjustment, EventWeights, Fitted, unregister_adjustment
from cocensor.adjustments.samples import Resample
from cocensor.estimators import KaplanMeier
from cocensor.simulate import SyntheticDesign
from cocensor.study.lookup import results_of
from cocensor.study.ranking import standing
from tests.refusals import refuses

N = 350
CLAYTON = cc.Clayton.from_tau(0.4)
DATA = SyntheticDesign(n=2 * N, n_features=2, copula=CLAYTON).draw(4)
TRAIN, TEST = DATA[:N], DATA[N:]
MODELS = {
    name: cc.CoxPH().fit(TRAIN.X[:, :k], TRAIN.y).predict_survival_function(TEST.X[:, :k])
    for name, k in (("two", 2), ("one", 1))
}


def evaluate(adjustments, models=MODELS, *, train=True, **options):
    learned = {"y_train": TRAIN.y, "x_train": TRAIN.X} if train else {}
    return cc.evaluate(
        models, TEST.y, TEST.X, adjustments=adjustments, **({"metrics": "ibs"} | learned | options)
    )


@pytest.fixture(scope="module")
def ipcw():
    return evaluate("ipcw", metrics=["ibs", "brier"])


@pytest.fixture(scope="module")
def resampled(ipcw):
    return ipcw.bootstrap(60, seed=3)


@dataclass(frozen=True, eq=False)
class Halves(Adjustment):
    """Whoever is censored is half way to the event."""

    assumption = "Half of the way is seen."

    def fit_to(self, sample, predictions):
        return FittedHalves(self)


@dataclass(frozen=True, eq=False)
class FittedHalves(Fitted):
    adjustment: Halves

    def weights_for(self, sample, grid, predictions, whole):
        y = sample.y
        if y.t_max < TEST.y.t_max:
            raise ValueError("the last subject is missing.")
        until = np.where(y.event, y.time, 2 * y.time)
        return EventWeights(grid, grid.cut(until))


# --- agreement with the analytic errors ----------------------------------------------------------------------


@pytest.mark.no_cover
# The bootstrap's standard error is off by a share of 1/√(2B) by chance: 3 of these, and 5 % for n.
@pytest.mark.parametrize(
    ("adjustment", "train", "n_resamples"),
    [
        (cc.IPCW(), True, 400),
        (cc.IPCW(), False, 400),
        (cc.IPCW("cox"), True, 200),
        (cc.Imputation((), CLAYTON), True, 400),
        (cc.Imputation("covariates", CLAYTON), True, 150),
        (cc.Imputation("everything", CLAYTON), False, 60),
    ],
    ids=repr,
)
def test_its_standard_errors_are_the_analytic_ones(adjustment, train, n_resamples):
    analytic = evaluate({"a": adjustment}, train=train)
    found = analytic.bootstrap(n_resamples)
    share = 0.05 + 3.0 / np.sqrt(2.0 * n_resamples)
    for model in MODELS:
        expected = analytic.score(model).standard_error
        assert found.score(model).standard_error == pytest.approx(expected, rel=share)
    expected = analytic.compare("two", "one").standard_error
    assert found.compare("two", "one").standard_error == pytest.approx(expected, rel=share)


# --- fits in threads -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "adjustment", [cc.DependentIPCW(CLAYTON), cc.Imputation((), CLAYTON), cc.adjustments.MarginTime(CLAYTON)]
)
def test_fits_in_several_threads_do_not_wait_for_each_other(monkeypatch, adjustment):
    """The one that started them is collecting warnings, which is the business of one thread at a time."""
    monkeypatch.setattr(_parallel, "n_cores", lambda: 2)
    found = evaluate({"a": adjustment}).bootstrap(4)
    assert found.score("two").standard_error > 0


# --- what is drawn -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("y_train", [TEST.y, TEST.y[:]], ids=["itself", "a copy"])
def test_a_training_sample_that_is_the_test_sample_is_drawn_with_it(y_train):
    """As without one: the curve of censoring and the scores share their luck."""
    alone, twice = (evaluate("ipcw", train=False, **more) for more in ({}, {"y_train": y_train}))
    expected, found = (each.bootstrap(20, seed=1).score("two") for each in (alone, twice))
    np.testing.assert_array_equal(found.replicates, expected.replicates)
    assert twice.score("two").standard_error == alone.score("two").standard_error


def test_without_intervals_before_it_says_what_its_own_are_about():
    found = evaluate(["ipcw", "imputation"], confidence_level=None)
    again = found.bootstrap(5, adjustments="ipcw")
    assert [note.text for note in again.notes if note not in found.notes] == [
        note.text for note in evaluate("ipcw").notes if "Intervals" in note.text
    ]
    assert again.bootstrap(5, adjustments="ipcw").notes == again.notes
    # Those of the others were still not asked for.
    assert again.score("two", adjustment="imputation").missing == found.score("two").missing


def replicates(found, metric="ibs", adjustment=None):
    return results_of(found, adjustment).errors[metric].replicates


def test_a_replicate_is_the_score_of_the_drawn_subjects(ipcw, resampled):
    rng = np.random.default_rng(np.random.SeedSequence(3).spawn(60)[7])
    test, train = rng.integers(N, size=N), rng.integers(N, size=N)
    drawn = {name: each[test] for name, each in MODELS.items()}
    again = cc.evaluate(
        drawn, TEST.y[test], y_train=TRAIN.y[train], adjustments="ipcw", times=ipcw.data.times, metrics="ibs"
    )
    expected = [again.score(name).value for name in MODELS]
    assert replicates(resampled)[7, :2] == pytest.approx(expected, rel=1e-12)
    curve = np.asarray(KaplanMeier().fit(TRAIN.y).predict(ipcw.data.times, tail="last"))
    reference = (ipcw.data.times, np.tile(curve, (N, 1)))
    options = {"y_train": TRAIN.y[train], "adjustments": "ipcw", "times": ipcw.data.times}
    value = cc.evaluate({"km": reference}, TEST.y[test], **options, metrics="ibs").score("km").value
    assert replicates(resampled)[7, 2] == pytest.approx(value, rel=1e-12)


def test_the_seed_decides_whatever_the_number_of_threads():
    result = evaluate(["ipcw", "imputation"])
    one, three = result.bootstrap(6, seed=1, n_jobs=1), result.bootstrap(6, seed=1, n_jobs=3)
    other = result.bootstrap(6, seed=2)
    alone = result.bootstrap(6, seed=1, adjustments="imputation")
    for name in result.results:
        assert np.array_equal(replicates(one, "ibs", name), replicates(three, "ibs", name))
        assert (replicates(one, "ibs", name) != replicates(other, "ibs", name)).all()
    assert np.array_equal(replicates(one, "ibs", "imputation"), replicates(alone, "ibs", "imputation"))
    assert replicates(alone, "ibs", "ipcw") is None


@pytest.mark.parametrize("grouped", [False, True])
def test_a_warm_fit_finds_what_a_cold_one_does(grouped):
    y = cc.Survival(np.ceil(TEST.y.time * 2), TEST.y.event) if grouped else TEST.y
    fitted = cc.Imputation("everything", CLAYTON).fit(y, TEST.X, MODELS)
    samples = cc.evaluate(MODELS, y, TEST.X, adjustments="ipcw", metrics="ibs").data.samples
    resample = Resample.draw(samples, np.random.default_rng(0))
    warm = fitted.resampled(resample, MODELS)
    cold = replace(warm.joint.problem, parent=None).fit(cc.Clayton, CLAYTON.theta)
    times = np.quantile(TEST.y.time, [0.2, 0.5, 0.8])
    found, expected, of_all = (
        model.survival(times, fitted.design.matrix) for model in (warm.joint.model, cold, fitted.joint.model)
    )
    # Weights of ridges count as settled when they move the effective number of effects by less than 0.05.
    assert np.abs(found - expected).max() < 0.1 * np.abs(found - of_all).max()
    kinds = {fit.joint.model.time_kind_ for fit in (fitted, warm)}
    assert kinds == {"grouped" if grouped else "continuous"}


def test_repeated_subjects_do_not_make_times_grouped():
    y, x = TEST.y[:90], TEST.X[:90]
    samples = cc.evaluate({"a": MODELS["two"][:90]}, y, x, adjustments="ipcw", metrics="ibs").data.samples
    resample = Resample.draw(samples, np.random.default_rng(0))
    imputation = cc.Imputation("covariates")
    assert (
        imputation.fit(resample.samples.y_test, resample.samples.x_test).joint.model.time_kind_ == "grouped"
    )
    again = imputation.fit(y, x).resampled(resample, {})
    assert again.joint.model.time_kind_ == "continuous"


def test_a_subject_drawn_twice_is_in_one_fold_of_aipcw():
    samples = cc.evaluate(MODELS, TEST.y, TEST.X, adjustments="ipcw", metrics="ibs").data.samples
    resample = Resample.draw(samples, np.random.default_rng(0))
    again = cc.AIPCW("cox", "cox").fit(TEST.y, TEST.X).resampled(resample, {})
    folds = {}
    for row, fold in zip(resample.test, again.hazards.nuisances[0].fold, strict=True):
        assert folds.setdefault(row, fold) == fold
    status = again.weights(resample.samples.y_test, [5.0], resample.samples.x_test)
    assert np.isfinite(status.a).all()


def test_the_oracle_knows_the_drawn_subjects():
    result = evaluate({"truth": cc.Oracle(TEST.event_time)})
    analytic, found = result.score("two"), result.bootstrap(300).score("two")
    assert found.standard_error == pytest.approx(analytic.standard_error, rel=0.05 + 3 / np.sqrt(600))


# --- views ---------------------------------------------------------------------------------------------------


def test_intervals_are_percentiles_or_basic(resampled):
    score = resampled.score("two")
    low, high = np.quantile(score.replicates, [0.05, 0.95])
    assert score.confidence_interval(0.9) == pytest.approx((low, high))
    basic = score.confidence_interval(0.9, "basic")
    assert basic == pytest.approx((2 * score.value - high, 2 * score.value - low))
    table = resampled.table()
    row = table[(table["metric"] == "ibs") & (table["model"] == "two")].iloc[0]
    assert (row["low"], row["high"]) == pytest.approx(tuple(score.confidence_interval()))


def test_differences_and_skills_are_those_of_each_resample(resampled):
    two, one, reference = replicates(resampled).T
    assert resampled.compare("two", "one").replicates == pytest.approx(two - one)
    assert resampled.score("two").skill.replicates == pytest.approx(1 - two / reference)
    assert resampled.score("two").skill.standard_error == pytest.approx(
        np.std(1 - two / reference, ddof=1), rel=0.1
    )
    ranks = resampled.table("ranks", "ibs")
    assert set(standing(resampled).best) == set(ranks.loc[ranks["may_be_best"], "model"])


def test_a_score_at_one_time_is_resampled_too(ipcw, resampled):
    last = ipcw.data.horizon.time
    at = resampled.score("two", at=last)
    assert at.replicates == pytest.approx(replicates(resampled, "brier")[:, 0])
    assert at.standard_error == pytest.approx(resampled.score("two", "brier").standard_error)


def test_a_model_that_equals_another_differs_by_nothing_in_every_resample():
    result = evaluate("ipcw", {"a": MODELS["two"], "b": MODELS["two"]}, n_resamples=20)
    pair = result.compare("a", "b")
    assert (pair.replicates == 0).all()
    assert (pair.difference, pair.standard_error, pair.pvalue) == (0.0, 0.0, 1.0)


def test_the_shortcut_is_the_same(resampled):
    short = evaluate("ipcw", metrics=["ibs", "brier"], n_resamples=60, seed=3, confidence_level=None)
    assert np.array_equal(replicates(short), replicates(resampled))
    assert short.data.confidence_level == 0.95


def test_scores_and_analyses_are_those_without_resamples():
    result = evaluate("imputation", copula=CLAYTON)
    found = result.bootstrap(2)
    assert found.score("two").value == result.score("two").value
    grids = [each.sensitivity("clayton", [0.0, 0.4]).over_tau for each in (result, found)]
    for tau in (0.0, 0.4):
        assert grids[1].values("clayton", tau) == grids[0].values("clayton", tau)
        errors = [grid.errors("clayton", tau).standard_errors for grid in grids]
        assert np.array_equal(errors[0], errors[1])
    assert results_of(result).errors["ibs"].replicates is None


# --- any adjustment, and what fails --------------------------------------------------------------------------


@pytest.fixture
def halves():
    cc.adjustments.register_adjustment("halves", Halves)
    yield evaluate("halves", train=False)
    unregister_adjustment("halves")


def test_an_adjustment_from_outside_has_intervals_and_failures_are_counted(halves):
    assert "influence" in halves.score("two").missing
    found = halves.bootstrap(200)
    score, failed = found.score("two"), np.isnan(replicates(found)).all(axis=1)
    # The last subject is drawn with the chance 1 − 1/e.
    share = failed.mean()
    assert share == pytest.approx(np.exp(-1), abs=4 * np.sqrt(0.24 / 200))
    assert score.missing is None
    assert score.confidence_interval() == pytest.approx(
        np.quantile(score.replicates[~failed], [0.025, 0.975])
    )
    [note] = results_of(found).notes_of("caution")
    assert note.about.model is None
    assert f"{share:.0%}" in note.text
    assert "the last subject is missing" in note.text
    again = results_of(found.bootstrap(2))
    assert len(again.notes) <= len(results_of(found).notes)
    assert not any("200" in each.text for each in again.notes)


def test_with_fewer_than_half_there_is_no_interval(halves, monkeypatch):
    def rarely(fitted, resample, predictions):
        if resample.test[0] % 4:
            raise ValueError("rarely fitted.")
        return fitted

    monkeypatch.setattr(FittedHalves, "resampled", rarely)
    found = halves.bootstrap(40)
    score = found.score("two")
    assert np.isnan(score.standard_error)
    assert np.isnan(score.confidence_interval()).all()
    assert "rarely fitted" in score.missing
    assert "of 40" in score.missing


def test_an_adjustment_that_was_given_fitted_is_refitted_only_to_the_test_subjects():
    result = evaluate(
        {"ipcw": cc.IPCW().fit(TRAIN.y), "imputation": evaluate("imputation").results["imputation"].fitted}
    )
    found = result.bootstrap(4)
    assert "given fitted" in found.score("two", adjustment="ipcw").missing
    assert np.isnan(found.score("two", adjustment="ipcw").confidence_interval()).all()
    assert np.isfinite(found.score("two", adjustment="imputation").standard_error)
    model = cc.fit_joint(TRAIN.X, TRAIN.y)
    fixed = evaluate({"a": cc.Imputation("covariates", model=model)}).bootstrap(4)
    assert "elsewhere" in fixed.score("two").missing


def test_progress_counts_resamples_one_thread_at_a_time(ipcw):
    calls, within = [], threading.Lock()

    def progress(done, total):
        assert within.acquire(blocking=False)
        calls.append((done, total))
        time.sleep(0.001)
        within.release()

    ipcw.bootstrap(20, progress=progress, n_jobs=4)
    assert calls == [(done, 20) for done in range(21)]


def test_an_interruption_stops_it(ipcw):
    reached = []

    def progress(done, total):
        reached.append(done)
        if done == 3:
            signal.raise_signal(signal.SIGINT)

    before = signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # what runs in the background ignores it
    try:
        with pytest.raises(KeyboardInterrupt):
            ipcw.bootstrap(5000, progress=progress)
    finally:
        signal.signal(signal.SIGINT, before)
    assert reached[-1] < 2500


def test_what_breaks_an_adjustment_of_a_user_is_what_is_raised(halves, monkeypatch):
    def broken(fitted, resample, predictions):
        raise ZeroDivisionError("broken")

    monkeypatch.setattr(FittedHalves, "resampled", broken)
    with pytest.raises(ZeroDivisionError, match="broken"):
        halves.bootstrap(10)


def test_refusals(ipcw):
    for wrong in (1, 0, -3, 2.5, "many", True):
        refuses(lambda wrong=wrong: ipcw.bootstrap(wrong), "n_resamples", repr(wrong))
        refuses(lambda wrong=wrong: evaluate("ipcw", n_resamples=wrong), "n_resamples", repr(wrong))
    refuses(lambda: ipcw.bootstrap(5, seed=-1), "seed", "-1")
    refuses(lambda: ipcw.bootstrap(5, n_jobs=0), "n_jobs", "0")
    refuses(lambda: ipcw.bootstrap(5, adjustments="imputation"), "adjustments", "imputation")
