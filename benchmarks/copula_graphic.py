"""Speed and memory of the Copula-Graphic estimator.

Against a stable argsort of the same times, which any estimator that sorts must beat or share, and against
SurvivalEVAL's estimator. Everything starts from the raw arrays, validation included.

Run: make bench
"""

from __future__ import annotations

import importlib.util
from functools import partial

import numpy as np

import cocensor as cc
from benchmarks.tables import PrintRow, printed_table
from benchmarks.timing import best, peak_memory

SIZES = (10**4, 10**5, 10**6, 10**7)
COPULAS: dict[str, cc.copulas.ArchimedeanCopula] = {
    "independence": cc.Independence(),
    "clayton": cc.Clayton.from_tau(0.5),
    "clayton τ=0.99": cc.Clayton.from_tau(0.99),
    "frank": cc.Frank.from_tau(0.5),
    "gumbel": cc.Gumbel.from_tau(0.5),
    "joe": cc.Joe.from_tau(0.5),
}
PEERS = ("clayton", "frank", "gumbel")


def draw(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.exponential(size=n), rng.random(n) < 0.5


def fit(copula: cc.copulas.ArchimedeanCopula, times: np.ndarray, events: np.ndarray) -> object:
    return cc.CopulaGraphic(copula).fit(cc.Survival(times, events))


def peer_fit(name: str, theta: float, times: np.ndarray, events: np.ndarray) -> object:
    from SurvivalEVAL.nonparametric_estimator.single_event import CopulaGraphic

    # It takes R's parameter, which for Gumbel is the textbook one less 1.
    alpha = theta - 1.0 if name == "gumbel" else theta
    return CopulaGraphic(times, events, alpha=alpha, type=name.capitalize())


def speed() -> None:
    has_peer = importlib.util.find_spec("SurvivalEVAL") is not None
    peer_head = ["SurvivalEVAL", "ours is faster by"] if has_peer else []
    head = ["n", "copula", "argsort (stable)", "CG", "CG / argsort", *peer_head]
    with printed_table("speed", head, left=2) as row:
        _print_speed(row, has_peer)


def _print_speed(row: PrintRow, has_peer: bool) -> None:
    for n in SIZES:
        times, events = draw(n)
        repeats = 15 if n <= 10**5 else 5 if n <= 10**6 else 3
        for name, copula in COPULAS.items():
            # In turn, so that a busy spell of the machine hits both.
            sort = best(partial(np.argsort, times, kind="stable"), repeats)
            ours = best(partial(fit, copula, times, events), repeats)
            beside = ["–", "–"] if has_peer else []
            if has_peer and name in PEERS:
                peer = best(partial(peer_fit, name, copula.theta, times, events), min(repeats, 3))
                beside = [f"{1e3 * peer:.1f} ms", f"{peer / ours:.1f} ×"]
            row(
                *(f"{n:.0e}", name, f"{1e3 * sort:.2f} ms", f"{1e3 * ours:.2f} ms", f"{ours / sort:.2f}"),
                *beside,
            )


def memory() -> None:
    n = SIZES[-1]
    setup = f"import cocensor as cc\nfrom benchmarks.copula_graphic import draw\nt, e = draw({n})"
    before, after = peak_memory(setup, "cc.CopulaGraphic(cc.Clayton(2.0)).fit(cc.Survival(t, e))")
    print(
        f"\nPeak memory at n = {n:.0e} (Clayton): {after} MiB, {after - before} MiB beside drawing the data"
    )
    print(f"(the two input arrays are {n * 9 / 2**20:.0f} MiB).")


if __name__ == "__main__":
    speed()
    memory()
