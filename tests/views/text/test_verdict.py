"""Verdicts in sentences, of scores made up for it."""

import numpy as np
import pytest

import cocensor as cc
from cocensor.views.text.verdict import against_others, conclusion, hangs_on, zones_in_words
from tests.views.text.made_up import made, says

ERROR = 0.01
TAUS = (-0.4, -0.2, 0.0, 0.2, 0.4)
RATIOS = (0.5, 1.0, 2.0, 4.0)
A_FIRST, TIE = {"a": 0.1, "b": 0.2}, {"a": 0.1, "b": 0.11}


def line(b, a=0.1, taus=TAUS, family="frank"):
    return {family: (taus, {"a": [a] * len(taus), "b": list(b)})}


def ratios(b):
    return {"all": (RATIOS, {"a": [0.1] * 4, "b": list(b)})}


def verdict(three, grid, scores=A_FIRST, **options):
    return made(three, grid, scores, **{"error": ERROR} | options)[1].verdict


@pytest.mark.parametrize(
    ("b", "scores", "along", "state", "said"),
    [
        ([0.2] * 5, A_FIRST, [0.2] * 4, "Settled", "a predicts best."),
        (
            [0.2, 0.2, 0.2, 0.1, 0.05],
            A_FIRST,
            [0.2, 0.2, 0.1, 0.05],
            "Settled only if dropout is independent",
            "a or b: it depends on why subjects dropped out.",
        ),
        ([0.11] * 5, TIE, [0.11] * 4, "Not settled", "The data cannot tell a from b."),
        (
            [0.11, 0.11, 0.11, 0.2, 0.2],
            TIE,
            [0.11, 0.11, 0.2, 0.2],
            "Not settled",
            "a or b: it depends on why subjects dropped out.",
        ),
    ],
)
def test_a_state_and_one_sentence(three, b, scores, along, state, said):
    found = verdict(three, line(b), scores, ratios=ratios(along), plausible=(-0.2, 0.2))
    assert conclusion(found) == said
    assert str(found).startswith(f"{state}: {said} If dropouts fared like similar subjects who stayed, ")


def test_equivalent_models_are_equal_for_practical_purposes(three):
    scores = {"a": 0.1, "twin": 0.1}
    grid = {"frank": (TAUS, {model: [0.1] * 5 for model in scores})}
    found = verdict(three, grid, scores)
    assert str(found).startswith("Equal for practical purposes: a and twin are equal for practical purposes.")
    assert "a and twin are equivalent: all differences lie within ±0.0" in str(found)


def test_where_a_lead_ends_on_the_scale_of_the_clinic(three):
    found = verdict(three, line([0.2] * 5), ratios=ratios([0.2, 0.2, 0.1, 0.0]))
    [_, course, plausible, *_] = hangs_on(found)
    assert says(course, "If they had the event more than 1.6 times as fast", "the lead over b is gone")
    assert says(course, "from 2.4 times", "b predicts better than a")
    assert says(plausible, "The plausible range is", "times as fast (τ −0.20 to 0.20, as stated)")
    below = verdict(three, line([0.2] * 5), ratios=ratios([0.1, 0.2, 0.2, 0.2]))
    assert says(" ".join(hangs_on(below)), "less than 0.61 times as fast", "the lead over b is gone")


def test_a_lead_that_holds_says_what_was_tried(three):
    found = verdict(three, line([0.2] * 5), ratios=ratios([0.2] * 4))
    assert says(
        str(found), "That holds whether they had the event from 0.5 to 4 times as fast", "all that was tried"
    )
    along_tau = verdict(three, line([0.2] * 5))
    assert says(str(along_tau), "That holds for τ from −0.40 to 0.40, all that was tried.")


def test_a_family_that_loses_the_lead_is_named_where_the_ratio_does_not(three):
    """The state follows every family; the sentence must say which."""
    found = verdict(three, line([0.2, 0.2, 0.2, 0.1, 0.1]), ratios=ratios([0.2] * 4))
    assert found.state == "settled_at_independence"
    assert conclusion(found) == "a predicts best, but not at every plausible dependence."
    assert says(str(found), "With a Frank copula, the lead over b is gone at τ = 0.14.")


def test_points_without_an_answer_are_counted(three):
    gap = {"frank": (TAUS, {"a": [0.1] * 5, "b": [0.2] * 5})}
    found = verdict(three, gap, families=("frank", "gaussian"))
    assert says(str(found), "3 points of the plausible range have no answer.")


def test_who_may_be_no_better_than_kaplan_meier_is_told_so(three):
    found = verdict(three, line([0.2] * 5), reference=0.11)
    assert found.better_than_reference["a"].here == "cannot tell"
    assert "It is not clear that a is better than Kaplan–Meier." in str(found)
    sure = verdict(three, line([0.2] * 5), reference=0.2)
    assert "not clear" not in str(sure)


def test_a_plain_evaluation_says_that_nothing_else_was_tried(three):
    alone, _ = made(three, line([0.2] * 5), A_FIRST, error=ERROR)
    assert str(alone.verdict).startswith(
        "Settled only if dropout is independent: a predicts best if dropout is independent."
    )
    assert str(alone.verdict).endswith("Other dependences were not tried: sensitivity() does that.")


def test_without_intervals_nobody_can_tell_more(three):
    found = verdict(three, line([0.2, 0.2, 0.2, 0.05, 0.05]), error=None)
    assert conclusion(found) == "a has the best score, but there are no intervals to tell more."


def test_without_dropouts_nothing_is_said_of_those_who_left(split, cox):
    _, test = split
    y = cc.Survival(test.y.time, test.y.event, ~test.y.event)
    found = cc.evaluate({"a": cox(0, 1), "b": cox(0)}, y, metrics="ibs")
    assert says(str(found.verdict), "Nobody dropped out:")
    assert not says(str(found.verdict), "dropouts fared")
    assert "Other dependences" not in str(found.verdict)


def test_a_stated_copula_is_told_with_its_hazard_ratio(split, cox):
    train, test = split
    models = {"a": cox(0, 1), "b": cox(0)}
    given = cc.evaluate(
        models, test.y, test.X, y_train=train.y, copula=cc.Clayton.from_tau(0.3), metrics="ibs"
    )
    assert says(
        str(given.verdict),
        "If event and dropout depend on each other (τ = 0.30, Clayton copula:",
        "times as fast",
    )


def test_further_models_in_play_have_a_line_each(three):
    taus, scores = (-0.2, 0.0, 0.2), {"a": 0.1, "b": 0.2, "c": 0.2, "d": 0.3, "e": 0.3}
    lines = {"a": [0.1] * 3, "b": [0.2, 0.2, 0.1], "c": [0.2, 0.2, 0.11], "d": [0.3] * 3, "e": [0.3] * 3}
    found = verdict(three, {"frank": (taus, lines)}, scores)
    assert conclusion(found) == "a, b or c: it depends on why subjects dropped out."
    assert against_others(found) == ["a against c: the lead is gone above τ = 0.16"]
    clear = verdict(three, {"frank": (taus, {model: [score] * 3 for model, score in scores.items()})}, scores)
    assert against_others(clear) == ["a is better than c, d and e throughout the plausible range"]


def test_zones_have_their_ends_and_the_point_where_the_order_turns(three):
    found = verdict(three, line([0.2] * 5), ratios=ratios([0.2, 0.2, 0.1, 0.0]))
    rows = zones_in_words(found.courses[0])
    assert [said for _, said in rows] == ["a better", "cannot tell (order turns at 2×)", "b better"]
    assert rows[0][0].startswith("0.5 to 1.7 times as fast (τ −")
    assert np.isfinite(found.courses[0].turn)
