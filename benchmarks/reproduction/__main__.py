"""Fill the tables and draw the figures of benchmarks/reproduction/README.md from benchmarks/results.

A table stands between the lines ``<!-- NAME -->`` and ``<!-- end -->``. Tables beside the authors' results need the
folder of these, and are left as they are without it.

Run: python -m benchmarks.reproduction [folder of the published results]
"""

from __future__ import annotations

import re
import sys
from functools import partial
from pathlib import Path

import pandas as pd

from benchmarks.reproduction import replay, tables
from benchmarks.tables import markdown
from cocensor.paper import experiments

FOLDER = Path(__file__).parent
PAGE = FOLDER / "README.md"
FIGURES = {
    "copula-scatter-matched": ("copula-scatter",),
    "dependence-published": ("dependence",),
    "dependence-matched": ("dependence",),
    "censoring-matched": ("censoring",),
    "misspecification-matched": ("misspecification",),
    "cg-q-matched": ("cg-q",),
    "semi-synthetic-matched": ("semi-synthetic-error", "semi-synthetic-outcomes"),
    "semi-synthetic-copula-matched": ("semi-synthetic-copula-error",),
    "fit-cost-matched": ("fit-cost",),
}


def own_tables() -> dict[str, str]:
    """Tables of our results alone."""
    dependence = tables.read("dependence-matched")
    rates = tables.read("censoring-matched")
    wrong = tables.read("misspecification-matched")
    semi = tables.read("semi-synthetic-matched")
    known = tables.read("semi-synthetic-copula-matched")
    by_tau = dependence[dependence["tau"].isin([0.0, 0.2, 0.4, 0.6, 0.8])]
    by_rate = rates[rates["rate_bin"].isin([0.15, 0.35, 0.55, 0.75, 0.95])]
    plain = wrong[~wrong["setting"].str.contains(" data at τ = ")]
    settings = [
        f"{setting}:\n\n{tables.along(mine, 'along', 'τ = {:g}'.format)}"
        for setting, mine in plain.groupby("setting", sort=False)
    ]
    cost = tables.read("fit-cost-matched")
    return {
        "horizon-published": tables.by_end(tables.read("horizon-published")),
        "horizon-matched": tables.by_end(tables.read("horizon-matched")),
        "dependence-matched": tables.along(by_tau, "tau", "τ = {:g}".format),
        "censoring-matched": tables.along(by_rate, "rate_bin", "{:.0%}".format),
        "misspecification-matched": "\n\n".join(settings),
        "misspecification-tolerated": tables.tolerated(wrong),
        "semi-synthetic-matched": tables.by_dataset(semi),
        "semi-synthetic-ranking": tables.rankings(semi),
        "semi-synthetic-copula": tables.by_dataset(known),
        "semi-synthetic-copula-by-law": tables.by_law(known),
        "fit-cost": fit_cost(cost),
    }


def fit_cost(rows: pd.DataFrame) -> str:
    """Seconds and memory beside the paper's."""
    [table] = experiments()["fit-cost"]().summarise(rows.to_dict("records")).values()
    head = ["data set", "training subjects", "features", "seconds", "MiB", "paper: minutes", "paper: GPU MiB"]
    return markdown(
        head,
        [
            [
                row["dataset"],
                str(row["n_train"]),
                str(row["n_features"]),
                f"{row['seconds']:.2f}",
                f"{row['peak_mib']:.2f}",
                f"{row['paper_minutes']:.1f}",
                f"{row['paper_gpu_mib']:.2f}",
            ]
            for row in table
        ],
    )


def tables_beside(folder: Path) -> dict[str, str]:
    """Tables of our results beside the authors'."""
    right = pd.read_csv(folder / "synthetic_results_correct_copula.csv").rename(
        columns={"copula_name": "copula", "k_tau": "tau"}
    )
    bins = pd.read_csv(folder / "synthetic_results_censoring.csv").rename(columns={"copula_name": "copula"})
    bins["rate_bin"] = bins["censoring_bin"].str.split("-").str[0].astype(int) / 100 + 0.05
    bins["rate_bin"] = bins["rate_bin"].round(2)
    wrong = pd.read_csv(folder / "synthetic_results_wrong_copula.csv").rename(
        columns={
            "dgp_copula": "copula",
            "true_k_tau": "tau",
            "assumed_copula": "assumed",
            "assumed_k_tau": "assumed_tau",
        }
    )
    cgq = pd.read_csv(folder / "synthetic_results_bguw_vs_cgq.csv").rename(
        columns={"copula_name": "copula", "k_tau": "tau"}
    )
    by_bin = partial(tables.beside, theirs=bins, keys=["copula", "rate_bin"], label=_bin)
    pairs = {
        "dependence-published": tables.beside(
            tables.read("dependence-published"), right.round({"tau": 2}), ["copula", "tau"], "{}, {:g}".format
        ),
        "censoring-published": by_bin(
            tables.read("censoring-published").sort_values(["copula", "rate_bin"], kind="stable")
        ),
        "misspecification-published": tables.beside(
            _as_published(tables.read("misspecification-published"), wrong),
            wrong,
            ["copula", "tau", "assumed", "assumed_tau"],
            "{} {:g}, assumed {} {:g}".format,
        ),
        "cg-q-published": tables.beside(
            tables.read("cg-q-published"),
            cgq.round({"tau": 2}),
            ["copula", "tau"],
            "{}, {:g}".format,
            {"IBS-Dep": "err_dep_bguw", "CG-Q": "err_dep_cgq"},
        ),
    }
    ours, theirs = tables.read("semi-synthetic-published"), tables.authors_semi_synthetic(folder)
    found = {name: f"{table}\n\n{tables.agreement(z)}" for name, (table, z) in pairs.items()}
    return found | {
        "replay-published": replay.differences(folder),
        "censoring-replayed": tables.agreement(
            by_bin(tables.read("replay-published").query("file == 'censoring'"))[1]
        ),
        "semi-synthetic-published": tables.side_by_side(ours, theirs, ["dataset"]),
        "semi-synthetic-published-sd": tables.side_by_side(ours, theirs, ["dataset", "strategy"]),
        "semi-synthetic-published-ranking": tables.rankings_beside(ours, theirs),
        "semi-synthetic-published-selected": tables.selections_beside(ours, folder),
    }


def _bin(copula: str, middle: float) -> str:
    return f"{copula}, {100 * middle - 5:.0f}–{100 * middle + 5:.0f}%"


def _as_published(ours: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    """Our rows of the settings that the authors have, each once."""
    keys = ["copula", "tau", "assumed", "assumed_tau"]
    renamed = ours.rename(columns={"assumed_copula": "assumed"})
    wanted = set(theirs[keys].itertuples(index=False, name=None))
    kept = renamed[[key in wanted for key in renamed[keys].itertuples(index=False, name=None)]]
    return kept.drop_duplicates([*keys, "seed", "adjustment"])


def fill(page: str, found: dict[str, str]) -> str:
    """The page with every table that is known; one without a place on the page is an error."""
    for name, table in found.items():
        block = re.compile(rf"(<!-- {re.escape(name)} -->\n).*?(\n<!-- end -->)", re.DOTALL)
        page, n = block.subn(partial(_between, table), page)
        if n != 1:
            raise ValueError(f"{PAGE.name} must have one place for {name}, but has {n}.")
    return page


def _between(text: str, match: re.Match[str]) -> str:
    return f"{match[1]}\n{text}\n{match[2]}"


def draw() -> None:
    """The figures, from the experiments' own plots."""
    (FOLDER / "figures").mkdir(exist_ok=True)
    for source, names in FIGURES.items():
        rows = tables.read(source)
        kind = experiments()[rows["experiment"].iloc[0]]
        records = rows.astype(object).where(rows.notna(), None).to_dict("records")
        figures = kind.configured(protocol=rows["protocol"].iloc[0]).plot(records)
        for name in names:
            figures[name].savefig(FOLDER / "figures" / f"{name}-{rows['protocol'].iloc[0]}.png", dpi=90)


def main() -> None:
    found = own_tables() | (tables_beside(Path(sys.argv[1])) if len(sys.argv) > 1 else {})
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")
    draw()


if __name__ == "__main__":
    main()
