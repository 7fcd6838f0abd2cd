"""Do nominal 95 % intervals cover 95 %? Simulations with known truth.

``curves``: intervals of survival curves and margin times (``curves.py``).

``scores``: the integrated Brier scores of four models that were trained once (``setting.py``), and their differences,
by IPCW and by imputation that is told the true Clayton copula; two laws, τ = 0, .3, .6, and 200, 500 or 2,000 test
subjects. ``tau``: bands over the assumed τ, leads and tipping points. ``population`` makes what both are held against:
true scores from 1,000,000 subjects, and limits of the judges from 200,000.

Run:
    python -m benchmarks.coverage curves
    OPENBLAS_NUM_THREADS=1 python -m benchmarks.coverage population FOLDER
    OPENBLAS_NUM_THREADS=1 python -m benchmarks.coverage scores FOLDER --repeats 1000 --part 1/2     (and 2/2)
    OPENBLAS_NUM_THREADS=1 python -m benchmarks.coverage tau FOLDER --repeats 300 --part 1/2         (and 2/2)
    python -m benchmarks.coverage keep FOLDER       (makes benchmarks/results/coverage-*.csv.gz of it)
    python -m benchmarks.coverage tables [FOLDER]   (of FOLDER, or of what is kept)

A run that was cut goes on where it was.
"""

from __future__ import annotations

import argparse
import gzip
from pathlib import Path

import pandas as pd

from benchmarks.coverage import curves, population
from benchmarks.coverage.repeats import STUDIES, rows, run
from benchmarks.reproduction.collect import RESULTS

PARTS = ("population", *STUDIES)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("curves")
    for command in (*PARTS, "keep"):
        each = commands.add_parser(command)
        each.add_argument("folder", type=Path)
        if command in STUDIES:
            each.add_argument("--repeats", type=int, default=300)
            each.add_argument("--part", default="1/1", help="1/2 and 2/2 share the repeats")
    commands.add_parser("tables").add_argument("folder", type=Path, nargs="?")
    asked = parser.parse_args()
    if asked.command == "curves":
        curves.main()
    elif asked.command == "population":
        population.compute(asked.folder)
    elif asked.command in STUDIES:
        run(STUDIES[asked.command], asked.folder, asked.repeats, asked.part)
    elif asked.command == "keep":
        for part in PARTS:
            # The same rows, the same bytes.
            text = _found(part, asked.folder).to_csv(index=False).encode()
            _kept(part).write_bytes(gzip.compress(text, mtime=0))
    else:
        from benchmarks.coverage.tables import all_tables

        found = {part: _found(part, asked.folder) for part in PARTS}
        print("\n\n".join(all_tables(found["population"], found["scores"], found["tau"])))


def _kept(part: str) -> Path:
    return RESULTS / f"coverage-{part}.csv.gz"


def _found(part: str, folder: Path | None) -> pd.DataFrame:
    return pd.read_csv(_kept(part)) if folder is None else rows(part, folder)


if __name__ == "__main__":
    main()
