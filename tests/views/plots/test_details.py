"""What figures show of one time: ROC, calibration and decision curves; of whole curves; and of several metrics."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import cocensor as cc
from cocensor.metrics.net_benefit import Limited
from cocensor.views.plots import CurveDisplay
from cocensor.views.plots.curve_panels import CurvePanel, Guide, Line
from cocensor.views.plots.single_times import decision_panel
from tests.views.plots.reading import areas, drawn, limits, texts

LONG = "a model with a name that is far too long for a single line of a legend or of the title of a panel"
MODELS = ("cox", "forest", LONG)
X = np.linspace(0.01, 0.99, 99)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def line(y, reach=0.05):
    return Line(X, y, (y - reach, y + reach))


def decisions(net_benefit, reach=0.01):
    own, of_all = (
        Limited(each, reach, each - reach, each + reach) for each in (net_benefit, 0.3 - 0.7 * X / (1.0 - X))
    )
    return cc.metrics.DecisionCurve(12.0, X, own, of_all, own)


def roc(curves, areas, times=(12,), shaded="band"):
    """A panel per time, with the same curves."""
    chance = Guide("chance", (0.0, 1.0), (0.0, 1.0), {})
    panels = {t: CurvePanel(curves, [chance]) for t in times}
    return CurveDisplay(MODELS, panels, shaded, areas)


def test_roc_curves_have_their_bands_the_diagonal_and_their_area_in_the_legend():
    curves = {"cox": line(X**0.3), "forest": line(X**0.5)}
    ax = roc(curves, {"cox": "cox: AUC 0.77", "forest": "forest: AUC 0.67"}).plot()
    assert texts(ax.get_legend()) == ["chance", "cox: AUC 0.77", "forest: AUC 0.67", "band"]
    lines = drawn(ax)
    np.testing.assert_array_equal(lines["chance"].get_xdata(), lines["chance"].get_ydata())
    np.testing.assert_array_equal(lines["forest: AUC 0.67"].get_ydata(), X**0.5)
    np.testing.assert_allclose(limits(ax, 1), (X**0.5 - 0.05, X**0.5 + 0.05))
    assert len({each.get_linestyle() for each in lines.values()}) == 2  # told apart without colour


@pytest.mark.parametrize("times", [(12.0,), (12.0, 24.0)])
def test_the_legend_of_a_new_figure_covers_nothing_however_long_the_names(times):
    axes = roc({LONG: line(X**0.3)}, {LONG: f"{LONG}: AUC 0.773 (0.701 to 0.835)"}, times).plot()
    axes = axes if isinstance(axes, list) else [axes]
    figure = axes[0].figure
    figure.canvas.draw()
    legend = figure.legends[0] if len(times) > 1 else axes[0].get_legend()
    box = legend.get_window_extent()
    assert box.x0 >= 0
    assert box.y0 >= 0
    assert box.x1 <= figure.bbox.x1
    assert all(box.y1 <= ax.xaxis.get_tightbbox().y0 for ax in axes)
    assert texts(legend)[1].startswith(LONG)


def test_treating_all_and_high_thresholds_do_not_stretch_the_axis_of_a_decision_curve():
    curves = {"cox": decisions(0.3 * np.exp(-3.0 * X), X / (1.0 - X)), "forest": decisions(0.2 - 5.0 * X)}
    panel = decision_panel(curves, "time 12", "IPCW")
    ax = CurveDisplay(MODELS, {12.0: panel}, "95% interval").plot()
    low, high = ax.get_ylim()
    assert -0.1 < low < 0 < curves["cox"].net_benefit.values.max() < high < 0.4
    lines = drawn(ax)
    np.testing.assert_array_equal(lines["treat all"].get_ydata(), curves["cox"].treat_all.values)
    np.testing.assert_array_equal(lines["treat none"].get_ydata(), 0.0)
    np.testing.assert_array_equal(lines["forest"].get_ydata(), curves["forest"].net_benefit.values)
    np.testing.assert_allclose(limits(ax), curves["cox"].net_benefit[2:])
    assert texts(ax.get_legend()) == ["treat all", "treat none", "cox", "forest", "95% interval"]


def test_without_intervals_nothing_is_shaded():
    decision = decision_panel({"cox": decisions(0.3 - X)}, "time 12", "IPCW", limits=False)
    for ax in (
        roc({"cox": Line(X, X)}, {}, shaded="").plot(),
        CurveDisplay(MODELS, {12.0: decision}).plot(),
    ):
        assert areas(ax) == []
        assert "" not in texts(ax.get_legend())
