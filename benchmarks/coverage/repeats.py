"""The repeats of a study, by condition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

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
        adjustments={"ipcw": "ipcw", "imputed": "imputation"},
        times=where.times,
        copula=clayton(at.tau),
        metrics="ibs",
    )
    rows = []
    for name in ("ipcw", "imputed"):
        scores = {model: result.score(model, adjustment=name) for model in MODELS}
        pairs = {f"{a} - {b}": result.compare(a, b, adjustment=name) for a, b in PAIRS}
        ranks = result.table("ranks", "ibs", name)
        kept = set(ranks["model"][ranks["may_be_best"]])
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
        adjustments="imputation",
        times=where.times,
        metrics="ibs",
    )
    grid = result.sensitivity("clayton", GRID).over_tau
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
