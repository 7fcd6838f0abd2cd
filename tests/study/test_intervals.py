"""Scores, differences and skills with their sampling errors, and where there are none."""

import warnings
from dataclasses import dataclass
from importlib import import_module

import numpy as np
import pytest

import cocensor as cc
from cocensor.inference.influence import influence
from cocensor.simulate import SyntheticDesign
from cocensor.study.curves import curve_errors
from cocensor.study.ranking import standing
from cocensor.study.scores import Score
from tests.refusals import refuses

DATA = SyntheticDesign(n=500, n_features=3, copula=cc.Clayton.from_tau(0.4)).draw(1)
TRAIN, TEST = DATA[:250], DATA[250:]
TIMES = np.linspace(0.0, float(np.quantile(TEST.y.time, 0.9)), 21)
MODELS = {
    f"{k}": cc.Predictions(TIMES, cc.CoxPH().fit(TRAIN.X[:, :k], TRAIN.y).survival(TIMES, TEST.X[:, :k]))
    for k in (1, 2, 3)
}
N = 40
RNG = np.random.default_rng(0)
GRID = np.linspace(0.0, 1.0, 11)
SMALL = RNG.exponential(1.0, N)
CURVES = np.exp(-np.outer(np.exp(0.5 * RNG.normal(size=N)), GRID))


@pytest.fixture(scope="module")
def result():
    return cc.evaluate(
        MODELS, TEST.y, TEST.X, times=TIMES, metrics=["ibs", "brier"], copula=cc.Clayton.from_tau(0.4)
    )


@pytest.fixture(scope="module")
def grid(result):
    return result.sensitivity(["clayton", "frank"], [0.0, 0.3, 0.6]).over_tau


def small(models, event, x=None, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return cc.evaluate(models, cc.Survival(SMALL, event), x, times=GRID, **({"metrics": "ibs"} | options))


# --- scores -------------------------------------------------------------------------------------------


def test_a_score_has_an_interval_in_scipys_manner(result):
    score = result.score("3")
    low, high = score.confidence_interval(confidence_level=0.9)
    assert low < score.value < high
    assert high - low == pytest.approx(2 * 1.6448536 * score.standard_error, rel=1e-6)
    assert score.confidence_interval().low < low
    row = result.table().query("metric == 'ibs' and adjustment == 'imputation' and model == '3'").iloc[0]
    assert (row["low"], row["high"]) == pytest.approx(tuple(score.confidence_interval()))
    assert row["standard_error"] == score.standard_error


def test_an_interval_keeps_to_the_range_of_the_metric():
    score = cc.evaluate(
        {"a": cc.Predictions(GRID, CURVES[:6])},
        cc.Survival(SMALL[:6], [True, False, True, False, True, True]),
        times=GRID,
        adjustments="ipcw",
        metrics="ibs",
    ).score("a", at=GRID[2])
    reach = 3.29 * score.standard_error
    assert score.value - reach < 0
    assert score.confidence_interval(0.999).low == 0.0


def test_a_score_beyond_the_range_keeps_its_interval():
    """Weights of IPCW may stand for more subjects than there are."""
    asked = {"model": "a", "metric": "ibs", "adjustment": "ipcw", "range": (0.0, 1.0)}
    score = Score(value=1.2, standard_error=0.05, **asked)
    assert score.confidence_interval().low < 1.2 < score.confidence_interval().high


def test_the_error_of_a_difference_is_that_of_the_same_subjects(result):
    status = result.results["imputation"].fitted.weights(TEST.y, TIMES)
    metric = cc.metric("ibs")
    both = {name: MODELS[name] for name in ("1", "3")}
    found = influence(status, metric.functionals(status, both), TEST.y)
    difference = found[0] - found[1]
    compared = result.compare("1", "3")
    assert compared.difference == pytest.approx(float(result.score("1")) - float(result.score("3")))
    assert compared.standard_error == pytest.approx(float(difference.standard_errors), rel=1e-9)
    assert compared.standard_error < result.score("1").standard_error
    swapped = result.compare("3", "1")
    assert (swapped.difference, swapped.pvalue) == pytest.approx((-compared.difference, compared.pvalue))


def test_at_one_time_over_time_and_as_a_metric_are_one(result):
    at = TIMES[12]
    score = result.score("2", at=at)
    curve = curve_errors(result).of("2")
    assert score.value == pytest.approx(curve.values[12])
    assert score.standard_error == pytest.approx(curve.standard_errors[12], rel=1e-9)
    single = cc.evaluate(
        MODELS,
        TEST.y,
        TEST.X,
        times=TIMES,
        metrics=cc.metric("brier", at=at),
        copula=cc.Clayton.from_tau(0.4),
        adjustments="imputation",
    )
    assert single.metrics == (f"brier at {at:g}",)
    assert single.score("2").value == pytest.approx(score.value)
    assert single.score("2").standard_error == pytest.approx(score.standard_error)
    compared, over_time = result.compare("1", "3", at=at), curve_errors(result).of("1", "3")
    assert compared.difference == pytest.approx(over_time.values[12])
    assert compared.standard_error == pytest.approx(over_time.standard_errors[12], rel=1e-9)
    # Without a time of its own the Brier score is at the horizon.
    assert result.score("2", "brier").value == pytest.approx(result.score("2", at=TIMES[-1]).value)


def test_times_of_scores_are_checked(result):
    refuses(lambda: result.score("2", at=2 * TIMES[-1]), "at", f"{2 * TIMES[-1]:g}")
    refuses(lambda: result.score("2", at=-1.0), "at")
    refuses(lambda: cc.metric("brier", at="soon"), "at")
    refuses(
        lambda: cc.evaluate(MODELS, TEST.y, TEST.X, confidence_level=95, metrics="ibs"),
        "confidence_level",
        "95",
    )
    alone = cc.evaluate(MODELS, TEST.y, TEST.X, metrics="brier", times=[TIMES[9]], adjustments="ipcw")
    assert alone.score("1").value == pytest.approx(
        float(cc.brier_score(None, TEST.y, MODELS["1"], [TIMES[9]])[0])
    )
    refuses(lambda: cc.evaluate(MODELS, TEST.y, TEST.X, metrics=["ibs", "brier"], times=[TIMES[9]]), "times")


def test_limits_over_time_are_those_at_one_time(result):
    """Also where next to nobody has had the event, and an interval reaches past the range of the score."""
    errors = curve_errors(result).of("1")
    low, high = errors.confidence_intervals(0.95)
    reach = errors.values - 1.96 * errors.standard_errors
    assert (reach < 0).any()
    for k in np.flatnonzero(errors.standard_errors):
        assert (low[k], high[k]) == pytest.approx(result.score("1", at=TIMES[k]).confidence_interval())
    band = errors.band(0.95)
    assert (band.low >= 0).all()
    assert (curve_errors(result).of("1", "3").band(0.95).low < 0).any()


def test_times_that_look_alike_are_two():
    """Of four subjects one has the event by the first time, two by the second; all are given a chance of 0.8."""
    y, times = (np.array([5e5, 1_000_001.0, 1_000_002.0, 2e6]), np.ones(4)), (1_000_000.0, 1_000_001.0)
    found = cc.evaluate({"flat": np.full((4, 2), 0.8)}, y, adjustments="ipcw", times=times, metrics="ibs")
    assert [found.score("flat", at=t).value for t in times] == pytest.approx([0.19, 0.34])
    metrics = [cc.metric("brier", at=t) for t in times]
    assert [metric.name for metric in metrics] == ["brier at 1000000", "brier at 1000001"]


def test_a_skill_is_a_ratio_with_the_error_of_one(result):
    """The delta method against the influence of the ratio itself."""
    found, moved = cc.brier_skill_score(
        None, TEST.y, MODELS["3"], TIMES, adjustment="ipcw", return_influence=True
    )
    skill = result.score("3", adjustment="ipcw").skill
    assert skill.value == pytest.approx(found)
    assert skill.standard_error == pytest.approx(float(moved.standard_errors), rel=1e-9)


def test_score_functions_give_the_influence_of_subjects():
    scores, moved = cc.brier_score(None, TEST.y, MODELS, TIMES[[15, 5]], return_influence=True)
    assert moved["2"].test.shape == (len(TEST.y), 2)
    for k, at in enumerate(TIMES[[15, 5]]):
        one = cc.evaluate(MODELS, TEST.y, times=TIMES, adjustments="ipcw", metrics="ibs").score("2", at=at)
        assert one.value == pytest.approx(scores["2"][k])
        assert one.standard_error == pytest.approx(moved["2"].standard_errors[k], rel=1e-9)
    score, moved = cc.integrated_log_score(
        TRAIN.y, TEST.y, MODELS["2"], TIMES, floor=0.01, return_influence=True
    )
    assert np.isfinite(score)
    assert moved.test.shape == (len(TEST.y),)
    assert moved.fitted.shape == (len(TRAIN.y),)


def test_no_intervals_where_none_are_asked_for():
    plain = cc.evaluate(MODELS, TEST.y, TEST.X, times=TIMES, confidence_level=None, metrics="ibs")
    assert np.isnan(plain.score("1").standard_error)
    assert "requested" in plain.score("1").missing
    assert not any(each.errors for each in plain.results.values())
    assert "low" not in plain.table().columns
    assert standing(plain).best == (min(plain.models, key=lambda model: plain.score(model).value),)
    assert np.isnan(plain.compare("1", "2").pvalue)
    over = plain.sensitivity("clayton", [0.0, 0.3])
    assert "low" not in over.table().columns
    assert over.over_tau.best() == over.over_tau.leaders()


# --- bad cases ------------------------------------------------------------------------------------------


def test_equal_models_differ_by_exactly_nothing():
    models = {"a": cc.Predictions(GRID, CURVES), "b": cc.Predictions(GRID, np.asfortranarray(CURVES))}
    result = small(models, RNG.random(N) < 0.5)
    for adjustment in result.results:
        compared = result.compare("a", "b", adjustment=adjustment)
        assert (compared.difference, compared.standard_error, compared.pvalue) == (0.0, 0.0, 1.0)
        assert tuple(compared.confidence_interval()) == (0.0, 0.0)
        assert set(standing(result, adjustment=adjustment).best) == {"a", "b"}
    assert result.table("differences")["adjusted_pvalue"].tolist() == [1.0, 1.0]


def test_where_all_have_the_same_loss_there_is_no_interval_but_a_difference():
    perfect = cc.Predictions(GRID, np.where(SMALL[:, None] > GRID, 1.0, 0.0), interpolation="step")
    result = small({"perfect": perfect, "other": cc.Predictions(GRID, CURVES)}, np.ones(N, dtype=bool))
    score = result.score("perfect")
    assert score.value == 0
    assert np.isnan(score.standard_error)
    assert "same loss" in score.missing
    compared = result.compare("perfect", "other")
    assert compared.standard_error == pytest.approx(result.score("other").standard_error)
    assert standing(result).best == ("perfect",)


def test_what_has_no_score_says_so_whichever_comes_first():
    refused = np.full_like(CURVES, np.nan)
    result = small({"a": cc.Predictions(GRID, CURVES), "b": (GRID, refused)}, RNG.random(N) < 0.5)
    found = [result.compare("a", "b"), result.compare("b", "a"), result.score("b"), result.score("b").skill]
    assert [each.missing for each in found] == ["there is no score"] * 4


@pytest.mark.parametrize("events", [0, 1])
def test_next_to_no_events_cost_the_imputation_model_alone(events):
    event = np.arange(N) < events
    result = small({"a": cc.Predictions(GRID, CURVES)}, event, adjustments=["ipcw", "imputation"])
    assert np.isfinite(result.score("a", adjustment="ipcw").standard_error)
    judged = result.score("a", adjustment="imputation")
    assert np.isnan(judged.value)
    assert judged.missing
    assert judged.notes


def test_no_event_by_the_last_time_leaves_nothing_to_fit():
    y = cc.Survival(SMALL + 1.5, RNG.random(N) < 0.5)
    result = cc.evaluate({"a": cc.Predictions(GRID, CURVES)}, y, times=GRID, metrics="ibs")
    losses = ((1 - CURVES) ** 2) @ cc.metric("ibs").time_weights(result.data.grid)
    for adjustment in result.results:
        score = result.score("a", adjustment=adjustment)
        assert score.standard_error == pytest.approx(losses.std(ddof=1) / np.sqrt(N))


def test_one_subject_has_a_score_and_no_interval():
    result = cc.evaluate(
        {"a": cc.Predictions(GRID, CURVES[:1])},
        cc.Survival([2.0], [True]),
        times=GRID,
        adjustments="ipcw",
        metrics="ibs",
    )
    score = result.score("a")
    assert np.isfinite(score.value)
    assert np.isnan(score.standard_error)
    assert "single subject" in score.missing


def test_an_adjustment_without_an_influence_says_so_in_its_own_cells():
    result = cc.evaluate(MODELS, TEST.y, times=TIMES, adjustments=["ipcw", "margin_km"], metrics="ibs")
    assert np.isfinite(result.score("1", adjustment="ipcw").standard_error)
    score = result.score("1", adjustment="margin_km")
    assert np.isfinite(score.value)
    assert "analytic" in score.missing
    assert any(note.kind == "caution" for note in result.results["margin_km"].notes)


def test_a_metric_without_a_gradient_has_scores_alone():
    @dataclass(frozen=True)
    class Share(cc.metrics.Metric):
        name, label, direction, range = "share", "share", "higher", (0.0, 1.0)

        def evaluate(self, status, predictions):
            return {name: cc.metrics.MetricValue(0.5) for name in predictions}

    result = cc.evaluate(MODELS, TEST.y, times=TIMES, metrics=[Share(), "ibs"], adjustments="ipcw")
    assert "gradient" in result.score("1", "share").missing
    assert np.isfinite(result.score("1", "ibs").standard_error)
    refuses(lambda: result.score("1", "share", at=1.0), "metric", "'share'")


# --- over the grid ----------------------------------------------------------------------------------------


def test_a_point_of_the_grid_has_the_errors_of_an_evaluation_there(grid):
    frank = cc.evaluate(
        MODELS,
        TEST.y,
        TEST.X,
        times=TIMES,
        copula=cc.Frank.from_tau(0.3),
        adjustments="imputation",
        metrics="ibs",
    )
    at = grid.errors("frank", 0.3)
    for model in MODELS:
        score = frank.score(model)
        assert at.estimate(model).value == pytest.approx(score.value, abs=1e-7)
        assert at.estimate(model).standard_error == pytest.approx(score.standard_error, rel=1e-4)
    compared, there = grid.compare("1", "3", "frank", 0.3), frank.compare("1", "3")
    assert compared.standard_error == pytest.approx(there.standard_error, rel=1e-4)
    curve = grid.along("1", "3")["frank"]
    assert curve.standard_errors[1] == pytest.approx(compared.standard_error)
    assert curve.values[1] == pytest.approx(compared.difference)
    assert grid.best()["frank"][0.3] == standing(frank).best


def test_only_points_of_the_grid_can_be_compared(grid):
    refuses(lambda: grid.compare("1", "3", "frank", 0.25), "tau", "0.25")
    refuses(lambda: grid.compare("1", "3", "joe", 0.3), "family", "joe")


def test_bands_are_wider_than_intervals_and_narrower_than_bonferronis(grid):
    curves, bands = grid.along("1"), grid.bands("1")
    for family, curve in curves.items():
        width = bands[family].high - bands[family].low
        assert (width >= curve.high - curve.low - 1e-12).all()
        assert bands[family].quantile < 2.64  # of five points


def test_a_range_of_tau_widens_the_interval(grid):
    found = grid.uncertainty(0.0, 0.6, "3")
    alone = grid.along("3")
    assert found.ignorance.low == min(curve.values.min() for curve in alone.values())
    assert found.strong.low == min(curve.low.min() for curve in alone.values())
    assert found.strong.low <= found.pointwise.low <= found.ignorance.low


def test_many_subjects_are_summed_in_batches(monkeypatch):
    """Batches tell the correlations over the grid, and the errors over time, but for what chance adds to them."""
    exact = cc.evaluate(MODELS, TEST.y, TEST.X, times=TIMES, metrics="ibs")
    monkeypatch.setattr(import_module("cocensor.inference.influence"), "N_BATCHES", 100)
    batched = cc.evaluate(MODELS, TEST.y, TEST.X, times=TIMES, metrics="ibs")
    assert batched.score("1").standard_error == pytest.approx(exact.score("1").standard_error, rel=1e-12)
    rows = curve_errors(batched).rows["1"]
    assert rows.shape == (100, TIMES.size)
    # A hundred batches know a standard error to 7 %.
    ratio = np.sqrt((rows**2).sum(axis=0))[5:] / curve_errors(exact).of("1").standard_errors[5:]
    np.testing.assert_allclose(ratio, 1.0, atol=0.3)
    over = batched.sensitivity("clayton", [0.0, 0.3])
    assert over.over_tau.answers["imputation"]["clayton"][0.3].batches["ibs"].shape == (100, 4)
