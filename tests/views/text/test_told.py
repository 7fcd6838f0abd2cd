"""What is said where there are intervals, of scores made up for it: a winner only where the data can tell.

The standard error of each score is 0.01 unless said otherwise, so that two models are told apart, each pair by its own
interval, where they differ by more than 1.96 √2 0.01 = 0.0277.
"""

import re
from dataclasses import replace

import numpy as np
import pytest

import cocensor as cc
from cocensor.study.report import Report
from cocensor.views.text import headline, winners_in_words
from tests.views.text.made_up import answer, made, plain, says, told

ERROR = 0.01
TAUS = (0.0, 0.4, 0.8)


def constant(scores, taus=TAUS):
    """A grid of one family over which nothing moves."""
    return {"frank": (taus, {model: [score] * len(taus) for model, score in scores.items()})}


def along(taus=TAUS, family="frank", **lines):
    return {family: (taus, lines)}


@pytest.mark.parametrize(
    ("scores", "facts", "never"),
    [
        ({"a": 0.1, "b": 0.2}, ["a beats b"], "apart"),
        ({"a": 0.1, "b": 0.2, "c": 0.3}, ["a is best"], "apart"),
        ({"a": 0.1, "b": 0.11}, ["cannot tell a and b apart"], "b be"),
        ({"a": 0.1, "b": 0.11, "c": 0.2}, ["cannot tell a and b apart", "both beat c"], "is best"),
        ({"a": 0.1, "b": 0.11, "c": 0.12}, ["cannot tell the 3 models apart"], "beat"),
        # By 1.77 standard errors, which a one-sided test would tell: the interval of the difference holds 0.
        ({"a": 0.1, "b": 0.125}, ["cannot tell a and b apart"], "beat"),
        ({"a": 0.1, "b": 0.125, "c": 0.2}, ["cannot tell a and b apart", "both beat c"], "is best"),
        # c is told from a alone.
        (
            {"a": 0.1, "b": 0.12, "c": 0.14},
            ["cannot tell a and b apart", "c is not best", "some of them"],
            "beat",
        ),
        # Each differs from a by two standard errors: a is told from all of them, whatever their number.
        ({"a": 0.1, "b": 0.1283, "c": 0.1283, "d": 0.1283}, ["a is best"], "apart"),
        # Of many that may be best the first is named, and the others are counted.
        (
            {"a": 0.1, "b": 0.11, "c": 0.11, "d": 0.11, "e": 0.11, "f": 0.2},
            ["a has the best score", "4 others may be as good", "1 is not"],
            "beat",
        ),
        ({"a": 0.1, "twin": 0.1}, ["a and twin are equally good"], "apart"),
        ({"a": 0.1, "twin": 0.1, "b": 0.2}, ["a and twin are equally good", "both beat b"], "apart"),
        ({"a": 0.1, "twin": 0.1, "b": 0.11}, ["cannot tell the 3 models apart"], "equally"),
    ],
)
def test_who_is_best_as_far_as_the_data_tell(three, scores, facts, never):
    evaluation, grid = made(three, constant(scores), scores, error=ERROR)
    text = winners_in_words(evaluation)
    assert says(text, *facts)
    assert never not in text
    spelled = {"beats": "predicts better than", "beat": "predict better than", "is best": "predicts best"}
    for short, long in spelled.items():
        facts = [re.sub(rf"\b{short}\b", long, fact) for fact in facts]
    for text in (plain(headline(Report(evaluation, grid)).lead), grid.statement):
        assert says(text, "about as fast as comparable subjects who stayed", *facts)
        assert spelled.get(never, never) not in text.split(".")[0]


def test_a_model_that_alone_has_a_score_is_not_the_best(three):
    found = told(three, constant({"a": 0.1, "b": None}), {"a": 0.1, "b": None}, error=ERROR)
    assert says(found.lead, "only a has a score")
    assert "best" not in found.lead
    assert says(found.support, "b has no score")


@pytest.mark.parametrize(
    ("error", "facts", "never"),
    [
        ({"a": ERROR, "b": ERROR, "c": np.nan}, ["a beats b", "c has no interval"], "is best"),
        ({"a": ERROR, "b": np.nan, "c": np.nan}, ["a has the best score", "no intervals"], "beat"),
        (np.nan, ["a has the best score", "no intervals"], "beat"),
    ],
)
def test_nothing_is_told_from_a_model_without_an_interval(three, error, facts, never):
    scores = {"a": 0.1, "b": 0.2, "c": 0.3}
    found = told(three, constant(scores), scores, error=error)
    assert says(found.lead, *[fact.replace("beats", "predicts better than") for fact in facts])
    assert never not in found.lead
    assert says(found.caution, "imputation", "no interval", "c", "nobody knows")
    assert ".." not in found.caution
    evaluation, _ = made(three, constant(scores), scores, error=error)
    assert says(winners_in_words(evaluation), *facts)


def test_a_coin_has_no_interval_of_its_own_but_can_be_told_from(three):
    """Every subject has the same loss, a quarter; differences have the error of the other model."""
    scores = {"a": 0.1, "b": 0.25}
    evaluation, grid = made(three, constant(scores), scores, error={"a": ERROR, "b": 0.0})
    assert np.isnan(evaluation.score("b").standard_error)
    assert says(winners_in_words(evaluation), "a beats b")
    assert says(grid.statement, "a predicts better than b")


# --- how far it holds over τ ----------------------------------------------------------------------------------

A_FIRST = {"a": 0.1, "b": 0.2}
STAYS, LOST = [0.1, 0.1, 0.1], [0.2, 0.14, 0.1]  # the interval reaches 0 at τ = 0.523


def test_a_lead_holds_up_to_where_the_interval_of_any_family_reaches_0(three):
    frank = along(a=STAYS, b=LOST)
    found = told(three, frank, A_FIRST, error=ERROR)
    assert says(answer(found), "a predicts better than b", "throughout the plausible range")
    assert says(found.along, "τ of 0.52 or more, the data cannot tell a and b apart")
    assert says(found.lost, "τ = 0.52", "under Frank")
    later = along(family="joe", a=STAYS, b=[0.2, 0.2, 0.1])
    assert says(told(three, frank | later, A_FIRST, error=ERROR).lost, "τ = 0.52", "under Frank first")
    sooner = along(family="joe", a=STAYS, b=[0.2, 0.1, 0.1])  # at 0.289
    assert says(told(three, frank | sooner, A_FIRST, error=ERROR).lost, "τ = 0.28", "under Joe first")
    everywhere = told(three, constant(A_FIRST), A_FIRST, error=ERROR)
    assert says(answer(everywhere), "a predicts better than b", "throughout", "every dependence")
    _, grid = made(three, frank, A_FIRST, error=ERROR)
    assert says(
        grid.statement, "imputation", "about as fast", "a predicts better than b", "τ of 0.52 or more"
    )


def test_the_least_lead_is_told_first_and_longer_ones_after_it(three):
    scores = {"a": 0.1, "b": 0.11, "c": 0.2, "d": 0.2}
    found = told(three, along(a=STAYS, b=[0.11] * 3, c=[0.2] * 3, d=LOST), scores, error=ERROR)
    assert says(answer(found), "cannot tell a and b apart", "both predict better than c and d", "throughout")
    assert says(found.along, "τ of 0.42 or more, the data cannot tell b and d apart")


def test_below_independence_too(three):
    taus = (-0.4, 0.0, 0.4)
    both = told(three, along(taus, a=[0.1] * 3, b=[0.1, 0.2, 0.1]), A_FIRST, error=ERROR)  # at ±0.289
    assert says(both.along, "τ of -0.28 or less", "a and b apart", "τ of 0.28 or more", "a and b apart")
    below = told(three, along(taus, a=[0.1] * 3, b=[0.1, 0.2, 0.2]), A_FIRST, error=ERROR)
    assert says(below.along, "τ of -0.28 or less", "a and b apart")
    assert "or more" not in below.along


@pytest.mark.parametrize(
    ("taus", "start", "end"), [((0.3, 0.6, 0.9), "0.3", "0.57"), ((-0.9, -0.6, -0.3), "-0.3", "-0.57")]
)
def test_nothing_is_claimed_between_0_and_a_grid_that_does_not_reach_it(three, taus, start, end):
    worse = sorted([0.2, 0.12, 0.1], reverse=taus[0] > 0)
    grid = made(three, along(taus, a=[0.1] * 3, b=worse), {"a": 0.1, "b": 0.2}, error=ERROR)[1]
    more = "more" if taus[0] > 0 else "less"
    assert says(
        grid.statement,
        f"At Kendall’s τ = {start}",
        "a predicts better than b",
        "was not tried",
        f"τ of {end} or {more}",
    )


def test_a_missing_interval_ends_a_lead_without_a_claim(three):
    found = told(three, along(a=STAYS, b=[0.2, 0.2, None]), A_FIRST, error=ERROR)
    assert says(found.along, "up to τ = 0.4", "missing")
    inside = told(three, along(a=STAYS, b=[0.2, 0.2, None]), A_FIRST, error=ERROR, plausible=(0, 0.6))
    assert says(answer(inside), "a predicts better than b", "as long as", "up to about 0.4", "missing")
    assert says(found.extent[-1], "b has no score at 1")


def test_families_without_an_answer_are_not_claimed(three):
    found = told(three, constant(A_FIRST), A_FIRST, families=("frank", "joe"), error=ERROR)
    assert says(found.along, "every dependence that has an answer")
    alone = told(three, constant(A_FIRST, (0.0,)), A_FIRST, error=ERROR)
    assert says(answer(alone), "a predicts better than b", "No dependence was tried")


def test_a_turn_of_which_nothing_is_known_is_not_told(three):
    found = told(three, along(a=[0.1] * 3, b=[0.11, 0.1, 0.09]), {"a": 0.1, "b": 0.11}, error=ERROR)
    assert says(answer(found), "cannot tell a and b apart", "throughout", "every dependence that was tried")
    assert "may be better" not in found.along


def test_a_reversal_is_told_where_every_interval_from_there_on_leaves_out_0(three):
    far = told(three, along(a=[0.1, 0.1, 0.2], b=[0.2, 0.12, 0.1]), A_FIRST, error=ERROR)
    assert says(far.along, "τ of 0.36 or more", "a and b apart", "τ of 0.47 or more, b may be better")
    assert says(far.along, "b may be better", "at a τ of 0.8 or more, it is")
    # By 0.03: more than the interval reaches, 0.0277, and less than a band for the whole curve, 0.034.
    near = told(three, along(a=[0.1, 0.1, 0.13], b=[0.2, 0.12, 0.1]), A_FIRST, error=ERROR)
    assert says(near.along, "b may be better", "at a τ of 0.8 or more, it is")
    less = told(three, along(a=[0.1, 0.1, 0.127], b=[0.2, 0.12, 0.1]), A_FIRST, error=ERROR)
    assert says(less.along, "b may be better")
    assert "it is" not in less.along
    on = told(three, along(a=[0.1, 0.2, 0.2], b=[0.2, 0.1, 0.1]), A_FIRST, error=ERROR)
    assert says(on.along, "at a τ of 0.4 or more, it is")
    other = along(family="joe", a=STAYS, b=[0.2] * 3)
    some = told(three, along(a=[0.1, 0.2, 0.2], b=[0.2, 0.1, 0.1]) | other, A_FIRST, error=ERROR)
    assert says(some.along, "b may be better")
    assert "it is" not in some.along


def test_a_tie_that_ends_is_said_to(three):
    found = told(three, along(a=STAYS, b=[0.11, 0.11, 0.2]), {"a": 0.1, "b": 0.11}, error=ERROR)
    assert says(
        answer(found), "cannot tell a and b apart", "throughout", "At τ = 0.8, a predicts better than b"
    )


def test_equals_that_stay_and_that_part(three):
    same = {"a": 0.1, "twin": 0.1}
    stay = told(three, along(a=STAYS, twin=STAYS), same, error=ERROR)
    assert says(answer(stay), "equally good", "every dependence")
    part = told(three, along(a=STAYS, twin=[0.1, 0.1, 0.2]), same, error=ERROR)
    assert "every dependence" not in answer(part)


def test_where_greater_is_better_the_greatest_wins(three):
    class Reversed(type(three.data.metrics[0])):
        direction = "greater"

    greater = replace(three, data=replace(three.data, metrics=(Reversed(),)))
    found = told(greater, along(a=[0.2, 0.2, 0.1], b=[0.1, 0.18, 0.2]), {"a": 0.2, "b": 0.1}, error=ERROR)
    assert says(answer(found), "a predicts better than b", "throughout", "τ of 0.36 or more")
    assert says(found.along, "b may be better", "τ of 0.8 or more, it is")
    assert says(
        found.support, "of a is 0.200, against 0.100 for b", "difference of 0.100", "greater is better"
    )
    evaluation, _ = made(greater, constant(A_FIRST), {"a": 0.2, "b": 0.1}, error=ERROR)
    ranks = evaluation.table("ranks", adjustment="imputation")
    assert ranks[["lowest", "highest"]].values.tolist() == [[1, 1], [2, 2]]


def test_a_given_copula_is_the_start_and_the_grid_still_goes_outward_from_0(split, cox):
    train, test = split
    models = {"a": cox(0, 1, 2), "b": cox(0)}
    given = cc.evaluate(models, test.y, test.X, y_train=train.y, copula=cc.Frank.from_tau(0.3), metrics="ibs")
    found = made(given, along(a=STAYS, b=[0.11, 0.2, 0.2]), A_FIRST, error=ERROR)
    assert says(
        plain(answer(headline(Report(*found)))), "τ = 0.3", "a predicts better than b", "not so", "at τ = 0."
    )
    found = made(given, along(a=STAYS, b=[0.2, 0.1, 0.1]), A_FIRST, error=ERROR)  # lost at 0.289
    said = plain(answer(headline(Report(*found))))
    assert says(said, "τ = 0.3", "a predicts better than b", "under every family throughout")


# --- scores, usual weights, one model ---------------------------------------------------------------------------


def test_scores_have_the_digits_that_their_errors_deserve(three):
    found = told(three, constant(A_FIRST), A_FIRST, error=ERROR)
    assert says(
        found.support,
        "of a is 0.100, against 0.200 for b",
        "difference of 0.100 (95 % interval 0.072 to 0.128)",
    )
    tiny = {"a": 0.00001, "b": 0.00002}
    found = told(three, constant(tiny), tiny, error=1e-6)
    assert says(found.support, "0.0000100", "0.0000200")
    without = told(three, constant(tiny), tiny)
    assert says(without.support, "1e-05", "2e-05")


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
    usual = told(three, constant(ours), ours, ipcw=ipcw, error=ERROR).usual
    assert says(usual, "IPCW", *said) if said else not usual


def test_adjustments_without_a_best_model_in_common_are_said_to_disagree(three):
    apart, _ = made(three, constant(A_FIRST), A_FIRST, ipcw={"a": 0.2, "b": 0.1}, error=ERROR)
    said = winners_in_words(apart)
    assert says(said, "Which model is best depends", "IPCW, b beats a", "imputation, a beats b")
    open_, _ = made(three, constant(A_FIRST), A_FIRST, ipcw={"a": 0.11, "b": 0.1}, error=ERROR)
    assert "depends" not in winners_in_words(open_)


def test_one_model_has_its_score_and_a_range_with_and_without_sampling_error(three):
    found = told(three, along(a=[0.1, 0.12, 0.15]), {"a": 0.1}, error=ERROR)
    assert says(found.lead, "of a is 0.100 (95 % interval 0.080 to 0.120)")
    _, grid = made(three, along(a=[0.1, 0.12, 0.15]), {"a": 0.1}, error=ERROR)
    span = grid.verdict.spans["grid"]
    assert (span.low, span.high) == (0.1, 0.15)
    assert (round(span.low_with_error, 4), round(span.high_with_error, 4)) == (0.0804, 0.1696)
    assert says(grid.statement, "0.1000 and 0.1100", "sampling error")


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
    found = told(three, constant(A_FIRST), A_FIRST, error=ERROR)
    assert says(found.intervals, "95 %", "trained", "dependence")
    assert not found.caution


# --- ranks and tables -------------------------------------------------------------------------------------------


def test_ranges_of_ranks_hold_what_the_data_leave_open(three):
    scores = {"a": 0.1, "b": 0.12, "c": 0.14, "d": None}
    evaluation, _ = made(three, constant(scores), scores, error=ERROR)
    ranks = evaluation.table("ranks", adjustment="imputation")
    assert ranks["rank"].tolist()[:3] == [1, 2, 3]
    assert ranks[["lowest", "highest"]].values.tolist()[:3] == [[1, 2], [1, 3], [2, 3]]
    without, _ = made(three, constant(scores), scores)
    assert without.table("ranks")["lowest"].isna().all()


def test_the_tables_of_terminal_and_notebook_show_errors_and_who_is_not_told_from_the_best(three):
    scores = {"a": 0.1, "b": 0.11, "c": 0.2}
    evaluation, _ = made(three, constant(scores), scores, error=ERROR)
    for text in (repr(evaluation), evaluation._repr_html_()):
        for cell in ("0.100 ±0.020*", "0.110 ±0.020*", "0.200 ±0.020 "):
            assert cell in text
        assert "95 %" in text
    without, _ = made(three, constant(scores), scores)
    assert "0.1000*" in repr(without)
    assert "0.1100 " in repr(without)
    assert "±" not in repr(without)


def test_a_table_of_three_adjustments_is_narrow(three):
    scores = {"a": 0.1, "b": 0.11, "c": 0.2}
    evaluation, _ = made(three, constant(scores), scores, error=0.001)
    third = replace(evaluation.results["ipcw"], name="other", label="other")
    wide = replace(evaluation, results=evaluation.results | {"other": third})
    table = repr(replace(wide, checks=())).split("\n\n")[1]
    assert "±0.0020" in table
    assert max(map(len, table.splitlines())) <= 100
