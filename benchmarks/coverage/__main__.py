"""Do nominal 95 % intervals cover 95 %? Simulations with known truth.

``curves``: intervals of survival curves and margin times (``curves.py``).

``scores``: the integrated Brier scores of four models that were trained once (``setting.py``), and their differences,
by IPCW and by imputation that is told the true Clayton copula; two laws, τ = 0, .3, .6, and 200, 500 or 2,000 test
subjects. ``tau``: bands over the assumed τ, leads and tipping points. ``population`` makes what both are held against:
true scores from 1,000,000 subjects, and limits of the judges from 200,000.

Run:
    python -m benchmarks.coverage curves
    python -m benchmarks.coverage tables
    python -m benchmarks.studies --only coverage-population coverage-scores coverage-tau   (what is missing of the rows)
"""

from __future__ import annotations

import sys

import pandas as pd

from benchmarks.coverage import curves
from benchmarks.coverage.tables import all_tables
from benchmarks.reproduction.collect import RESULTS


def main() -> None:
    if sys.argv[1:] == ["curves"]:
        curves.main()
    elif sys.argv[1:] == ["tables"]:
        parts = (pd.read_csv(RESULTS / f"coverage-{part}.csv.gz") for part in ("population", "scores", "tau"))
        print("\n\n".join(all_tables(*parts)))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
