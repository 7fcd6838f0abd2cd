"""Doubly robust weights."""

import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sksurv.linear_model import CoxPHSurvivalAnalysis

import cocensor as cc
from cocensor.adjustments.models import nuisances
from cocensor.adjustments.models.nuisances import _keys
from cocensor.data.border import as_predictions
from cocensor.metrics.kernel import mean_losses
from cocensor.metrics.proper import BRIER
from cocensor.study.ranking import standing
from tests.refusals import refuses

COX = cc.AIPCW("cox", "cox")
UNLIMITED = cc.AIPCW("cox", "cox", min_probability=1e-100)
TIMES = np.array([2.0, 0.3, 1.0, 3.0, 1.0])


@pytest.fixture(autouse=True)
def quiet_horizons():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.warnings.HorizonWarning)
        yield


def regression_data(n, seed, *, ties=False, administrative=False):
    """The first of two covariates acts on event and dropout alike, the second on nothing."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    e = rng.exponential(2.0 * np.exp(-0.8 * x[:, 0]))
    c = rng.exponential(3.0 * np.exp(-0.8 * x[:, 0]))
    if ties:
        e, c = np.floor(3 * e), np.floor(3 * c)
    end = rng.choice([4.0, 6.0, 9.0], size=n) if administrative else None
    return x, cc.Survival.from_latent(e, c, end), e


def martingale_form(fitted, x, y, times):
    """The weights from the curves of the fitted sample, by the definition: a sum over all times, events first."""
    a = np.empty((len(y), len(times)))
    moments = np.unique(y.time)
    for rows, event, dropout in fitted.hazards.parts(y, x):
        for i in rows:
            own = np.full(moments.size, i)
            S, G = (np.exp(-each.at(moments, own)) for each in (event, dropout))
            before = np.exp(-dropout.at(moments, own, "left"))
            counted = (moments == y.time[i]) & ~y.event[i]
            at_risk = (moments < y.time[i]) | counted
            increments = (counted - at_risk * (1 - G / before)) / G
            for j, t in enumerate(times):
                S_t, G_t = (np.exp(-each.at(np.array([t]), np.array([i])))[0] for each in (event, dropout))
                past = moments <= t
                a[i, j] = (y.time[i] > t) / G_t + (S_t / S[past]) @ increments[past]
    return a


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("administrative", [False, True])
def test_weights_are_those_of_the_censorings_martingale(ties, administrative):
    """Up to 256 distinct times the integrals are exact, ties and times of 0 included."""
    x, y, _ = regression_data(150, 0, ties=ties, administrative=administrative)
    assert not ties or (np.unique(y.time).size < 60 and y.time.min() == 0)
    fitted = UNLIMITED.fit(y, x)
    status = fitted.weights(y, TIMES, x)
    np.testing.assert_allclose(status.a, martingale_form(fitted, x, y, TIMES), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(status.a + status.b, 1.0, atol=1e-12)
    assert status.a.min() < 0 < 1 < status.a.max()


def test_many_times_are_integrated_over_quantiles():
    x, y, _ = regression_data(1500, 1)
    fitted = UNLIMITED.fit(y, x)
    status, exact = fitted.weights(y, TIMES, x).a, martingale_form(fitted, x, y, TIMES)
    np.testing.assert_allclose(status, exact, rtol=0.01, atol=1e-3)
    np.testing.assert_allclose(status.mean(axis=0), exact.mean(axis=0), atol=2e-4)


class Sees:
    """A Cox model that sees one covariate."""

    def __init__(self, column):
        self.column = column

    def fit(self, X, y):
        self.model = cc.CoxPH().fit(X[:, [self.column]], y)
        return self

    def predict(self, X):
        return self.model.predict(X[:, [self.column]])


@pytest.mark.no_cover
def test_one_right_model_of_two_is_enough():
    """Errors of the IBS over 40 samples of 500, in units of 0.001."""
    right, wrong = Sees(0), Sees(1)
    adjustments = {
        "event right": cc.AIPCW(right, wrong),
        "dropout right": cc.AIPCW(wrong, right),
        "neither": cc.AIPCW(wrong, wrong),
    }
    times = np.linspace(0.1, 2.5, 10)
    errors = {name: [] for name in [*adjustments, "imputed, wrong", "weighted, wrong"]}
    for seed in range(40):
        x, y, e = regression_data(500, seed)
        predicted = np.exp(-times / 2 * np.exp(0.8 * x[:, :1]))

        def score(adjustment, x, y=y, predicted=predicted):
            return cc.integrated_brier_score(None, y, predicted, times, adjustment=adjustment, x_test=x)

        truth = score(cc.Oracle(e), x)
        for name, adjustment in adjustments.items():
            errors[name].append(score(adjustment, x) - truth)
        blind = x[:, [1]]
        errors["imputed, wrong"].append(score(cc.Imputation("covariates", margins="weibull"), blind) - truth)
        errors["weighted, wrong"].append(score(cc.IPCW("cox"), blind) - truth)
    bias = {name: 1000 * np.mean(each) for name, each in errors.items()}
    error = {name: 1000 * np.std(each, ddof=1) / np.sqrt(40) for name, each in errors.items()}
    for name in ("event right", "dropout right"):
        assert abs(bias[name]) < 3 * error[name]
        assert error[name] < 1.2
    for name in ("imputed, wrong", "weighted, wrong", "neither"):
        assert abs(bias[name]) > 5
        assert abs(bias[name]) > 6 * error[name]


@pytest.mark.parametrize("learners", ["cox", ("cox", "forest")])
def test_without_censoring_it_is_the_oracle(learners):
    x, y, _ = regression_data(80, 2, ties=True)
    y = cc.Survival(y.time, np.ones(80, bool))
    for other, x_other in ((y, x), (y[:30], x[:30])):
        status = cc.AIPCW(learners, learners).fit(y, x).weights(other, TIMES, x_other)
        oracle = cc.Oracle(other.time).fit(other).weights(other, TIMES)
        np.testing.assert_allclose(status.a, oracle.a, atol=1e-12)
        np.testing.assert_allclose(status.b, oracle.b, atol=1e-12)


def test_without_any_effect_the_mean_is_near_kaplan_meier():
    _, y, _ = regression_data(2000, 3)
    x = np.random.default_rng(4).normal(size=(2000, 3))
    mean = COX.fit(y, x).weights(y, TIMES, x).a.mean(axis=0)
    np.testing.assert_allclose(mean, cc.KaplanMeier().fit(y).predict(TIMES), atol=0.004)


def test_a_subjects_own_outcome_does_not_shape_its_curves():
    """With one subject's time moved, its weights before that time stay: they come from the other folds."""
    x, y, _ = regression_data(200, 5)
    row = int(np.argmax(y.time))
    moved = y.time.copy()
    moved[row] = 1.1
    times = [0.2, 0.5, 1.0]
    one, other = (COX.fit(each, x).weights(each, times, x).a for each in (y, cc.Survival(moved, y.event)))
    others = np.arange(200) != row
    # By way of the scores of others it has a second-order say, thousands of times smaller.
    assert np.abs(one[row] - other[row]).max() < 1e-3
    assert np.abs(one[others] - other[others]).max() > 1e-3


def test_of_subjects_that_are_alike_the_one_in_the_first_fold_tells_it():
    """Neither the order of rows nor a sort that is not stable decides."""
    x, y, _ = regression_data(40, 5)
    rows = np.random.default_rng(0).integers(40, size=4_000)
    sample = COX.fit(y[rows], x[rows]).hazards
    fold = sample.nuisances[0].fold
    at = np.searchsorted(sample.keys, _keys(y, x))
    np.testing.assert_array_equal(sample.folds[at], [fold[rows == row].min() for row in range(40)])


def test_training_sample_and_units_and_order():
    x, y, _ = regression_data(600, 6, administrative=True)
    test, train = slice(0, 200), slice(200, 600)
    late = y.time[test] < y.time[train].max()
    x_test, y_test = x[test][late], y[test][late]
    status = COX.fit(y[train], x[train]).weights(y_test, TIMES, x_test)
    order = np.random.default_rng(0).permutation(len(y_test))
    scaled = cc.Survival(8 * y.time, y.event, y.administrative)
    moved = COX.fit(scaled[train], 3 * x[train] - 1)
    again = moved.weights(scaled[test][late][order], 8 * TIMES, 3 * x_test[order] - 1)
    np.testing.assert_allclose(again.a, status.a[order], atol=1e-9)


def test_the_kernel_sums_the_weights_that_the_status_shows():
    x, y, _ = regression_data(6000, 7, administrative=True)
    times = np.linspace(0.1, 3.0, 60)[::-1]
    predicted = np.exp(-times * np.exp(0.5 * x[:, :1]))
    status = COX.fit(y, x).weights(y, times, x)
    direct = (status.a * (1 - predicted) ** 2 + status.b * predicted**2).mean(axis=0)
    found = mean_losses(status, BRIER, [as_predictions(predicted, len(y), times=times)])[0]
    np.testing.assert_allclose(status.grid.restore(found), direct, rtol=1e-11)


def test_a_floor_is_noted_and_too_much_weight_has_no_score():
    rng = np.random.default_rng(8)
    x = rng.normal(size=(400, 1))
    y = cc.Survival.from_latent(rng.exponential(3.0, size=400), rng.exponential(np.exp(-3 * x[:, 0])))
    # Nobody drops out of the sample that is scored: 1/G is needed where dropout was certain.
    test = cc.Survival(np.full(400, 4.0), np.ones(400))
    with pytest.warns(cc.warnings.HorizonWarning, match="more than 10 times"):
        status = UNLIMITED.fit(y, x).weights(test, [0.01, 3.0], x)
    assert status.valid_until == 3.0
    assert np.isnan(status.a[:, 1]).all()
    assert np.isfinite(status.a[:, 0]).all()
    floored = cc.AIPCW("cox", "cox", min_probability=0.25).fit(y, x).weights(test, [0.01, 3.0], x)
    assert np.isfinite(floored.a).all()
    assert np.abs(floored.a).max() <= 4
    assert any("0.25" in note.text and "400" in note.text for note in floored.notes)


@pytest.mark.no_cover
def test_a_forest_sees_what_a_cox_model_does_not():
    rng = np.random.default_rng(9)
    x = rng.normal(size=(800, 2))
    e, c = (rng.exponential(np.exp(-np.abs(2 * x[:, 0]))) for _ in range(2))
    y = cc.Survival.from_latent(e, c)
    truth = (e > 0.3).mean()
    cox, forest = (cc.AIPCW(each, each).fit(y, x).weights(y, [0.3], x) for each in ("cox", "forest"))
    both = cc.AIPCW().fit(y, x).weights(y, [0.3], x)
    assert abs(forest.a.mean() - truth) < abs(cox.a.mean() - truth) / 2
    assert abs(both.a.mean() - truth) < abs(cox.a.mean() - truth) / 2
    assert "forest" in both.notes[0].text
    assert "Cox" in both.notes[0].text


def test_without_scikit_survival_it_is_cox(monkeypatch):
    monkeypatch.setattr(nuisances, "find_spec", lambda name: None)
    x, y, _ = regression_data(100, 10)
    np.testing.assert_array_equal(
        cc.AIPCW().fit(y, x).weights(y, TIMES, x).a, COX.fit(y, x).weights(y, TIMES, x).a
    )
    monkeypatch.setitem(sys.modules, "sksurv.ensemble", None)
    with pytest.raises(ModuleNotFoundError, match=r"scikit-survival.*cocensor\[learners\]"):
        cc.AIPCW("forest", "cox").fit(y, x).weights(y, TIMES, x)


def test_a_users_learner_stays_as_it_is():
    x, y, _ = regression_data(200, 11)
    peer = CoxPHSurvivalAnalysis()
    theirs = cc.AIPCW(peer, [peer]).fit(y, x).weights(y, TIMES, x).a
    assert not hasattr(peer, "coef_")
    np.testing.assert_allclose(theirs, COX.fit(y, x).weights(y, TIMES, x).a, atol=0.1)


def test_columns_that_tell_nothing_and_frames():
    """Constant and repeated columns change about as little as other folds do; a rare one may be constant in a fold."""
    x, y, _ = regression_data(300, 12)
    plain = COX.fit(y, x).weights(y, TIMES, x).a
    rare = np.zeros(300)
    rare[7] = 1.0
    wide = pd.DataFrame({"x": x[:, 0], "u": x[:, 1], "again": x[:, 0], "same": 2.0, "rare": rare})
    found = COX.fit(y, wide).weights(y, TIMES, wide).a
    other_folds = cc.AIPCW("cox", "cox", seed=1).fit(y, x).weights(y, TIMES, x).a
    assert np.median(np.abs(found - plain)) < 1.5 * np.median(np.abs(other_folds - plain))


def test_few_events_and_dropouts():
    """One event or one dropout: a fold without any has no hazard, and there is still an answer."""
    x, y, _ = regression_data(40, 13)
    for event in (np.arange(40) == 3, np.arange(40) != 3):
        few = cc.Survival(y.time, event)
        assert np.isfinite(COX.fit(few, x).weights(few, TIMES[y.t_max > TIMES], x).a).all()


def test_refusals():
    x, y, _ = regression_data(60, 14)
    fitted = COX.fit(y, x)
    none = cc.Survival(y.time, np.zeros(60))
    refuses(lambda: COX.fit(none, x), "y_train", "no event")
    refuses(lambda: COX.fit(y), "x_train")
    refuses(lambda: COX.fit(y, x[:50]), "x_train", "50", "60")
    refuses(lambda: fitted.weights(y, [1.0]), "x_test")
    refuses(lambda: fitted.weights(y, [1.0], x[:, :1]), "x_test", "2 columns", "1")
    refuses(lambda: fitted.weights(y, [1.0, 2 * y.t_max], x), "times", "row 1", "'last'")
    held = cc.AIPCW("cox", "cox", tail="last").fit(y, x).weights(y, [2 * y.t_max], x)
    assert np.isfinite(held.a).all()
    refuses(lambda: cc.AIPCW("cox", "cox", folds=61).fit(y, x), "folds", "60", "61")
    refuses(lambda: cc.AIPCW("lasso"), "event", "'lasso'")
    refuses(lambda: cc.AIPCW(dropout=("auto",)), "dropout", "'auto'")
    refuses(lambda: cc.AIPCW(()), "event", "empty")
    refuses(lambda: cc.AIPCW(3), "event", "3", kind=TypeError)
    refuses(lambda: cc.AIPCW(folds=1), "folds", "1")
    refuses(lambda: cc.AIPCW(seed=-1), "seed", "-1")
    refuses(lambda: cc.AIPCW(min_probability=0.0), "min_probability", "0")


def test_in_an_evaluation():
    x, y, _ = regression_data(400, 15)
    models = {"cox": cc.CoxPH().fit(x[:200], y[:200]), "blind": cc.CoxPH().fit(x[:200, [1]], y[:200])}
    curves = {"cox": models["cox"].predict_survival_function(x[200:])}
    curves["blind"] = models["blind"].predict_survival_function(x[200:, [1]])
    result = cc.evaluate(
        curves,
        y[200:],
        x_test=x[200:],
        adjustments=["ipcw", "aipcw"],
        times=np.linspace(0.1, 2.0, 20),
        metrics="ibs",
    )
    assert standing(result, adjustment="aipcw").ranks["cox"] == 1
    assert np.isfinite(result.score("blind", adjustment="aipcw").value)
    assert any("forest" in note.text for note in result.results["aipcw"].notes_of("decision"))
    assert not result.results["aipcw"].adjustment.rests_on_copula


def test_a_forest_takes_values_beyond_single_precision():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 1))
    far = x * 1e300
    time, happens = rng.exponential(np.exp(-x[:, 0])), np.ones(60, dtype=bool)
    assert np.isfinite(nuisances._forest(far, time, happens, 0)(far)).all()


def test_more_covariates_than_subjects_take_no_more_parameters_than_subjects(monkeypatch):
    """Under a ridge the Cox model in the span of the subjects is the one of all covariates."""
    rng = np.random.default_rng(0)
    x = rng.normal(3.0, 2.0, size=(60, 90))
    y = cc.Survival.from_latent(rng.exponential(np.exp(-x[:, 0] / 2)), rng.exponential(size=60))
    z, scale = (x - x.mean(axis=0)) / x.std(axis=0), x.std(axis=0)
    model, fit, widths = cc.CoxPH(ridge=nuisances._RIDGE).fit(z, y), cc.CoxPH.fit, []

    def measured(self, X, y, sample_weight=None):
        widths.append(X.shape[1])
        return fit(self, X, y, sample_weight)

    monkeypatch.setattr(cc.CoxPH, "fit", measured)
    found = nuisances._proportional(x, y, "event")
    assert widths == [59]
    np.testing.assert_allclose(found.slope, model.coef_ / scale, rtol=1e-6, atol=1e-9)
