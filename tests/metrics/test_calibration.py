"""Predicted against observed chances of an event at a time."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.optimize import minimize

import cocensor as cc
from cocensor.data.predictions import PredictionsAt
from cocensor.data.times import TimeGrid
from cocensor.inference.influence import influence
from cocensor.metrics.base import sections
from cocensor.metrics.calibration import Scores, _near, fit_cloglog, smooth_calibration
from cocensor.metrics.calibration_curve import calibration_at
from tests.inference.case_weights import kaplan_meier
from tests.refusals import refuses

AT = 0.7


def drawn(n, seed=0, copula=None, shape=1.0, scale=1.0):
    """Covariates, outcomes and predictions that are right for ``shape`` and ``scale`` 1."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 1))
    risk = np.exp(0.8 * x[:, 0])
    u, v = (cc.Independence() if copula is None else copula).sample(n, rng).T
    y = cc.Survival.from_latent(-np.log(u) / risk, -np.log(v) / (0.5 * np.exp(0.3 * x[:, 0])))
    return x, y, np.exp(-(scale * risk**shape) * AT)[:, None]


def section_of(a, b, survival):
    """All subjects at one time, with weights that are given."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    y = cc.Survival(np.ones(a.size), np.ones(a.size))
    status = cc.IPCW().fit(y).weights(y, TimeGrid.of([AT]))
    [tile] = status.tiles()
    given = PredictionsAt(AT, np.asarray(survival, dtype=float))
    [(_, section)] = sections(status, tile, given)
    return replace(section, event_free=a, event=b)


def natural_spline(x, knots):
    """A basis of natural splines by what they are: cubics through values at the knots, with lines beyond."""
    spline = CubicSpline(knots, np.eye(knots.size), bc_type="natural")
    inside = np.clip(x, knots[0], knots[-1])
    return spline(inside) + (x - inside)[:, None] * spline(inside, 1)


def by_optimiser(design, a, b):
    """The best chances of an event by a general optimiser."""

    def value(point):
        hazard = np.exp(design @ point)
        chance = -np.expm1(-hazard)
        slope = (a * hazard - b * hazard * np.exp(-hazard) / chance) @ design
        return float(a @ hazard - b @ np.log(chance)), slope

    start = np.zeros(design.shape[1])
    found = minimize(value, start, jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 2000})
    return -np.expm1(-np.exp(design @ found.x))


# --- the smooth curve ---------------------------------------------------------------------------------


@pytest.mark.parametrize("fractional", [False, True])
def test_the_curve_is_the_best_natural_spline(fractional):
    rng = np.random.default_rng(4)
    survival = rng.beta(3.0, 2.0, size=400)
    happened = rng.uniform(size=400) < 0.8 * (1 - survival) ** 1.3
    a, b = (~happened).astype(float), happened.astype(float)
    if fractional:
        a, b = a * rng.gamma(4.0, 0.3, size=400), b * rng.gamma(4.0, 0.3, size=400) + 0.1
        a[:50] = b[:50] = 0.0
    x = np.log(-np.log(survival))
    design = natural_spline(x, np.quantile(x, [0.05, 0.275, 0.5, 0.725, 0.95]))
    smooth = smooth_calibration(section_of(a, b, survival))
    np.testing.assert_allclose(smooth.observed, by_optimiser(design, a, b), atol=2e-6)
    assert list(smooth.notes) == []


def test_shapes_of_the_curve_follow_the_data():
    survival = np.repeat([0.2, 0.5, 0.9], 40)
    rng = np.random.default_rng(1)
    b = (rng.uniform(size=120) < np.repeat([0.7, 0.6, 0.2], 40)).astype(float)
    means = np.repeat(b.reshape(3, 40).mean(axis=1), 40)
    # Three distinct predictions: two columns and a constant tell the three shares.
    smooth = smooth_calibration(section_of(1 - b, b, survival))
    np.testing.assert_allclose(smooth.observed, means, atol=1e-9)
    assert (smooth.df, [note.kind for note in smooth.notes]) == (2, ["decision"])
    # Subjects that do not count do not tell the third.
    counts = survival != 0.5
    smooth = smooth_calibration(section_of((1 - b) * counts, b * counts, survival))
    assert smooth.df == 1
    np.testing.assert_allclose(smooth.observed[counts], means[counts], atol=1e-9)


def test_constant_predictions_have_a_constant_curve():
    section = section_of([1.0, 0.4, 1.0, 1.0], [0.0, 0.6, 0.0, 0.0], np.full(4, 0.7))
    smooth = smooth_calibration(section)
    np.testing.assert_allclose(smooth.observed, 0.15, atol=1e-12)
    assert cc.metric("ici").value(section) == pytest.approx(0.15)
    assert cc.metric("e50").value(section) == cc.metric("e90").value(section) == pytest.approx(0.15)
    linear = cc.metric("e90").linear(section)
    # |0.15 − 0.3| falls where the share rises: ∂(Σb/Σ(a + b))/∂b = (1 − 0.15)/4.
    np.testing.assert_allclose(linear.event, -0.85 / 4, atol=1e-12)
    np.testing.assert_allclose(linear.event_free, 0.15 / 4, atol=1e-12)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_without_both_outcomes_there_is_no_curve(share):
    b = np.full(6, share)
    section = section_of(1 - b, b, np.linspace(0.1, 0.9, 6))
    assert smooth_calibration(section) is None
    metric = cc.metric("ici", at=AT)
    assert np.isnan(metric.value(section))
    assert np.isnan(metric.linear(section).value)
    assert metric.profile(section) is None


def test_perfect_separation_costs_degrees_of_freedom_until_there_is_a_fit():
    survival = np.linspace(0.05, 0.95, 40)
    b = (survival < 0.5).astype(float)
    smooth = smooth_calibration(section_of(1 - b, b, survival))
    assert smooth.df == 0
    np.testing.assert_allclose(smooth.observed, b.mean(), atol=1e-12)
    assert fit_cloglog(np.column_stack((np.ones(40), survival)), 1 - b, b) is None


@pytest.mark.parametrize("seed", [46, 372])
def test_rounding_does_not_decide_whether_data_are_separated(seed):
    """Data that a spline all but separates, in several orders of the same subjects: sums round otherwise."""
    rng = np.random.default_rng(seed)
    survival = np.sort(rng.uniform(0.05, 0.95, size=60))
    b = (rng.uniform(size=60) ** 3 > survival).astype(float)
    expected = smooth_calibration(section_of(1 - b, b, survival))
    for k in range(8):
        order = np.random.default_rng(k).permutation(60)
        found = smooth_calibration(section_of(1 - b[order], b[order], survival[order]))
        assert found.df == expected.df
        np.testing.assert_allclose(found.observed, expected.observed[order], atol=1e-7)


def test_predictions_of_0_and_1_are_held_at_the_others():
    rng = np.random.default_rng(2)
    survival = rng.uniform(0.1, 0.9, size=60)
    b = (rng.uniform(size=60) > survival).astype(float)
    extreme = survival.copy()
    low, high = survival.argmin(), survival.argmax()
    extreme[[low, high]] = 0.0, 1.0
    held = np.sort(survival)[[1, -2]]
    as_if = survival.copy()
    as_if[[low, high]] = held
    found, expected = (smooth_calibration(section_of(1 - b, b, each)) for each in (extreme, as_if))
    np.testing.assert_allclose(found.observed, expected.observed, atol=1e-12)
    assert "2 " in next(iter(found.notes)).text
    # What is held in the fit still counts as it was predicted.
    gaps = np.abs(expected.observed - (1 - extreme))
    assert cc.metric("ici").value(section_of(1 - b, b, extreme)) == pytest.approx(gaps.mean())
    only = Scores.of(np.array([0.0, 1.0, 1.0]))
    np.testing.assert_array_equal(only.x, [1.0, -1.0, -1.0])


def test_the_oracle_sees_what_no_censoring_shows():
    rng = np.random.default_rng(18)
    event, dropout = rng.exponential(size=(2, 150))
    survival = np.exp(-rng.gamma(3.0, 0.3, size=(150, 1)))
    known, seen = cc.Survival(event, np.ones(150)), cc.Survival.from_latent(event, dropout)
    by_oracle, by_ipcw = (
        cc.survival_calibration_curve(None, y, survival, AT, adjustment=how)
        for y, how in ((seen, cc.Oracle(event)), (known, "ipcw"))
    )
    for name in ("observed", "band_low", "standard_error"):
        np.testing.assert_allclose(getattr(by_oracle, name), getattr(by_ipcw, name), rtol=1e-9)
    for name in ("ici", "e50", "e90", "slope", "intercept", "observed_expected"):
        one, other = getattr(by_oracle, name), getattr(by_ipcw, name)
        assert (one.value, one.standard_error) == pytest.approx((other.value, other.standard_error))


# --- distances ----------------------------------------------------------------------------------------


def test_distances_are_those_that_lifelines_defines(monkeypatch):
    """The smoothers differ; given one and the same curve, ICI and E50 are equal."""
    pytest.importorskip("matplotlib").use("Agg")
    import lifelines
    import matplotlib.pyplot as plt
    import pandas as pd
    from lifelines import calibration

    x, y, _ = drawn(300, seed=5)
    frame = pd.DataFrame({"x": x[:, 0], "time": y.time, "event": y.event})
    model = lifelines.CoxPHFitter().fit(frame, "time", "event")
    # A model that errs: that of other subjects than these.
    frame["x"] *= 0.6
    survival = model.predict_survival_function(frame, times=[AT]).to_numpy().T
    y_known = cc.Survival(y.time, np.ones(300))
    frame["event"] = 1
    section = section_of(y.time > AT, y.time <= AT, survival[:, 0])
    smooth = smooth_calibration(section)
    _, ici, e50 = calibration.survival_probability_calibration(model, frame, t0=AT)
    own = cc.integrated_calibration_index(None, y_known, survival, [AT])[0]
    assert own == pytest.approx(ici, abs=0.02)  # another smoother
    assert cc.metric("e50").value(section) == pytest.approx(e50, abs=0.03)

    class SameCurve:
        def __init__(self, **_):
            pass

        def fit_right_censoring(self, *_, **__):
            return self

        def predict_survival_function(self, data, times):
            predicted = -np.expm1(-np.exp(data["ccl_at_0"].to_numpy()))
            return pd.DataFrame((1 - smooth.curve(predicted))[None], index=times, columns=data.index)

    monkeypatch.setattr(calibration, "CRCSplineFitter", SameCurve)
    _, ici, e50 = calibration.survival_probability_calibration(model, frame, t0=AT)
    assert own == pytest.approx(ici, abs=1e-12)
    assert cc.metric("e50").value(section) == pytest.approx(e50, abs=1e-12)
    plt.close("all")


@pytest.mark.parametrize("name", ["e50", "e90"])
def test_a_quantile_moves_as_the_distances_near_it(name):
    metric, level = cc.metric(name), {"e50": 0.5, "e90": 0.9}[name]
    rng = np.random.default_rng(6)
    survival, a, b = rng.uniform(0.1, 0.9, size=30), *rng.uniform(0.1, 1.5, size=(2, 30))
    section = section_of(a, b, survival)
    linear = metric.linear(section)
    gaps = np.abs(smooth_calibration(section).observed - (1 - survival))
    assert linear.value == np.quantile(gaps, level)
    near, step = _near(gaps, level, np.ones(30)), 1e-6

    def mean_near(a, b):
        smooth = smooth_calibration(section_of(a, b, survival))
        return np.abs(smooth.observed - smooth.predicted)[near].mean()

    for i in range(30):
        unit = step * np.eye(30)[i]
        by_a = (mean_near(a + unit, b) - mean_near(a - unit, b)) / (2 * step)
        by_b = (mean_near(a, b + unit) - mean_near(a, b - unit)) / (2 * step)
        assert (linear.event_free[i], linear.event[i]) == pytest.approx((by_a, by_b), abs=1e-7)


def test_who_is_near_a_quantile_has_the_distances_around_it():
    distances = np.random.default_rng(0).permutation(np.arange(1000.0))
    for level, half in ((0.5, 0.1625), (0.9, 0.0469)):  # n^(−1/5) [4.5 φ⁴/(2z² + 1)²]^(1/5)
        found = np.sort(distances[_near(distances, level, np.ones(distances.size))])
        np.testing.assert_array_equal(found, np.arange(found[0], found[-1] + 1))
        assert found[0] == pytest.approx(1000 * (level - half), abs=2)
        assert found[-1] == pytest.approx(1000 * (level + half), abs=2)


# --- sampling error -----------------------------------------------------------------------------------


def weighted_ici(smooth, a, b, weights):
    """The index where subjects have weights, on the same knots."""
    fit = fit_cloglog(smooth.fit.design, weights * a, weights * b)
    return weights @ np.abs(fit.chance - smooth.predicted) / weights.sum()


def numerical_influence(value, n, step=1e-4):
    """The derivative by the share given to each subject."""
    found = []
    for i in range(n):
        up, down = np.ones(n), np.ones(n)
        up[i] += step
        down[i] -= step
        found.append(n * (value(up) - value(down)) / (2 * step))
    return np.array(found)


def test_the_influence_under_ipcw_is_the_derivative_by_case_weights():
    _, y, survival = drawn(60, seed=7, shape=0.6, scale=1.5)
    metric, given = cc.metric("ici", at=AT), {"m": PredictionsAt(AT, survival)}
    status = cc.IPCW().fit(y).weights(y, [AT])
    smooth = smooth_calibration(section_of(status.a[:, 0], status.b[:, 0], survival[:, 0]))

    def value(weights):
        a, b = np.zeros((2, len(y)))
        for i, (t, event) in enumerate(zip(y.time, y.event, strict=True)):
            if t > AT:
                a[i] = 1 / kaplan_meier(y.time, y.event, weights, AT, "right").real
            elif event:
                b[i] = 1 / kaplan_meier(y.time, y.event, weights, t, "left").real
        return weighted_ici(smooth, a, b, weights)

    found = influence(status, metric.functionals(status, given), y)
    assert metric.evaluate(status, given)["m"].value == pytest.approx(value(np.ones(60)), abs=1e-10)
    np.testing.assert_allclose(found.test[:, 0], numerical_influence(value, 60), atol=1e-6)


def test_the_influence_under_imputation_is_the_derivative_by_case_weights():
    x, y, survival = drawn(80, seed=8, copula=cc.Clayton.from_tau(0.4), shape=0.6, scale=1.5)
    metric, given = cc.metric("ici", at=AT), {"m": PredictionsAt(AT, survival)}
    fitted = cc.Imputation(given="covariates", copula=cc.Clayton.from_tau(0.4)).fit(y, x)
    status = fitted.weights(y, [AT], x)
    smooth = smooth_calibration(section_of(status.a[:, 0], status.b[:, 0], survival[:, 0]))

    def value(weights):
        joint = fitted.joint
        optimum, model = joint.problem.weighted(weights).optimum(
            type(joint.model.copula), joint.model.copula.theta
        )
        again = replace(fitted, joint=replace(joint, model=model, optimum=optimum)).weights(y, [AT], x)
        return weighted_ici(smooth, again.a[:, 0], again.b[:, 0], weights)

    found = influence(status, metric.functionals(status, given), y).test[:, 0]
    expected = numerical_influence(value, 80, step=1e-3)
    np.testing.assert_allclose(found, expected, atol=2e-3 * np.abs(expected).max())


@pytest.mark.no_cover
@pytest.mark.parametrize("imputed", [False, True])
def test_standard_errors_are_those_of_the_bootstrap(imputed):
    copula = cc.Clayton.from_tau(0.5)
    x, y, survival = drawn(400, seed=1, copula=copula, shape=1.4, scale=0.6)
    how = cc.Imputation(given="covariates", copula=copula) if imputed else "ipcw"
    names = ("ici", "e50", "e90", "miscalibration", "discrimination")
    asked = {
        "adjustments": how,
        "metrics": [cc.metric(name, at=AT) for name in names],
        "times": [0.3, AT],
    }
    both = np.hstack((survival ** (0.3 / AT), survival))
    models = {"m": cc.Predictions([0.3, AT], both)}
    exact, resampled = (cc.evaluate(models, y, x, **asked, n_resamples=n) for n in (None, 100))
    for name in names:
        # The reference curve, alike for all, is calibrated and tells nobody apart.
        assert np.isnan(exact.score("m", metric=f"{name} at {AT:g}").skill.value)
        se, boot = (each.score("m", metric=f"{name} at {AT:g}").standard_error for each in (exact, resampled))
        # Of 100 resamples a standard error errs by 7 %; quantiles of distances are rough.
        assert se == pytest.approx(boot, rel=0.4 if name in ("e50", "e90") else 0.22), name


# --- the curve with its groups and summaries ----------------------------------------------------------


def within(estimate, truth, by=3.0):
    assert estimate.standard_error > 0
    assert abs(estimate.value - truth) < by * estimate.standard_error, estimate


@pytest.mark.parametrize(
    ("how", "tau", "n"),
    [("oracle", 0.0, 8000), ("ipcw_cox", 0.0, 8000), ("imputation", 0.5, 4000), ("ipcw_cox", 0.5, 4000)],
)
def test_right_predictions_are_found_calibrated(how, tau, n):
    copula = cc.Clayton.from_tau(tau) if tau else None
    x, y, survival = drawn(n, seed=11, copula=copula)
    if how == "oracle":
        rng = np.random.default_rng(3)
        y, adjustment = (
            cc.Survival(-np.log(rng.uniform(size=n)) * AT / -np.log(survival[:, 0]), np.ones(n)),
            "ipcw",
        )
    elif how == "imputation":
        adjustment = cc.Imputation(given="covariates", copula=copula)
    else:
        adjustment = how
    found = cc.survival_calibration_curve(
        y, y, survival, AT, adjustment=adjustment, confidence_level=0.999, x_train=x, x_test=x
    )
    if how == "ipcw_cox" and tau:
        # Dependence that is not adjusted for looks like miscalibration.
        assert abs(found.observed_expected.value - 1) > 5 * found.observed_expected.standard_error
        return
    within(found.slope, 1.0)
    within(found.intercept, 0.0)
    within(found.observed_expected, 1.0)
    low, high = found.observed_expected_interval
    assert low < 1.0 < high
    assert found.ici.value < 0.02
    assert (found.band_low < found.predicted).all()
    assert (found.predicted < found.band_high).all()
    assert (found.band_low < found.low).all()
    assert (found.high < found.band_high).all()
    groups = found.groups
    assert ((groups.low < groups.predicted) & (groups.predicted < groups.high)).all()


def test_slope_and_intercept_find_what_was_done_to_predictions():
    x, y, survival = drawn(6000, seed=12)
    x_true = np.log(-np.log(survival))
    spread = np.exp(-np.exp(0.4 + 1.5 * x_true))
    found = cc.survival_calibration_curve(y, y, spread, AT, adjustment="ipcw_cox", x_train=x, x_test=x)
    within(found.slope, 1 / 1.5)
    shifted = np.exp(-np.exp(0.4 + x_true))
    found = cc.survival_calibration_curve(y, y, shifted, AT, adjustment="ipcw_cox", x_train=x, x_test=x)
    within(found.slope, 1.0)
    within(found.intercept, -0.4)
    low, high = found.intercept.confidence_interval()
    assert low < -0.4 < high


def test_errors_of_uncensored_shares_are_those_of_proportions():
    _, y, survival = drawn(200, seed=13)
    y = cc.Survival(y.time, np.ones(200))
    found = cc.survival_calibration_curve(None, y, survival, AT, n_groups=4)
    happened, p = y.time <= AT, 1 - survival[:, 0]
    share = happened.mean()
    assert found.mean_observed.value == pytest.approx(share)
    assert found.mean_observed.standard_error == pytest.approx(np.sqrt(share * (1 - share) / 199))
    assert found.mean_predicted.value == pytest.approx(p.mean())
    assert found.mean_predicted.standard_error == pytest.approx(p.std(ddof=1) / np.sqrt(200))
    # The ratio of two means, by the delta method.
    ratio = share / p.mean()
    error = np.std((happened - ratio * p) / p.mean(), ddof=1) / np.sqrt(200)
    assert found.observed_expected.value == pytest.approx(ratio)
    assert found.observed_expected.standard_error == pytest.approx(error)
    group = np.argsort(np.argsort(p)) // 50
    for k in range(4):
        share = happened[group == k].mean()
        assert found.groups.n[k] == 50
        assert found.groups.predicted[k] == pytest.approx(p[group == k].mean())
        assert found.groups.observed[k] == pytest.approx(share)
        se = np.sqrt(share * (1 - share) / 50 * 200 / 199)
        assert found.groups.standard_error[k] == pytest.approx(se)
        assert found.groups.low[k] < share < found.groups.high[k]
    assert found.counts.sum() == 200
    np.testing.assert_array_equal(found.counts, np.histogram(p, found.edges)[0])


def test_the_band_is_made_of_the_errors_of_coefficients():
    """Of a straight line the error at each point is that of an information matrix, by hand."""
    survival = np.repeat([0.3, 0.8], 50)
    happened = np.arange(100) % 50 < np.repeat([30, 12], 50)
    y = cc.Survival(np.where(happened, 0.5, 2.0), np.ones(100))
    found = cc.survival_calibration_curve(None, y, survival[:, None], AT)
    ends = found.observed[[0, -1]]
    np.testing.assert_allclose(ends, [0.24, 0.6], atol=1e-9)
    shares = np.array([0.24, 0.6])
    np.testing.assert_allclose(
        found.standard_error[[0, -1]], np.sqrt(shares * (1 - shares) / 50 * 100 / 99), rtol=1e-6
    )
    assert "1 degree" in found.notes[0].text
    np.testing.assert_array_equal(found.groups.n, [50, 50])


def test_equal_predictions_stay_in_one_group():
    p = np.repeat([0.1, 0.4, 0.6], [5, 90, 5])
    y = cc.Survival(np.where(np.arange(100) % 3 == 0, 0.5, 2.0), np.ones(100))
    found = cc.survival_calibration_curve(None, y, 1 - p[:, None], AT)
    np.testing.assert_array_equal(found.groups.n, [5, 90, 5])
    np.testing.assert_allclose(found.groups.predicted, [0.1, 0.4, 0.6])


def test_times_models_and_settings_of_the_curve():
    x, y, survival = drawn(80, seed=14)
    both = cc.Predictions([0.3, AT], np.hstack((survival ** (0.3 / AT), survival)))
    one = cc.survival_calibration_curve(y, y, both, AT)
    many = cc.survival_calibration_curve(y, y, {"a": both, "b": both}, [AT, 0.3, AT], confidence_level=0.8)
    assert list(many) == ["a", "b"]
    assert [each.time for each in many["a"]] == [AT, 0.3, AT]
    np.testing.assert_allclose(many["b"][2].observed, one.observed, rtol=1e-12)
    assert (many["b"][0].high <= one.high).all()
    assert one.ici.value == pytest.approx(cc.integrated_calibration_index(y, y, both, [AT])[0])
    status = cc.IPCW().fit(y).weights(y, [AT])
    again = calibration_at(status, both, y, 0.95, 10)
    np.testing.assert_allclose(again.band_high, one.band_high, rtol=1e-12)
    profile = cc.metric("ici", at=AT).evaluate(status, {"m": both})["m"].profile
    np.testing.assert_allclose(profile.x, one.predicted)
    np.testing.assert_allclose(profile.y, one.observed)
    refuses(lambda: cc.survival_calibration_curve(y, y, both, AT, n_groups=0), "n_groups", "0")
    refuses(
        lambda: cc.survival_calibration_curve(y, y, both, AT, confidence_level=2.0), "confidence_level", "2"
    )
    refuses(lambda: cc.survival_calibration_curve(y, y, x[:, 0], AT), "estimate")


def test_curves_where_little_is_known():
    # Nobody had the event yet: shares of 0, and no curve.
    y = cc.Survival([1.0, 2.0, 3.0], [1, 1, 1])
    found = cc.survival_calibration_curve(None, y, [[0.9], [0.8], [0.7]], 0.5)
    assert np.isnan(found.observed).all()
    assert np.isnan([found.ici.value, found.slope.value, found.intercept.value]).all()
    assert found.ici.missing
    assert found.slope.missing
    assert (found.mean_observed.value, found.observed_expected.value) == (0.0, 0.0)
    assert "missing" in {note.kind for note in found.notes}
    # One subject tells no error.
    one = cc.survival_calibration_curve(None, ([1.0], [1]), [[0.9]], 0.5)
    assert one.mean_observed.missing
    # Constant predictions have no slope, but an intercept.
    flat = cc.survival_calibration_curve(None, y, np.full((3, 1), 0.5), 1.5)
    assert np.isnan(flat.slope.value)
    assert "equal" in flat.slope.missing
    assert flat.intercept.value == pytest.approx(np.log(-np.log(2 / 3)) - np.log(np.log(2)))
    # An adjustment without an influence: values, and a reason why no errors.
    _, y, survival = drawn(60, seed=15)
    status = cc.IPCW().fit(y).weights(y, [AT])
    bare = cc.adjustments.EventWeights(
        status.grid, status.cut, event_free=status.event_free, event=status.event
    )
    without = calibration_at(bare, PredictionsAt(AT, survival), y)
    assert np.isfinite([without.ici.value, *without.observed]).all()
    assert np.isnan([without.ici.standard_error, *without.band_low, *without.groups.low]).all()
    assert "influence" in without.ici.missing
    assert "caution" in {note.kind for note in without.notes}


def test_all_censored_has_no_calibration():
    y = cc.Survival([1.0, 2.0, 3.0, 4.0], [0, 0, 0, 0])
    survival = np.array([[0.9], [0.8], [0.7], [0.6]])
    assert np.isnan(cc.integrated_calibration_index(y, y, survival, [2.5])).all()
    found = cc.survival_calibration_curve(y, y, survival, 2.5)
    assert found.mean_observed.value == 0.0
    assert found.intercept.missing


def test_weights_outside_of_0_and_1_are_legitimate():
    x, y, survival = drawn(150, seed=16)
    fitted = cc.AIPCW().fit(y, x)
    weights = fitted.weights(y, [AT], x).a
    assert weights.min() < 0 or weights.max() > 1
    found = cc.survival_calibration_curve(y, y, survival, AT, adjustment=fitted, x_train=x, x_test=x)
    assert found.slope.value == pytest.approx(1.0, abs=0.5)
    assert np.isfinite(found.observed).all()
    parts = cc.brier_decomposition(y, y, survival, [AT], adjustment=fitted, x_test=x)
    assert parts.score == pytest.approx(
        cc.brier_score(y, y, survival, [AT], adjustment=fitted, x_test=x), rel=1e-12
    )


# --- over time ----------------------------------------------------------------------------------------


def test_the_mean_curve_against_kaplan_meier():
    _, y, _ = drawn(150, seed=17)
    times = np.array([0.9, 0.2, 0.5])
    curve = cc.KaplanMeier().fit(y).predict(times)
    survival = np.exp(-np.outer(np.random.default_rng(0).gamma(2.0, size=150), times))
    found = cc.mean_calibration(y, y, survival, times)
    np.testing.assert_allclose(found.observed, curve, rtol=1e-12)
    np.testing.assert_allclose(found.predicted, survival.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.difference, curve - survival.mean(axis=0), rtol=1e-12)
    at_one = cc.survival_calibration_curve(y, y, survival[:, :1], times[0])
    assert at_one.mean_observed.value == pytest.approx(1 - found.observed[0])
    # Predictions of all alike have no error: the standard error is that of the Kaplan–Meier curve.
    alike = cc.mean_calibration(y, y, {"m": np.full((150, 3), 0.5)}, times)["m"]
    status = cc.IPCW().fit(y).weights(y, times[:1])
    reference = calibration_at(status, PredictionsAt(times[0], np.full(150, 0.5)), y)
    assert alike.standard_error[0] == pytest.approx(reference.mean_observed.standard_error)
    greenwood = _greenwood(y, times)
    np.testing.assert_allclose(alike.standard_error, greenwood, rtol=0.01)
    assert (alike.band_low < alike.low).all()
    np.testing.assert_allclose(alike.high - alike.low, 2 * 1.959964 * alike.standard_error, rtol=1e-6)


def test_almost_all_predictions_may_tie():
    """Knots would tie too: the spline has fewer columns, and nobody hears of it."""
    _, y, _ = drawn(100, seed=4)
    survival = np.full((100, 1), 0.6)
    survival[:3, 0] = 0.5, 0.7, 0.8
    assert 0 < cc.integrated_calibration_index(y, y, survival, [AT])[0] < 1


def _greenwood(y, times):
    found = []
    for t in times:
        total, curve = 0.0, 1.0
        for u in np.unique(y.time[y.event & (y.time <= t)]):
            at_risk, events = (y.time >= u).sum(), ((y.time == u) & y.event).sum()
            total += events / (at_risk * (at_risk - events))
            curve *= 1 - events / at_risk
        found.append(curve * np.sqrt(total))
    return np.array(found)


@pytest.mark.parametrize(("slope", "index"), [(0.8, 0.0), (0.92, 0.0213)])
def test_intervals_of_small_indices_hold_the_truth(slope, index):
    """A distance is never estimated as 0: where noise alone could make it, its interval begins at 0."""
    holds = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=300)
        y = cc.Survival.from_latent(rng.exponential(np.exp(-0.8 * x)), rng.exponential(2.0, size=300))
        curves = cc.Predictions([0.6, 1.0], np.exp(-np.outer(np.exp(slope * x), [0.6, 1.0])))
        score = cc.evaluate({"m": curves}, y, adjustments="ipcw", metrics="ici", at=0.6).score("m")
        low, high = score.confidence_interval()
        holds.append(low <= index <= high)
        assert (low == 0.0) == (score.value < 3.5 * score.standard_error)
    assert np.mean(holds) > 0.95 - 2.5 * np.sqrt(0.05 * 0.95 / 60)
