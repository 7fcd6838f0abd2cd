"""Errors of the metrics of models under several adjustments, where the event times of the test subjects are known."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import cocensor as cc
from benchmarks.discrimination.asked import metrics
from benchmarks.impartiality.models import predictions
from benchmarks.impartiality.study import AT_RISK, FAMILIES, N_TIMES
from benchmarks.impartiality.truths import TRUTHS, draw, true_law
from cocensor.study.scores import refit, score_refit

TAUS = (0.25, 0.5, 0.75)
COPULAS = (("independence", 0.0), *((family, tau) for family in FAMILIES for tau in TAUS))
#: Each also overconfident and underconfident.
CLASSES = ("Cox", "forest")
ORACLE, FLOOR, IPCW, IMPUTED, INDEPENDENCE = (
    "oracle",
    "floor",
    "IPCW (KM)",
    "imputed",
    "imputed, independence",
)


@dataclass(frozen=True)
class Cell:
    """One draw under one condition."""

    truth: str
    family: str
    tau: float
    n: int
    seed: int

    @property
    def copula(self) -> cc.copulas.Copula:
        """Of event and dropout given the covariates."""
        return cc.Independence() if self.tau == 0.0 else cc.copula(self.family, tau=self.tau)


def cells(draws: dict[int, int]) -> list[Cell]:
    """All conditions of the first draw, then all of the second; ``draws`` by number of test subjects."""
    return [
        Cell(truth.name, family, tau, n, seed)
        for seed in range(max(draws.values()))
        for n, wanted in draws.items()
        if seed < wanted
        for truth in TRUTHS
        for family, tau in COPULAS
    ]


def run_cell(cell: Cell, wanted: set[str]) -> dict[str, Any]:
    """The wanted metrics by adjustment and model; n subjects train, n others test."""
    truth = next(each for each in TRUTHS if each.name == cell.truth)
    sample = draw(truth, cell.copula, 2 * cell.n, cell.seed)
    train, test = sample[: cell.n], sample[cell.n :]
    times = cc.time_grid(train.y, test.y, n=N_TIMES, horizon={"at_risk": AT_RISK})
    curves = predictions(train, test.x, times, CLASSES, versions=True)
    asked = {name: each for name, each in metrics(truth).items() if name in wanted}
    adjustments: dict[str, Any] = {
        ORACLE: cc.Oracle(test.event_time),
        FLOOR: true_law(truth, cell.copula, test.x),
        IPCW: "ipcw",
        IMPUTED: cc.Imputation("everything", cell.copula),
    }
    result = cc.evaluate(
        curves,
        test.y,
        test.x,
        adjustments=adjustments,
        metrics=list(asked.values()),
        times=times,
        confidence_level=None,
    )
    found = dict(result.results)
    if cell.tau:
        there = refit(found[IMPUTED], lambda fitted: fitted.with_copula(cc.Independence()))
        found[INDEPENDENCE] = score_refit(result.data, there)
    scores = {
        judge: {
            name: [round(each.value(by.name, model), 6) for model in curves] for name, by in asked.items()
        }
        for judge, each in found.items()
    }
    return {**asdict(cell), "models": list(curves), "scores": scores}


def rows_of(line: dict[str, Any]) -> list[dict[str, Any]]:
    """Of a cell, a row per adjustment and metric, with a column per model."""
    cell = {name: line[name] for name in ("truth", "family", "tau", "n", "seed")}
    return [
        {**cell, "judge": judge, "metric": metric, **dict(zip(line["models"], values, strict=True))}
        for judge, by_metric in line["scores"].items()
        for metric, values in by_metric.items()
    ]
