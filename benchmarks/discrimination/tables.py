"""Markdown tables for docs/validation/accuracy.md, and the goals."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.coverage.measures import of
from benchmarks.coverage.setting import MODELS, PAIRS
from benchmarks.coverage.tables import Estimated, held
from benchmarks.discrimination.accuracy import FLOOR, IMPUTED, INDEPENDENCE, IPCW, ORACLE
from benchmarks.discrimination.asked import NAMES
from benchmarks.discrimination.coverage import BY_CHANCE
from benchmarks.impartiality.measures import Estimate, ratio_of_means
from benchmarks.impartiality.tables import plus_minus
from benchmarks.tables import markdown, section, slug_of
from cocensor._checks import FloatArray

JUDGES = (IPCW, INDEPENDENCE, IMPUTED, FLOOR)
CELL = ["truth", "family", "tau", "n", "seed", "metric"]
PAIR = ("Cox", "forest")
#: By what the imputed error may be a multiple of IPCW's at τ = .5, by the metric's first name.
GOALS = {"auc": 0.2, "concordance": 0.2, "ici": 0.5}
AT_INDEPENDENCE = 1.2

Where = tuple[str, float]


# --- accuracy ------------------------------------------------------------------------------------------


def accuracy_tables(rows: pd.DataFrame) -> Iterator[str]:
    """By number of test subjects: errors of values, of a difference, and the goals."""
    for n, mine in rows.groupby("n", sort=True):
        found = Errors.of(mine)
        drawn = mine.groupby(["truth", "family", "tau"])["seed"].nunique()
        draws = f"{drawn.min()}" if drawn.min() == drawn.max() else f"{drawn.min()} to {drawn.max()}"
        yield f"# Accuracy, n = {n:,}, {draws} draws of each of {mine['truth'].nunique()} laws and copula"
        title = "Goals: mean |error| of imputation over IPCW's (that of the floor)"
        yield section(title, f"goals-{n}", _goals(found))
        title = "Mean |error| of the values of all models, in units of 0.001"
        yield section(title, f"values-{n}", _overview(found))
        title = f"Mean |error| of {' − '.join(PAIR)}, in units of 0.001"
        yield section(title, f"difference-{n}", _overview(found.of_pair()))
        yield section("Mean |error| (bias) by copula, in units of 0.001", f"copulas-{n}", _by_copula(found))
        title = "Mean |error| of imputation over IPCW's by law, τ = 0.5 and 0"
        yield section(title, f"laws-{n}", _by_truth(found))


@dataclass(frozen=True)
class Errors:
    """Errors of each judge: a frame of cells, indexed by CELL, with a column per model."""

    by_judge: dict[str, pd.DataFrame]

    @staticmethod
    def of(rows: pd.DataFrame) -> Errors:
        """Values less those of the oracle. At τ = 0 the true copula is independence."""
        models = [name for name in rows if name.split(",")[0] in PAIR]
        by_judge = {judge: mine.set_index(CELL)[models] for judge, mine in rows.groupby("judge", sort=False)}
        truth = by_judge.pop(ORACLE)
        errors = {judge: mine - truth.loc[mine.index] for judge, mine in by_judge.items()}
        at_zero = errors[IMPUTED][errors[IMPUTED].index.get_level_values("tau") == 0.0]
        errors[INDEPENDENCE] = pd.concat([at_zero, errors[INDEPENDENCE]])
        return Errors(errors)

    @property
    def metrics(self) -> list[str]:
        """Those that there are."""
        known = set(self.by_judge[IPCW].index.get_level_values("metric"))
        return [name for name in NAMES if name in known]

    @property
    def copulas(self) -> list[Where]:
        """Family and τ."""
        index = self.by_judge[IPCW].index
        pairs = zip(index.get_level_values("family"), index.get_level_values("tau"), strict=True)
        return sorted(set(pairs), key=lambda pair: (pair[1] > 0, pair))

    def of_pair(self) -> Errors:
        """Errors of the difference of two models."""
        first, second = PAIR
        return Errors(
            {
                judge: pd.DataFrame({"difference": mine[first] - mine[second]})
                for judge, mine in self.by_judge.items()
            }
        )

    def by_draw(self, judge: str, *, signed: bool = False, **where: Any) -> FloatArray:
        """By draw, the mean over models, laws and copulas of |errors|, or of errors."""
        mine = self.by_judge[judge]
        for level, value in where.items():
            mine = mine[mine.index.get_level_values(level) == value]
        means = (mine if signed else mine.abs()).mean(axis=1).groupby(level="seed").mean()
        return np.asarray(means, dtype=np.float64)

    def mean(self, judge: str, **where: Any) -> Estimate:
        """Mean |error|."""
        return Estimate.of(self.by_draw(judge, **where))

    def ratio(self, judge: str, **where: Any) -> Estimate:
        """Mean |error| over IPCW's."""
        both = np.column_stack([self.by_draw(each, **where) for each in (judge, IPCW)])
        return Estimate.of(both, ratio_of_means)


def _goals(found: Errors) -> str:
    head = ["metric", *(_copula(*where) for where in found.copulas if where[1] in (0.0, 0.5)), "τ = 0.5, all"]
    lines = []
    for metric in found.metrics:
        limit = GOALS.get(re.split(r"[ ,]", metric)[0], np.inf)
        cells = [
            _against(found, AT_INDEPENDENCE if not tau else limit, metric=metric, family=family, tau=tau)
            for family, tau in found.copulas
            if tau in (0.0, 0.5)
        ]
        lines.append([metric, *cells, _against(found, limit, metric=metric, tau=0.5)])
    return markdown(head, lines)


def _against(found: Errors, limit: float, **where: Any) -> str:
    ratio, floor = (found.ratio(judge, **where) for judge in (IMPUTED, FLOOR))
    verdict = "" if not ratio.value > limit else ", **not met**"
    if verdict and ratio.value - limit <= 2.0 * ratio.error:
        verdict = ", not met, but within 2 SE"
    return f"{plus_minus(ratio, 1.0, 2)} ({floor.value:.2f}){verdict}"


def _overview(found: Errors) -> str:
    taus = sorted({tau for _, tau in found.copulas})
    lines = [
        [metric, judge, *(plus_minus(found.mean(judge, metric=metric, tau=tau), 1_000.0, 1) for tau in taus)]
        for metric in found.metrics
        for judge in JUDGES
    ]
    return markdown(["metric", "adjustment", *(f"τ = {tau:g}" for tau in taus)], lines)


def _by_copula(found: Errors) -> str:
    lines = []
    for metric in found.metrics:
        for judge in JUDGES:
            cells = []
            for family, tau in found.copulas:
                where = {"metric": metric, "family": family, "tau": tau}
                size, bias = (found.by_draw(judge, signed=signed, **where).mean() for signed in (False, True))
                cells.append(f"{1_000 * size:.1f} ({1_000 * bias:+.1f})")
            lines.append([metric, judge, *cells])
    return markdown(["metric", "adjustment", *(_copula(*where) for where in found.copulas)], lines)


def _by_truth(found: Errors) -> str:
    truths = list(dict.fromkeys(found.by_judge[IPCW].index.get_level_values("truth")))
    lines = [
        [
            metric,
            *(
                plus_minus(found.ratio(IMPUTED, metric=metric, truth=truth, tau=tau), 1.0, 2)
                for tau in (0.5, 0.0)
                for truth in truths
            ),
        ]
        for metric in found.metrics
    ]
    return markdown(["metric", *(f"{truth}, τ = {tau:g}" for tau in (0.5, 0.0) for truth in truths)], lines)


def _copula(family: str, tau: float) -> str:
    return f"{family}, τ = {tau:g}" if tau else "τ = 0"


# --- coverage ------------------------------------------------------------------------------------------

KINDS = {"values": MODELS, "differences": tuple(f"{a} - {b}" for a, b in PAIRS)}
LABELS = {"imputed": "imputed, true copula", "ipcw": "IPCW (KM)", "oracle": "known event times"}


def coverage_tables(population: pd.DataFrame, rows: pd.DataFrame) -> Iterator[str]:
    """By judge: intervals that hold the truth, and standard errors and biases over the spread of estimates."""
    repeats = rows.groupby(["law", "family", "tau", "metric"])["repeat"].nunique()
    error = 100.0 * np.sqrt(0.95 * 0.05 / repeats.min())
    yield (
        f"# Coverage, {repeats.min()} to {repeats.max()} repeats: a share of 95 % has a standard error of "
        f"up to {error:.1f} %"
    )
    by_judge = {judge: _estimates(population, rows[rows["judge"] == judge]) for judge in LABELS}
    yield section(
        "All conditions: intervals that cover the truth, %: mean (lowest to highest); mean standard error over "
        "standard deviation",
        "coverage",
        _summary(by_judge),
    )
    for judge, label in LABELS.items():
        found = by_judge[judge]
        for kind, names in KINDS.items():
            for slug, (title, cell) in CELLS.items():
                table = _coverage_table(found, names, cell)
                yield section(f"{label}, {kind}: {title}", slug_of(slug, judge, kind), table)


Found = dict[tuple[str, str, float], dict[str, dict[str, Estimated]]]


def _estimates(population: pd.DataFrame, rows: pd.DataFrame) -> Found:
    """By condition, metric and quantity."""
    known = population.set_index(["law", "metric"])
    found: Found = {}
    for (law, family, tau, metric), mine in rows.groupby(["law", "family", "tau", "metric"], sort=False):
        truth = known.loc["linear" if law == BY_CHANCE else law, metric]
        found.setdefault((law, family, tau), {})[metric] = {
            name: Estimated(of(mine, name), mine[f"se {name}"].to_numpy(), float(of(truth, name)))
            for names in KINDS.values()
            for name in names
        }
    return found


def _coverage_table(found: Found, names: tuple[str, ...], cell: Callable[[list[Estimated]], str]) -> str:
    lines = []
    for metric in _metrics(found):
        each = [by_metric.get(metric) for by_metric in found.values()]
        lines.append([metric, *("–" if one is None else cell([one[name] for name in names]) for one in each)])
    return markdown(["metric", *(f"{law}, {_copula(family, tau)}" for law, family, tau in found)], lines)


def _metrics(found: Found) -> list[str]:
    known = {metric for by_metric in found.values() for metric in by_metric}
    return [name for name in NAMES if name in known]


def _summary(by_judge: dict[str, Found]) -> str:
    """IPCW only where what it assumes is true."""
    kept = {judge: dict(found) for judge, found in by_judge.items()}
    kept["ipcw"] = {at: each for at, each in kept["ipcw"].items() if at[0] == BY_CHANCE}
    lines = []
    for metric in _metrics(kept["imputed"]):
        cells = []
        for found in kept.values():
            for names in KINDS.values():
                each = [by_metric[metric][name] for by_metric in found.values() for name in names]
                shares = [100.0 * held(one) for one in each]
                ratio = np.mean([np.nanmean(one.errors) / np.nanstd(one.values, ddof=1) for one in each])
                cells.append(f"{np.mean(shares):.1f} ({min(shares):.1f} to {max(shares):.1f}); {ratio:.2f}")
        lines.append([metric, *cells])
    heads = [f"{LABELS[judge]}, {kind}" for judge in kept for kind in KINDS]
    return markdown(["metric", *heads], lines)


def _shares(each: list[Estimated]) -> str:
    shares = [100.0 * held(one) for one in each]
    missing = sum(int(np.isnan(one.errors).sum()) for one in each)
    return f"{np.mean(shares):.1f} ({min(shares):.1f} to {max(shares):.1f})" + (
        f" [{missing} without]" if missing else ""
    )


def _errors_over_spread(each: list[Estimated]) -> str:
    ratios = [np.nanmean(one.errors) / np.nanstd(one.values, ddof=1) for one in each]
    return f"{np.mean(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def _biases(each: list[Estimated]) -> str:
    biases = [(np.nanmean(one.values) - one.truth) / np.nanstd(one.values, ddof=1) for one in each]
    return "; ".join(f"{bias:+.2f}" for bias in biases)


def _sizes(each: list[Estimated]) -> str:
    return f"{1_000.0 * np.mean([np.nanmean(np.abs(one.values - one.truth)) for one in each]):.1f}"


CELLS: dict[str, tuple[str, Callable[[list[Estimated]], str]]] = {
    "held": ("intervals that cover the truth, %: mean (lowest to highest)", _shares),
    "errors": ("mean standard error over standard deviation", _errors_over_spread),
    "bias": ("bias in units of the standard deviation", _biases),
    "sizes": ("mean |error| against the population, in units of 0.001", _sizes),
}
