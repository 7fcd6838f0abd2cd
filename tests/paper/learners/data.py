"""Data that the tests of the learners share."""

import os
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sksurv.datasets import load_gbsg2

import cocensor as cc


def simulated(n=200, seed=0, p=3):
    """Hazards proportional to exp(1.5 x₀), tied times, a third of the subjects censored."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    event, dropout = rng.exponential(np.exp(-1.5 * X[:, 0])), rng.exponential(2.0, size=n)
    return X, cc.Survival.from_latent(np.ceil(20 * event) / 20, np.ceil(20 * dropout) / 20)


@cache
def gbsg2():
    frame, outcome = load_gbsg2()
    return pd.get_dummies(frame, drop_first=True).astype(float), cc.Survival.coerce(outcome)


@cache
def metabric():
    folder = os.environ.get("COCENSOR_DATA")
    if folder is None:
        pytest.skip("COCENSOR_DATA names no folder with METABRIC")
    frame = pd.read_csv(Path(folder) / "metabric.csv")
    return frame.drop(columns=["time", "event"]), cc.Survival(frame["time"], frame["event"])


def parts(X, y, seed):
    """70, 10 and 20 % of the subjects, columns standardised by the first."""
    order = np.random.default_rng(seed).permutation(len(y))
    rows = np.split(order, [round(0.7 * len(y)), round(0.8 * len(y))])
    values = X.to_numpy()
    values = (values - values[rows[0]].mean(axis=0)) / values[rows[0]].std(axis=0)
    return [(values[index], y[index]) for index in rows]
