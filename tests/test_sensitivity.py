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
    [stretch] = found.stretches()
    assert (stretch.model, stretch.low, stretch.after) == ("two", 0.0, "one")
    assert stretch.high == pytest.approx(0.3)
    assert found.statement == (
        "two is best if censoring is independent, but not under every dependence: "
        "one is best from about τ = 0.30 to 0.50 under frank."
    )


def test_a_flip_below_independence_and_a_family_that_stays(result):
    scores = {
        "frank": ((-0.4, 0.0, 0.4), {"two": [0.2, 0.1, 0.1], "one": [0.1, 0.2, 0.2]}),
        "clayton": ((0.0, 0.4), {"two": [0.1, 0.1], "one": [0.2, 0.2]}),
    }
    found = made(result, scores)
    assert found.statement == (
        "two is best if censoring is independent, but not under every dependence: one is best below about "
        "τ = -0.20 under frank. Under clayton it stays best up to τ = 0.4."
    )
    kept = made(result, {"frank": ((0.2, 0.4), {"two": [0.1, 0.1], "one": [0.2, 0.2]})})
    assert kept.statement.startswith("two is best at τ = 0.2, and stays best over the whole grid")


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
