"""Keep the rows of runs of ``cocensor reproduce`` as benchmarks/results/<experiment>-<protocol>.csv.gz.

A run that has not ended yet gives the rows of its finished cells.

Run: python -m benchmarks.reproduction.collect FOLDER
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import pandas as pd

from cocensor.paper import experiments
from cocensor.paper.results import Results

RESULTS = Path(__file__).parent.parent / "results"


def collect(folder: Path) -> pd.DataFrame:
    """The rows of one run, in the order of its cells."""
    held = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["config"]
    kind = experiments()[held["experiment"]]
    settings: dict[str, Any] = {
        name: tuple(v) if isinstance(v, list) else v for name, v in held.items() if name != "experiment"
    }
    experiment = kind(type(kind.default_config())(**settings))
    where = {"experiment": experiment.name, "protocol": experiment.config.protocol}
    return pd.DataFrame([where | row for row in Results(folder, held).rows(experiment.cells())])


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
