"""Metrics that read all times, or several thresholds, under IPCW: the influence is the derivative by case weights."""

import numpy as np
import pytest

import cocensor as cc
from cocensor.inference.influence import influence
from cocensor.metrics.net_benefit import BenefitTable
from tests.inference.case_weights import derivatives, kaplan_meier, score

RNG = np.random.default_rng(11)
N = 40
X = RNG.normal(size=N)
Y = cc.Survival.from_latent(
    np.ceil(4.0 * RNG.exponential(1.0 / np.exp(X))) / 4, np.ceil(4.0 * RNG.exponential(2.0, size=N)) / 4
)
TIMES = np.array([0.0, 0.25, 0.6, 1.0, 1.4])
CURVES = {"m": cc.Predictions(TIMES, np.exp(-TIMES * np.exp(0.5 * X)[:, None]))}


def by_definition(gradients, columns):
    """The values whose gradients by the weights are given, in all of which they are linear."""

    def value(weights):
        curve = {
            (s, side): kaplan_meier(Y.time, Y.event, weights, s, side)
            for s in {*TIMES, *Y.time}
            for side in ("left", "right")
        }
        return np.array(
            [
                score(Y, weights, N * np.array(pair), at, lambda i, s, side: curve[s, side], "left").sum()
                for pair, at in zip(gradients, columns, strict=True)
            ]
        )

    return value


@pytest.mark.parametrize(
    "metric",
    [cc.metric("d_calibration", n_cells=5), cc.metric("absolute_error"), BenefitTable(np.array([0.2, 0.4]))],
    ids=["d_calibration", "absolute_error", "net_benefit"],
)
def test_the_influence_is_the_derivative_of_the_value_with_the_weights_fitted_again(metric):
    status = cc.IPCW().fit(Y).weights(Y, TIMES)
    if isinstance(metric, BenefitTable):
        linearised = metric.functionals_over_time(status, CURVES)
    else:
        linearised = metric.functionals(status, CURVES)
    found = influence(status, linearised, Y)
    gradients, columns = [None] * linearised.size, [None] * linearised.size
    for part in linearised.parts(status):
        places = np.arange(linearised.size)[part.places]
        for place, gradient in zip(places, part.functionals.gradients, strict=True):
            block, over_time = gradient.of_subjects(np.arange(N)), part.functionals.time_weights[:, 0]
            gradients[place] = (block.event_free * over_time, block.event * over_time)
            columns[place] = part.status.grid.sorted
    expected = derivatives(by_definition(gradients, columns), N)
    np.testing.assert_allclose(found.test, expected, rtol=1e-8, atol=1e-10)
