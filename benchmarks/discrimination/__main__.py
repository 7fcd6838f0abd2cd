"""Discrimination, calibration and benefit under dependent censoring: how far from the truth, and do intervals cover?

``accuracy``: the laws and models of ``benchmarks.impartiality`` (Cox and forest, each also overconfident and
underconfident), tied by independence, Clayton, Frank or Gumbel with τ = .25, .5, .75; n subjects train, n others test.
Metrics over all of 50 times up to the one with 10 % of both samples at risk, and at the times by which 25 and 50 % of
the population have had the event. The error of an adjustment is its value less the oracle's, which knows the event
times of the same test subjects: what the adjustment adds to the sampling error of any complete sample. IPCW has the
Kaplan–Meier curve of the test sample; *imputed* is the judge with the true copula, or with independence; the *floor*
imputes by the law that times were drawn from, and is off by chance alone.

``coverage``: 95 % intervals of the models of ``benchmarks.coverage``, trained once, and of their differences, with
1,000 test subjects a repeat; the truth is that of 1,000,000 subjects with known event times (``population``).

Run:
    OPENBLAS_NUM_THREADS=1 python -m benchmarks.discrimination accuracy FOLDER --draws 1000:10 3000:5
    OPENBLAS_NUM_THREADS=1 python -m benchmarks.discrimination population FOLDER
    OPENBLAS_NUM_THREADS=1 python -m benchmarks.discrimination coverage FOLDER --repeats 300
    python -m benchmarks.discrimination keep FOLDER       (makes benchmarks/results/discrimination-*.csv.gz of it)
    python -m benchmarks.discrimination tables [FOLDER]   (of FOLDER, or of what is kept)

A run that was cut goes on where it was; metrics that have come since are added to what is there.
"""

from __future__ import annotations

import argparse
import gzip
from pathlib import Path

import pandas as pd

from benchmarks.discrimination import accuracy, coverage
from benchmarks.discrimination.tables import accuracy_tables, coverage_tables
from benchmarks.reproduction.collect import RESULTS

ROWS = {"accuracy": accuracy.rows, "population": coverage.truths, "coverage": coverage.rows}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.discrimination")
    commands = parser.add_subparsers(dest="command", required=True)
    for command in (*ROWS, "keep"):
        each = commands.add_parser(command)
        each.add_argument("folder", type=Path)
        if command in ("accuracy", "coverage"):
            each.add_argument("--part", default="1/1", help="1/2 and 2/2 share the work")
        if command == "accuracy":
            each.add_argument("--draws", nargs="+", default=["1000:20"], help="draws by number of subjects")
        if command == "coverage":
            each.add_argument("--repeats", type=int, default=300)
            laws = list(dict.fromkeys(at.law for at in coverage.CONDITIONS))
            each.add_argument("--laws", nargs="+", choices=laws, default=laws)
    commands.add_parser("tables").add_argument("folder", type=Path, nargs="?")
    asked = parser.parse_args()
    if asked.command == "accuracy":
        pairs = [each.split(":") for each in asked.draws]
        accuracy.run(asked.folder, {int(n): int(draws) for n, draws in pairs}, asked.part)
    elif asked.command == "population":
        coverage.population(asked.folder)
    elif asked.command == "coverage":
        coverage.run(asked.folder, asked.repeats, asked.part, asked.laws)
    elif asked.command == "keep":
        for part in ROWS:
            # The same rows, the same bytes.
            text = _found(part, asked.folder).to_csv(index=False).encode()
            _kept(part).write_bytes(gzip.compress(text, mtime=0))
    else:
        found = {part: _found(part, asked.folder) for part in ROWS}
        tables = (
            *accuracy_tables(found["accuracy"]),
            *coverage_tables(found["population"], found["coverage"]),
        )
        print("\n\n".join(tables))


def _kept(part: str) -> Path:
    return RESULTS / f"discrimination-{part}.csv.gz"


def _found(part: str, folder: Path | None) -> pd.DataFrame:
    return pd.read_csv(_kept(part)) if folder is None else ROWS[part](folder)


if __name__ == "__main__":
    main()
