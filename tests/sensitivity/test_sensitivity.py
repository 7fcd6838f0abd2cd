from threading import Event

import numpy as np
import pytest

import cocensor as cc
from cocensor import _parallel
from cocensor._notes import Note
from cocensor.evaluation.scores import AdjustmentScores, scores_again
from cocensor.sensitivity import PlausibleRange, Sensitivity
from cocensor.sensitivity import grid as grid_module
from cocensor.simulate import SyntheticDesign
from tests.refusals import refuses

DEFAULT_RANGE = PlausibleRange(-0.2, 0.2, "default", "covariates do not tell.")


@pytest.fixture(scope="module")
def study():
    data = SyntheticDesign(n=500, n_features=2, copula=cc.Clayton.from_tau(0.5)).draw(2)
    train, test = data[:300], data[300:]
    curves = {
        name: cc.CoxPH().fit(train.X[:, :k], train.y).predict_survival_function(test.X[:, :k])
        for name, k in (("two", 2), ("one", 1))
    }

    def evaluate(models=curves, **options):
        asked = {"y_train": train.y, "x_train": train.X, "metrics": "ibs"}
        return cc.evaluate(models, test.y, test.X, **(asked | options))

    return evaluate


@pytest.fixture(scope="module")
def result(study):
    return study(copula=cc.Clayton.from_tau(0.4), adjustments="paper")


@pytest.fixture(scope="module")
def grid(result):
    return result.sensitivity(taus=[-0.3, 0.0, 0.4, 0.8])


def test_each_point_is_an_evaluation_under_that_copula(study, result, grid):
    for family, tau in (("clayton", 0.4), ("frank", -0.3), ("joe", 0.8), ("gaussian", 0.4)):
        again = study(copula=cc.copula(family, tau=tau), adjustments="paper")
        for name in ("dep", "cg_q", "imputed"):
            if name in again.results:
                expected = again.score("one", adjustment=name).value
                found = grid.values(family, tau, adjustment=name)["one"]
                assert found == pytest.approx(expected, rel=1e-12)
                assert grid.answers[name][family][tau].value("ibs", "one") == found


def test_at_zero_all_families_are_independence(study, grid):
    independent = study(copula=None).score("two", adjustment="imputed").value
    for family in grid.families:
        found = grid.values(family, 0.0, "ibs", "imputed")["two"]
        assert found == pytest.approx(independent, rel=1e-12)


def test_families_take_part_as_far_as_they_reach(grid):
    assert list(grid.answers["imputed"]["clayton"]) == [0.0, 0.4, 0.8]
    assert list(grid.answers["imputed"]["frank"]) == [-0.3, 0.0, 0.4, 0.8]
    note = grid.missing["cg_q", "gaussian"]
    assert (note.kind, note.adjustment) == ("missing", "cg_q")
    assert "Archimedean" in note.text
    assert "gaussian" not in grid.answers["cg_q"]
    assert grid.values("gaussian", 0.4, adjustment="cg_q") == {}
    assert grid.primary == "imputed"


def test_the_table_has_every_score(result, grid):
    table = grid.table()
    row = table[(table["adjustment"] == "cg_q") & (table["family"] == "clayton") & (table["tau"] == 0.4)]
    expected = result.score("two", adjustment="cg_q").value
    assert row.set_index("model")["score"]["two"] == pytest.approx(expected, rel=1e-12)
    assert set(row["rank"]) == {1, 2}
    held = grid.to_dict()
    assert held["scores"]["ibs"]["cg_q"]["clayton"]["two"][2] == pytest.approx(expected, rel=1e-12)
    assert held["scores"]["ibs"]["cg_q"]["clayton"]["two"][0] is None  # which the family does not reach


def made(result, scores):
    """A sensitivity analysis of one adjustment with the given scores by family, model and τ."""
    adjustment = result.results["imputed"]

    def answer(values):
        found = {"ibs": {model: cc.MetricValue(value) for model, value in values.items()}}
        return AdjustmentScores(adjustment.name, adjustment.label, adjustment.adjustment, {}, found, {})

    answers = {
        family: {
            tau: answer({model: line[k] for model, line in by_model.items()}) for k, tau in enumerate(taus)
        }
        for family, (taus, by_model) in scores.items()
    }
    taus = tuple(sorted({tau for line, _ in scores.values() for tau in line}))
    return Sensitivity(result, tuple(scores), taus, {"imputed": answers}, {}, DEFAULT_RANGE, None)


def test_a_change_lies_where_the_lines_cross(result):
    taus = (0.0, 0.2, 0.4, 0.6)
    found = made(
        result, {"frank": (taus, {"two": [0.10, 0.11, 0.13, 0.14], "one": [0.12, 0.12, 0.12, 0.15]})}
    )
    first, second = found.changes()
    assert (first.below, first.above, first.before, first.after) == (0.2, 0.4, "two", "one")
    assert first.at == pytest.approx(0.3)
    assert second.at == pytest.approx(0.5)
    stretches = found.stretches()
    assert [each.model for each in stretches] == ["two", "one", "two"]
    assert [each.high for each in stretches] == pytest.approx([0.3, 0.5, 0.6])
    assert found.statement.endswith(
        "two has the best score from τ = 0 (independent censoring) to 0.30, then one up to 0.50, then two up to 0.6 "
        "under frank."
    )


def course(found):
    """By family: who is best, and from where to where."""
    return {
        family: [
            (each.model, each.low, pytest.approx(each.high))
            for each in found.stretches()
            if each.family == family
        ]
        for family in found.families
    }


def test_families_are_told_as_far_as_each_reaches(result):
    found = made(
        result,
        {
            "frank": ((-0.4, 0.0, 0.4), {"two": [0.2, 0.1, 0.1], "one": [0.1, 0.2, 0.2]}),
            "clayton": ((0.0, 0.4), {"two": [0.1, 0.1], "one": [0.2, 0.2]}),
            "joe": ((0.0,), {"two": [0.1], "one": [0.2]}),
        },
    )
    assert course(found) == {
        "frank": [("one", -0.4, -0.2), ("two", -0.2, 0.4)],
        "clayton": [("two", 0.0, 0.4)],
        "joe": [("two", 0.0, 0.0)],
    }
    for part in ("one has the best score from τ = -0.4 to -0.20", "0.4 under frank", "at τ = 0", "under joe"):
        assert part in found.statement


def test_families_with_one_course_are_told_together(result):
    taus = (0.0, 0.4)
    scores = {
        "frank": (taus, {"two": [0.1, 0.2], "one": [0.2, 0.1]}),
        "clayton": (taus, {"two": [0.1, 0.3], "one": [0.2, 0.2]}),
    }
    assert "under frank and clayton" in made(result, scores).statement
    scores["clayton"] = (taus, {"two": [0.1, 0.5], "one": [0.2, 0.2]})
    statement = made(result, scores).statement
    assert "0.20 under frank and 0.10 under clayton" in statement
    assert statement.count("two") == 1


def test_families_that_differ_from_the_start_are_told_apart(result):
    scores = {
        "frank": ((0.3,), {"two": [0.1], "one": [0.2]}),
        "clayton": ((0.3,), {"two": [0.2], "one": [0.1]}),
    }
    statement = made(result, scores).statement
    assert "two has the best score at τ = 0.3 under frank" in statement
    assert "one has the best score at τ = 0.3 under clayton" in statement


def test_equals_share_the_first_place_and_a_tie_is_no_change(result):
    taus = (0.0, 0.2, 0.4)
    both = made(result, {"frank": (taus, {"two": [0.1, 0.2, 0.3], "one": [0.1, 0.2, 0.3]})})
    assert both.leaders()["frank"][0.2] == ("two", "one")
    assert "two and one share the best score" in both.statement
    assert both.stretches()[0].equals == ("one",)
    for names in (("two", "one"), ("one", "two")):
        touching = made(
            result, {"frank": (taus, dict(zip(names, ([0.1, 0.2, 0.1], [0.3, 0.2, 0.3]), strict=True)))}
        )
        assert touching.changes() == []
        assert touching.stretches()[0].model == names[0]
    late = made(result, {"frank": (taus, {"two": [0.1, 0.2, 0.3], "one": [0.1, 0.1, 0.1]})})
    assert [each.model for each in late.stretches()] == ["one"]


def test_a_greater_score_is_better_where_the_metric_says_so(result):
    from dataclasses import dataclass, replace

    kind = type(result.metric("ibs"))

    @dataclass(frozen=True)
    class Turned(kind):
        direction = "greater"

    turned = replace(result, data=replace(result.data, metrics=(Turned(),)))
    found = made(turned, {"frank": ((0.0, 0.4), {"two": [0.2, 0.1], "one": [0.1, 0.2]})})
    assert course(found) == {"frank": [("two", 0.0, 0.2), ("one", 0.2, 0.4)]}
    assert found.ranks("frank", 0.0) == {"two": 1, "one": 2}


def test_a_family_without_an_answer_is_named(result):
    found = made(result, {"frank": ((0.0, 0.4), {"two": [0.1, 0.1], "one": [0.2, 0.2]})})
    why = {("imputed", "gaussian"): Note("missing", "no answer.", "imputed")}
    found = Sensitivity(result, ("frank", "gaussian"), found.taus, found.answers, why, DEFAULT_RANGE, None)
    assert "gaussian" in found.statement.split("under frank")[1]
    assert found.to_dict()["missing"][0]["family"] == "gaussian"


def test_one_model_is_told_how_far_its_score_moves(study, result):
    alone = study({"one": result.data.predictions["one"]}, copula=None)
    found = alone.sensitivity("clayton", [0.0, 0.5])
    scores = found.table()
    scores = scores.loc[scores["adjustment"] == "imputed", "score"]
    assert f"{scores.min():.4f}" in found.statement
    assert f"{scores.max():.4f}" in found.statement


def test_an_analysis_is_computed_once(result, grid):
    assert result.sensitivity(taus=[-0.3, 0.0, 0.4, 0.8]) is grid
    assert result.sensitivity(taus=[0.8, -0.3, 0.4, 0.0, 0.0]) is grid  # a set of values
    assert result.computed("sensitivity") is not None


def test_only_the_adjustments_that_are_asked_for(result):
    found = result.sensitivity(["frank"], [0.0, 0.5], ["cg_q"])
    assert list(found.answers) == ["cg_q"]


def test_progress_counts_the_points(result):
    seen = []
    result.sensitivity(
        ["frank"], [0.0, 0.15], ["cg_q"], progress=lambda done, total: seen.append((done, total))
    )
    assert seen == [(0, 2), (1, 2), (2, 2)]


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"families": ["student"]}, ("families", "'student'")),
        ({"taus": [0.0, 1.0]}, ("taus", "1")),
        ({"taus": []}, ("taus", "empty")),
        ({"taus": [np.nan]}, ("taus", "nan")),
        ({"families": ["clayton"], "taus": [-0.5]}, ("taus", "clayton")),
        ({"families": ["frank", "frank"]}, ("families", "frank, frank")),
        ({"adjustments": ["ipcw"]}, ("adjustments", "'ipcw'")),
        ({"families": 3}, ("families", "3")),
        ({"adjustments": 3}, ("adjustments", "3")),
        ({"taus": [[0.1], [0.2, 0.3]]}, ("taus", "rectangular")),
    ],
)
def test_grids_that_make_no_sense_are_refused(result, options, parts):
    refuses(lambda: result.sensitivity(**options), *parts)


def test_an_adjustment_that_could_not_be_fitted_says_so_at_every_copula():
    time, event = np.arange(1.0, 9.0), np.array([0, 0, 0, 1, 0, 0, 0, 0])
    curves = np.linspace(0.9, 0.1, 8)[:, None] * np.ones(2)
    found = cc.evaluate(
        {"m": ([1.0, 8.0], curves)},
        (np.maximum(time - 1.0, 0.0), event),
        adjustments=["cg_q", "imputed_prediction"],
        copula=cc.Clayton(1.0),
        metrics="ibs",
    )
    [why] = found.under("imputed_prediction").notes_of("missing")  # there is one event
    grid = found.sensitivity("clayton", [0.0, 0.4])
    assert {name for name, _ in grid.missing} == {"imputed_prediction"}
    assert why.text in {note.text for note in grid.missing.values()}


def test_without_an_adjustment_that_rests_on_a_copula_there_is_nothing_to_move(study):
    refuses(study(adjustments=["ipcw"]).sensitivity, "adjustments", "copula")


def test_what_breaks_one_family_is_what_is_raised(result, monkeypatch):
    broken = Event()

    def again(data, before):
        if before.adjustment.copula.name == "frank":
            broken.set()
            raise ZeroDivisionError("frank")
        broken.wait(10)
        return scores_again(data, before)

    monkeypatch.setattr(grid_module, "scores_again", again)
    monkeypatch.setattr(_parallel, "n_cores", lambda: 2)
    with pytest.raises(ZeroDivisionError, match="frank"):
        result.sensitivity(["clayton", "frank"], [0.1, 0.2, 0.3, 0.4], "imputed")
