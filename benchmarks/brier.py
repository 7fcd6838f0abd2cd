"""Speed and memory of the integrated Brier score, from raw arrays to a number.

IPCW against scikit-survival, SurvivalEVAL, pycox and torchsurv on the same data in the same run, the other
adjustments against IPCW, and all beside one plain pass over the matrix of predictions: in either memory order, in
single and in double precision, with one thread and with as many as there are cores.

Run: make bench, or python -m benchmarks.brier passes for the passes alone
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

import cocensor as cc
from benchmarks.tables import PrintRow, markdown, marked, printed_table
from benchmarks.timing import best, peak_memory
from cocensor._parallel import n_cores, one_core

SIZES = (10**4, 10**5, 10**6)
WIDTHS = (10, 100)


@dataclass(frozen=True)
class Data:
    """Training and test outcomes, predictions at ``times``."""

    train_time: np.ndarray
    train_event: np.ndarray
    time: np.ndarray
    event: np.ndarray
    times: np.ndarray
    predicted: np.ndarray

    @property
    def outcomes(self) -> tuple[Any, Any]:
        """Training and test outcomes as tuples."""
        return (self.train_time, self.train_event), (self.time, self.event)


def draw(n: int, width: int) -> Data:
    rng = np.random.default_rng(0)
    e, c = rng.exponential(size=(2, n))
    train = np.minimum(e, c), e <= c
    e, c = rng.exponential(size=(2, n))
    # scikit-survival refuses test times beyond the last training time
    time = np.minimum(np.minimum(e, c), np.nextafter(train[0].max(), 0.0))
    times = np.linspace(0.01, 1.0, width)
    predicted = np.exp(-times * rng.gamma(4.0, 0.25, size=n)[:, None])
    return Data(*train, time, e <= c, times, predicted)


def ours(data: Data, adjustment: cc.adjustments.Adjustment) -> float:
    return float(cc.integrated_brier_score(*data.outcomes, data.predicted, data.times, adjustment=adjustment))


def scikit_survival(data: Data) -> Callable[[], object]:
    from sksurv.metrics import integrated_brier_score
    from sksurv.util import Surv

    return lambda: integrated_brier_score(
        Surv.from_arrays(data.train_event, data.train_time),
        Surv.from_arrays(data.event, data.time),
        data.predicted,
        data.times,
    )


def survival_eval(data: Data) -> Callable[[], object]:
    from SurvivalEVAL import brier_multiple_points

    def run() -> float:
        scores = brier_multiple_points(
            data.predicted, data.time, data.event, data.train_time, data.train_event, data.times
        )
        return float(np.trapezoid(scores, data.times) / np.ptp(data.times))

    return run


def pycox(data: Data) -> Callable[[], object]:
    import pandas as pd
    import scipy.integrate
    from pycox.evaluation import EvalSurv

    # Its last release calls a function that scipy has renamed.
    scipy.integrate.simps = getattr(scipy.integrate, "simps", scipy.integrate.simpson)
    frame = pd.DataFrame(data.predicted.T, index=data.times)
    return lambda: EvalSurv(frame, data.time, data.event, censor_surv="km").integrated_brier_score(data.times)


def torchsurv(data: Data) -> Callable[[], object]:
    import torch
    from torchsurv.metrics.brier_score import BrierScore
    from torchsurv.stats.ipcw import get_ipcw

    train_event, train_time = torch.tensor(data.train_event), torch.tensor(data.train_time)
    event, time, times = torch.tensor(data.event), torch.tensor(data.time), torch.tensor(data.times)
    predicted = torch.tensor(data.predicted)

    def run() -> object:
        weight = get_ipcw(train_event, train_time, time)
        weight_new_time = get_ipcw(train_event, train_time, times)
        score = BrierScore()
        score(predicted, event, time, times, weight, weight_new_time)
        return score.integral()

    return run


PEERS = {
    "scikit-survival": scikit_survival,
    "SurvivalEVAL": survival_eval,
    "pycox": pycox,
    "torchsurv": torchsurv,
}


def dependent(copula: cc.copulas.ArchimedeanCopula) -> dict[str, cc.adjustments.Adjustment]:
    return {
        "margin time": cc.adjustments.MarginTime(copula),
        "IBS-Dep": cc.adjustments.MarginTime(copula, weighting="uncertainty"),
        "CG-Q": cc.Imputation((), copula, "event_free"),
        "dependent IPCW": cc.DependentIPCW(copula),
        "imputed from margins": cc.Imputation((), copula),
    }


def peer_margin_times(data: Data) -> Callable[[], object]:
    from SurvivalEVAL.nonparametric_estimator.single_event import KaplanMeierArea

    censored = data.time[~data.event]
    return lambda: KaplanMeierArea(data.train_time, data.train_event).best_guess(censored)


def our_margin_times(data: Data) -> object:
    margin = cc.KaplanMeier().fit((data.train_time, data.train_event))
    return margin.margin_time(data.time[~data.event], interpolation="linear", tail="linear")


def speed() -> None:
    copula = cc.Clayton.from_tau(0.5)
    print("IPCW, time of each peer over ours:\n")
    with printed_table("speed", ["n", "T", "one pass", "ours", *PEERS]) as row:
        rows, failures = _print_peers(row, copula)
    print(
        "Other adjustments (Clayton, τ = 0.5), time over our IPCW; last: SurvivalEVAL's Kaplan–Meier margin"
    )
    print("times of the censored test subjects over ours, fit included:\n")
    print(marked("adjustments", markdown(["n", "T", *dependent(copula), "margin times"], rows)))
    print("\n" + "\n".join(failures))


def _print_peers(row: PrintRow, copula: cc.copulas.ArchimedeanCopula) -> tuple[list[list[str]], list[str]]:
    """Print IPCW beside its peers; the rows of other adjustments, and why peers failed."""
    rows: list[list[str]] = []
    failures: list[str] = []
    for n in SIZES:
        for width in WIDTHS:
            data = draw(n, width)
            repeats = 25 if n <= 10**4 else 7 if n <= 10**5 else 3
            base = best(data.predicted.sum, repeats)
            ipcw = best(partial(ours, data, cc.IPCW()), repeats)
            cells = []
            for name, peer in PEERS.items():
                try:
                    seconds = best(peer(data), 7 if n <= 10**4 else 3 if n * width <= 10**7 else 1)
                    cells.append(f"{seconds / ipcw:.1f} ×")
                except Exception as error:  # a peer that cannot do it is a result
                    cells.append(f"fails ({type(error).__name__})")
                    failures.append(f"{name}, n = {n:.0e}, T = {width}: {error}")
            row(f"{n:.0e}", str(width), f"{1e3 * base:.2f} ms", f"{1e3 * ipcw:.1f} ms", *cells)
            ratios = [
                f"{best(partial(ours, data, a), repeats) / ipcw:.2f}" for a in dependent(copula).values()
            ]
            margin = best(peer_margin_times(data), 3) / best(partial(our_margin_times, data), 3)
            rows.append([f"{n:.0e}", str(width), *ratios, f"{margin:.1f} ×"])
    return rows, failures


def passes() -> None:
    """How many plain passes over the array a score takes, and how many times as long scikit-survival."""
    print("\nIPCW in passes over the same array, column by column (sum(0)) and all of it (sum()):\n")
    head = [
        "n",
        "order",
        "precision",
        "threads",
        "sum(0)",
        "ours",
        "of sum(0)",
        "of sum()",
        "scikit-survival",
    ]
    with printed_table("passes", head, left=3) as row:
        _print_passes(row)


def _print_passes(row: PrintRow) -> None:
    for n in (10**5, 10**6):
        data = draw(n, 100)
        repeats = 15 if n <= 10**5 else 7
        peer = best(scikit_survival(data), 2)
        for order in ("C", "F"):
            for precision in ("float64", "float32"):
                array = np.array(data.predicted, dtype=precision, order=order)
                own = replace(data, predicted=array)
                by_column, by_all = (best(partial(array.sum, axis), repeats) for axis in (0, None))
                for n_threads in sorted({1, n_cores()}):
                    with one_core() if n_threads == 1 else nullcontext():
                        seconds = best(partial(ours, own, cc.IPCW()), repeats)
                    row(
                        *(f"{n:.0e}", order, precision, str(n_threads), f"{1e3 * by_column:.1f} ms"),
                        *(f"{1e3 * seconds:.0f} ms", f"{seconds / by_column:.1f}", f"{seconds / by_all:.1f}"),
                        f"{peer / seconds:.1f} ×",
                    )


def memory() -> None:
    n, width = SIZES[-1], WIDTHS[-1]
    setup = (
        "import warnings, cocensor as cc\nwarnings.simplefilter('ignore')\n"
        "from benchmarks.brier import draw, dependent, ours\n"
        f"ours(draw(1000, 10), cc.IPCW())\ndata = draw({n}, {width})"
    )
    print(
        f"\nPeak memory beside the data at n = {n:.0e}, T = {width} (predictions: {n * width * 8 / 2**20:.0f} MiB):\n"
    )
    with printed_table("memory", ["adjustment", "MiB"]) as row:
        for name in ("IPCW", *dependent(cc.Clayton(2.0))):
            pick = "cc.IPCW()" if name == "IPCW" else f"dependent(cc.Clayton(2.0))[{name!r}]"
            # The peak of drawing the data is above what stays; only what exceeds it would show: release it first.
            before, after = peak_memory(
                setup + "\nopen('/proc/self/clear_refs', 'w').write('5')", f"ours(data, {pick})"
            )
            row(name, str(after - before))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.argv[1:] != ["passes"]:
        speed()
        memory()
    passes()
