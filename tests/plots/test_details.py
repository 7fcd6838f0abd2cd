"""What figures show of one time: ROC, calibration and decision curves, D-calibration; and of several metrics."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from cocensor.plots import CalibrationDisplay, DCalibrationDisplay, DecisionCurveDisplay, MetricsDisplay, RocDisplay
from cocensor.plots.lines import Line

MODELS = ("cox", "forest", "a model with a name that is far too long for a single line of a legend or of a title")
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
    display = RocDisplay(MODELS, {12.0: panel}, {12.0: {"cox": "0.77 (0.7 to 0.8)", "forest": "0.67"}}, ("x", "y"), "IPCW", "band")
    ax = display.plot()
    assert texts(ax.get_legend()) == ["chance", "cox: AUC 0.77 (0.7 to 0.8)", "forest: AUC 0.67", "band"]
    lines = drawn(ax)
    np.testing.assert_array_equal(lines["chance"].get_xdata(), lines["chance"].get_ydata())
    np.testing.assert_array_equal(lines["forest: AUC 0.67"].get_ydata(), X**0.5)
    x, low, high = area(ax, 1)
    np.testing.assert_allclose(x, X)
    np.testing.assert_allclose((low, high), (X**0.5 - 0.05, X**0.5 + 0.05))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x", "y")
