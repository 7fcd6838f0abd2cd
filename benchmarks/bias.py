"""How far is each score from the truth? A simulation in which the event times are known.

Event and dropout are standard exponential with the given survival copula; the error is the integrated Brier score
under an adjustment, which is told the true copula, minus that of the oracle, on one and the same interval. "Same curve
for all": the prediction knows nothing of the subject. "Informed": it depends on the event time.

Run: python -m benchmarks.bias
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import cocensor as cc
from benchmarks.tables import printed_table

TIMES = np.linspace(0.05, 1.2, 24)
COPULAS = tuple(family.from_tau(0.5) for family in (cc.Clayton, cc.Frank, cc.Gumbel))
SIZES = (1_000, 10_000, 100_000)
REPEATS = 10

Predict = Callable[[np.ndarray, np.random.Generator], np.ndarray]


def same_curve(e: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.broadcast_to(np.exp(-0.7 * TIMES), (e.size, TIMES.size))


def informed(e: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    risk = np.exp(-np.log(e) + rng.normal(0.0, 0.5, size=e.size))
    return np.exp(-0.7 * risk[:, None] * TIMES)


def errors(copula: cc.copulas.ArchimedeanCopula, n: int, predict: Predict, seed: int) -> dict[str, float]:
    """IBS under each adjustment less the oracle's, on one sample."""
    rng = np.random.default_rng(seed)
    u, v = copula.sample(n, rng).T
    e, c = -np.log(u), -np.log(v)
    y = cc.Survival.from_latent(e, c)
    estimate = predict(e, rng)
    oracle = cc.integrated_brier_score(y, y, estimate, TIMES, adjustment=cc.Oracle(e))
    result = {}
    for name in cc.adjustments.adjustment_names():
        if name in ("ipcw_cox", "aipcw", "imputation_covariates", "imputation_prediction"):
            continue  # there are no covariates; benchmarks.accuracy has them
        needs = None if name in ("ipcw", "margin_km") else copula
        result[name] = (
            cc.integrated_brier_score(y, y, estimate, TIMES, adjustment=name, copula=needs) - oracle
        )
    return result


def main() -> None:
    print(f"Mean error of the IBS over {REPEATS} samples (standard error), in units of 0.001:\n")
    names = list(errors(COPULAS[0], 100, same_curve, 0))
    with printed_table("bias", ["prediction", "copula (τ = 0.5)", "n", *names], left=2) as row:
        for label, predict, sizes in (
            ("same curve for all", same_curve, SIZES),
            ("informed", informed, SIZES[-1:]),
        ):
            for copula in COPULAS:
                for n in sizes:
                    found = [errors(copula, n, predict, seed) for seed in range(REPEATS)]
                    cells = []
                    for name in names:
                        values = 1000 * np.array([each[name] for each in found])
                        cells.append(f"{values.mean():+.1f} ({values.std(ddof=1) / np.sqrt(REPEATS):.1f})")
                    row(label, copula.name, f"{n:.0e}", *cells)


if __name__ == "__main__":
    main()
