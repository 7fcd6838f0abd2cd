"""What figures show of sampling errors."""

from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pytest

import cocensor as cc
from cocensor.simulate import SyntheticDesign
from cocensor.study.curves import curve_errors
from cocensor.study.ranking import standing
from cocensor.views.plots import CurveDisplay, ForestDisplay
from tests.strategies import cox_predictions
from tests.views.plots.reading import areas, best_along

TAUS = [0.0, 0.3, 0.6, 0.9]


@pytest.fixture(scope="module")
def asked():
    """A function of the confidence level: two models that differ, and one that equals the first."""
    data = SyntheticDesign(n=500, n_features=4, copula=cc.Clayton.from_tau(0.5)).draw(0)
    train, test = data[:250], data[250:]
    cox = partial(cox_predictions, train, test)
    models = {"all": cox(0, 1, 2, 3), "one": cox(3), "twin": cox(0, 1, 2, 3)}
    times = np.quantile(test.y.time, [0.6, 0.2, 0.8])
    return partial(cc.evaluate, models, test.y, test.X, y_train=train.y, times=times, metrics="ibs")


@pytest.fixture(scope="module")
def evaluation(asked):
    return asked()


@pytest.fixture(scope="module")
def sensitivity(evaluation):
    return evaluation.sensitivity(("clayton", "frank"), TAUS)


@pytest.mark.parametrize(
    ("band", "columns"), [("pointwise", "low high"), ("simultaneous", "band_low band_high")]
)
def test_limits_over_time_are_those_of_the_table(evaluation, band, columns):
    display = CurveDisplay.from_scores(evaluation, "ipcw", band=band)
    table = evaluation.table("curves", "ibs").set_index(["adjustment", "model"]).sort_index()
    for model in evaluation.models:
        rows = table.loc[("ipcw", model)].sort_values("time")
        for found, column in zip(display.panels["ipcw"].lines[model].limits, columns.split(), strict=True):
            np.testing.assert_array_equal(found, rows[column])
    ax = display.plot()
    assert len(areas(ax)) == len(evaluation.models)
    assert display.shaded in [text.get_text() for text in ax.get_legend().get_texts()]
    plt.close(ax.figure)


def test_differences_over_time_have_intervals_of_their_own(evaluation):
    display = CurveDisplay.from_scores(evaluation, "ipcw", minus="all")
    order = np.argsort(evaluation.data.times)
    expected = curve_errors(evaluation, adjustment="ipcw").of("one", "all")
    lines = display.panels["ipcw"].lines
    np.testing.assert_array_equal(lines["one"].y, expected.values[order])
    low, high = expected.confidence_intervals(evaluation.data.confidence_level)
    np.testing.assert_array_equal(lines["one"].limits, (low[order], high[order]))
    np.testing.assert_array_equal(lines["twin"].y, 0.0)
    assert "all" not in lines
    ax = display.plot()
    assert ax.get_ylabel() == "Brier score minus that of all\n(below 0: better)"
    assert any(set(line.get_ydata()) == {0} for line in ax.get_lines())
    plt.close(ax.figure)


def test_without_intervals_nothing_is_shaded(asked, evaluation):
    plain = asked(confidence_level=None)
    grid = plain.sensitivity("frank", TAUS)
    drawn = [
        CurveDisplay.from_scores(plain, "ipcw").plot(),
        CurveDisplay.from_scores(plain, "ipcw", minus="all").plot(),
        CurveDisplay.from_scores(evaluation, "ipcw", band=None).plot(),
        grid.plot(),
        grid.plot_differences(),
        ForestDisplay.from_scores(plain, "ipcw").plot(),
    ]
    for ax in drawn:
        assert areas(ax) == []
        assert not any("95" in text.get_text() for text in ax.get_legend().get_texts())
        plt.close(ax.figure)


def test_scores_along_tau_have_the_intervals_of_the_table_and_dots_for_ties(sensitivity):
    display = CurveDisplay.from_sensitivity(sensitivity, family="frank")
    panel = display.panels["frank"]
    table = sensitivity.table().set_index(["adjustment", "family", "model"]).sort_index()
    for model in sensitivity.evaluation.models:
        rows = table.loc[(sensitivity.over_tau.primary, "frank", model)]
        np.testing.assert_allclose(panel.lines[model].limits, (rows["low"], rows["high"]), rtol=1e-12)
    best = best_along(panel)
    assert list(map(set, best)) == list(map(set, sensitivity.over_tau.best()["frank"].values()))
    assert {"all", "twin"} <= set(best[0])


def test_a_difference_along_tau_has_its_interval_its_band_and_its_turns(sensitivity):
    display = CurveDisplay.from_differences(sensitivity)
    scores = sensitivity.over_tau.values("clayton", 0.0)
    reference, turns = min(scores, key=scores.get), {}
    for family, panel in display.panels.items():
        found = panel.lines["one"]
        for k, tau in enumerate(TAUS):
            pair = sensitivity.over_tau.compare("one", reference, family, tau)
            assert found.y[k] == pytest.approx(pair.difference)
            ends = pair.confidence_interval(sensitivity.evaluation.data.level)
            assert (found.limits[0][k], found.limits[1][k]) == pytest.approx(ends)
        wide = (
            CurveDisplay.from_differences(sensitivity, band="simultaneous").panels[family].lines["one"].limits
        )
        assert (wide[0] <= found.limits[0]).all()
        assert (wide[1] >= found.limits[1]).all()
        turns[family] = sensitivity.over_tau.pair("one", reference).tipping_points(family)
        np.testing.assert_array_equal(panel.lines["twin"].y, 0.0)
    axes = display.plot()
    for ax, family in zip(axes, display.panels, strict=True):
        marks = {
            line.get_xdata()[0]
            for line in ax.get_lines()
            if line.get_markersize() == 9 and len(line.get_xdata())
        }
        assert marks == {point.at for point in turns[family]}, family
        assert f"above 0: {reference} is better" in axes[0].get_ylabel()
    assert any(turns.values())
    plt.close(axes[0].figure)


def test_another_reference_turns_the_differences_around(sensitivity):
    one, other = (
        CurveDisplay.from_differences(sensitivity, reference, family="frank").panels["frank"].lines
        for reference in ("one", "all")
    )
    np.testing.assert_allclose(one["all"].y, -other["one"].y)
    np.testing.assert_allclose(one["all"].limits[0], -other["one"].limits[1])


def test_rows_of_models_have_scores_or_differences_with_intervals(evaluation):
    level = evaluation.data.confidence_level
    panel = ForestDisplay.from_scores(evaluation).panels["ipcw"].marks["score", None]
    differences = ForestDisplay.from_scores(evaluation, "ipcw", minus="all")
    for k, model in enumerate(evaluation.models):
        score = evaluation.score(model, adjustment="ipcw")
        assert (panel.values[k], panel.low[k], panel.high[k]) == (
            score.value,
            *score.confidence_interval(level),
        )
        assert panel.filled[k] == (model in standing(evaluation, adjustment="ipcw").best)
        pair, rows = (
            evaluation.compare(model, "all", adjustment="ipcw"),
            differences.panels["ipcw"].marks["score", None],
        )
        assert (rows.values[k], rows.low[k], rows.high[k]) == (
            pair.difference,
            *pair.confidence_interval(level),
        )
    ax = differences.plot()
    assert [text.get_text() for text in ax.get_yticklabels()] == list(evaluation.models)
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first model is on top
    plt.close(ax.figure)
    axes = ForestDisplay.from_scores(evaluation).plot()
    assert [each.get_title() for each in axes] == [each.label for each in evaluation.results.values()]
    plt.close(axes[0].figure)


def test_models_and_bands_that_are_not_there_are_refused(evaluation, sensitivity):
    with pytest.raises(ValueError, match="^minus .*'nobody'"):
        CurveDisplay.from_scores(evaluation, minus="nobody")
    with pytest.raises(ValueError, match="^band .*'wide'"):
        CurveDisplay.from_scores(evaluation, band="wide")
    with pytest.raises(ValueError, match="^minus .*'nobody'"):
        ForestDisplay.from_scores(evaluation, minus="nobody")
    with pytest.raises(ValueError, match="adjustment is empty"):
        ForestDisplay.from_scores(evaluation, [])
    with pytest.raises(ValueError, match="^reference .*'nobody'"):
        CurveDisplay.from_differences(sensitivity, "nobody")
    with pytest.raises(ValueError, match="^family .*'joe'"):
        CurveDisplay.from_differences(sensitivity, family="joe")
