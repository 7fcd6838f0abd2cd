"""Streaming: how many subjects a core reads and scores in a second, pass by pass, and what 1e9 of them would take.

The files are those of ``benchmarks.stream``: two models at 100 times in single precision, five covariates. Seconds are
those of the processor, of all threads together, so that a busy machine counts little.

Run: OPENBLAS_NUM_THREADS=1 python -m benchmarks.stream_rates [--n 400000]
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cocensor as cc
from benchmarks.stream import COVARIATES, MODELS, N_KEPT, by_pass, make_files, read_alone

IMPUTED = {
    "τ = 0": cc.Imputation("everything"),
    "τ = 0.5": cc.Imputation("everything", cc.Clayton.from_tau(0.5)),
}
JOBS: dict[str, dict[str, Any]] = {
    "IBS by IPCW": {"adjustments": "ipcw", "metrics": "ibs"},
    "IBS by IPCW and imputation": {"metrics": "ibs"},
    "the same, and imputation at τ = 0.5": {"adjustments": {"IPCW": "ipcw", **IMPUTED}, "metrics": "ibs"},
    "all default metrics by IPCW and imputation": {},
}


def processor_seconds(work: Callable[[], Any]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def in_passes(folder: Path, **asked: Any) -> dict[str, float]:
    """Processor seconds of the passes over the files, and of the rest: fits and errors."""
    models = {name: folder / name for name in MODELS}
    scan = cc.scan_parquet(folder / "test", models, time="time", event="event", covariates=COVARIATES)
    with by_pass() as seconds:
        total = processor_seconds(lambda: scan.evaluate(**asked, n_kept=N_KEPT))
    found = {name: seconds.by.get(name, 0.0) for name in ("outcomes", "scores", "scoring")}
    return found | {"rest": total - sum(found.values())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=400_000)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "files"
        make_files(folder, asked.n)
        reading = processor_seconds(lambda: read_alone(folder))
        print(f"Reading alone: {asked.n / reading:,.0f} subjects per second of a core.\n")
        print(
            "| what | outcomes | scores | all columns | 1e9 subjects [core hours] | fits and errors [core seconds] |"
        )
        print("|---|---:|---:|---:|---:|---:|")
        for job, how in JOBS.items():
            seconds = in_passes(folder, **how)
            rest = seconds.pop("rest")
            rates = [f"{asked.n / each:,.0f}" if each else "–" for each in seconds.values()]
            hours = 1e9 / asked.n * sum(seconds.values()) / 3600
            print(f"| {job} | {' | '.join(rates)} | {hours:.1f} | {rest:.0f} |", flush=True)


if __name__ == "__main__":
    main()
