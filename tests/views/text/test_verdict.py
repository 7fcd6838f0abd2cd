"""The templates of verdicts, filled with scores made up for it; the facts behind them are in ``tests/study``.

The standard error of each score is 0.01 unless said otherwise: two models are told apart where they differ by 0.0277.
"""

import re
from dataclasses import replace

import numpy as np
import pytest

import cocensor as cc
from cocensor.study.report import Report
from cocensor.study.sensitivity.benchmarks import PlausibleRange
from cocensor.views.text.evaluation import winners_in_words
from cocensor.views.text.headline import headline
from cocensor.views.text.verdict import ratios_in_words
from tests.views.text.made_up import made, plain, says, told

ERROR = 0.01
TAUS = (-0.4, 0.0, 0.4, 0.8)
A_FIRST, TIE = {"a": 0.1, "b": 0.2}, {"a": 0.1, "b": 0.11}
INDEPENDENT = (
    "If those who dropped out would have had the event about as fast as comparable subjects who stayed, "
)
STAYS = "The answer holds throughout the plausible range, under every family."
PART = "The answer holds in a part of the plausible range only."
HELD = "It holds up to τ = 0, the last point tried before."
ASKED = "as asked for."
DEFINED = "τ runs from -1 to 1, and 0 means no dependence"


def line(b, taus=TAUS, family="frank"):
    return {family: (taus, {"a": [0.1] * len(taus), "b": b})}


def flat(scores, taus=TAUS):
    return {"frank": (taus, {model: [score] * len(taus) for model, score in scores.items()})}


def with_ratios(grid, **by_family):
    """A sensitivity analysis with these hazard ratios right after leaving, by τ."""
    answers = {
        family: {tau: replace(scores, hazard_ratio=ratio(tau)) for tau, scores in by_tau.items()}
        for family, by_tau in grid.over_tau.answers["imputation"].items()
        for ratio in [by_family[family]]
    }
    return replace(grid, over_tau=replace(grid.over_tau, answers={"imputation": answers}))


def clayton(tau):
    return (1 + tau) / (1 - tau)


# --- who is best ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scores", "short", "long"),
    [
        ({"a": 0.1, "b": 0.2}, "a beats b", "a predicts better than b"),
        ({"a": 0.1, "b": 0.2, "c": 0.3}, "a is best", "a predicts best"),
        ({"a": 0.1, "b": 0.11}, "the data cannot tell a and b apart", None),
        (
            {"a": 0.1, "b": 0.11, "c": 0.2},
            "the data cannot tell a and b apart; both beat c",
            "the data cannot tell a and b apart; both predict better than c",
        ),
        ({"a": 0.1, "b": 0.11, "c": 0.12}, "the data cannot tell the 3 models apart", None),
        (
            {"a": 0.1, "b": 0.12, "c": 0.14},
            "the data cannot tell a and b apart; c is not best, but may be as good as some of them",
            None,
        ),
        (
            {"a": 0.1, "b": 0.11, "c": 0.11, "d": 0.11, "e": 0.11, "f": 0.2},
            "the data cannot tell a, b, c and 2 others apart; each of them beats f",
            "the data cannot tell a, b, c and 2 others apart; each of them predicts better than f",
        ),
        ({"a": 0.1, "twin": 0.1}, "a and twin are equally good", None),
        (
            {"a": 0.1, "twin": 0.1, "b": 0.2},
            "a and twin are equally good; both beat b",
            "a and twin are equally good; both predict better than b",
        ),
        ({"a": 0.1, "twin": 0.1, "b": 0.11}, "the data cannot tell the 3 models apart", None),
        ({"a": 0.1, "b": None}, "there is no other model to compare a with", None),
    ],
)
def test_who_is_best_in_short_and_in_full(three, scores, short, long):
    evaluation, sensitivity = made(three, flat(scores), scores, error=ERROR)
    assert winners_in_words(evaluation) == f"Under every adjustment, {short}."
    for text in (plain(headline(Report(evaluation)).lead), sensitivity.statement):
        assert f"{INDEPENDENT}{long or short}." in text


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ({"a": ERROR, "b": ERROR, "c": np.nan}, "a predicts better than b; c has no interval to compare by"),
        ({"a": ERROR, "b": np.nan, "c": np.nan}, "a has the best score; there are no intervals"),
        (None, "a has the best score"),
    ],
)
def test_nothing_is_told_from_a_model_without_an_interval(three, error, said):
    scores = {"a": 0.1, "b": 0.2, "c": 0.3}
    found = told(three, flat(scores), scores, error=error)
    assert found.lead == f"{INDEPENDENT}{said}."


def test_adjustments_without_a_best_model_in_common_are_said_to_disagree(three):
    apart, _ = made(three, flat(A_FIRST), A_FIRST, ipcw={"a": 0.2, "b": 0.1}, error=ERROR)
    assert winners_in_words(apart) == (
        "Which model is best depends on what is assumed about the censoring. Under IPCW, b beats a. Under imputation, "
        "a beats b."
    )
    open_, _ = made(three, flat(A_FIRST), A_FIRST, ipcw={"a": 0.11, "b": 0.1}, error=ERROR)
    assert "depends" not in winners_in_words(open_)


# --- under which assumption -----------------------------------------------------------------------------------


def test_what_is_known_of_subjects_says_whom_dropouts_are_compared_with(three, split, cox):
    train, test = split
    models = {"a": cox(0, 1), "b": cox(0)}
    for names, whom in {
        ("ipcw_cox", "cg_q"): "comparable subjects who stayed, ",
        ("ipcw", "ipcw_cox"): "those who stayed, ",
    }.items():
        asked = {"adjustments": names, "copula": None, "metrics": "ibs"}
        found = cc.evaluate(models, test.y, test.X, y_train=train.y, x_train=train.X, **asked)
        assert f"about as fast as {whom}" in headline(Report(found)).lead


def test_a_given_copula_is_told_with_its_hazard_ratio_and_the_grid_from_independence(split, cox):
    train, test = split
    models = {"a": cox(0, 1, 2), "b": cox(0)}
    given = cc.evaluate(models, test.y, test.X, y_train=train.y, copula=cc.Frank.from_tau(0.3), metrics="ibs")
    [caution] = [note for note in given.notes if note.kind == "caution"]
    assert "Frank" in caution.text
    start = f"(Kendall’s τ = 0.3, Frank copula; {DEFINED}), a predicts better than b. "
    for b, then in {
        (0.2, 0.11, 0.2, 0.2): "At τ = 0 the answer is another: a and b may each be best.",
        (0.2, 0.2, 0.1, 0.1): STAYS,
    }.items():
        found = headline(Report(*made(given, line(list(b)), A_FIRST, error=ERROR)))
        assert says(plain(found.lead), "2.1 times as fast", start[:-1])
        assert then in plain(found.along)


def test_without_dropouts_nothing_is_said_of_those_who_left(split, cox):
    _, test = split
    ends = cc.Survival(test.y.time, test.y.event, ~test.y.event)
    found = cc.evaluate({"a": cox(0, 1), "b": cox(0)}, ends, test.X, metrics="ibs")
    grid = found.sensitivity(("frank", "hazard_ratio"), (0.0, 0.2))
    assert ratios_in_words(grid.verdict.over_ratios) == ""
    assert says(repr(grid), "Nobody dropped out")
    said = headline(Report(found, grid))
    assert said.lead.startswith("Nobody dropped out, and ")
    assert "dropped out" not in said.question
    assert not said.along


# --- how far it holds -----------------------------------------------------------------------------------------


BELOW = "At τ below about -0.28, the data no longer show that a predicts better than b (under Frank)."
ABOVE = "At τ above about 0.28, the data no longer show that a predicts better than b (under Frank)."
EVERY = "It holds at every dependence that was tried, τ from -0.4 to 0.8."
GRID = "The grid has τ from -0.4 to 0.8. "


@pytest.mark.parametrize(
    ("b", "plausible", "said"),
    [
        ([0.2] * 4, (-0.2, 0.2), f"{STAYS} {EVERY}"),
        ([0.2] * 4, (-0.4, 0.8), STAYS),
        ([0.2, 0.2, 0.1, 0.1], (-0.2, 0.2), f"{STAYS} {ABOVE}"),  # lost at 0.289
        ([0.2, 0.2, 0.1, 0.1], (0.25, 0.4), f"{PART} {ABOVE}"),
        ([0.1, 0.2, 0.1, 0.1], (-0.4, 0.4), f"{PART} {BELOW} {ABOVE}"),
        ([0.2, 0.2, 0.1, 0.1], (0.5, 0.7), f"The answer does not hold within the plausible range. {ABOVE}"),
        ([0.2] * 4, (0.9, 0.95), f"{GRID}The plausible range was not tried. {EVERY}"),
        ([0.2, 0.2, 0.1, 0.0], (-0.2, 0.2), f"{STAYS} {ABOVE} At τ = 0.8, b predicts best."),
        (
            [0.2] * 4,
            (0.5, 0.95),
            f"{GRID}{STAYS.replace(',', ' as far as it was tried,')} {EVERY}",
        ),
        (
            [0.2, 0.2, 0.2, None],
            (-0.2, 0.2),
            f"{STAYS} It holds up to τ = 0.4; further out an interval is missing.",
        ),
        (
            [0.2, 0.2, 0.2, None],
            (0.0, 0.6),
            f"{PART} It holds up to τ = 0.4; further out an interval is missing.",
        ),
    ],
)
def test_how_far_a_lead_holds_within_the_plausible_range_and_beyond(three, b, plausible, said):
    found = told(three, line(b), A_FIRST, error=ERROR, plausible=plausible)
    assert found.lead == f"{INDEPENDENT}a predicts better than b."
    low, high = plausible
    assert says(found.along, "The plausible range is", f"Kendall’s τ from {low:g} to {high:g}", DEFINED)
    along = re.sub(r" \([\d.]+ times the effects of x\d, the strongest covariate\)", "", found.along)
    assert along.endswith(f", as asked for. {said}")


@pytest.mark.parametrize(
    ("b", "plausible", "said"),
    [
        ([0.11] * 4, (-0.2, 0.2), f"{STAYS} {EVERY}"),
        ([0.11, 0.11, 0.2, 0.2], (-0.2, 0.5), f"{PART} {HELD} At τ from 0.4 to 0.8, a predicts best."),
        (
            [0.02, 0.11, 0.2, 0.2],
            (-0.5, 0.5),
            f"{GRID}{PART} {HELD.replace('up', 'down')} At τ = -0.4, b predicts best. "
            f"{HELD} At τ from 0.4 to 0.8, a predicts best.",
        ),
    ],
)
def test_a_tie_may_be_decided_on_either_side(three, b, plausible, said):
    found = told(three, line(b), TIE, error=ERROR, plausible=plausible)
    assert found.lead == f"{INDEPENDENT}the data cannot tell a and b apart."
    assert found.along.endswith(f", as asked for. {said}")


def test_without_intervals_the_grid_tells_who_has_the_best_score_where(three):
    back = {"frank": ((0.0, 0.2, 0.4, 0.6), {"a": [0.1, 0.2, 0.2, 0.1], "b": [0.2, 0.1, 0.1, 0.2]})}
    found = told(three, back, A_FIRST)
    assert found.lead == f"{INDEPENDENT}a has the best score."
    assert found.along.endswith(f"{PART} {HELD} At τ from 0.2 to 0.4, b has the best score.")
    assert told(three, line([0.2] * 4), A_FIRST).along.endswith(f"{STAYS} {EVERY}")
    below = f"{HELD.replace('up', 'down')} At τ = -0.4, b has the best score."
    assert told(three, line([0.05, 0.2, 0.2, 0.2]), A_FIRST).along.endswith(below)
    parted = {"frank": ((0.0, 0.4), {"a": [0.1, 0.1], "b": [0.1, 0.2]})}
    assert says(told(three, parted, {"a": 0.1, "b": 0.1}).along, "At τ = 0.4, a has the best score")
    several = line([0.2, 0.2, 0.05], TAUS[1:]) | line([0.2, 0.2, 0.2], TAUS[1:], "joe")
    said = "At τ = 0.8, it depends on the family which of a and b has the best score."
    assert told(three, several, A_FIRST).along.endswith(said)


def test_where_families_differ_in_who_may_be_best_none_is_said_to_name_one(three):
    some = line([0.11, 0.11, 0.11, 0.2]) | line([0.11] * 4, family="joe")
    said = "At τ = 0.8, a and b may each be best, not all of them under every family."
    assert told(three, some, TIE, error=ERROR).along.endswith(said)


def test_the_last_point_where_an_answer_holds_is_told_on_the_scale_of_the_clinic(three):
    evaluation, grid = made(three, line([0.11, 0.11, 0.11, 0.2]), TIE, error=ERROR)
    said = plain(headline(Report(evaluation, with_ratios(grid, frank=clayton))).along)
    assert says(said, "It holds up to 2.3 times as fast (τ = 0.4), the last point tried before.")


def test_a_grid_says_where_it_starts_and_what_it_does_not_answer(three):
    later = told(three, line([0.2] * 3, (0.3, 0.6, 0.9)), A_FIRST, error=ERROR)
    assert later.lead == "At Kendall’s τ = 0.3, a predicts better than b."
    assert says(later.along, DEFINED, "The grid has τ from 0.3 to 0.9. The plausible range was not tried")
    silent = told(three, line([0.2] * 4), A_FIRST, families=("frank", "joe"), error=ERROR)
    assert says(silent.along, "every dependence that has an answer")
    assert silent.by == "By imputation, over 1 family (Joe has no answer) and τ from -0.4 to 0.8."
    alone = told(three, line([0.2], (0.0,)), A_FIRST, error=ERROR)
    assert alone.along == "No dependence was tried."
    ragged = told(three, line([0.2] * 4) | line([0.2] * 3, TAUS[1:], "joe"), A_FIRST, error=ERROR)
    assert ragged.by == "By imputation, over 2 families and τ from -0.4 to 0.8 (below 0 under Frank alone)."


def test_the_clinic_hears_how_fast_those_who_left_would_have_had_the_event(three):
    """Between points of the grid the logarithm of the ratio moves along a line."""
    evaluation, grid = made(three, line([0.1, 0.2, 0.1, 0.1]), A_FIRST, error=ERROR, plausible=(-0.4, 0.4))
    said = plain(headline(Report(evaluation, with_ratios(grid, frank=clayton))).along)
    assert says(said, "The plausible range is 0.43 to 2.3 times as fast (Kendall’s τ from -0.4 to 0.4;")
    assert says(said, "At less than 0.54 times as fast (τ below about -0.28", "the data no longer")
    assert says(said, "At more than 1.8 times as fast (τ above about 0.28", "the data no longer")


def test_where_the_answer_is_lost_on_all_scales(three):
    lines = line([0.2, 0.2, 0.12, 0.05]) | line([0.2, 0.2, 0.18, 0.05], family="clayton")
    evaluation, grid = made(three, lines, A_FIRST, error=ERROR)
    grid = with_ratios(grid, frank=clayton, clayton=clayton)
    robust, [limit] = grid.verdict.robustness, grid.verdict.reach.limits
    assert says(
        plain(headline(Report(evaluation, grid)).along),
        f"At more than {robust.hazard_ratio:.1f} times as fast (τ above about 0.36; {limit.multiple:.1f} times the "
        f"effects of {grid.verdict.strongest_covariate}, the strongest covariate), the data no longer show that a "
        "predicts better than b (under Frank first",
    )


def test_scales_that_are_not_known_are_left_out(split, cox):
    train, test = split
    bare = cc.evaluate({"a": cox(0, 1), "b": cox(0)}, test.y, y_train=train.y, metrics="ibs")
    evaluation, grid = made(bare, line([0.2, 0.2, 0.1, 0.1]), A_FIRST, error=ERROR, plausible=None)
    found = headline(Report(evaluation, with_ratios(grid, frank=lambda tau: None)))
    assert not any(word in found.along for word in ("nan", "inf", "hazard ratio", "times as", "effects"))
    assert says(found.plausible, "0.2", "the default, as there are no covariates to go by")


@pytest.mark.parametrize(
    ("plausible", "said"),
    [
        (
            PlausibleRange(-0.2, 0.2, "default", "x_test is needed.", "covariates"),
            "the default, as there are no covariates",
        ),
        (
            PlausibleRange(-0.2, 0.2, "default", "few events.", "benchmarks"),
            "covariates do not tell (few events).",
        ),
        (PlausibleRange(-0.2, 0.2, "default", together=0.05), "the default, as three times the dependence"),
        (
            PlausibleRange(-0.34, 0.34, "covariates", together=-0.11),
            "which is three times the dependence that all measured",
        ),
        (PlausibleRange(-0.6, 0.6, "asked"), "as asked for. The grid has τ from -0.4 to 0.8."),
    ],
)
def test_who_decided_the_range_is_said(three, plausible, said):
    evaluation, grid = made(three, line([0.2] * 4), A_FIRST, error=ERROR)
    found = headline(Report(evaluation, replace(grid, plausible=plausible))).plausible
    assert f"τ from {plausible.low} to {plausible.high}" in found
    assert said in found


def test_one_model_has_its_score_over_the_range_with_and_without_sampling_error(three):
    one = {"frank": ((0.0, 0.2, 0.8), {"a": [0.1, 0.12, 0.2]})}
    span = "0.1000 and 0.1200; with sampling error, between 0.0804 and 0.1396 (95 %)."
    found = told(three, one, {"a": 0.1}, error=ERROR)
    assert (
        found.lead == f"{INDEPENDENT}the integrated Brier score of a is 0.100 (95 % interval 0.080 to 0.120)."
    )
    _, grid = made(three, one, {"a": 0.1}, error=ERROR)
    for text in (found.along, repr(grid)):
        start = "Over the plausible range as far as it was tried, the integrated Brier score lies between "
        assert start + span in text
    assert says(repr(grid), "Over the grid", "0.1000 and 0.2000")
    _, grid = made(three, {"frank": ((0.0, 0.2), {"a": [0.1, 0.12]})}, {"a": 0.1}, error=ERROR)
    assert repr(grid).count("0.1000 and 0.1200") == 1  # which is all of the grid


# --- over the hazard ratio after dropout ----------------------------------------------------------------------

RATIOS = (0.5, 1.0, 2.0, 4.0)


def by_ratio(name="all", b=(0.2, 0.2, 0.2, 0.2)):
    return {name: (RATIOS, {"a": [0.1] * 4, "b": list(b)})}


def over_ratios(three, ratios, **options):
    grid = made(three, line([0.2] * 4), A_FIRST, ratios=ratios, **{"error": ERROR} | options)[1]
    said = ratios_in_words(grid.verdict.over_ratios)
    assert said in repr(grid)
    start = "If the hazard of those who left is ρ times that of comparable subjects who stayed, then for "
    return said.removeprefix(start)


@pytest.mark.parametrize(
    ("b", "said"),
    [
        ([0.2] * 4, "every ρ (0.5 to 4 was tried) a predicts better than b."),
        (
            [0.2, 0.2, 0.1, 0.1],
            "ρ up to about 1.6 (0.5 to 4 was tried) a predicts better than b.",
        ),  # 2 ** 0.723
        ([0.1, 0.2, 0.2, 0.2], "ρ from about 0.61 on (0.5 to 4 was tried) a predicts better than b."),
        ([0.1, 0.2, 0.1, 0.1], "ρ from about 0.61 to 1.6 (0.5 to 4 was tried) a predicts better than b."),
        (
            [0.2, 0.2, 0.0, 0.0],
            "ρ up to about 1.2 (0.5 to 4 was tried) a predicts better than b. At ρ from 2 to 4, b predicts best.",
        ),
        ([0.11] * 4, "every ρ (0.5 to 4 was tried) the data cannot tell a and b apart."),
        (
            [0.11, 0.11, 0.11, 0.2],
            "ρ up to about 2 (0.5 to 4 was tried) the data cannot tell a and b apart. At ρ = 4, a predicts best.",
        ),
    ],
)
def test_up_to_which_hazard_ratio_it_holds(three, b, said):
    assert over_ratios(three, by_ratio(b=b)) == said


def test_models_told_apart_at_the_start_are_no_tie_along_the_ratio(three):
    """The data tell a and c apart, and b from neither."""
    scores = {"a": 0.1, "b": 0.12, "c": 0.137}
    lines = {"all": (RATIOS, {model: [score] * 4 for model, score in scores.items()})}
    _, grid = made(three, flat(scores), scores, error=ERROR, ratios=lines)
    assert ratios_in_words(grid.verdict.over_ratios).endswith(
        "every ρ (0.5 to 4 was tried) the data cannot tell a and b apart; c is not best, but may be as good as some "
        "of them."
    )


def test_scores_without_intervals_and_single_models_along_the_ratio(three):
    assert over_ratios(three, by_ratio(b=[0.2, 0.2, 0.2, 0.05]), error=None) == (
        "ρ up to about 2 (0.5 to 4 was tried) a has the best score. At ρ = 4, b has the best score."
    )
    assert over_ratios(
        three, {"all": ((2.0,), {"a": [0.1], "b": [0.2]}), "ill": ((2.0,), {"a": [0.1], "b": [0.2]})}
    ) == ("ρ = 2, the only one tried, a predicts better than b.")
    alone = {"all": (RATIOS, {"a": [0.1, 0.12, 0.13, 0.15]})}
    _, grid = made(three, {"frank": ((0.0, 0.4), {"a": [0.1, 0.2]})}, {"a": 0.1}, error=ERROR, ratios=alone)
    assert says(ratios_in_words(grid.verdict.over_ratios), "0.1000 and 0.1500", "0.5 to 4")


def test_reasons_with_the_same_limit_are_told_together(three):
    lost = [0.2, 0.2, 0.1, 0.1]
    lines = by_ratio() | by_ratio("ill", lost) | by_ratio("moved") | by_ratio("busy")
    said = over_ratios(three, lines)
    assert said.endswith("For “ill” alone: up to about 1.6; for “moved” and “busy” alone: every ρ.")
    same = over_ratios(three, by_ratio() | by_ratio("ill") | by_ratio("moved"))
    assert same.endswith("For each group alone: every ρ.")
    many = by_ratio() | {name: each for k in range(5) for name, each in by_ratio(f"g{k}", lost).items()}
    said = over_ratios(three, many | by_ratio("other"))
    assert said.endswith("For 5 groups alone: up to about 1.6; for “other” alone: every ρ.")
