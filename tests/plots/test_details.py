"""What figures show of one time: ROC, calibration and decision curves, D-calibration; and of several metrics."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from cocensor.plots import DecisionCurveDisplay, RocDisplay
from cocensor.plots.lines import Line

MODELS = (
    "cox",
    "forest",
    "a model with a name that is far too long for a single line of a legend or of a title",
)
X = np.linspace(0.01, 0.99, 99)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def line(y, reach=0.05):
    return Line(X, y, y - reach, y + reach)


def without_limits(y):
    return Line(X, y, np.full(y.shape, np.nan), np.full(y.shape, np.nan))


def area(ax, k=0):
    """The lower and the upper limits of a shaded area, over its x."""
    (path,) = [each for each in ax.collections if len(each.get_paths())][k].get_paths()
    at = {}
    for x, y in path.vertices:
        at.setdefault(round(float(x), 9), []).append(float(y))
    x = sorted(at)
    return np.array(x), np.array([min(at[each]) for each in x]), np.array([max(at[each]) for each in x])


def texts(legend):
    return [" ".join(text.get_text().split()) for text in legend.get_texts()]


def drawn(ax):
    """The lines that have data, by label."""
    return {each.get_label(): each for each in ax.get_lines() if len(each.get_xdata())}


def test_roc_curves_have_their_bands_the_diagonal_and_their_area_in_the_legend():
    panel = {"cox": line(X**0.3), "forest": line(X**0.5)}
    display = RocDisplay(
        MODELS,
        {12.0: panel},
        {12.0: {"cox": "0.77 (0.7 to 0.8)", "forest": "0.67"}},
        ("x", "y"),
        "IPCW",
        "band",
    )
    ax = display.plot()
    assert texts(ax.get_legend()) == ["chance", "cox: AUC 0.77 (0.7 to 0.8)", "forest: AUC 0.67", "band"]
    lines = drawn(ax)
    np.testing.assert_array_equal(lines["chance"].get_xdata(), lines["chance"].get_ydata())
    np.testing.assert_array_equal(lines["forest: AUC 0.67"].get_ydata(), X**0.5)
    x, low, high = area(ax, 1)
    np.testing.assert_allclose(x, X)
    np.testing.assert_allclose((low, high), (X**0.5 - 0.05, X**0.5 + 0.05))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x", "y")


def test_areas_at_several_times_share_a_line_of_the_legend():
    panels = {t: {"cox": line(X**0.3)} for t in (12.0, 24.0)}
    axes = RocDisplay(
        MODELS, panels, {12.0: {"cox": "0.77"}, 24.0: {"cox": "0.7"}}, ("x", "y"), "IPCW", "band"
    ).plot()
    (legend,) = axes[0].figure.legends
    assert texts(legend) == ["chance", "cox: AUC 0.77 by 12, 0.7 by 24", "band"]
    assert [ax.get_title().splitlines()[-1] for ax in axes] == ["event by time 12", "event by time 24"]


def test_treating_all_does_not_stretch_the_axis_of_a_decision_curve():
    all_treated = without_limits(0.3 - 0.7 * X / (1.0 - X))
    panel = {"cox": line(0.3 * np.exp(-3.0 * X), 0.01), "forest": line(0.3 * np.exp(-3.0 * X) - 0.02, 0.01)}
    display = DecisionCurveDisplay(MODELS, {12.0: panel}, {12.0: all_treated}, "IPCW", "95 % interval")
    ax = display.plot()
    assert all_treated.y.min() < -60
    low, high = ax.get_ylim()
    assert -0.1 < low < panel["forest"].low.min() < 0 < panel["cox"].high.max() < high < 0.4
    lines = drawn(ax)
    np.testing.assert_array_equal(lines["treat all"].get_ydata(), all_treated.y)
    np.testing.assert_array_equal(lines["treat none"].get_ydata(), 0.0)
    np.testing.assert_array_equal(lines["forest"].get_ydata(), panel["forest"].y)
    np.testing.assert_allclose(area(ax)[1:], (panel["cox"].low, panel["cox"].high))
    assert texts(ax.get_legend()) == ["treat all", "treat none", "cox", "forest", "95 % interval"]


def test_a_harmful_model_is_cut_like_treating_all():
    panel = {"cox": line(0.3 - 5.0 * X)}
    display = DecisionCurveDisplay(MODELS, {12.0: panel}, {12.0: without_limits(0.3 - X)}, "IPCW", "interval")
    low, high = display.plot().get_ylim()
    assert -0.5 * high < low < 0


@pytest.mark.parametrize(
    "display",
    [
        RocDisplay(
            MODELS, {12.0: {"cox": without_limits(X**0.3)}}, {12.0: {"cox": "0.77"}}, ("x", "y"), "IPCW"
        ),
        DecisionCurveDisplay(
            MODELS, {12.0: {"cox": without_limits(0.3 - X)}}, {12.0: without_limits(0.3 - X)}, "IPCW"
        ),
    ],
    ids=lambda display: type(display).__name__,
)
def test_without_limits_nothing_is_shaded(display):
    ax = display.plot()
    assert not [each for each in ax.collections if len(each.get_paths())]
    assert "" not in texts(ax.get_legend())


def test_a_long_name_is_broken_into_lines_that_fit_the_figure():
    panels = {12.0: {MODELS[2]: line(X**0.3)}}
    ax = RocDisplay(
        MODELS, panels, {12.0: {MODELS[2]: "0.773 (0.701 to 0.835)"}}, ("x", "y"), "IPCW", "band"
    ).plot()
    figure = ax.figure
    figure.canvas.draw()
    box = ax.get_legend().get_window_extent()
    assert box.x0 >= 0 and box.x1 <= figure.bbox.x1
    assert box.y0 >= 0
    assert box.y1 < ax.xaxis.get_tightbbox().y0  # below the axis: nothing is covered
    assert texts(ax.get_legend())[1].startswith(MODELS[2])
