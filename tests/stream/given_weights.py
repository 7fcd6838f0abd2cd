"""Subjects with given weights, in batches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cocensor.adjustments.status import NOTHING, Group, Status
from cocensor.data import Predictions, RiskScores, TimeGrid


@dataclass(frozen=True)
class Given:
    """Weights of a block, as arrays."""

    a: np.ndarray
    b: np.ndarray

    def block(self, rows, columns):
        return Given(self.a[rows][:, columns], self.b[rows][:, columns])

    def dense(self):
        return self.a, self.b


def status_of(times, a, b, until=np.inf):
    """A status with these weights, (subjects, times)."""
    everyone = np.arange(len(a))
    group = Group(everyone, np.zeros(len(a), dtype=int), NOTHING, Given(a, b))
    return Status(TimeGrid.of(times), len(a), (group,), until=until)


@dataclass(frozen=True)
class Sample:
    """Weights and predictions of some subjects."""

    times: np.ndarray
    a: np.ndarray
    b: np.ndarray
    models: dict[str, Predictions]

    def at(self, metric, rows=slice(None)):
        """Status and predictions of some subjects at the times of a metric."""
        grid = metric.grid(TimeGrid.of(self.times))
        place = np.searchsorted(self.times, grid.sorted)
        status = status_of(grid.times, self.a[rows][:, place], self.b[rows][:, place])
        return status, {name: each[rows] for name, each in self.models.items()}

    def in_memory(self, metric):
        status, models = self.at(metric)
        return metric.evaluate(status, models)

    def batches(self, metric, parts, make):
        """A tree of merges, from the last part to the first."""
        made = []
        for rows in parts:
            each = make()
            each.update(*self.at(metric, rows))
            made.append(each)
        while len(made) > 1:
            last = made.pop()
            made[len(made) // 2].merge(last)
        return made[0].result(np.inf)


def sample(rng, n, n_times=4, weights="ipcw", scores="curves"):
    """Subjects whose risk has to do with their scores."""
    times = np.arange(1.0, n_times + 1)
    lp = rng.normal(size=n)
    event = rng.exponential(np.exp(-lp)) * 3.0
    observed = np.minimum(event, rng.exponential(4.0, size=n))
    seen = observed == event
    if weights == "ipcw":
        a = (observed[:, None] > times) * np.exp(times / 4.0)
        b = ((observed[:, None] <= times) & seen[:, None]) * np.exp(observed / 4.0)[:, None]
    elif weights == "imputation":
        q = np.exp(-np.maximum(times - observed[:, None], 0.0) * rng.random((n, 1)))
        a = np.where(seen[:, None], observed[:, None] > times, q).astype(float)
        b = 1.0 - a
    else:
        a, b = rng.normal(0.6, 0.5, size=(2, n, n_times))
    survival = np.exp(-np.exp(0.6 * lp)[:, None] * times / 4.0)
    if scores == "rounded":
        survival = survival.round(1)
    elif scores == "single precision":
        survival = survival.astype(np.float32)
    elif scores == "constant":
        survival = np.broadcast_to(np.exp(-times / 4.0), survival.shape).copy()
    elif scores == "extreme":
        survival = 1.0 - survival**40
        survival = np.minimum.accumulate(survival, axis=1)
    models = {"m": Predictions(times, survival), "other": Predictions(times, survival[::-1].copy())}
    if scores == "risk":
        models = {"m": RiskScores(lp), "other": RiskScores(np.exp(3.0 * lp))}
    return Sample(times, a, b, models)
