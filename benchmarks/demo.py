"""How often does IPCW pick the wrong model in the setting of ``cocensor demo``, and the other adjustments?

Run: python -m benchmarks.demo
"""

from __future__ import annotations

from collections import Counter

from joblib import Parallel, delayed

import cocensor as cc
from benchmarks.tables import printed_table
from cocensor.cli.demo import simulated

SEEDS = range(20)


def winners(tau: float, seed: int) -> dict[str, str]:
    """The best model under each adjustment at the true copula, and in truth."""
    copula = cc.Clayton.from_tau(tau)
    train, test, models = simulated(2000, copula, seed)
    names = ("ipcw", "imputation", "imputation_prediction", "imputation_covariates", "dep", "cg_q")
    asked: dict[str, str | cc.adjustments.Adjustment] = {name: name for name in names}
    asked["imputation at independence"] = cc.Imputation("everything")
    found = cc.evaluate(
        models,
        test.y,
        test.X,
        y_train=train.y,
        x_train=train.X,
        adjustments=asked | {"truth": cc.Oracle(test.event_time)},
        copula=copula,
        confidence_level=None,
        metrics="ibs",
    )
    return {
        name: min(models, key=lambda model: found.score(model, adjustment=name).value)
        for name in found.results
    }


def main() -> None:
    print(f"In how many draws of {len(SEEDS)} a model wins in truth, and an adjustment has another winner:\n")
    with printed_table("demo", ["τ", "best in truth", "another winner"], left=3) as row:
        for tau in (0.0, 0.3, 0.5, 0.7):
            draws = Parallel(n_jobs=2)(delayed(winners)(tau, seed) for seed in SEEDS)
            truth = Counter(draw["truth"] for draw in draws)
            wrong = {name: sum(d[name] != d["truth"] for d in draws) for name in draws[0] if name != "truth"}
            row(
                f"{tau:g}",
                *(", ".join(f"{name} {n}" for name, n in counts.items()) for counts in (truth, wrong)),
            )


if __name__ == "__main__":
    main()
