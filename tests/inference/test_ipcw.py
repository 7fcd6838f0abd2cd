"""The influence of subjects on scores under IPCW: against derivatives of the whole score, slowly computed."""

import numpy as np
import pytest
from sksurv.linear_model import CoxPHSurvivalAnalysis

import cocensor as cc
from cocensor.data.times import TimeGrid
from cocensor.inference.influence import influence
from cocensor.metrics import IntegratedBrierScore, IntegratedLogScore
from tests.inference.case_weights import Cox, derivatives, kaplan_meier, score

TIMES = np.array([0.7, 1.0, 2.0, 2.6, 4.0])


def drawn(seed, n, last=True):
    """Outcomes with ties of every kind, the last an event or a dropout, and covariates that drive both times."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) + 3.0
    risk = np.exp(0.5 * (X - 3.0) @ [1.0, -0.6])
    event, dropout = (np.ceil(2.0 * rng.exponential(mean / risk)) / 2 for mean in (3.0, 5.0))
    event[-1], dropout[-1] = (6.5, 9.0) if last else (9.0, 6.5)
    end = np.where(np.arange(n) < n - 1, 6.0, 7.0)
    y = cc.Survival.from_latent(event, dropout, end)
    assert len(set(y.time[y.event]) & set(y.time[~y.event])) > 3
    return X, y


def models(X):
    """Predictions in two forms: an array in Fortran's order at the times, and steps on a grid of their own."""
    risk = np.exp(0.4 * (X - 3.0) @ [1.0, -1.0])[:, None]
    table = np.asfortranarray(np.exp(-0.2 * risk * TIMES))
    own = np.array([0.5, 1.5, 2.5, 3.5])
    return {
        "table": cc.Predictions(TIMES, table),
        "steps": cc.Predictions(own, np.exp(-0.3 * risk**0.5 * own), interpolation="step", tail="last"),
    }


def asked(metric, status, predictions):
    """The score over time and at single times, of each model."""
    weights = np.column_stack((metric.time_weights(status.grid), np.eye(TIMES.size)))
    return metric.functionals_by_time(status, predictions, weights)


def by_definition(adjustment, metric, test, fitted, predictions):
    """The values of ``asked`` as a function of the case weights of the test sample and of the fitted one."""
    (X, y), (X_fit, y_fit) = test, fitted
    side = "left" if adjustment.convention == "left_limit" else "right"
    read = [each.read(TIMES, np.arange(len(y))) for each in predictions.values()]
    losses = [(metric.loss.event_free(each), metric.loss.event(each)) for each in read]

    def value(weights, weights_fit):
        if adjustment.censoring == "km":
            curve = {
                (s, at): kaplan_meier(y_fit.time, y_fit.event, weights_fit, s, at)
                for s in {*TIMES, *y.time}
                for at in ("left", "right")
            }

            def uncensored(i, s, at):
                return curve[s, at]
        else:
            own = (
                {} if adjustment.censoring == "cox" else {"ridge": adjustment.censoring.ridge, "first": False}
            )
            cox = Cox(X_fit - 3.0, y_fit.time, y_fit.event, weights_fit, **own)

            def uncensored(i, s, at):
                return cox(X[i] - 3.0, s, at)

        found = []
        for each in losses:
            over_time = score(y, weights, each, TIMES, uncensored, side, adjustment.min_probability or 0.0)
            found += [metric.time_weights(TimeGrid.of(TIMES)) @ over_time, *over_time]
        return np.array(found)

    return value


METRICS = [IntegratedBrierScore(), IntegratedLogScore(floor=0.05)]
ADJUSTMENTS = [
    cc.IPCW(),
    cc.IPCW(convention="scikit-survival"),
    cc.IPCW(min_probability=0.7),
    cc.IPCW(censoring="cox"),
    cc.IPCW(censoring="cox", convention="scikit-survival", min_probability=0.6),
    cc.IPCW(censoring=cc.CoxPH(ridge=5.0)),
]


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
@pytest.mark.parametrize("adjustment", ADJUSTMENTS, ids=repr)
def test_the_influence_in_one_sample_is_the_derivative_of_the_score(adjustment, metric):
    X, y = drawn(1, 45)
    predictions = models(X)
    status = adjustment.fit(y, X).weights(y, TIMES, X)
    assert (status.n_floored > 0) == (adjustment.min_probability is not None)
    found = influence(status, asked(metric, status, predictions), y)
    assert found.fitted is None
    value = by_definition(adjustment, metric, (X, y), (X, y), predictions)
    expected = derivatives(lambda weights: value(weights, weights), len(y))
    np.testing.assert_allclose(found.test, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.no_cover
@pytest.mark.parametrize("adjustment", [*ADJUSTMENTS, cc.IPCW(tail="last")], ids=repr)
def test_the_influence_in_two_samples_is_the_derivative_by_each(adjustment):
    metric, held = METRICS[0], adjustment.tail == "last"
    X, y = drawn(2, 50)
    X_fit, y_fit = drawn(3, 40)
    if held:  # events after the last training time
        y_fit = cc.Survival(np.minimum(y_fit.time, 2.5), y_fit.event & (y_fit.time < 2.5))
        y_fit = cc.Survival(np.append(y_fit.time[1:], 2.7), np.append(y_fit.event[1:], True))
    predictions = models(X)
    status = adjustment.fit(y_fit, X_fit).weights(y, TIMES, X)
    found = influence(status, asked(metric, status, predictions), y)
    value = by_definition(adjustment, metric, (X, y), (X_fit, y_fit), predictions)
    ones, ones_fit = np.ones(len(y)), np.ones(len(y_fit))
    own = derivatives(lambda weights: value(weights, ones_fit), len(y))
    pulled = derivatives(lambda weights: value(ones, weights), len(y_fit))
    np.testing.assert_allclose(found.test, own, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(found.fitted, pulled, rtol=1e-9, atol=1e-11)


def test_a_last_dropout_that_takes_g_to_0_moves_what_is_used_before():
    X, y = drawn(4, 40, last=False)
    predictions = models(X)
    status = cc.IPCW().fit(y).weights(y, TIMES)
    found = influence(status, asked(METRICS[0], status, predictions), y).test
    value = by_definition(cc.IPCW(), METRICS[0], (X, y), (X, y), predictions)
    np.testing.assert_allclose(
        found, derivatives(lambda weights: value(weights, weights), len(y)), rtol=1e-9, atol=1e-11
    )


def test_weights_that_scikit_survival_has_as_0_do_not_move():
    X, y = drawn(5, 40)
    fitted = cc.IPCW(convention="scikit-survival").fit((np.minimum(y.time, 3.0), y.event & (y.time < 3.0)))
    predictions = models(X)["table"]

    def pulled(times):
        status = fitted.weights(y, times)
        return influence(status, METRICS[0].functionals_over_time(status, {"m": predictions}), y).fitted

    with pytest.warns(cc.warnings.HorizonWarning, match="are set to 0"):
        found = pulled([1.0, 2.0, 3.0])  # from 3 on G is 0
    np.testing.assert_allclose(found[:, :2], pulled([1.0, 2.0]), atol=1e-13)
    assert np.isfinite(found).all()


@pytest.mark.parametrize("censoring", ["km", "cox"])
def test_nobody_moves_g_where_nobody_is_censored(censoring):
    X, y = drawn(6, 30)
    y = cc.Survival(y.time, np.ones(30))
    predictions = models(X)
    status = cc.IPCW(censoring=censoring).fit(y, X).weights(y, TIMES, X)
    functionals = asked(METRICS[0], status, predictions)
    assert not list(status.pull_back(functionals.parts(status), functionals.size))
    terms = (y.time[:, None] > TIMES) - predictions["table"].probabilities
    np.testing.assert_allclose(
        influence(status, functionals, y).test[:, 1:6], terms**2 - (terms**2).mean(axis=0), atol=1e-15
    )


@pytest.mark.parametrize("censoring", ["km", "cox"])
@pytest.mark.parametrize("fitted", [7, 8])
def test_blocks_of_any_size_give_the_same(censoring, fitted, monkeypatch):
    (X, y), (X_fit, y_fit) = drawn(7, 60), drawn(fitted, 60)
    found = []
    for elements in (1 << 17, 40):
        monkeypatch.setattr("cocensor._checks._BLOCK_ELEMENTS", elements)
        status = cc.IPCW(censoring=censoring).fit(y_fit, X_fit).weights(y, TIMES, X)
        found.append(influence(status, asked(METRICS[0], status, models(X)), y).rows)
    np.testing.assert_allclose(*found, rtol=1e-9, atol=1e-13)


def test_times_without_a_score_leave_those_before_alone():
    X, y = drawn(9, 60)
    y_fit = cc.Survival(np.append(np.full(59, 3.0), 9.0), np.append(np.arange(59) < 2, True))
    adjustment, predictions = cc.IPCW(tail="last"), models(X)
    with pytest.warns(cc.warnings.HorizonWarning):
        status = adjustment.fit(y_fit).weights(y, TIMES)
    assert status.valid_until == TIMES[4]
    whole = influence(status, asked(METRICS[0], status, predictions), y)
    status = adjustment.fit(y_fit).weights(y, TIMES[:4])
    part = influence(status, METRICS[0].functionals_over_time(status, predictions), y)
    for one, other in ((whole.test, part.test), (whole.fitted, part.fitted)):
        np.testing.assert_allclose(one[:, 1:5], other[:, :4], atol=1e-12)
    assert np.isfinite(whole.fitted).all()


def test_the_sample_is_as_it_was_handed_over_and_a_users_model_has_none():
    X, y = drawn(10, 40)
    assert y.administrative.any()
    assert cc.IPCW().fit(y).weights(y, TIMES).sample is y
    status = cc.IPCW(censoring=CoxPHSurvivalAnalysis()).fit(y, X).weights(y, TIMES, X)
    with pytest.raises(ValueError, match="no analytic influence function"):
        influence(status, asked(METRICS[0], status, models(X)), y)


@pytest.mark.no_cover
def test_intervals_cover():
    rng = np.random.default_rng(11)

    def subjects(n):
        X = rng.normal(size=(n, 2)) + 3.0
        return X, rng.exponential(3.0 / np.exp(0.5 * (X - 3.0) @ [1.0, -0.6]))

    def scores(X, y):
        status, predictions = cc.IPCW().fit(y).weights(y, TIMES), models(X)
        table, steps = (each.value for each in METRICS[0].evaluate(status, predictions).values())
        found = influence(status, asked(METRICS[0], status, predictions), y).test[:, [0, 6]]
        found = np.column_stack((found[:, 0], found[:, 0] - found[:, 1]))
        return np.array([table, table - steps]), found.std(axis=0, ddof=1) / np.sqrt(len(y))

    X, event_time = subjects(200_000)
    truth, _ = scores(X, cc.Survival(event_time, np.ones(event_time.size)))
    covered = []
    for _ in range(300):
        X, event_time = subjects(200)
        value, error = scores(X, cc.Survival.from_latent(event_time, rng.exponential(6.0, size=200)))
        covered.append(np.abs(value - truth) < 1.96 * error)
    # 300 draws of 95 %: three standard errors are 3.8 %.
    np.testing.assert_allclose(np.mean(covered, axis=0), 0.95, atol=0.038)


def test_a_hazard_ratio_beyond_double_precision_moves_nobody_else():
    X, y = drawn(3, 60)
    far = X.copy()
    far[np.flatnonzero(y.event)[0]] = (1e4, -1e4)  # has left at once, by the model of the censoring
    fitted = cc.IPCW(censoring="cox", min_probability=0.3).fit(y, X)
    for where in (X, far):
        status = fitted.weights(y, TIMES, where)
        found = influence(status, asked(IntegratedBrierScore(), status, models(X)), y)
        assert np.isfinite(found.standard_errors).all()
