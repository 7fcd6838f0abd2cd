from dataclasses import dataclass, replace
from threading import Event

import numpy as np
import pytest

import cocensor as cc
from cocensor import _parallel
from cocensor._notes import Note
from cocensor.simulate import SyntheticDesign
from cocensor.study.lookup import metric_of
from cocensor.study.scores import AdjustmentScores, score_refit
from cocensor.study.sensitivity import Sensitivity
from cocensor.study.sensitivity import run as sensitivity_run
from cocensor.study.sensitivity.benchmarks import PlausibleRange
from cocensor.study.sensitivity.grid import Grid
from cocensor.views.numbers import sensitivity_numbers
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
def sensitivity(result):
    return result.sensitivity(taus=[-0.3, 0.0, 0.4, 0.8])


@pytest.fixture(scope="module")
def grid(sensitivity):
    return sensitivity.over_tau


def test_each_point_is_an_evaluation_under_that_copula(study, result, grid):
    for family, tau in (("clayton", 0.4), ("frank", -0.3), ("joe", 0.8), ("gaussian", 0.4)):
        again = study(copula=cc.copula(family, tau=tau), adjustments="paper")
        for name in ("dep", "cg_q", "imputation"):
            if name in again.results:
                expected = again.score("one", adjustment=name).value
                found = grid.values(family, tau, adjustment=name)["one"]
                assert found == pytest.approx(expected, rel=1e-12)
                assert grid.answers[name][family][tau].value("ibs", "one") == found


def test_at_zero_all_families_are_independence(study, grid):
    independent = study(copula=None).score("two", adjustment="imputation").value
    for family in grid.lines:
        found = grid.values(family, 0.0, "ibs", "imputation")["two"]
        assert found == pytest.approx(independent, rel=1e-12)


def test_families_take_part_as_far_as_they_reach(grid):
    assert list(grid.answers["imputation"]["clayton"]) == [0.0, 0.4, 0.8]
    assert list(grid.answers["imputation"]["frank"]) == [-0.3, 0.0, 0.4, 0.8]
    note = grid.missing["cg_q", "gaussian"]
    assert (note.kind, note.about.adjustment) == ("missing", "cg_q")
    assert "Archimedean" in note.text
    assert "gaussian" not in grid.answers["cg_q"]
    assert grid.values("gaussian", 0.4, adjustment="cg_q") == {}
    assert grid.primary == "imputation"


def test_the_table_has_every_score(result, sensitivity):
    table = sensitivity.table()
    row = table[(table["adjustment"] == "cg_q") & (table["family"] == "clayton") & (table["tau"] == 0.4)]
    expected = result.score("two", adjustment="cg_q").value
    assert row.set_index("model")["score"]["two"] == pytest.approx(expected, rel=1e-12)
    assert set(row["rank"]) == {1, 2}
    held = sensitivity_numbers(sensitivity)
    assert held["scores"]["ibs"]["cg_q"]["clayton"]["two"][2] == pytest.approx(expected, rel=1e-12)
    assert held["scores"]["ibs"]["cg_q"]["clayton"]["two"][0] is None  # which the family does not reach


def made(result, scores):
    """A sensitivity analysis of one adjustment with the given scores by family, model and τ."""
    adjustment = result.results["imputation"]

    def answer(values):
        found = {"ibs": {model: cc.metrics.MetricValue(value) for model, value in values.items()}}
        return AdjustmentScores(adjustment.name, adjustment.label, adjustment.adjustment, (), found, {})

    answers = {
        family: {
            tau: answer({model: line[k] for model, line in by_model.items()}) for k, tau in enumerate(taus)
        }
        for family, (taus, by_model) in scores.items()
    }
    taus = tuple(sorted({tau for line, _ in scores.values() for tau in line}))
    over_tau = Grid(result, "tau", tuple(scores), taus, {"imputation": answers}, {})
    return Sensitivity(result, over_tau, None, DEFAULT_RANGE, None)


def test_a_change_lies_where_the_lines_cross(result):
    taus = (0.0, 0.2, 0.4, 0.6)
    found = made(
        result, {"frank": (taus, {"two": [0.10, 0.11, 0.13, 0.14], "one": [0.12, 0.12, 0.12, 0.15]})}
    )
    first, second = found.over_tau.changes()
    assert (first.below, first.above, first.before, first.after) == (0.2, 0.4, "two", "one")
    assert first.at == pytest.approx(0.3)
    assert second.at == pytest.approx(0.5)
    assert course(found) == {"frank": [("two", 0.0, 0.3), ("one", 0.3, 0.5), ("two", 0.5, 0.6)]}


def course(found):
    """By family: who is best, and from where to where."""
    return {
        family: [
            (each.model, pytest.approx(each.low), pytest.approx(each.high))
            for each in found.over_tau.stretches()
            if each.family == family
        ]
        for family in found.over_tau.lines
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


def test_each_family_has_its_own_course(result):
    taus = (0.0, 0.4)
    scores = {
        "frank": (taus, {"two": [0.1, 0.2], "one": [0.2, 0.1]}),
        "clayton": (taus, {"two": [0.1, 0.3], "one": [0.2, 0.2]}),
    }
    found = course(made(result, scores))
    assert found["frank"] == found["clayton"] == [("two", 0.0, 0.2), ("one", 0.2, 0.4)]
    scores["clayton"] = (taus, {"two": [0.1, 0.5], "one": [0.2, 0.2]})
    assert course(made(result, scores))["clayton"] == [("two", 0.0, 0.1), ("one", 0.1, 0.4)]


def test_families_may_differ_from_the_start(result):
    scores = {
        "frank": ((0.3,), {"two": [0.1], "one": [0.2]}),
        "clayton": ((0.3,), {"two": [0.2], "one": [0.1]}),
    }
    assert course(made(result, scores)) == {"frank": [("two", 0.3, 0.3)], "clayton": [("one", 0.3, 0.3)]}


def test_equals_share_the_first_place_and_a_tie_is_no_change(result):
    taus = (0.0, 0.2, 0.4)
    both = made(result, {"frank": (taus, {"two": [0.1, 0.2, 0.3], "one": [0.1, 0.2, 0.3]})}).over_tau
    assert both.leaders()["frank"][0.2] == ("two", "one")
    assert both.stretches()[0].equals == ("one",)
    for names in (("two", "one"), ("one", "two")):
        touching = made(
            result, {"frank": (taus, dict(zip(names, ([0.1, 0.2, 0.1], [0.3, 0.2, 0.3]), strict=True)))}
        ).over_tau
        assert touching.changes() == []
        assert touching.stretches()[0].model == names[0]
    late = made(result, {"frank": (taus, {"two": [0.1, 0.2, 0.3], "one": [0.1, 0.1, 0.1]})})
    assert [each.model for each in late.over_tau.stretches()] == ["one"]


def test_a_greater_score_is_better_where_the_metric_says_so(result):
    kind = type(metric_of(result, "ibs"))

    @dataclass(frozen=True)
    class Turned(kind):
        direction = "higher"

    turned = replace(result, data=replace(result.data, metrics=(Turned(),)))
    found = made(turned, {"frank": ((0.0, 0.4), {"two": [0.2, 0.1], "one": [0.1, 0.2]})})
    assert course(found) == {"frank": [("two", 0.0, 0.2), ("one", 0.2, 0.4)]}
    assert found.over_tau.standing("frank", 0.0).ranks == {"two": 1, "one": 2}


def test_a_family_without_an_answer_is_named(result):
    found = made(result, {"frank": ((0.0, 0.4), {"two": [0.1, 0.1], "one": [0.2, 0.2]})})
    why = Note("no_score", values={"why": "no answer."}).on(adjustment="imputation")
    over_tau = replace(found.over_tau, lines=("frank", "gaussian"), missing={("imputation", "gaussian"): why})
    found = replace(found, over_tau=over_tau)
    assert found.verdict.silent == ("gaussian",)
    assert "gaussian" in found.statement.casefold()
    assert sensitivity_numbers(found)["missing"][0]["family"] == "gaussian"


def test_one_model_is_held_against_kaplan_meier_along_the_grid(study, result):
    alone = study({"one": result.data.predictions["one"]}, copula=None)
    found = alone.sensitivity("clayton", [0.0, 0.5])
    [course] = found.verdict.courses
    assert (course.first, course.second) == ("one", "")
    reference = alone.results["imputation"].reference["ibs"].value
    assert course.curve.values[0] == pytest.approx(reference - alone.score("one").value, rel=1e-9)


def test_taus_are_a_set_of_values(result):
    in_order, shuffled = (
        result.sensitivity(["clayton", "frank"], taus, "cg_q")
        for taus in ([-0.3, 0.0, 0.4], [0.4, -0.3, 0.0, 0.0])
    )
    assert shuffled.over_tau.points == in_order.over_tau.points == (-0.3, 0.0, 0.4)
    assert sensitivity_numbers(shuffled) == sensitivity_numbers(in_order)


def test_only_the_adjustments_that_are_asked_for(result):
    found = result.sensitivity(["frank"], [0.0, 0.5], ["cg_q"])
    assert list(found.over_tau.answers) == ["cg_q"]


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
        adjustments=["cg_q", "imputation_prediction"],
        copula=cc.Clayton(1.0),
        metrics="ibs",
    )
    [why] = found.results["imputation_prediction"].notes_of("missing")  # there is one event
    grid = found.sensitivity("clayton", [0.0, 0.4]).over_tau
    assert {name for name, _ in grid.missing} == {"imputation_prediction"}
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
        return score_refit(data, before)

    monkeypatch.setattr(sensitivity_run, "score_refit", again)
    monkeypatch.setattr(_parallel, "n_cores", lambda: 2)
    with pytest.raises(ZeroDivisionError, match="frank"):
        result.sensitivity(["clayton", "frank"], [0.1, 0.2, 0.3, 0.4], "imputation")
