"""What the first screen says without intervals, of scores made up for it, and what it rests on.

The first test has its sentences, the others their facts.
"""

from dataclasses import replace

import cocensor as cc
from cocensor._notes import Note
from cocensor.metrics import MetricValue
from cocensor.study.report import Report
from cocensor.views.text import headline
from tests.views.text.made_up import answer, says, told

A_FIRST = {"a": 0.1, "b": 0.2}


def test_where_the_answer_stops(three):
    line = (0.0, 0.4, 0.8), {"a": [0.10, 0.12, 0.20], "b": [0.11, 0.14, 0.18]}
    steep = (0.0, 0.4, 0.8), {"a": [0.10, 0.12, 0.20], "b": [0.11, 0.13, 0.17]}
    found = told(three, {"frank": line, "clayton": line, "joe": steep}, A_FIRST)
    assert found.question.startswith("Which of these 2 models predicts best until ")
    assert found.lead == (
        "If those who dropped out would have had the event about as fast as comparable subjects who stayed, a has the "
        "best score."
    )
    assert found.along == (
        "That stays so throughout the plausible range as far as it was tried. The plausible range is Kendall’s τ from "
        "-0.2 to 0.2, as asked for. The grid has τ from 0 to 0.8. τ runs from -1 to 1, and 0 means no dependence. "
        "At a τ of 0.5 or more, b may have the best score."
    )
    assert says(found.lost, "τ = 0.5", "under Joe first")
    assert found.support == (
        "The integrated Brier score of a is 0.1000, against 0.2000 for b. This is the mean squared error of the "
        "predicted probabilities over time; smaller is better."
    )
    assert found.extent == ()


def test_an_answer_that_holds_everywhere(three):
    line = (0.0, 0.4, 0.8), {"a": [0.10, 0.12, 0.16], "b": [0.11, 0.14, 0.18]}
    found = told(three, {"frank": line, "clayton": line}, A_FIRST)
    assert says(answer(found), "about as fast", "a", "throughout the plausible range")
    assert says(found.along, "every dependence that was tried", "0 to 0.8")
    assert not found.lost


def test_a_model_that_comes_back_is_said_to(three):
    line = (0.0, 0.2, 0.4, 0.6), {"a": [0.1, 0.2, 0.2, 0.1], "b": [0.2, 0.1, 0.1, 0.2]}
    found = told(three, {"clayton": line}, A_FIRST)
    assert says(
        answer(found), "a", "τ is up to about 0.1", "Beyond that, b gets the best score", "-0.2 to 0.2"
    )


def test_a_change_below_independence(three):
    frank = (-0.4, 0.0, 0.4), {"a": [0.2, 0.1, 0.1], "b": [0.1, 0.2, 0.2]}
    joe = (0.0, 0.4), {"a": [0.1, 0.3], "b": [0.2, 0.2]}
    found = told(three, {"frank": frank, "joe": joe}, A_FIRST)
    assert says(answer(found), "a", "throughout", "-0.2 to 0.2")  # where both cross
    assert says(found.along, "τ of -0.2 or less, b", "τ of 0.2 or more, b")
    assert says(found.lost, "down to about τ = -0.2", "under Frank alone", "0.2", "under Joe alone")
    assert says(found.by, "imputation", "2", "-0.4", "0.4", "0", "Frank alone")
    without = told(three, {"frank": frank}, A_FIRST)
    assert says(without.lost, "-0.2", "under Frank")
    assert says(without.by, "1 family", "-0.4", "0.4")


def test_equals_share_first_places(three):
    line = (0.0, 0.4), {"a": [0.1, 0.3], "b": [0.2, 0.1], "twin": [0.1, 0.3]}
    found = told(three, {"frank": line}, {"a": 0.1, "b": 0.2, "twin": 0.1})
    assert says(answer(found), "a and twin", "τ is up to about 0.13", "Beyond that, b")
    assert says(found.support, "a and twin", "0.1000", "0.2000 for b")
    always = told(
        three, {"frank": ((0.0, 0.4), {"a": [0.1, 0.1], "twin": [0.1, 0.1]})}, {"a": 0.1, "twin": 0.1}
    )
    assert says(always.along, "every dependence")


def test_equals_that_part(three):
    line = (0.0, 0.4, 0.8), {"a": [0.1, 0.1, 0.1], "b": [0.1, 0.1, 0.2]}
    found = told(three, {"frank": line}, {"a": 0.1, "b": 0.1})
    assert says(answer(found), "a and b", "throughout", "τ of 0.4 or more, a")


def test_another_answer_at_independence_by_the_adjustment_of_the_grid(three):
    line = (0.0, 0.4), {"a": [0.20, 0.20], "b": [0.11, 0.14]}
    found = told(three, {"frank": line, "joe": line}, A_FIRST)
    assert says(answer(found), "a", "sensitivity analysis", "another answer")


def test_a_grid_without_independence_starts_where_it_does(three):
    later = {"a": [0.1, 0.25], "b": [0.3, 0.15]}
    found = told(three, {"frank": ((0.3, 0.6), later)}, {"a": 0.2, "b": 0.1})
    assert says(
        answer(found), "At Kendall’s τ = 0.3, a has the best score", "was not tried", "τ of 0.5 or more, b"
    )


def test_the_ends_of_an_answer_are_in_order_on_ragged_grids(three):
    frank = (-0.4, -0.2, 0.4), {"a": [0.3, 0.1, 0.1], "b": [0.1, 0.1, 0.1]}
    joe = (0.2, 0.4), {"a": [0.1, 0.3], "b": [0.1, 0.1]}
    found = told(three, {"frank": frank, "joe": joe}, {"a": 0.1, "b": 0.1})
    assert says(found.lost, "-0.2", "0.2")
    parted = (-0.4, 0.0, 0.4), {"a": [0.1, 0.1, 0.1], "b": [0.2, 0.1, 0.2]}
    found = told(three, {"frank": parted}, {"a": 0.1, "b": 0.1})
    assert says(answer(found), "a and b", "only at Kendall’s τ = 0")


def test_independence_alone_is_no_dependence(three):
    found = told(three, {"frank": ((0.0,), {"a": [0.1], "b": [0.2]})}, A_FIRST)
    assert says(answer(found), "a", "No dependence was tried")


def test_families_without_an_answer_are_named_and_not_counted(three):
    line = (0.0, 0.4), {"a": [0.1, 0.1], "b": [0.2, 0.2]}
    found = told(three, {"frank": line, "joe": line}, A_FIRST, families=("frank", "joe", "gaussian"))
    assert says(found.by, "imputation", "2", "Gaussian", "no answer", "0", "0.4")
    assert says(found.along, "every dependence", "answer")


def test_a_model_without_a_score_is_not_beaten(three):
    line = (0.0, 0.4, 0.8), {"a": [0.1, None, None], "b": [0.2, 0.2, 0.2]}
    found = told(three, {"frank": line}, {"a": 0.1})
    assert says(found.support, "integrated Brier score", "0.1000", "b has no score", "smaller")
    assert says(found.extent[-1], "a has no score", "2", "Frank")


def test_weights_given_covariates_assume_independence_given_them(split, cox):
    train, test = split
    models = {"a": cox(0, 1), "b": cox(0)}

    def lead(*names):
        samples = {"y_train": train.y, "x_train": train.X}
        found = cc.evaluate(models, test.y, test.X, **samples, adjustments=names, copula=None, metrics="ibs")
        return headline(Report(found, found.sensitivity("frank", [0.0]))).lead

    assert "about as fast as comparable subjects who stayed, " in lead("ipcw_cox", "cg_q")
    assert "about as fast as those who stayed, " in lead("ipcw", "ipcw_cox", "cg_q")


def test_one_model_is_not_told_of_differences(three):
    found = told(three, {"frank": ((0.0, 0.4), {"a": [0.1, 0.2]})}, {"a": 0.1})
    assert says(found.question, "How well", "a")
    assert says(found.lead, "about as fast", "of a is 0.1000")
    assert says(found.caution, "No intervals were asked for")
    assert "differences" not in found.caution


def test_an_adjustment_that_should_come_first_and_cannot_says_why(three):
    late = Note("no_score", values={"why": "it is late."}).on(adjustment="imputation")
    silent = replace(three.results["imputation"], values={"ibs": {}}, notes=(late,))
    again = replace(three.results["imputation"], name="again", label="again")
    made = replace(three, results=three.results | {"imputation": silent, "again": again})
    grid = three.sensitivity("frank", [0.0, 0.4])
    over = replace(grid.over_tau, evaluation=made, answers={"again": grid.over_tau.answers["imputation"]})
    found = headline(Report(made, replace(grid, evaluation=made, over_tau=over)))
    assert says(found.by, "imputation", "no score", "it is late", "again")


def test_without_a_sensitivity_analysis_it_says_what_it_can(three):
    found = headline(Report(three))
    assert "about as fast as comparable subjects who stayed, " in found.lead
    assert "sensitivity()" in found.by
    assert "suggest_copula()" in found.hint
    assert found.extent == ()
    assert three.results["imputation"].adjustment.assumption in found.rests_on
    usual = headline(Report(replace(three, results={"ipcw": three.results["ipcw"]})))
    assert "about as fast as those who stayed, " in usual.lead
    assert three.results["ipcw"].adjustment.assumption in usual.rests_on


def test_at_a_given_copula_the_answer_is_that_of_the_copula(split, cox):
    train, test = split
    models = {"a": cox(0, 1), "b": cox(0)}
    found = cc.evaluate(models, test.y, test.X, y_train=train.y, copula=cc.Frank.from_tau(0.3), metrics="ibs")
    [caution] = [note for note in found.notes if note.kind == "caution"]
    assert "Frank" in caution.text
    for grid in (None, found.sensitivity("frank", [0.0, 0.3, 0.6])):
        ratio = found.results["imputation"].hazard_ratio
        assert says(
            headline(Report(found, grid)).lead,
            f"{ratio:.1f} times as fast",
            "Kendall’s τ = 0.3, Frank copula",
        )


def test_the_usual_score_is_named_where_it_has_another_answer_or_another_value(three):
    line = (0.0, 0.4), {"a": [0.1, 0.1], "b": [0.2, 0.2]}
    unlike = told(three, {"frank": line}, A_FIRST, ipcw={"a": 0.2, "b": 0.1})
    assert says(unlike.usual, "IPCW", "the predictions and the covariates", "different answers")
    assert says(unlike.usual, "b has the best score", "for a", "0.2000 by IPCW and 0.1000 here")
    higher = told(three, {"frank": line}, A_FIRST, ipcw={"a": 0.15, "b": 0.3})
    assert says(higher.usual, "same answer", "for a", "0.1500 by IPCW and 0.1000 here")
    assert not told(three, {"frank": line}, A_FIRST).usual


def test_weights_given_covariates_are_not_said_to_leave_them_out(split, cox):
    train, test = split
    asked = {"y_train": train.y, "x_train": train.X, "metrics": "ibs"}
    weights = {
        name: cc.evaluate({"a": cox(0, 1)}, test.y, test.X, **asked, adjustments=[name, "imputation"])
        for name in ("ipcw", "ipcw_cox")
    }
    assert says(headline(Report(weights["ipcw"])).usual, "IPCW", "leaves out", "the covariates")
    assert headline(Report(weights["ipcw_cox"])).usual == ""


def test_a_hint_is_told_with_what_the_grid_says_there(three):
    hint = three.suggest_copula()
    hint = replace(hint, choice=replace(hint.choice, best=hint.choice.models["clayton"]))
    said = headline(Report(three, three.sensitivity("clayton", [0.0, 0.4]), hint=hint)).hint
    assert says(said, "independence", "nearest point", "Clayton")
    assert "predictions and any covariates" in said
    assert headline(Report(three, hint=hint)).hint in said


def test_without_a_copula_there_is_nothing_to_vary(split, cox):
    _, test = split
    curves = {"a": cox(0, 1), "b": cox(0)}
    truth = cc.evaluate(curves, test.y, adjustments={"truth": cc.Oracle(test.event_time)}, metrics="ibs")
    found = headline(Report(truth))
    assert "truth, " in found.lead
    assert "sensitivity()" not in found.by
    assert "rests on a copula" in found.by


class Reversed(cc.Metric):
    """Made-up scores of which greater is better."""

    name, label, direction, range = "ibs", "made-up score", "greater", (0.0, 1.0)

    def evaluate(self, status, predictions):
        raise NotImplementedError


def test_where_greater_is_better_the_greatest_is_best(three):
    greater = replace(three, data=replace(three.data, metrics=(Reversed(),)))
    line = (0.0, 0.4), {"a": [0.1, 0.3], "b": [0.2, 0.1], "twin": [0.15, 0.2]}
    found = told(greater, {"frank": line}, {"a": 0.1, "b": 0.2, "twin": 0.15})
    assert says(answer(found), "b", "τ")
    assert says(found.support, "0.2000", "0.1500 for twin", "greater is better")
    one = told(greater, {"frank": ((0.0,), {"a": [0.1]})}, {"a": 0.1})
    assert says(one.support, "greater is better")


def test_of_several_metrics_the_one_that_is_told_by_is_named(split, cox):
    train, test = split
    metrics = ["ibs", cc.metric("ils", floor=0.01)]
    models = {"a": cox(0, 1), "b": cox(0)}
    evaluation = cc.evaluate(models, test.y, y_train=train.y, metrics=metrics)
    found = headline(Report(evaluation, evaluation.sensitivity("frank", [0.0, 0.4])))
    assert says(found.support, "integrated Brier score", "a")
    assert says(found.by, "imputation", "integrated Brier score")


def test_a_metric_without_any_score_has_no_winner(three):
    silent = {name: replace(each, values={"ibs": {}}) for name, each in three.results.items()}
    kept = silent | {"ipcw": replace(silent["ipcw"], values={"ibs": {}, "other": {"a": MetricValue(1.0)}})}
    found = headline(Report(replace(three, results=kept)))
    assert "No model has a score" in found.lead
