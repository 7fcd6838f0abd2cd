"""What tests of adjustments that read a joint model share."""

import numpy as np

import cocensor as cc
from cocensor.adjustments.samples import Samples
from cocensor.data.border import as_predictions
from cocensor.data.times import TimeGrid
from cocensor.metrics.kernel import mean_losses
from cocensor.metrics.proper import BRIER
from cocensor.simulate import SyntheticDesign


def setting(copula, seed=0, n=1500, administrative=False):
    data = SyntheticDesign(n=n, n_features=3, copula=copula).draw(seed)
    y = data.y
    if administrative:
        end = np.random.default_rng(seed).uniform(5, 30, size=n)
        y = cc.Survival.from_latent(data.event_time, data.dropout_time, end)
    half = n // 2
    times = np.linspace(0.0, float(np.quantile(y.time[:half], 0.9)), 13)[1:]
    cox = cc.CoxPH().fit(data.X[:half], y[np.arange(half)])
    train, test = np.arange(half), np.arange(half, n)
    return data, y, train, test, times, cox.survival(times, data.X[half:])


def brier(status, predicted):
    curves = mean_losses(status, BRIER, [as_predictions(predicted, status.n, times=status.times)])
    return status.grid.restore(curves)[0]


def status_of(adjustment, y, train, test, times, X=None, curves=None):
    """The status of the test part, of an adjustment that is fitted to the part that it needs."""
    x = (None, None) if X is None else (X[test], X[train])
    samples = Samples.of(y[test], x[0], y[train], x[1])
    predicted = (
        {} if curves is None else {"model": as_predictions(curves, len(test), times=np.asarray(times))}
    )
    return samples.weights(samples.fit(adjustment, predicted), TimeGrid.of(times))
