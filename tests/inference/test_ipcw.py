"""The influence of subjects on scores under IPCW: against derivatives of the whole score, slowly computed."""

import numpy as np
import pytest

import cocensor as cc
from cocensor.adjustments import Functionals
from cocensor.curves import TimeGrid
from cocensor.inference import influence
from cocensor.metrics import IntegratedBrierScore, IntegratedLogScore
from tests.inference.case_weights import Cox, derivatives, kaplan_meier, score

TIMES = np.array([0.7, 1.0, 2.0, 2.6, 4.0])


def drawn(seed, n, late=True):
    """Outcomes with ties of every kind, and covariates that drive both times."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) + 3.0
    risk = np.exp(0.5 * (X - 3.0) @ [1.0, -0.6])
    event, dropout = (
        np.ceil(2.0 * rng.exponential(3.0 / risk)) / 2,
        np.ceil(2.0 * rng.exponential(5.0 / risk)) / 2,
    )
    y = cc.Survival.from_latent(event, dropout, 6.0)
    if late:  # somebody is at risk at the last time of the grid, whoever else is drawn
        y = cc.Survival(
            np.append(y.time[:-1], 6.5),
            np.append(y.event[:-1], True),
            np.append(y.administrative[:-1], False),
        )
    tied = set(y.time[y.event]) & set(y.time[~y.event])
    assert len(tied) > 3
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
    return Functionals(tuple(metric.gradient(status, each) for each in predictions.values()), weights)


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
            cox = Cox(X_fit - 3.0, y_fit.time, y_fit.event, weights_fit)

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
]


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
@pytest.mark.parametrize("adjustment", ADJUSTMENTS, ids=repr)
def test_the_influence_in_one_sample_is_the_derivative_of_the_score(adjustment, metric):
    X, y = drawn(1, 45)
    predictions = models(X)
    status = adjustment.fit(y, X).status(y, TIMES, X)
    assert (status.n_floored > 0) == (adjustment.min_probability is not None)
    found = influence(status, asked(metric, status, predictions), y)
    assert found.fitted is None
    value = by_definition(adjustment, metric, (X, y), (X, y), predictions)
    expected = derivatives(lambda weights: value(weights, weights), len(y))
    np.testing.assert_allclose(found.test, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("adjustment", [*ADJUSTMENTS, cc.IPCW(tail="last")], ids=repr)
def test_the_influence_in_two_samples_is_the_derivative_by_each(adjustment):
    metric, held = METRICS[0], adjustment.tail == "last"
    X, y = drawn(2, 50)
    X_fit, y_fit = drawn(3, 40)
    if held:  # events after the last training time
        y_fit = cc.Survival(np.minimum(y_fit.time, 2.5), y_fit.event & (y_fit.time < 2.5))
        y_fit = cc.Survival(np.append(y_fit.time[1:], 2.7), np.append(y_fit.event[1:], True))
    predictions = models(X)
    status = adjustment.fit(y_fit, X_fit).status(y, TIMES, X)
    found = influence(status, asked(metric, status, predictions), y)
    value = by_definition(adjustment, metric, (X, y), (X_fit, y_fit), predictions)
    ones, ones_fit = np.ones(len(y)), np.ones(len(y_fit))
    own = derivatives(lambda weights: value(weights, ones_fit), len(y))
    pulled = derivatives(lambda weights: value(ones, weights), len(y_fit))
    np.testing.assert_allclose(found.test, own, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(found.fitted, pulled, rtol=1e-9, atol=1e-11)
