import matplotlib.pyplot as plt
import numpy as np
import pytest

import cocensor as cc
from cocensor.plots import BrierCurveDisplay

Y = cc.Survival([1, 3, 5, 4, 7, 8, 10, 13], [1, 0, 0, 1, 1, 0, 1, 0])
TIMES = [4.0, 2.0, 6.0]
SURE = np.tile([0.4, 0.6, 0.2], (8, 1))
UNSURE = np.full((8, 3), 0.5)


@pytest.fixture(scope="module")
def evaluation():
    models = {"sure": SURE, "unsure": UNSURE}
    names = ("ipcw", "cg_q", "conditional")
    return cc.evaluate(models, Y, Y, adjustments=names, times=TIMES, copula=cc.Clayton.from_tau(0.5))


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_what_is_drawn_is_the_brier_score_in_the_order_of_time(evaluation):
    ax = BrierCurveDisplay.from_evaluation(evaluation, "ipcw").plot()
    reference, *lines = ax.get_lines()
    for line, predicted in zip(lines, (SURE, UNSURE), strict=True):
        np.testing.assert_array_equal(line.get_xdata(), [2.0, 4.0, 6.0])
        np.testing.assert_allclose(line.get_ydata(), cc.brier_score(Y, Y, predicted, TIMES)[[1, 0, 2]])
    km = np.tile(cc.KaplanMeier().fit(Y).predict(np.array(TIMES)), (8, 1))
    np.testing.assert_allclose(reference.get_ydata(), cc.brier_score(Y, Y, km, TIMES)[[1, 0, 2]])
    assert len({line.get_linestyle() for line in lines}) == 2  # told apart without colour
    assert labels(ax) == ["Kaplan–Meier for everybody", "sure", "unsure"]
    assert ax.get_title() == "IPCW"
    plt.close(ax.figure)


def test_the_primary_adjustment_is_drawn_by_default_and_its_copula_named(evaluation):
    figure, ax = plt.subplots()
    assert evaluation.plot(ax) is ax
    assert ax.get_title() == "CG-Q\nclayton, τ = 0.5"
    plt.close(figure)


def test_several_adjustments_have_a_panel_each_and_one_legend(evaluation):
    display = BrierCurveDisplay.from_evaluation(evaluation, ["ipcw", "conditional"])
    axes = display.plot()
    assert [ax.get_title().splitlines()[0] for ax in axes] == ["IPCW", "given the censoring"]
    assert axes[0].get_ylim() == axes[1].get_ylim()
    (figure,) = {ax.figure for ax in axes}
    assert len(figure.legends) == 1
    assert all(ax.get_legend() is None for ax in axes)
    given, row = plt.subplots(1, 2)
    assert display.plot(row) == list(row)
    assert labels(row[0]) == ["Kaplan–Meier for everybody", "sure", "unsure"]
    with pytest.raises(ValueError, match="ax must hold one axes per panel, 2 of them, but holds 1"):
        display.plot(row[0])
    for each in (figure, given):
        plt.close(each)


def test_a_model_without_a_score_is_left_out_and_others_keep_their_line(evaluation):
    display = BrierCurveDisplay.from_evaluation(evaluation, ["ipcw", "cg_q"])
    del display.curves["IPCW"]["sure"]
    axes = display.plot()
    without, both = ({line.get_label(): line.get_color() for line in ax.get_lines()} for ax in axes)
    assert "sure" not in without
    assert without["unsure"] == both["unsure"] != both["sure"]
    plt.close(axes[0].figure)


def test_what_cannot_be_drawn_is_refused(evaluation):
    with pytest.raises(
        ValueError, match="adjustment must be one of 'ipcw', 'cg_q', 'conditional', but is 'dep'"
    ):
        BrierCurveDisplay.from_evaluation(evaluation, "dep")
    with pytest.raises(ValueError, match="adjustment is empty"):
        BrierCurveDisplay.from_evaluation(evaluation, [])
    log = cc.metric("ils", floor=0.01)
    other = cc.evaluate({"sure": SURE}, Y, Y, adjustments="ipcw", metrics=log, times=TIMES, copula=None)
    with pytest.raises(
        ValueError, match="evaluation must have the metric 'ibs' for Brier curves, but has ils"
    ):
        BrierCurveDisplay.from_evaluation(other)
    late = cc.Survival([1, 2, 20, 30], [1, 0, 1, 1])  # beyond the training times: IPCW has no weights there
    with pytest.warns(cc.HorizonWarning):
        some = cc.evaluate(
            {"half": np.full((4, 2), 0.5)},
            Y,
            late,
            adjustments=("ipcw", "dep"),
            times=[2.0, 25.0],
            copula=cc.Clayton(2.0),
        )
    with pytest.raises(
        ValueError, match="adjustment must give scores, but 'ipcw' gives none: No score: y_test"
    ):
        BrierCurveDisplay.from_evaluation(some, "ipcw")
