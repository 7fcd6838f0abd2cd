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
    python -m benchmarks.discrimination
    python -m benchmarks.studies --only discrimination-accuracy discrimination-population discrimination-coverage
(the second computes what is missing of the rows).
"""

from __future__ import annotations

import pandas as pd

from benchmarks.discrimination.tables import accuracy_tables, coverage_tables
from benchmarks.reproduction.collect import RESULTS


def main() -> None:
    accuracy, population, coverage = (
        pd.read_csv(RESULTS / f"discrimination-{part}.csv.gz")
        for part in ("accuracy", "population", "coverage")
    )
    print("\n\n".join((*accuracy_tables(accuracy), *coverage_tables(population, coverage))))


if __name__ == "__main__":
    main()
