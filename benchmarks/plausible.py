"""Which dependence do measured covariates induce, and how good are the benchmarks made of them?

"formula": τ of two subjects alike in the rest, simulated, against the benchmark of a sample of 20,000 of the same
law, for several laws of the covariate that is left out, given the rest; "marginal" ignores the rest.

"bias": what is left of the inflation by noise, in samples of 300 and 1,000 subjects with 8 or 20 independent normal
covariates, half of them censored. "none": no effects; "event only": effects N(0, 0.4²) on the event, none on dropout;
"both": these, and N(0, 0.2²) on dropout; "one": one covariate alone, 0.7 and 0.3.

"data": the data sets in the folder that the environment variable COCENSOR_DATA names. All their censorings count as
dropouts.

Run: OPENBLAS_NUM_THREADS=1 python -m benchmarks.plausible [formula|bias|data]
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

import cocensor as cc
from benchmarks.tables import PrintRow, printed_table
from cocensor.paper import datasets

SETS = ("churn", "employee", "flchain", "gbsg", "metabric", "support", "whas")
N = 20_000
N_PAIRS = 4_000_000
SEEDS = range(25)

Draw = Callable[[np.ndarray, np.random.Generator], np.ndarray]


def latent(effect: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return rng.exponential(size=effect.size) * np.exp(-effect)


def simulated_tau(draw: Draw, beta: np.ndarray, gamma: np.ndarray, rng: np.random.Generator) -> float:
    """Of pairs of subjects alike in the rest."""
    rest = rng.normal(size=N_PAIRS)
    signs = np.ones(N_PAIRS)
    x = [draw(rest, rng) for _ in range(2)]
    for effect in (beta, gamma):
        signs *= np.sign(latent(effect[0] * x[0], rng) - latent(effect[0] * x[1], rng))
    return float(signs.mean())


def binary(chance: Callable[[np.ndarray], np.ndarray]) -> Draw:
    return lambda rest, rng: (rng.random(rest.size) < chance(rest)).astype(float)


def logistic(rest: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-1.5 * rest))


LAWS: dict[str, Draw] = {
    "normal, correlation 0.8": lambda rest, rng: 0.8 * rest + 0.6 * rng.normal(size=rest.size),
    "normal, correlation 0": lambda rest, rng: rng.normal(size=rest.size),
    "skewed, correlation 0.6": lambda rest, rng: 0.6 * rest + 0.8 * (rng.exponential(size=rest.size) - 1.0),
    "spread grows with the rest": lambda rest, rng: np.exp(0.5 * rest) * rng.normal(size=rest.size),
    "binary, chance 0.3": binary(lambda rest: np.full(rest.size, 0.3)),
    "binary, logistic in the rest": binary(logistic),
}


def formula() -> None:
    head = ["distribution of x given the rest", "β", "γ", "simulated τ", "benchmark", "marginal"]
    with printed_table("formula", head) as row:
        _print_formula(row)


def _print_formula(row: PrintRow) -> None:
    for law, draw in LAWS.items():
        for own in ((1.0, 0.8), (0.5, -0.3)):
            rng = np.random.default_rng(0)
            beta, gamma = np.array([own[0], 0.5]), np.array([own[1], -0.2])
            truth = simulated_tau(draw, beta, gamma, rng)
            rest = rng.normal(size=N)
            X = np.column_stack((draw(rest, rng), rest))
            y = cc.Survival.from_latent(latent(X @ beta, rng), latent(X @ gamma, rng))
            found = next(each for each in cc.plausible_tau(X, y).benchmarks if each.name == "x0")
            apart = X[:, 0] - rng.permutation(X[:, 0])
            marginal = float(np.mean(np.tanh(beta[0] * apart / 2) * np.tanh(gamma[0] * apart / 2)))
            row(law, *map(str, own), *(f"{tau:.3f}" for tau in (truth, found.tau, marginal)))


def effects(kind: str, p: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    if kind == "one":
        first = np.arange(p) == 0
        return 0.7 * first, 0.3 * first
    beta, gamma = rng.normal(size=p), rng.normal(size=p)
    return 0.4 * (kind != "none") * beta, 0.2 * (kind == "both") * gamma


def one_sample(n: int, p: int, kind: str, seed: int) -> list[float]:
    """What the table of biases has of one sample."""
    rng = np.random.default_rng(seed)
    beta, gamma = effects(kind, p, rng)
    X = rng.normal(size=(n, p))
    y = cc.Survival.from_latent(latent(X @ beta, rng), latent(X @ gamma, rng))
    found = cc.plausible_tau(X, y, n_resamples=100)
    truth = {f"x{k}": cc.study.sensitivity.induced_tau(np.exp(beta[k]), np.exp(gamma[k])) for k in range(p)}
    true = np.array([truth[each.name] for each in found.benchmarks])
    taus, low, high = (
        np.array([(each.tau, *each.interval)[k] for each in found.benchmarks]) for k in range(3)
    )
    return [
        float(np.mean(taus - true)),
        float(np.mean((low <= true) & (true <= high))),
        float(np.abs(true).max()),
        float(np.abs(taus).max()),
        abs(found.strongest.shrunken_tau),
        float(abs(true[0])),
    ]


def bias() -> None:
    heads = (
        "bias of τ",
        "in intervals",
        "largest |τ| true",
        "estimated",
        "shrunken",
        "of the strongest, true",
    )
    with printed_table("bias", ["n", "p", "effects", *heads], left=3) as row:
        for n in (300, 1_000):
            for p in (8, 20):
                for kind in ("none", "event only", "both", "one"):
                    samples = [one_sample(n, p, kind, seed) for seed in SEEDS]
                    row(str(n), str(p), kind, *(f"{mean:.3f}" for mean in np.mean(samples, axis=0)))


def data() -> None:
    heads = ("covariate", "event", "dropout", "τ (95 % interval)", "shrunken", "all together", "aligned")
    with printed_table("data", ["data", *heads], left=2) as row:
        _print_data(row)


def _print_data(row: PrintRow) -> None:
    for name in SETS:
        loaded = getattr(datasets, f"load_{name}")()
        found = cc.plausible_tau(loaded.X, loaded.y)
        top = max(found.benchmarks, key=lambda each: abs(each.tau))
        low, high = found.together_interval
        cells = (
            f"`{top.name}`",
            f"{top.hazard_ratio_event:.2f}",
            f"{top.hazard_ratio_dropout:.2f}",
            f"{top.tau:.3f} ({top.interval.low:.3f} to {top.interval.high:.3f})",
            f"{top.shrunken_tau:.3f}",
            f"{found.together:.3f} ({low:.3f} to {high:.3f})",
            f"{found.aligned:.3f}",
        )
        row(name, *cells)


if __name__ == "__main__":
    studies = {"formula": formula, "bias": bias, "data": data}
    for asked in sys.argv[1:] or studies:
        studies[asked]()
