"""Figures of an evaluation at single times show what the evaluation says."""

from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pytest

import cocensor as cc
from cocensor.simulate import SyntheticDesign
from cocensor.study.curves import profile_errors
from cocensor.study.lookup import metric_of
from cocensor.study.ranking import standing
from cocensor.views.plots import CurveDisplay, ForestDisplay
from tests.strategies import cox_predictions
from tests.views.plots.reading import areas, drawn, limits, texts

AT = (12.0, 18.0)
LEVEL = 0.9


@pytest.fixture(scope="module")
def asked():
    data = SyntheticDesign(n=400, n_features=3, copula=cc.Clayton.from_tau(0.5)).draw(0)
    train, test = data[:200], data[200:]
    models = {
        "all": cox_predictions(train, test, 0, 1, 2),
        "one": cox_predictions(train, test, 2),
        "risk": test.X[:, 1],
    }
    metrics = ("ibs", "auc", "brier")
    return partial(cc.evaluate, models, test.y, y_train=train.y, adjustments="ipcw", metrics=metrics, at=AT)


@pytest.fixture(scope="module")
def evaluation(asked):
    return asked(confidence_level=LEVEL)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_roc_curves_are_those_behind_the_auc(evaluation):
    display = CurveDisplay.from_roc(evaluation, band="simultaneous")
    assert list(display.panels) == list(AT)
    for t, panel in display.panels.items():
        errors = profile_errors(evaluation, "auc", at=t)
        assert list(panel.lines) == list(evaluation.models)
        for model, line in panel.lines.items():
            np.testing.assert_array_equal(line.y, errors.of(model).values)
            np.testing.assert_array_equal(line.limits, errors.of(model).band(LEVEL)[:2])
            assert np.isfinite(line.limits).all()
            low, high = evaluation.score(model, "auc", at=t).confidence_interval(LEVEL)
            assert f"({low:.3f} to {high:.3f}) by {t:g}" in display.labels[model]
    ax = CurveDisplay.from_roc(evaluation, 15.0, "all").plot()  # a time that nobody had asked for
    assert texts(ax.get_legend())[-1] == "90% interval"
    assert len(areas(ax)) == 1


def test_calibration_has_a_panel_per_model_with_curves(evaluation):
    display = CurveDisplay.from_calibration(evaluation)
    assert list(display.panels) == [(model, t) for t in AT for model in ("all", "one")]
    axes = display.plot()
    for ax, ((model, t), panel) in zip(axes, display.panels.items(), strict=True):
        expected = evaluation.calibration_curve(model, at=t)
        np.testing.assert_array_equal(panel.lines[model].y, expected.observed)
        np.testing.assert_allclose(limits(ax), (expected.low, expected.high))
        assert ax.get_title().startswith(model)
        diagonal = drawn(ax)["as predicted"]
        np.testing.assert_array_equal(diagonal.get_xdata(), diagonal.get_ydata())


def test_the_histogram_of_predictions_lies_below_all_risks(evaluation):
    display = CurveDisplay.from_calibration(evaluation, 18.0, "all")
    ax = display.plot()
    curve = evaluation.calibration_curve("all", at=18.0)
    bars = list(ax.patches)
    np.testing.assert_allclose([bar.get_x() for bar in bars], curve.edges[:-1], atol=1e-12)
    heights = np.array([bar.get_height() for bar in bars])
    np.testing.assert_allclose(heights / heights.max(), curve.counts / curve.counts.max())
    assert max(bar.get_y() + bar.get_height() for bar in bars) < 0
    assert min(ax.get_yticks()) >= 0
    assert max(curve.observed.max(), curve.groups.observed.max()) < ax.get_ylim()[1] < 1.1


@pytest.mark.parametrize("band", ["simultaneous", None])
def test_what_is_shaded_around_a_calibration_curve(evaluation, band):
    display = CurveDisplay.from_calibration(evaluation, 18.0, "all", band=band)
    ax, curve = display.plot(), evaluation.calibration_curve("all", at=18.0)
    told = [text for text in texts(ax.get_legend()) if "90 %" in text]
    if band is None:
        assert areas(ax) == told == []
    else:
        np.testing.assert_allclose(limits(ax), (curve.band_low, curve.band_high))
        assert told == ["90% band for the whole curve"]


def test_decision_curves_are_those_of_the_evaluation(evaluation):
    display = CurveDisplay.from_decision_curves(evaluation, AT[1])
    lines = display.panels[AT[1]].lines
    assert list(lines) == ["all", "one"]
    for model, line in lines.items():
        expected = evaluation.decision_curve(AT[1])[model]
        np.testing.assert_array_equal(line.y, expected.net_benefit.values)
    ax = display.plot()
    last = ax.get_xlim()[1]
    assert all((line.y[line.x > last] == 0).all() for line in lines.values())
    assert len(areas(ax)) == 2


def test_bars_of_d_calibration_are_observed_shares_and_lines_expected_ones(evaluation):
    display = CurveDisplay.from_d_calibration(evaluation)
    assert list(display.panels) == ["all", "one"]
    ax = display.plot()[0]
    found = evaluation.d_calibration("all")
    heights = [bar.get_height() for bar in ax.containers[0]]
    np.testing.assert_allclose(heights, found.observed)
    assert [bool(bar.get_hatch()) for bar in ax.containers[0]] == [False] * 10 + [True]
    [errors] = ax.collections
    np.testing.assert_allclose(drawn(ax)["expected"].get_ydata()[::3], found.expected)
    ends = np.array([[low, high] for (_, low), (_, high) in errors.get_segments()])
    np.testing.assert_allclose(ends.T, (found.low, found.high))
    assert f"p = {found.pvalue:.2g}" in ax.get_title()
    starts = np.array([bar.get_x() for bar in ax.containers[0]])
    assert starts[-1] > 1 - 1e-9  # event-free at the horizon: beyond all levels


def test_dots_are_scores_by_metric_model_and_time(evaluation):
    display = ForestDisplay.from_metrics(evaluation)
    labels = {label: panel.times for label, panel in display.panels.items()}
    assert labels == {
        "integrated Brier score": [None],
        "mean AUC": [None],
        "AUC": list(AT),
        "Brier score": list(AT),
    }
    for panel, name in zip(display.panels.values(), ("ibs", "auc", "auc", "brier"), strict=True):
        for t in panel.times:
            rows = panel.marks["score", t]
            for k, model in enumerate(evaluation.models):
                score = evaluation.score(model, name, at=t)
                np.testing.assert_array_equal(
                    (rows.values[k], rows.low[k], rows.high[k]),
                    (score.value, *score.confidence_interval(LEVEL)),
                )
                best = standing(evaluation, metric_of(evaluation, name, t).name).best
                assert rows.filled[k] == (model in best)
    axes = display.plot()
    assert [ax.get_xlabel().split()[0] for ax in axes] == ["lower", "higher", "higher", "lower"]
    assert [text.get_text() for text in axes[0].get_yticklabels()] == list(evaluation.models)
    (legend,) = axes[0].figure.legends
    assert texts(legend)[:2] == ["at 12", "at 18"]
    some = ForestDisplay.from_metrics(evaluation, ["auc at 12", "brier at 18"])
    assert {label: panel.times for label, panel in some.panels.items()} == {
        "AUC": [12.0],
        "Brier score": [18.0],
    }


def test_bounds_at_a_time_have_the_scores_at_it(evaluation):
    for metric, at in (("brier", AT[0]), ("brier", 15.0), ("ibs", AT[0])):
        panels = ForestDisplay.from_bounds(evaluation.bounds(metric, at), evaluation).panels
        scores = [evaluation.score(model, metric, at=at).value for model in ("all", "one")]
        np.testing.assert_array_equal(panels["scores"].marks["ipcw", None].values, scores)
        difference = evaluation.compare("all", "one", metric, at=at).difference
        np.testing.assert_array_equal(panels["differences"].marks["ipcw", None].values, [difference])


def test_auc_over_time_has_chance_for_reference_and_does_not_start_at_0(evaluation):
    display = CurveDisplay.from_scores(evaluation, metric="auc")
    (reference,) = display.panels["ipcw"].guides
    np.testing.assert_allclose(reference.y[np.isfinite(reference.y)], 0.5)
    ax = display.plot()
    assert "higher is better" in ax.get_ylabel()
    assert len(areas(ax)) == 3
    low, high = ax.get_ylim()
    assert low < 0.5 < high
    assert CurveDisplay.from_scores(evaluation, metric="ibs").plot().get_ylim()[0] == 0


def test_without_a_confidence_level_there_are_no_limits(asked):
    plain = asked(confidence_level=None)
    for display in (
        CurveDisplay.from_roc(plain, 18.0),
        CurveDisplay.from_calibration(plain, 18.0, "all"),
        CurveDisplay.from_decision_curves(plain, 18.0),
    ):
        ax = display.plot()
        assert areas(ax) == []
        assert not any("%" in text for text in texts(ax.get_legend()))
    bars = CurveDisplay.from_d_calibration(plain, "all").plot()
    assert not any("%" in text for text in texts(bars.get_legend()))


def test_what_cannot_be_drawn_is_refused(evaluation, asked):
    everywhere = (CurveDisplay.from_roc, CurveDisplay.from_calibration, CurveDisplay.from_decision_curves)
    for shown in everywhere:
        with pytest.raises(ValueError, match="^at .*1e\\+06"):
            shown(evaluation, 1e6)
        with pytest.raises(ValueError, match="^at is empty"):
            shown(evaluation, [])
        with pytest.raises(ValueError, match="^models .*'nobody'"):
            shown(evaluation, 12.0, "nobody")
    for shown in everywhere[:2]:
        with pytest.raises(ValueError, match="^band .*'wide'"):
            shown(evaluation, 12.0, band="wide")
    for shown in everywhere[1:]:
        with pytest.raises(ValueError, match="^models .*'risk'"):
            shown(evaluation, 12.0, ["all", "risk"])
    with pytest.raises(ValueError, match="^models .*'risk'"):
        CurveDisplay.from_d_calibration(evaluation, "risk")
    with pytest.raises(ValueError, match="^models .*'nobody'"):
        CurveDisplay.from_d_calibration(evaluation, "nobody")
    with pytest.raises(ValueError, match="^metrics .*'ici'"):
        ForestDisplay.from_metrics(evaluation, "ici")
    without = asked(metrics="ibs", at=None)
    with pytest.raises(ValueError, match="^at is needed"):
        CurveDisplay.from_calibration(without)
    with pytest.raises(ValueError, match="^metric .*'auc'"):
        CurveDisplay.from_roc(without, 12.0)
