"""What estimates are compared with, read from the rows of the population; and shares in percent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from cocensor._checks import FloatArray


def of(scores: pd.Series | pd.DataFrame, quantity: str) -> FloatArray:
    """A score, or the difference of two, "a - b"."""
    parts = [np.asarray(scores[name], dtype=np.float64) for name in quantity.split(" - ")]
    return parts[0] if len(parts) == 1 else parts[0] - parts[1]


def truth(population: pd.DataFrame, law: str) -> pd.Series:
    """The true scores by model."""
    return population[(population["law"] == law) & (population["judge"] == "truth")].iloc[0]


def limit(population: pd.DataFrame, law: str, tau: float, quantity: str) -> FloatArray:
    """What imputation tends to along the assumed τ where ``tau`` is true."""
    rows = population[(population["law"] == law) & (population["tau"] == tau)]
    rows = rows[rows["judge"] == "imputed"].sort_values("assumed")
    return of(rows, quantity) - by_chance(population, law, tau, quantity)


def by_chance(population: pd.DataFrame, law: str, tau: float, quantity: str) -> float:
    """By how much the true scores of the subjects that limits are from differ from the truth."""
    rows = population[(population["law"] == law) & (population["tau"] == tau)]
    oracle = of(rows[rows["judge"] == "oracle"], quantity)
    return float(oracle.item() - of(truth(population, law), quantity))


def percent(held: Any) -> str:
    return f"{100.0 * float(np.mean(held)):.1f}"


def shown(quantity: str) -> str:
    return quantity.replace("-", "−")
