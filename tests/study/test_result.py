"""What an evaluation says: tables, ranks, JSON, text, and why a score is missing."""

import json
from dataclasses import replace

import numpy as np
import pytest

import cocensor as cc
from cocensor.study.ranking import counted, standing
from cocensor.study.report import Report
from tests.refusals import refuses

GRID = np.linspace(0.0, 20.0, 21)


def with_values(result, scores):
    """The evaluation with other values and no intervals, by metric and model, under the adjustments named."""
    results = dict(result.results)
    for name, by_metric in scores.items():
        changed = {
            metric: {model: cc.metrics.MetricValue(value) for model, value in by_model.items()}
            for metric, by_model in by_metric.items()
        }
        results[name] = replace(results[name], values=results[name].values | changed)
    return replace(result, results=results, data=replace(result.data, confidence_level=None))


def test_the_ranking_says_whether_the_winner_changes(study):
    good = study.models["three"]
    options = {"copula": None, "adjustments": ["ipcw", "imputation"]}
    worse = 0.7 * good(GRID) + 0.3 * good(GRID)[::-1]
    kept = study.evaluate({"good": good, "bad": (GRID, worse)}, **options)
    assert "good predicts best" in str(kept.verdict)
    assert kept.table("ranks", adjustment="ipcw")["rank"].tolist() == [1, 2]
    assert (kept.verdict.leader, kept.verdict.beaten) == ("good", ("bad",))
    same = study.evaluate({"good": good, "twin": good}, adjustments=["ipcw"])
    assert "good and twin are equal for practical purposes" in str(same.verdict)
    assert standing(same).ranks == {"good": 1, "twin": 1}
    assert (same.verdict.state, same.verdict.tied) == ("tie", ("good", "twin"))
    alone = study.evaluate({"good": good}, adjustments=["ipcw"])
    assert "good is better than Kaplan–Meier" in str(alone.verdict)
    assert alone.verdict.leader == "good"
    moved = with_values(kept, {"imputation": {"ibs": {"good": 0.2, "bad": 0.1}}})
    assert [standing(moved, None, name).leaders for name in ("ipcw", "imputation")] == [("good",), ("bad",)]


def test_with_several_metrics_each_has_its_leader(study):
    result = study.evaluate(metrics=["ibs", cc.metric("ils", floor=0.01)], adjustments=["ipcw", "imputation"])
    scores = {"ibs": {"three": 0.1, "one": 0.2}, "ils": {"three": 0.2, "one": 0.1}}
    result = with_values(result, dict.fromkeys(result.results, scores))
    leaders = {name: each.leaders for name, each in result.verdict.by_metric.items()}
    assert leaders == {"ibs": ("three",), "ils": ("one",)}
    assert standing(result, "ils", "imputation").ranks == {"three": 2, "one": 1}


def test_the_table_marks_the_best(study):
    table = study.evaluate(confidence_level=None).table()
    assert list(table.columns) == ["metric", "adjustment", "model", "score", "skill", "rank", "best"]
    assert (
        table.loc[table["best"], "score"].to_numpy() == table.groupby("adjustment", sort=False)["score"].min()
    ).all()


def test_curves_over_time_are_those_of_the_metric(study):
    result = study.evaluate(adjustments=["ipcw"])
    table = result.table("curves", "ibs")
    one = table.loc[(table["model"] == "one") & (table["adjustment"] == "ipcw")]
    np.testing.assert_array_equal(one["time"], result.data.times)
    found = cc.brier_score(study.train.y, study.test.y, study.models["one"], result.data.times)
    np.testing.assert_allclose(one["value"], found, atol=1e-14)


def test_json_holds_the_numbers_exactly(study, tmp_path):
    result = study.evaluate()
    path = tmp_path / "numbers.json"
    sensitivity = result.sensitivity(["frank"], [0.0, 0.3])
    assert "sensitivity" not in json.loads(result.to_json())
    text = result.to_json(path, sensitivity=sensitivity)
    assert path.read_text(encoding="utf-8") == text + "\n"
    held = json.loads(text)
    score = result.score("one", "ibs", "imputation").value
    assert held["metrics"][0]["scores"]["imputation"]["one"] == score
    along = held["sensitivity"]["scores"]["ibs"]["imputation"]["frank"]["one"]
    assert along[1] == pytest.approx(score, rel=1e-12)
    assert held["primary"] == result.primary
    assert [path.name for path in tmp_path.iterdir()] == ["numbers.json"]


def test_notebooks_show_hostile_names_as_text(study):
    name = "<script>alert(1)</script>"
    result = study.evaluate({name: study.models["one"]}, adjustments=["ipcw"])
    assert "<script>" not in result._repr_html_()
    assert "&lt;script&gt;" in result._repr_html_()


# --- what is missing, and what is doubtful ------------------------------------------------------------------


def test_an_adjustment_that_has_no_answer_says_why(study):
    event = np.zeros(len(study.test), dtype=bool)
    event[np.argsort(study.test.y.time)[len(event) // 2]] = True
    result = cc.evaluate(
        study.models,
        cc.Survival(study.test.y.time, event),
        y_train=study.train.y,
        adjustments=["ipcw", "imputation_prediction"],
        copula=cc.Frank(2.0),
        metrics="ibs",
    )
    missing = result.results["imputation_prediction"]
    assert not missing.answered
    score = result.score("one", adjustment="imputation_prediction")
    assert np.isnan(score.value)
    assert {note.kind for note in score.notes} == {"missing"}
    assert all(note.about.model in (None, "one") for note in score.notes)
    assert "1 event" in score.notes[0].text
    assert np.isnan(result.score("one", adjustment="imputation_prediction").skill.value)
    assert standing(result, adjustment="imputation_prediction").ranks == {}
    assert result.primary == "ipcw"
    held = json.loads(result.to_json())
    assert "imputation_prediction" not in held["metrics"][0]["scores"]
    assert held["adjustments"][1]["notes"][0]["kind"] == "missing"


def test_where_nothing_can_be_scored_the_first_reason_is_given(study):
    censored = cc.Survival(study.test.y.time, np.zeros(len(study.test), dtype=bool))
    options = {"y_train": study.train.y, "adjustments": "imputation_prediction", "copula": None}
    refuses(
        lambda: cc.evaluate(study.models, censored, **options, metrics="ibs"), "no adjustment", "no event"
    )


def test_one_adjustment_that_fails_late_does_not_take_the_others_along(study):
    class Zero:
        def fit(self, X, y):
            return self

        def predict_survival_function(self, X):
            return cc.Predictions([0.1, 5.0], np.tile([0.5, 0.0], (len(X), 1)))

    result = study.evaluate(adjustments={"usual": "ipcw", "own": cc.IPCW(Zero())})
    assert np.isnan(result.score("one", adjustment="own").value)
    [note] = result.results["own"].notes_of("missing")
    assert (note.about.adjustment, note.about.model) == ("own", None)
    assert np.isfinite(result.score("one", adjustment="usual").value)


def test_what_was_warned_of_is_a_caution_and_printed(study):
    with pytest.warns(cc.warnings.HorizonWarning):
        result = study.evaluate(copula=cc.Frank(1.0), horizon=40.0)
    cautions = result.results["imputation"].notes_of("caution")
    assert any("extrapolate" in note.text for note in cautions)
    assert "extrapolate" in repr(result)


def test_a_reference_without_loss_leaves_the_skill_open():
    y = cc.Survival(np.arange(1.0, 31.0), np.arange(30) % 2 == 0)
    early = np.exp(-np.outer(np.linspace(0.5, 2.0, 30), np.linspace(0.0, 1.0, 8)))
    result = cc.evaluate({"m": early}, y, adjustments="ipcw", times=np.linspace(0.0, 0.6, 8), metrics="ibs")
    assert np.isnan(result.score("m").skill.value)
    assert Report(result).to_dict()["metrics"][0]["skill"] == {"ipcw": {}}


# --- adjustments by name and as objects ------------------------------------------------------------------


def test_objects_go_by_what_they_are_and_names_are_kept(study):
    objects = [cc.IPCW(), cc.IPCW(min_probability=0.3)]
    result = study.evaluate(adjustments=objects)
    assert list(result.results) == [repr(each) for each in objects]
    assert [each.adjustment for each in result.results.values()] == objects
    refuses(lambda: study.evaluate(adjustments=[cc.IPCW(), cc.IPCW()]), "adjustments", "dict")
    named = study.evaluate(adjustments={"ipcw": "ipcw", "IPCW": cc.IPCW(convention="scikit-survival")})
    assert [each.label for each in named.results.values()] == ["ipcw", "IPCW"]
    assert list(study.evaluate(adjustments=cc.IPCW()).results) == [repr(cc.IPCW())]


def test_the_primary_adjustment_goes_by_kind(study):
    own = {"dep": "dep", "mine": cc.Imputation("covariates", cc.Frank(2.0))}
    assert study.evaluate(adjustments=own).primary == "mine"
    both = own | {"all": cc.Imputation("predictions", cc.Frank(2.0))}
    assert study.evaluate(adjustments=both).primary == "all"
    assert study.evaluate(adjustments="paper").primary == "imputation"
    for marginal in ("dep", "cg_q", "margin", "margin_km", "imputation_margins"):
        assert study.evaluate(adjustments=[marginal, "ipcw"]).primary == "ipcw"
        assert study.evaluate(adjustments=marginal).primary == marginal


def test_what_does_not_vote_is_shown_and_not_counted(study):
    result = study.evaluate(adjustments="paper", copula=None)
    swapped = {"ibs": {"three": 0.2, "one": 0.1}}
    result = with_values(
        result,
        {"ipcw": {"ibs": {"three": 0.1, "one": 0.2}}, "imputation": {"ibs": {"three": 0.1, "one": 0.2}}},
    )
    result = with_values(result, {"dep": swapped, "cg_q": swapped})
    assert counted(result) == ("ipcw", "imputation")
    assert "three has the best score" in str(result.verdict)
    ranks = result.table("ranks").dropna(subset="rank")
    assert list(dict.fromkeys(ranks["adjustment"])) == ["ipcw", "imputation"]
    assert standing(result, adjustment="dep").ranks == {}
    assert result.score("one", adjustment="dep").value == 0.1
    table = result.table()
    shown = table[table["adjustment"].isin(["dep", "cg_q"])]
    assert not shown["best"].any()
    assert shown["rank"].isna().all()
    held = {each["name"]: each["votes"] for each in Report(result).to_dict()["adjustments"]}
    assert held == {"ipcw": True, "imputation": True, "dep": False, "cg_q": False}


def test_a_judge_can_be_given_again_and_judges_a_model_added_later_by_the_same_standard(study):
    first = study.evaluate({"three": study.models["three"]}, copula=None)
    asked = {"ipcw": "ipcw", "imputation": first.results["imputation"].fitted}
    later = study.evaluate(study.models, copula=None, adjustments=asked)
    assert later.primary == "imputation"
    assert later.results["imputation"].fitted is first.results["imputation"].fitted
    assert later.score("three").value == pytest.approx(first.score("three").value, rel=1e-12)
    anew = study.evaluate(copula=None)
    assert abs(anew.score("three").value - first.score("three").value) > 1e-6
    grids = [each.sensitivity("frank", [0.0, 0.4]).over_tau for each in (first, later)]
    assert grids[1].primary == "imputation"
    for tau in (0.0, 0.4):
        scores = [grid.values("frank", tau)["three"] for grid in grids]
        assert scores[1] == pytest.approx(scores[0], rel=1e-10)
    columns = [json.loads(each.to_json())["imputation"]["columns"] for each in (first, later)]
    assert columns[0] == columns[1] == list(first.results["imputation"].fitted.design.names_of_effects)
    other = cc.evaluate(
        {"three": study.models["three"][:200]},
        study.test.y[:200],
        study.test.X[:200],
        adjustments=asked,
        metrics="ibs",
    )
    assert "300" in other.results["imputation"].notes_of("missing")[0].text


def test_what_holds_a_model_does_not_move_with_the_copula(study):
    joint = cc.fit_joint(study.train.X, study.train.y, cc.Clayton(2.0), "weibull")
    held = cc.Imputation("covariates", model=joint)
    result = study.evaluate(adjustments={"cg_q": "cg_q", "held": held})
    assert list(result.sensitivity("frank", [0.0, 0.5]).over_tau.answers) == ["cg_q"]


def test_an_adjustment_may_have_learned_from_another_sample(study):
    fitted = cc.adjustments.MarginTime(cc.Clayton(2.0)).fit(study.train.y[:200])
    result = study.evaluate(adjustments={"fitted": fitted, "ipcw": "ipcw"})
    assert result.results["fitted"].fits["one"] is fitted
    same = (study.train.y, study.test.y, study.models["one"], result.data.times)
    expected = cc.integrated_brier_score(*same, adjustment=fitted)
    assert result.score("one", adjustment="fitted").value == pytest.approx(expected, rel=1e-12)
    grid = result.sensitivity("frank", [0.3]).over_tau
    moved = cc.adjustments.MarginTime(cc.Frank.from_tau(0.3)).fit(study.train.y[:200])
    expected = cc.integrated_brier_score(*same, adjustment=moved)
    assert grid.values("frank", 0.3)["one"] == pytest.approx(expected, rel=1e-12)


def test_what_is_asked_for_must_be_there(study):
    result = study.evaluate(adjustments=["ipcw"])
    refuses(lambda: result.score("four"), "model", "'four'", "'three'")
    refuses(lambda: result.score("one", "ils"), "metric", "'ils'", "'ibs'")
    refuses(lambda: result.score("one", adjustment="dep"), "adjustment", "'dep'", "'ipcw'")
    refuses(lambda: result.results["dep"], "adjustment", "'dep'", "'ipcw'")
    refuses(lambda: result.table("medians"), "kind", "'medians'", "'scores'")
    refuses(lambda: result.table(at=8.0), "metric", "8")


def test_an_adjustment_object_is_called_by_what_sets_it_apart(study):
    objects = [
        cc.IPCW(min_probability=0.1),
        cc.Imputation("prediction", cc.Frank(2.0)),
        cc.IPCW().fit(study.train.y),
    ]
    result = study.evaluate(adjustments=objects)
    assert [each.label for each in result.results.values()] == [
        "IPCW(min_probability=0.1)",
        "Imputation(given=('prediction',), copula=Frank(theta=2.0))",
        "IPCW(), fitted",
    ]


def test_a_reason_that_holds_of_all_models_is_said_once(study):
    y = study.test.y
    only_then = cc.Survival(np.where(y.event, y.time, 6.0), y.event)
    result = cc.evaluate(
        study.models,
        only_then,
        adjustments=["ipcw", "imputation_prediction"],
        copula=cc.Frank(2.0),
        metrics="ibs",
    )
    [note] = result.results["imputation_prediction"].notes_of("missing")
    assert note.about.model is None
    assert " ".join(repr(result).split()).count(note.text) == 1


def test_parts_of_a_result_print_in_a_few_lines(study):
    result = study.evaluate(adjustments=["ipcw", "imputation_prediction"])
    for part in (result.data, result.data.grid, *result.results.values()):
        assert len(repr(part)) < 1200


def test_a_line_break_in_a_name_leaves_the_table_whole(study):
    result = study.evaluate({"two\nlines": study.models["one"]}, adjustments="ipcw")
    assert "two lines" in repr(result)


def test_a_copula_that_nothing_takes_is_noted(study):
    fitted = cc.evaluate(study.models, study.test.y, metrics="ibs").results["imputation"].fitted
    for adjustments in ("ipcw", {"imputation": fitted}):
        for copula, noted in ((cc.Clayton(2.0), 1), (None, 0)):
            result = cc.evaluate(
                study.models, study.test.y, adjustments=adjustments, copula=copula, metrics="ibs"
            )
            assert sum(note.kind == "caution" and "copula" in note.text for note in result.notes) == noted
            assert result.data.assumed.origin == "unused"


def test_of_one_adjustment_without_a_copula_nothing_is_said_of_others_or_of_a_copula(study):
    good = study.models["three"]
    models = {"good": good, "bad": (GRID, 0.7 * good(GRID) + 0.3 * good(GRID)[::-1])}
    alone = study.evaluate(models, copula=None, adjustments=["ipcw"])
    said = repr(alone)
    assert "If dropouts fared like those who stayed, good predicts best." in str(alone.verdict)
    assert "copula" not in said
    notes = [note.text for note in alone.notes if note.code == "intervals_are_about"]
    assert notes == ["Intervals are for these trained models up to this horizon."]
    without = study.evaluate(models, copula=None, adjustments=["ipcw"], confidence_level=None)
    assert not any(note.code == "intervals_are_about" for note in without.notes)
