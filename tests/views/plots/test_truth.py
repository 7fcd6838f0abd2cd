"""True scores in figures."""

from dataclasses import replace

import numpy as np
import pytest

import cocensor as cc
from cocensor.simulate import SyntheticDesign
from cocensor.views.plots import CurveDisplay, ForestDisplay


@pytest.fixture(scope="module")
def known():
    data = SyntheticDesign(n=300, n_features=2, copula=cc.Clayton.from_tau(0.5)).draw(0)
    models = {
        f"{k}": cc.CoxPH().fit(data.X[:, :k], data.y).predict_survival_function(data.X[:, :k]) for k in (1, 2)
    }
    metrics = ["ibs", "auc"]
    return cc.evaluate(models, data.y, data.X, metrics=metrics, true_times=data.event_time)


@pytest.fixture(scope="module")
def unknown(known):
    return replace(known, truth=None)


def labels(ax):
    return ax.get_legend_handles_labels()[1]


def test_along_tau_a_line_per_model(known, unknown):
    drawn = {}
    for each in (known, unknown):
        grid = each.sensitivity(families="clayton", taus=[0.0, 0.3])
        display = CurveDisplay.from_sensitivity(grid)
        ax = display.plot()
        drawn[each] = sorted(line.get_ydata()[0] for line in ax.lines if list(line.get_xdata()) == [0, 1])
        assert ("truth" in labels(ax)) == (each is known)
    assert drawn[known] == sorted(known.truth.value("ibs", model) for model in known.models)
    assert not drawn[unknown]


@pytest.mark.parametrize("minus", [None, "1"])
def test_over_time(known, unknown, minus):
    display = CurveDisplay.from_scores(known, minus=minus)
    values = known.truth.values["ibs"]
    less = 0.0 if minus is None else values[minus].curve
    (panel,) = display.panels.values()
    assert list(panel.truth) == [model for model in known.models if model != minus]
    for model, curve in panel.truth.items():
        np.testing.assert_array_equal(curve, (values[model].curve - less)[np.argsort(known.data.times)])
    assert labels(display.plot())[-1] == "truth"
    other = CurveDisplay.from_scores(unknown, minus=minus)
    assert not any(panel.truth for panel in other.panels.values())
    assert "truth" not in labels(other.plot())


def test_by_metric(known, unknown):
    display = ForestDisplay.from_metrics(known)
    for panel, metric in zip(display.panels.values(), known.metrics, strict=True):
        expected = [known.truth.value(metric, model) for model in known.models]
        np.testing.assert_array_equal(panel.marks["truth", None].values, expected)
    assert all("truth" in labels(ax) for ax in display.plot())
    assert not any("truth" in labels(ax) for ax in ForestDisplay.from_metrics(unknown).plot())
