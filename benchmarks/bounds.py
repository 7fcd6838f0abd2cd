"""How often the intervals of bounds hold the truth, and what bounds cost.

The truth is at an extreme: after dropout, events happen when they are worst (or best) for a score, for a difference, or
for the AUC. Coverage of Imbens–Manski intervals at 95 %, and of the estimated bounds alone, over repeated samples; with
and without an end of the study. Then seconds for 20,000 subjects at 100 times, against the copula grid.

Run: OPENBLAS_NUM_THREADS=1 python -m benchmarks.bounds [repeats]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import numpy as np

import cocensor as cc
from benchmarks.tables import PrintRow, printed_table
from cocensor._checks import FloatArray
from cocensor.simulate import SyntheticDesign, SyntheticSample
from cocensor.study import Evaluation
from cocensor.study.scores import refit, score_refit
from cocensor.study.sensitivity import Bound

TIMES = np.linspace(0.25, 5.0, 20)
LEVEL = 0.95


def draw(rng: np.random.Generator, n: int, ended: bool) -> Evaluation:
    """Two models with a risk factor more or less, and dropouts that follow the first of them."""
    x = rng.normal(size=(n, 2))
    risk = x @ [0.6, 0.3]
    event, dropout = rng.exponential(4 / np.exp(risk)), rng.exponential(6 / np.exp(0.4 * x[:, 0]))
    curves = {
        name: np.exp(-np.multiply.outer(0.25 * np.exp(x @ effects), TIMES))
        for name, effects in (("both", [0.6, 0.3]), ("one", [0.6, 0.0]))
    }
    y = cc.Survival.from_latent(event, dropout, rng.uniform(1.0, 12.0, n) if ended else None)
    return cc.evaluate(
        curves, y, times=TIMES, metrics=("ibs", "auc"), adjustments="ipcw", confidence_level=LEVEL
    )


def bounds_of(result: Evaluation) -> Iterator[tuple[str, Bound]]:
    """What is held against the truth."""
    found = result.bounds("ibs")
    yield "IBS", found["both"]
    yield "difference of IBS", found["both", "one"]
    yield "Brier score at 3", result.bounds("ibs", at=3.0)["both"]
    yield "AUC at 3", result.bounds("auc", at=3.0)["both"]


def coverage(repeats: int) -> None:
    """By score and end of study, the share of intervals, and of bounds alone, that hold either extreme."""
    rng = np.random.default_rng(0)
    truth = dict(bounds_of(draw(rng, 200_000, ended=False)))
    error = 100 * (0.95 * 0.05 / repeats) ** 0.5
    print(f"{repeats} samples of 300; standard error of a share of 95 %: {error:.1f} %\n")
    head = ["score", "end of study", "true bounds", "interval holds lowest", "highest"]
    with printed_table("bounds", [*head, "bounds hold lowest", "highest"], left=2) as row:
        _print_shares(row, rng, truth, repeats)


def _print_shares(row: PrintRow, rng: np.random.Generator, truth: dict[str, Bound], repeats: int) -> None:
    for ended in (False, True):
        held: dict[str, list[list[bool]]] = {name: [] for name in truth}
        for _ in range(repeats):
            for name, bound in bounds_of(draw(rng, 300, ended)):
                low, high = bound.confidence_interval(LEVEL)
                ends = truth[name].low, truth[name].high
                held[name].append([*(low <= end <= high for end in ends), *map(bound.holds, ends)])
        for name, rows in held.items():
            shares: FloatArray = 100 * np.mean(rows, axis=0)
            between = f"{truth[name].low:.4f} to {truth[name].high:.4f}"
            row(name, "yes" if ended else "no", between, *(f"{share:.1f}" for share in shares))


def cost(n: int = 20_000) -> None:
    """Seconds of bounds, of one copula, and of the copula grid."""
    data = SyntheticDesign(n=n + 2000, n_features=5, copula=cc.Clayton.from_tau(0.5)).draw(1)
    train, test = data[:2000], data[2000:]
    times = np.linspace(0.0, float(np.quantile(test.y.time, 0.9)), 100)
    with printed_table(
        "cost", ["models", "bounds [s]", "one copula [s]", "grid [s]", "bounds, share of grid"]
    ) as row:
        _print_cost(row, train, test, times)


def _print_cost(row: PrintRow, train: SyntheticSample, test: SyntheticSample, times: FloatArray) -> None:
    for n_models in (3, 5):
        models = {
            f"{k}": cc.CoxPH().fit(train.X[:, :k], train.y).predict_survival_function(test.X[:, :k])(times)
            for k in range(1, n_models + 1)
        }
        result = cc.evaluate(
            models, test.y, test.X, y_train=train.y, x_train=train.X, metrics="ibs", times=times
        )
        seconds = [time.perf_counter()]
        result.bounds()
        seconds.append(time.perf_counter())
        other = refit(
            result.results["imputation"], lambda fitted: fitted.with_copula(cc.Clayton.from_tau(0.4))
        )
        score_refit(result.data, other)
        seconds.append(time.perf_counter())
        result.sensitivity()
        seconds.append(time.perf_counter())
        bounds, point, grid = np.diff(seconds)
        row(str(n_models), f"{bounds:.2f}", f"{point:.2f}", f"{grid:.1f}", f"{bounds / grid:.1%}")


if __name__ == "__main__":
    coverage(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
    cost()
