"""What the first screen and the terminal say beside the verdict: scores, the usual score, cautions and small print."""

from dataclasses import replace

import numpy as np
import pytest

import cocensor as cc
from cocensor._notes import Note
from cocensor.metrics import MetricValue
from cocensor.study.report import Report
from cocensor.views.text.headline import headline
from tests.views.text.made_up import made, says, told

ERROR = 0.01
A_FIRST = {"a": 0.1, "b": 0.2}


def flat(scores):
    """A grid of one family over which nothing moves."""
    return {"frank": ((0.0, 0.4), {model: [score] * 2 for model, score in scores.items()})}


def test_a_model_without_a_score_is_not_beaten(three):
    line = (0.0, 0.4, 0.8), {"a": [0.1, None, None], "b": [0.2, 0.2, 0.2]}
    found = told(three, {"frank": line}, {"a": 0.1})
    assert says(found.support, "integrated Brier score", "0.1000", "b has no score", "lower")
    assert says(found.extent[-1], "a has no score", "2", "Frank")


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
    changed = replace(three, results=three.results | {"imputation": silent, "again": again})
    grid = three.sensitivity("frank", [0.0, 0.4])
    over = replace(grid.over_tau, evaluation=changed, answers={"again": grid.over_tau.answers["imputation"]})
    found = headline(Report(changed, replace(grid, evaluation=changed, over_tau=over)))
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


def test_weights_given_covariates_are_not_said_to_leave_them_out(split, cox):
    train, test = split
    asked = {"y_train": train.y, "x_train": train.X, "metrics": "ibs"}
    weights = {
        name: cc.evaluate({"a": cox(0, 1)}, test.y, test.X, **asked, adjustments=[name, "imputation"])
        for name in ("ipcw", "ipcw_cox")
    }
    assert says(headline(Report(weights["ipcw"])).usual, "IPCW", "leaves out", "the covariates")
    assert headline(Report(weights["ipcw_cox"])).usual == ""


def test_a_hint_is_told_beside_the_copula_of_the_table(three):
    hint = three.suggest_copula()
    said = headline(Report(three, hint=hint)).hint
    assumed = "Event and dropout are assumed independent given the predictions and any covariates."
    assert said == f"{assumed} {hint.statement}"
    assert "predictions and any covariates" in said


def test_without_a_copula_there_is_nothing_to_vary(split, cox):
    _, test = split
    curves = {"a": cox(0, 1), "b": cox(0)}
    truth = cc.evaluate(curves, test.y, adjustments={"truth": cc.Oracle(test.event_time)}, metrics="ibs")
    found = headline(Report(truth))
    assert "truth, " in found.lead
    assert "sensitivity()" not in found.by
    assert "rests on a copula" in found.by


class Reversed(cc.metrics.Metric):
    """Made-up scores of which higher is better."""

    name, label, direction, range = "ibs", "made-up score", "higher", (0.0, 1.0)

    def evaluate(self, status, predictions):
        raise NotImplementedError


def test_a_metric_without_any_score_has_no_winner(three):
    silent = {name: replace(each, values={"ibs": {}}) for name, each in three.results.items()}
    kept = silent | {"ipcw": replace(silent["ipcw"], values={"ibs": {}, "other": {"a": MetricValue(1.0)}})}
    found = headline(Report(replace(three, results=kept)))
    assert "No model has a score" in found.lead


def test_scores_have_the_digits_that_their_errors_deserve(three):
    found = told(three, flat(A_FIRST), A_FIRST, error=ERROR)
    assert says(
        found.support,
        "of a is 0.100, against 0.200 for b",
        "difference of 0.100 (95 % interval 0.072 to 0.128)",
    )
    tiny = {"a": 0.00001, "b": 0.00002}
    found = told(three, flat(tiny), tiny, error=1e-6)
    assert says(found.support, "0.0000100", "0.0000200")
    without = told(three, flat(tiny), tiny)
    assert says(without.support, "1e-05", "2e-05")


def test_equals_share_the_score_that_is_told(three):
    scores = {"a": 0.1, "b": 0.2, "twin": 0.1}
    found = told(three, flat(scores), scores, error=ERROR)
    assert says(found.support, "of a and twin is 0.100, against 0.200 for b")


@pytest.mark.parametrize(
    ("ours", "ipcw", "said"),
    [
        (
            {"a": 0.1, "b": 0.2},
            {"a": 0.2, "b": 0.1},
            ["different answers", "b predicts better than a", "0.200"],
        ),
        (
            {"a": 0.1, "b": 0.2},
            {"a": 0.11, "b": 0.1},
            ["different answers", "cannot tell a and b apart", "0.110"],
        ),
        ({"a": 0.1, "b": 0.2}, {"a": 0.12, "b": 0.2}, ["same answer", "0.120 by IPCW and 0.100 here"]),
        ({"a": 0.1, "b": 0.2}, {"a": 0.1, "b": 0.2}, None),
    ],
)
def test_the_usual_weights_are_named_where_they_can_tell_another_or_cannot_tell(three, ours, ipcw, said):
    usual = told(three, flat(ours), ours, ipcw=ipcw, error=ERROR).usual
    assert says(usual, "IPCW", *said) if said else not usual


def test_the_small_print_says_which_intervals_are_from_a_bootstrap(three):
    """Scores drawn again may be a tie where the formulas of the grid tell a winner."""
    evaluation = cc.evaluate(three.data.predictions, three.data.samples.y_test, n_resamples=4, metrics="ibs")
    grid = evaluation.sensitivity("frank", [0.0, 0.3])
    assert all(
        each.resampling is None for each in grid.over_tau.answers[grid.over_tau.primary]["frank"].values()
    )
    assert says(headline(Report(evaluation, grid)).intervals, "4 bootstrap samples", "formulas")
    assert "bootstrap" not in headline(Report(three)).intervals


def test_what_intervals_take_for_given_is_small_print_and_no_caution(three):
    found = told(three, flat(A_FIRST), A_FIRST, error=ERROR)
    assert says(found.intervals, "95 %", "trained", "dependence")
    assert not found.caution


def test_the_tables_of_terminal_and_notebook_show_errors_and_who_is_not_told_from_the_best(three):
    scores = {"a": 0.1, "b": 0.11, "c": 0.2}
    evaluation, _ = made(three, flat(scores), scores, error=ERROR)
    for text in (repr(evaluation), evaluation._repr_html_()):
        for cell in ("0.100 ±0.020*", "0.110 ±0.020*", "0.200 ±0.020 "):
            assert cell in text
        assert "95 %" in text
    without, _ = made(three, flat(scores), scores)
    assert "0.1000*" in repr(without)
    assert "0.1100 " in repr(without)
    assert "±" not in repr(without)


def test_a_table_of_three_adjustments_is_narrow(three):
    scores = {"a": 0.1, "b": 0.11, "c": 0.2}
    evaluation, _ = made(three, flat(scores), scores, error=0.001)
    third = replace(evaluation.results["ipcw"], name="other", label="other")
    wide = replace(evaluation, results=evaluation.results | {"other": third})
    table = repr(replace(wide, checks=())).split("\n\n")[1]
    assert "±0.0020" in table
    assert max(map(len, table.splitlines())) <= 100


def test_a_lost_interval_is_a_caution_with_its_reason(three):
    scores, error = {"a": 0.1, "b": 0.2, "c": 0.3}, {"a": ERROR, "b": ERROR, "c": np.nan}
    found = told(three, flat(scores), scores, error=error)
    assert found.caution == "By imputation, there is no interval of c: nobody knows."


def test_of_several_metrics_the_one_that_is_told_by_is_named(split, cox):
    train, test = split
    models, metrics = {"a": cox(0, 1), "b": cox(0)}, ["ibs", cc.metric("ils", floor=0.01)]
    evaluation = cc.evaluate(models, test.y, y_train=train.y, metrics=metrics)
    found = headline(Report(evaluation, evaluation.sensitivity("frank", [0.0, 0.4])))
    assert says(found.support, "integrated Brier score", "a")
    assert says(found.by, "imputation and the integrated Brier score")


def test_where_higher_is_better_the_difference_is_that_of_the_best(three):
    greater = replace(three, data=replace(three.data, metrics=(Reversed(),)))
    found = told(greater, flat(A_FIRST), A_FIRST, error=ERROR)
    assert says(
        found.support, "of b is 0.200, against 0.100 for a: a difference of 0.100", "Higher is better"
    )
    assert says(told(greater, flat({"a": 0.1}), {"a": 0.1}).support, "Higher is better")
