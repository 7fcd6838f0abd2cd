"""Models that order subjects, and predict no curves."""

import numpy as np
import pytest

import cocensor as cc
from cocensor.study.ranking import standing
from tests.refusals import refuses
from tests.study.noted import noted


@pytest.fixture(scope="module")
def result(study):
    """A model by its curves and by their order, which is the same at all times: that of one feature."""
    curves = study.models["one"]
    models = {**study.models, "order": -curves([12.0])[:, 0]}
    return study.evaluate(models, metrics=["ibs", "auc"], at=12.0, copula=None)


def test_discrimination_of_a_risk_score_is_that_of_curves_in_the_same_order(result):
    for adjustment in result.results:
        for at, digits in ((None, 1e-4), (12.0, 1e-12)):  # at early times curves tie by rounding
            order, curves = (result.score(name, "auc", adjustment, at=at) for name in ("order", "one"))
            assert order.value == pytest.approx(curves.value, rel=digits)
            assert order.standard_error == pytest.approx(curves.standard_error, rel=digits)


def test_where_a_curve_is_needed_a_risk_score_has_no_value_and_a_note_says_why(study, result):
    [note] = noted(result)
    assert (note.kind, note.about.model) == ("missing", "order")
    assert "integrated Brier score" in note.text
    score = result.score("order")
    assert np.isnan(score.value)
    assert score.notes == (note,)
    assert set(standing(result).ranks) == {"three", "one"}
    assert set(standing(result, "auc").ranks) == {"three", "one", "order"}
    assert result.data.horizon.time == study.evaluate(copula=None, adjustments="ipcw").data.horizon.time


def test_the_imputation_model_is_given_the_score_itself(study):
    risk = study.test.X @ [0.3, -1.0, 0.5]
    alone = study.evaluate(
        {"risk": risk}, metrics="auc", copula=None, covariates=None, adjustments="imputation"
    )
    design = alone.results["imputation"].fitted.design
    assert design.columns[0] == "risk score of risk"
    assert np.array_equal(design.matrix[:, 0], risk)
    assert alone.results["imputation"].imputation_fit.table is not None
    own = study.evaluate({"risk": risk}, metrics="auc", copula=None, adjustments="imputation_prediction")
    assert np.isfinite(own.score("risk").standard_error)


def test_a_risk_score_is_resampled_and_moves_with_the_copula(result):
    resampled = result.bootstrap(3)
    order, curves = (resampled.score(name, "auc", "ipcw") for name in ("order", "one"))
    assert order.replicates == pytest.approx(curves.replicates, rel=1e-4)
    grid = result.sensitivity("clayton", [0.0, 0.4]).over_tau
    assert grid.values("clayton", 0.4, "auc").keys() == {"three", "one", "order"}
    assert grid.values("clayton", 0.4).keys() == {"three", "one"}
    assert result.to_json()


def test_where_all_are_risk_scores_metrics_must_do_without_curves(study):
    models = {"a": study.test.X[:, 0], "b": list(study.test.X[:, 1])}
    refuses(lambda: study.evaluate(models, metrics=["auc", "ibs"]), "metric", "'ibs'")
    found = study.evaluate(models, metrics="default", copula=None, adjustments=["ipcw", "imputation"])
    assert found.metrics[0] == "auc"
    assert "ibs" not in found.metrics
    assert [note.kind for note in found.notes if "ibs" in note.text] == ["decision"]
    assert standing(found).best
    assert repr(found)


@pytest.mark.parametrize(
    ("scores", "parts"),
    [(np.ones(299), ("300", "299")), (np.append(np.ones(299), np.nan), ("row 299", "nan"))],
)
def test_what_is_no_risk_score_of_all_subjects_is_refused(study, scores, parts):
    refuses(lambda: study.evaluate({"bad": scores}, metrics="auc"), "models['bad']", *parts)


def test_risk_scores_of_several_folds_are_ranked_as_they_are_and_a_note_says_so(study):
    folds = np.arange(len(study.test.y)) % 3
    models = {
        "score": study.test.X[:, 0],
        "shifted": study.test.X[:, 0] + 9.0 * folds,
        "one": study.models["one"],
    }
    result = cc.evaluate(models, study.test.y, metrics="auc", adjustments="ipcw", folds=folds)
    assert result.score("score").value != result.score("shifted").value
    assert {note.about.model for note in result.notes if note.kind == "caution" and "folds" in note.text} == {
        "score",
        "shifted",
    }
