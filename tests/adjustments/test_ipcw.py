import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sksurv.column import encode_categorical
from sksurv.datasets import load_veterans_lung_cancer
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.preprocessing import OneHotEncoder

import cocensor as cc
from cocensor.metrics.kernel import mean_losses
from cocensor.metrics.proper import BRIER, log_loss
from tests.refusals import refuses

Y = cc.Survival([1.0, 2.0, 3.0, 4.0, 5.0], [1, 0, 1, 0, 0])


def regression_data(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, cc.Survival.from_latent(
        rng.exponential(np.exp(-X[:, 0])), rng.exponential(np.exp(-0.5 * X[:, 1]))
    )


def test_weights_by_hand():
    status = cc.IPCW().fit(Y).weights(Y, [0.5, 3.5])
    # G falls to 3/4 at 2, to 3/8 at 4
    np.testing.assert_allclose(status.a, [[1, 0], [1, 0], [1, 0], [1, 4 / 3], [1, 4 / 3]])
    np.testing.assert_allclose(status.b, [[0, 1], [0, 0], [0, 4 / 3], [0, 0], [0, 0]])


def test_conventions_differ_where_a_censoring_is_tied_with_an_event():
    y = cc.Survival([1.0, 1.0, 2.0, 3.0], [1, 0, 1, 1])
    left = cc.IPCW().fit(y).weights(y, [2.5]).b[:, 0]
    right = cc.IPCW(convention="scikit-survival").fit(y).weights(y, [2.5]).b[:, 0]
    np.testing.assert_allclose(left, [1.0, 0.0, 1.5, 0.0])
    np.testing.assert_allclose(right, [1.5, 0.0, 1.5, 0.0])


def test_a_censoring_curve_that_reaches_zero():
    held = cc.IPCW(tail="last").fit(Y)
    late = cc.Survival([2.0, 8.0], [1, 1])
    refuses(lambda: held.weights(late, [1.0, 7.0]), "0 at time 5", "time 7", "min_probability")
    floored = cc.IPCW(min_probability=0.1).fit(Y).weights(cc.Survival([2.0, 6.0], [1, 1]), [1.0, 5.0])
    assert floored.n_floored == 1
    np.testing.assert_allclose(floored.a, [[1.0, 0.0], [1.0, 10.0]])
    assert cc.IPCW(min_probability=0.1).fit(Y).weights(Y, [1.0]).n_floored == 0
    many = cc.Survival(np.full(10, 6.0), np.ones(10))
    assert cc.IPCW(min_probability=0.1).fit(Y).weights(many, [1.0, 5.0]).n_floored == 10


def test_times_beyond_the_training_matter_only_where_needed():
    early = cc.Survival([2.0, 3.0], [1, 1])
    np.testing.assert_array_equal(cc.IPCW().fit(Y).weights(early, [9.0]).a, 0.0)
    late = cc.Survival([2.0, 12.0], [1, 0])
    refuses(lambda: cc.IPCW().fit(Y).weights(late, [9.0, 1.0]), "times", "time 5", "row 0 is 9.0")


def test_after_a_last_dropout_there_is_no_answer():
    with pytest.warns(cc.warnings.HorizonWarning, match="nobody is under observation after time 5"):
        status = cc.IPCW().fit(Y).weights(Y, [4.5, 5.0, 5.1])
    assert status.valid_until == 5.1
    np.testing.assert_array_equal(np.isnan(status.a).all(axis=0), [False, False, True])
    assert cc.IPCW().fit(Y).weights(Y, [4.5, 5.0]).valid_until == np.inf
    ended = cc.Survival(Y.time, [1, 0, 1, 0, 1])  # those seen stand for all
    np.testing.assert_allclose(cc.IPCW().fit(ended).weights(ended, [9.0]).b.sum(), 5.0)


def test_administrative_censoring_is_censoring():
    marked = cc.Survival(Y.time, Y.event, [0, 1, 0, 1, 1])
    a, b = (cc.IPCW().fit(y).weights(y, [2.5, 3.5]).a for y in (Y, marked))
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("censoring", ["km", "cox"])
@pytest.mark.parametrize("same", [True, False])
def test_those_censored_at_the_end_of_a_study_are_event_free_at_it(censoring, same):
    (X, y), (X_train, y_train) = (regression_data(200, seed) for seed in (0, 0 if same else 1))
    y, y_train = (
        cc.Survival(np.minimum(each.time, 0.5), each.event & (each.time < 0.5)) for each in (y, y_train)
    )
    times = np.array([np.nextafter(0.5, 0.0), 0.5, 0.2])
    predicted = np.exp(-np.outer(np.exp(X[:, 0]), times)[:, [0, 0, 2]])
    covariates = {"x_train": X_train, "x_test": X} if censoring == "cox" else {}
    scores, moved = cc.brier_score(
        y_train, y, predicted, times, adjustment=cc.IPCW(censoring), return_influence=True, **covariates
    )
    # the end tells no less than the moment before
    assert scores[0] == pytest.approx(scores[1], rel=1e-12)
    np.testing.assert_allclose(moved.test[:, 0], moved.test[:, 1], rtol=0, atol=1e-13)
    if same and censoring == "km":
        status = cc.IPCW().fit(y).weights(y, times)
        kaplan_meier = cc.KaplanMeier().fit(y).predict(0.5)
        np.testing.assert_allclose(status.a.mean(axis=0)[1], kaplan_meier, rtol=1e-12)
        np.testing.assert_allclose((status.a + status.b).mean(axis=0), 1.0, rtol=1e-12)


def test_a_last_dropout_beside_an_event_is_event_free_at_its_time():
    y = cc.Survival([1.0, 2.0, 3.0, 3.0], [1, 0, 1, 0])
    status = cc.IPCW().fit(y).weights(y, [2.5, 3.0])
    np.testing.assert_allclose(status.a, [[0, 0], [0, 0], [1.5, 0], [1.5, 1.5]])
    np.testing.assert_allclose(status.b, [[1, 1], [0, 0], [0, 1.5], [0, 0]])


def test_cox_weights_from_its_own_model():
    X, y = regression_data(300, 0)
    X_test, y_test = regression_data(40, 1)
    times = np.array([0.2, 0.6])
    status = cc.IPCW("cox").fit(y, X).weights(y_test, times, X_test)
    model = cc.CoxPH(of="dropout").fit(X, y)
    G = model.survival(times, X_test)
    np.testing.assert_allclose(status.a, (y_test.time[:, None] > times) / G, rtol=1e-12)
    own = np.array([model.survival([t - 1e-12], X_test[[i]])[0, 0] for i, t in enumerate(y_test.time)])
    expected = y_test.event[:, None] * (y_test.time[:, None] <= times) / own[:, None]
    np.testing.assert_allclose(status.b, expected, rtol=1e-9)


def test_any_model_of_the_censoring():
    X, y = regression_data(300, 2)
    X_test, y_test = regression_data(40, 3)
    y_test = y_test[y_test.time < y.t_max]
    X_test = X_test[: len(y_test)]
    ours = cc.IPCW("cox").fit(y, X).weights(y_test, [0.2, 0.6], X_test)
    # without ties the two differ by the peer's stopping rule only
    peer = cc.IPCW(CoxPHSurvivalAnalysis(tol=1e-14, n_iter=200, ties="efron"))
    theirs = peer.fit(y, X).weights(y_test, [0.2, 0.6], X_test)
    np.testing.assert_allclose(theirs.a, ours.a, rtol=1e-8)
    np.testing.assert_allclose(theirs.b, ours.b, rtol=1e-8)


def test_a_users_model_stays_as_it_is():
    X, y = regression_data(200, 4)
    X2, y2 = regression_data(200, 5)
    peer = CoxPHSurvivalAnalysis()
    adjustment = cc.IPCW(peer)
    first = adjustment.fit(y, X)
    before = first.weights(y2[:5], [0.1], X2[:5]).a
    adjustment.fit(y2, X2)
    np.testing.assert_array_equal(first.weights(y2[:5], [0.1], X2[:5]).a, before)
    assert not hasattr(peer, "coef_")


def test_models_that_take_frames_and_text():
    X = pd.DataFrame({"sex": pd.Categorical(["f", "m", "f", "m", "f"]), "age": [1.0, 4.0, 2.0, 8.0, 3.0]})
    model = make_pipeline(OneHotEncoder(), CoxPHSurvivalAnalysis(alpha=1.0))
    assert np.isfinite(cc.IPCW(model).fit(Y, X).weights(Y, [2.5], X).a).all()


def test_without_censoring_no_model_is_needed():
    y = cc.Survival([1.0, 2.0, 3.0], [1, 1, 1])
    status = cc.IPCW("cox").fit(y, np.zeros((3, 1))).weights(y, [1.5], np.zeros((3, 1)))
    np.testing.assert_array_equal(status.a[:, 0], [0, 1, 1])


def test_what_a_model_predicts_is_checked():
    X = np.zeros((5, 1))

    class Short(Constant):
        def predict_survival_function(self, X):
            return super().predict_survival_function(X[:2])

    refuses(lambda: cc.IPCW(Short()).fit(Y, X).weights(Y, [2.5], X), "censoring", "length 2", "length 5")


def test_the_left_limit_at_zero_is_one():
    class AtZero(Constant):
        def predict_survival_function(self, X):
            return cc.Predictions([0.0], np.full((len(X), 1), 0.5), "step", tail="last")

    y = cc.Survival([0.0, 1.0], [1, 0])
    status = cc.IPCW(AtZero()).fit(Y, np.zeros((5, 1))).weights(y, [0.5], np.zeros((2, 1)))
    np.testing.assert_allclose(status.b[:, 0], [1.0, 0.0])


class Constant:
    """A model of the censoring that returns curves of ours."""

    def fit(self, X, y):
        assert y["event"].dtype == bool
        return self

    def predict_survival_function(self, X):
        return cc.Predictions([1.0, 2.0], np.tile([0.8, 0.5], (len(X), 1)), "step", tail="last")


def test_models_may_return_predictions():
    X = np.zeros((5, 1))
    status = cc.IPCW(Constant()).fit(Y, X).weights(Y, [2.5], X)
    np.testing.assert_allclose(status.a[:, 0], [0, 0, 2, 2, 2])
    np.testing.assert_allclose(status.b[:, 0], [1, 0, 0, 0, 0])


@pytest.mark.parametrize(
    ("call", "parts"),
    [
        (lambda: cc.IPCW("cox").fit(Y), ("x_train",)),
        (lambda: cc.IPCW("cox").fit(Y, np.zeros((3, 1))), ("x_train", "length 3", "y_train", "length 5")),
        (lambda: cc.IPCW("cox").fit(*regression_data(50, 0)[::-1]).weights(Y, [1.0]), ("x_test",)),
        (lambda: cc.IPCW("weibull"), ("censoring", "'weibull'")),
        (lambda: cc.IPCW(convention="R"), ("convention", "'R'")),
        (lambda: cc.IPCW(min_probability=1.5), ("min_probability", "1.5")),
        (lambda: cc.IPCW(tail="first"), ("tail", "'first'")),
        (lambda: cc.IPCW().fit(Y).weights(Y, []), ("times", "empty")),
        (lambda: cc.IPCW().fit(Y).weights(Y, [1.0, np.nan]), ("times", "row 1 is nan")),
        (
            lambda: cc.Oracle([1.0]).fit(Y).weights(Y, [1.0]),
            ("event_times", "length 1", "y_test", "length 5"),
        ),
        (lambda: cc.adjustment("magic"), ("adjustment", "ipcw", "'magic'")),
        (lambda: cc.adjustment("ipcw", copula=cc.Clayton(1)), ("copula", "'ipcw'")),
    ],
)
def test_refusals(call, parts):
    refuses(call, *parts, kind=ValueError)


def test_wrong_kinds():
    refuses(lambda: cc.IPCW(3), "censoring", "3", kind=TypeError)
    refuses(lambda: cc.adjustment(3), "adjustment", "int", kind=TypeError)
    refuses(lambda: cc.adjustment(["ipcw"]), "adjustment", "list", kind=TypeError)
    for name in ("margin", "cg_q", "imputation_margins", "dependent_ipcw"):
        call = partial(cc.adjustment, name, copula=cc.Gaussian(0.5))
        refuses(call, "copula", "Archimedean", kind=TypeError)


# --- weights that leave the score to a few ---------------------------------------------------------------


class Small(Constant):
    """A model of the censoring with a tiny chance of being uncensored for the first ``n`` subjects."""

    def __init__(self, chance, n=1):
        self.chance, self.n = chance, n

    def predict_survival_function(self, X):
        at_two = np.where(np.arange(len(X)) < self.n, self.chance, 1.0)
        return cc.Predictions([1.0, 2.0], np.c_[np.ones(len(X)), at_two], "step", tail="last")


LATE = cc.Survival(np.full(100, 5.0), np.ones(100, bool))
BLANK = np.zeros((100, 1))


def mean(status, loss, probabilities):
    return mean_losses(status, loss, [cc.Predictions(status.times, probabilities)])[0]


def weighed(model, times, y=LATE):
    return cc.IPCW(model).fit(cc.Survival([6.0, 7.0], [0, 1]), BLANK[:2]).weights(y, times, BLANK[: len(y)])


@pytest.mark.parametrize(("weight", "warns"), [(10.0, False), (12.0, True)])
def test_one_subject_with_more_than_a_tenth_of_all_weight_gets_a_word(weight, warns):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        status = weighed(Small(1 / weight), [1.5, 3.0])
    assert [each.category for each in caught] == [cc.warnings.HorizonWarning] * warns
    if warns:
        assert "at time 3 one subject carries 11%" in str(caught[0].message)
    np.testing.assert_allclose(status.a[0], [1.0, weight])


def test_the_weight_of_an_event_counts_from_then_on():
    y = cc.Survival(np.r_[2.5, np.full(99, 5.0)], np.ones(100, bool))
    with pytest.warns(cc.warnings.HorizonWarning, match="at time 4 one subject carries 17%"):
        weighed(Small(1 / 20), [1.5, 4.0], y)


def test_few_subjects_always_carry_much():
    eight = cc.Survival(np.arange(1.0, 9.0), [1, 0, 1, 1, 0, 1, 1, 1])
    assert np.nanmax(cc.IPCW().fit(eight).weights(eight, [6.5]).a) > 0.1 * 8


@pytest.mark.parametrize("model", [Small(1 / 2e3), Small(1e-307, 100), Small(0.05, 100)])
def test_weights_beyond_the_limit_give_no_score(model):
    with pytest.warns(cc.warnings.HorizonWarning, match="from time 3 on .* 10 times"):
        status = weighed(model, [1.5, 3.0, 4.0])
    predicted = np.tile([0.9, 0.5, 0.4], (100, 1))
    assert status.valid_until == 3.0
    np.testing.assert_allclose(mean(status, BRIER, predicted), [0.01, np.nan, np.nan])
    np.testing.assert_array_equal(np.isnan(status.a).any(axis=0), [False, True, True])


def test_the_marginal_weights_have_the_same_limit():
    train = cc.Survival(np.arange(1.0, 101.0), np.arange(100) == 99)  # all but the last drop out
    late = cc.Survival(np.full(100, 99.5), np.ones(100, bool))
    with pytest.warns(cc.warnings.HorizonWarning, match="from time 95.5 on .* 10 times"):
        status = cc.IPCW().fit(train).weights(late, [50.0, 95.5])
    np.testing.assert_allclose(status.a[0], [2.0, np.nan])


def test_a_score_above_the_largest_loss_gets_a_word():
    status = weighed(Small(0.5, 100), [1.5, 3.0])
    with pytest.warns(cc.warnings.HorizonWarning, match="at time 3 is above 1"):
        score = mean(status, BRIER, np.tile([1.0, 0.1], (100, 1)))
    np.testing.assert_allclose(score, [0.0, 2 * 0.9**2])
    mean(status, log_loss(0.01), np.tile([1.0, 0.1], (100, 1)))  # below -log 0.01


@pytest.mark.parametrize("seed", [1, 8])
def test_a_model_of_five_censorings_and_eight_covariates(seed):
    """Integrated scores of 4e4 and 2e14 before."""
    X, y = load_veterans_lung_cancer()
    X, y = encode_categorical(X).to_numpy(float), cc.Survival(y["Survival_in_days"], y["Status"])
    rows = np.random.default_rng(seed).permutation(len(y))
    train, test = rows[:68], rows[68:]
    models = {"cox": cc.CoxPH().fit(X[train], y[train]).predict_survival_function(X[test])}
    samples = {"y_train": y[train], "x_train": X[train], "adjustments": ["ipcw", "ipcw_cox"]}
    result = cc.evaluate(models, y[test], X[test], **samples, metrics="ibs")
    assert 0 < result.score("cox", adjustment="ipcw").value < 0.25
    assert np.isnan(result.score("cox", adjustment="ipcw_cox").value)
    assert result.results["ipcw_cox"].notes_of("caution")
