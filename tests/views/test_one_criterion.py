"""Text, maps, plots and numbers tell models apart alike: by the interval of their difference at a point.

The standard error of each score is 0.01, so that of a difference is 0.0141: a one-sided test tells two models apart by
0.0233, the interval by 0.0277, and a band for the whole curve by more than 0.03.
"""

import numpy as np
import pytest

from cocensor.study.ranking import standing
from cocensor.views.html.sections import family_map
from cocensor.views.numbers import sensitivity_numbers
from cocensor.views.plots import CurveDisplay
from tests.views.plots.reading import best_along
from tests.views.text.made_up import made, says, told

ERROR = 0.01
TAUS = (0.0, 0.2, 0.4, 0.6, 0.8)
# Of b less a: told, told, by a one-sided test alone, told but not by the band, told.
GRID = {family: (TAUS, {"a": [0.2] * 5, "b": [0.3, 0.23, 0.225, 0.171, 0.1]}) for family in ("frank", "joe")}
AT_0 = {"a": 0.2, "b": 0.3}
BEST = [("a",), ("a",), ("a", "b"), ("b",), ("b",)]


@pytest.fixture(scope="module")
def grid(three):
    return made(three, GRID, AT_0, error=ERROR)[1]


def test_the_three_criteria_differ_on_this_grid(grid):
    over = grid.over_tau
    curve, band = over.along("b", "a")["frank"], over.bands("b", "a")["frank"]
    assert curve.sides.tolist() == [1, 1, 0, -1, -1]
    assert not band.high[3] < 0  # simultaneous
    assert curve.values[2] > 1.645 * curve.standard_errors[2]  # one-sided


def test_the_text_goes_outward_from_0(grid, three):
    lead = grid.over_tau.pair("a", "b").lead()
    assert (lead.low, lead.high) == (0.0, 0.2)
    [course] = grid.verdict.courses
    assert [(zone.kind, zone.model) for zone in course.zones] == [
        ("better", "a"),
        ("undecided", None),
        ("better", "b"),
    ]
    assert 0.2 < course.zones[0].high < 0.4 < course.zones[1].high < 0.6
    said = " ".join(told(three, GRID, AT_0, error=ERROR).sentences)
    assert says(said, "If Kendall’s τ is above", "the lead over b is gone", "b predicts better than a")
    assert said in grid.statement
    assert [(each.low, each.high, each.models) for each in grid.verdict.stretches[:3]] == [
        (0.0, 0.2, ("a",)),
        (0.4, 0.4, ("a", "b")),
        (0.6, 0.8, ("b",)),
    ]


def test_the_map_the_numbers_and_the_plots_say_the_same(grid):
    for _, *cells in family_map(grid).rows:
        assert [tuple(sorted(cell.split(" or "))) for cell in cells] == BEST
    numbers = sensitivity_numbers(grid)["best"]["ibs"]["imputation"]
    for line in numbers.values():
        assert list(map(tuple, line)) == BEST
    for panel in CurveDisplay.from_sensitivity(grid).panels.values():
        assert best_along(panel) == [tuple(sorted(models)) for models in BEST]
    for panel in CurveDisplay.from_differences(grid, "a").panels.values():
        low, high = panel.lines["b"].limits
        clear = (low > 0) | (high < 0)
        assert [len(models) == 1 for models in BEST] == clear.tolist()


def test_the_table_marks_who_is_in_the_cell_of_the_map_at_its_dependence(three):
    for gap in np.linspace(0.0, 0.05, 11):
        scores = {"a": 0.2, "b": 0.2 + gap, "c": 0.21, "d": 0.22}
        evaluation, grid = made(
            three,
            {"frank": ((0.0,), {model: [score] for model, score in scores.items()})},
            scores,
            error=ERROR,
        )
        best = standing(evaluation).best
        assert grid.over_tau.best()["frank"][0.0] == best
        assert ("b" in best) == (evaluation.compare("a", "b").better("lower") is None)


def test_models_that_may_be_best_can_be_told_from_each_other(three):
    """The score of a is uncertain: it may be as bad as that of c, which b is told from."""
    scores = {"a": 0.1, "b": 0.11, "c": 0.13}
    error = {"a": 0.03, "b": 0.001, "c": 0.005}
    evaluation, grid = made(
        three, {"frank": ((0.0,), {model: [score] for model, score in scores.items()})}, scores, error=error
    )
    assert standing(evaluation).best == ("a", "b", "c") == grid.over_tau.best()["frank"][0.0]
    assert evaluation.verdict.state == "not_settled"
