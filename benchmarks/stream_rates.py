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
from benchmarks.stream import COVARIATES, MODELS, make_files, read_alone
from cocensor.stream import evaluate as streaming

PASSES = {"read_outcomes": "outcomes", "read_drawn": "scores", "read_everything": "all columns"}
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


def by_pass(folder: Path, **asked: Any) -> dict[str, float]:
    """Processor seconds of the passes over the files, and of the rest: fits and errors."""
    seconds = dict.fromkeys([*PASSES.values(), "rest"], 0.0)
    kept = {name: getattr(streaming, name) for name in PASSES}

    def clocked(name: str) -> Callable[..., Any]:
        def run(*args: Any) -> Any:
            begin = time.process_time()
            found = kept[name](*args)
            seconds[PASSES[name]] += time.process_time() - begin
            return found

        return run

    for name in PASSES:
        setattr(streaming, name, clocked(name))
    try:
        models = {name: folder / name for name in MODELS}
        scan = cc.scan_parquet(folder / "test", models, time="time", event="event", covariates=COVARIATES)
        total = processor_seconds(lambda: scan.evaluate(**asked))
    finally:
        for name, work in kept.items():
            setattr(streaming, name, work)
    return seconds | {"rest": total - sum(seconds.values())}


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
            seconds = by_pass(folder, **how)
            rest = seconds.pop("rest")
            rates = [f"{asked.n / each:,.0f}" if each else "–" for each in seconds.values()]
            hours = 1e9 / asked.n * sum(seconds.values()) / 3600
            print(f"| {job} | {' | '.join(rates)} | {hours:.1f} | {rest:.0f} |", flush=True)


if __name__ == "__main__":
    main()
