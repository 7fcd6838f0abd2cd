"""Speed of adjusted scores where the predictions are: tensors of torch and arrays of CuPy on a GPU.

One plain pass over the predictions, ``S.sum(0)``, is the unit. IPCW and imputation (Clayton, τ = 0.5, given
covariates) at n = 1e6, T = 100 in double precision, as they are and by ``torch.compile``; at n = 1e6 and 1e7 in single
precision, by row; what is copied from the device to the host; how far scores are from those of numpy. Without a GPU it
runs on the CPU, with fewer subjects.

Run: python -m benchmarks.gpu [--write]
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import cocensor as cc

RESULTS = Path(__file__).parent / "results" / "gpu.json"
N_TIMES = 100
REPEATS = 15


def main() -> None:
    """Measure, print, and with ``--write`` keep the results."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--write", action="store_true", help=f"write {RESULTS.name} beside the other results")
    write = asked.parse_args().write
    import torch

    on_gpu = torch.cuda.is_available()
    device = "cuda" if on_gpu else "cpu"
    n, many = (10**6, 10**7) if on_gpu else (2 * 10**4, 10**5)
    found: dict[str, Any] = {
        "command": "python -m benchmarks.gpu --write",
        "device": torch.cuda.get_device_name() if on_gpu else "CPU",
        "torch": torch.__version__,
        "n": n,
        "times": N_TIMES,
    }
    study = Study(n)
    S = study.predictions(torch, device, torch.float64)
    clock = Clock(device)
    unit = clock(partial(S.sum, 0))
    found["one pass, ms"] = round(unit * 1e3, 4)
    for name, adjustment in study.adjustments.items():
        start = time.perf_counter()
        loss = study.loss(adjustment, S)
        prepared = time.perf_counter() - start
        compiled: Any = torch.compile(loss)
        asked_grad = S[: n // 10].clone().requires_grad_()
        part = study.loss(adjustment, S, n // 10)

        row = {
            "prepared, s": prepared,
            "passes": clock(partial(loss, S)) / unit,
            "passes, compiled": clock(partial(compiled, S)) / unit,
            "passes with gradient, n/10": clock(partial(_trained, part, asked_grad)) / (unit / 10),
            "compiled less eager": abs(float(compiled(S) - loss(S))),
            "copied to the host, bytes": copied_bytes(torch, partial(_fetched, loss, S)),
        }
        found[name] = {key: float(f"{value:.4g}") for key, value in row.items()}
        small = min(n, 10**5)
        reference = study.score(adjustment, S[:small].cpu().numpy(), small)
        found[name]["less numpy"] = abs(float(study.loss(adjustment, S, small)(S[:small])) - reference)
    found["brier_score, s"] = round(clock(partial(study.score, cc.IPCW(), S, n), repeats=3), 4)
    del S
    found["single precision"] = by_rows(torch, device, clock, (n, many))
    found["CuPy"] = in_cupy(study, unit)
    print(json.dumps(found, indent=1))
    if write:
        RESULTS.write_text(json.dumps(found, indent=1) + "\n")


def _trained(loss: Any, S: Any) -> None:
    S.grad = None
    loss(S).backward()


def _fetched(loss: Any, S: Any) -> Any:
    return loss.over_time(S).tolist()


class Study:
    """Outcomes and covariates of ``n`` test subjects, and of a smaller training sample."""

    def __init__(self, n: int, n_train: int = 5000) -> None:
        rng = np.random.default_rng(0)
        self.n = n
        self.x = rng.normal(size=(n, 5))
        self.rate = 0.1 * np.exp(0.4 * self.x[:, 0])
        self.y = _observed(rng, self.rate)
        x_train = rng.normal(size=(n_train, 5))
        self.y_train, self.x_train = _observed(rng, 0.1 * np.exp(0.4 * x_train[:, 0])), x_train
        self.times = np.linspace(0.1, 8.0, N_TIMES)
        given = cc.Imputation("covariates", cc.Clayton.from_tau(0.5))
        self.adjustments = {
            "IPCW": cc.IPCW().fit(self.y_train),
            "imputation": given.fit(self.y_train, self.x_train),
        }

    def predictions(self, xp: Any, device: Any, dtype: Any) -> Any:
        """Survival curves, made where they are to be."""
        rate, t = (
            xp.asarray(each, dtype=dtype, **({} if device is None else {"device": device}))
            for each in (self.rate, self.times)
        )
        return xp.exp(-rate[:, None] * t)

    def loss(self, adjustment: Any, like: Any, n: int | None = None) -> cc.metrics.AdjustedLoss:
        """The integrated Brier score of the first ``n`` subjects."""
        y, x = (self.y, self.x) if n is None else (self.y[:n], self.x[:n])
        return cc.metrics.AdjustedLoss("ibs", None, y, self.times, adjustment=adjustment, x_test=x, like=like)

    def score(self, adjustment: Any, predicted: Any, n: int) -> Any:
        """The same by the public function, of numpy's arrays or others."""
        y, x = self.y[:n], self.x[:n]
        return cc.integrated_brier_score(
            self.y_train, y, predicted, self.times, adjustment=adjustment, x_test=x
        )


def _observed(rng: np.random.Generator, rate: np.ndarray) -> cc.Survival:
    event, dropout = rng.exponential(1.0 / rate), rng.exponential(12.0, size=rate.size)
    return cc.Survival(
        np.minimum(np.minimum(event, dropout), 20.0) + 1e-6, event <= np.minimum(dropout, 20.0)
    )


class Clock:
    """The median of several runs in seconds, by the device's own events where it has them."""

    def __init__(self, device: str) -> None:
        self._on_gpu = device == "cuda"

    def __call__(self, run: Callable[[], object], repeats: int = REPEATS) -> float:
        """After a few runs that are not counted."""
        for _ in range(3):
            run()
        return statistics.median(self._once(run) for _ in range(repeats))

    def _once(self, run: Callable[[], object]) -> float:
        if not self._on_gpu:
            start = time.perf_counter()
            run()
            return time.perf_counter() - start
        import torch

        before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        before.record()
        run()
        after.record()
        torch.cuda.synchronize()
        return float(before.elapsed_time(after)) / 1e3


def copied_bytes(torch: Any, run: Callable[[], object]) -> int:
    """How much a run copies from the device to the host, by torch's profiler."""
    activities = [torch.profiler.ProfilerActivity.CPU]
    if torch.cuda.is_available():
        activities.append(torch.profiler.ProfilerActivity.CUDA)
    with torch.profiler.profile(activities=activities) as profiled:
        run()
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        profiled.export_chrome_trace(str(trace))
        events = json.loads(trace.read_text())["traceEvents"]
    copies = [each for each in events if "DtoH" in each.get("name", "")]
    return sum(int(each.get("args", {}).get("bytes", 0)) for each in copies)


def by_rows(torch: Any, device: str, clock: Clock, sizes: tuple[int, int]) -> dict[str, Any]:
    """Nanoseconds for each subject at two sizes, memory beside the predictions, and the error of single precision."""
    found: dict[str, Any] = {}
    for n in sizes:
        study = Study(n)
        S = study.predictions(torch, device, torch.float32)
        for name, adjustment in study.adjustments.items():
            loss = study.loss(adjustment, S)
            on_gpu = device == "cuda"
            if on_gpu:
                torch.cuda.reset_peak_memory_stats()
                held = torch.cuda.memory_allocated()
            row = {"ns per row": clock(partial(loss, S), repeats=5) / n * 1e9}
            if on_gpu:
                row["GB beside"] = (torch.cuda.max_memory_allocated() - held) / 1e9
            compiled: Any = torch.compile(loss)
            row["ns per row, compiled"] = clock(partial(compiled, S), repeats=5) / n * 1e9
            if n == sizes[0]:
                exact = float(study.loss(adjustment, S.double())(S.double()))
                row["relative error"] = abs(float(loss(S)) / exact - 1.0)
            found[f"{name}, n = {n:.0e}"] = {key: float(f"{value:.4g}") for key, value in row.items()}
        del S
    return found


def in_cupy(study: Study, unit: float) -> Any:
    """IPCW of an array of CuPy; None where there is no CuPy."""
    try:
        import cupy
    except ImportError:
        return None
    S = study.predictions(cupy, None, cupy.float64)
    loss = study.loss(study.adjustments["IPCW"], S)
    clock = Clock("cuda")

    def timed(run: Callable[[], object]) -> float:
        def waited() -> None:
            run()
            cupy.cuda.Stream.null.synchronize()

        return clock(waited)

    return {
        "one pass, ms": round(timed(lambda: S.sum(0)) * 1e3, 4),
        "IPCW, passes": round(timed(lambda: loss(S)) / unit, 2),
        "type": type(loss(S)).__name__,
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
