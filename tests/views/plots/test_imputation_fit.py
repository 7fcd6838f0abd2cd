import matplotlib.pyplot as plt
import numpy as np
import pytest

import cocensor as cc
from cocensor.study.imputation_fit import FitCells
from cocensor.views.plots import ImputationFitDisplay


def cells(observed, expected):
    return FitCells(np.array(observed), np.array(expected), np.array(expected))


@pytest.fixture
def fit():
    good = cells([[20, 18], [31, 12]], [[20.0, 20.0], [30.0, 10.0]])
    bad = cells([[90, 18], [31, 0]], [[20.0, 20.0], [30.0, 0.5]])
    of_models = {"good": {"event": good, "dropout": good}, "bad": {"event": bad, "dropout": good}}
    return cc.study.ImputationFit(cc.Independence(), np.array([1.0, 2.0]), of_models)


def test_ratios_are_those_of_the_model_with_most_misfit_unless_another_is_named(fit):
    display = ImputationFitDisplay.from_imputation_fit(fit)
    assert display.model == "bad"
    np.testing.assert_allclose(display.panels["event"][0], [[4.5, 0.9], [31 / 30, np.nan]])
    assert ImputationFitDisplay.from_imputation_fit(fit, "good").model == "good"
    with pytest.raises(ValueError, match="^model .*'third'"):
        ImputationFitDisplay.from_imputation_fit(fit, "third")


def test_a_panel_per_kind_has_a_mark_per_decile_and_period(fit):
    axes = fit.plot(model="good")
    assert [ax.get_title() for ax in axes] == ["events", "dropouts"]
    marks = [each[0].get_ydata() for each in axes[0].containers]
    np.testing.assert_allclose(marks, [[1.0, 31 / 30], [0.9, 1.2]])
    assert "good" in axes[0].get_xlabel()
    plt.close(axes[0].figure)


def test_what_lies_beyond_the_axis_stands_at_its_end_and_the_axis_says_so(fit):
    axes = fit.plot()
    highest = axes[0].get_ylim()[1]
    assert axes[0].containers[0][0].get_ydata()[0] == highest
    assert f"cut at {highest:g}" in axes[0].get_ylabel()
    plt.close(axes[0].figure)
