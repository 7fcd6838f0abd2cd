"""Speed and memory of the Copula-Graphic estimator.

Against a stable argsort of the same times, which any estimator that sorts must beat or share, and against
SurvivalEVAL's estimator. Everything starts from the raw arrays, validation included.

Run: make bench
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

import cocensor as cc

SIZES = (10**4, 10**5, 10**6, 10**7)
COPULAS: dict[str, cc.ArchimedeanCopula] = {
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


def best(run: Callable[[], object], repeats: int) -> float:
    """The shortest of several runs: the machine's noise only ever adds."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def peer_fit(name: str, theta: float, times: np.ndarray, events: np.ndarray) -> object:
    from SurvivalEVAL.nonparametric_estimator.single_event import CopulaGraphic

    # It takes R's parameter, which for Gumbel is the textbook one less 1.
    alpha = theta - 1.0 if name == "gumbel" else theta
    return CopulaGraphic(times, events, alpha=alpha, type=name.capitalize())


def speed() -> None:
    has_peer = importlib.util.find_spec("SurvivalEVAL") is not None
    peer_header = " SurvivalEVAL | ours is faster by |" if has_peer else ""
    print(f"| n | copula | argsort (stable) | CG | CG / argsort |{peer_header}")
    print("|---:|---|---:|---:|---:|" + ("---:|---:|" if has_peer else ""))
    for n in SIZES:
        times, events = draw(n)
        repeats = 15 if n <= 10**5 else 5 if n <= 10**6 else 3
        for name, copula in COPULAS.items():
            # In turn, so that a busy spell of the machine hits both.
            sort = best(lambda t=times: np.argsort(t, kind="stable"), repeats)  # type: ignore[misc]
            ours = best(
                lambda c=copula, t=times, e=events: cc.CopulaGraphic(c).fit(cc.Survival(t, e)),  # type: ignore[misc]
                repeats,
            )
            row = f"| {n:.0e} | {name} | {1e3 * sort:.2f} ms | {1e3 * ours:.2f} ms | {ours / sort:.2f} |"
            if has_peer and name in PEERS:
                peer = best(
                    lambda k=name, c=copula, t=times, e=events: peer_fit(k, c.theta, t, e),  # type: ignore[misc]
                    min(repeats, 3),
                )
                row += f" {1e3 * peer:.1f} ms | {peer / ours:.1f} × |"
            elif has_peer:
                row += " – | – |"
            print(row, flush=True)


def peak_memory(n: int, fit: bool) -> int:
    """The peak of resident memory in MiB of a new process that draws the data and, perhaps, fits."""
    code = (
        "import re, cocensor as cc\n"
        "from benchmarks.copula_graphic import draw\n"
        f"t, e = draw({n})\n"
        + ("cc.CopulaGraphic(cc.Clayton(2.0)).fit(cc.Survival(t, e))\n" if fit else "")
        # The high-water mark of this process alone; getrusage's is inherited from the parent.
        + r"print(re.search(r'VmHWM:\s+(\d+)', open('/proc/self/status').read())[1])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return int(done.stdout) // 1024


def memory() -> None:
    n = SIZES[-1]
    data, fit = peak_memory(n, fit=False), peak_memory(n, fit=True)
    inputs = n * 9 / 2**20
    print(f"\nPeak memory at n = {n:.0e} (Clayton): {fit} MiB, {fit - data} MiB beside drawing the data")
    print(f"(the two input arrays are {inputs:.0f} MiB).")


if __name__ == "__main__":
    speed()
    memory()
