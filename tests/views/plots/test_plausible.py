"""What figures show of which dependence is plausible."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest

import cocensor as cc
from cocensor.study.sensitivity import induced_tau
from cocensor.views.plots import CurveDisplay, ForestDisplay
from cocensor.views.plots.dependence import draw_ratio_axis
from cocensor.views.plots.panels import draw_second_axis
from tests.views.plots.reading import texts

N = 300
TIMES = np.array([0.2, 0.4, 0.8])
RATIOS = (0.5, 1.0, 2.0, 4.0)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def evaluation():
    """Two curves for everybody and one that is far off; the grimmer one gains by a higher hazard after dropout."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N, 3))
    event = rng.exponential(np.exp(-x @ [0.9, 0.3, 0.0]))
    dropout = rng.exponential(np.exp(-x @ [0.6, -0.3, 0.0]))
    known = cc.Survival.from_latent(event, dropout)
    why = np.where(known.event, None, np.where(np.arange(N) % 3 == 0, "moved", "ill"))
    models = {
        "hopeful": np.tile(np.exp(-TIMES / 1.2), (N, 1)),
        "grim": np.tile(np.exp(-1.3 * TIMES), (N, 1)),
        "wrong": np.tile([0.3, 0.1, 0.0], (N, 1)),
    }
    y = cc.Survival(known.time, known.event, reason=why)
    return cc.evaluate(models, y, x, adjustments=("ipcw", "imputation", "cg_q"), metrics="ibs", times=TIMES)


@pytest.fixture(scope="module")
def sensitivity(evaluation):
    families = ("clayton", "frank", "hazard_ratio")
    return evaluation.sensitivity(
        families, [-0.3, 0.0, 1 / 3, 0.5], hazard_ratios=RATIOS, plausible=(-0.1, 0.25)
    )


def panel(sensitivity, family, adjustment="imputation", display=CurveDisplay.from_sensitivity):
    return display(sensitivity, adjustment=adjustment, family=family).plot()


def above(ax):
    """The ticks of the second axis by their text."""
    (axis,) = ax.child_axes
    return dict(zip([label.get_text() for label in axis.get_xticklabels()], axis.get_xticks(), strict=True))


def drawn(ax, label):
    return next(line for line in ax.get_lines() if line.get_label() == label)


def bars(ax):
    # Vertices, as matplotlib below 3.9 draws a polygon where later ones draw a rectangle.
    edges = [bar.get_patch_transform().transform(bar.get_path().vertices)[:, 0] for bar in ax.patches]
    return [(float(x.min()), float(x.max())) for x in edges]


@pytest.mark.parametrize("display", [CurveDisplay.from_sensitivity, CurveDisplay.from_differences])
def test_the_axis_on_top_has_the_hazard_ratio_that_tau_stands_for(sensitivity, display):
    # Clayton's copula: (1 + τ) / (1 − τ).
    ticks = above(panel(sensitivity, "clayton", display=display))
    assert ticks["1"] == 0.0
    assert ticks["2"] == pytest.approx(1 / 3, abs=1e-6)
    assert ticks["3"] == pytest.approx(0.5, abs=1e-6)
    assert "5" not in ticks  # beyond the grid
    for text, tau in above(panel(sensitivity, "frank", display=display)).items():
        assert sensitivity.over_tau.hazard_ratio("frank", tau, "imputation") == pytest.approx(float(text))


def test_there_is_no_axis_on_top_where_the_ratio_is_not_known(sensitivity):
    assert panel(sensitivity, "clayton", "cg_q").child_axes == []


@pytest.mark.parametrize("display", [CurveDisplay.from_sensitivity, CurveDisplay.from_differences])
def test_the_plausible_range_is_shaded(sensitivity, display):
    ax = panel(sensitivity, "frank", display=display)
    assert bars(ax) == [pytest.approx((-0.1, 0.25))]
    assert "plausible range of τ" in texts(ax.get_legend())
    assert ax.get_xlim()[0] < -0.3  # negative τ is in sight


def test_covariates_are_marks_at_the_bottom(sensitivity):
    ax, found = panel(sensitivity, "frank"), sensitivity.benchmarks
    strongest, *others = found.benchmarks
    marks = {
        f"strongest covariate: {strongest.name}": [strongest.shrunken_tau],
        "all covariates together": [found.together],
        "other covariates": [each.shrunken_tau for each in others],
    }
    for label, taus in marks.items():
        line = drawn(ax, label)
        assert list(line.get_xdata()) == taus
        assert line.get_transform() != ax.transData
        assert max(line.get_ydata()) < 0.1


def test_without_covariates_there_are_no_marks():
    y = cc.Survival([1, 2, 3, 4], [1, 0, 1, 1])
    asked = {"adjustments": "cg_q", "times": [1.0, 2.0], "copula": cc.Clayton(2.0), "metrics": "ibs"}
    found = cc.evaluate({"same": np.full((4, 2), 0.5)}, y, confidence_level=None, **asked)
    ax = found.sensitivity("clayton", [0.0, 0.4]).plot()
    assert not any("covariate" in text for text in texts(ax.get_legend()))
    assert bars(ax) == [pytest.approx((-0.2, 0.2))]


def test_hazard_ratios_have_a_panel_on_the_log_scale(sensitivity):
    after = sensitivity.over_ratio
    axes = CurveDisplay.from_sensitivity(sensitivity, adjustment="imputation").plot()
    assert [ax.get_xscale() for ax in axes] == ["linear", "linear", "log"]
    line = drawn(axes[2], "grim")
    assert tuple(line.get_xdata()) == RATIOS
    assert list(line.get_ydata()) == [
        after.values("all", ratio, "ibs", "imputation")["grim"] for ratio in RATIOS
    ]
    assert {float(label.get_text()) for label in axes[2].get_xticklabels()} == set(RATIOS)
    assert axes[2].child_axes == []
    at_independence = [
        line for line in axes[2].get_lines() if line.get_marker() == "_" and len(line.get_xdata())
    ]
    assert {line.get_xdata()[0] for line in at_independence} == {1.0}


def test_a_reason_moves_alone_on_request(sensitivity):
    after = sensitivity.over_ratio
    axes = sensitivity.plot(line=["all", "ill"])
    for ax, name in zip(axes, ("all", "ill"), strict=True):
        assert ax.get_title().endswith(f"after dropout: {name}")
        assert list(drawn(ax, "grim").get_ydata()) == [after.values(name, ratio)["grim"] for ratio in RATIOS]
    with pytest.raises(ValueError, match=r"^line .*'weather'"):
        sensitivity.plot(line="weather")


def test_the_order_turns_at_a_ratio(sensitivity):
    after = sensitivity.over_ratio
    (point,) = after.pair("grim", "hopeful", "ibs", "imputation").tipping_points("all")
    display = CurveDisplay.from_differences(sensitivity, "hopeful", adjustment="imputation", line="all")
    ax = display.plot()
    marks = [
        line.get_xdata()[0] for line in ax.get_lines() if line.get_markersize() == 9 and len(line.get_xdata())
    ]
    assert point.at in marks
    assert ("grim", point.at) in [(mark.name, mark.x) for mark in display.panels["all"].marks]
    (change,) = (each for each in after.changes("ibs", "imputation") if each.family == "all")
    assert change.at == pytest.approx(point.at)  # where the scores cross, on the log scale


def test_ticks_that_would_touch_are_left_out():
    _, ax = plt.subplots(figsize=(4, 3))
    ax.set_xlim(0.0, 1.0)
    draw_second_axis(ax, "ratio", [("1", 0.5), ("1.1", 0.51), ("2", 0.9), ("9", 1.4)])
    assert above(ax) == {"1": 0.5, "2": 0.9}
    draw_ratio_axis(tuple(np.linspace(0.5, 5.0, 46).round(1)), ax)
    boxes = sorted(label.get_window_extent().extents[[0, 2]].tolist() for label in ax.get_xticklabels())
    assert all(left[1] < right[0] for left, right in pairwise(boxes))
    assert {0.5, 1.0, 5.0} <= set(ax.get_xticks())


def test_bars_are_bounds_whiskers_their_intervals_and_markers_the_scores(evaluation):
    bounds = evaluation.bounds()
    scores, differences = ForestDisplay.from_bounds(bounds, evaluation).plot()
    for ax, keys in ((scores, bounds.models), (differences, bounds.pairs)):
        assert bars(ax) == [pytest.approx((bounds[key].low, bounds[key].high)) for key in keys]
        whiskers = [tuple(line.get_xdata()) for line in ax.get_lines() if line.get_marker() == "|"]
        assert whiskers[: len(keys)] == [tuple(bounds[key].confidence_interval(bounds.level)) for key in keys]
    score, pair = (
        evaluation.score("hopeful", adjustment="ipcw"),
        evaluation.compare(*bounds.pairs[0], adjustment="ipcw"),
    )
    for ax, value in ((scores, score.value), (differences, pair.difference)):
        circle = drawn(ax, "IPCW").get_marker()
        first = next(line for line in ax.get_lines() if line.get_marker() == circle and len(line.get_xdata()))
        assert (first.get_xdata()[0], first.get_ydata()[0]) == (value, 0)
    assert any(list(line.get_xdata()) == [0.0, 0.0] for line in differences.get_lines())


def test_a_certain_difference_has_the_colour_of_the_better_model(evaluation):
    bounds = evaluation.bounds()
    assert bounds.certain("grim", "wrong", bounds.level) == "grim"
    assert bounds.certain("hopeful", "grim", bounds.level) is None
    scores, differences = bounds.plot()
    face = {
        row.get_text(): bar.get_facecolor()[:3]
        for ax in (scores, differences)
        for row, bar in zip(ax.get_yticklabels(), ax.patches, strict=True)
    }
    assert face["grim minus wrong"] == face["grim"]
    assert len(set(face["hopeful minus grim"])) == 1  # grey


def test_one_model_without_intervals_has_one_panel_of_bounds():
    y = cc.Survival([1, 2, 3, 4], [1, 0, 1, 1])
    asked = {"adjustments": "ipcw", "times": [1.0, 2.0], "metrics": "ibs", "confidence_level": None}
    found = cc.evaluate({"half": np.full((4, 2), 0.5)}, y, **asked)
    ax = found.bounds().plot()
    assert len(ax.patches) == 1
    assert ax.get_lines() == [] or not any(len(line.get_xdata()) for line in ax.get_lines())
    assert not any("interval" in text for text in texts(ax.get_legend()))


def test_bounds_over_time_are_shaded_around_the_scores(evaluation):
    display = CurveDisplay.from_bounds(evaluation.bounds(), evaluation, minus="grim")
    assert list(display.panels) == ["hopeful", "wrong"]
    along, values = evaluation.bounds().over_time("hopeful", "grim"), evaluation.results["ipcw"].values["ibs"]
    shown = display.panels["hopeful"]
    np.testing.assert_array_equal(shown.lines["hopeful"].limits, (along.low, along.high))
    (ipcw,) = (guide for guide in shown.guides if guide.label == "IPCW")
    np.testing.assert_array_equal(ipcw.y, values["hopeful"].curve - values["grim"].curve)
    ax = evaluation.bounds().plot_over_time()[0]
    (area,) = (each for each in ax.collections if len(each.get_paths()))
    own = evaluation.bounds().over_time("hopeful")
    extent = area.get_datalim(ax.transData)
    assert (extent.y0, extent.y1) == pytest.approx((own.low.min(), own.high.max()))


def test_covariates_have_rows_and_a_hidden_factor_the_axis_on_top(evaluation):
    found = evaluation.benchmarks()
    display = ForestDisplay.from_benchmarks(found, most=2)
    ax = display.plot()
    name = found.strongest.name
    names = [label.get_text() for label in ax.get_yticklabels()]
    shown = [each.name for each in found.benchmarks[:2]]
    assert names == [*shown, "and 1 weaker", "all together", *(f"{k} × {name}" for k in (1, 2, 3))]
    at = {
        line.get_ydata()[0]: line.get_xdata()[0]
        for line in ax.get_lines()
        if line.get_marker() in ("o", "D") and len(line.get_xdata())
    }
    assert at[0] == found.strongest.tau
    assert at[3] == found.together
    assert [at[row] for row in (4, 5, 6)] == list(found.multiples.values())
    assert tuple(found.strongest.interval) in [tuple(line.get_xdata()) for line in ax.get_lines()]
    assert bars(ax) == [pytest.approx((-0.2, 0.2))]
    (axis,) = ax.child_axes
    for label, tau in zip(axis.get_xticklabels(), axis.get_xticks(), strict=True):
        ratio = float(label.get_text())
        assert abs(tau) == pytest.approx(induced_tau(ratio, ratio))
    assert min(axis.get_xticks()) < 0 < max(axis.get_xticks())


def test_a_number_of_covariates_must_be_positive(evaluation):
    with pytest.raises(ValueError, match=r"^most .* 0"):
        ForestDisplay.from_benchmarks(evaluation.benchmarks(), most=0)
