"""What the first screen says, of scores made up for it."""

import re
from dataclasses import replace

import numpy as np
import pytest

import cocensor as cc
from cocensor.evaluation.question import Answer
from cocensor.report.headline import headline
from cocensor.report.words import ISOLATE, model_name
from cocensor.sensitivity import Sensitivity

A_FIRST = {"a": 0.1, "b": 0.2}


@pytest.fixture(scope="module")
def three(split, cox):
    """Three models by IPCW and given covariates."""
    train, test = split
    models = {"a": cox(0, 1), "b": cox(0), "twin": cox(0, 1)}
    names = ["ipcw", "given_covariates"]
    return cc.evaluate(models, train.y, test.y, train.X, test.X, adjustments=names, copula=cc.Frank(2.0))


def told(evaluation, grid, ipcw=None, families=None):
    """The headline by these scores: under IPCW by model (none if None), on the grid by family, τ and model."""
    models = list(grid[next(iter(grid))][1])
    scored = dict(evaluation.scored)
    if ipcw is None:
        del scored["ipcw"]
    else:
        scored["ipcw"] = replace(scored["ipcw"], scores={"ibs": ipcw})
    curves = {model: evaluation.question.curves[model] for model in models}
    made = replace(evaluation, scored=scored, question=replace(evaluation.question, curves=curves))
    answers = {
        family: {
            tau: Answer({}, {"ibs": {m: line[k] for m, line in by_model.items() if line[k] is not None}})
            for k, tau in enumerate(taus)
        }
        for family, (taus, by_model) in grid.items()
    }
    taus = tuple(sorted({tau for line, _ in grid.values() for tau in line}))
    found = headline(
        made, Sensitivity(made, families or tuple(grid), taus, {"given_covariates": answers}, {})
    )
    return replace(
        found, **{part: plain(getattr(found, part)) for part in ("lead", "support", "by", "reach", "caution")}
    )


def plain(text):
    if isinstance(text, tuple):
        return tuple(map(plain, text))
    return text.translate({ord(mark): None for mark in ISOLATE})


def test_where_the_answer_stops(three):
    line = (0.0, 0.4, 0.8), {"a": [0.10, 0.12, 0.20], "b": [0.11, 0.14, 0.18]}
    steep = (0.0, 0.4, 0.8), {"a": [0.10, 0.12, 0.20], "b": [0.11, 0.13, 0.17]}
    found = told(three, {"frank": line, "clayton": line, "joe": steep}, A_FIRST)
    assert found.lead == "If censoring is independent, a is best; from about τ = 0.50 on, another may be."
    assert (
        found.support
        == "By IPCW, the integrated Brier score is 0.1000; next is b with 0.2000. Smaller is better."
    )
    assert found.reach == (
        "a stays best from τ = 0 to about 0.60 under Frank and Clayton and 0.50 under Joe, where b takes over.",
        "a is best at 6 of the 9 points of the grid, b at 3.",
    )


def test_an_answer_that_holds_everywhere(three):
    line = (0.0, 0.4, 0.8), {"a": [0.10, 0.12, 0.16], "b": [0.11, 0.14, 0.18]}
    found = told(three, {"frank": line, "clayton": line}, A_FIRST)
    assert found.lead == "If censoring is independent, a is best, and at every dependence that was tried."
    assert found.reach[0] == (
        "a stays best from τ = 0 to 0.8, as far as was tried, under every family tried: Frank and Clayton."
    )


def test_a_model_that_comes_back_is_said_to(three):
    line = (0.0, 0.2, 0.4, 0.6), {"a": [0.1, 0.2, 0.2, 0.1], "b": [0.2, 0.1, 0.1, 0.2]}
    found = told(three, {"clayton": line}, A_FIRST)
    assert found.lead == "If censoring is independent, a is best; from about τ = 0.10 on, another may be."
    assert found.reach[0] == (
        "a stays best from τ = 0 to about 0.10 under Clayton, where b takes over; at about τ = 0.50 under Clayton, "
        "a returns."
    )


def test_a_change_below_independence(three):
    frank = (-0.4, 0.0, 0.4), {"a": [0.2, 0.1, 0.1], "b": [0.1, 0.2, 0.2]}
    joe = (0.0, 0.4), {"a": [0.1, 0.3], "b": [0.2, 0.2]}
    found = told(three, {"frank": frank, "joe": joe}, A_FIRST)
    assert (
        found.lead == "If censoring is independent, a is best; outside of τ = -0.20 to 0.20, another may be."
    )
    assert (
        found.by
        == "By “given covariates”, over 2 families and τ from -0.4 to 0.4 (below 0 under Frank alone):"
    )
    assert found.reach[0] == "b stays best from τ = -0.4 to about -0.20 under Frank, where a takes over."
    without = told(three, {"frank": frank}, A_FIRST)
    assert without.lead == "If censoring is independent, a is best; below about τ = -0.20, another may be."
    assert without.by.endswith("over 1 family and τ from -0.4 to 0.4:")


def test_equals_share_first_places(three):
    line = (0.0, 0.4), {"a": [0.1, 0.3], "b": [0.2, 0.1], "twin": [0.1, 0.3]}
    found = told(three, {"frank": line}, {"a": 0.1, "b": 0.2, "twin": 0.1})
    assert found.lead == (
        "If censoring is independent, a and twin are equally good and best; from about τ = 0.13 on, "
        "that may change."
    )
    assert "is 0.1000 for each; next is b with 0.2000." in found.support
    assert found.reach == (
        "a and twin stay equally good and best from τ = 0 to about 0.13 under Frank, where b takes over.",
        "a and twin are equally good and best at 1 of the 2 points of the grid, b at 1.",
    )
    always = told(
        three, {"frank": ((0.0, 0.4), {"a": [0.1, 0.1], "twin": [0.1, 0.1]})}, {"a": 0.1, "twin": 0.1}
    )
    assert always.lead.endswith("are equally good and best, and at every dependence that was tried.")
    assert always.reach == (
        "a and twin stay equally good and best from τ = 0 to 0.4, as far as was tried, under Frank.",
        "a and twin are equally good and best at 2 of the 2 points of the grid.",
    )


def test_equals_that_part(three):
    line = (0.0, 0.4, 0.8), {"a": [0.1, 0.1, 0.1], "b": [0.1, 0.1, 0.2]}
    found = told(three, {"frank": line}, {"a": 0.1, "b": 0.1})
    assert found.lead.endswith("are equally good and best; from about τ = 0.40 on, that may change.")
    assert found.reach[-1] == "a and b are equally good and best at 2 of the 3 points of the grid, a at 1."


def test_another_answer_at_independence_by_the_adjustment_of_the_grid(three):
    line = (0.0, 0.4), {"a": [0.20, 0.20], "b": [0.11, 0.14]}
    found = told(three, {"frank": line, "joe": line}, A_FIRST)
    assert found.lead == "If censoring is independent, a is best, under one adjustment and not another."
    assert found.reach[0] == "This is not the same answer: already at τ = 0 it is b that is best."


def test_a_grid_without_independence_contradicts_no_score_there(three):
    frank = (0.3,), {"a": [0.2], "b": [0.1]}
    joe = (0.3,), {"a": [0.1], "b": [0.2]}
    found = told(three, {"joe": joe, "frank": frank}, A_FIRST)
    assert found.lead == "If censoring is independent, a is best; from about τ = 0.30 on, another may be."
    assert found.reach[:2] == ("a is best at τ = 0.3 under Joe.", "b is best at τ = 0.3 under Frank.")
    alone = told(three, {"joe": joe, "frank": frank})
    assert alone.lead == "At τ = 0.3 under Joe, a is best, but not under Frank."
    assert told(three, {"joe": joe}).lead == "At τ = 0.3 under Joe, a is best; no other dependence was tried."


def test_an_answer_that_is_lost_both_ways_from_a_grid_without_independence(three):
    lost = {"a": [0.3, 0.3], "b": [0.1, 0.2], "twin": [0.2, 0.1]}
    found = told(three, {"frank": ((-0.3, 0.3), lost)}, {"a": 0.1, "b": 0.2, "twin": 0.2})
    assert found.lead.endswith("a is best; outside of τ = -0.30 to 0.30, another may be.")
    above = {"a": [0.1, 0.4], "b": [0.2, 0.2]}  # crosses at -0.1, where IPCW would object
    later = {"a": [0.1, 0.25], "b": [0.3, 0.15]}
    assert "; from about τ = 0.30 on, " in told(three, {"frank": ((-0.3, 0.3), above)}, A_FIRST).lead
    assert "; from about τ = 0.10 on, " in told(three, {"frank": ((-0.3, 0.3), later)}, A_FIRST).lead


def test_the_ends_of_an_answer_are_in_order_on_ragged_grids(three):
    frank = (-0.4, -0.2, 0.4), {"a": [0.3, 0.1, 0.1], "b": [0.1, 0.1, 0.1]}
    joe = (0.2, 0.4), {"a": [0.1, 0.3], "b": [0.1, 0.1]}
    found = told(three, {"frank": frank, "joe": joe}, A_FIRST)
    assert found.lead.endswith("a is best; outside of τ = -0.20 to 0.20, another may be.")
    parted = (-0.4, 0.0, 0.4), {"a": [0.1, 0.1, 0.1], "b": [0.2, 0.1, 0.2]}
    found = told(three, {"frank": parted}, {"a": 0.1, "b": 0.1})
    assert found.lead.endswith("are equally good and best; away from τ = 0.00, that may change.")


def test_independence_alone_is_no_dependence(three):
    found = told(three, {"frank": ((0.0,), {"a": [0.1], "b": [0.2]})}, A_FIRST)
    assert found.lead == "If censoring is independent, a is best; no dependence was tried."


def test_families_without_an_answer_are_named_and_not_counted(three):
    line = (0.0, 0.4), {"a": [0.1, 0.1], "b": [0.2, 0.2]}
    found = told(three, {"frank": line, "joe": line}, A_FIRST, families=("frank", "joe", "gaussian"))
    assert found.by == "By “given covariates”, over 2 families (Gaussian has no answer) and τ from 0 to 0.4:"
    assert "under every family with an answer: Frank and Joe." in found.reach[0]
    assert found.lead.endswith("a is best, and at every dependence that has an answer.")


def test_a_model_without_a_score_is_not_beaten(three):
    line = (0.0, 0.4, 0.8), {"a": [0.1, None, None], "b": [0.2, 0.2, 0.2]}
    found = told(three, {"frank": line}, {"a": 0.1})
    assert (
        found.support == "By IPCW, the integrated Brier score is 0.1000; b has no score. Smaller is better."
    )
    assert found.reach[-1] == (
        "a has no score at 2 of these points, under Frank: there it is left out, not beaten."
    )


def test_weights_given_covariates_assume_independence_given_them(split, cox):
    train, test = split
    models = {"a": cox(0, 1), "b": cox(0)}

    def lead(*names):
        found = cc.evaluate(models, train.y, test.y, train.X, test.X, adjustments=names, copula=None)
        return headline(found, found.sensitivity("frank", [0.0])).lead

    assert lead("ipcw_cox", "cg_q").startswith("If censoring is independent given the covariates, ")
    assert lead("ipcw_cox", "ipcw", "cg_q").startswith("If censoring is independent, ")


def test_one_model_is_not_told_of_differences(three):
    found = told(three, {"frank": ((0.0, 0.4), {"a": [0.1, 0.2]})}, {"a": 0.1})
    assert found.lead == "There is one model, a, and nothing to rank."
    assert found.caution == "Sampling intervals are not given yet: another sample would give another score."


@pytest.mark.parametrize(
    ("train_events", "test_events", "said"),
    [
        (20, 20, "may be within chance."),
        (20, 9, "The test sample has 9 events: its scores tell next to nothing."),
        (20, 0, "The test sample has no event: its scores tell next to nothing."),
        (0, 20, "The training sample has no event: there is little to adjust by."),
    ],
)
def test_few_events_are_a_caution(three, train_events, test_events, said):
    def outcomes(events):
        return cc.Survival(np.arange(1.0, 41.0), np.arange(40) < events)

    question = replace(three.question, y_train=outcomes(train_events), y_test=outcomes(test_events))
    made = replace(three, question=question)
    found = told(made, {"frank": ((0.0, 0.4), {"a": [0.1, 0.1], "b": [0.2, 0.2]})}, A_FIRST)
    assert found.caution.endswith(said)


def test_an_end_of_study_that_is_marked_need_not_be(split):
    train, test = split
    ended = ~train.y.event & (np.arange(len(train.y)) % 2 == 0)
    marked = cc.Survival(train.y.time, train.y.event, administrative=ended)
    curves = {"a": (np.array([0.0, 30.0]), np.tile([1.0, 0.1], (len(test.y), 1)))}
    for y, advised in ((train.y, True), (marked, False)):
        choice = cc.select_copula(None, y, families=["frank"], folds=2)
        found = cc.evaluate(curves, y, test.y, adjustments=["ipcw", "cg_q"], copula=choice)
        hint = headline(found, found.sensitivity("frank", [0.0])).hint
        assert "take it as a hint" in hint
        assert ("mark an end of study as administrative" in hint) == advised


def test_an_adjustment_that_should_come_first_and_cannot_says_why(three):
    silent = replace(three.scored["given_covariates"], scores={"ibs": {}}, notes=("No score: it is late.",))
    scored = three.scored | {"given_covariates": silent, "again": three.scored["given_covariates"]}
    made = replace(three, scored=scored)
    answers = three.sensitivity("frank", [0.0, 0.4]).answers["given_covariates"]
    found = headline(made, Sensitivity(made, ("frank",), (0.0, 0.4), {"again": answers}, {}))
    assert found.by.startswith("“given covariates” would come first, but has no score: it is late. By “")


def test_a_dependence_that_is_hardly_better_than_independence_is_not_called_preferred(
    evaluation, sensitivity
):
    choice = replace(evaluation.choice, best=evaluation.choice.models["clayton"])
    kept = replace(evaluation, choice=choice, copula=cc.Independence())
    hint = headline(kept, sensitivity).hint
    assert hint.startswith(
        "No dependence foretells held-out outcomes clearly better than independence (5-fold"
    )


def test_the_ranking_isolates_names_of_any_script(three):
    scored = {
        name: replace(three.scored[name], scores={"ibs": scores})
        for name, scores in (("ipcw", {"א": 0.1, "ב": 0.1}), ("given_covariates", {"א": 0.2, "ב": 0.1}))
    }
    assert replace(three, scored=scored).winners_in_words(called=model_name) == (
        "The best model depends on what is assumed about the censoring: \u2068א\u2069 and \u2068ב\u2069 are equally "
        "good and best under IPCW; \u2068ב\u2069 is best under given covariates."
    )


@pytest.mark.parametrize("mark", "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
def test_no_name_ends_its_own_isolation(mark):
    assert model_name(f"a{mark}b{mark}") == "\u2068ab\u2069"


def test_of_several_metrics_the_one_that_is_told_by_is_named(evaluation, sensitivity):
    found = headline(evaluation, sensitivity)
    assert re.search(r" (is|are equally good and) best by the integrated Brier score[;,]", found.lead)
    assert found.by.startswith("By “given covariates” and the integrated Brier score, over ")
    assert "With it, by “given covariates” and the integrated Brier score, " in found.hint
