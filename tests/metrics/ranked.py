"""Samples with something to rank, and the concordance by its definition."""

import numpy as np

import cocensor as cc


def of_pairs(a, b, marker, weights=None):
    """The definition, with weights a and b by sorted time, a marker (subjects, times), and weights of subjects."""
    n = len(a)
    weights = np.ones(n) if weights is None else weights
    pair = np.outer(weights, weights) * ~np.eye(n, dtype=bool)
    a = np.column_stack((a[:, 0] + b[:, 0], a))
    b = np.column_stack((np.zeros(n), b))
    above = below = 0.0
    for k in range(1, a.shape[1]):
        m = marker[:, k - 1]
        ahead = (m[:, None] > m) + 0.5 * (m[:, None] == m)
        both = pair * np.outer(b[:, k] - b[:, k - 1], 0.5 * (a[:, k - 1] + a[:, k]))
        above, below = above + (both * ahead).sum(), below + both.sum()
    return above / below


def drawn(seed, n, tied=False):
    """Outcomes, a risk score that has to do with them, and curves that cross."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    if tied:
        x = np.round(x)
    event, dropout = rng.exponential(np.exp(-x)), rng.exponential(2.0, size=n)
    times = np.linspace(0.05, 1.5, 7)
    curves = cc.Predictions(
        times, np.exp(-np.exp(0.5 * x)[:, None] * times ** rng.choice([0.7, 1.6], (n, 1)))
    )
    return cc.Survival.from_latent(event, dropout), event, x, curves


def data_set(name):
    from sksurv import datasets

    frame, y = getattr(datasets, f"load_{name}")()
    event, time = (y[field] for field in y.dtype.names)
    numbers = frame.select_dtypes("number").to_numpy(dtype=float)
    return event.astype(bool), time, numbers
