"""Below curves over time: what time is called, and how many are at risk."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import cocensor as cc
from cocensor.views.plots import CurveDisplay, ForestDisplay
from cocensor.views.plots.panels import NAMED
from tests.views.plots.reading import at_ends, texts

RNG = np.random.default_rng(3)
TIMES = np.linspace(0.0, 30.0, 11)
E, C = RNG.exponential(30.0, (2, 1500)).round()
Y = cc.Survival.from_latent(E, C, study_end=40.0)
CURVES = np.exp(-TIMES / RNG.uniform(10.0, 30.0, (1500, 1)))


@pytest.fixture(scope="module")
def evaluation():
    models = {"a": (TIMES, CURVES), "b": (TIMES, CURVES**1.3), "c": (TIMES, CURVES**0.8)}
    metrics = ("ibs", "auc", "ici")
    return cc.evaluate(models, Y, metrics=metrics, at=[6.0, 12.0], time_name="fu", time_unit="months")


@pytest.fixture(autouse=True)
def no_figures_left():
    yield
    plt.close("all")


def at_risk(ax):
    """The numbers below an axis, by row and time."""
    rows = {}
    for text in ax.texts:
        if text.get_text() != "number at risk" and text.get_gid() is None:
            at, down = text.xy[0], text.xyann[1]
            rows.setdefault(round(down, 3), {})[at] = int(text.get_text().replace(",", ""))
    return [rows[down] for down in sorted(rows, reverse=True)]


def counted(y, times):
    return {t: int((y.time >= t).sum()) for t in times}


def test_below_a_score_curve_are_name_unit_and_numbers_at_risk(evaluation):
    ax = CurveDisplay.from_scores(evaluation).plot()
    assert ax.get_xlabel() == "fu (months)"
    assert ax.get_xticks().tolist() == [0.0, 6.0, 12.0, 18.0, 24.0, 30.0]
    assert at_risk(ax) == [counted(Y, ax.get_xticks())]
    assert ax.texts[1].get_text() == "1,500"


def test_every_panel_has_its_own_numbers(evaluation):
    axes = evaluation.bounds().plot_over_time()
    assert len(axes) == 3
    assert {ax.get_xlabel() for ax in axes} == {"fu (months)"}
    for ax in axes:
        [row] = at_risk(ax)
        assert row == counted(Y, row)
        assert row[0.0] == 1500


def overlaps(boxes):
    return [(k, j) for k, a in enumerate(boxes) for j, b in enumerate(boxes[:k]) if a.overlaps(b)]


def with_bounds(evaluation):
    return CurveDisplay.from_bounds(evaluation.bounds(), evaluation)


@pytest.mark.parametrize("shown", [CurveDisplay.from_scores, with_bounds])
def test_numbers_touch_nothing_and_stay_within_the_figure(evaluation, shown):
    drawn = shown(evaluation).plot()
    axes = drawn if isinstance(drawn, list) else [drawn]
    figure = axes[0].figure
    figure.canvas.draw()
    legends = [each.get_window_extent() for each in (*figure.legends, *filter(None, [axes[0].get_legend()]))]
    labels = [ax.xaxis.label.get_window_extent() for ax in axes]
    numbers = [text.get_window_extent() for ax in axes for text in ax.texts]
    assert not overlaps([*legends, *labels, *numbers])
    for box in (*numbers, *legends):
        assert box.y0 >= 0
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.x1


def test_numbers_can_be_left_out(evaluation):
    for shown in (CurveDisplay.from_scores, with_bounds):
        drawn = shown(evaluation).plot(at_risk=False)
        for ax in np.ravel(drawn):
            assert all(text.get_gid() == NAMED for text in ax.texts)
            assert ax.get_xlabel() == "fu (months)"
    assert list(at_ends(evaluation.plot(at_risk=False))) == ["b", "a", "c"]
    km = cc.KaplanMeier().fit(Y)
    [name] = CurveDisplay.from_estimators({"KM": km}).plot(at_risk=False).texts
    assert name.get_text() == "KM"


def test_curves_of_one_sample_share_a_row_and_others_have_their_own():
    other = cc.Survival([3.0, 20.0, 41.0], [1, 0, 1])
    same = {"KM": cc.KaplanMeier().fit(Y), "CG": cc.CopulaGraphic(cc.Clayton(1.0)).fit(Y)}
    ax = CurveDisplay.from_estimators(same).plot()
    assert ax.get_xlabel() == "time"
    assert at_risk(ax) == [counted(Y, ax.get_xticks())]
    ax = CurveDisplay.from_estimators(same | {"other": cc.KaplanMeier().fit(other)}, time_unit="weeks").plot()
    assert ax.get_xlabel() == "weeks"
    assert at_risk(ax) == [counted(Y, ax.get_xticks()), counted(other, ax.get_xticks())]
    first, last = ax.get_lines()[0], ax.get_lines()[2]
    below = [text for text in ax.texts if text.get_gid() is None]
    assert [below[1].get_color(), below[-1].get_color()] == [first.get_color(), last.get_color()]


def test_times_that_begin_late_have_marks_of_their_own():
    models = {"a": np.full((1500, 2), 0.5)}
    found = cc.evaluate(models, Y, adjustments="ipcw", times=[20.0, 22.0], metrics="ibs")
    ax = CurveDisplay.from_scores(found).plot()
    assert ax.get_xticks().tolist() == [20.0, 20.5, 21.0, 21.5, 22.0]
    assert at_risk(ax) == [counted(Y, ax.get_xticks())]


def test_figures_at_single_times_say_the_unit(evaluation):
    assert [ax.get_title() for ax in CurveDisplay.from_roc(evaluation).plot()] == [
        "ROC curve at 6 months",
        "ROC curve at 12 months",
    ]
    ax = CurveDisplay.from_decision_curves(evaluation, at=6.0).plot()
    assert ax.get_title() == "Net benefit at 6 months"
    ax = CurveDisplay.from_calibration(evaluation, at=6.0, models="a").plot()
    assert ax.get_xlabel() == "predicted risk by 6 months"
    axes = ForestDisplay.from_metrics(evaluation).plot()
    assert [ax.get_title() for ax in axes] == ["integrated Brier score", "AUC", "ICI"]
    assert {"at 6 months", "at 12 months"} <= set(texts(axes[0].figure.legends[0]))
    axes = CurveDisplay.from_imputation_fit(evaluation.results["imputation"].imputation_fit).plot()
    assert any(text.endswith("≤ 30 months") for text in texts(axes[0].figure.legends[0]))
