"""Markdown tables for docs/validation/coverage.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtri

from benchmarks.coverage.measures import by_chance, of, percent, shown, truth
from benchmarks.coverage.setting import LAWS, MODELS, PAIRS
from benchmarks.coverage.tau_tables import tau_tables
from benchmarks.tables import markdown, section
from cocensor._checks import FloatArray

_Z = float(ndtri(0.975))
QUANTITIES = (*MODELS, *(f"{a} - {b}" for a, b in PAIRS))
KINDS = {"Scores": QUANTITIES[: len(MODELS)], "Differences": QUANTITIES[len(MODELS) :]}
JUDGES = {"imputed": "imputed", "ipcw": "IPCW (KM)"}


def all_tables(population: pd.DataFrame, scores: pd.DataFrame, tau: pd.DataFrame) -> Iterator[str]:
    """What the repeats say of intervals, and why those that are off are off."""
    truths = {law: truth(population, law) for law in LAWS}
    yield _chance(scores, "scores and differences")
    both = {judge: _estimates(scores[scores["judge"] == judge], truths) for judge in JUDGES}
    for what, names in KINDS.items():
        title = f"{what}: intervals that cover the truth, %, mean (lowest)"
        yield section(title, what.lower(), _summary(both, names))
    for judge, label in JUDGES.items():
        found = both[judge]
        yield section(
            f"{label}: intervals that cover the truth, %", f"{judge}-held", _table(found, _coverage)
        )
        yield section(
            f"{label}: bias in units of the standard deviation; mean standard error over it",
            f"{judge}-bias",
            _table(found, _bias_and_error),
        )
        yield section(
            f"{label}: the truly best model is among the best that are kept, %; no interval",
            f"{judge}-best",
            _best(scores[scores["judge"] == judge], truths),
        )
    yield section(
        "Limits: what the adjustments say of a huge sample, minus the truth, in units of 0.001",
        "limits",
        _limits(population, truths),
    )
    yield _chance(tau, "what is said over τ")
    yield from tau_tables(population, tau)
    yield section(
        "A copula that is not the true one: intervals that cover the truth, %", "wrong", _wrong(tau, truths)
    )


def _chance(rows: pd.DataFrame, what: str) -> str:
    repeats = rows.groupby(["law", "tau", "n"])["repeat"].nunique()
    fewest, most = repeats.min(), repeats.max()
    error = 100.0 * np.sqrt(0.95 * 0.05 / fewest)
    number = f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"
    return f"{number} repeats of {what}: a share of 95 % has a standard error of up to {error:.1f} %."


# --- scores and differences ----------------------------------------------------------------------------


class Estimated(NamedTuple):
    """Estimates of one quantity with their standard errors, and what they are about."""

    values: FloatArray
    errors: FloatArray
    truth: float


Key = tuple[str, int, float]
Found = dict[Key, dict[str, Estimated]]


def _estimates(rows: pd.DataFrame, truths: dict[str, pd.Series]) -> Found:
    return {
        (law, n, tau): {
            name: Estimated(of(each, name), each[f"se {name}"].to_numpy(), float(of(truths[law], name)))
            for name in QUANTITIES
        }
        for (law, n, tau), each in rows.groupby(["law", "n", "tau"], sort=False)
    }


def _summary(both: dict[str, Found], names: tuple[str, ...]) -> str:
    """A line per law and n, a column per judge and τ."""
    first = next(iter(both.values()))
    taus = sorted({tau for *_, tau in first})
    lines = []
    for law, n in dict.fromkeys((law, n) for law, n, _ in first):
        cells = []
        for found in both.values():
            for tau in taus:
                shares = [held(found[law, n, tau][name]) for name in names]
                cells.append(f"{100.0 * np.mean(shares):.1f} ({100.0 * min(shares):.1f})")
        lines.append([f"{law}, {n:,}", *cells])
    return markdown(
        ["distribution, n", *(f"{JUDGES[judge]}, τ = {tau:g}" for judge in both for tau in taus)], lines
    )


def _table(found: Found, cell: Callable[[Estimated], str]) -> str:
    return markdown(
        ["distribution", "n", "τ", *map(shown, QUANTITIES)],
        [
            [law, f"{n:,}", f"{tau:g}", *(cell(each) for each in by_name.values())]
            for (law, n, tau), by_name in found.items()
        ],
    )


def held(each: Estimated) -> float:
    """The share of the intervals that there are which hold the truth."""
    known = ~np.isnan(each.errors)
    return float(np.mean((np.abs(each.values - each.truth) <= _Z * each.errors)[known]))


def _coverage(each: Estimated) -> str:
    return percent(held(each))


def _bias_and_error(each: Estimated) -> str:
    spread = float(np.nanstd(each.values, ddof=1))
    return f"{(np.nanmean(each.values) - each.truth) / spread:+.2f}; {np.nanmean(each.errors) / spread:.2f}"


def _best(rows: pd.DataFrame, truths: dict[str, pd.Series]) -> str:
    lines = []
    for (law, n, tau), each in rows.groupby(["law", "n", "tau"], sort=False):
        best = int(np.argmin([truths[law][name] for name in MODELS]))
        kept = each["kept"].astype(str).str.zfill(len(MODELS)).str[best] == "1"
        lines.append([law, f"{n:,}", f"{tau:g}", percent(kept), f"{each['se Cox'].isna().sum()}"])
    return markdown(["distribution", "n", "τ", "best one kept", "no interval"], lines)


def _limits(population: pd.DataFrame, truths: dict[str, pd.Series]) -> str:
    rows = population[population["judge"].isin(JUDGES)]
    rows = rows[rows["assumed"].isna() | (rows["assumed"] == rows["tau"])]
    lines = []
    for (law, tau, judge), each in rows.groupby(["law", "tau", "judge"], sort=False):
        biases = [
            of(each, name).item() - float(of(truths[law], name)) - by_chance(population, law, tau, name)
            for name in QUANTITIES
        ]
        lines.append(
            [law, f"{tau:g}", JUDGES[judge], *(f"{round(1_000 * bias, 1) + 0.0:+.1f}" for bias in biases)]
        )
    return markdown(["distribution", "τ", "adjustment", *map(shown, QUANTITIES)], lines)


def _wrong(rows: pd.DataFrame, truths: dict[str, pd.Series]) -> str:
    """Independence is assumed, somewhat less dependence than there is, and the copula that is true."""
    names = (MODELS[0], *QUANTITIES[len(MODELS) :])
    lines = []
    for (law, n, tau), each in rows.groupby(["law", "n", "tau"], sort=False):
        for assumed in (0.0, round(tau - 0.1, 1), tau):
            curves = {name: each[each["curve"] == name] for name in names}
            cells = [
                _coverage(
                    Estimated(
                        found[f"{assumed:g}"].to_numpy(),
                        found[f"se {assumed:g}"].to_numpy(),
                        float(of(truths[law], name)),
                    )
                )
                for name, found in curves.items()
            ]
            lines.append([law, f"{n:,}", f"{tau:g}", f"{assumed:g}", *cells])
    return markdown(["distribution", "n", "true τ", "assumed τ", *map(shown, names)], lines)
