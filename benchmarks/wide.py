"""Many models, many covariates, few events: does the judge still err less than IPCW, and does shrinking help?

Twelve Cox models, each of 4 random covariates of 50, judged by 200 test subjects of whom about half have their event.
In truth 8 covariates matter for the event and 4 for the dropout, which are tied by Clayton's copula.

Run: OPENBLAS_NUM_THREADS=1 python -m benchmarks.wide
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import combinations

import numpy as np

import cocensor as cc
from benchmarks.tables import printed_table
from cocensor._checks import FloatArray

N_TRAIN, N_TEST, COVARIATES, MODELS, USED = 1_000, 200, 50, 12, 4
TAUS = (0.0, 0.5)
DRAWS = 20
SHAPE = 1.5

JUDGES: dict[str, Callable[[cc.copulas.Copula], cc.adjustments.Adjustment]] = {
    "IPCW (KM)": lambda copula: cc.IPCW(),
    "imputed": lambda copula: cc.Imputation("everything", copula),
    "imputed, without covariates": lambda copula: cc.Imputation(
        "predictions", copula, score_times="auto", score_df=3, time_varying=True, shrink=True
    ),
    "imputed, without ridges": lambda copula: cc.Imputation("everything", copula, shrink=False),
}


def errors(tau: float, seed: int) -> dict[str, tuple[float, float]]:
    """Mean |error| over the models of the score, and over pairs of the difference; NaN where there is no answer."""
    rng = np.random.default_rng(seed)
    n = N_TRAIN + N_TEST
    x = rng.standard_normal((n, COVARIATES))
    copula = cc.Clayton.from_tau(tau)
    u, v = copula.sample(n, rng).T
    risk = x[:, :8] @ np.array([0.5, -0.5, 0.4, -0.4, 0.3, -0.3, 0.2, -0.2])
    event = (-np.log(u) * np.exp(-risk)) ** (1 / SHAPE)
    dropout = (-np.log(v) * np.exp(-x[:, [0, 2, 20, 21]].sum(axis=1) * 0.3)) ** (1 / 1.2)
    y = cc.Survival.from_latent(event, dropout)
    train, test = np.arange(N_TRAIN), np.arange(N_TRAIN, n)
    times = cc.time_grid(y[test], n=50, horizon={"at_risk": 0.1})
    models: dict[str, FloatArray] = {}
    for k in range(MODELS):
        columns = rng.choice(12, USED, replace=False)
        fitted = cc.CoxPH().fit(x[np.ix_(train, columns)], y[train])
        models[str(k)] = fitted.survival(times, x[np.ix_(test, columns)])

    def scores(adjustment: cc.adjustments.Adjustment) -> FloatArray:
        try:
            found = cc.integrated_brier_score(
                None, y[test], models, times, adjustment=adjustment, x_test=x[test]
            )
        except ValueError:
            return np.full(MODELS, np.nan)
        return np.array(list(found.values()))

    truth = scores(cc.Oracle(event[test]))
    result = {}
    for name, make in JUDGES.items():
        error = scores(make(copula)) - truth
        pairs = [error[i] - error[j] for i, j in combinations(range(MODELS), 2)]
        result[name] = float(np.mean(np.abs(error))), float(np.mean(np.abs(pairs)))
    return result


def main() -> None:
    head = ["adjustment", "τ", "mean abs. error of scores", "of differences", "without answer"]
    with warnings.catch_warnings(), printed_table("wide", head) as row:
        warnings.simplefilter("ignore", cc.warnings.FitWarning)
        for tau in TAUS:
            draws = [errors(tau, seed) for seed in range(DRAWS)]
            for name in JUDGES:
                values = 1000 * np.array([draw[name] for draw in draws])
                known = values[np.isfinite(values).all(axis=1)]
                shown = ["–", "–"]
                if len(known):
                    error = known.std(axis=0, ddof=1) / np.sqrt(len(known))
                    shown = [f"{m:.1f} ± {e:.1f}" for m, e in zip(known.mean(axis=0), error, strict=True)]
                row(name, f"{tau:g}", *shown, f"{len(values) - len(known)} of {len(values)}")


if __name__ == "__main__":
    main()
