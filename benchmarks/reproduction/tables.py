"""Markdown tables from the rows of the experiments, and from the authors' own rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

import cocensor as cc
from benchmarks.reproduction.collect import RESULTS
from benchmarks.tables import markdown

# Our names of the paper's scores, and the authors' columns.
SYNTHETIC = {"IPCW (KM)": "err_ipcw", "IBS-Dep": "err_dep_bguw"}
SEMI_SYNTHETIC = {
    "IPCW (KM)": "IBSIPCW",
    "IPCW (Cox)": "IBSIPCW_CoxPH",
    "Dep (KM)": "IBSIndepBG",
    "Dep (CG), selected": "IBSDepBG",
    "IBS-Dep, selected": "IBSDepBGUW",
}
# The paper's ranking table, in the order above.
PAPER_RANKING = {
    "whas": (38, 39, 40, 40, 39),
    "gbsg": (40, 40, 38, 37, 35),
    "metabric": (40, 40, 39, 39, 40),
    "churn": (37, 37, 34, 29, 32),
    "flchain": (39, 39, 18, 18, 35),
    "support": (37, 36, 35, 34, 31),
    "employee": (33, 35, 12, 11, 13),
}
DATASETS = ("whas", "gbsg", "metabric", "churn", "flchain", "support", "employee")


def read(name: str) -> pd.DataFrame:
    """The rows of an experiment with their errors, in units of 0.001."""
    frame = pd.read_csv(RESULTS / f"{name}.csv.gz")
    if "estimate" not in frame:
        return frame
    return frame.assign(error=1000 * (frame["estimate"] - frame["oracle"]))


def along(frame: pd.DataFrame, column: str, label: Callable[[float], str]) -> str:
    """Mean |error| (bias) by adjustment along a column."""
    values = sorted(frame[column].unique())
    rows = []
    for name, mine in frame.groupby("adjustment", sort=False):
        cells = [_mean_and_bias(mine.loc[mine[column] == value, "error"]) for value in values]
        rows.append([str(name), *cells])
    return markdown(["adjustment", *map(label, values)], rows)


def _mean_and_bias(errors: pd.Series) -> str:
    known = errors.dropna()
    if known.empty:
        return "–"
    return f"{known.abs().mean():.1f} ({known.mean():+.1f})" + _silent(len(errors) - len(known))


def _silent(n: int) -> str:
    """A mean over those that answered says how many did not."""
    return f" [{n} without answer]" if n else ""


# --- beside the authors' -------------------------------------------------------------------------------


def beside(
    ours: pd.DataFrame,
    theirs: pd.DataFrame,
    keys: Sequence[str],
    label: Callable[..., str],
    scores: dict[str, str] = SYNTHETIC,
) -> tuple[str, list[float]]:
    """Our mean |error| and theirs with standard errors, by ``keys``, and all differences in standard errors.

    ``theirs`` has the same keys, and columns of |error| named by ``scores``.
    """
    rows, differences = [], []
    for key, mine in ours.groupby(list(keys), sort=False):
        other = theirs.loc[(theirs[list(keys)] == list(key)).all(axis=1)]
        cells = [label(*key)]
        for name, column in scores.items():
            found = mine.loc[mine["adjustment"] == name, "error"].abs()
            known = 1000 * other[column]
            z = (found.mean() - known.mean()) / np.hypot(found.sem(), known.sem())
            differences.append(float(z))
            cells += [_plus_minus(found), _plus_minus(known), f"{z:+.1f}"]
        rows.append(cells)
    head = [", ".join(keys)]
    for name in scores:
        head += [f"{name}: ours", "authors'", "z"]
    return markdown(head, rows), differences


def _plus_minus(values: pd.Series) -> str:
    return f"{values.mean():.1f} ± {values.sem():.1f}"


def agreement(differences: list[float]) -> str:
    """How many of the differences are within two and within three standard errors."""
    z = np.abs([each for each in differences if np.isfinite(each)])
    return (
        f"Of {z.size} differences, {np.sum(z <= 2)} are within two standard errors and {np.sum(z <= 3)} within three; "
        f"the largest is {z.max():.1f}."
    )


def authors_semi_synthetic(folder: Path) -> pd.DataFrame:
    """The authors' rows in the shape of ours, for the data sets that can be had."""
    frame = pd.read_csv(folder / "semisynthetic_results.csv")
    parts = [
        pd.DataFrame(
            {
                "dataset": frame["Dataset"],
                "strategy": frame["Strategy"],
                "copula": "omitted",
                "seed": frame["Seed"],
                "learner": frame["ModelName"],
                "adjustment": name,
                "oracle": frame["IBSTrue"],
                "estimate": frame[column],
                "error": 1000 * (frame[column] - frame["IBSTrue"]),
            }
        )
        for name, column in SEMI_SYNTHETIC.items()
    ]
    return pd.concat(parts).query("dataset in @DATASETS")


def side_by_side(ours: pd.DataFrame, theirs: pd.DataFrame, by: Sequence[str]) -> str:
    """Mean ± SD of |error|, ours and the authors', for the paper's five scores."""
    rows = []
    for key, mine in ours.groupby(list(by), sort=False):
        other = theirs.loc[(theirs[list(by)] == list(key)).all(axis=1)]
        cells = [", ".join(map(str, key))]
        for name in SEMI_SYNTHETIC:
            for frame in (mine, other):
                errors = frame.loc[frame["adjustment"] == name, "error"].abs()
                cells.append(f"{errors.mean():.0f} ± {errors.std():.0f}{_silent(int(errors.isna().sum()))}")
        rows.append(cells)
    head = [", ".join(by)]
    for name in SEMI_SYNTHETIC:
        head += [f"{name.removesuffix(', selected')}: ours", "authors'"]
    return markdown(head, rows)


def rankings_beside(ours: pd.DataFrame, theirs: pd.DataFrame) -> str:
    """Draws of 40 in which two of the oracle's best three learners are among the estimate's, and the paper's table."""
    rows = []
    for k, name in enumerate(SEMI_SYNTHETIC):
        shown = name.removesuffix(", selected")
        for whose, frame in (("ours", ours), ("authors' rows", theirs)):
            kept = _kept(frame[frame["adjustment"] == name])
            rows.append([f"{shown}: {whose}", *(_counted(kept[d]) for d in DATASETS)])
        rows.append([f"{shown}: the paper", *(str(PAPER_RANKING[d][k]) for d in DATASETS)])
    return markdown(["of 40", *DATASETS], rows)


def selections_beside(ours: pd.DataFrame, folder: Path) -> str:
    """What was selected, ours and the authors': how often which family, and the median of Kendall's τ."""
    theirs = pd.read_csv(folder / "copula_parameters.csv")
    mine = ours.drop_duplicates(["dataset", "strategy", "seed"])[["dataset", "selected"]]
    parsed = mine["selected"].str.extract(r"(?P<family>\w+)\(theta=(?P<theta>.*)\)")
    frames = (
        pd.DataFrame(
            {
                "dataset": mine["dataset"],
                "family": parsed["family"].str.lower(),
                "theta": parsed["theta"].astype(float),
            }
        ),
        theirs.rename(columns={"Dataset": "dataset", "BestCopulaName": "family", "BestCopulaTheta": "theta"}),
    )
    rows = []
    for dataset in DATASETS:
        cells = [dataset]
        for frame in frames:
            found = frame[frame["dataset"] == dataset]
            taus = [
                cc.copula(family, theta=theta).tau
                for family, theta in zip(found["family"], found["theta"], strict=True)
            ]
            counts = found["family"].value_counts()
            cells += [", ".join(f"{name} {n}" for name, n in counts.items()), f"{np.median(taus):.3f}"]
        rows.append(cells)
    return markdown(["data set", "ours", "median τ", "authors'", "median τ"], rows)


# --- semi-synthetic, matched ---------------------------------------------------------------------------


CELL = ["dataset", "strategy", "copula", "tau", "seed", "learner"]


def by_dataset(frame: pd.DataFrame) -> str:
    """Mean |error| by data set, and three comparisons with IPCW and the floor, each over the cells that answered.

    "of IPCW's": the mean over data sets in units of IPCW's; "of each": the mean of that ratio over data sets.
    """
    errors = frame.assign(size=frame["error"].abs())
    base = errors.pivot_table(index=CELL, columns="adjustment", values="size", dropna=False)[
        ["IPCW (KM)", "floor"]
    ]
    datasets = [name for name in DATASETS if name in set(frame["dataset"])]
    rows = []
    for name, mine in errors.groupby("adjustment", sort=False):
        known = mine.dropna(subset="size").merge(base.reset_index(), on=CELL)
        means = known.groupby("dataset")[["size", "IPCW (KM)", "floor"]].mean().reindex(datasets)
        silent = mine["size"].isna().groupby(mine["dataset"]).sum()
        rest = means.drop(index="employee", errors="ignore")
        overall = means.mean()
        cells = [f"{means['size'][d]:.1f}{_silent(int(silent[d]))}" for d in datasets]
        rows.append(
            [
                str(name),
                *cells,
                f"{overall['size']:.2f}",
                f"{overall['size'] / overall['IPCW (KM)']:.2f}",
                f"{(means['size'] / means['IPCW (KM)']).mean():.2f}",
                f"{rest['size'].mean() / rest['IPCW (KM)'].mean():.2f}",
                f"{overall['size'] / overall['floor']:.2f}",
            ]
        )
    head = ["adjustment", *datasets, "mean", "of IPCW's", "of each", "without Employee", "of the floor"]
    return markdown(head, rows)


def by_law(frame: pd.DataFrame) -> str:
    """Mean |error| (bias) by adjustment and injected copula, over data sets, seeds and learners."""
    laws = frame.assign(law=[f"{c}, {t:g}" for c, t in zip(frame["copula"], frame["tau"], strict=True)])
    names = list(dict.fromkeys(laws["law"]))
    rows = [
        [str(name), *(_mean_and_bias(mine.loc[mine["law"] == law, "error"]) for law in names)]
        for name, mine in laws.groupby("adjustment", sort=False)
    ]
    return markdown(["adjustment", *names], rows)


def rankings(frame: pd.DataFrame) -> str:
    """In how many draws of 40 two of the oracle's best three learners are among the estimate's."""
    rows = []
    for name, mine in frame.groupby("adjustment", sort=False):
        kept = _kept(mine)
        rows.append([str(name), *(_counted(kept[d]) if d in kept else "–" for d in DATASETS)])
    return markdown(["adjustment", *DATASETS], rows)


def _kept(rows: pd.DataFrame) -> dict[str, tuple[int, int, int]]:
    """By data set, in how many draws of how many the best three agree in two: at least, at most, of all.

    Equal scores leave open which learners are the best three.
    """
    found: dict[str, list[tuple[bool, bool]]] = {}
    draws = rows.dropna(subset="estimate").groupby(["dataset", "strategy", "copula", "seed"], sort=False)
    for key, each in draws:
        oracle, estimate = (_best_three(each, by) for by in ("oracle", "estimate"))
        kept = [len(a & b) >= 2 for a in oracle for b in estimate]
        found.setdefault(str(key[0]), []).append((all(kept), any(kept)))
    return {
        dataset: (sum(low for low, _ in kept), sum(high for _, high in kept), len(kept))
        for dataset, kept in found.items()
    }


def _best_three(draw: pd.DataFrame, by: str) -> list[set[str]]:
    """All sets of three learners of which none outside is better than one inside."""
    scores = dict(zip(draw["learner"], draw[by], strict=True))
    sets = [set(chosen) for chosen in combinations(scores, min(3, len(scores)))]
    return [s for s in sets if all(scores[o] >= max(scores[m] for m in s) for o in scores if o not in s)]


def _counted(kept: tuple[int, int, int]) -> str:
    low, high, total = kept
    return (f"{low}" if low == high else f"{low}–{high}") + ("" if total == 40 else f" of {total}")


# --- how wrong may τ be --------------------------------------------------------------------------------


def tolerated(frame: pd.DataFrame) -> str:
    """By adjustment: from which to which assumed τ its mean |error| is below IPCW's; in bold around the true τ."""
    wrong_tau = frame[frame["setting"].str.contains(" data at τ = ")]
    settings = list(dict.fromkeys(wrong_tau["setting"]))
    curves = (
        wrong_tau.assign(size=wrong_tau["error"].abs())
        .groupby(["setting", "adjustment", "along"])["size"]
        .mean()
    )
    truth = wrong_tau.groupby("setting")["tau"].first()
    without = ("IPCW (KM)", "IPCW (Cox)", "Dep (KM)")
    rows = []
    for name in dict.fromkeys(wrong_tau["adjustment"]):
        if name not in without:
            excess = [curves[setting, name] - curves[setting, "IPCW (KM)"] for setting in settings]
            cells = [_below_zero(each, float(truth[s])) for each, s in zip(excess, settings, strict=True)]
            rows.append([name, *cells])
    return markdown(["adjustment", *(s.replace(" data at", ",") for s in settings)], rows)


def _below_zero(excess: pd.Series, truth: float) -> str:
    """The stretches where ``excess`` is below 0, with ends on straight lines between grid points."""
    taus, values = excess.index.to_numpy(float), excess.to_numpy(float)
    below = np.flatnonzero(values < 0)
    if not below.size:
        return "nowhere"
    said = []
    for run in np.split(below, np.flatnonzero(np.diff(below) > 1) + 1):
        ends = []
        for k, step in ((run[0], -1), (run[-1], 1)):
            if k + step in (-1, taus.size):
                ends.append(f"{taus[k]:g}")
                continue
            share = values[k] / (values[k] - values[k + step])
            ends.append(f"{taus[k] + share * (taus[k + step] - taus[k]):.2f}")
        around = taus[run[0]] <= truth <= taus[run[-1]]
        said.append(f"**{'–'.join(ends)}**" if around else "–".join(ends))
    return ", ".join(said)


# --- where the interval ends ---------------------------------------------------------------------------


def by_end(
    frame: pd.DataFrame,
    shown: Sequence[str] = (
        "IPCW (KM)",
        "IBS-Dep",
        "CG-Q",
        "given covariates, spline",
        "given the prediction",
    ),
) -> str:
    """Mean |error| by setting and end of the one interval that all scores run over."""
    kept = frame[frame["adjustment"].isin(shown)].assign(size=frame["error"].abs())
    means = kept.groupby(["setting", "adjustment", "at_risk"], sort=False)["size"].mean()
    ends = sorted(kept["at_risk"].unique(), reverse=True)
    head = ["setting"]
    for name in shown:
        head += [f"{name}: {100 * end:g}%" if end else f"{name}: last time" for end in ends]
    rows = [
        [setting, *(f"{means[setting, name, end]:.1f}" for name in shown for end in ends)]
        for setting in dict.fromkeys(kept["setting"])
    ]
    return markdown(head, rows)
