import numpy as np
import pytest

import cocensor as cc
from cocensor.evaluation.question import Answer
from cocensor.sensitivity import Sensitivity
from cocensor.simulate import SyntheticDesign


@pytest.fixture(scope="module")
def study():
    data = SyntheticDesign(n=500, n_features=2, copula=cc.Clayton.from_tau(0.5)).draw(2)
    train, test = data[:300], data[300:]
    curves = {
        name: cc.CoxPH().fit(train.X[:, :k], train.y).predict_survival_function(test.X[:, :k])
        for name, k in (("two", 2), ("one", 1))
    }
    return curves, train.y, test.y, train.X, test.X


@pytest.fixture(scope="module")
def result(study):
    return cc.evaluate(*study, copula=cc.Clayton.from_tau(0.4))


@pytest.fixture(scope="module")
def grid(result):
    return result.sensitivity(taus=[-0.3, 0.0, 0.4, 0.8])


def test_each_point_is_an_evaluation_under_that_copula(study, result, grid):
    for family, tau in (("clayton", 0.4), ("frank", -0.3), ("joe", 0.8), ("gaussian", 0.4)):
        again = cc.evaluate(*study, copula=cc.copula(family, tau=tau))
        for name in ("dep", "cg_q", "given_prediction", "given_covariates"):
            if name in again.scored:
                answer = grid.answers[name][family][tau]
                assert answer.scores["ibs"]["one"] == pytest.approx(again.score("one", name), rel=1e-12)


def test_at_zero_all_families_are_independence(study, grid):
    independent = cc.evaluate(*study, copula=None)
    for family in grid.families:
        found = grid.answers["given_covariates"][family][0.0].scores["ibs"]["two"]
        assert found == pytest.approx(independent.score("two", "given_covariates"), rel=1e-12)


def test_families_take_part_as_far_as_they_reach(grid):
    assert list(grid.answers["given_covariates"]["clayton"]) == [0.0, 0.4, 0.8]
    assert list(grid.answers["given_covariates"]["frank"]) == [-0.3, 0.0, 0.4, 0.8]
    assert "must be Archimedean" in grid.missing["cg_q", "gaussian"]
    assert "gaussian" not in grid.answers["cg_q"]


def test_the_table_has_every_score(result, grid):
    table = grid.table()
    row = table[(table["adjustment"] == "cg_q") & (table["family"] == "clayton") & (table["tau"] == 0.4)]
    assert row.set_index("model")["score"]["two"] == pytest.approx(result.score("two", "cg_q"), rel=1e-12)
    assert set(row["rank"]) == {1, 2}


def made(result, scores):
    """A sensitivity analysis of one adjustment with the given scores by family, model and τ."""
    answers = {
        family: {
            tau: Answer({}, {"ibs": {model: line[k] for model, line in by_model.items()}})
            for k, tau in enumerate(taus)
        }
        for family, (taus, by_model) in scores.items()
    }
    taus = tuple(sorted({tau for line, _ in scores.values() for tau in line}))
    return Sensitivity(result, tuple(scores), taus, {"given_covariates": answers}, {})


def test_a_flip_lies_where_the_lines_cross(result):
    taus = (0.0, 0.2, 0.4, 0.6)
    found = made(
        result, {"frank": (taus, {"two": [0.10, 0.11, 0.13, 0.14], "one": [0.12, 0.12, 0.12, 0.15]})}
    )
    first, second = found.flips()
    assert (first.below, first.above, first.before, first.after) == (0.2, 0.4, "two", "one")
    assert first.at == pytest.approx(0.3)
    assert second.at == pytest.approx(0.5)
    stretches = found.stretches()
    assert [each.model for each in stretches] == ["two", "one", "two"]
    assert [each.high for each in stretches] == pytest.approx([0.3, 0.5, 0.6])
    assert found.statement == (
        "By given covariates, two is best from τ = 0 (independent censoring) to 0.30, then one up to 0.50, then two "
        "up to 0.6 under frank."
    )


def test_families_are_told_as_far_as_each_reaches(result):
    scores = {
        "frank": ((-0.4, 0.0, 0.4), {"two": [0.2, 0.1, 0.1], "one": [0.1, 0.2, 0.2]}),
        "clayton": ((0.0, 0.4), {"two": [0.1, 0.1], "one": [0.2, 0.2]}),
        "joe": ((0.0,), {"two": [0.1], "one": [0.2]}),
    }
    assert made(result, scores).statement == (
        "By given covariates, one is best from τ = -0.4 to -0.20, then two up to 0.4 under frank; two is best from "
        "τ = 0 (independent censoring) to 0.4 under clayton; two is best at τ = 0 (independent censoring) under joe."
    )


def test_families_with_one_course_are_told_together(result):
    taus = (0.0, 0.4)
    scores = {
        "frank": (taus, {"two": [0.1, 0.2], "one": [0.2, 0.1]}),
        "clayton": (taus, {"two": [0.1, 0.3], "one": [0.2, 0.2]}),
    }
    assert made(result, scores).statement == (
        "By given covariates, two is best from τ = 0 (independent censoring) to 0.20, then one up to 0.4 under frank "
        "and clayton."
    )
    scores["clayton"] = (taus, {"two": [0.1, 0.5], "one": [0.2, 0.2]})
    assert made(result, scores).statement == (
        "By given covariates, two is best from τ = 0 (independent censoring) to 0.20 under frank and 0.10 under "
        "clayton, then one up to 0.4."
    )


def test_families_that_differ_from_the_start_are_told_apart(result):
    scores = {
        "frank": ((0.3,), {"two": [0.1], "one": [0.2]}),
        "clayton": ((0.3,), {"two": [0.2], "one": [0.1]}),
    }
    assert made(result, scores).statement == (
        "By given covariates, two is best at τ = 0.3 under frank; one is best at τ = 0.3 under clayton."
    )


def test_equals_share_the_first_place_and_a_tie_is_no_flip(result):
    taus = (0.0, 0.2, 0.4)
    both = made(result, {"frank": (taus, {"two": [0.1, 0.2, 0.3], "one": [0.1, 0.2, 0.3]})})
    assert both.best()["frank"][0.2] == ("two", "one")
    assert both.statement == (
        "By given covariates, two and one are equally good and best from τ = 0 (independent censoring) to 0.4 "
        "under frank."
    )
    for names in (("two", "one"), ("one", "two")):
        touching = made(
            result, {"frank": (taus, dict(zip(names, ([0.1, 0.2, 0.1], [0.3, 0.2, 0.3]), strict=True)))}
        )
        assert touching.flips() == []
        assert touching.stretches()[0].model == names[0]
    late = made(result, {"frank": (taus, {"two": [0.1, 0.2, 0.3], "one": [0.1, 0.1, 0.1]})})
    assert [each.model for each in late.stretches()] == ["one"]


def test_a_family_without_an_answer_is_named(result):
    found = made(result, {"frank": ((0.0, 0.4), {"two": [0.1, 0.1], "one": [0.2, 0.2]})})
    found = Sensitivity(result, ("frank", "gaussian"), found.taus, found.answers, {})
    assert found.statement.endswith("under frank. Under gaussian there is no answer.")


def test_one_model_is_told_how_far_its_score_moves(study):
    curves, *rest = study
    found = cc.evaluate({"one": curves["one"]}, *rest, copula=None).sensitivity("clayton", [0.0, 0.5])
    scores = found.table()
    scores = scores.loc[scores["adjustment"] == "given_covariates", "score"]
    assert found.statement.startswith(
        f"The integrated Brier score of one lies between {scores.min():.4f} and {scores.max():.4f} over the grid"
    )


def test_an_analysis_is_computed_once(result, grid):
    assert result.sensitivity(taus=[-0.3, 0.0, 0.4, 0.8]) is grid


def test_only_the_adjustments_that_are_asked_for(result):
    found = result.sensitivity(["frank"], [0.0, 0.5], ["cg_q"])
    assert list(found.answers) == ["cg_q"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"families": ["student"]}, "families must be one of .*'student'"),
        ({"taus": [0.0, 1.0]}, "taus must lie strictly between -1 and 1, but one is 1"),
        ({"taus": []}, "taus is empty"),
        ({"taus": [np.nan]}, "taus"),
        (
            {"families": ["clayton"], "taus": [-0.5]},
            "taus must have one that a family reaches, but clayton reach none",
        ),
        ({"families": ["frank", "frank"]}, "families must differ, but are frank, frank"),
        ({"adjustments": ["ipcw"]}, "adjustments must be one of .*'ipcw'"),
    ],
)
def test_grids_that_make_no_sense_are_refused(result, options, message):
    with pytest.raises(ValueError, match=message):
        result.sensitivity(**options)


def test_without_an_adjustment_that_rests_on_a_copula_there_is_nothing_to_move(study):
    plain = cc.evaluate(*study, adjustments=["ipcw"])
    with pytest.raises(ValueError, match="adjustments must have one that rests on a copula"):
        plain.sensitivity()
