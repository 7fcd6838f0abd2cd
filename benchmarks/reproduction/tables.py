"""Markdown tables from the rows of the experiments, and from the authors' own rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

import cocensor as cc
from benchmarks.reproduction.collect import RESULTS

# Our names of the paper's scores, and the authors' columns.
SYNTHETIC = {"IPCW (KM)": "err_ipcw", "IBS-Dep": "err_dep_bguw"}
SEMI_SYNTHETIC = {
    "IPCW (KM)": "IBSIPCW",
    "IPCW (Cox)": "IBSIPCW_CoxPH",
    "Dep (KM)": "IBSIndepBG",
    "Dep (CG), selected": "IBSDepBG",
    "IBS-Dep, selected": "IBSDepBGUW",
}
DATASETS = ("whas", "gbsg", "metabric", "churn", "flchain", "support", "employee")


def read(name: str) -> pd.DataFrame:
    """The rows of an experiment with their errors, in units of 0.001."""
    frame = pd.read_csv(RESULTS / f"{name}.csv.gz")
    if "estimate" not in frame:
        return frame
    return frame.assign(error=1000 * (frame["estimate"] - frame["oracle"]))


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


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
                cells.append(f"{errors.mean():.0f} ± {errors.std():.0f}")
        rows.append(cells)
    head = [", ".join(by)]
    for name in SEMI_SYNTHETIC:
        head += [f"{name.removesuffix(', selected')}: ours", "authors'"]
    return markdown(head, rows)


def rankings_beside(ours: pd.DataFrame, theirs: pd.DataFrame) -> str:
    """Draws of 40 in which two of the oracle's best three learners are among the estimate's, ours / authors'."""
    rows = []
    for name in SEMI_SYNTHETIC:
        counts = [_kept(frame[frame["adjustment"] == name]) for frame in (ours, theirs)]
        cells = ["{}/{} · {}/{}".format(*counts[0][d], *counts[1][d]) for d in DATASETS]
        rows.append([name.removesuffix(", selected"), *cells])
    return markdown(["ours · authors'", *DATASETS], rows)


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


def by_dataset(frame: pd.DataFrame) -> str:
    """Mean |error| by data set, the mean over data sets, also in units of IPCW's and of the floor."""
    errors = frame.assign(size=frame["error"].abs())
    means = errors.pivot_table(index="adjustment", columns="dataset", values="size", sort=False)
    means = means[[name for name in DATASETS if name in means]]
    overall = means.mean(axis=1, skipna=False)
    silent = errors["size"].isna().groupby([errors["adjustment"], errors["dataset"]]).sum()
    rows = [
        [
            str(name),
            *(f"{v:.1f}{_silent(int(silent[name, dataset]))}" for dataset, v in row.items()),
            f"{overall[name]:.2f}",
            f"{overall[name] / overall['IPCW (KM)']:.2f}",
            f"{overall[name] / overall['floor']:.2f}",
        ]
        for name, row in means.iterrows()
    ]
    return markdown(["adjustment", *map(str, means.columns), "mean", "of IPCW's", "of the floor"], rows)


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
    """The percentage of draws in which two of the oracle's best three learners are among the estimate's."""
    rows = []
    for name, mine in frame.groupby("adjustment", sort=False):
        kept = _kept(mine)
        rows.append(
            [str(name), *(f"{100 * kept[d][0] / kept[d][1]:.0f}" if d in kept else "–" for d in DATASETS)]
        )
    return markdown(["adjustment", *DATASETS], rows)


def _kept(rows: pd.DataFrame) -> dict[str, tuple[int, int]]:
    """By data set, in how many draws of how many the best three agree in two."""
    found: dict[str, list[bool]] = {}
    for key, each in rows.dropna(subset="estimate").groupby(
        ["dataset", "strategy", "copula", "seed"], sort=False
    ):
        best = [set(each.nsmallest(3, by)["learner"]) for by in ("oracle", "estimate")]
        found.setdefault(str(key[0]), []).append(len(best[0] & best[1]) >= 2)
    return {dataset: (sum(kept), len(kept)) for dataset, kept in found.items()}


# --- how wrong may τ be --------------------------------------------------------------------------------


def tolerated(frame: pd.DataFrame) -> str:
    """By adjustment: from which to which assumed τ, around the true one, its mean |error| is below IPCW's."""
    wrong_tau = frame[frame["setting"].str.contains(" data at τ = ")]
    settings = list(dict.fromkeys(wrong_tau["setting"]))
    means = wrong_tau.assign(size=wrong_tau["error"].abs()).groupby(["setting", "adjustment", "along"])[
        "size"
    ]
    curves = means.mean()
    truth = wrong_tau.groupby("setting")["tau"].first()
    resting = [
        name
        for name in dict.fromkeys(wrong_tau["adjustment"])
        if name not in ("IPCW (KM)", "IPCW (Cox)", "Dep (KM)")
    ]
    rows = []
    for name in resting:
        cells = []
        for setting in settings:
            excess = curves[setting, name] - curves[setting, "IPCW (KM)"]
            cells.append(_stretch_below_zero(excess, float(truth[setting])))
        rows.append([name, *cells])
    return markdown(["adjustment", *(s.replace(" data at", ",") for s in settings)], rows)


def _stretch_below_zero(excess: pd.Series, truth: float) -> str:
    """The stretch around ``truth`` where ``excess`` is below 0, with ends on straight lines between grid points."""
    taus, values = excess.index.to_numpy(float), excess.to_numpy(float)
    start = int(np.argmin(np.abs(taus - truth)))
    if not values[start] < 0:
        return "nowhere"
    ends = []
    for step, last in ((-1, 0), (1, taus.size - 1)):
        k = start
        while k != last and values[k + step] < 0:
            k += step
        if k == last:
            ends.append(f"{taus[k]:g}")
        else:
            share = values[k] / (values[k] - values[k + step])
            ends.append(f"{taus[k] + share * (taus[k + step] - taus[k]):.2f}")
    return "–".join(ends)
