"""Curves along τ for tests."""

import numpy as np

from cocensor.inference.along_axis import AxisCurve

TAUS = np.array([-0.4, -0.2, 0.0, 0.2, 0.4])
Z = 1.959963984540054


def curve(values, errors=1.0, taus=TAUS):
    values = np.asarray(values, dtype=float)
    return AxisCurve(np.asarray(taus), values, np.broadcast_to(errors, values.shape))


def correlated(rng, repeats, taus):
    """Errors of variance 1 whose correlation falls with the distance."""
    covariance = np.exp(-np.abs(np.subtract.outer(taus, taus)))
    return rng.multivariate_normal(np.zeros(len(taus)), covariance, repeats)
