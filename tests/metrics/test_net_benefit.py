"""Net benefit: Vickers' formula, treat all and treat none, and how far it may be off."""

import sys

import numpy as np
import pytest

import cocensor as cc
from tests.refusals import refuses

MODULE = sys.modules["cocensor.metrics.net_benefit"]
THRESHOLDS = np.array([0.05, 0.2, 0.5, 0.9])


def drawn(seed, n, copula=None):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    u = (copula or cc.Independence()).sample(n, rng)
    event = -np.log(u[:, 0]) / np.exp(x)
    return x, cc.Survival.from_latent(event, -np.log(u[:, 1]) / 0.5), event


def survival(x, times):
    return np.exp(-np.asarray(times) * np.exp(x)[:, None])


def vickers(event, risk, t, p):
    """TP/n − FP/n · p/(1 − p) of those whose risk reaches p."""
    treated = risk >= p
    found, in_vain = np.mean(treated & (event <= t)), np.mean(treated & (event > t))
    return found - in_vain * p / (1.0 - p)


def test_without_censoring_it_is_vickers_formula():
    x, _, event = drawn(0, 300)
    times = [1.0, 0.3, 1.0]  # in no order, one of them twice
    y = cc.Survival(event, np.ones(300))
    expected = [[vickers(event, 1.0 - survival(x, [t])[:, 0], t, p) for p in THRESHOLDS] for t in times]
    predicted = survival(x, times)
    np.testing.assert_allclose(cc.net_benefit(y, y, predicted, times, THRESHOLDS), expected, atol=1e-14)
    known = cc.net_benefit(None, drawn(0, 300)[1], predicted, times, THRESHOLDS, adjustment=cc.Oracle(event))
    np.testing.assert_allclose(known, expected, atol=1e-14)
    metric = cc.metric("net_benefit", threshold=0.2, at=0.3)
    status = cc.IPCW().fit(y).weights(y, [0.3])
    found = metric.evaluate(status, {"m": cc.Predictions([0.3, 1.0], survival(x, [0.3, 1.0]))})["m"]
    assert found.value == pytest.approx(expected[1][1], abs=1e-14)
    assert found.profile.x.size == 99
    assert found.profile.y[found.profile.x == 0.2] == pytest.approx(found.value, abs=1e-14)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_rounded_risk_that_equals_a_threshold_reaches_it(kind):
    risks = np.arange(1, 100) / 100
    y = cc.Survival(np.full(99, 2.0), np.ones(99))
    predicted = np.array([1.0 - risks]).T.astype(kind)
    found = cc.net_benefit(y, y, predicted, [1.0], risks)[0]
    treated = np.arange(99, 0, -1) / 99  # nobody has the event by then
    np.testing.assert_allclose(found, -treated * risks / (1.0 - risks), rtol=1e-12)


def test_treat_all_is_a_risk_of_1_and_treat_none_a_risk_of_0():
    x, y, _ = drawn(1, 80)
    sure, never = np.zeros((80, 1)), np.ones((80, 1))
    curves = cc.decision_curve(y, y, {"sure": sure, "never": never, "m": survival(x, [0.7])}, 0.7)
    np.testing.assert_allclose(curves["sure"].net_benefit.values, curves["m"].treat_all.values, atol=1e-14)
    np.testing.assert_allclose(curves["sure"].difference.values, 0.0, atol=1e-14)
    np.testing.assert_allclose(curves["sure"].difference.standard_error, 0.0, atol=1e-14)
    assert (curves["never"].net_benefit.values == 0).all()
    assert (curves["never"].net_benefit.standard_error == 0).all()
    # Those who had the event by then, of Kaplan–Meier, less the others at the odds of the threshold.
    died = 1.0 - cc.KaplanMeier().fit(y).predict(0.7)
    p = curves["m"].thresholds
    np.testing.assert_allclose(
        curves["m"].treat_all.values, died - (1.0 - died) * p / (1.0 - p), atol=1e-12, rtol=1e-12
    )


def test_kaplan_meier_among_those_treated_is_near():
    x, y, _ = drawn(2, 4000)
    risk = 1.0 - survival(x, [0.7])[:, 0]
    found = cc.net_benefit(y, y, survival(x, [0.7]), [0.7], THRESHOLDS)[0]
    for p, ours in zip(THRESHOLDS, found, strict=True):
        treated = risk >= p
        died = 1.0 - cc.KaplanMeier().fit(y[treated]).predict(0.7)
        peer = treated.mean() * (died - (1.0 - died) * p / (1.0 - p))
        assert ours == pytest.approx(peer, abs=0.02 / (1.0 - p))


def test_the_decision_curve_has_the_values_and_errors_of_net_benefit():
    x, y, _ = drawn(3, 120, cc.Clayton.from_tau(0.4))
    given = {"adjustment": "imputation_margins", "copula": cc.Clayton.from_tau(0.4)}
    predicted = survival(x, [0.7])
    curve = cc.decision_curve(y, y, predicted, 0.7, THRESHOLDS, **given)
    values, moved = cc.net_benefit(y, y, predicted, [0.7], THRESHOLDS, return_influence=True, **given)
    np.testing.assert_allclose(curve.net_benefit.values, values[0], atol=1e-14)
    np.testing.assert_allclose(curve.net_benefit.standard_error, moved.standard_errors, rtol=1e-9)
    _, of_all = cc.net_benefit(
        y, y, np.zeros_like(predicted), [0.7], THRESHOLDS, return_influence=True, **given
    )
    np.testing.assert_allclose(
        curve.difference.standard_error, (moved - of_all).standard_errors, rtol=1e-9, atol=1e-15
    )
    reach = 1.959964 * curve.difference.standard_error
    np.testing.assert_allclose(curve.difference.low, curve.difference.values - reach, atol=1e-7)


def test_several_times_have_the_influence_of_each(monkeypatch):
    x, y, _ = drawn(4, 60)
    times = [0.8, 0.2, 0.8]
    _, moved = cc.net_benefit(y, y, survival(x, times), times, THRESHOLDS, return_influence=True)
    assert moved.test.shape == (60, 12)
    for k, t in enumerate(times):
        _, one = cc.net_benefit(y, y, survival(x, [t]), [t], THRESHOLDS, return_influence=True)
        np.testing.assert_allclose(moved.test[:, 4 * k : 4 * k + 4], one.test, atol=1e-12)
    monkeypatch.setattr(MODULE, "_AT_ONCE", 100)  # thresholds come one by one
    _, again = cc.net_benefit(y, y, survival(x, times), times, THRESHOLDS, return_influence=True)
    np.testing.assert_allclose(again.test, moved.test, atol=1e-13)


@pytest.mark.parametrize("name", ["ipcw", "imputation_margins"])
def test_standard_errors_are_those_of_resamples(name):
    copula = None if name == "ipcw" else cc.Clayton.from_tau(0.4)
    x, y, _ = drawn(5, 200, copula)
    predicted, rng = survival(x, [0.7]), np.random.default_rng(0)
    given = {"adjustment": name, "copula": copula}
    curve = cc.decision_curve(y, y, predicted, 0.7, THRESHOLDS, **given)
    again = []
    for _ in range(300):
        rows = rng.integers(200, size=200)
        each = cc.decision_curve(None, y[rows], predicted[rows], 0.7, THRESHOLDS, **given)
        again.append((each.net_benefit.values, each.treat_all.values, each.difference.values))
    spread = np.std(again, axis=0, ddof=1)
    found = [part.standard_error for part in (curve.net_benefit, curve.treat_all, curve.difference)]
    np.testing.assert_allclose(found, spread, rtol=0.2, atol=1e-3)  # 1/√600 by chance, ties in resamples


def test_without_an_influence_function_the_values_remain():
    x, y, _ = drawn(6, 50)
    curve = cc.decision_curve(
        y, y, survival(x, [0.5]), 0.5, [0.3], adjustment=cc.adjustments.MarginTime(cc.Independence())
    )
    assert "influence" in curve.missing
    assert np.isfinite(curve.net_benefit.values).all()
    assert np.isnan(curve.net_benefit.low).all()


def test_refusals():
    y, predicted = ([1.0, 2.0], [1, 1]), [[0.5], [0.5]]
    refuses(lambda: cc.metric("net_benefit"), "threshold", "'net_benefit'")
    refuses(lambda: cc.metric("net_benefit", threshold=1.0), "threshold", "1")
    refuses(lambda: cc.net_benefit(y, y, predicted, [1.0], [0.2, 0.0]), "thresholds", "row 1", "0.0")
    refuses(lambda: cc.net_benefit(y, y, predicted, [1.0], []), "thresholds", "empty")
    refuses(lambda: cc.decision_curve(y, y, [[0.5, 0.4]] * 2, [1.0, 1.5]), "time", "2")
    late = ([1.0, 2.0, 4.0], [1, 1, 1])
    refuses(lambda: cc.decision_curve(([1.0, 3.0], [1, 0]), late, np.full((3, 1), 0.5), 3.5), "3")
    refuses(lambda: cc.decision_curve(y, y, predicted, 1.0, confidence_level=0.0), "confidence_level", "0")
