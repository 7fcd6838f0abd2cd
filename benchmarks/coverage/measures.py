"""What estimates are compared with, read from the rows of the population; and shares in percent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.coverage.setting import GRID
from cocensor._validation import FloatArray


def of(scores: pd.Series | pd.DataFrame, quantity: str) -> FloatArray:
    """A score, or the difference of two, "a - b"."""
    parts = [np.asarray(scores[name], dtype=np.float64) for name in quantity.split(" - ")]
    return parts[0] if len(parts) == 1 else parts[0] - parts[1]


def truth(population: pd.DataFrame, law: str) -> pd.Series:
    """The true scores by model."""
    return population[(population["law"] == law) & (population["judge"] == "truth")].iloc[0]


def limit(population: pd.DataFrame, law: str, tau: float, quantity: str) -> FloatArray:
    """What imputation tends to along the assumed τ where ``tau`` is true."""
    rows = population[
        (population["law"] == law) & (population["judge"] == "imputed") & (population["tau"] == tau)
    ]
    return np.array([np.mean(of(rows[rows["assumed"] == assumed], quantity)) for assumed in GRID])


def percent(held: Any) -> str:
    return f"{100.0 * float(np.mean(held)):.1f}"


def shown(quantity: str) -> str:
    return quantity.replace("-", "−")
