"""How the cost of evaluation, intervals, sensitivity and bounds grows: time and memory as one size doubles.

Sizes: test subjects, models, times that are scored, and grid points: those of the curves as predicted, and those of
Kendall's τ. One doubles, the others stay at ``MIDDLE``. The exponent is that of the last doubling, 1 where cost is
linear; it is below where a cost that does not grow still counts, and sorting n subjects adds a log factor, 0.06 to 0.1
here. Seconds are those of the processor, the least of several runs; memory is the peak of what was allocated beside the
inputs.

Run: OPENBLAS_NUM_THREADS=1 python -m benchmarks.growth [--quick] [--only TEXT] [--write]

``--write`` puts the tables and all sizes into benchmarks/results/growth.md and growth.json; ``--only`` runs the jobs
whose names have the text.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import cocensor as cc
from benchmarks.tables import markdown, marked
from cocensor.study import Evaluation

RESULTS = Path(__file__).parent / "results"
COMMAND = "OPENBLAS_NUM_THREADS=1 python -m benchmarks.growth --write"
BETA = np.array([0.5, -0.3, 0.2, 0.1, 0.4])
DIMENSIONS = ("subjects", "models", "times", "points")
LEVEL = 0.95
ABOUT = (
    "The others stay at 50,000 subjects (16,000 where there is an imputation model), 2 models, 50 times, 40 points of "
    "the predicted curves, and 4 points of Kendall's τ. An exponent of 1 is linear."
)


@dataclass(frozen=True)
class Size:
    """How large a job is; ``points`` are those of the predicted curves, or of τ in a sensitivity analysis."""

    subjects: int
    models: int
    times: int
    points: int


@dataclass(frozen=True)
class Row:
    """What a job costs at one size."""

    job: str
    along: str
    size: int
    seconds: float
    mebibytes: float


@dataclass(frozen=True)
class Job:
    """What is timed: the evaluation, or what follows it (``then``)."""

    name: str
    middle: Size
    adjustments: tuple[str, ...]
    metrics: str = "ibs"
    level: float | None = None
    then: Callable[[Evaluation, Size], object] | None = None
    along: tuple[str, ...] = DIMENSIONS

    def work(self, size: Size) -> Callable[[], object]:
        """The job at this size, its inputs made."""
        taus = self.then is not None
        asked = arguments(replace(size, points=size.times) if taus else size)
        options: dict[str, Any] = {"metrics": self.metrics, "confidence_level": self.level}

        def evaluation() -> Evaluation:
            return cc.evaluate(**asked, adjustments=self.adjustments, **options)

        if self.then is None:
            return evaluation
        then, result = self.then, evaluation()
        return lambda: then(result, size)


def arguments(size: Size) -> dict[str, Any]:
    """Models that know covariates more and less well, on data with a Clayton copula."""
    rng = np.random.default_rng(0)
    n = size.subjects
    x = rng.normal(size=(2 * n, len(BETA)))
    u, v = cc.Clayton.from_tau(0.4).sample(2 * n, 1).T
    event = 10.0 * (-np.log(u) / np.exp(x @ BETA)) ** (1 / 1.5)
    dropout = 12.0 * (-np.log(v) / np.exp(0.3 * x[:, 0])) ** (1 / 1.3)
    y = cc.Survival.from_latent(event, dropout)
    end = 14.0
    points = np.linspace(0.0, end, size.points)
    base = (points / 10.0) ** 1.5
    models = {}
    for k in range(size.models):
        effects = BETA + 0.1 * rng.normal(size=len(BETA))
        risk = np.exp(x[n:] @ effects + 0.1 * rng.normal(size=n))
        models[f"model {k + 1}"] = points, np.exp(-np.multiply.outer(risk, base))
    return {
        "models": models,
        "y_test": y[n:],
        "x_test": x[n:],
        "y_train": y[:n],
        "x_train": x[:n],
        "times": np.linspace(0.0, end, size.times),
    }


def over_tau(result: Evaluation, size: Size) -> object:
    """Clayton's copula at so many τ."""
    return result.sensitivity("clayton", np.linspace(0.0, 0.8, size.points + 1)[1:])


def bounds_of(metric: str, at: float | None = None) -> Callable[[Evaluation, Size], object]:
    """Bounds whatever the dependence, of all models and of their differences."""
    return lambda result, size: result.bounds(metric, at)


LARGE, SMALL = Size(50_000, 2, 50, 40), Size(16_000, 2, 50, 40)
ON_GRID = replace(SMALL, points=4)
WITHOUT_POINTS = DIMENSIONS[:3]
JOBS = (
    Job("IBS by IPCW", LARGE, ("ipcw",)),
    Job("IBS by IPCW, intervals", LARGE, ("ipcw",), level=LEVEL),
    Job("default metrics by IPCW", LARGE, ("ipcw",), "default"),
    Job("default metrics by IPCW, intervals", LARGE, ("ipcw",), "default", LEVEL),
    Job("IBS by the imputation model", SMALL, ("imputation",)),
    Job("IBS by the imputation model, intervals", SMALL, ("imputation",), level=LEVEL),
    Job("default metrics by the imputation model", SMALL, ("imputation",), "default"),
    Job("default metrics by the imputation model, intervals", SMALL, ("imputation",), "default", LEVEL),
    Job("sensitivity, IBS", ON_GRID, ("imputation",), then=over_tau),
    Job("sensitivity, IBS, intervals", ON_GRID, ("imputation",), level=LEVEL, then=over_tau),
    Job("sensitivity, default metrics, intervals", ON_GRID, ("imputation",), "default", LEVEL, over_tau),
    Job(
        "bounds of IBS, intervals", LARGE, ("ipcw",), level=LEVEL, then=bounds_of("ibs"), along=WITHOUT_POINTS
    ),
    Job(
        "bounds of the AUC at 8, intervals",
        LARGE,
        ("ipcw",),
        "auc",
        LEVEL,
        bounds_of("auc", 8.0),
        WITHOUT_POINTS,
    ),
)


def measured(work: Callable[[], object], repeats: int) -> tuple[float, float]:
    """The least seconds of the processor, and the peak of allocated memory in MiB."""
    seconds = []
    for _ in range(repeats):
        begin = time.process_time()
        work()
        seconds.append(time.process_time() - begin)
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return min(seconds), peak / 2**20


def growth(job: Job, doublings: int, repeats: int) -> Iterator[Row]:
    """A row for each size along each dimension, from half of the middle on."""
    for along in job.along:
        for k in range(doublings + 1):
            size = getattr(job.middle, along) // 2 * 2**k
            work = job.work(replace(job.middle, **{along: size}))
            yield Row(job.name, along, size, *measured(work, repeats))


def table(rows: list[Row], of: Callable[[Row], float], unit: str) -> str:
    """By job and dimension: the last cost, and the exponent of the last doubling."""
    lines = []
    for job in dict.fromkeys(row.job for row in rows):
        cells = []
        for along in DIMENSIONS:
            before, last = [row for row in rows if (row.job, row.along) == (job, along)][-2:] or (None, None)
            if before is None or last is None:
                cells.append("")
                continue
            exponent = np.log2(of(last) / of(before)) / np.log2(last.size / before.size)
            cells.append(f"{last.size:,}: {of(last):.3g} {unit}, **{exponent:.2f}**")
        lines.append([job, *cells])
    return markdown(["job", *DIMENSIONS], lines, left=5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two doublings, each run once")
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = list[Row]()
    for job in JOBS:
        if asked.only in job.name:
            for row in growth(job, *((2, 1) if asked.quick else (3, 2))):
                print(
                    f"{row.job}, {row.size:,} {row.along}: {row.seconds:.3f} s, {row.mebibytes:.0f} MiB",
                    file=sys.stderr,
                )
                rows.append(row)
    text = "\n\n".join(
        (
            "Seconds of the processor at the largest size, and the exponent of the last doubling:",
            marked("seconds", table(rows, lambda row: row.seconds, "s")),
            "Peak of memory beside the inputs, and its exponent:",
            marked("memory", table(rows, lambda row: row.mebibytes, "MiB")),
        )
    )
    print(text)
    if asked.write:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "growth.md").write_text(f"# How cost grows\n\n`{COMMAND}`\n\n{ABOUT}\n\n{text}\n")
        kept = {"command": COMMAND, "about": ABOUT, "rows": [asdict(row) for row in rows]}
        (RESULTS / "growth.json").write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
