"""Which adjustment errs least, and where? The measurement behind the decision table of docs/guide/adjustments.md.

Every combination of a family (Clayton, Frank, Gumbel), a τ, a censoring rate and a prediction, with the error of
benchmarks.accuracy: the integrated Brier score less the oracle's, on one interval up to the time with 10 % of the
training sample at risk. 2,000 subjects train a Cox model, 2,000 test it. A poor prediction is given 2 of 10 covariates,
a fair one all 10, a good one all 50 of a design with 50, whose risks spread more than twice as far. In the fourth
setting risks are quadratic in the covariates: neither the Cox models nor the joint models, which are linear, have the
right form.

Run: OPENBLAS_NUM_THREADS=1 python -m benchmarks.decision
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Literal

import numpy as np

import cocensor as cc
from benchmarks.accuracy import errors
from benchmarks.tables import printed_table, slug_of
from cocensor.simulate import SyntheticDesign

FAMILIES = (cc.Clayton, cc.Frank, cc.Gumbel)
TAUS = (0.0, 0.25, 0.5, 0.75)
RATES = (0.3, 0.5, 0.7)
SEEDS = range(8)
N_TRAIN, N_TEST = 2_000, 2_000

Risk = Literal["linear", "quadratic"]


@dataclass(frozen=True)
class Prediction:
    """How many covariates there are, and how many of them the Cox model is given."""

    name: str
    n_features: int
    n_used: int
    risk: Risk = "linear"


PREDICTIONS = (
    Prediction("poor", 10, 2),
    Prediction("fair", 10, 10),
    Prediction("good", 50, 50),
    Prediction("wrong form", 10, 10, "quadratic"),
)


@dataclass(frozen=True)
class Cell:
    """One sample, and the error of every adjustment on it; NaN where it gives no answer."""

    prediction: str
    tau: float
    rate: float
    errors: dict[str, float]


def measure() -> list[Cell]:
    cells = []
    for prediction, family, tau, rate, seed in itertools.product(PREDICTIONS, FAMILIES, TAUS, RATES, SEEDS):
        design = SyntheticDesign(
            n=N_TRAIN + N_TEST,
            n_features=prediction.n_features,
            copula=family.from_tau(tau),
            censoring_rate=rate,
            risk=prediction.risk,
        )
        cells.append(Cell(prediction.name, tau, rate, errors(design, seed, N_TRAIN, prediction.n_used)))
    return cells


def summary(cells: list[Cell], name: str) -> str:
    """Root mean square error and bias in units of 0.001, and how many samples have no answer."""
    values = np.array([cell.errors[name] for cell in cells])
    answered = values[np.isfinite(values)]
    if not answered.size:
        return "none"
    missing = f", {values.size - answered.size} without" if answered.size < values.size else ""
    return f"{1000 * root_mean_square(answered):.1f} ({1000 * answered.mean():+.1f}){missing}"


def root_mean_square(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))


def against_ipcw(cells: list[Cell], name: str) -> list[str]:
    """The root mean square error over IPCW's, on the samples where there is an answer, and how many have none."""
    pairs = np.array([(cell.errors[name], cell.errors["IPCW (KM)"]) for cell in cells])
    answered = pairs[np.isfinite(pairs).all(axis=1)]
    ratio = root_mean_square(answered[:, 0]) / root_mean_square(answered[:, 1])
    return [f"{ratio:.2f}", f"{len(pairs) - len(answered)} of {len(pairs)}"]


def table(slug: str, title: str, columns: dict[str, list[Cell]], pooled: list[Cell] | None = None) -> None:
    sizes = " or ".join(str(size) for size in sorted({len(cells) for cells in columns.values()}))
    print(f"\n{title}; {sizes} samples a column: RMSE (bias) of the IBS in units of 0.001\n")
    last = ["RMSE over IPCW's, same samples", "without answer"] if pooled else []
    with printed_table(slug, ["adjustment", *columns, *last]) as row:
        for name in next(iter(columns.values()))[0].errors:
            entries = [summary(cells, name) for cells in columns.values()]
            row(name, *entries, *(against_ipcw(pooled, name) if pooled else []))


def main() -> None:
    cells = measure()
    by_prediction = {p.name: [cell for cell in cells if cell.prediction == p.name] for p in PREDICTIONS}
    table("predictions", "All families, τ and censoring rates", by_prediction, cells)
    by_rate = {f"{rate:.0%} censored": [cell for cell in cells if cell.rate == rate] for rate in RATES}
    table("rates", "All families, τ and predictions", by_rate)
    for name, chosen in by_prediction.items():
        table(
            slug_of("tau", name),
            f"Predictions: {name}",
            {f"τ = {tau:g}": [cell for cell in chosen if cell.tau == tau] for tau in TAUS},
        )


if __name__ == "__main__":
    main()
