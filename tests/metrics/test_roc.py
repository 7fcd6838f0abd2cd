"""ROC curves: against their definition, scikit-learn and the bootstrap."""

import numpy as np
import pytest
from sklearn.metrics import roc_curve as peer_roc

import cocensor as cc
from cocensor.data.predictions import RiskScores
from cocensor.inference.influence import influence
from cocensor.metrics.auc import FALSE_ALARMS, Roc
from cocensor.metrics.ranks import Order
from tests.metrics.test_auc import ADJUSTMENTS, CURVES, RISK, TIED, TIMES, Y
from tests.refusals import refuses

RNG = np.random.default_rng(4)


def peer(happened, marker):
    """The highest share found at each share of false alarms; markers that tie are joined by a line."""
    alarms, found, _ = peer_roc(happened, marker, drop_intermediate=False)
    return np.interp(FALSE_ALARMS + 1e-12, alarms, found)


@pytest.mark.parametrize("marker", [RISK, TIED], ids=["untied", "tied"])
@pytest.mark.parametrize("rows", [slice(None), slice(0, 25)], ids=["all", "some"])
def test_without_censoring_it_is_scikit_learns(marker, rows):
    y = cc.Survival(Y.time[rows], np.ones(len(Y.time[rows]), bool))
    for curve in cc.survival_roc_curve(y, y, marker[rows], TIMES[:2]):
        np.testing.assert_allclose(curve.found, peer(y.time <= curve.time, marker[rows]), atol=1e-12)


def test_a_share_of_false_alarms_that_the_sample_has_is_met_exactly():
    """A hundred who are event-free: each share is that of a whole number of them."""
    marker = RNG.permutation(np.arange(160.0))
    y = cc.Survival(np.repeat([1.0, 3.0], [60, 100]), np.ones(160, bool))
    found = cc.survival_roc_curve(y, y, marker, 2.0).found
    free = np.sort(marker[60:])[::-1]
    for k in range(100):
        assert found[k] == pytest.approx(np.mean(marker[:60] > free[k]), abs=1e-12)
    assert found[-1] == 1.0


@pytest.mark.parametrize("name", ["ipcw", "margins", "oracle"])  # the others have weights below 0
@pytest.mark.parametrize("estimate", [RISK, TIED, CURVES], ids=["risk", "tied", "curves"])
def test_the_area_under_it_is_the_auc(name, estimate):
    times = np.sort(TIMES)
    arguments = {"adjustment": ADJUSTMENTS[name], "confidence_level": None}
    curves = cc.survival_roc_curve(None, Y, estimate, times, **arguments)
    aucs, _ = cc.cumulative_dynamic_auc(None, Y, estimate, times, adjustment=ADJUSTMENTS[name])
    for curve, time, auc in zip(curves, times, aucs, strict=True):
        assert curve.time == time
        assert curve.auc == pytest.approx(auc, rel=1e-12)
        # Of 101 points, and with pairs of imputed subjects with themselves.
        assert np.trapezoid(curve.found, curve.false_alarms) == pytest.approx(auc, abs=0.02)
        assert (np.diff(curve.found) >= -1e-12).all()
        assert np.isnan(curve.low).all()


def test_derivatives_are_those_of_finite_differences_where_many_tie():
    """Along a line between two lots of equal markers the slope is exact, and with it all derivatives."""
    marker = np.repeat([0.0, 1.0, 2.0], 30)
    a, b = RNG.uniform(0.5, 1.5, size=(2, 90))

    def found():
        return Roc(Order(marker), a, b).found()

    roc = Roc(Order(marker), a, b)
    alarms = np.array([a[60:].sum(), a[30:].sum()]) / a.sum()
    half = max(0.02, 0.5 * (a.sum() ** 2 / np.square(a).sum()) ** (-1 / 3))
    inside = np.abs(FALSE_ALARMS - np.array([[0.0], [alarms[0]], [alarms[1]], [1.0]])).min(axis=0) > half
    assert inside.sum() >= 30
    gradients = roc.gradients(marker)
    for i in (3, 40, 88):
        for weights, side in ((a, "event_free"), (b, "event")):
            before, step = weights[i], 1e-6
            weights[i] = before + step
            up = found()
            weights[i] = before - step
            down = found()
            weights[i] = before
            slopes = [getattr(each.of_subjects(np.array([i])), side)[0, 0] for each in gradients]
            expected = (up - down) / (2 * step)
            np.testing.assert_allclose(np.array(slopes)[inside], expected[inside], atol=1e-8)


@pytest.mark.parametrize("name", ["ipcw", "imputation"])
def test_errors_are_those_of_the_bootstrap(name):
    rng = np.random.default_rng(11)
    n = 500
    marker = rng.normal(size=n)
    y = cc.Survival.from_latent(rng.exponential(np.exp(-marker)), rng.exponential(1.5, size=n))
    adjustment = cc.IPCW() if name == "ipcw" else cc.Imputation((), cc.Clayton(1.0))
    metric = cc.metric("auc", at=0.6)

    def curve(rows):
        status = adjustment.fit(y[rows]).weights(y[rows], [0.6])
        return metric.evaluate(status, {"": RiskScores(marker[rows])})[""].profile.y

    replicates = np.array([curve(rng.integers(n, size=n)) for _ in range(300)])
    status = adjustment.fit(y).weights(y, [0.6])
    found = influence(status, metric.profile_functionals(status, {"": RiskScores(marker)}), y)
    middle = slice(5, 80)
    ratio = replicates.std(axis=0, ddof=1)[middle] / found.standard_errors[middle]
    # 300 resamples tell an error up to 4 %, and those of a step function are rough.
    assert ratio.min() > 0.75
    assert ratio.max() < 1.35
    assert np.median(ratio) == pytest.approx(1.0, abs=0.1)


def test_one_time_and_several_one_model_and_several():
    one = cc.survival_roc_curve(Y, Y, RISK, TIMES[0])
    several = cc.survival_roc_curve(Y, Y, {"risk": RISK, "tied": TIED}, [TIMES[0], TIMES[1], TIMES[0]])
    assert isinstance(one, cc.metrics.RocCurve)
    assert list(several) == ["risk", "tied"]
    assert [curve.time for curve in several["tied"]] == [TIMES[0], TIMES[1], TIMES[0]]
    np.testing.assert_array_equal(several["risk"][2].found, one.found)
    np.testing.assert_allclose(several["risk"][0].high, one.high, atol=1e-12)
    inside = (one.found > 0) & (one.found < 1)
    assert (one.low <= one.found).all()
    assert (one.found <= one.high).all()
    assert (one.low < one.high)[inside].any()
    wider = cc.survival_roc_curve(Y, Y, RISK, TIMES[0], confidence_level=0.99)
    assert (wider.low <= one.low).all()
    assert (wider.high >= one.high).all()


def test_where_there_is_no_curve():
    y = cc.Survival([1.0, 2.0, 3.0], [True, True, True])
    for time in (0.5, 3.5):
        curve = cc.survival_roc_curve(y, y, [3.0, 1.0, 2.0], time)
        assert np.isnan(curve.auc)
        assert np.isnan(curve.found).all()
        assert np.isnan(curve.low).all()
    dependent = cc.DependentIPCW(cc.Frank.from_tau(0.3))
    refuses(
        lambda: cc.survival_roc_curve(Y, Y, RISK, TIMES[0], adjustment=dependent), "confidence_level", "None"
    )
    refuses(
        lambda: cc.survival_roc_curve(Y, Y, RISK, TIMES[0], confidence_level=2.0), "confidence_level", "2"
    )
