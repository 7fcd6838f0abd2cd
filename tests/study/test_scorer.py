import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sksurv.linear_model import CoxPHSurvivalAnalysis

import cocensor as cc
from tests.refusals import refuses


@pytest.fixture(scope="module")
def sample(study):
    y = study.train.y
    outcome = np.array(list(zip(y.event, y.time, strict=True)), dtype=[("event", bool), ("time", float)])
    return study.train.X, outcome


def test_a_fold_is_scored_by_the_metric_on_the_common_interval(sample):
    X, y = sample
    scorer = cc.survival_scorer(adjustment="cg_q", copula=cc.Frank(2.0), y_train=y)
    folds = KFold(3)
    found = cross_val_score(CoxPHSurvivalAnalysis(), X, y, scoring=scorer, cv=folds)
    for score, (train, test) in zip(found, folds.split(X), strict=True):
        curves = CoxPHSurvivalAnalysis().fit(X[train], y[train]).predict_survival_function(X[test])
        expected = cc.integrated_brier_score(
            y, y[test], curves, scorer.times, adjustment="cg_q", copula=cc.Frank(2.0)
        )
        assert score == pytest.approx(-expected, rel=1e-12)


def test_metrics_at_one_time_and_of_order_are_scored_as_in_an_evaluation(sample):
    X, y = sample
    model, first, rest = CoxPHSurvivalAnalysis(), slice(0, 200), slice(200, None)
    model.fit(X[rest], y[rest])
    asked = [
        cc.metric("brier", at=8.0),
        cc.metric("ici", at=8.0),
        "brier",
        "auc",
        "concordance",
        "d_calibration",
        cc.metric("net_benefit", threshold=0.3, at=20.0),
    ]
    for each in asked:
        scorer = cc.survival_scorer(each, "ipcw", y_train=y)
        options = {"metrics": each, "times": scorer.times, "confidence_level": None}
        result = cc.evaluate({"m": model}, y[first], X[first], y_train=y, adjustments="ipcw", **options)
        sign = 1.0 if scorer.metric.direction == "higher" else -1.0
        value = result.score("m").value
        assert scorer(model, X[first], y[first]) == pytest.approx(sign * value, rel=1e-12)
        assert abs(value) > 1e-3
    refuses(lambda: cc.survival_scorer(cc.metric("brier", at=11.0), horizon=10.0), "at", "10", "11")


@pytest.mark.parametrize(
    "adjustment", ["ipcw", "dep", "imputation_margins", "imputation_prediction", "imputation_covariates"]
)
def test_a_search_works_with_any_adjustment(sample, adjustment):
    X, y = sample
    copula = None if adjustment == "ipcw" else cc.Clayton(1.0)
    scorer = cc.survival_scorer("ibs", adjustment, copula=copula, y_train=y, x_train=X)
    search = GridSearchCV(CoxPHSurvivalAnalysis(), {"alpha": [0.01, 1e6]}, scoring=scorer, cv=2).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_score_ <= 0


@pytest.fixture
def first_fold_without_events(sample):
    X, y = sample
    nobody = y.copy()
    nobody["event"][:100] = False
    return X, nobody


def test_a_fold_that_cannot_be_scored_is_an_error_where_scikit_learn_is_told_to_raise(
    first_fold_without_events,
):
    X, y = first_fold_without_events
    scorer = cc.survival_scorer(adjustment="imputation_prediction", copula=cc.Clayton(1.0), horizon=10.0)
    options = {"scoring": scorer, "cv": KFold(4), "error_score": "raise"}
    with pytest.raises(cc.study.FoldError) as caught:
        cross_val_score(CoxPHSurvivalAnalysis(), X, y, **options)
    assert "100 subjects" in str(caught.value)
    assert "no event" in str(caught.value)
    with pytest.raises(cc.study.FoldError):
        GridSearchCV(CoxPHSurvivalAnalysis(), {"alpha": [0.1]}, **options).fit(X, y)


def test_else_it_is_nan_with_a_warning_and_the_others_are_scored(first_fold_without_events):
    X, y = first_fold_without_events
    scorer = cc.survival_scorer(adjustment="imputation_prediction", copula=cc.Clayton(1.0), horizon=10.0)
    with pytest.warns(UserWarning, match="100 subjects"):
        found = cross_val_score(CoxPHSurvivalAnalysis(), X, y, scoring=scorer, cv=KFold(4))
    assert np.isnan(found).tolist() == [True, False, False, False]


@pytest.mark.parametrize("metric", ["auc", "concordance", cc.metric("ici", at=8.0)])
@pytest.mark.parametrize("adjustment", ["imputation", "ipcw"])
def test_a_score_that_is_not_defined_is_an_error_of_the_fold(first_fold_without_events, metric, adjustment):
    X, y = first_fold_without_events
    scorer = cc.survival_scorer(metric, adjustment, horizon=10.0)
    options = {"scoring": scorer, "cv": KFold(4)}
    with pytest.raises(cc.study.FoldError, match="100 subjects"):
        cross_val_score(CoxPHSurvivalAnalysis(), X, y, error_score="raise", **options)
    with pytest.warns(UserWarning, match="100 subjects"):
        found = cross_val_score(CoxPHSurvivalAnalysis(), X, y, **options)
    assert np.isnan(found).tolist() == [True, False, False, False]


def test_a_tuning_loop_catches_it(first_fold_without_events):
    X, y = first_fold_without_events
    scorer = cc.survival_scorer(adjustment="imputation_prediction", copula=cc.Clayton(1.0), horizon=10.0)
    estimator = CoxPHSurvivalAnalysis().fit(X[100:], y[100:])
    caught = None
    try:
        scorer(estimator, X[:100], y[:100])
    except Exception as error:
        caught = error
    assert isinstance(caught, cc.study.FoldError)
    assert issubclass(cc.study.FoldError, ValueError)


def test_by_default_a_candidate_is_judged_given_its_own_prediction_and_the_covariates_at_independence(sample):
    X, y = sample
    estimator = CoxPHSurvivalAnalysis().fit(X[:, :1], y)

    class Part:
        def predict_survival_function(self, X):
            return estimator.predict_survival_function(X[:, :1])

    scorer = cc.survival_scorer(horizon=10.0)
    found = cc.evaluate({"m": Part()}, y, X, times=scorer.times, metrics="ibs")
    assert scorer(Part(), X, y) == pytest.approx(-found.score("m", adjustment="imputation").value, rel=1e-12)
    without = cc.survival_scorer(horizon=10.0, covariates=None)
    alone = cc.evaluate({"m": Part()}, y, X, times=scorer.times, covariates=None, metrics="ibs")
    assert without(Part(), X, y) == pytest.approx(-alone.score("m", adjustment="imputation").value, rel=1e-12)
    assert without(Part(), X, y) != scorer(Part(), X, y)


def test_a_fold_that_does_not_reach_the_horizon_is_an_error(sample):
    X, y = sample
    scorer = cc.survival_scorer(horizon=500.0)
    with pytest.raises(cc.study.FoldError, match="500"):
        cross_val_score(CoxPHSurvivalAnalysis(), X, y, scoring=scorer, cv=3, error_score="raise")


def test_an_estimator_that_breaks_is_an_error(sample):
    class Broken(CoxPHSurvivalAnalysis):
        def predict_survival_function(self, X):
            raise KeyError("age")

    X, y = sample
    scorer = cc.survival_scorer(horizon=10.0)
    with pytest.raises(cc.study.FoldError, match="'age'"):
        cross_val_score(Broken(), X, y, scoring=scorer, cv=3, error_score="raise")


def test_an_estimator_without_curves_is_refused(sample):
    X, y = sample
    scorer = cc.survival_scorer(horizon=10.0)
    with pytest.raises(cc.study.FoldError, match="object has no method"):
        scorer(object(), X, y)


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"adjustment": "ipwc"}, ("adjustment", "'ipwc'")),
        ({"adjustment": cc.IPCW(), "copula": cc.Frank(1.0)}, ("copula",)),
        ({"metric": "gini"}, ("metric", "'gini'")),
        ({"x_train": [[1.0]]}, ("y_train", "x_train")),
        (
            {
                "adjustment": "imputation_covariates",
                "copula": cc.Frank(1.0),
                "y_train": ([4.0, 5.0], [True, False]),
            },
            ("x_train", "y_train"),
        ),
    ],
)
def test_what_no_fold_could_be_scored_with_is_refused_at_once(options, parts):
    refuses(lambda: cc.survival_scorer(horizon=3.0, **options), *parts, kind=ValueError)


def test_folds_need_one_interval():
    refuses(lambda: cc.survival_scorer(), "times", "horizon", "y_train")
    refuses(lambda: cc.survival_scorer(times=[1.0, 2.0], horizon=2.0), "horizon", "times")
    shown = repr(cc.survival_scorer(horizon=3.0))
    assert shown.startswith("survival_scorer('ibs', Imputation(")
    assert shown.endswith("until 3)")


def test_greater_is_better_whatever_the_direction_of_the_metric(sample):
    class Turned(type(cc.metric("ibs"))):
        direction = "higher"

    X, y = sample
    estimator = CoxPHSurvivalAnalysis().fit(X, y)
    smaller, greater = (
        cc.survival_scorer(metric, horizon=10.0)(estimator, X, y) for metric in ("ibs", Turned())
    )
    assert smaller == -greater < 0


@pytest.mark.parametrize("X", [None, 3])
def test_covariates_that_are_none_are_an_error_of_the_fold(X):
    scorer = cc.survival_scorer(horizon=5.0)
    model = cc.CoxPH().fit(np.arange(6.0)[:, None], (np.array([3.0, 1, 4, 2, 6, 5]), np.ones(6, bool)))
    with pytest.raises(cc.study.FoldError, match="a fold cannot be scored"):
        scorer(model, X, (np.arange(1.0, 7.0), np.ones(6, bool)))
