"""Errors of the metrics of models under several adjustments, where the event times of the test subjects are known."""

from __future__ import annotations

import json
import time
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

import cocensor as cc
from benchmarks.discrimination.asked import metrics
from benchmarks.impartiality.models import predictions
from benchmarks.impartiality.study import AT_RISK, FAMILIES, N_TIMES, lines
from benchmarks.impartiality.truths import TRUTHS, draw, true_law
from cocensor.evaluation.scores import scores_at_copula

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
    def copula(self) -> cc.Copula:
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
        found[INDEPENDENCE] = scores_at_copula(result.data, found[IMPUTED], cc.Independence())
    scores = {
        judge: {
            name: [round(each.value(by.name, model), 6) for model in curves] for name, by in asked.items()
        }
        for judge, each in found.items()
    }
    return {**asdict(cell), "models": list(curves), "scores": scores}


def run(folder: Path, draws: dict[int, int], part: str) -> None:
    """Compute what is missing; metrics that have come since are added to the cells that are there."""
    folder.mkdir(parents=True, exist_ok=True)
    for category in (cc.FitWarning, cc.HorizonWarning):
        warnings.simplefilter("ignore", category)
    names = {truth.name: set(metrics(truth)) for truth in TRUTHS}
    known: dict[Cell, set[str]] = {}
    for line in lines(folder):
        known.setdefault(_cell(line), set()).update(line["scores"][ORACLE])
    number, parts = (int(each) for each in part.split("/"))
    missing = {cell: names[cell.truth] - known.get(cell, set()) for cell in cells(draws)[number - 1 :: parts]}
    missing = {cell: wanted for cell, wanted in missing.items() if wanted}
    for done, (cell, wanted) in enumerate(missing.items(), start=1):
        start = time.perf_counter()
        line = run_cell(cell, wanted)
        # A new line first: the one before may be unfinished.
        with (folder / f"accuracy-{number}-{parts}.jsonl").open("a", encoding="utf-8") as file:
            file.write("\n" + json.dumps(line) + "\n")
        print(f"{done}/{len(missing)} {cell} {time.perf_counter() - start:.1f} s", flush=True)


def rows(folder: Path) -> pd.DataFrame:
    """A row per cell, adjustment and metric, with a column per model."""
    found = {}
    for line in lines(folder):
        cell = _cell(line)
        for judge, by_metric in line["scores"].items():
            for metric, values in by_metric.items():
                scores = dict(zip(line["models"], values, strict=True))
                found[cell, judge, metric] = {**asdict(cell), "judge": judge, "metric": metric, **scores}
    truths = [truth.name for truth in TRUTHS]
    places = sorted(
        found, key=lambda key: (truths.index(key[0].truth), *list(asdict(key[0]).values())[1:], *key[1:])
    )
    return pd.DataFrame([found[key] for key in places])


def _cell(line: dict[str, Any]) -> Cell:
    return Cell(line["truth"], line["family"], line["tau"], line["n"], line["seed"])
