"""The influence of subjects by way of Copula-Graphic margins."""

from dataclasses import replace

import numpy as np

import cocensor as cc
from cocensor.adjustments import Functionals
from cocensor.curves import Predictions
from cocensor.metrics.brier import IntegratedBrierScore
from cocensor.metrics.log import IntegratedLogScore
from tests.strategies import ARCHIMEDEAN, members

TIMES = np.array([0.4, 0.75, 1.0, 1.55])
METRICS = (IntegratedBrierScore(), IntegratedLogScore(0.01))
COPULAS = members(ARCHIMEDEAN, taus=(-0.8, -0.3, 0.0, 1e-6, 0.3, 0.6, 0.9))


def sample(seed, n=40, *, ties, administrative):
    rng = np.random.default_rng(seed)
    time, event = rng.exponential(size=n), rng.random(n) < 0.5
    if ties:
        time = np.ceil(time * 4) / 4
    ended = ~event & (rng.random(n) < 0.4)
    return cc.Survival(time, event, ended if administrative else None)


def predictions(n, n_models=2, times=TIMES):
    rng = np.random.default_rng(n)
    rates = rng.gamma(4.0, 0.25, size=(n_models, n, 1))
    return [Predictions(times, np.exp(-rate * times)) for rate in rates]


def functionals(metric, status, models, weights=None):
    """Those of the integrated score and of the scores at single times."""
    if weights is None:
        weights = np.column_stack((metric.time_weights(status.grid), np.eye(status.times.size)))
    return Functionals(tuple(metric.gradient(status, each) for each in models), weights)


def scores(metric, status, models, weights):
    found = metric.evaluate(status, {str(i): each for i, each in enumerate(models)})
    return np.concatenate([each.curve @ weights for each in found.values()])


def jackknife(fitted, train, test, metric, models, weights, same):
    """The derivative of scores by the share of each subject of the training sample, numerically."""
    step, n = 1e-4, len(train)

    def at(weight):
        margin = cc.CopulaGraphic(fitted.adjustment.copula).fit(train, sample_weight=weight)
        return replace(fitted, margin=margin).status(test, TIMES)

    found = []
    for j in range(n):
        sides = []
        for sign in (1, -1, 2, -2):
            weight = np.full(n, 1.0 - sign * step)
            weight[j] += n * sign * step
            sides.append(scores(metric, at(weight), models, weights))
        found.append((8 * (sides[0] - sides[1]) - (sides[2] - sides[3])) / (12 * step))
    return np.array(found)
