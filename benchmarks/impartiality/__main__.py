"""Does the judge take sides? Twelve models under several adjustments, where the event times are known.

Four laws of event and dropout (``truths.py``), tied by independence, Clayton, Frank or Gumbel; n subjects train the
models and n others test them. Cox, forest, boosting and a Weibull model, each also overconfident and underconfident
(``models.py``); the integrated Brier score over 50 times up to the one with 10 % of both samples at risk. The error of
a judge (``judges.py``) is its score less the oracle's, which knows the event times of the same test subjects. A judge
learns from the test outcomes, unless its name says otherwise; goals are checked against IPCW of either kind.

``forms`` asks what an ordinary user gets by default where margins have other forms and dropout depends on nothing.

Run:
    OPENBLAS_NUM_THREADS=1 python -m benchmarks.impartiality run FOLDER --judges main selected --part 1/2     (and 2/2)
    OPENBLAS_NUM_THREADS=1 python -m benchmarks.impartiality forms FOLDER --judges default selected
    python -m benchmarks.impartiality keep FOLDER       (makes benchmarks/results/impartiality.csv.gz of it)
    python -m benchmarks.impartiality tables [FOLDER]   (of FOLDER, or of what is kept)
    python -m benchmarks.impartiality seconds FOLDER    (means by n)

A run that was cut goes on where it was; judges that are asked for later are added to the cells that are there.
"""

from __future__ import annotations

import argparse
import gzip
from pathlib import Path

import pandas as pd

from benchmarks.impartiality.judges import JUDGES, PRIMARY
from benchmarks.impartiality.study import STUDIES, rows, run, seconds
from benchmarks.impartiality.tables import all_tables
from benchmarks.reproduction.collect import RESULTS

KEPT = RESULTS / "impartiality.csv.gz"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.impartiality")
    commands = parser.add_subparsers(dest="command", required=True)
    for command, study in (("run", STUDIES["truths"]), ("forms", STUDIES["forms"])):
        each = commands.add_parser(command)
        each.add_argument("folder", type=Path)
        each.add_argument("--draws", type=int, default=20)
        each.add_argument("--few", type=int, default=2, help="draws with a selected copula, which is dear")
        each.add_argument("--sizes", type=int, nargs="+", default=study.sizes)
        each.add_argument("--judges", nargs="+", choices=list(JUDGES), default=[study.judges])
        each.add_argument("--part", default="1/1", help="1/2 and 2/2 share the cells")
        each.set_defaults(study=study)
    for command in ("keep", "seconds"):
        commands.add_parser(command).add_argument("folder", type=Path)
    each = commands.add_parser("tables")
    each.add_argument("folder", type=Path, nargs="?")
    each.add_argument("--judge", default=PRIMARY, help="whose goals are checked")
    asked = parser.parse_args()
    if asked.command in ("run", "forms"):
        run(asked.study, asked.folder, asked.draws, tuple(asked.sizes), asked.judges, asked.few, asked.part)
    elif asked.command == "keep":
        # The same rows, the same bytes.
        KEPT.write_bytes(gzip.compress(rows(asked.folder).to_csv(index=False).encode(), mtime=0))
    elif asked.command == "seconds":
        print(seconds(asked.folder).T.round(2).to_string())
    else:
        found = pd.read_csv(KEPT) if asked.folder is None else rows(asked.folder)
        print("\n\n".join(all_tables(found, asked.judge)))


if __name__ == "__main__":
    main()
