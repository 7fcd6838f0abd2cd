import matplotlib.pyplot as plt
import numpy as np
import pytest

import cocensor as cc
from cocensor.study.imputation_fit import FitCells
from cocensor.views.plots import CurveDisplay
from cocensor.views.plots.style import MARKERS
from tests.views.plots.reading import drawn


def cells(observed, expected):
    return FitCells(np.array(observed), np.array(expected), np.array(expected))


@pytest.fixture
def fit():
    good = cells([[20, 18], [31, 12]], [[20.0, 20.0], [30.0, 10.0]])
    bad = cells([[90, 18], [31, 0]], [[20.0, 20.0], [30.0, 0.5]])
    of_models = {"good": {"event": good, "dropout": good}, "bad": {"event": bad, "dropout": good}}
    return cc.study.ImputationFit(cc.Independence(), np.array([1.0, 2.0]), of_models)


def test_ratios_are_those_of_the_model_with_most_misfit_unless_another_is_named(fit):
    panel = CurveDisplay.from_imputation_fit(fit).panels["event"]
    assert panel.xlabel.endswith("of bad")
    highest = panel.ylim[1]
    np.testing.assert_allclose([line.y for line in panel.lines.values()], [[highest, 31 / 30], [0.9, np.nan]])
    assert CurveDisplay.from_imputation_fit(fit, "good").panels["event"].xlabel.endswith("of good")
    with pytest.raises(ValueError, match="^model .*'third'"):
        CurveDisplay.from_imputation_fit(fit, "third")


def test_a_panel_per_kind_has_a_mark_per_decile_and_period(fit):
    axes = fit.plot(model="good")
    assert [ax.get_title() for ax in axes] == ["events", "dropouts"]
    marks = [line.get_ydata() for line in drawn(axes[0]).values() if line.get_marker() in MARKERS]
    np.testing.assert_allclose(marks[:2], [[1.0, 31 / 30], [0.9, 1.2]])
    assert "good" in axes[0].get_xlabel()
    plt.close(axes[0].figure)


def test_what_lies_beyond_the_axis_stands_at_its_end_and_the_axis_says_so(fit):
    axes = fit.plot()
    highest = axes[0].get_ylim()[1]
    assert drawn(axes[0])["0 < t ≤ 1"].get_ydata()[0] == highest
    assert f"cut at {highest:g}" in axes[0].get_ylabel()
    plt.close(axes[0].figure)
