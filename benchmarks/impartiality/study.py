"""The cells of the study, computed one after the other, each kept as a line of a file."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

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
    """The oracle's scores and those of the wanted judges, with seconds; n subjects train, n others test."""
    study = STUDIES[cell.study]
    truth = next(each for each in study.truths if each.name == cell.truth)
    copula = cc.Independence() if cell.tau == 0.0 else cc.copula(cell.family, tau=cell.tau)
    start = time.perf_counter()
    sample = draw(truth, copula, 2 * cell.n, cell.seed)
    train, test = sample[: cell.n], sample[cell.n :]
    times = cc.time_grid(train.y, test.y, n=N_TIMES, horizon={"at_risk": AT_RISK})
    curves = predictions(train, test.x, times, study.classes, study.versions)
    scores = {"oracle": of.oracle(curves, times, test)}
    seconds = {"models": time.perf_counter() - start}
    known: dict[Any, of.Verdict] = {}
    assumed = {}
    for name, judge in wanted.items():
        start = time.perf_counter()
        # At τ = 0 the true copula is independence.
        same = (judge.asked, repr(judge.told(copula)), judge.sees_training)
        if same not in known:
            known[same] = of.verdict(judge, copula, curves, times, train, test)
        scores[name], assumed[name] = known[same].scores, known[same].copula
        seconds[name] = time.perf_counter() - start
    return {
        **asdict(cell),
        "dropout": float((~test.y.event).mean()),
        "scores": scores,
        "selected": assumed.get(of.SELECTED, ""),
        "seconds": {name: round(each, 3) for name, each in seconds.items()},
    }


# --- lines ---------------------------------------------------------------------------------------------


def lines(folder: Path) -> Iterator[dict[str, Any]]:
    """What finished cells have left; a line that a killed run has not finished is as good as none."""
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                yield json.loads(line)
            except json.JSONDecodeError:
                continue


def run(
    study: Study, folder: Path, draws: int, sizes: tuple[int, ...], sets: list[str], few: int, part: str
) -> None:
    """Compute what is missing; the judges of "selected" for the first ``few`` draws only."""
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[Cell, set[str]] = {}
    for line in lines(folder):
        found.setdefault(Cell(**{key: line[key] for key in KEYS}), set()).update(line["scores"])
    number, of_parts = (int(each) for each in part.split("/"))
    mine = []
    for cell in cells(study, draws, sizes)[number - 1 :: of_parts]:
        asked = {
            name: judge
            for each in sets
            if each != "selected" or cell.seed < few
            for name, judge in of.JUDGES[each].items()
        }
        wanted = {name: judge for name, judge in asked.items() if name not in found.get(cell, set())}
        if wanted:
            mine.append((cell, wanted))
    spent: dict[int, list[float]] = {}
    for done, (cell, wanted) in enumerate(mine, start=1):
        start = time.perf_counter()
        with warnings.catch_warnings():
            for category in (cc.FitWarning, cc.HorizonWarning):
                warnings.simplefilter("ignore", category)
            line = run_cell(cell, wanted)
        # A new line first: the one before may be unfinished.
        with (folder / f"{study.name}-{number}-{of_parts}.jsonl").open("a", encoding="utf-8") as file:
            file.write("\n" + json.dumps(line) + "\n")
        spent.setdefault(cell.n, []).append(time.perf_counter() - start)
        left = sum(_expected(other.n, spent) for other, _ in mine[done:])
        print(f"{done}/{len(mine)} {cell} {spent[cell.n][-1]:.1f} s; {left / 3600:.2f} h to go", flush=True)


def _expected(n: int, spent: dict[int, list[float]]) -> float:
    """Seconds of a cell: as others of its size, or in proportion to the largest size that is known."""
    known = n if n in spent else max(spent)
    return n / known * sum(spent[known]) / len(spent[known])


# --- rows ----------------------------------------------------------------------------------------------


def rows(folder: Path) -> pd.DataFrame:
    """A row per cell and judge, with a column per model."""
    found = {}
    for line in lines(folder):
        cell = {key: line[key] for key in KEYS}
        for judge, scores in line["scores"].items():
            rounded = {name: round(score, 6) for name, score in scores.items()}
            selected = line["selected"] if judge == of.SELECTED else ""
            found[(*cell.values(), judge)] = {
                **cell,
                "dropout": line["dropout"],
                "judge": judge,
                **rounded,
                "selected": selected,
            }
    return pd.DataFrame([found[key] for key in sorted(found, key=_place)])


def _place(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """Where a cell and judge stands, whichever run has computed it."""
    study, truth, family, tau, n, seed, judge = key
    truths = [each.name for each in STUDIES[study].truths]
    judges = ["oracle", *(name for each in of.JUDGES.values() for name in each)]
    return study, truths.index(truth), n, tau, family, seed, judges.index(judge)


def seconds(folder: Path) -> pd.DataFrame:
    """Mean seconds of the models and of every judge, by study and number of subjects."""
    spent = pd.DataFrame(
        [{"study": line["study"], "n": line["n"], **line["seconds"]} for line in lines(folder)]
    )
    return spent.groupby(["study", "n"]).mean()
