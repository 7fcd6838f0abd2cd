"""The tables of docs/reproduction.md, computed from benchmarks/results.

The authors' own results, one row per seed, are read from a folder that is given, and left out without one.

Run: python -m benchmarks.reproduction [folder of the published results]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

RESULTS = Path(__file__).parent / "results"
PUBLISHED = {"IPCW (KM)": "err_ipcw", "IBS-Dep": "err_dep_bguw"}


def read(name: str) -> pd.DataFrame:
    frame = pd.read_csv(RESULTS / f"{name}.csv.gz")
    return frame.assign(error=frame["estimate"] - frame["oracle"])


def table(rows: list[list[str]], head: list[str]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def by_adjustment(frame: pd.DataFrame, along: str, label: str) -> str:
    """Mean |error| (bias) in units of 0.001, over seeds and copulas."""
    values = sorted(frame[along].unique())
    rows = []
    for name, mine in frame.groupby("adjustment", sort=False):
        cells = []
        for value in values:
            every = 1000 * mine.loc[mine[along] == value, "error"]
            errors = every.dropna()
            shown = f"{errors.abs().mean():.1f} ({errors.mean():+.1f})" if len(errors) else "–"
            cells.append(shown + (_missing(len(every) - len(errors)) if len(errors) else ""))
        rows.append([str(name), *cells])
    return table(rows, ["adjustment", *(f"{label} {value:g}" for value in values)])


def _missing(n: int) -> str:
    """A mean over those that answered says how many did not."""
    return f" [{n} without answer]" if n else ""


def beside(ours: pd.DataFrame, theirs: pd.DataFrame) -> str:
    """Our mean |error| and theirs, with standard errors and the difference in standard errors."""
    rows = []
    for (copula, tau), mine in ours.groupby(["copula", "tau"]):
        cells = [f"{copula}, {tau:g}"]
        other = theirs[(theirs["copula_name"] == copula) & np.isclose(theirs["k_tau"], tau)]
        for name, column in PUBLISHED.items():
            found = 1000 * mine.loc[mine["adjustment"] == name, "error"].abs()
            known = 1000 * other[column]
            z = (found.mean() - known.mean()) / np.hypot(found.sem(), known.sem())
            cells += [
                f"{found.mean():.1f} ± {found.sem():.1f}",
                f"{known.mean():.1f} ± {known.sem():.1f}",
                f"{z:+.1f}",
            ]
        rows.append(cells)
    head = ["copula, τ"]
    for name in PUBLISHED:
        head += [f"{name}: ours", "authors'", "z"]
    return table(rows, head)


def by_dataset(frame: pd.DataFrame) -> str:
    """Mean |error| in units of 0.001 by data set, over strategies, seeds and learners, and the mean over data sets."""
    errors = frame.assign(size=1000 * frame["error"].abs())
    means = errors.pivot_table(index="adjustment", columns="dataset", values="size", sort=False)
    overall = means.mean(axis=1, skipna=False)
    silent = errors["size"].isna().groupby([errors["adjustment"], errors["dataset"]]).sum()
    rows = [
        [
            str(name),
            *(f"{v:.1f}{_missing(int(silent[name, dataset]))}" for dataset, v in row.items()),
            f"{overall[name]:.2f}",
            f"{overall[name] / overall['IPCW (KM)']:.2f}",
        ]
        for name, row in means.iterrows()
    ]
    return table(rows, ["adjustment", *map(str, means.columns), "mean", "of IPCW's"])


def kept_top_3(frame: pd.DataFrame) -> str:
    """The share of draws in which two of the oracle's best three learners are among the estimate's best three."""
    rows = []
    draw = ["dataset", "strategy", "copula", "seed"]
    for name, mine in frame.dropna(subset="estimate").groupby("adjustment", sort=False):
        kept: dict[str, list[bool]] = {str(name): [] for name in dict.fromkeys(frame["dataset"])}
        for key, each in mine.groupby(draw, dropna=False):
            best = [set(each.nsmallest(3, by)["learner"]) for by in ("oracle", "estimate")]
            kept[str(key[0])].append(len(best[0] & best[1]) >= 2)
        rows.append([str(name), *(f"{100 * np.mean(v):.0f}" if v else "–" for v in kept.values())])
    return table(rows, ["adjustment", *dict.fromkeys(map(str, frame["dataset"]))])


def main() -> None:
    shown = [0.0, 0.2, 0.4, 0.6, 0.8]
    matched = read("dependence-matched")
    print("dependence, matched\n\n" + by_adjustment(matched[matched["tau"].isin(shown)], "tau", "τ ="))
    rates = read("censoring-matched")
    kept = rates[rates["censoring_rate"].isin([0.15, 0.35, 0.55, 0.75, 0.95])]
    print("\ncensoring, matched\n\n" + by_adjustment(kept, "censoring_rate", ""))
    wrong = read("misspecification-matched")
    for setting, mine in wrong.groupby("setting", sort=False):
        print(f"\nmisspecification, matched: {setting}\n\n" + by_adjustment(mine, "along", "τ ="))
    if (RESULTS / "semi-synthetic-matched.csv.gz").exists():
        semi = read("semi-synthetic-matched")
        print("\nsemi-synthetic, matched: error\n\n" + by_dataset(semi))
        print("\nsemi-synthetic, matched: ranking\n\n" + kept_top_3(semi))
    if len(sys.argv) > 1:
        theirs = pd.read_csv(Path(sys.argv[1]) / "synthetic_results_correct_copula.csv")
        print("\ndependence, published\n\n" + beside(read("dependence-published"), theirs))


if __name__ == "__main__":
    main()
