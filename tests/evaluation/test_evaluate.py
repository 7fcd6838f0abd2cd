import json
import pickle
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pytest

import cocensor as cc
from cocensor.simulate import SyntheticDesign

GRID = np.linspace(0.0, 20.0, 21)


class KaplanMeier:
    def fit(self, y):
        return self


def test_scores_are_those_of_the_metric_functions(study):
    result = study.evaluate(metrics=["ibs", cc.metric("ils", floor=0.01)])
    copula = cc.Frank.from_tau(0.3)
    assert list(result.scored) == ["ipcw", "dep", "cg_q", "given_prediction", "given_covariates"]
    for name in result.scored:
        how = {"adjustment": name} | ({} if name == "ipcw" else {"copula": copula})
        if name == "dep":
            how = {"adjustment": cc.MarginTime(copula, weighting="uncertainty", beyond="last")}
        same = (study.train.y, study.test.y, study.models["three"], result.times)
        given = {"x_train": study.train.X, "x_test": study.test.X}
        ibs = cc.integrated_brier_score(*same, **how, **given)
        ils = cc.integrated_log_score(*same, floor=0.01, **how, **given)
        assert result.score("three", name) == pytest.approx(ibs, rel=1e-12)
        assert result.score("three", name, "ils") == pytest.approx(ils, rel=1e-12)


def test_skill_is_that_against_the_kaplan_meier_curve_of_the_training_sample(study):
    result = study.evaluate(adjustments=["ipcw"])
    km = np.broadcast_to(
        cc.KaplanMeier().fit(study.train.y).predict(result.times), (len(study.test), result.times.size)
    )
    base = cc.integrated_brier_score(study.train.y, study.test.y, km, result.times, adjustment="ipcw")
    assert result.skill("one", "ipcw") == pytest.approx(1.0 - result.score("one", "ipcw") / base, rel=1e-12)


def test_without_censoring_every_adjustment_gives_the_plain_score(study):
    everyone = np.ones(len(study.test), dtype=bool)
    train = cc.Survival(study.train.event_time, np.ones(len(study.train), dtype=bool))
    test = cc.Survival(study.test.event_time, everyone)
    result = cc.evaluate(study.models, train, test, study.train.X, study.test.X, horizon=18.0)
    curves = study.models["one"].evaluate(result.times, slice(None))
    alive = study.test.event_time[:, None] > result.times
    plain = np.trapezoid(((alive - curves) ** 2).mean(axis=0), result.times) / 18.0
    assert len(result.scored) == 5
    for name in result.scored:
        assert result.score("one", name) == pytest.approx(plain, rel=1e-9)
    assert any("No copula could be selected" in note for note in result.notes)


# --- what a model may be -------------------------------------------------------------------------------


def test_every_kind_of_prediction_gives_the_same_score(study):
    from sksurv.functions import StepFunction

    curves = study.models["three"]
    table = curves.evaluate(GRID, slice(None))

    class Pycox:
        def predict_surv_df(self, X):
            return pd.DataFrame(table.T, index=GRID)

    class Curves:
        def predict(self, X):
            return curves

    kinds = {
        "curves": curves,
        "pair": (GRID, table),
        "array": table,
        "steps": np.array([StepFunction(GRID, row) for row in table]),
        "list of steps": [StepFunction(GRID, row) for row in table],
        "frame": Pycox(),
        "learner": Curves(),
    }
    result = cc.evaluate(
        kinds, study.train.y, study.test.y, x_test=study.test.X, times=GRID, adjustments=["ipcw"]
    )
    scores = {name: result.score(name, "ipcw") for name in kinds}
    assert max(scores.values()) == pytest.approx(min(scores.values()), rel=1e-12)
    assert result.came_as["frame"] == "Pycox.predict_surv_df"


def test_fitted_models_of_other_packages_predict_for_the_test_sample(study):
    from lifelines import CoxPHFitter
    from sksurv.linear_model import CoxPHSurvivalAnalysis

    names = ["a", "b", "c"]
    x_train, x_test = (pd.DataFrame(part.X, columns=names) for part in (study.train, study.test))
    y = study.train.y
    outcome = np.array(list(zip(y.event, y.time, strict=True)), dtype=[("event", bool), ("time", float)])
    lifelines = CoxPHFitter().fit(x_train.assign(t=y.time, e=y.event), "t", "e")
    models = {"sksurv": CoxPHSurvivalAnalysis().fit(x_train, outcome), "lifelines": lifelines}
    result = cc.evaluate(
        models | {"cocensor": study.models["three"]}, outcome, study.test.y, x_train, x_test, copula=None
    )
    for name in ("sksurv", "lifelines"):
        assert result.score(name, "ipcw") == pytest.approx(result.score("cocensor", "ipcw"), rel=2e-3)
    assert isinstance(result.table(), pd.DataFrame)


def test_frames_come_back_in_the_library_that_was_given(study):
    frame = pl.DataFrame(study.train.X, schema=["a", "b", "c"])
    other = pl.DataFrame(study.test.X, schema=["a", "b", "c"])
    result = study.evaluate(x_train=frame, x_test=other, adjustments=["ipcw", "cg_q"])
    assert isinstance(result.table(), pl.DataFrame)
    assert isinstance(result.ranking().table, pl.DataFrame)
    assert isinstance(result.brier_curves(), pl.DataFrame)
    assert isinstance(result.sensitivity(["clayton"], [0.0, 0.5]).table(), pl.DataFrame)


# --- the horizon, the copula, the covariates -----------------------------------------------------------


def test_the_horizon_and_its_reason(study):
    result = study.evaluate(adjustments=["ipcw"])
    for y in (study.train.y, study.test.y):
        assert (y.time >= result.horizon).mean() >= 0.05
    assert "at least 5 % at risk" in result.horizon_reason
    short = (GRID[:6], study.models["one"].evaluate(GRID[:6], slice(None)))
    cut = cc.evaluate({"short": short}, study.train.y, study.test.y, adjustments=["ipcw"])
    assert cut.horizon == GRID[5]
    assert "predictions are known" in cut.horizon_reason
    with pytest.raises(
        ValueError, match="horizon must not pass 5, the end of the shortest predictions, but is 9"
    ):
        cc.evaluate({"short": short}, study.train.y, study.test.y, horizon=9.0)
    with pytest.raises(ValueError, match="horizon must be None where times are given"):
        study.evaluate(times=GRID, horizon=9.0)


def test_a_selected_copula_is_said_to_be_a_hint(study):
    result = study.evaluate(copula="select", adjustments=["cg_q"])
    chosen = cc.select_copula(study.train.X, study.train.y, penalty=2 / len(study.train))
    assert repr(result.copula) == repr(chosen.copula)
    assert "a hint, not a measurement" in repr(result)
    again = study.evaluate(copula=chosen, adjustments=["cg_q"])
    assert again.score("one", "cg_q") == result.score("one", "cg_q")


def test_a_copula_that_is_hardly_better_than_independence_is_not_taken():
    data = SyntheticDesign(n=400, n_features=2).draw(2)  # independent
    curves = cc.CoxPH().fit(data.X, data.y).predict_survival_function(data.X)
    result = cc.evaluate({"m": curves}, data.y, data.y, data.X, data.X, adjustments=["cg_q"])
    best = result.choice.copula
    gain = 400 * (result.choice.validation["independence"] - result.choice.validation[best.name])
    assert 0 < gain < 5
    assert result.copula.is_independence
    assert any(
        note.startswith(f"The {best.name} copula") and "independence is taken" in note
        for note in result.notes
    )


def test_a_copula_without_copula_graphic_form_leaves_two_adjustments_out_and_says_so(study):
    result = study.evaluate(copula=cc.Gaussian.from_tau(0.3))
    assert list(result.scored) == ["ipcw", "given_prediction", "given_covariates"]
    assert "IBS-Dep and CG-Q are left out: they need an Archimedean copula." in result.notes


def test_covariates_that_are_no_numbers_serve_the_predictions_only(study):
    text = pd.DataFrame({"site": ["a"] * len(study.train)}), pd.DataFrame({"site": ["b"] * len(study.test)})
    result = study.evaluate(x_train=text[0], x_test=text[1])
    assert "given_covariates" not in result.scored
    assert any(note.startswith("Covariates serve the predictions only") for note in result.notes)


def test_an_adjustment_that_has_no_answer_says_why(study):
    censored = cc.Survival(study.test.y.time, np.zeros(len(study.test), dtype=bool))
    result = cc.evaluate(study.models, study.train.y, censored, copula=cc.Frank(2.0))
    assert np.isnan(result.score("one", "given_prediction"))
    assert "one" not in result.ranks("given_prediction")
    assert any("No score of one" in note for note in result.scored["given_prediction"].notes)
    assert "–" in repr(result)
    json.loads(result.to_json())


# --- the answer ----------------------------------------------------------------------------------------


def test_the_ranking_says_whether_the_winner_changes(study):
    good, bad = study.models["three"], study.models["three"].evaluate(GRID, slice(None))[::-1]
    y = study.train.y, study.test.y
    kept = cc.evaluate({"good": good, "bad": (GRID, bad)}, *y, copula=None, adjustments=["ipcw", "cg_q"])
    assert kept.ranking().statement == "good is best under every adjustment."
    assert list(kept.ranking().table["ipcw"]) == [1, 2]
    same = cc.evaluate({"good": good, "twin": good}, *y, adjustments=["ipcw"])
    assert same.ranking().statement == "good and twin are equally good and best under every adjustment."
    alone = cc.evaluate({"good": good}, *y, adjustments=["ipcw"])
    assert alone.ranking().statement == "There is one model, good, and nothing to rank."
    kept.scored["cg_q"].scores["ibs"] |= {"good": 0.2, "bad": 0.1}
    assert kept.ranking().statement == (
        "The best model depends on what is assumed about the censoring: good is best under IPCW; "
        "bad is best under CG-Q."
    )


def test_the_table_marks_the_best(study):
    table = study.evaluate().table()
    assert list(table.columns) == ["metric", "adjustment", "model", "score", "skill", "rank", "best"]
    assert (
        table.loc[table["best"], "score"].to_numpy() == table.groupby("adjustment", sort=False)["score"].min()
    ).all()


def test_json_holds_the_numbers_exactly(study, tmp_path):
    result = study.evaluate()
    path = tmp_path / "numbers.json"
    grid = result.sensitivity(["frank"], [0.0, 0.3])
    text = result.to_json(path, grid)
    assert path.read_text(encoding="utf-8") == text + "\n"
    held = json.loads(text)
    assert held["metrics"][0]["scores"]["cg_q"]["one"] == result.score("one", "cg_q")
    assert held["sensitivity"]["scores"]["ibs"]["cg_q"]["frank"]["one"][1] == pytest.approx(
        result.score("one", "cg_q"), rel=1e-12
    )
    assert [path.name for path in tmp_path.iterdir()] == ["numbers.json"]


def test_notebooks_show_hostile_names_as_text(study):
    name = "<script>alert(1)</script>"
    result = cc.evaluate({name: study.models["one"]}, study.train.y, study.test.y, adjustments=["ipcw"])
    assert "<script>" not in result._repr_html_()
    assert "&lt;script&gt;" in result._repr_html_()


def test_progress_counts_the_adjustments(study):
    seen = []
    study.evaluate(adjustments=["ipcw", "cg_q"], progress=lambda done, total: seen.append((done, total)))
    assert seen == [(0, 2), (1, 2), (2, 2)]


# --- what others do at the same time, and afterwards ------------------------------------------------------


def test_the_times_are_the_evaluations_own(study):
    times = GRID.copy()
    result = study.evaluate(times=times, adjustments=["cg_q"])
    times /= 2.0
    assert result.horizon == GRID[-1]
    with pytest.raises(ValueError, match="read-only"):
        result.times[0] = 1.0


def test_evaluations_in_threads_leave_warnings_alone(study):
    def run(_):
        return study.evaluate(adjustments=["given_prediction"]).score("one", "given_prediction")

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
            return cc.SurvivalCurves([30.0], np.full((len(X), 1), 0.5))

    with pytest.warns(FutureWarning, match="an old way"):
        study.evaluate(adjustments={"own": cc.IPCW(Censoring())})


def test_what_was_warned_of_is_printed(study):
    late = cc.Survival(study.test.y.time, study.test.y.event)
    with pytest.warns(cc.HorizonWarning):
        result = cc.evaluate(
            study.models, study.train.y, late, study.train.X, study.test.X, copula=cc.Frank(1.0), horizon=40.0
        )
    assert any(
        "beyond it the margins extrapolate" in note for note in result.scored["given_covariates"].cautions
    )
    assert "beyond it the margins extrapolate" in repr(result)


def test_an_evaluation_survives_pickling(study):
    result = study.evaluate(metrics=["ibs", cc.metric("ils", floor=0.01)], adjustments=["ipcw", "cg_q"])
    again = pickle.loads(pickle.dumps(result))
    assert again.to_json() == result.to_json()


# --- adjustments by name and as objects ------------------------------------------------------------------


def test_no_copula_is_selected_where_nothing_takes_one(study):
    result = study.evaluate(copula="select", adjustments=["ipcw"])
    assert result.choice is None
    assert "no adjustment takes a copula from here" in repr(result)


def test_adjustments_that_read_the_same_must_have_names(study):
    same = [cc.IPCW(), cc.IPCW(min_probability=0.3)]
    with pytest.raises(ValueError, match="adjustments must differ in how they read: give a dict"):
        study.evaluate(adjustments=same)
    result = study.evaluate(adjustments={"ipcw": "ipcw", "IPCW": cc.IPCW(convention="scikit-survival")})
    assert [each.label for each in result.scored.values()] == ["ipcw", "IPCW"]
    for name in ("model", 1):
        with pytest.raises(ValueError, match=f"texts other than 'model' as names, but one is {name!r}"):
            study.evaluate(adjustments={name: "ipcw"})


def test_the_primary_adjustment_goes_by_kind(study):
    own = {"dep": "dep", "mine": cc.JointConditional("covariates", cc.Frank(2.0))}
    assert study.evaluate(adjustments=own).primary == "mine"


def test_what_holds_a_model_or_is_fitted_does_not_move(study):
    joint = cc.fit_joint(study.train.X, study.train.y, cc.Clayton(2.0), "weibull")
    fitted = cc.MarginTime(cc.Clayton(2.0), beyond="last").fit(study.train.y)
    held = cc.JointConditional("covariates", model=joint)
    result = study.evaluate(adjustments={"cg_q": "cg_q", "held": held, "fitted": fitted})
    assert list(result.sensitivity("frank", [0.0, 0.5]).answers) == ["cg_q"]


def test_one_adjustment_that_fails_late_does_not_take_the_others_along(study):
    class Zero:
        def fit(self, X, y):
            return self

        def predict_survival_function(self, X):
            return cc.SurvivalCurves([0.1, 5.0], np.tile([0.5, 0.0], (len(X), 1)))

    result = study.evaluate(adjustments={"usual": "ipcw", "own": cc.IPCW(Zero())})
    assert np.isnan(result.score("one", "own"))
    assert np.isfinite(result.score("one", "usual"))


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_one_subject_far_out_does_not_take_the_other_adjustments_along(study, sign):
    model = cc.CoxPH(of="censoring").fit(study.train.X, study.train.y)
    far = study.test.X.copy()
    far[0] = sign * np.sign(model.coef_) * 1e6
    result = study.evaluate(x_test=far, adjustments=["ipcw", "ipcw_cox"])
    assert result.score("one", "ipcw") == study.evaluate(adjustments="ipcw").score("one", "ipcw")
    # G is 1 for it, or 0 at once.
    assert np.isfinite(result.score("one", "ipcw_cox")) == (sign < 0)
    assert any("No score" in note for note in result.scored["ipcw_cox"].notes) == (sign > 0)


def test_weights_that_are_no_numbers_do_not_take_the_other_adjustments_along(study):
    class Broken(cc.IPCW):
        def _status(self, y, grid, x, estimate):
            status = super()._status(y, grid, x, estimate)
            status.normaliser = np.nan
            return status

    result = study.evaluate(adjustments={"usual": "ipcw", "own": Broken()})
    assert np.isnan(result.score("one", "own"))
    assert any("No score of one" in note for note in result.scored["own"].notes)
    assert np.isfinite(result.score("one", "usual"))


def test_a_reference_without_loss_leaves_the_skill_open():
    y = cc.Survival(np.arange(1.0, 31.0), np.arange(30) % 2 == 0)
    early = np.exp(-np.outer(np.linspace(0.5, 2.0, 30), np.linspace(0.0, 1.0, 8)))
    result = cc.evaluate({"m": early}, y, y, adjustments="ipcw", times=np.linspace(0.0, 0.6, 8))
    assert "(–)" in repr(result)


def test_smooth_models_of_lifelines_are_read_without_steps(study):
    from lifelines import WeibullAFTFitter

    x_train, x_test = (pd.DataFrame(part.X, columns=list("abc")) for part in (study.train, study.test))
    y = study.train.y
    aft = WeibullAFTFitter().fit(x_train.assign(t=y.time, e=y.event), "t", "e")
    grid = np.linspace(0.1, 18.0, 50)
    exact = aft.predict_survival_function(x_test, times=grid).to_numpy().T.clip(0.0, 1.0)
    result = cc.evaluate(
        {"aft": aft, "exact": exact}, y, study.test.y, x_train, x_test, times=grid, adjustments=["ipcw"]
    )
    assert result.score("aft", "ipcw") == pytest.approx(result.score("exact", "ipcw"), rel=1e-3)


# --- where predictions end, and what is said ----------------------------------------------------------------


def test_models_are_scored_up_to_what_they_were_fitted_to(study):
    from sksurv.linear_model import CoxPHSurvivalAnalysis

    y = study.train.y
    early = y.time < 12.0
    outcome = np.array(list(zip(y.event, y.time, strict=True)), dtype=[("event", bool), ("time", float)])
    fitted = CoxPHSurvivalAnalysis().fit(study.train.X[early], outcome[early])
    last = y.time[early].max()
    for model in (fitted, fitted.predict_survival_function(study.test.X)):
        result = cc.evaluate({"m": model}, y, study.test.y, x_test=study.test.X, adjustments=["ipcw"])
        assert result.horizon == pytest.approx(last)
        assert "predictions are known" in result.horizon_reason
    own = cc.CoxPH().fit(study.train.X[early], y[early])
    result = cc.evaluate({"m": own}, y, study.test.y, x_test=study.test.X, adjustments=["ipcw"])
    assert result.horizon <= last


def test_with_several_metrics_each_has_its_sentence(study):
    result = study.evaluate(metrics=["ibs", cc.metric("ils", floor=0.01)], adjustments=["ipcw", "cg_q"])
    for name in result.scored:
        result.scored[name].scores["ibs"] |= {"three": 0.1, "one": 0.2}
        result.scored[name].scores["ils"] |= {"three": 0.2, "one": 0.1}
    said = (
        "By the integrated Brier score: three is best under every adjustment. "
        "By the integrated log score: one is best under every adjustment."
    )
    assert result.winners_in_words() == said
    assert said in repr(result)
    assert result.ranking("ils").statement == "one is best under every adjustment."
    assert result.ranking().statement == "three is best under every adjustment."


def test_an_adjustment_without_a_score_is_not_counted_among_every(study):
    censored = cc.Survival(study.test.y.time, np.zeros(len(study.test), dtype=bool))
    result = cc.evaluate(
        study.models, study.train.y, censored, adjustments=["ipcw", "given_prediction"], copula=cc.Frank(2.0)
    )
    assert result.winners_in_words().endswith(" under IPCW; given the prediction has no score.")
    assert "No score of one" in result._repr_html_()


def test_a_sensitivity_analysis_of_another_evaluation_is_refused(study, tmp_path):
    one, other = (study.evaluate(adjustments=["cg_q"]) for _ in range(2))
    grid = other.sensitivity("frank", [0.0, 0.5])
    for use in (lambda: one.to_json(sensitivity=grid), lambda: one.to_html(tmp_path / "a.html", grid)):
        with pytest.raises(ValueError, match="sensitivity must be that of this evaluation"):
            use()


# --- refusals ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ({}, "models is empty"),
        ([1.0], "models must be a dict of names and predictions, but is of type list"),
        ({3: (GRID, np.ones((300, 21)))}, "models must have texts as names, but one is 3"),
        ({"": (GRID, np.ones((300, 21)))}, "models must have texts as names, but one is ''"),
        (
            {"m": (GRID, np.ones((299, 21)))},
            "models['m'] must predict one curve per test subject, 300, but predicts 299",
        ),
        ({"m": np.ones((300, 21))}, "models['m']: an array of probabilities needs its times"),
        (
            {"m": (GRID, np.full((300, 21), 1.5))},
            "models['m']: probabilities must lie in [0, 1], but row 0 at time 0 is 1.5",
        ),
        (
            {"m": (GRID, np.tile(GRID / 20.0, (300, 1)))},
            "models['m']: probabilities must not increase over time, but row 0",
        ),
        (
            {"m": KaplanMeier()},
            "models['m']: KaplanMeier has no method that predicts survival curves, or is not fitted",
        ),
        ({"m": cc.CoxPH()}, "models['m']: x_test is needed: CoxPH is a model that has yet to predict"),
    ],
)
def test_models_that_cannot_be_scored_are_refused(study, models, message):
    import re

    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        cc.evaluate(models, study.train.y, study.test.y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"adjustments": ["ipwc"]}, "adjustment must be one of .* but is 'ipwc'"),
        ({"adjustments": []}, "adjustments is empty"),
        (
            {"adjustments": ["given_covariates"], "x_train": None, "x_test": None},
            "x_train and x_test are needed",
        ),
        ({"times": []}, "times must span an interval, but are \\[\\]"),
        ({"times": [3.0]}, "times must span an interval, but are \\[3.0\\]"),
        ({"metrics": "ils"}, "floor is needed for the metric 'ils'"),
        ({"metrics": []}, "metrics is empty"),
        ({"metrics": ["ibs", "ibs"]}, "metrics must differ, but are ibs, ibs"),
        ({"copula": "frank"}, "copula must be 'select', a copula"),
        ({"x_test": None}, "x_test is needed where x_train is given"),
        ({"x_test": np.ones((300, 2))}, "x_test must have the columns of x_train, 3, but has 2"),
        ({"x_test": np.ones((299, 3))}, "x_test has length 299"),
    ],
)
def test_options_that_make_no_sense_are_refused(study, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        study.evaluate(**options)


def test_a_status_that_does_not_depend_on_the_model_is_computed_once(study, monkeypatch):
    calls = []
    original = cc.ConditionalStatus._status
    monkeypatch.setattr(cc.ConditionalStatus, "_status", lambda *given: calls.append(1) or original(*given))
    study.evaluate(adjustments=["cg_q"])
    assert len(calls) == 1


def test_many_subjects_are_split_for_the_selection_and_keep_their_frame(study, monkeypatch):
    monkeypatch.setattr(sys.modules[cc.evaluate.__module__], "_ENOUGH_TO_SPLIT", 300)
    frames = [pl.DataFrame(part.X, schema=["a", "b", "c"]) for part in (study.train, study.test)]
    result = study.evaluate(x_train=frames[0], x_test=frames[1], copula="select", adjustments=["cg_q"])
    assert result.choice.how == "validation part"
    assert 250 < result.choice.best.n_ < 310
    assert isinstance(result.choice.table, pl.DataFrame)
    assert result.choice.best.columns_ == ("a", "b", "c")
