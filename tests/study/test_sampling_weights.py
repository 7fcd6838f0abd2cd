"""Sampling weights in a whole evaluation: constant ones change nothing, whole ones repeat rows, 0 takes a row out."""

import warnings

import numpy as np
import pytest

import cocensor as cc
from cocensor.adjustments import adjustment_names
from cocensor.data.times import TimeGrid
from cocensor.metrics import metric_names
from cocensor.metrics.calibration_curve import calibration_at
from cocensor.metrics.d_calibration import d_calibration_of
from cocensor.metrics.net_benefit import decision_curve_at
from cocensor.simulate import SyntheticDesign
from cocensor.study.plan import Plan
from cocensor.study.run import run

DATA = SyntheticDesign(n=360, n_features=2, copula=cc.Clayton.from_tau(0.3)).draw(4)
TRAIN, TEST = DATA[:160], DATA[160:]
END = np.where(np.arange(200) % 4, 99.0 * TEST.y.t_max, np.median(TEST.y.time) * 1.5)
Y = cc.Survival.from_latent(TEST.event_time, TEST.dropout_time, END)
TIMES = np.linspace(0.0, float(np.quantile(Y.time, 0.8)), 9)
COX, ONE = (cc.CoxPH().fit(TRAIN.X[:, :k], TRAIN.y) for k in (2, 1))
MODELS = {"cox": COX.survival(TIMES, TEST.X), "one": ONE.survival(TIMES, TEST.X[:, :1])}
SETTINGS = {"net_benefit": {"threshold": 0.3}, "ils": {"floor": 1e-3}}
METRICS = [cc.metric(name, **SETTINGS.get(name, {})) for name in metric_names()]
UNEQUAL = np.random.default_rng(1).gamma(2.0, size=200)


def scored(adjustments, metrics, rows=None, x=TEST.X, weights=None, train_weights=None, **how):
    """An evaluation of some rows, by the internal way that sampling weights go."""
    rows = np.arange(200) if rows is None else rows
    plan = Plan.of(
        adjustments=adjustments, metrics=metrics, times=TIMES, copula=cc.Clayton.from_tau(0.3), **how
    )
    models = {name: curves[rows] for name, curves in MODELS.items()}
    given = {"weights": weights, "train_weights": train_weights}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.warnings.HorizonWarning)
        return run(plan, models, Y[rows], x[rows], y_train=TRAIN.y, x_train=TRAIN.X, **given)


def ones(values, n, name, of):
    """Return what a constant weight would be, if it were not taken for none."""
    return np.ones(n)


def numbers(result, adjustment):
    scores = result.results[adjustment]
    for metric in result.data.metrics:
        for model, value in scores.with_reference(metric.name).items():
            yield metric.name, model, "value", value.value
            if value.curve is not None:
                yield metric.name, model, "curve", value.curve
            if value.profile is not None:
                yield metric.name, model, "profile", np.concatenate(value.profile)
        yield metric.name, "all", "errors", scores.errors[metric.name].standard_errors
    yield "", "all", "hazard ratio", np.nan if scores.hazard_ratio is None else scores.hazard_ratio


def test_constant_weights_are_taken_for_none():
    result = scored("ipcw", "ibs", weights=np.full(200, 3.7), train_weights=np.full(160, 0.2))
    assert result.data.samples.test.weight is None
    assert result.data.samples.train.weight is None
    assert scored("ipcw", "ibs", weights=UNEQUAL).data.samples.test.weight.mean() == pytest.approx(1.0)


@pytest.mark.parametrize("adjustment", [name for name in adjustment_names() if name != "aipcw"])
def test_a_weight_of_1_for_each_gives_the_numbers_without_weights(adjustment, monkeypatch):
    """Values, curves, profiles and errors of all metrics under all adjustments; of AIPCW for its Cox models alone."""
    expected = scored(adjustment, METRICS)
    monkeypatch.setattr("cocensor.adjustments.samples.sampling_weights", ones)
    found = scored(adjustment, METRICS, weights=1.0, train_weights=1.0)
    assert found.data.samples.test.weight is not None
    pairs = list(zip(numbers(found, adjustment), numbers(expected, adjustment), strict=True))
    assert len(pairs) > 60
    for own, other in pairs:
        assert own[:3] == other[:3]
        np.testing.assert_allclose(own[3], other[3], rtol=1e-12, atol=1e-12, err_msg=str(own[:3]))


def test_a_weight_of_1_for_each_gives_the_numbers_of_aipcw_without_weights(monkeypatch):
    expected = scored(cc.AIPCW("cox", "cox"), METRICS[:3], confidence_level=None)
    monkeypatch.setattr("cocensor.adjustments.samples.sampling_weights", ones)
    found = scored(cc.AIPCW("cox", "cox"), METRICS[:3], confidence_level=None, weights=1.0, train_weights=1.0)
    for metric in expected.data.metrics:
        for name in MODELS:
            value = found.score(name, metric.name).value
            assert value == pytest.approx(expected.score(name, metric.name).value, rel=1e-12)


def test_curves_and_tests_at_one_time_are_those_without_weights_for_a_weight_of_1(monkeypatch):
    grid = TimeGrid.of([TIMES[5]])
    plain = cc.IPCW().fit(Y)
    models = scored("ipcw", "ibs").data.predictions

    def all_of(weight):
        at_one, over_time = (plain.weights(Y, at, weight=weight) for at in (grid, TIMES))
        yield from vars(calibration_at(at_one, models["cox"], Y)).values()
        yield from vars(calibration_at(at_one, models["cox"], Y).groups).values()
        yield from vars(d_calibration_of(over_time, models, Y)["cox"]).values()
        yield from vars(decision_curve_at(at_one, models, Y)["cox"]).values()

    def flat(value):
        """The numbers in what a result holds."""
        if isinstance(value, tuple):
            return [number for part in value for number in flat(part)]
        if hasattr(value, "standard_error") and hasattr(value, "value"):
            return [value.value, value.standard_error]
        return np.ravel(value).tolist() if isinstance(value, np.ndarray | float | int) else []

    own, other = (
        [number for value in all_of(weight) for number in flat(value)] for weight in (np.ones(200), None)
    )
    assert len(own) > 1000
    np.testing.assert_allclose(own, other, rtol=1e-12, atol=1e-12)


def test_whole_weights_are_repeated_rows_for_means_of_losses_under_kaplan_meier():
    weights = np.arange(200) % 3 + 1
    rows = np.repeat(np.arange(200), weights)
    metrics = [metric for metric in METRICS if metric.mean_of_losses]
    assert len(metrics) >= 4
    for adjustment in ("ipcw", "margin_km", "margin", "dep", "imputation_margins", "cg_q"):
        own, repeated = scored(adjustment, metrics, weights=weights), scored(adjustment, metrics, rows)
        for metric in metrics:
            for name in MODELS:
                value = own.score(name, metric.name).value
                assert value == pytest.approx(repeated.score(name, metric.name).value, rel=1e-12)


@pytest.mark.parametrize("adjustment", ["ipcw", "ipcw_cox", "imputation_margins", "dependent_ipcw", "dep"])
def test_a_weight_of_0_takes_a_row_out(adjustment):
    kept = np.flatnonzero(np.arange(200) % 5)
    weights = np.where(np.arange(200) % 5, UNEQUAL, 0.0)
    metrics = [metric for metric in METRICS if metric.name not in ("e50", "e90")]
    own = scored(adjustment, metrics, weights=weights)
    without = scored(adjustment, metrics, kept, weights=UNEQUAL[kept])
    for found, expected in zip(numbers(own, adjustment), numbers(without, adjustment), strict=True):
        assert found[:3] == expected[:3]
        if found[2] != "errors":
            np.testing.assert_allclose(found[3], expected[3], rtol=1e-9, atol=1e-12, err_msg=str(found[:3]))


def test_the_last_subject_decides_nothing_where_it_has_no_weight():
    """Times, the last time of the sample, and whether somebody is censored then are those of subjects who count."""
    y = cc.Survival([1.0, 2.0, 3.0, 4.0, 9.0], [1, 0, 1, 0, 0])
    curves = {"a": (np.array([1.0, 4.0]), np.array([[0.9, 0.2]] * 5))}
    plan = Plan.of(adjustments="ipcw", metrics="ibs", horizon="t_max")
    own = run(plan, curves, y, weights=[1.0, 2.0, 1.0, 2.0, 0.0])
    alone = run(plan, {"a": (curves["a"][0], curves["a"][1][:4])}, y[:4], weights=[1.0, 2.0, 1.0, 2.0])
    assert own.data.horizon.time == 4.0
    np.testing.assert_array_equal(own.data.times, alone.data.times)
    assert own.score("a").value == pytest.approx(alone.score("a").value, rel=1e-12)


def test_the_default_horizon_has_its_share_of_the_weight():
    late = Y.time > np.quantile(Y.time, 0.9)
    plan = Plan.of(adjustments="ipcw", metrics="ibs", covariates=None)
    models = {"cox": COX.predict_survival_function(TEST.X)}
    plain, few = (
        run(plan, models, Y, weights=w).data.horizon.time for w in (None, np.where(late, 0.01, 1.0))
    )
    share = np.where(late, 0.01, 1.0)
    assert few < plain
    assert share[Y.time >= few].sum() / share.sum() >= 0.05 > share[Y.time > few].sum() / share.sum()


def test_bounds_and_bootstrap_take_weights():
    weights = np.arange(200) % 3 + 1
    rows = np.repeat(np.arange(200), weights)
    own, repeated = (scored("ipcw", "ibs", **given) for given in ({"weights": weights}, {"rows": rows}))
    bounds, expected = own.bounds(), repeated.bounds()
    for key in ("cox", ("cox", "one")):
        assert bounds[key].low == pytest.approx(expected[key].low, rel=1e-12)
        assert bounds[key].high == pytest.approx(expected[key].high, rel=1e-12)
    analytic = own.score("cox").standard_error
    resampled = own.bootstrap(200, seed=1).score("cox").standard_error
    assert resampled == pytest.approx(analytic, rel=0.25)
    # Rows that are repeated look like more subjects than there are.
    assert repeated.score("cox").standard_error < 0.85 * analytic


def test_checks_know_weights():
    """A model that is upside down for every other subject is none by weight where these hardly count."""
    wrong = np.arange(200) % 2 == 0
    curves = np.where(wrong[:, None], 1.0 - MODELS["cox"][::-1, ::-1], MODELS["cox"])
    plan = Plan.of(adjustments="ipcw", metrics="ibs", times=TIMES, covariates=None)
    by_heads = run(plan, {"cox": curves}, Y)
    by_weight = run(plan, {"cox": curves}, Y, weights=np.where(wrong, 0.01, 1.0))
    codes = [{check.code for check in result.checks} for result in (by_heads, by_weight)]
    assert "negative_skill" in codes[0]
    assert "negative_skill" not in codes[1]


def test_models_of_the_user_are_fitted_by_sample_weight_or_refused():
    seen = []

    class Takes(cc.CoxPH):
        def fit(self, X, y, sample_weight=None):
            seen.append(sample_weight)
            return super().fit(X, (y["time"], y["event"]), sample_weight)

    class Wants:
        def fit(self, X, y):
            raise AssertionError

        def predict_survival_function(self, X):
            raise AssertionError

    weight = UNEQUAL / UNEQUAL.mean()
    cc.AIPCW((Takes(),), "cox").fit(Y, TEST.X, weight=weight).weights(Y, [TIMES[3]], TEST.X, weight=weight)
    assert all(own is not None for own in seen)
    assert seen
    with pytest.raises(
        TypeError, match="censoring must take sample_weight in fit where subjects have weights"
    ):
        cc.IPCW(Wants()).fit(Y, TEST.X, weight=weight)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.full(199, 1.0), "weights has length 199, but y_test has length 200"),
        (np.where(np.arange(200) == 7, -1.0, 1.0), "weights must not be negative"),
        (np.zeros(200), "weights must be above 0 for at least one subject"),
        (np.where(np.arange(200) == 7, np.nan, 1.0), "weights"),
    ],
)
def test_weights_that_are_none_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        scored("ipcw", "ibs", weights=weights)
