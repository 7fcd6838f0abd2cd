"""What is said of the plausible range, of what lies beyond, of ρ, and of bounds; of scores made up for it.

The standard error of each score is 0.01: two models are told apart where they differ by more than 0.0277.
"""

from dataclasses import replace
from math import floor

import numpy as np
import pytest

import cocensor as cc
from cocensor.study.report import Report
from cocensor.study.sensitivity import Bound, Bounds, PlausibleRange
from cocensor.views.text import (
    beside_scores,
    bounds_in_words,
    headline,
    plausible_tau_in_words,
)
from cocensor.views.text.names import ISOLATE, ON_PAGE
from cocensor.views.text.verdict import ratios_in_words
from tests.views.text.made_up import answer, made, plain, says, told

ERROR = 0.01
A_FIRST, TIE = {"a": 0.1, "b": 0.2}, {"a": 0.1, "b": 0.11}
TAUS = (-0.4, 0.0, 0.4, 0.8)


def line(b, taus=TAUS, family="frank"):
    return {family: (taus, {"a": [0.1] * len(taus), "b": b})}


@pytest.mark.parametrize(
    ("b", "plausible", "facts"),
    [
        ([0.2] * 4, (-0.2, 0.2), ["throughout", "-0.2 to 0.2", "every dependence", "-0.4 to 0.8"]),
        ([0.2] * 4, (-0.4, 0.8), ["throughout", "-0.4 to 0.8"]),
        (
            [0.2, 0.2, 0.1, 0.1],  # lost at 0.289
            (-0.2, 0.2),
            ["throughout", "τ of 0.28 or more, the data cannot tell a and b apart"],
        ),
        (
            [0.2, 0.2, 0.1, 0.1],
            (0.0, 0.4),
            ["part", "up to about 0.28", "Beyond that, the data cannot tell a and b apart", "0 to 0.4"],
        ),
        ([0.1, 0.2, 0.2, 0.2], (-0.4, 0.2), ["part", "at least about -0.28", "Beyond that", "a and b apart"]),
        (
            [0.1, 0.2, 0.1, 0.1],
            (-0.4, 0.4),
            ["between about -0.28 and 0.28", "-0.28 or less", "0.28 or more"],
        ),
        ([0.2, 0.2, 0.1, 0.1], (0.5, 0.7), ["not so within", "0.5 to 0.7", "τ of 0.28 or more"]),
        (
            [0.2, 0.2, 0.2, 0.2],
            (0.5, 0.95),
            ["as far as it was tried", "grid has τ from -0.4 to 0.8", "every dependence"],
        ),
        ([0.2] * 4, (0.9, 0.95), ["was not tried", "0.9 to 0.95", "every dependence"]),
    ],
)
def test_the_plausible_range_comes_first_and_the_rest_second(three, b, plausible, facts):
    found = told(three, line(b), A_FIRST, error=ERROR, plausible=plausible)
    assert says(answer(found), "a predicts better than b", *facts)
    assert ("tried" in found.along) == any("tried" in fact or "every" in fact for fact in facts)


@pytest.mark.parametrize(
    ("b", "facts"),
    [
        ([0.2, 0.2, 0.1, 0.1], ["up to about 1.8 times as fast (Kendall’s τ up to about 0.28;"]),
        ([0.1, 0.2, 0.2, 0.2], ["at least about 0.54 times as fast (Kendall’s τ at least about -0.28;"]),
        (
            [0.1, 0.2, 0.1, 0.1],
            ["between about 0.54 and 1.8 times as fast", "0.54 times as fast or less (τ of -0.28"],
        ),
        (
            [0.2, 0.2, 0.05, 0.05],
            ["At 1.8 times as fast or more (τ of 0.27 or more), b may be better", "2.3", "it is"],
        ),
    ],
)
def test_the_clinic_hears_how_fast_those_who_left_would_have_had_the_event(three, b, facts):
    """The ratio (1 + τ) / (1 − τ) is Clayton's; between points of the grid its logarithm moves along a line."""
    evaluation, grid = made(three, line(b), A_FIRST, error=ERROR, plausible=(-0.4, 0.4))
    found = headline(Report(evaluation, with_ratios(grid, lambda tau: (1 + tau) / (1 - tau))))
    assert says(plain(found.along), *facts)


def test_each_scale_has_the_family_that_is_lost_first_on_it(three):
    """Under Joe the lead is lost at a greater τ than under Clayton, but at a smaller hazard ratio."""
    lines = line([0.2, 0.2, 0.1, 0.1], family="clayton") | line([0.2, 0.2, 0.12, 0.1], family="joe")
    evaluation, grid = made(three, lines, A_FIRST, error=ERROR, plausible=(-0.4, 0.8))
    steep = with_ratios(grid, lambda tau: (1 + tau) / (1 - tau)).over_tau.answers["imputation"]["clayton"]
    flat = with_ratios(grid, lambda tau: 1 + tau / 2).over_tau.answers["imputation"]["joe"]
    grid = with_answers(grid, {"clayton": steep, "joe": flat})
    pair = grid.over_tau.pair("a", "b")
    ends = {family: pair.lead(family).lost_above for family in ("clayton", "joe")}
    assert ends["clayton"] < ends["joe"]
    ratio = grid.hazard_ratio("joe", ends["joe"])
    assert ratio < grid.hazard_ratio("clayton", ends["clayton"])
    assert says(
        headline(Report(evaluation, grid)).along,
        f"up to about {ratio:.1f} times",
        f"up to about {floor(ends['clayton'] * 100) / 100}",
    )


@pytest.mark.parametrize(("plausible", "end"), [((0.0, 0.25), "1.1"), ((0.0, 0.4), "2.3")])
def test_ratios_of_the_range_agree_with_where_the_answer_is_lost(three, plausible, end):
    """It is lost at τ = 0.289, under Joe at a hazard ratio of 1.1: beyond the range or within it on both scales."""
    lines = line([0.2, 0.2, 0.1, 0.1], family="clayton") | line([0.2, 0.2, 0.1, 0.1], family="joe")
    evaluation, grid = made(three, lines, A_FIRST, error=ERROR, plausible=plausible)
    steep = with_ratios(grid, lambda tau: (1 + tau) / (1 - tau)).over_tau.answers["imputation"]["clayton"]
    flat = with_ratios(grid, lambda tau: 1 + tau / 2).over_tau.answers["imputation"]["joe"]
    grid = with_answers(grid, {"clayton": steep, "joe": flat})
    said = plain(headline(Report(evaluation, grid)).along)
    assert says(said, f"1 to {end} times as fast")
    assert ("throughout" in said) == (end == "1.1")


def test_a_limit_is_not_rounded_out_of_the_range_that_it_lies_in(three):
    found = told(three, line([0.2, 0.2, 0.1, 0.1]), A_FIRST, error=ERROR, plausible=(0.25, 0.5))
    assert says(answer(found), "τ is up to about 0.28")  # 0.289


def test_within_the_range_all_families_that_reach_there_must_agree(three):
    gaussian = line([0.2, 0.1], (0.0, 0.2), "gaussian")  # lost at 0.145
    found = told(three, line([0.2] * 4) | gaussian, A_FIRST, error=ERROR)
    assert says(answer(found), "a predicts better than b", "τ is up to about 0.14")
    assert says(found.lost, "under Gaussian alone")


def test_a_range_without_independence_has_its_own_verdict(three):
    found = told(three, line([0.11, 0.11, 0.2, 0.2]), TIE, error=ERROR, plausible=(0.4, 0.8))
    said = answer(found)
    assert says(
        said,
        "cannot tell a and b apart",
        "Throughout the plausible range, a predicts better than b",
        "0.4 to 0.8",
    )
    led = told(three, line([0.2] * 4), A_FIRST, error=ERROR, plausible=(0.4, 0.8))
    assert answer(led).count("better than") == 1


def test_a_tie_within_the_range_is_apart_from_one_beyond(three):
    holds = told(three, line([0.11] * 4), TIE, error=ERROR)
    assert says(answer(holds), "cannot tell a and b apart", "throughout", "every dependence")
    beyond = told(three, line([0.11, 0.11, 0.2, 0.2]), TIE, error=ERROR)
    assert says(answer(beyond), "throughout", "At τ = 0.4, a predicts better than b")
    within = told(three, line([0.11, 0.11, 0.2, 0.2]), TIE, error=ERROR, plausible=(0, 0.5))
    assert says(within.along, "At Kendall’s τ = 0.4, a predicts better than b")
    assert "stays so" not in within.along
    both = told(three, line([0.02, 0.11, 0.2, 0.2]), TIE, error=ERROR, plausible=(-0.5, 0.5))
    assert says(both.along, "= -0.4", "b predicts better than a", "= 0.4", "a predicts better than b")


@pytest.mark.parametrize(
    ("plausible", "facts"),
    [
        (
            PlausibleRange(-0.2, 0.2, "default", "x_test is needed.", "covariates"),
            ["τ from -0.2 to 0.2", "default"],
        ),
        (PlausibleRange(0.0, 0.3, "asked"), ["τ from 0 to 0.3", "asked"]),
        (
            PlausibleRange(-0.34, 0.34, "covariates", together=-0.11),
            ["τ from -0.34 to 0.34", "three times", "together"],
        ),
        (PlausibleRange(-0.6, 0.6, "asked"), ["τ from -0.6 to 0.6", "grid has τ from -0.4 to 0.8"]),
    ],
)
def test_who_decided_the_range_is_said(three, plausible, facts):
    evaluation, grid = made(three, line([0.2] * 4), A_FIRST, error=ERROR)
    assert says(headline(Report(evaluation, replace(grid, plausible=plausible))).plausible, *facts)


def test_one_model_has_its_score_over_the_range(three):
    found = told(three, {"frank": ((0.0, 0.2, 0.8), {"a": [0.1, 0.12, 0.2]})}, {"a": 0.1}, error=ERROR)
    assert says(found.along, "plausible range", "-0.2 to 0.2", "0.1000 and 0.1200")
    evaluation, grid = made(three, {"frank": ((0.0, 0.2), {"a": [0.1, 0.12]})}, {"a": 0.1}, error=ERROR)
    assert repr(grid).count("0.1000 and 0.1200") == 1  # which is all of the grid
    found = cc.evaluate(
        {"a": three.data.predictions["a"]}, three.data.samples.y_test, metrics="ibs", adjustments="ipcw"
    ).bounds()
    told_beside = beside_scores(Report(evaluation, grid, found))
    assert any(says(said, "Without any assumption", "of a") for said in told_beside)


# --- scales -----------------------------------------------------------------------------------------------------


def with_ratios(grid, ratio):
    """A sensitivity analysis with these hazard ratios right after leaving, by τ."""
    answers = {
        family: {tau: replace(each, hazard_ratio=ratio(tau)) for tau, each in by_tau.items()}
        for family, by_tau in grid.over_tau.answers["imputation"].items()
    }
    return with_answers(grid, answers)


def with_answers(grid, answers):
    """A sensitivity analysis with other answers over τ."""
    return replace(grid, over_tau=replace(grid.over_tau, answers={"imputation": answers}))


def test_tipping_points_are_those_of_the_table_of_tips_on_all_scales(three):
    lines = line([0.2, 0.2, 0.12, 0.05]) | line([0.2, 0.2, 0.18, 0.05], family="clayton")
    evaluation, grid = made(three, lines, A_FIRST, error=ERROR)
    grid = with_ratios(grid, lambda tau: (1 + tau) / (1 - tau))
    tip = next(tip for tip in grid.tips("a", "b") if tip.kind == "interval")
    found = headline(Report(evaluation, grid))
    assert f"under {tip.family.capitalize()} first" in found.lost
    assert f"a hazard ratio of {tip.hazard_ratio:.1f} right after leaving" in found.lost
    assert f"{tip.multiple:.1f} times" in found.lost
    robust = grid.verdict.robustness
    assert (robust.tau, robust.hazard_ratio, robust.family) == (tip.tau, tip.hazard_ratio, tip.family)
    assert says(found.plausible, "0.65 to 1.5 times as fast")  # √(0.6 / 1.4) and its inverse: halfway to ±0.4


def test_scales_that_are_not_known_are_left_out(split, cox):
    train, test = split
    curves = {"a": cox(0, 1), "b": cox(0)}
    bare = cc.evaluate(curves, test.y, y_train=train.y, metrics="ibs")
    evaluation, grid = made(bare, line([0.2, 0.2, 0.1, 0.1]), A_FIRST, error=ERROR, plausible=None)
    found = headline(Report(evaluation, with_ratios(grid, lambda tau: None)))
    assert says(found.along, "τ of 0.28 or more")
    said = found.along + found.lost
    assert not any(word in said for word in ("nan", "inf", "hazard ratio", "times as", "effects"))
    assert says(found.plausible, "0.2", "no covariates")


# --- hazard ratio after dropout ---------------------------------------------------------------------------------

RATIOS = (0.5, 1.0, 2.0, 4.0)


def over_ratios(grid):
    return ratios_in_words(grid.verdict.over_ratios)


def by_ratio(name="all", b=(0.2, 0.2, 0.2, 0.2)):
    return {name: (RATIOS, {"a": [0.1] * 4, "b": list(b)})}


@pytest.mark.parametrize(
    ("b", "facts"),
    [
        ([0.2] * 4, ["a beats b", "every ρ", "0.5 to 4"]),
        ([0.2, 0.2, 0.1, 0.1], ["a beats b", "up to about 1.6", "0.5 to 4"]),  # 2 ** 0.723 = 1.65
        ([0.1, 0.2, 0.2, 0.2], ["a beats b", "from about 0.61 on"]),  # 2 ** -0.723 = 0.606
        ([0.1, 0.2, 0.1, 0.1], ["a beats b", "from about 0.61 to 1.6"]),
        ([0.2, 0.2, 0.0, 0.0], ["a beats b", "; from ρ = 2 on, b beats it"]),
        ([0.2, 0.2, 0.2, 0.0], ["a beats b", "; at ρ = 4, b beats it"]),
        ([0.11] * 4, ["cannot tell a and b apart for any ρ", "0.5 to 4"]),
        ([0.11, 0.11, 0.11, 0.2], ["cannot tell a and b apart at ρ = 1", "at ρ = 4 they can"]),
    ],
)
def test_up_to_which_hazard_ratio_it_holds(three, b, facts):
    _, grid = made(three, line([0.2] * 4), A_FIRST, error=ERROR, ratios=by_ratio(b=b))
    assert says(over_ratios(grid), "ρ", *facts)
    assert over_ratios(grid) in repr(grid)


def test_models_told_apart_at_independence_are_no_tie_along_the_ratio(three):
    scores = {"a": 0.1, "b": 0.12, "c": 0.137}  # a and c are told apart, b from none of them
    lines = {"all": (RATIOS, {model: [score] * 4 for model, score in scores.items()})}
    over_tau = {"frank": ((0.0, 0.4), {model: [score] * 2 for model, score in scores.items()})}
    _, grid = made(three, over_tau, scores, error=ERROR, ratios=lines)
    assert says(over_ratios(grid), "cannot tell a and b apart for any ρ")


def test_without_dropouts_nothing_is_said_of_those_who_left(split, cox):
    _, test = split
    ends = cc.Survival(test.y.time, test.y.event, ~test.y.event)
    found = cc.evaluate({"a": cox(0, 1), "b": cox(0)}, ends, test.X, metrics="ibs")
    grid = found.sensitivity(("frank", "hazard_ratio"), (0.0, 0.2))
    assert over_ratios(grid) == ""
    assert says(repr(grid), "Nobody dropped out")
    said = headline(Report(found, grid))
    assert says(plain(said.lead), "Nobody dropped out")
    assert "dropped out" not in said.question
    assert not said.along


def test_scores_without_intervals_and_single_models_along_the_ratio(three):
    _, grid = made(three, line([0.2] * 4), A_FIRST, ratios=by_ratio(b=[0.2, 0.2, 0.2, 0.05]))
    assert says(over_ratios(grid), "a has the best score", "up to about 2", "0.5 to 4")
    alone = {"all": (RATIOS, {"a": [0.1, 0.12, 0.13, 0.15]})}
    _, grid = made(three, {"frank": ((0.0, 0.4), {"a": [0.1, 0.2]})}, {"a": 0.1}, error=ERROR, ratios=alone)
    assert says(over_ratios(grid), "0.1000 and 0.1500", "0.5 to 4")


def test_reasons_with_the_same_limit_are_told_together(three):
    lost = [0.2, 0.2, 0.1, 0.1]
    lines = by_ratio() | by_ratio("ill", lost) | by_ratio("moved") | by_ratio("busy")
    _, grid = made(three, line([0.2] * 4), A_FIRST, error=ERROR, ratios=lines)
    assert says(over_ratios(grid), "“ill” alone: up to about 1.6", "“moved” and “busy” alone: every ρ")
    same = by_ratio() | by_ratio("ill") | by_ratio("moved")
    _, grid = made(three, line([0.2] * 4), A_FIRST, error=ERROR, ratios=same)
    assert says(over_ratios(grid), "each", "alone: every ρ")
    many = by_ratio() | {name: each for k in range(5) for name, each in by_ratio(f"g{k}", lost).items()}
    _, grid = made(three, line([0.2] * 4), A_FIRST, error=ERROR, ratios=many | by_ratio("other"))
    assert says(over_ratios(grid), "5 groups alone: up to about 1.6", "“other” alone: every ρ")


# --- bounds -----------------------------------------------------------------------------------------------------


def bounds(three, level=0.95, **pairs):
    """Bounds of differences, by names such as a_b."""
    models = tuple(sorted({name for pair in pairs for name in pair.split("_")}))
    found = {tuple(pair.split("_")): bound for pair, bound in pairs.items()}
    found |= {(name,): Bound(0.1, 0.3, 0.01, 0.01) for name in models}
    return Bounds(three.data.metrics[0], models, level, found)


@pytest.mark.parametrize(
    ("bound", "facts", "never"),
    [
        (
            Bound(-0.04, -0.02, 0.001, 0.001),
            ["Whatever the dependence, a beats b", "lower by 0.020 to 0.040"],
            "any",
        ),
        (
            Bound(0.02, 0.04, 0.001, 0.001),
            ["Whatever the dependence, b beats a", "lower by 0.020 to 0.040"],
            "any",
        ),
        (Bound(-0.04, 0.02, 0.001, 0.001), ["Without any assumption", "-0.040 to 0.020"], "Whatever"),
        (Bound(-0.04, -0.02, 0.1, 0.1), ["a has a better score", "this sample", "chance", "-0.17"], "beats"),
        (Bound(-0.04, -0.02), ["Whatever the dependence, a has a better score than b"], "beats"),
        (Bound(0.0, 0.0, 0.0, 0.0), ["nothing open"], "dependence"),
    ],
)
def test_what_holds_whatever_the_dependence(three, bound, facts, never):
    said = bounds_in_words(bounds(three, None if np.isnan(bound.low_error) else 0.95, a_b=bound))
    assert says(said, *facts)
    assert never not in said


def test_a_metric_without_bounds_says_so(split, cox, tmp_path):
    _, test = split
    found = cc.evaluate({"a": cox(0, 1), "b": cox(0)}, test.y, metrics="concordance", adjustments="ipcw")
    assert any(
        says(said, "concordance", "sharp bounds cannot be computed") for said in beside_scores(Report(found))
    )
    assert "sharp bounds cannot be computed" in found.to_html(tmp_path / "a.html").read_text(encoding="utf-8")


def test_many_pairs_are_told_in_short(three):
    wide, clear = Bound(-0.04, 0.02, 0.001, 0.001), Bound(-0.04, -0.02, 0.001, 0.001)
    said = bounds_in_words(bounds(three, a_b=clear, a_c=clear, b_c=wide))
    assert says(said, "a beats b and c", "b less that of c")
    pairs = {f"{x}_{y}": wide for k, x in enumerate("abcd") for y in "abcd"[k + 1 :]}
    assert says(bounds_in_words(bounds(three, **pairs)), "3 more pairs")


def test_bounds_of_the_first_metric_lead_where_they_are_certain(three):
    evaluation, grid = made(three, line([0.2] * 4), A_FIRST, error=ERROR)
    assert not headline(Report(evaluation, grid)).certain
    other = replace(bounds(three, a_b=Bound(-0.04, -0.02, 0.001, 0.001)), metric=cc.metric("ils", floor=0.1))
    assert not headline(Report(evaluation, grid, other)).certain
    certain = bounds(three, a_b=Bound(-0.04, -0.02, 0.001, 0.001))
    found = headline(Report(evaluation, grid, (other, certain)))
    assert says(found.certain, f"{ISOLATE[0]}a{ISOLATE[1]} beats {ISOLATE[0]}b{ISOLATE[1]}")
    assert "Without any assumption" not in found.open
    wide = bounds(three, a_b=Bound(-0.04, 0.02, 0.001, 0.001))
    assert says(headline(Report(evaluation, grid, wide)).open, "Without any assumption", "-0.020 to 0.040")


# --- benchmarks -------------------------------------------------------------------------------------------------


def test_benchmarks_are_told_with_their_limit_and_names_are_isolated(three):
    found = three.benchmarks()
    said = plausible_tau_in_words(found, ON_PAGE)
    assert says(said, "3.0 per SD", found.strongest.name.join(ISOLATE), "not a bound")
    assert f"{found.strongest.hazard_ratio_event:.2f} on the event" in said
    tiny = replace(found, benchmarks=(replace(found.strongest, shrunken_tau=-0.004),), together=-0.034)
    assert says(plausible_tau_in_words(tiny), "induces |τ| below 0.005")
    noisy = replace(found, benchmarks=(replace(found.strongest, tau=0.05, shrunken_tau=0.01),))
    assert says(plausible_tau_in_words(noisy), "induces τ = 0.01 (0.05 before")
    assert "together" not in plausible_tau_in_words(tiny)  # of one covariate
    evaluation, grid = made(three, line([0.2] * 4), A_FIRST, error=ERROR)
    assert headline(Report(evaluation, grid)).benchmarks == said
    *_, last = beside_scores(Report(evaluation, grid))
    assert last == plausible_tau_in_words(found)
    few = cc.Note("warned", values={"why": "There are few dropouts."})
    doubtful = replace(found, notes=(few,))
    assert few.text in beside_scores(Report(evaluation, grid, benchmarks=doubtful))[-1]
