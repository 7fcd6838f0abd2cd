import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sksurv.linear_model import CoxPHSurvivalAnalysis

import cocensor as cc


@pytest.fixture(scope="module")
def sample(study):
    y = study.train.y
    outcome = np.array(list(zip(y.event, y.time, strict=True)), dtype=[("event", bool), ("time", float)])
    return study.train.X, outcome


def test_a_fold_is_scored_by_the_metric_on_the_common_interval(sample):
    X, y = sample
    scorer = cc.make_scorer(adjustment="cg_q", copula=cc.Frank(2.0), y_train=y)
    folds = KFold(3)
    found = cross_val_score(CoxPHSurvivalAnalysis(), X, y, scoring=scorer, cv=folds)
    for score, (train, test) in zip(found, folds.split(X), strict=True):
        curves = CoxPHSurvivalAnalysis().fit(X[train], y[train]).predict_survival_function(X[test])
        expected = cc.integrated_brier_score(
            y, y[test], curves, scorer.times, adjustment="cg_q", copula=cc.Frank(2.0)
        )
        assert score == pytest.approx(-expected, rel=1e-12)


@pytest.mark.parametrize("adjustment", ["ipcw", "dep", "conditional", "given_prediction", "given_covariates"])
def test_a_search_works_with_any_adjustment(sample, adjustment):
    X, y = sample
    copula = None if adjustment == "ipcw" else cc.Clayton(1.0)
    scorer = cc.make_scorer("ibs", adjustment, copula=copula, y_train=y, x_train=X)
    search = GridSearchCV(CoxPHSurvivalAnalysis(), {"alpha": [0.01, 1e6]}, scoring=scorer, cv=2).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_score_ <= 0


def test_a_fold_that_cannot_be_scored_is_an_error_and_not_nan(sample):
    X, y = sample
    scorer = cc.make_scorer(adjustment="given_prediction", copula=cc.Clayton(1.0), horizon=10.0)
    nobody = y.copy()
    nobody["event"][:100] = False  # the first fold has no event, the others have
    with pytest.raises(cc.FoldError, match="a fold of 100 subjects cannot be scored: .*no event"):
        cross_val_score(CoxPHSurvivalAnalysis(), X, nobody, scoring=scorer, cv=KFold(4))


def test_a_fold_that_does_not_reach_the_horizon_is_an_error(sample):
    X, y = sample
    with pytest.raises(cc.FoldError, match="the times reach 500, and its last time is"):
        cross_val_score(CoxPHSurvivalAnalysis(), X, y, scoring=cc.make_scorer(horizon=500.0), cv=3)


def test_an_estimator_that_breaks_is_an_error_and_not_nan(sample):
    class Broken(CoxPHSurvivalAnalysis):
        def predict_survival_function(self, X):
            raise KeyError("age")

    X, y = sample
    with pytest.raises(cc.FoldError, match="cannot be scored: 'age'"):
        cross_val_score(Broken(), X, y, scoring=cc.make_scorer(horizon=10.0), cv=3)


def test_an_estimator_without_curves_is_refused(sample):
    X, y = sample
    scorer = cc.make_scorer(horizon=10.0)
    with pytest.raises(cc.FoldError, match="object has no method that predicts survival curves"):
        scorer(object(), X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"adjustment": "ipwc"}, "adjustment must be one of .* but is 'ipwc'"),
        ({"adjustment": "dep"}, "copula is needed for the adjustment 'dep'"),
        (
            {"adjustment": cc.IPCW(), "copula": cc.Frank(1.0)},
            "copula must be None beside an adjustment object",
        ),
        ({"x_train": [[1.0]]}, "y_train is needed where x_train is given"),
        (
            {
                "adjustment": "given_covariates",
                "copula": cc.Frank(1.0),
                "y_train": ([4.0, 5.0], [True, False]),
            },
            "x_train is needed beside y_train",
        ),
    ],
)
def test_what_no_fold_could_be_scored_with_is_refused_at_once(options, message):
    with pytest.raises(ValueError, match=message):
        cc.make_scorer(horizon=3.0, **options)


def test_folds_need_one_interval():
    with pytest.raises(ValueError, match="times, a horizon or y_train is needed"):
        cc.make_scorer()
    with pytest.raises(ValueError, match="horizon must be None where times are given"):
        cc.make_scorer(times=[1.0, 2.0], horizon=2.0)
    assert (
        repr(cc.make_scorer(horizon=3.0))
        == "make_scorer('ibs', IPCW(censoring='km', convention='left_limit'), until 3)"
    )
