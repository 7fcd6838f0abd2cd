"""Speed of the concordance of one risk score, from raw arrays to a number, against scikit-survival in the same run.

Run: OPENBLAS_NUM_THREADS=1 python -m benchmarks.concordance
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import cocensor as cc
from benchmarks.tables import PrintRow, printed_table
from benchmarks.timing import best

SIZES = (10**4, 10**5)
TIMES = np.linspace(0.01, 1.0, 100)
#: Theirs is quadratic: it is not run where it would take longer than this many seconds.
PATIENCE = 120.0


def draw(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Observed times, events, and a risk score."""
    rng = np.random.default_rng(0)
    risk = rng.normal(size=n)
    event, dropout = rng.exponential(np.exp(-risk)), rng.exponential(size=n)
    return np.minimum(event, dropout), event <= dropout, risk


def ours(time: np.ndarray, event: np.ndarray, risk: np.ndarray, **settings: Any) -> float:
    y = cc.Survival(time, event)
    return float(cc.concordance_index(y, y, risk, TIMES, **settings))


def scikit_survival(time: np.ndarray, event: np.ndarray, risk: np.ndarray) -> Callable[[], float]:
    from sksurv.metrics import concordance_index_ipcw
    from sksurv.util import Surv

    def run() -> float:
        y = Surv.from_arrays(event, time)
        return float(concordance_index_ipcw(y, y, risk, tau=TIMES[-1])[0])

    return run


def harrells(time: np.ndarray, event: np.ndarray, risk: np.ndarray) -> float:
    return cc.harrell_concordance((time, event), risk)


def main() -> None:
    head = ["n", "IPCW, 100 times", "scikit-survival over ours", "imputation", "Harrell's"]
    with printed_table("speed", head) as row:
        _print_speed(row)


def _print_speed(row: PrintRow) -> None:
    theirs = 0.0
    for n in SIZES:
        data = draw(n)
        repeats = 25 if n <= 10**4 else 7
        seconds = best(partial(ours, *data), repeats)
        imputed = best(
            partial(ours, *data, adjustment="imputation_margins", copula=cc.Clayton.from_tau(0.5)), repeats
        )
        harrell = best(partial(harrells, *data), repeats)
        cell = "not run"
        if 100 * theirs < PATIENCE:
            theirs = best(scikit_survival(*data), 3 if n <= 10**4 else 1)
            cell = f"{theirs / seconds:.0f} ×"
        in_ms = [f"{1e3 * each:.1f} ms" for each in (seconds, imputed, harrell)]
        row(f"{n:.0e}", in_ms[0], cell, *in_ms[1:])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
