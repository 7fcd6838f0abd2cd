"""Streaming: how long evaluating predictions in Parquet files takes, against reading them, and how much memory.

Two models' predictions at 100 times in single precision, and outcomes with five covariates, in several files of several
row groups each, as pyarrow writes them by default (which makes numbers that differ half as large again; ``--plain``
does not). Reading is pyarrow alone: batches of a dataset with all columns that the evaluation reads, by as many
threads. Both run in turns, and the least time of each counts, on the wall and of the processor. Goals: IPCW alone at
most 3 times as long as reading, with imputation at independence and at one τ at most 6 times, and at most 1 GiB of
memory beside the page cache.

Run: OPENBLAS_NUM_THREADS=1 python -m benchmarks.stream [--n 4000000] [--write]

``--folder`` says where the files are made (by default a temporary folder); with ``--keep`` they stay there and are
found again.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import dataset, parquet

import cocensor as cc
from benchmarks.tables import printed_table
from benchmarks.timing import peak_memory
from cocensor._parallel import n_cores
from cocensor.scale import evaluate as streaming

RESULTS = Path(__file__).parent / "results"
T, MODELS, ROWS_IN_GROUP, MOST_IN_FILE = 100, ("few", "all"), 2**17, 2**19
#: Fewer than there are by default: a stream is measured, and not an evaluation in memory.
N_KEPT = 100_000
BETA = np.array([0.5, -0.3, 0.2, 0.1, 0.4])
COVARIATES = [f"x{i}" for i in range(len(BETA))]
TIMES = np.linspace(0.15, 15.0, T)
SAID = {
    "default": "as pyarrow writes them: dictionaries, Snappy",
    "plain": "neither compressed nor with dictionaries",
}
#: What an evaluation does one after the other.
PASSES = {
    "read_outcomes": "outcomes",
    "read_drawn": "scores",
    "fits_under": "fit",
    "read_everything": "scoring",
    "scores_of": "errors",
    "build_evaluation": "alarms",
}
#: By name the adjustments, and how many times as long as reading they may take.
JOBS: dict[str, tuple[dict[str, Any], float]] = {
    "IPCW": ({"IPCW": "ipcw"}, 3.0),
    "IPCW, imputation at τ = 0 and 0.5": (
        {
            "IPCW": "ipcw",
            "τ = 0": cc.Imputation("everything", cc.Independence()),
            "τ = 0.5": cc.Imputation("everything", cc.Clayton.from_tau(0.5)),
        },
        6.0,
    ),
}


# --- files ---------------------------------------------------------------------------------------------------


def make_files(folder: Path, n: int, plain: bool = False) -> None:
    """Outcomes in test/, predictions in a folder for each model; one file is in memory at a time."""
    for name in ("test", *MODELS):
        (folder / name).mkdir(parents=True)
    n_files = max(4, -(-n // MOST_IN_FILE))
    for k, rows in enumerate(np.array_split(np.arange(n), n_files)):
        rng = np.random.default_rng((1, k))
        x = rng.normal(size=(rows.size, len(BETA)))
        u, v = cc.Clayton.from_tau(0.4).sample(rows.size, rng).T
        event = 10.0 * (-np.log(u) / np.exp(x @ BETA)) ** (1 / 1.5)
        dropout = 12.0 * (-np.log(v) / np.exp(0.3 * x[:, 0])) ** (1 / 1.3)
        columns = dict(zip(COVARIATES, x.T, strict=True))
        columns |= {"time": np.minimum(event, dropout), "event": event <= dropout}
        form = {"compression": "none", "use_dictionary": False} if plain else {}
        write: Any = partial(parquet.write_table, row_group_size=ROWS_IN_GROUP, **form)
        write(pa.table(columns), folder / "test" / f"part-{k}.parquet")
        for name, known in zip(MODELS, (2, len(BETA)), strict=True):
            risk = np.exp(x[:, :known] @ BETA[:known]).astype(np.float32)
            base = ((TIMES / 10.0) ** 1.5).astype(np.float32)
            curves = {f"{t:g}": np.exp(-risk * each) for t, each in zip(TIMES, base, strict=True)}
            write(pa.table(curves), folder / name / f"part-{k}.parquet")


def read_alone(folder: Path) -> int:
    """Read all columns with pyarrow, batch by batch, and count the rows."""
    n = 0
    for name in ("test", *MODELS):
        for batch in dataset.dataset(folder / name).to_batches(use_threads=True):
            n += batch.num_rows
    return n


# --- streaming -----------------------------------------------------------------------------------------------


def stream(folder: Path, job: str, level: float | None, n_fit: int) -> cc.Evaluation:
    """One evaluation of the files."""
    scan = cc.scan_parquet(
        folder / "test",
        {name: folder / name for name in MODELS},
        time="time",
        event="event",
        covariates=COVARIATES,
    )
    return scan.evaluate(
        adjustments=JOBS[job][0], metrics="ibs", confidence_level=level, n_fit=n_fit, n_kept=N_KEPT
    )


@dataclass
class Seconds:
    """Seconds of the processor by what was done."""

    by: dict[str, float] = field(default_factory=dict)

    def timed(self, name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        """The same work, its seconds added up."""

        def run(*args: Any, **named: Any) -> Any:
            begin = time.process_time()
            try:
                return work(*args, **named)
            finally:
                self.by[name] = self.by.get(name, 0.0) + time.process_time() - begin

        return run


@contextmanager
def by_pass() -> Iterator[Seconds]:
    """The seconds of the passes over the files, and of the fits between them."""
    seconds = Seconds()
    kept = {name: getattr(streaming, name) for name in PASSES}
    for name, said in PASSES.items():
        setattr(streaming, name, seconds.timed(said, kept[name]))
    try:
        yield seconds
    finally:
        for name, work in kept.items():
            setattr(streaming, name, work)


# --- what is measured ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """What an evaluation takes: seconds, those of the processor, times as long as reading, memory."""

    job: str
    intervals: bool
    seconds: float
    processor: float
    ratio: float
    goal: float
    processor_ratio: float
    passes: dict[str, float]
    mebibytes: int

    @property
    def cells(self) -> list[str]:
        """As a row of a table."""
        passes = ", ".join(f"{name} {seconds:.1f}" for name, seconds in self.passes.items())
        return [
            *(self.job, "95 %" if self.intervals else "none", passes, f"{self.seconds:.1f}"),
            *(f"{self.processor:.1f}", f"{self.ratio:.1f}", f"{self.goal:g}", f"{self.processor_ratio:.1f}"),
            str(self.mebibytes),
        ]


HEAD = (
    *("adjustments", "intervals", "of the processor by pass", "seconds", "of the processor", "times reading"),
    *("goal", "by the processor", "memory [MiB]"),
)


def clocked(work: Callable[[], Any]) -> tuple[float, float]:
    """Seconds on the wall, and of the processor."""
    begin, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - begin, time.process_time() - processor


def measured(folder: Path, n_fit: int, repeats: int) -> tuple[tuple[float, float], list[Row]]:
    """Seconds of reading, and a row for each evaluation; reading and evaluations take turns."""
    cases = [(job, level) for job in JOBS for level in (None, 0.95)]
    reading, found = list[tuple[float, float]](), dict[Any, list[tuple[float, float, dict[str, float]]]]()
    for _ in range(repeats):
        for case in cases:
            reading.append(clocked(partial(read_alone, folder)))
            with by_pass() as seconds:
                clocks = clocked(partial(stream, folder, *case, n_fit))
            found.setdefault(case, []).append((*clocks, seconds.by))
            print(f"reading {reading[-1][0]:.1f} s, {case[0]} {clocks[0]:.1f} s", file=sys.stderr)
    alone = min(wall for wall, _ in reading), min(processor for _, processor in reading)
    rows = []
    for (job, level), runs in found.items():
        wall, processor, passes = min(runs, key=lambda run: run[0])
        passes["rest"] = processor - sum(passes.values())
        before, after = peak_memory(
            "import warnings\nfrom pathlib import Path\nfrom benchmarks.stream import stream\n"
            "warnings.simplefilter('ignore')",
            f"stream(Path({str(folder)!r}), {job!r}, {level!r}, {n_fit})",
        )
        ratios = wall / alone[0], JOBS[job][1], processor / alone[1]
        rows.append(Row(job, level is not None, wall, processor, *ratios, passes, after - before))
    return alone, rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=400_000, help="subjects (default 400,000: 0.3 GB)")
    parser.add_argument("--folder", type=Path, help="where the files are made")
    parser.add_argument("--keep", action="store_true", help="keep the files, or take those that are there")
    parser.add_argument("--plain", action="store_true", help="neither compressed nor with dictionaries")
    parser.add_argument(
        "--fit-rows", type=int, default=1_000_000, help="subjects that adjustments are fitted to"
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/stream.json")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    parent = Path(tempfile.mkdtemp(prefix="cocensor-stream-")) if asked.folder is None else asked.folder
    form = "plain" if asked.plain else "default"
    folder = parent / f"{asked.n}-{form}"
    try:
        if not folder.exists():
            make_files(folder, asked.n, asked.plain)
        n_bytes = sum(path.stat().st_size for path in folder.rglob("*.parquet"))
        about = (
            f"{asked.n:,} subjects, {len(MODELS)} models at {T} times in float32; {n_bytes / 1e9:.2f} GB of files, "
            f"{SAID[form]}; {n_cores()} threads; fitted to at most {asked.fit_rows:,} subjects; "
            f"best of {asked.repeats}."
        )
        print(about, flush=True)
        reading, rows = measured(folder, asked.fit_rows, asked.repeats)
    finally:
        if not asked.keep:
            shutil.rmtree(folder, ignore_errors=True)
            if asked.folder is None:
                shutil.rmtree(parent, ignore_errors=True)
    print(f"\nReading alone: {reading[0]:.2f} s, {reading[1]:.2f} s of the processor.\n")
    with printed_table("stream", HEAD, left=3) as row:
        for each in rows:
            row(*each.cells)
    if asked.write:
        command = f"OPENBLAS_NUM_THREADS=1 python -m benchmarks.stream {' '.join(sys.argv[1:])}"
        kept = {
            "command": command,
            "about": about,
            "reading": {"seconds": reading[0], "processor": reading[1]},
            "rows": [asdict(row) for row in rows],
        }
        (RESULTS / "stream.json").write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
