"""Speed and memory of the AUC over time, from raw arrays to numbers, against scikit-survival in the same run.

One risk score, curves of proportional hazards, which keep their order, and curves that cross. Beside it what the
influence of all subjects costs, and what the other adjustments do.

Run: make bench
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import cocensor as cc
from benchmarks.tables import PrintRow, printed_table
from benchmarks.timing import best, peak_memory

SIZES = (10**3, 10**4, 10**5)
WIDTH = 100
KINDS = ("risk score", "proportional", "crossing")


def draw(n: int, kind: str) -> tuple[cc.Survival, np.ndarray, np.ndarray]:
    """Outcomes, times, and what a model of some ``kind`` predicts: a risk score, or survival."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    y = cc.Survival.from_latent(rng.exponential(np.exp(-x)), rng.exponential(1.5, size=n))
    times = np.quantile(y.time[y.event], np.linspace(0.05, 0.9, WIDTH))
    if kind == "risk score":
        return y, times, x
    shape = np.exp(0.3 * rng.normal(size=(n, 1))) if kind == "crossing" else 1.0
    return y, times, np.exp(-(times**shape) * np.exp(0.7 * x)[:, None])


def ours(y: cc.Survival, times: np.ndarray, predicted: np.ndarray, **settings: Any) -> object:
    return cc.cumulative_dynamic_auc(y, y, predicted, times, **settings)


def scikit_survival(y: cc.Survival, times: np.ndarray, predicted: np.ndarray) -> Callable[[], object]:
    from sksurv.metrics import cumulative_dynamic_auc
    from sksurv.util import Surv

    outcomes = Surv.from_arrays(y.event, y.time)
    risk = predicted if predicted.ndim == 1 else 1.0 - predicted
    return lambda: cumulative_dynamic_auc(outcomes, outcomes, risk, times)


def speed() -> None:
    print(
        f"AUC at {WIDTH} times and its mean, IPCW; scikit-survival's time over ours, and ours with influence:\n"
    )
    head = ["n", "predicted", "ours", "scikit-survival", "with influence", "imputed, Clayton"]
    with printed_table("speed", head, left=2) as row:
        _print_speed(row)


def _print_speed(row: PrintRow) -> None:
    for n in SIZES:
        for kind in KINDS:
            data = draw(n, kind)
            repeats = 9 if n <= 10**4 else 3
            seconds = best(partial(ours, *data), repeats)
            peer = best(scikit_survival(*data), repeats)
            with_influence = best(partial(ours, *data, return_influence=True), 1)
            imputed = best(partial(ours, *data, adjustment=cc.Imputation((), cc.Clayton(2.0))), 1)
            times = (
                f"{peer / seconds:.1f} ×",
                *(f"{x / seconds:.1f} × ours" for x in (with_influence, imputed)),
            )
            row(f"{n:.0e}", kind, f"{1e3 * seconds:.1f} ms", *times)


def memory() -> None:
    n, width = 10**6, 5
    setup = (
        "import warnings, numpy as np, cocensor as cc\nwarnings.simplefilter('ignore')\n"
        "from benchmarks.auc import draw, ours\n"
        f"y, times, risk = draw({n}, 'risk score')\ntimes = times[::{WIDTH // width}]\n"
        "ours(y[:1000], times, risk[:1000], return_influence=True)\n"
        "open('/proc/self/clear_refs', 'w').write('5')"
    )
    print(f"\nPeak memory beside the data at n = {n:.0e} and {width} times, MiB:\n")
    calls = {
        "AUCs": "ours(y, times, risk)",
        "AUCs with influence": "ours(y, times, risk, return_influence=True)",
        "ROC curve with limits": "cc.survival_roc_curve(y, y, risk, times[2])",
    }
    with printed_table("memory", ["what", "MiB"]) as row:
        for what, call in calls.items():
            before, after = peak_memory(setup, call)
            row(what, str(after - before))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    speed()
    memory()
