"""Keep the rows of runs of ``cocensor reproduce`` as benchmarks/results/<experiment>-<protocol>.csv.gz.

A run that has not ended yet gives the rows of its finished cells.

Run: python -m benchmarks.reproduction.collect FOLDER
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import pandas as pd

RESULTS = Path(__file__).parent.parent / "results"


def collect(folder: Path) -> pd.DataFrame:
    """The rows of one run, in the order of the data sets and seeds of its configuration."""
    config = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["config"]
    where = {"experiment": config["experiment"], "protocol": config["protocol"]}
    rows: list[dict[str, object]] = []
    for line in (folder / "cells.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if entry["error"] is None:
            rows += [where | entry["cell"] | row for row in entry["rows"]]
    frame = pd.DataFrame(rows)
    order = ["dataset", "strategy", "setting", "copula", "tau", "along", "seed"]
    if "datasets" in config:
        frame["dataset"] = pd.Categorical(frame["dataset"], config["datasets"])
    return frame.sort_values([name for name in order if name in frame], kind="stable")


def main() -> None:
    for folder in sorted(path.parent for path in Path(sys.argv[1]).glob("*/cells.jsonl")):
        frame = collect(folder)
        name = f"{frame['experiment'].iloc[0]}-{frame['protocol'].iloc[0]}"
        text = frame.to_csv(index=False).encode()
        (RESULTS / f"{name}.csv.gz").write_bytes(
            gzip.compress(text, mtime=0)
        )  # the same rows, the same bytes
        print(f"{name}: {len(frame)} rows")


if __name__ == "__main__":
    main()
