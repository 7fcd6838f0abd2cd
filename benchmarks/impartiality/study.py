"""The cells of the study."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import cocensor as cc
from benchmarks.impartiality import judges as of
from benchmarks.impartiality.models import CLASSES, predictions
from benchmarks.impartiality.truths import FORMS, TRUTHS, Truth, draw

FAMILIES = ("clayton", "frank", "gumbel")
TAUS = (0.25, 0.5)
KEYS = ["study", "truth", "family", "tau", "n", "seed"]
N_TIMES, AT_RISK = 50, 0.1


@dataclass(frozen=True)
class Study:
    """Which laws are drawn from, how many subjects, and which models are evaluated."""

    name: str
    truths: tuple[Truth, ...]
    copulas: tuple[tuple[str, float], ...]
    sizes: tuple[int, ...]
    classes: tuple[str, ...]
    versions: bool
    judges: str


STUDIES = {
    each.name: each
    for each in (
        Study(
            "truths",
            TRUTHS,
            (("independence", 0.0), *((family, tau) for family in FAMILIES for tau in TAUS)),
            (300, 1_000, 3_000),
            tuple(CLASSES),
            True,
            "main",
        ),
        Study("forms", FORMS, (("independence", 0.0),), (1_000, 3_000), ("Cox", "forest"), False, "default"),
    )
}


@dataclass(frozen=True)
class Cell:
    """One draw under one condition."""

    study: str
    truth: str
    family: str
    tau: float
    n: int
    seed: int


def cells(study: Study, draws: int, sizes: tuple[int, ...]) -> list[Cell]:
    """All conditions of the first draw, then all of the second: a run that is cut has all of them alike."""
    return [
        Cell(study.name, truth.name, family, tau, n, seed)
        for seed in range(draws)
        for n in sizes
        for truth in study.truths
        for family, tau in study.copulas
    ]


def run_cell(cell: Cell, wanted: dict[str, of.Judge]) -> dict[str, Any]:
    """The oracle's scores and those of the wanted judges; n subjects train, n others test."""
    study = STUDIES[cell.study]
    truth = next(each for each in study.truths if each.name == cell.truth)
    copula = cc.Independence() if cell.tau == 0.0 else cc.copula(cell.family, tau=cell.tau)
    sample = draw(truth, copula, 2 * cell.n, cell.seed)
    train, test = sample[: cell.n], sample[cell.n :]
    times = cc.time_grid(train.y, test.y, n=N_TIMES, horizon={"at_risk": AT_RISK})
    curves = predictions(train, test.x, times, study.classes, study.versions)
    scores = {"oracle": of.oracle(curves, times, test)}
    known: dict[Any, of.Verdict] = {}
    assumed = {}
    for name, judge in wanted.items():
        # At τ = 0 the true copula is independence.
        same = (judge.asked, repr(judge.told(copula)), judge.sees_training)
        if same not in known:
            known[same] = of.verdict(judge, copula, curves, times, train, test)
        scores[name], assumed[name] = known[same].scores, known[same].copula
    return {
        **asdict(cell),
        "dropout": float((~test.y.event).mean()),
        "scores": scores,
        "selected": assumed.get(of.SELECTED, ""),
    }


def rows_of(line: dict[str, Any]) -> list[dict[str, Any]]:
    """Of a cell, a row per judge, with a column per model."""
    return [
        {key: line[key] for key in KEYS}
        | {"dropout": line["dropout"], "judge": judge}
        | {name: round(score, 6) for name, score in scores.items()}
        | {"selected": line["selected"] if judge == of.SELECTED else ""}
        for judge, scores in line["scores"].items()
    ]
