"""Does the judge take sides? Twelve models under several adjustments, where the event times are known.

Four laws of event and dropout (``truths.py``), tied by independence, Clayton, Frank or Gumbel; n subjects train the
models and n others test them. Cox, forest, boosting and a Weibull model, each also overconfident and underconfident
(``models.py``); the integrated Brier score over 50 times up to the one with 10 % of both samples at risk. The error of
a judge (``judges.py``) is its score less the oracle's, which knows the event times of the same test subjects. A judge
learns from the test outcomes, unless its name says otherwise; goals are checked against IPCW of either kind.

``forms`` asks what an ordinary user gets by default where margins have other forms and dropout depends on nothing.

Run:
    python -m benchmarks.impartiality               (tables, and goals of --judge)
    python -m benchmarks.studies --only impartiality    (what is missing of the rows)
"""

from __future__ import annotations

import argparse

import pandas as pd

from benchmarks.impartiality.judges import PRIMARY
from benchmarks.impartiality.tables import all_tables
from benchmarks.reproduction.collect import RESULTS


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.impartiality")
    parser.add_argument("--judge", default=PRIMARY, help="whose goals are checked")
    asked = parser.parse_args()
    print("\n\n".join(all_tables(pd.read_csv(RESULTS / "impartiality.csv.gz"), asked.judge)))


if __name__ == "__main__":
    main()
