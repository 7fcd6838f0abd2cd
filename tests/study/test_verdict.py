"""Verdicts as data, of scores made up for it: who leads, who is beaten, who ties, and how far that holds.

The standard error of each score is 0.01, so that two models are told apart where they differ by more than
1.96 √2 0.01 = 0.0277.
"""

import json
from dataclasses import replace
from functools import partial
from math import exp, isnan, log

import numpy as np
import pytest

import cocensor as cc
from cocensor.simulate import SyntheticDesign
from cocensor.study.checks import Check
from cocensor.study.report import Report
from tests.strategies import cox_predictions
from tests.views.text.made_up import made

ERROR, APART = 0.01, 1.959964 * 0.01 * 2**0.5
TAUS = (-0.4, 0.0, 0.4, 0.8)
A_FIRST, TIE = {"a": 0.1, "b": 0.2}, {"a": 0.1, "b": 0.11}
# Of a line from a difference of 0.1 at τ = 0 to none at 0.4, where the interval comes to hold 0.
LOST = 0.4 * (1 - APART / 0.1)


@pytest.fixture(scope="module")
def split():
    data = SyntheticDesign(n=200, n_features=2, copula=cc.Clayton.from_tau(0.4)).draw(0)
    return data[:100], data[100:]


@pytest.fixture(scope="module")
def evaluate(split):
    """Two models by IPCW and by imputation."""
    train, test = split
    models = {"a": cox_predictions(train, test, 0, 1), "b": cox_predictions(train, test, 0)}
    return partial(cc.evaluate, models, test.y, test.X, y_train=train.y, x_train=train.X, metrics="ibs")


@pytest.fixture(scope="module")
def two(evaluate):
    """At independence."""
    return evaluate()


def line(b, a=0.1, taus=TAUS, family="frank"):
    """The scores of b along a line, and that of a, which stays."""
    return {family: (taus, {"a": [a] * len(taus), "b": list(b)})}


def flat(scores, taus=TAUS):
    """A line along which nothing moves."""
    return {"frank": (taus, {model: [score] * len(taus) for model, score in scores.items()})}


def verdict(evaluation, grid, scores=A_FIRST, **options):
    """Of a sensitivity analysis of made-up scores."""
    return made(evaluation, grid, scores, **{"error": ERROR, "plausible": (-0.4, 0.4)} | options)[1].verdict


def with_margin(evaluation, margin):
    """The same, with a margin of relevance."""
    return replace(evaluation, plan=replace(evaluation.plan, margin=margin))


def alone(evaluation, scores, **options):
    """Of the evaluation itself."""
    return made(evaluation, flat(scores), scores, **{"error": ERROR} | options)[0].verdict


# --- states ---------------------------------------------------------------------------------------------------


def test_a_lead_that_holds_all_over_the_plausible_range_is_settled(two):
    found = verdict(two, line([0.2] * 4))
    assert (found.state, found.leader, found.beaten) == ("settled", "a", ("b",))
    assert (found.tied, found.behind, found.unscored) == ((), (), ())
    assert (found.robustness, found.unanswered) == (None, 0)


@pytest.mark.parametrize(
    ("b", "plausible"),
    [
        ([0.2, 0.2, 0.1, 0.1], (0.0, 0.4)),  # lost within the range
        ([0.1, 0.2, 0.2, 0.2], (-0.4, 0.0)),
        ([0.2] * 4, (-0.6, 0.6)),  # of which not all was tried
        ([0.2] * 4, (0.85, 0.9)),
    ],
)
def test_a_lead_that_does_not_is_settled_at_independence(two, b, plausible):
    found = verdict(two, line(b), plausible=plausible)
    assert (found.state, found.leader) == ("settled_at_independence", "a")


def test_a_point_without_an_answer_prevents_settled(two):
    whole = line([0.2] * 4)
    assert verdict(two, whole).state == "settled"
    # Clayton does not reach below 0, and is asked for nothing there.
    lines = whole | line([0.2] * 3, taus=TAUS[1:], family="clayton")
    assert verdict(two, lines).state == "settled"
    # A family that failed; one model without a score at one point; an end of the range that is no point.
    assert verdict(two, whole, families=("frank", "gaussian")).state == "settled_at_independence"
    gap = {"frank": (TAUS, {"a": [0.1] * 4, "b": [0.2, 0.2, None, 0.2]})}
    assert verdict(two, gap).state == "settled_at_independence"
    between = verdict(two, whole, plausible=(-0.2, 0.4))
    assert (between.state, between.unanswered) == ("settled_at_independence", 1)


def test_every_family_and_every_hazard_ratio_of_the_range_must_agree(two):
    whole = line([0.2] * 4)
    turned = whole | line([0.2, 0.1, 0.1], taus=TAUS[1:], family="joe")
    assert verdict(two, turned).state == "settled_at_independence"
    outside = whole | line([0.2, 0.2, 0.1], taus=TAUS[1:], family="joe")
    assert verdict(two, outside).state == "settled"
    ratios = {"all": ((1.0, 3.0), {"a": [0.1, 0.1], "b": [0.2, 0.1]})}
    found = verdict(two, whole, ratios=ratios)
    tau = found.tau_of_ratio[3.0]
    assert found.tau_of_ratio[1.0] == 0.0
    assert 0.1 < tau < 0.4
    assert found.state == "settled_at_independence"
    grid = tuple(sorted({0.0, *(np.round(tau - 0.001, 6), np.round(tau + 0.001, 6))}))
    for high, state in zip(grid[1:], ("settled", "settled_at_independence"), strict=True):
        narrow = verdict(two, line([0.2] * 3, taus=grid), plausible=(0.0, high), ratios=ratios)
        assert narrow.state == state


@pytest.mark.parametrize(
    ("b", "margin", "state", "relation"),
    [
        (0.2, 0.02, "settled", "superior"),  # the interval is 0.0723 to 0.1277
        (0.2, 0.08, "settled", "better"),
        (0.2, 0.13, "tie", "equivalent"),
        (0.12, 0.01, "not_settled", "undecided"),
    ],
)
def test_an_equivalent_difference_is_no_lead_even_if_it_leaves_out_0(two, b, margin, state, relation):
    scores = {"a": 0.1, "b": b}
    evaluation, sensitivity = made(
        with_margin(two, margin), line([b] * 4), scores, error=ERROR, plausible=(-0.4, 0.4)
    )
    found = sensitivity.verdict
    assert (found.state, found.margin) == (state, margin)
    assert evaluation.compare("a", "b").relation(margin) == relation
    leads = relation in ("superior", "better")
    assert (found.leader == "a") == leads
    assert evaluation.table(adjustment="imputation")["best"].tolist() == [True, not leads]
    # Along the grid too: the lead ends where the other limit falls below the margin.
    falls = made(with_margin(two, 0.08), line([b, b, 0.1, 0.1]), scores, error=ERROR)[1].over_tau.pair(
        "a", "b"
    )
    if relation == "better":
        assert falls.lead().lost_above == pytest.approx(0.4 * (0.1 + APART - 0.08) / 0.1, rel=1e-5)


def test_the_margin_is_one_percent_of_the_reference_by_default(two, evaluate):
    base = two.results["imputation"].reference["ibs"].value
    assert two.verdict.margin == pytest.approx(0.01 * base)
    assert evaluate(margin=0.02).verdict.margin == 0.02
    several = evaluate(metrics=["ibs", "ici"], margin={"ici": 0.05})
    assert [several.verdict.by_metric[name].margin for name in ("ibs", "ici")] == [
        pytest.approx(0.01 * base),
        0.05,
    ]
    alone = evaluate(metrics=["ibs", "ici"], margin=0.03)  # of the first
    assert [alone.verdict.by_metric[name].margin for name in ("ibs", "ici")] == [0.03, 0.0]
    for margin, message in ((-1.0, "must not be negative, but is -1"), ({"auc": 0.1}, "must be .*ibs")):
        with pytest.raises(ValueError, match=f"margin.* {message}"):
            evaluate(margin=margin)


def test_one_model_is_held_against_kaplan_meier(two):
    """Its reference has a score of about 0.2 and, in these made-up scores, no error."""
    for score, here, over, state in (
        (0.1, "yes", "yes", "settled"),
        (0.2, "cannot tell", "cannot tell", "not_settled"),
    ):
        evaluation, sensitivity = made(
            two, flat({"a": score}), {"a": score}, error=ERROR, plausible=(-0.4, 0.4), reference=0.2
        )
        found = sensitivity.verdict
        assert found.better_than_reference == {"a": (here, over)}
        assert found.state == state
        weaker = evaluation.verdict
        assert weaker.better_than_reference == {"a": (here, None)}
        assert weaker.state == {"settled": "settled_at_independence"}.get(state, state)
    falls = made(
        two,
        {"frank": (TAUS, {"a": [0.1, 0.1, 0.2, 0.2]})},
        {"a": 0.1},
        error=ERROR,
        plausible=(-0.4, 0.4),
        reference=0.2,
    )
    assert falls[1].verdict.better_than_reference["a"] == ("yes", "cannot tell")
    assert falls[1].verdict.state == "settled_at_independence"


def test_who_is_worse_than_kaplan_meier_is_never_best(two):
    off = Check("worse", "a", {"skill": -0.05, "cause": "rows"})
    scores = {"a": 0.1, "b": 0.2, "c": 0.3}
    found = verdict(replace(two, checks=(off,)), flat(scores), scores)
    assert (found.leader, found.better_than_reference["a"].here) == ("b", "no")
    both = (off, replace(off, model="b"), replace(off, model="c"))
    assert verdict(replace(two, checks=both), flat(scores), scores).state == "no_usable_model"


def test_without_a_sensitivity_analysis_a_lead_is_settled_at_independence_at_most(two):
    found = alone(two, A_FIRST)
    assert (found.state, found.leader, found.beaten) == ("settled_at_independence", "a", ("b",))
    assert (found.plausible, found.robustness, found.stretches, found.courses) == (None, None, (), ())


def test_models_that_are_nowhere_told_apart_tie(two):
    """A tie takes equivalence, which is more than that nobody can tell."""
    for margin, state in ((0.04, "tie"), (0.03, "not_settled")):  # the interval is -0.018 to 0.038
        given = with_margin(two, margin)
        for found in (verdict(given, line([0.11] * 4), TIE), alone(given, TIE)):
            assert (found.state, found.leader, found.tied) == (state, None, ("a", "b"))
            assert (found.beaten, found.behind, found.robustness) == ((), (), None)


def test_equals_tie_where_they_stay_equal_and_not_where_they_part(two):
    same = {"a": 0.1, "twin": 0.1}
    stay = verdict(two, flat(same), same)
    assert (stay.state, stay.leader, stay.tied) == ("tie", None, ("a", "twin"))
    grid = {"frank": (TAUS, {"a": [0.1] * 4, "twin": [0.1, 0.1, 0.1, 0.2]})}
    assert verdict(two, grid, same).state == "tie"  # they part beyond the plausible range
    part = verdict(two, grid, same, plausible=(-0.4, 0.8))
    assert (part.state, part.leader, part.tied) == ("not_settled", None, ("a", "twin"))
    assert [(each.low, each.high, each.models) for each in part.stretches] == [
        (-0.4, 0.4, ("a", "twin")),
        (0.8, 0.8, ("a",)),
    ]


@pytest.mark.parametrize(
    ("scores", "tied", "beaten", "behind"),
    [
        ({"a": 0.1, "b": 0.11, "c": 0.2}, ("a", "b"), ("c",), ()),
        (
            {"a": 0.1, "b": 0.125, "c": 0.2},
            ("a", "b"),
            ("c",),
            (),
        ),  # by 1.77 standard errors: a one-sided test tells
        ({"a": 0.1, "b": 0.12, "c": 0.14}, ("a", "b"), (), ("c",)),  # c is told from a alone
        ({"a": 0.1, "b": 0.12, "c": 0.137, "d": 0.2}, ("a", "b"), ("d",), ("c",)),
    ],
)
def test_several_that_may_be_best_are_not_settled(two, scores, tied, beaten, behind):
    for found in (verdict(two, flat(scores), scores), alone(two, scores)):
        assert (found.state, found.leader) == ("not_settled", None)
        assert (found.tied, found.beaten, found.behind) == (tied, beaten, behind)


def test_a_lead_is_told_by_the_interval_of_each_pair_whatever_their_number(two):
    scores = {"a": 0.1, "b": 0.1283, "c": 0.1283, "d": 0.1283}  # by two standard errors
    found = verdict(two, flat(scores), scores)
    assert (found.state, found.leader, found.beaten) == ("settled", "a", ("b", "c", "d"))


def test_where_higher_is_better_the_highest_leads(two):
    class Reversed(type(two.data.metrics[0])):
        direction = "higher"

    greater = replace(two, data=replace(two.data, metrics=(Reversed(),)))
    found = verdict(greater, line([0.0, 0.0, 0.1, 0.2]), {"a": 0.1, "b": 0.0})
    assert (found.leader, found.beaten, found.stretches[-1].models) == ("a", ("b",), ("b",))
    assert found.robustness.tau == pytest.approx(LOST, rel=1e-5)
    [course] = found.courses
    assert (course.first, course.second, course.curve.values[1]) == ("a", "b", pytest.approx(0.1))


def test_where_all_are_disqualified_there_is_no_usable_model(two):
    check = Check("negative_skill", None, {"skills": [-0.5], "cause": "flag"})
    nobody = replace(two, checks=(check,))
    for found in (verdict(nobody, line([0.2] * 4)), alone(nobody, A_FIRST)):
        assert (found.state, found.leader, found.tied) == ("no_usable_model", None, ())
        assert (found.beaten, found.unscored, found.robustness) == ((), (), None)


def test_who_is_disqualified_neither_leads_nor_is_beaten(two):
    off = Check("negative_skill", "a", {"skill": -0.5, "cause": "rows"})
    scores = {"a": 0.1, "b": 0.2, "c": 0.3}
    found = verdict(replace(two, checks=(off,)), flat(scores), scores)
    assert (found.state, found.leader, found.beaten) == ("settled", "b", ("c",))
    assert {model for each in found.stretches for model in each.models} == {"b"}


def test_a_model_without_a_score_is_named(two):
    scores = {"a": 0.1, "b": 0.2, "c": None}
    for found in (verdict(two, flat(scores), scores), alone(two, scores)):
        assert (found.leader, found.beaten, found.unscored) == ("a", ("b",), ("c",))


# --- without intervals ----------------------------------------------------------------------------------------


def test_without_intervals_scores_lead_and_nothing_is_settled(two):
    found = verdict(two, line([0.2, 0.2, 0.05, 0.05]), error=None)
    assert (found.state, found.leader, found.beaten, found.tied) == ("not_settled", "a", (), ())
    assert [(each.low, each.high, each.models) for each in found.stretches] == [
        (-0.4, 0.0, ("a",)),
        (0.4, 0.8, ("b",)),
    ]
    assert {zone.kind for zone in found.courses[0].zones} == {"unknown"}
    assert found.courses[0].turn == pytest.approx(0.4 / 1.5)
    assert found.robustness is None
    equal = verdict(two, line([0.1] * 4), {"a": 0.1, "b": 0.1}, error=None)
    assert (equal.state, equal.leader, equal.tied) == ("not_settled", None, ("a", "b"))


def test_a_model_without_an_interval_is_neither_beaten_nor_tied(two):
    scores, error = {"a": 0.1, "b": 0.2, "c": 0.3}, {"a": ERROR, "b": ERROR, "c": np.nan}
    found = verdict(two, flat(scores), scores, error=error)
    assert (found.state, found.leader, found.beaten) == ("not_settled", "a", ("b",))
    assert "c" not in (*found.tied, *found.behind, *found.unscored)


def test_a_coin_has_no_interval_of_its_own_but_can_be_told_from(two):
    """Every subject has the same loss, a quarter; differences have the error of the other model."""
    scores = {"a": 0.1, "b": 0.25}
    evaluation, sensitivity = made(two, flat(scores), scores, error={"a": ERROR, "b": 0.0})
    assert isnan(evaluation.score("b").standard_error)
    for found in (evaluation.verdict, sensitivity.verdict):
        assert (found.leader, found.beaten) == ("a", ("b",))


def test_ranges_of_ranks_hold_what_the_data_leave_open(two):
    scores = {"a": 0.1, "b": 0.12, "c": 0.14, "d": None}
    evaluation, _ = made(two, flat(scores), scores, error=ERROR)
    ranks = evaluation.table("ranks", adjustment="imputation")
    assert ranks["rank"].tolist()[:3] == [1, 2, 3]
    assert ranks[["lowest", "highest"]].values.tolist()[:3] == [[1, 2], [1, 3], [2, 3]]
    without, _ = made(two, flat(scores), scores)
    assert without.table("ranks")["lowest"].isna().all()


# --- how far it holds -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("b", "zones"),
    [
        ([0.2] * 4, [(-0.4, 0.8, "a")]),
        ([0.2, 0.2, 0.1, 0.1], [(-0.4, LOST, "a"), (LOST, 0.8, None)]),
        ([0.1, 0.2, 0.2, 0.2], [(-0.4, -LOST, None), (-LOST, 0.8, "a")]),
        ([0.2, 0.2, 0.2, 0.0], [(-0.4, 0.6 - 0.2 * APART / 0.1, "a")]),
    ],
)
def test_zones_end_where_the_interval_of_the_difference_reaches_0(two, b, zones):
    [course] = verdict(two, line(b)).courses
    for zone, (low, high, model) in zip(course.zones, zones, strict=False):
        assert (zone.low, zone.high) == pytest.approx((low, high), rel=1e-5)
        assert (zone.kind, zone.model) == ("better" if model else "undecided", model)
    if b[-1] == 0.0:  # from 0.1 at 0.4 to -0.1 at 0.8
        lost, won = (0.6 - 0.2 * APART / 0.1, 0.6 + 0.2 * APART / 0.1)
        assert [(zone.kind, zone.model) for zone in course.zones[1:]] == [
            ("undecided", None),
            ("better", "b"),
        ]
        assert (course.zones[1].low, course.zones[1].high) == pytest.approx((lost, won), rel=1e-5)
        assert course.turn == pytest.approx(0.6)


def with_ratios(sensitivity, ratio):
    """The same with these hazard ratios right after leaving, by τ."""
    grid = sensitivity.over_tau
    answers = {
        family: {tau: replace(each, hazard_ratio=ratio(tau)) for tau, each in by_tau.items()}
        for family, by_tau in grid.answers["imputation"].items()
    }
    return replace(sensitivity, over_tau=replace(grid, answers={"imputation": answers}))


def test_robustness_is_where_a_lead_is_lost_first_as_tau_and_as_hazard_ratio(two):
    lines = line([0.2, 0.2, 0.1, 0.1]) | line([0.2, 0.2, 0.18, 0.05], family="clayton")
    _, sensitivity = made(two, lines, A_FIRST, error=ERROR)
    found = with_ratios(sensitivity, lambda tau: (1 + tau) / (1 - tau)).verdict.robustness
    assert (found.tau, found.family, found.against) == (pytest.approx(LOST, rel=1e-5), "frank", "b")
    # Between two τ of the grid, its logarithm moves along a line.
    assert found.hazard_ratio == pytest.approx(exp(LOST / 0.4 * log(1.4 / 0.6)), rel=1e-5)
    assert not found.within_plausible
    unknown = with_ratios(sensitivity, lambda tau: None).verdict
    assert isnan(unknown.robustness.hazard_ratio)
    assert unknown.to_dict()["robustness"]["hazard_ratio"] is None
    inside = verdict(two, lines, plausible=(-0.2, 0.5))
    assert inside.robustness.within_plausible
    below = verdict(two, line([0.1, 0.2, 0.2, 0.2])).robustness
    assert below.tau == pytest.approx(-LOST, rel=1e-5)


def test_the_most_serious_rival_comes_first(two):
    taus, scores = (0.0, 0.4, 0.8), {"a": 0.1, "b": 0.2, "c": 0.2, "d": 0.3}
    lines = {"a": [0.1] * 3, "b": [0.2, 0.2, 0.1], "c": [0.2, 0.1, 0.1], "d": [0.3] * 3}
    found = verdict(two, {"frank": (taus, lines)}, scores, plausible=(0.0, 0.4))
    assert [(course.first, course.second) for course in found.courses] == [("a", "c"), ("a", "b"), ("a", "d")]
    assert (found.robustness.against, found.robustness.tau) == ("c", pytest.approx(LOST, rel=1e-5))
    assert [[zone.model for zone in course.in_plausible] for course in found.courses] == [
        ["a", None],
        ["a"],
        ["a"],
    ]


def test_of_several_families_the_first_to_lose_the_lead_counts(two):
    lines = line([0.2, 0.2, 0.18, 0.1]) | line([0.2, 0.2, 0.1, 0.1], family="joe")
    found = verdict(two, lines)
    assert (found.robustness.family, found.courses[0].line) == ("joe", "joe")
    assert found.robustness.tau == pytest.approx(LOST, rel=1e-5)


@pytest.mark.parametrize(
    ("far", "leads"),
    [
        (0.13, True),  # by 0.03: a band for the whole curve would hold 0
        (0.127, False),
    ],
)
def test_another_leads_beyond_where_the_interval_at_that_point_leaves_out_0(two, far, leads):
    taus = (0.0, 0.4, 0.8)
    lines = {"frank": (taus, {"a": [0.1, 0.1, far], "b": [0.2, 0.12, 0.1]})}
    assert (verdict(two, lines).stretches[-1].models == ("b",)) == leads
    other = {"joe": (taus, {"a": [0.1] * 3, "b": [0.2] * 3})}
    last = verdict(two, lines | other).stretches[-1]
    assert ("a" in last.models, last.agreed) == (True, False)  # under one family alone


def test_robustness_is_the_first_of_the_tipping_points(two):
    lines = line([0.2, 0.2, 0.12, 0.05]) | line([0.2, 0.2, 0.18, 0.05], family="clayton")
    _, sensitivity = made(two, lines, A_FIRST, error=ERROR)
    sensitivity = with_ratios(sensitivity, lambda tau: (1 + tau) / (1 - tau))
    tip = next(tip for tip in sensitivity.tipping_points("a", "b") if tip.kind == "interval")
    found = sensitivity.verdict.robustness
    assert (found.tau, found.hazard_ratio, found.family) == (tip.tau, tip.hazard_ratio, tip.family)


@pytest.mark.parametrize(("taus", "start"), [((0.3, 0.6, 0.9), 0.3), ((-0.9, -0.6, -0.3), -0.3)])
def test_a_grid_that_does_not_reach_independence_starts_where_it_comes_nearest(two, taus, start):
    found = verdict(two, line([0.2] * 3, taus=taus), plausible=(-0.2, 0.2))
    assert (found.assumption.tau, found.courses[0].start, found.courses[0].plausible) == (start, start, None)
    assert found.unanswered == 2  # both ends of the range


def test_where_an_interval_is_missing_beyond_nothing_is_lost(two):
    grid = {"frank": (TAUS, {"a": [0.1] * 4, "b": [0.2, 0.2, 0.2, None]})}
    found = verdict(two, grid)
    [course] = found.courses
    assert [(zone.kind, zone.high) for zone in course.zones] == [
        ("better", pytest.approx(0.4)),
        ("unknown", pytest.approx(0.8)),
    ]
    assert found.robustness is None
    assert found.state == "settled"


def test_stretches_say_who_may_be_best_from_where_to_where_under_any_family(two):
    lines = line([0.2, 0.2, 0.1, 0.0]) | line([0.2] * 3, taus=TAUS[1:], family="joe")
    found = verdict(two, lines, families=("frank", "joe", "gaussian"))
    assert [(each.low, each.high, each.models, each.agreed) for each in found.stretches] == [
        (-0.4, 0.0, ("a",), True),
        (0.4, 0.8, ("a", "b"), False),  # b under frank alone at 0.8, a under joe
    ]
    assert found.silent == ("gaussian",)


def test_a_tie_may_be_decided_on_either_side(two):
    found = verdict(two, line([0.02, 0.11, 0.2, 0.2]), TIE, plausible=(-0.5, 0.5))
    assert (found.state, found.leader, found.tied) == ("not_settled", None, ("a", "b"))
    assert [zone.model for zone in found.courses[0].zones] == ["b", None, "a"]
    assert [found.courses[0].outward(way)[0].model for way in (-1, 1)] == ["b", "a"]
    only_far = verdict(two, line([0.11, 0.11, 0.11, 0.2]), TIE)
    assert [zone.model for zone in only_far.courses[0].zones] == [None, "a"]


def test_what_leads_away_from_independence_is_a_stretch_and_no_leader(two):
    found = verdict(two, line([0.11, 0.11, 0.2, 0.2]), TIE, plausible=(0.4, 0.8))
    assert (found.state, found.leader, found.tied) == ("not_settled", None, ("a", "b"))
    assert [(each.low, each.high, each.models) for each in found.stretches] == [
        (-0.4, 0.0, ("a", "b")),
        (0.4, 0.8, ("a",)),
    ]


def test_the_plausible_range_is_that_of_the_analysis_and_points_have_hazard_ratios(two):
    _, sensitivity = made(two, line([0.2] * 4), A_FIRST, error=ERROR)
    found = with_ratios(sensitivity, lambda tau: (1 + tau) / (1 - tau)).verdict
    assert (found.plausible.low, found.plausible.high, found.plausible.origin) == (-0.2, 0.2, "asked")
    [course] = found.courses
    assert course.plausible == (-0.2, 0.2)
    assert course.ratio(0.4) == pytest.approx(1.4 / 0.6)
    assert course.ratio(0.2) == pytest.approx((1.4 / 0.6) ** 0.5)  # its logarithm moves along a line
    wide = verdict(two, line([0.2] * 4), plausible=(-0.6, 0.6))
    assert wide.courses[0].plausible == (-0.4, 0.6)


# --- what it is told under ------------------------------------------------------------------------------------


def test_it_is_told_at_independence_by_the_primary_adjustment(two):
    found = verdict(two, line([0.2] * 4))
    assert (found.metric, found.adjustment) == ("ibs", "imputation")
    told = found.assumption
    assert (told.adjustment, told.label, told.tau, told.family) == ("imputation", "imputation", 0.0, None)
    assert (told.given, told.anybody_left) == (("predictions", "covariates"), True)


def test_with_a_given_copula_it_is_told_there_and_goes_outward_from_independence(evaluate):
    given = evaluate(copula=cc.Clayton.from_tau(0.3))
    assert alone(given, A_FIRST).state == "settled_at_independence"
    scores = {"a": 0.1, "b": 0.15}
    found = verdict(given, line([0.2, 0.2, 0.1, 0.1]), scores)
    assert (found.assumption.tau, found.assumption.family) == (pytest.approx(0.3), "clayton")
    assert found.assumption.hazard_ratio == pytest.approx(1.3 / 0.7, rel=1e-6)
    assert found.standing.scores == scores
    assert (found.leader, found.robustness.tau) == ("a", pytest.approx(LOST, rel=1e-5))
    other = verdict(given, line([0.11, 0.11, 0.2, 0.2]), scores)  # another answer at independence
    assert (other.leader, other.robustness) == ("a", None)


def of_other(evaluation, sensitivity, name, **changes):
    """The same grid, of an adjustment of another name that the evaluation has beside the others."""
    before = evaluation.results["imputation"]
    results = {**evaluation.results, name: replace(before, name=name, label=name, **changes)}
    changed = replace(evaluation, results=results)
    grid = replace(
        sensitivity.over_tau, evaluation=changed, answers={name: sensitivity.over_tau.answers["imputation"]}
    )
    return replace(sensitivity, evaluation=changed, over_tau=grid)


def test_over_a_grid_of_another_adjustment_it_is_told_by_that_one(two):
    evaluation, sensitivity = made(two, line([0.11, 0.11, 0.2, 0.2]), A_FIRST, error=ERROR)
    assert (evaluation.verdict.adjustment, evaluation.verdict.leader) == ("imputation", "a")
    found = of_other(evaluation, sensitivity, "second").verdict
    assert (found.adjustment, found.assumption.label) == ("second", "second")
    assert (found.leader, found.tied) == (None, ("a", "b"))
    assert found.assumption.tau == 0.0


def test_a_grid_of_what_no_verdict_counts_does_not_say_how_far_one_holds(two):
    evaluation, sensitivity = made(two, line([0.11] * 4), A_FIRST, error=ERROR)
    silent = cc.adjustment("dep", copula=cc.Clayton(1.0))
    assert not silent.counts_in_ranking
    found = of_other(evaluation, sensitivity, "dep", adjustment=silent).verdict
    assert (found.adjustment, found.leader, found.stretches, found.courses) == ("imputation", "a", (), ())


def test_every_metric_has_its_standing(evaluate):
    several = evaluate(metrics=["ibs", "auc"])
    found = several.verdict
    assert list(found.by_metric) == ["ibs", "auc"]
    for name, each in found.by_metric.items():
        assert (each.metric.name, each.adjustment) == (name, "imputation")
        assert set(each.ranks) == {"a", "b"}


# --- over hazard ratios ---------------------------------------------------------------------------------------

RATIOS = (0.5, 1.0, 2.0, 4.0)


def by_ratio(b, name="all"):
    return {name: (RATIOS, {"a": [0.1] * 4, "b": list(b)})}


def test_over_hazard_ratios_a_course_runs_along_their_logarithm(two):
    found = verdict(
        two, line([0.2] * 4), ratios=by_ratio([0.2, 0.2, 0.1, 0.1]) | by_ratio([0.1] * 4, "moved away")
    )
    [course] = found.courses
    assert (course.line, course.is_ratio, course.start, course.points) == ("all", True, 1.0, RATIOS)
    lost = exp((1 - APART / 0.1) * log(2.0))
    assert (course.at_start.low, course.at_start.high) == pytest.approx((0.5, lost), rel=1e-5)
    assert course.tau(1.0) == 0
    assert course.tau(2.0) == found.tau_of_ratio[2.0] > course.tau(lost) > 0
    low, high = course.plausible
    assert low == 0.5  # beyond which nothing was tried
    assert high == 4.0 or course.tau(high) == pytest.approx(0.4)


def test_without_several_ratios_a_course_runs_along_tau(two):
    only_one = {"all": ((1.0,), {"a": [0.1], "b": [0.2]})}
    [course] = verdict(two, line([0.2] * 4), ratios=only_one).courses
    assert (course.line, course.is_ratio) == ("frank", False)


# --- as numbers and as words ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("b", "scores", "error"),
    [
        ([0.2] * 4, A_FIRST, ERROR),
        ([0.2, 0.2, 0.1, 0.1], A_FIRST, ERROR),
        ([0.02, 0.11, 0.2, 0.2], TIE, ERROR),
        ([0.2, 0.2, 0.05, 0.05], A_FIRST, None),
    ],
)
def test_a_verdict_is_json_and_a_sentence(two, b, scores, error):
    evaluation, sensitivity = made(two, line(b), scores, error=error)
    for found in (evaluation.verdict, sensitivity.verdict):
        numbers = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert (numbers["state"], numbers["leader"]) == (found.state, found.leader)
        assert [numbers[name] for name in ("beaten", "tied", "behind")] == [
            list(found.beaten),
            list(found.tied),
            list(found.behind),
        ]
        assert numbers["statement"] == str(found)
        assert numbers["statement"].endswith(".")
        assert [tuple(each["models"]) for each in numbers["stretches"]] == [
            each.models for each in found.stretches
        ]
    assert Report(evaluation).verdict is evaluation.verdict
    assert Report(evaluation, sensitivity).verdict is sensitivity.verdict
    held = json.loads(evaluation.to_json(sensitivity=sensitivity))["verdict"]
    assert held == json.loads(json.dumps(sensitivity.verdict.to_dict()))
