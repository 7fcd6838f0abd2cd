"""The repeats of a study, each a line or some of a file by condition; a run that was cut goes on where it was."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

import cocensor as cc
from benchmarks.coverage.setting import FORM_GIVEN, GRID, LAWS, MODELS, PAIRS, TRUE_TAUS, clayton, setting

SIZES, TAU_SIZES = (200, 500, 2_000), (500, 2_000)
Row = dict[str, Any]


@dataclass(frozen=True)
class Condition:
    """A law, the true τ, and the number of test subjects; ``number`` tells its seeds from others'."""

    law: str
    tau: float
    n: int
    number: int

    def seed(self, repeat: int) -> int:
        """That of one repeat, the same in all studies."""
        return 10_000 * self.number + repeat


ALL = [
    Condition(law, tau, n, number)
    for number, (law, n, tau) in enumerate((law, n, tau) for law in LAWS for n in SIZES for tau in TRUE_TAUS)
]


def repeat_scores(at: Condition, seed: int) -> list[Row]:
    """Scores and differences under IPCW and under imputation with the true copula, with their standard errors."""
    where = setting(at.law)
    sample = where.draw(at.tau, at.n, seed)
    result = cc.evaluate(
        where.curves(sample.x),
        sample.y,
        where.given(sample.x),
        adjustments=["ipcw", "imputed"],
        times=where.times,
        copula=clayton(at.tau),
        metrics="ibs",
    )
    rows = []
    for name in ("ipcw", "imputed"):
        scores = {model: result.score(model, adjustment=name) for model in MODELS}
        pairs = {f"{a} - {b}": result.compare(a, b, adjustment=name) for a, b in PAIRS}
        kept = result.indistinguishable_from_best(adjustment=name)
        rows.append(
            {"judge": name}
            | {model: _rounded(each.value) for model, each in scores.items()}
            | {f"se {what}": _rounded(each.standard_error) for what, each in (scores | pairs).items()}
            | {"kept": "".join(str(int(model in kept)) for model in MODELS)}
            | {"missing": next((each.missing for each in scores.values() if each.missing), "")}
        )
    return rows


def repeat_tau(at: Condition, seed: int) -> list[Row]:
    """Differences and one score along τ, with their standard errors and how many of these a band reaches."""
    where = setting(at.law)
    sample = where.draw(at.tau, at.n, seed)
    result = cc.evaluate(
        where.curves(sample.x),
        sample.y,
        where.given(sample.x),
        adjustments=["imputed"],
        times=where.times,
        metrics="ibs",
    )
    grid = result.sensitivity("clayton", GRID)
    rows = []
    for a, b in ((MODELS[0], None), *PAIRS):
        curve, band = grid.along(a, b)["clayton"], grid.bands(a, b)["clayton"]
        rows.append(
            {"curve": a if b is None else f"{a} - {b}", "quantile": round(band.quantile, 3)}
            | {f"{tau:g}": _rounded(value) for tau, value in zip(GRID, curve.values, strict=True)}
            | {f"se {tau:g}": _rounded(se) for tau, se in zip(GRID, curve.standard_errors, strict=True)}
        )
    return rows


def _rounded(value: float) -> float:
    return round(float(value), 7)


@dataclass(frozen=True)
class Study:
    """What is repeated, under which conditions."""

    name: str
    repeat: Callable[[Condition, int], list[Row]]
    conditions: list[Condition]


STUDIES = {
    each.name: each
    for each in (
        Study("scores", repeat_scores, ALL),
        Study("tau", repeat_tau, [at for at in ALL if at.tau and at.n in TAU_SIZES and at.law != FORM_GIVEN]),
    )
}


def run(study: Study, folder: Path, repeats: int, part: str) -> None:
    """Compute what is missing of the first ``repeats`` of every condition; part 1/2 takes every other one."""
    folder.mkdir(parents=True, exist_ok=True)
    for category in (cc.FitWarning, cc.HorizonWarning):
        warnings.simplefilter("ignore", category)
    number, parts = (int(each) for each in part.split("/"))
    for at in study.conditions:
        path = folder / f"{study.name}-{at.law}-{at.tau:g}-{at.n}-{number}-{parts}.csv"
        known = set(pd.read_csv(path)["repeat"]) if path.exists() else set()
        start, done = time.perf_counter(), 0
        for repeat in range(number - 1, repeats, parts):
            if repeat in known:
                continue
            rows = study.repeat(at, at.seed(repeat))
            where = {"law": at.law, "tau": at.tau, "n": at.n, "repeat": repeat}
            text = pd.DataFrame([where | row for row in rows]).to_csv(index=False, header=not path.exists())
            with path.open("a", encoding="utf-8") as file:
                file.write(text)
            done += 1
        spent = (time.perf_counter() - start) / max(done, 1)
        print(f"{study.name} {at}: {done} of {repeats} repeats, {spent:.2f} s each", flush=True)


def rows(study: str, folder: Path) -> pd.DataFrame:
    """All that was computed, in the order of conditions and repeats."""
    found = pd.concat([pd.read_csv(path) for path in sorted(folder.glob(f"{study}-*.csv"))])
    places = {law: k for k, law in enumerate(LAWS)}
    by = [name for name in ("law", "n", "tau", "repeat") if name in found]
    return found.sort_values(
        by, key=lambda column: column.map(places) if column.name == "law" else column, kind="stable"
    ).reset_index(drop=True)
