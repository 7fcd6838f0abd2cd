"""A small study, and the same predictions as arrays of several libraries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import array_api_strict
import numpy as np
import pytest
import torch

import cocensor as cc
from cocensor.simulate import SyntheticDesign

LIBRARIES: dict[str, Any] = {"torch": torch.asarray, "array-api-strict": array_api_strict.asarray}


@dataclass(frozen=True)
class Study:
    train: Any
    test: Any
    times: np.ndarray
    predicted: np.ndarray

    @property
    def given(self) -> dict[str, Any]:
        return {"x_train": self.train.X, "x_test": self.test.X}

    def brier(self, predicted: Any, adjustment: Any, **others: Any) -> Any:
        return cc.brier_score(
            self.train.y, self.test.y, predicted, self.times, adjustment=adjustment, **self.given, **others
        )

    def loss(self, like: Any, adjustment: Any, metric: Any = "ibs") -> cc.metrics.AdjustedLoss:
        return cc.metrics.AdjustedLoss(
            metric, self.train.y, self.test.y, self.times, adjustment=adjustment, like=like, **self.given
        )


def drawn(n: int, n_times: int, at_risk: float) -> Study:
    data = SyntheticDesign(n=2 * n, n_features=2, copula=cc.Clayton(2.0)).draw(1)
    train, test = data[:n], data[n:]
    times = cc.time_grid(train.y, test.y, n=n_times, horizon={"at_risk": at_risk})
    return Study(train, test, times, cc.CoxPH().fit(train.X, train.y).survival(times, test.X))


@pytest.fixture(scope="session")
def study() -> Study:
    return drawn(400, 12, 0.2)


@pytest.fixture(scope="session")
def small_study() -> Study:
    return drawn(60, 4, 0.5)


@pytest.fixture(params=LIBRARIES)
def make(request: pytest.FixtureRequest) -> Any:
    return LIBRARIES[request.param]


def as_numpy(values: Any) -> np.ndarray:
    return np.asarray(values.detach() if hasattr(values, "detach") else values, dtype=float)
