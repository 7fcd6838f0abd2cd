"""Scores are those of the metric functions, whatever the models are and wherever the adjustments learn."""

import json
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

import cocensor as cc
from cocensor.simulate import SyntheticDesign
from cocensor.study.lookup import metric_of
from cocensor.views.text.fits import copula_in_words
from tests.oracles.data import load, values
from tests.study.noted import noted

GRID = np.linspace(0.0, 20.0, 21)
DEFAULT = ["ipcw", "imputation"]


def test_a_name_means_the_same_here_and_in_the_metric_functions(study):
    asked = ["ipcw", "imputation", "dep", "cg_q", "imputation_prediction", "imputation_covariates"]
    result = study.evaluate(metrics=["ibs", cc.metric("ils", floor=0.01)], adjustments=asked)
    for name in result.results:
        how = {"adjustment": name} | ({} if name == "ipcw" else {"copula": cc.Frank.from_tau(0.3)})
        same = (study.train.y, study.test.y, study.models, result.data.times)
        given = {"x_train": study.train.X, "x_test": study.test.X}
        ibs = cc.integrated_brier_score(*same, **how, **given)["three"]
        ils = cc.integrated_log_score(*same, floor=0.01, **how, **given)["three"]
        assert result.score("three", adjustment=name).value == pytest.approx(ibs, rel=1e-12)
        assert result.score("three", "ils", name).value == pytest.approx(ils, rel=1e-12)


def test_also_beyond_the_training_sample(study):
    train = study.train.y[study.train.y.time < 15.0]
    options = {"y_train": train, "x_train": None, "times": GRID[:15], "adjustments": ["dep", "margin"]}
    result = study.evaluate(**options)
    assert (study.test.y.time[~study.test.y.event] > train.t_max).any()
    for name in ("dep", "margin"):
        same = (train, study.test.y, study.models["one"], GRID[:15])
        expected = cc.integrated_brier_score(*same, adjustment=name, copula=cc.Frank.from_tau(0.3))
        assert result.score("one", "ibs", name).value == pytest.approx(expected, rel=1e-12)
    [note] = [each for each in result.results["dep"].notes if "no interval" not in each.text]
    assert (note.kind, note.about.adjustment) == ("decision", "dep")


def test_a_score_is_an_object_with_a_number(study):
    result = study.evaluate()
    score = result.score("three", metric="ibs", adjustment="ipcw")
    assert (score.model, score.metric, score.adjustment) == ("three", "ibs", "ipcw")
    assert float(score) == score.value == result.results["ipcw"].values["ibs"]["three"].value
    assert score.notes == ()
    primary = result.score("three")
    assert (primary.metric, primary.adjustment) == ("ibs", result.primary) == ("ibs", "imputation")


def test_fits_are_kept(study):
    result = study.evaluate(adjustments=["ipcw", "imputation", "imputation_prediction"])
    for name, each in result.results.items():
        assert each.fits["three"].adjustment == each.adjustment
        shared = each.fits["three"] is each.fits["one"]
        assert shared == (name != "imputation_prediction")
    again = result.results["ipcw"].fits["one"].weights(study.test.y, result.data.times)
    found = metric_of(result, "ibs").evaluate(again, study.models)["one"].value
    assert found == pytest.approx(result.score("one", "ibs", "ipcw").value, rel=1e-12)


def test_skill_is_that_against_the_kaplan_meier_curve_of_the_training_sample(study):
    result = study.evaluate(adjustments=["ipcw"])
    km = np.broadcast_to(
        cc.KaplanMeier().fit(study.train.y).predict(result.data.times),
        (len(study.test), result.data.times.size),
    )
    base = cc.integrated_brier_score(study.train.y, study.test.y, km, result.data.times, adjustment="ipcw")
    score = result.score("one", adjustment="ipcw").value
    assert result.score("one", adjustment="ipcw").skill.value == pytest.approx(1.0 - score / base, rel=1e-9)


def test_without_censoring_every_adjustment_gives_the_plain_score(study):
    everyone = np.ones(len(study.test), dtype=bool)
    train = cc.Survival(study.train.event_time, np.ones(len(study.train), dtype=bool))
    test = cc.Survival(study.test.event_time, everyone)
    result = cc.evaluate(
        study.models, test, study.test.X, y_train=train, x_train=study.train.X, horizon=18.0, metrics="ibs"
    )
    curves = study.models["one"](result.data.times)
    alive = study.test.event_time[:, None] > result.data.times
    plain = np.trapezoid(((alive - curves) ** 2).mean(axis=0), result.data.times) / 18.0
    assert list(result.results) == DEFAULT
    for name in result.results:
        assert result.score("one", adjustment=name).value == pytest.approx(plain, rel=1e-9)
    assert result.data.assumed.origin == "independence"
    assert noted(result) == ()
    # No copula can be selected where nobody drops out.
    hint = result.suggest_copula()
    assert hint.choice is None
    assert [note.kind for note in hint.notes] == ["missing"]
    samples = {"y_train": train, "x_train": study.train.X, "horizon": 18.0}
    asked = cc.evaluate(study.models, test, study.test.X, **samples, copula="select", metrics="ibs")
    assert asked.data.assumed.origin == "independence"
    assert [note.kind for note in noted(asked)] == ["decision"]


# --- without a training sample --------------------------------------------------------------------------


def test_without_a_training_sample_everything_learns_from_the_test_sample(study):
    alone = cc.evaluate(study.models, study.test.y, study.test.X, metrics="ibs")
    same = study.evaluate(y_train=study.test.y, x_train=study.test.X, copula=None)
    assert list(alone.results) == DEFAULT
    assert alone.data.horizon.time == same.data.horizon.time
    for name in alone.results:
        for model in alone.models:
            assert alone.score(model, "ibs", name).value == same.score(model, "ibs", name).value
            assert alone.score(model, "ibs", name).skill.value == same.score(model, "ibs", name).skill.value
    curve = cc.KaplanMeier().fit(study.test.y).predict(alone.data.times)
    np.testing.assert_array_equal(alone.data.reference(alone.data.grid)(alone.data.times)[0], curve)
    [note] = noted(alone)
    assert note.kind == "decision"
    assert "reference curve" in note.text
    assert noted(same) == ()
    assert json.loads(alone.to_json())["data"]["train"] is None


@pytest.mark.parametrize("name", ["gbsg", "whas500", "veteran"])
def test_without_a_training_sample_ipcw_is_that_of_risk_regression(name):
    oracle, data = values("brier")[name], load(name)
    times = np.array(oracle["times"], dtype=float)
    lp = oracle["intercept"] + data[oracle["covariates"]].to_numpy() @ oracle["coefficients"]
    predicted = np.exp(-np.outer(np.exp(lp), times) / oracle["scale"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.warnings.HorizonWarning)
        result = cc.evaluate(
            {"m": predicted}, (data["time"], data["event"]), times=times, adjustments="ipcw", metrics="ibs"
        )
    found = result.results["ipcw"].values["ibs"]["m"].curve
    np.testing.assert_allclose(found, oracle["all"]["km"], atol=1e-12)


def test_out_of_fold_predictions_are_evaluated_by_giving_all_subjects_once():
    data = SyntheticDesign(n=300, n_features=2, copula=cc.Clayton(2.0)).draw(5)
    grid = np.linspace(0.0, 12.0, 25)
    folds = np.arange(300) % 3
    predicted = np.empty((300, grid.size))
    for fold in range(3):
        model = cc.CoxPH().fit(data.X[folds != fold], data.y[folds != fold])
        predicted[folds == fold] = model.survival(grid, data.X[folds == fold])
    result = cc.evaluate({"cox": (grid, predicted)}, data.y, adjustments=["ipcw"], times=grid, metrics="ibs")
    expected = cc.integrated_brier_score(data.y, data.y, predicted, grid)
    assert result.score("cox").value == pytest.approx(expected, rel=1e-12)
    order = np.argsort(folds, kind="stable")  # in whatever order they come
    shuffled = cc.evaluate(
        {"cox": (grid, predicted[order])}, data.y[order], adjustments=["ipcw"], times=grid, metrics="ibs"
    )
    assert shuffled.score("cox").value == pytest.approx(expected, rel=1e-12)


# --- the horizon, the copula, the covariates -----------------------------------------------------------


def test_the_horizon_and_who_decided_it(study):
    result = study.evaluate(adjustments=["ipcw"])
    assert result.data.horizon.by == "default"
    assert "5 %" in result.data.horizon.reason
    assert result.data.horizon.time == result.data.times[-1]
    for y in (study.train.y, study.test.y):
        assert (y.time >= result.data.horizon.time).mean() >= 0.05
    short = {"short": (GRID[:6], study.models["one"](GRID[:6]))}
    cut = study.evaluate(short, adjustments=["ipcw"])
    assert (cut.data.horizon.time, cut.data.horizon.by) == (GRID[5], "predictions")
    assert study.evaluate(horizon=9.0, adjustments=["ipcw"]).data.horizon.by == "asked"
    assert study.evaluate(times=GRID[:9], adjustments=["ipcw"]).data.horizon.by == "times"
    alone = cc.evaluate(study.models, study.test.y, adjustments=["ipcw"], metrics="ibs")
    assert alone.data.horizon.time == cc.time_grid(study.test.y, horizon={"at_risk": 0.05})[-1]


def test_models_are_scored_up_to_what_they_were_fitted_to(study):
    from sksurv.linear_model import CoxPHSurvivalAnalysis

    y = study.train.y
    early = y.time < 12.0
    outcome = np.array(list(zip(y.event, y.time, strict=True)), dtype=[("event", bool), ("time", float)])
    fitted = CoxPHSurvivalAnalysis().fit(study.train.X[early], outcome[early])
    last = y.time[early].max()
    for model in (fitted, fitted.predict_survival_function(study.test.X)):
        result = study.evaluate({"m": model}, adjustments=["ipcw"])
        assert result.data.horizon.time == pytest.approx(last)
        assert result.data.horizon.by == "predictions"
    own = cc.CoxPH().fit(study.train.X[early], y[early])
    assert study.evaluate({"m": own}, adjustments=["ipcw"]).data.horizon.time <= last


def test_a_selected_copula_is_that_of_select_copula_and_said_to_be_a_hint(study):
    result = study.evaluate(copula="select", adjustments=["cg_q"])
    chosen = cc.select_copula(study.train.X, study.train.y)
    assert result.data.assumed.origin == "selected"
    assert repr(result.data.assumed.copula) == repr(chosen.copula)
    assert "a hint, not a measurement" in copula_in_words(result)
    again = study.evaluate(copula=chosen, adjustments=["cg_q"])
    assert again.score("one").value == result.score("one").value


@pytest.mark.filterwarnings("error")
def test_what_the_fits_of_a_selection_warn_of_is_in_notes_alone(study):
    time = study.test.y.time.copy()
    time[0] = 0.0
    y = cc.Survival(time, study.test.y.event)[:150]
    models = {"one": (study.models["one"].times, study.models["one"].probabilities[:150])}
    result = cc.evaluate(models, y, copula="select", metrics="ibs")
    assert any("time of 0" in note.text for note in result.results["imputation"].notes_of("caution"))


@pytest.mark.no_cover
def test_a_copula_is_selected_given_what_the_imputation_model_conditions_on(study):
    result = study.evaluate(copula=None)
    assert result.data.assumed.copula.is_independence
    assert "hint" not in json.loads(result.to_json())
    hint, design = result.suggest_copula(), result.results["imputation"].fitted.design
    assert (hint.given, hint.sample, hint.columns) == ("imputation", "test", design.columns)
    expected = cc.select_copula(design, study.test.y)
    assert repr(hint.choice.copula) == repr(expected.copula)
    assert hint.choice.validation == expected.validation
    selected = study.evaluate(copula="select")
    assert selected.data.assumed.hint.choice.validation == expected.validation
    assert selected.suggest_copula() is selected.data.assumed.hint
    assert hint.choice.profile().choice is hint.choice
    held = json.loads(result.to_json(hint=hint))["hint"]
    assert held["columns"] == list(hint.columns)
    assert {each["family"] for each in held["candidates"]} == set(expected.models)


def test_without_a_judge_a_copula_is_selected_given_the_covariates(study):
    frames = [pd.DataFrame(part.X, columns=list("abc")) for part in (study.train, study.test)]
    result = study.evaluate(x_train=frames[0], x_test=frames[1], adjustments="ipcw", copula=None)
    hint = result.suggest_copula()
    assert (hint.given, hint.sample, hint.columns) == ("covariates", "training", ("a", "b", "c"))
    assert list(result.results) == ["ipcw"]


def test_a_verdict_that_rests_on_a_copula_says_so(study):
    assert not noted(study.evaluate(copula=None))
    assert not noted(study.evaluate(copula=cc.Independence()))
    [note] = noted(study.evaluate(copula=cc.Frank.from_tau(0.3)))
    assert note.kind == "caution"
    assert "Frank" in note.text


def test_no_copula_is_selected_where_nothing_takes_one(study):
    result = study.evaluate(copula="select", adjustments=["ipcw"])
    assert result.data.assumed.origin == "unused"
    assert result.data.assumed.hint is None


def test_a_copula_without_copula_graphic_form_leaves_two_adjustments_out_and_says_so(study):
    result = study.evaluate(copula=cc.Gaussian.from_tau(0.3), adjustments="paper")
    assert list(result.results) == DEFAULT
    [note] = [note for note in noted(result) if note.kind == "decision"]
    assert "IBS-Dep" in note.text
    assert "CG-Q" in note.text


# --- what others do at the same time, and afterwards ------------------------------------------------------


def test_the_times_are_the_evaluations_own(study):
    times = GRID.copy()
    result = study.evaluate(times=times, adjustments=["cg_q"])
    times /= 2.0
    assert result.data.horizon.time == GRID[-1]
    with pytest.raises(ValueError, match="read-only"):
        result.data.times[0] = 1.0


def test_times_in_any_order_and_repeated_give_the_same_scores(study):
    order = np.random.default_rng(0).permutation(np.append(np.arange(21), [3, 3, 20]))
    shuffled = study.evaluate(times=GRID[order], adjustments=["ipcw", "imputation_prediction"])
    plain = study.evaluate(times=GRID, adjustments=["ipcw", "imputation_prediction"])
    for name in plain.results:
        assert shuffled.score("one", "ibs", name).value == pytest.approx(
            plain.score("one", "ibs", name).value, rel=1e-12
        )
        curves = [each.results[name].values["ibs"]["one"].curve for each in (shuffled, plain)]
        np.testing.assert_allclose(curves[0], curves[1][order], atol=1e-14)


def test_evaluations_in_threads_leave_warnings_alone(study):
    def run(_):
        return study.evaluate(adjustments=["imputation_prediction"]).score("one").value

    before = list(warnings.filters)
    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(run, range(8)))) == 1
    assert warnings.filters == before
    with pytest.warns(UserWarning, match="does this arrive"):
        warnings.warn("does this arrive?", UserWarning, stacklevel=1)


def test_warnings_of_others_arrive(study):
    class Censoring:
        def fit(self, X, y):
            warnings.warn("an old way", FutureWarning, stacklevel=1)
            return self

        def predict_survival_function(self, X):
            return cc.Predictions([30.0], np.full((len(X), 1), 0.5), tail="last")

    with pytest.warns(FutureWarning, match="an old way"):
        study.evaluate(adjustments={"own": cc.IPCW(Censoring())})


def test_an_evaluation_survives_pickling(study):
    result = study.evaluate(metrics=["ibs", cc.metric("ils", floor=0.01)], adjustments=["ipcw", "cg_q"])
    again = pickle.loads(pickle.dumps(result))
    assert again.to_json() == result.to_json()


def test_progress_counts_the_adjustments(study):
    seen = []
    study.evaluate(adjustments=["ipcw", "cg_q"], progress=lambda done, total: seen.append((done, total)))
    assert seen == [(0, 2), (1, 2), (2, 2)]


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_one_subject_far_out_does_not_take_the_other_adjustments_along(study, sign):
    model = cc.CoxPH(of="dropout").fit(study.train.X, study.train.y)
    far = study.test.X.copy()
    far[0] = sign * np.sign(model.coef_) * 1e6
    result = study.evaluate(x_test=far, adjustments=["ipcw", "ipcw_cox"])
    usual = study.evaluate(adjustments="ipcw").score("one", adjustment="ipcw").value
    assert result.score("one", adjustment="ipcw").value == usual
    # G is 1 for it, or 0 at once.
    assert np.isfinite(result.score("one", adjustment="ipcw_cox").value) == (sign < 0)
    assert bool(result.results["ipcw_cox"].notes_of("missing")) == (sign > 0)
