"""Effects without what their noise adds to their size."""

from __future__ import annotations

import numpy as np

from cocensor._checks import FloatArray

_SCALES = 30
_ROUNDS = 300


def shrunken(effects: FloatArray, variances: FloatArray) -> FloatArray:
    r"""The expected effects, given estimates of these variances, for effects drawn alike from a law around 0.

    The law is a mixture of 0 and of normal laws of variances :math:`a_k`, whose shares maximise the likelihood
    (empirical Bayes). Few strong effects among many of none are left where they are, and estimates that are noise
    alone go to 0; a single one is multiplied by :math:`(1 - s^2/\hat\beta^2)_+`, the factor of James and Stein.
    """
    largest = max(float((effects**2).max()), float(variances.min()))
    scales = np.concatenate(([0.0], np.geomspace(1e-3 * float(variances.min()), largest, _SCALES)))
    total = scales + variances[:, None]
    log_density = -0.5 * (np.log(total) + effects[:, None] ** 2 / total)
    density = np.exp(log_density - log_density.max(axis=1, keepdims=True))
    shares = np.full(scales.size, 1.0 / scales.size)
    for _ in range(_ROUNDS):
        belongs = density * shares
        belongs /= belongs.sum(axis=1, keepdims=True)
        shares = belongs.mean(axis=0)
    return effects * (belongs * scales / total).sum(axis=1)
