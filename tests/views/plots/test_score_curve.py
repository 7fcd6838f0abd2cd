import matplotlib.pyplot as plt
import numpy as np
import pytest

import cocensor as cc
from cocensor.metrics import MetricValue
from cocensor.study.lookup import metric_of
from cocensor.views.plots import CurveDisplay
from tests.views.plots.reading import drawn, texts

Y = cc.Survival([1, 3, 5, 4, 7, 8, 10, 13], [1, 0, 0, 1, 1, 0, 1, 0])
TIMES = [4.0, 2.0, 6.0]
SURE = np.tile([0.4, 0.6, 0.2], (8, 1))
UNSURE = np.full((8, 3), 0.5)


@pytest.fixture(scope="module")
def evaluation():
    models = {"sure": SURE, "unsure": UNSURE}
    names = ("ipcw", "cg_q", "imputation_margins")
    metrics = ("ibs", cc.metric("ils", floor=0.01))
    copula = cc.Clayton.from_tau(0.5)
    return cc.evaluate(models, Y, y_train=Y, adjustments=names, metrics=metrics, times=TIMES, copula=copula)


def test_what_is_drawn_is_the_brier_score_in_the_order_of_time(evaluation):
    ax = CurveDisplay.from_scores(evaluation, "ipcw").plot()
    reference, *lines = drawn(ax).values()
    for line, predicted in zip(lines, (SURE, UNSURE), strict=True):
        np.testing.assert_array_equal(line.get_xdata(), [2.0, 4.0, 6.0])
        np.testing.assert_allclose(line.get_ydata(), cc.brier_score(Y, Y, predicted, TIMES)[[1, 0, 2]])
    km = np.tile(cc.KaplanMeier().fit(Y).predict(np.array(TIMES)), (8, 1))
    np.testing.assert_allclose(reference.get_ydata(), cc.brier_score(Y, Y, km, TIMES)[[1, 0, 2]])
    assert len({line.get_linestyle() for line in lines}) == 2  # told apart without colour
    assert texts(ax.get_legend()) == ["Kaplan–Meier for everybody", "sure", "unsure", "95% interval"]
    assert ax.get_title() == "IPCW"
    assert ax.get_ylabel() == "Brier score"
    plt.close(ax.figure)


def test_any_metric_with_values_over_time_is_drawn(evaluation):
    display = CurveDisplay.from_scores(evaluation, "ipcw", "ils")
    expected = cc.log_score(Y, Y, SURE, TIMES, floor=0.01)[[1, 0, 2]]
    np.testing.assert_allclose(display.panels["ipcw"].lines["sure"].y, expected)
    ax = display.plot()
    assert ax.get_ylabel() == metric_of(evaluation, "ils").curve_label
    plt.close(ax.figure)


def test_the_primary_adjustment_is_drawn_by_default_and_its_copula_named(evaluation):
    figure, ax = plt.subplots()
    assert evaluation.plot(ax) is ax
    assert ax.get_title() == "IPCW"  # the others do not vote
    plt.close(figure)
    ax = CurveDisplay.from_scores(evaluation, "imputation_margins").plot()
    figure = ax.figure
    assert ax.get_title() == "imputation from margins\nclayton, τ = 0.5"
    plt.close(figure)


def test_several_adjustments_have_a_panel_each_and_one_legend(evaluation):
    display = CurveDisplay.from_scores(evaluation, ["ipcw", "imputation_margins"])
    axes = display.plot()
    assert [ax.get_title().splitlines()[0] for ax in axes] == ["IPCW", "imputation from margins"]
    assert axes[0].get_ylim() == axes[1].get_ylim()
    (figure,) = {ax.figure for ax in axes}
    assert len(figure.legends) == 1
    assert all(ax.get_legend() is None for ax in axes)
    given, row = plt.subplots(1, 2)
    assert display.plot(row) == list(row)
    assert texts(row[0].get_legend())[:3] == ["Kaplan–Meier for everybody", "sure", "unsure"]
    with pytest.raises(ValueError, match="^ax .* 2 .* 1"):
        display.plot(row[0])
    for each in (figure, given):
        plt.close(each)


def test_a_model_without_a_score_is_left_out_and_others_keep_their_line(evaluation):
    display = CurveDisplay.from_scores(evaluation, ["ipcw", "cg_q"])
    del display.panels["ipcw"].lines["sure"]
    axes = display.plot()
    without, both = ({line.get_label(): line.get_color() for line in ax.get_lines()} for ax in axes)
    assert "sure" not in without
    assert without["unsure"] == both["unsure"] != both["sure"]
    plt.close(axes[0].figure)


class NoCurve(cc.metrics.Metric):
    """A metric without values over time."""

    name, label, direction, range = "half", "one half", "higher", (0.0, 1.0)

    def evaluate(self, status, predictions):
        return dict.fromkeys(predictions, MetricValue(0.5))


def test_what_cannot_be_drawn_is_refused(evaluation):
    with pytest.raises(ValueError, match="^adjustment .*'dep'"):
        CurveDisplay.from_scores(evaluation, "dep")
    with pytest.raises(ValueError, match="^metric .*'c'"):
        CurveDisplay.from_scores(evaluation, metric="c")
    with pytest.raises(ValueError, match="adjustment is empty"):
        CurveDisplay.from_scores(evaluation, [])
    other = cc.evaluate({"sure": SURE}, Y, adjustments="ipcw", metrics=NoCurve(), times=TIMES)
    with pytest.raises(ValueError, match="metric .*'half'"):
        CurveDisplay.from_scores(other)
    half, oracle = {"half": np.full((8, 3), 0.5)}, cc.Oracle([1.0])
    some = cc.evaluate(half, Y, adjustments={"ipcw": "ipcw", "short": oracle}, times=TIMES, metrics="ibs")
    with pytest.raises(ValueError, match="adjustment .*'short'.*event_times"):
        CurveDisplay.from_scores(some, "short")
    with pytest.raises(ValueError, match="minus .*'sure' alone"):
        CurveDisplay.from_scores(cc.evaluate({"sure": SURE}, Y, times=TIMES, metrics="ibs"), minus="sure")
    ordered = cc.evaluate({"sure": SURE, "unsure": UNSURE}, Y, times=TIMES, metrics="auc")
    with pytest.raises(ValueError, match="metric must be one of 'auc'"):
        CurveDisplay.from_bounds(evaluation.bounds("ibs"), ordered)
