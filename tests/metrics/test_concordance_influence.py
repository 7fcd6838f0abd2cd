"""How subjects move the concordance: by case weights, and in resamples."""

from dataclasses import replace

import numpy as np
import pytest

import cocensor as cc
from cocensor.adjustments import weights as event_weights
from cocensor.inference.influence import influence
from cocensor.simulate import SyntheticDesign
from tests.inference import case_weights
from tests.metrics.ranked import drawn, of_pairs

PLAIN, BY_TIME = cc.metric("concordance"), cc.metric("concordance", time_dependent=True)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("time_dependent", [False, True])
def test_the_influence_under_ipcw_is_the_derivative_by_case_weights(grouped, time_dependent):
    y, _, x, curves = drawn(11, 40, grouped)
    time = np.ceil(8 * y.time) / 8 if grouped else y.time
    y, times = cc.Survival(time, y.event), np.array([0.1, 0.3, 0.5, 0.6, 0.9])
    marker = -curves(times) if time_dependent else np.repeat(x[:, None], times.size, axis=1)

    def value(weights):
        def inverse(s, side):
            return 1.0 / case_weights.kaplan_meier(y.time, y.event, weights, s, side)

        at_times = np.array([inverse(t, "right") for t in times])
        at_events = np.array([inverse(t, "left") for t in y.time])
        a = (y.time[:, None] > times) * at_times
        b = ((y.time[:, None] <= times) & y.event[:, None]) * at_events[:, None]
        return np.atleast_1d(of_pairs(a, b, marker, weights))

    expected = case_weights.derivatives(value, 40)[:, 0]
    found, moved = cc.concordance_index(
        None, y, curves if time_dependent else x, times, time_dependent=time_dependent, return_influence=True
    )
    assert found == pytest.approx(np.real(value(np.ones(40, dtype=complex)))[0], abs=1e-12)
    np.testing.assert_allclose(moved.test, expected, atol=1e-9)


@pytest.mark.parametrize("metric", [PLAIN, BY_TIME], ids=lambda metric: metric.name)
@pytest.mark.parametrize("tiled", [False, True])
def test_the_influence_of_imputation_by_a_joint_model_is_the_derivative_by_case_weights(
    metric, tiled, monkeypatch
):
    n, step = 100, 1e-5
    data = SyntheticDesign(n=2 * n, n_features=2, copula=cc.Clayton.from_tau(0.4)).draw(5)
    y, x = data.y[n:], data.X[n:]
    times = np.linspace(0.0, np.quantile(y.time, 0.85), 9)
    cox = cc.CoxPH().fit(data.X[:n], data.y[:n])
    curves = cox.survival(times, x) ** np.random.default_rng(0).uniform(0.5, 2.0, size=(n, 9)).cumsum(axis=1)
    predictions = {"m": cc.Predictions(times, np.minimum.accumulate(curves, axis=1))}
    fitted = cc.Imputation("everything", cc.Clayton.from_tau(0.4)).fit(y, x, predictions)
    status = fitted.weights(y, times, x)
    if tiled:
        monkeypatch.setattr(event_weights, "_TILE_ELEMENTS", 900)
    moved = influence(status, metric.functionals(status, predictions), y).test[:, 0]
    assert moved.mean() == pytest.approx(0.0, abs=1e-13)
    read = predictions["m"](times)
    marker = -read if metric is BY_TIME else np.repeat(-np.trapezoid(read, times, axis=1)[:, None], 9, axis=1)

    def value(weights):
        problem = fitted.joint.problem.weighted(weights)
        optimum, model = problem.optimum(cc.Clayton, fitted.joint.model.copula.theta)
        joint = replace(fitted.joint, model=model, optimum=optimum)
        again = replace(fitted, joint=joint).weights(y, times, x)
        return of_pairs(again.a, again.b, marker, weights)

    for j in (0, 41, 77):
        up, down = (np.full(n, 1.0 - sign * step) for sign in (1, -1))
        up[j] += n * step
        down[j] -= n * step
        numeric = (value(up) - value(down)) / (2 * step)
        assert moved[j] == pytest.approx(numeric, abs=1e-5 * np.abs(moved).max())


@pytest.mark.no_cover
@pytest.mark.parametrize("adjustment", ["ipcw", "imputation"])
def test_the_bootstrap_agrees(adjustment):
    """An error from 100 resamples has a relative error of 1/√200: four of them are allowed."""
    data = SyntheticDesign(n=300, n_features=2, copula=cc.Clayton.from_tau(0.3)).draw(2)
    train, test = data[:100], data[100:]
    times = np.linspace(0.0, np.quantile(test.y.time, 0.8), 13)[1:]
    model = cc.CoxPH().fit(train.X, train.y)
    predicted = {"cox": cc.Predictions(times, model.survival(times, test.X))}
    asked = {"times": times, "adjustments": adjustment, "metrics": [PLAIN, BY_TIME]}
    analytic = cc.evaluate(predicted, test.y, **asked)
    resampled = cc.evaluate(predicted, test.y, **asked, n_resamples=100, seed=1)
    for metric in (PLAIN, BY_TIME):
        one, other = (each.score("cox", metric=metric.name) for each in (analytic, resampled))
        assert one.value == other.value
        assert one.standard_error == pytest.approx(other.standard_error, rel=4 / np.sqrt(200))
