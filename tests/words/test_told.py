"""What is said where there are intervals, of scores made up for it: a winner only where the data can tell.

The standard error of each score is 0.01 unless said otherwise, so that two models are told apart, each pair by its own
interval, where they differ by more than 1.96 √2 0.01 = 0.0277.
"""

from dataclasses import replace

import numpy as np
import pytest

import cocensor as cc
from cocensor.words import headline, winners_in_words
from tests.words.made_up import made, plain, says, told

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
        ({"a": 0.1, "b": 0.11}, ["a and b cannot be told apart"], "b be"),
        ({"a": 0.1, "b": 0.11, "c": 0.2}, ["a and b cannot be told apart", "both beat c"], "is best"),
        ({"a": 0.1, "b": 0.11, "c": 0.12}, ["no model can be told from another"], "beat"),
        # Told to be worse by the one-sided test of being best, but not by the interval of the difference.
        ({"a": 0.1, "b": 0.125}, ["a is ahead of b", "holds 0"], "beat"),
        ({"a": 0.1, "b": 0.125, "c": 0.2}, ["a and b cannot be told apart", "both beat c"], "is best"),
        # c is told from a alone.
        ({"a": 0.1, "b": 0.12, "c": 0.14}, ["a and b cannot", "c is not best", "each of them"], "beat"),
        # Each differs from a by two standard errors: too little to be told from the best of four.
        (
            {"a": 0.1, "b": 0.1283, "c": 0.1283, "d": 0.1283},
            ["a, b, c and d may each be best", "a beats b"],
            "apart",
        ),
        ({"a": 0.1, "twin": 0.1}, ["a and twin are equally good"], "apart"),
        ({"a": 0.1, "twin": 0.1, "b": 0.2}, ["a and twin are equally good", "both beat b"], "apart"),
        ({"a": 0.1, "twin": 0.1, "b": 0.11}, ["no model can be told from another"], "equally"),
    ],
)
def test_who_is_best_as_far_as_the_data_tell(three, scores, facts, never):
    found = told(three, constant(scores), scores, error=ERROR)
    assert says(found.lead, "independent given the predictions and the covariates", *facts)
    assert never not in found.lead
    evaluation, grid = made(three, constant(scores), scores, error=ERROR)
    for text in (evaluation.ranking().statement, grid.statement, winners_in_words(evaluation)):
        assert says(text, *facts)
        assert never not in text


def test_a_model_that_alone_has_a_score_is_not_the_best(three):
    found = told(three, constant({"a": 0.1, "b": None}), {"a": 0.1, "b": None}, error=ERROR)
    assert says(found.lead, "only a has a score")
    assert "best" not in found.lead
    assert says(found.support, "b has no score")


@pytest.mark.parametrize(
    ("error", "facts", "never"),
    [
        ({"a": ERROR, "b": ERROR, "c": np.nan}, ["a beats b", "c has no interval"], "is best"),
        ({"a": ERROR, "b": np.nan, "c": np.nan}, ["a has the best score", "missing"], "beat"),
        (np.nan, ["a has the best score", "missing"], "beat"),
    ],
)
def test_nothing_is_told_from_a_model_without_an_interval(three, error, facts, never):
    scores = {"a": 0.1, "b": 0.2, "c": 0.3}
    found = told(three, constant(scores), scores, error=error)
    assert says(found.lead, *facts)
    assert never not in found.lead
    assert says(found.caution, "imputation", "no interval", "c", "nobody knows")
    assert ".." not in found.caution
    evaluation, _ = made(three, constant(scores), scores, error=error)
    assert says(evaluation.ranking().statement, *facts)


def test_a_coin_has_no_interval_of_its_own_but_can_be_told_from(three):
    """Every subject has the same loss, a quarter; differences have the error of the other model."""
    scores = {"a": 0.1, "b": 0.25}
    evaluation, grid = made(three, constant(scores), scores, error={"a": ERROR, "b": 0.0})
    assert np.isnan(evaluation.score("b").standard_error)
    for text in (evaluation.ranking().statement, grid.statement):
        assert says(text, "a beats b")


# --- how far it holds over τ ----------------------------------------------------------------------------------

A_FIRST = {"a": 0.1, "b": 0.2}
STAYS, LOST = [0.1, 0.1, 0.1], [0.2, 0.14, 0.1]  # the interval reaches 0 at τ = 0.523


def test_a_lead_holds_up_to_where_the_interval_of_any_family_reaches_0(three):
    frank = along(a=STAYS, b=LOST)
    found = told(three, frank, A_FIRST, error=ERROR)
    assert says(found.lead, "a beats b", "throughout the plausible range")
    assert says(found.beyond, "Beyond it", "lost at about τ = 0.52, under Frank")
    later = along(family="joe", a=STAYS, b=[0.2, 0.2, 0.1])
    assert says(told(three, frank | later, A_FIRST, error=ERROR).beyond, "τ = 0.52, first under Frank")
    sooner = along(family="joe", a=STAYS, b=[0.2, 0.1, 0.1])  # at 0.289
    assert says(told(three, frank | sooner, A_FIRST, error=ERROR).beyond, "τ = 0.28, first under Joe")
    everywhere = told(three, constant(A_FIRST), A_FIRST, error=ERROR)
    assert says(everywhere.lead, "a beats b", "throughout")
    assert says(everywhere.beyond, "every dependence")
    _, grid = made(three, frank, A_FIRST, error=ERROR)
    assert says(grid.statement, "imputation", "τ = 0 (independent censoring)", "a beats b", "τ = 0.52")


def test_the_least_lead_is_told_first_and_longer_ones_after_it(three):
    scores = {"a": 0.1, "b": 0.11, "c": 0.2, "d": 0.2}
    found = told(three, along(a=STAYS, b=[0.11] * 3, c=[0.2] * 3, d=LOST), scores, error=ERROR)
    assert says(found.lead, "a and b cannot be told apart", "both beat c and d", "throughout")
    assert says(found.beyond, "τ = 0.42")
    assert says(found.extent[0], "a and b beat c at every dependence")


def test_below_independence_too(three):
    taus = (-0.4, 0.0, 0.4)
    both = told(three, along(taus, a=[0.1] * 3, b=[0.1, 0.2, 0.1]), A_FIRST, error=ERROR)  # at ±0.289
    assert says(both.beyond, "-0.28 (healthy leavers)", "0.28")
    below = told(three, along(taus, a=[0.1] * 3, b=[0.1, 0.2, 0.2]), A_FIRST, error=ERROR)
    assert says(below.beyond, "-0.28 (healthy leavers)")
    assert "0.28 (" not in below.beyond.replace("-0.28 (", "")


@pytest.mark.parametrize(
    ("taus", "start", "end"), [((0.3, 0.6, 0.9), "0.3", "0.57"), ((-0.9, -0.6, -0.3), "-0.3", "-0.57")]
)
def test_nothing_is_claimed_between_0_and_a_grid_that_does_not_reach_it(three, taus, start, end):
    worse = sorted([0.2, 0.12, 0.1], reverse=taus[0] > 0)
    grid = made(three, along(taus, a=[0.1] * 3, b=worse), {"a": 0.1, "b": 0.2}, error=ERROR)[1]
    assert says(grid.statement, f"at τ = {start}", "a beats b", "was not tried", f"lost at about τ = {end}")


def test_a_missing_interval_ends_a_lead_without_a_claim(three):
    found = told(three, along(a=STAYS, b=[0.2, 0.2, None]), A_FIRST, error=ERROR)
    assert says(found.beyond, "up to τ = 0.4", "missing")
    inside = told(three, along(a=STAYS, b=[0.2, 0.2, None]), A_FIRST, error=ERROR, plausible=(0, 0.6))
    assert says(inside.lead, "a beats b", "only while", "at most 0.4", "missing")
    assert says(found.extent[-1], "b has no score at 1")


def test_families_without_an_answer_are_not_claimed(three):
    found = told(three, constant(A_FIRST), A_FIRST, families=("frank", "joe"), error=ERROR)
    assert says(found.beyond, "every dependence that has an answer")
    alone = told(three, constant(A_FIRST, (0.0,)), A_FIRST, error=ERROR)
    assert says(alone.lead, "a beats b", "no dependence was tried")


def test_where_the_order_turns_has_an_interval_and_the_digits_that_it_deserves(three):
    line = along(a=[0.1, 0.1, 0.2], b=[0.2, 0.12, 0.1])
    wide = told(three, line, A_FIRST, error=ERROR)  # 0.467 from 0.361 to 0.559
    assert says(wide.extent[0], "a and b", "τ = 0.47", "95 % interval 0.3 to 0.6", "Frank")
    narrow = told(three, line, A_FIRST, error=0.001)  # from 0.457 to 0.476
    assert says(narrow.extent[0], "a and b", "τ = 0.47", "95 % interval 0.45 to 0.48", "Frank")
    flat = along(a=[0.1] * 3, b=[0.2, 0.12, 0.09])
    assert says(told(three, flat, A_FIRST, error=ERROR).extent[0], "τ = 0.67", "0.3 or more")
    first = told(three, line | along(family="joe", a=[0.1] * 3, b=[0.2, 0.12, 0.09]), A_FIRST, error=ERROR)
    assert says(first.extent[0], "τ = 0.47", "first under Frank")


def test_a_turn_of_which_nothing_is_known_is_not_told(three):
    found = told(three, along(a=[0.1] * 3, b=[0.11, 0.1, 0.09]), {"a": 0.1, "b": 0.11}, error=ERROR)
    assert says(found.lead, "a and b cannot be told apart", "throughout")
    assert says(found.beyond, "every dependence that was tried")
    assert not any("order" in line for line in found.extent)
    assert says(found.extent[0], "3 points", "any model at 3")


def test_a_reversal_needs_the_simultaneous_band(three):
    far = told(three, along(a=[0.1, 0.1, 0.2], b=[0.2, 0.12, 0.1]), A_FIRST, error=ERROR)
    assert says(far.beyond, "τ = 0.36", "at τ = 0.8, b beats it")
    assert not any("b beats" in line for line in far.extent)  # said already
    # By 0.03: more than the interval reaches, 0.0277, and less than the band, 0.034.
    near = told(three, along(a=[0.1, 0.1, 0.13], b=[0.2, 0.12, 0.1]), A_FIRST, error=ERROR)
    assert not any("b beats" in line for line in (near.lead, near.beyond, *near.extent))
    on = told(three, along(a=[0.1, 0.2, 0.2], b=[0.2, 0.1, 0.1]), A_FIRST, error=ERROR)
    assert says(on.beyond, "from τ = 0.4 on, b beats it")
    other = along(family="joe", a=STAYS, b=[0.2] * 3)
    some = told(three, along(a=[0.1, 0.2, 0.2], b=[0.2, 0.1, 0.1]) | other, A_FIRST, error=ERROR)
    assert "b beats" not in some.beyond
    assert any(says(line, "b beats a from τ = 0.4 on under Frank") for line in some.extent)


def test_a_tie_that_ends_is_said_to(three):
    found = told(three, along(a=STAYS, b=[0.11, 0.11, 0.2]), {"a": 0.1, "b": 0.11}, error=ERROR)
    assert says(found.lead, "a and b cannot be told apart", "throughout")
    assert says(found.beyond, "Beyond it, they can")
    assert any(says(line, "a beats b at τ = 0.8") for line in found.extent)
    assert says(found.extent[-1], "3 points", "any model at 2", "a at 1")


def test_equals_that_stay_and_that_part(three):
    same = {"a": 0.1, "twin": 0.1}
    stay = told(three, along(a=STAYS, twin=STAYS), same, error=ERROR)
    assert says(stay.lead, "equally good", "every dependence")
    part = told(three, along(a=STAYS, twin=[0.1, 0.1, 0.2]), same, error=ERROR)
    assert "every dependence" not in part.lead


def test_where_greater_is_better_the_greatest_wins(three):
    class Reversed(type(three.metric())):
        direction = "greater"

    greater = replace(three, data=replace(three.data, metrics=(Reversed(),)))
    found = told(greater, along(a=[0.2, 0.2, 0.1], b=[0.1, 0.18, 0.2]), {"a": 0.2, "b": 0.1}, error=ERROR)
    assert says(found.lead, "a beats b", "throughout")
    assert says(found.beyond, "τ = 0.36", "at τ = 0.8, b beats it")
    assert says(found.support, "of a is 0.200", "b with 0.100", "Greater is better")
    evaluation, _ = made(greater, constant(A_FIRST), {"a": 0.2, "b": 0.1}, error=ERROR)
    assert list(evaluation.ranking().ranges["imputed"]) == ["1", "2"]


def test_a_given_copula_is_the_start_and_the_grid_still_goes_outward_from_0(split, cox):
    train, test = split
    models = {"a": cox(0, 1, 2), "b": cox(0)}
    given = cc.evaluate(models, test.y, test.X, y_train=train.y, copula=cc.Frank.from_tau(0.3), metrics="ibs")
    found = made(given, along(a=STAYS, b=[0.11, 0.2, 0.2]), A_FIRST, error=ERROR)
    assert says(plain(headline(*found).lead), "τ = 0.3", "a beats b", "not", "τ = 0.")
    found = made(given, along(a=STAYS, b=[0.2, 0.1, 0.1]), A_FIRST, error=ERROR)  # lost at 0.289
    assert says(plain(headline(*found).lead), "τ = 0.3", "a beats b", "under every family throughout")


# --- scores, usual weights, one model ---------------------------------------------------------------------------


def test_scores_have_the_digits_that_their_errors_deserve(three):
    found = told(three, constant(A_FIRST), A_FIRST, error=ERROR)
    assert says(found.support, "of a is 0.100 (95 % interval 0.080 to 0.120)", "b with 0.200")
    assert says(found.support, "difference of 0.100 (95 % interval 0.072 to 0.128)")
    tiny = {"a": 0.00001, "b": 0.00002}
    found = told(three, constant(tiny), tiny, error=1e-6)
    assert says(found.support, "0.0000100", "0.0000080 to 0.0000120", "0.0000200")
    without = told(three, constant(tiny), tiny)
    assert says(without.support, "1e-05", "2e-05")


@pytest.mark.parametrize(
    ("ours", "ipcw", "said"),
    [
        ({"a": 0.1, "b": 0.2}, {"a": 0.2, "b": 0.1}, "By IPCW, b beats a"),
        ({"a": 0.1, "b": 0.2}, {"a": 0.11, "b": 0.1}, "IPCW cannot tell a and b apart"),
        ({"a": 0.1, "b": 0.2}, {"a": 0.1, "b": 0.2}, None),
        ({"a": 0.1, "b": 0.11}, {"a": 0.1, "b": 0.2}, None),
    ],
)
def test_the_usual_weights_are_named_where_they_can_tell_another_or_cannot_tell(three, ours, ipcw, said):
    support = told(three, constant(ours), ours, ipcw=ipcw, error=ERROR).support
    assert ("IPCW" in support) == (said is not None)
    assert said is None or said in support


def test_adjustments_without_a_best_model_in_common_are_said_to_disagree(three):
    apart, _ = made(three, constant(A_FIRST), A_FIRST, ipcw={"a": 0.2, "b": 0.1}, error=ERROR)
    said = apart.ranking().statement
    assert says(said, "Which model is best depends", "IPCW, b beats a", "imputation, a beats b")
    open_, _ = made(three, constant(A_FIRST), A_FIRST, ipcw={"a": 0.11, "b": 0.1}, error=ERROR)
    assert "depends" not in open_.ranking().statement


def test_one_model_has_its_score_and_a_range_with_and_without_sampling_error(three):
    found = told(three, along(a=[0.1, 0.12, 0.15]), {"a": 0.1}, error=ERROR)
    assert says(found.lead, "one model", "a")
    assert says(found.support, "0.100 (95 % interval 0.080 to 0.120)")
    assert says(found.extent[0], "0.1000", "0.1500", "0.0804 and 0.1696 at 95 %")
    _, grid = made(three, along(a=[0.1, 0.12, 0.15]), {"a": 0.1}, error=ERROR)
    assert says(grid.statement, "0.1000 and 0.1500", "0.0804 and 0.1696")


def test_a_caution_says_which_intervals_are_from_a_bootstrap(three):
    """Scores drawn again may be a tie where the formulas of the grid tell a winner."""
    evaluation = cc.evaluate(three.data.predictions, three.data.samples.y_test, n_resamples=4, metrics="ibs")
    grid = evaluation.sensitivity("frank", [0.0, 0.3])
    assert all(each.resampling is None for each in grid.answers[grid.primary]["frank"].values())
    assert says(headline(evaluation, grid).caution, "4 bootstrap samples", "formulas")
    assert "bootstrap" not in headline(three, None).caution


def test_a_caution_says_what_intervals_take_for_given(three):
    assert says(told(three, constant(A_FIRST), A_FIRST, error=ERROR).caution, "95 %", "trained", "copula")


# --- ranks and tables -------------------------------------------------------------------------------------------


def test_ranges_of_ranks_hold_what_the_data_leave_open(three):
    scores = {"a": 0.1, "b": 0.12, "c": 0.14, "d": None}
    evaluation, _ = made(three, constant(scores), scores, error=ERROR)
    ranking = evaluation.ranking()
    assert list(ranking.table["imputed"][:3]) == [1, 2, 3]
    assert list(ranking.ranges["imputed"][:3]) == ["1–2", "1–3", "2–3"]
    assert list(ranking.ranges.columns) == ["model", "ipcw", "imputed"]
    assert "1–3" in repr(ranking)
    without, _ = made(three, constant(scores), scores)
    assert without.ranking().ranges is None


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
    table = repr(wide).split("\n\n")[1]
    assert "±0.0020" in table
    assert max(map(len, table.splitlines())) <= 100
