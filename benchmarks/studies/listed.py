"""All studies, with the units that each is to have."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache, partial
from pathlib import Path
from typing import Any

from benchmarks import after_dropout, verdicts
from benchmarks.coverage import population, repeats
from benchmarks.coverage.setting import LAWS, TRUE_TAUS
from benchmarks.discrimination import accuracy, coverage
from benchmarks.discrimination.asked import metrics
from benchmarks.impartiality import judges, study
from benchmarks.impartiality.truths import TRUTHS
from benchmarks.reproduction import replay
from benchmarks.studies.study import Row, Study, Unit
from cocensor.paper import Experiment, experiments

# --- coverage ----------------------------------------------------------------------------------------------


def _conditions(of: repeats.Study, n_repeats: int) -> list[Unit]:
    return [
        {"law": at.law, "tau": at.tau, "n": at.n, "repeat": k}
        for at in of.conditions
        for k in range(n_repeats)
    ]


def _repeat(of: repeats.Study, unit: Unit) -> Iterable[Row]:
    at = next(each for each in of.conditions if (each.law, each.tau, each.n) == tuple(unit.values())[:3])
    return [unit | row for row in of.repeat(at, at.seed(unit["repeat"]))]


def _populations() -> list[Unit]:
    return [{"law": law, "tau": tau} for law in LAWS for tau in (None, *TRUE_TAUS)]


COVERAGE = (
    Study(
        "coverage-population",
        _populations,
        lambda unit: population.rows(unit["law"], unit["tau"]),
        ("law", "tau"),
        ("judge", "assumed"),
        seconds=16.0,
    ),
    *(
        Study(
            f"coverage-{name}",
            partial(_conditions, of, 300),
            partial(_repeat, of),
            ("law", "tau", "n", "repeat"),
            within,
            seconds,
        )
        for name, within, seconds in (("scores", ("judge",), 2.0), ("tau", ("curve",), 0.6))
        for of in (repeats.STUDIES[name],)
    ),
)


# --- discrimination ----------------------------------------------------------------------------------------


def _accuracy(unit: Unit) -> Iterable[Row]:
    cell = accuracy.Cell(**unit)
    truth = next(each for each in TRUTHS if each.name == cell.truth)
    return accuracy.rows_of(accuracy.run_cell(cell, set(metrics(truth))))


def _laws() -> list[Unit]:
    return [{"law": law} for law in coverage.LAWS_OF_MODELS]


def _covered(unit: Unit) -> Iterable[Row]:
    at = next(
        each
        for each in coverage.CONDITIONS
        if (each.law, each.family, each.tau) == (unit["law"], unit["family"], unit["tau"])
    )
    return coverage.repeat(at, unit["repeat"], metrics(at.setting.law))


DISCRIMINATION = (
    Study(
        "discrimination-accuracy",
        lambda: [vars(cell) for cell in accuracy.cells({1_000: 10, 3_000: 5})],
        _accuracy,
        ("truth", "family", "tau", "n", "seed"),
        ("judge", "metric"),
        seconds=2.0,
    ),
    Study(
        "discrimination-population",
        _laws,
        lambda unit: coverage.population_rows(unit["law"]),
        ("law",),
        ("metric",),
        seconds=100.0,
    ),
    Study(
        "discrimination-coverage",
        lambda: [
            {"law": at.law, "family": at.family, "tau": at.tau, "repeat": k}
            for at in coverage.CONDITIONS
            for k in range(300)
        ],
        _covered,
        ("law", "family", "tau", "repeat"),
        ("judge", "metric"),
        seconds=3.0,
    ),
)


# --- impartiality ------------------------------------------------------------------------------------------

#: By study: draws, draws with a selected copula and of which sizes, and the same of plainer recipes.
_DRAWS = {"truths": 7, "forms": 8}
_SELECTED = {"truths": (1, (1_000,)), "forms": (2, (1_000, 3_000))}
_PLAINER = {"truths": (2, (1_000,)), "forms": (0, ())}


def _cells() -> list[Unit]:
    return [
        vars(cell) for of in study.STUDIES.values() for cell in study.cells(of, _DRAWS[of.name], of.sizes)
    ]


def _judged(unit: Unit) -> Iterable[Row]:
    cell = study.Cell(**unit)
    sets = [study.STUDIES[cell.study].judges]
    for name, further in (("selected", _SELECTED), ("plainer", _PLAINER)):
        draws, sizes = further[cell.study]
        sets += [name] * (cell.seed < draws and cell.n in sizes)
    wanted = {name: judge for each in sets for name, judge in judges.JUDGES[each].items()}
    return study.rows_of(study.run_cell(cell, wanted))


IMPARTIALITY = (Study("impartiality", _cells, _judged, tuple(study.KEYS), ("judge",), seconds=4.0),)


# --- hazard ratio after dropout ----------------------------------------------------------------------------

_WITHIN = {"errors": ("truth", "judge", "model"), "coverage": ("judge", "what")}


def _after_dropout(part: str, unit: Unit) -> Iterable[Row]:
    return [
        {name: round(each, 7) if isinstance(each, float) else each for name, each in row.items()}
        for row in after_dropout.PARTS[part](unit["ratio"], unit["repeat"])
    ]


AFTER_DROPOUT = tuple(
    Study(
        f"after-dropout-{part}",
        lambda n=n: [{"ratio": ratio, "repeat": k} for k in range(n) for ratio in after_dropout.RATIOS],  # type: ignore[misc]
        partial(_after_dropout, part),
        ("ratio", "repeat"),
        _WITHIN[part],
        seconds,
    )
    for part, n, seconds in (("errors", 40, 0.6), ("coverage", 200, 0.8))
)


# --- the paper ---------------------------------------------------------------------------------------------

_LARGE = ("employee", "flchain", "support")
#: Seconds of a cell by experiment.
_SECONDS = {
    "copula-scatter": 0.1, "dependence": 1.0, "censoring": 1.0, "misspecification": 1.0, "cg-q": 1.0,
    "horizon": 1.0, "semi-synthetic": 7.0, "semi-synthetic-copula": 2.0, "floor": 10.0, "fit-cost": 3.0,
}  # fmt: skip
_SCORED = ("learner", "adjustment")
_ROWS = {"copula-scatter": ("event_time",), "fit-cost": ()}
_ON_DATA = ("semi-synthetic", "semi-synthetic-copula", "floor", "fit-cost")


def _paper_cells(of: Experiment) -> list[Unit]:
    """Of the floor, two draws, and one of the large data sets."""
    if of.name != "floor":
        return of.cells()
    return [cell for cell in of.cells() if cell["seed"] < (1 if cell["dataset"] in _LARGE else 2)]


def _paper_rows(of: Experiment, unit: Unit) -> Iterable[Row]:
    where = {"experiment": of.name, "protocol": of.config.protocol}
    return [where | unit | row for row in of.run_cell(unit)]


def _experiment(name: str, protocol: str) -> Study:
    of = experiments()[name].configured(protocol=protocol)
    return Study(
        f"{name}-{protocol}",
        partial(_paper_cells, of),
        partial(_paper_rows, of),
        tuple(of.cells()[0]),
        _ROWS.get(name, _SCORED),
        _SECONDS[name],
        measured=("seconds", "peak_mib"),
        needs="COCENSOR_DATA" if name in _ON_DATA else None,
    )


_BOTH = ("dependence", "censoring", "misspecification", "cg-q", "horizon", "semi-synthetic")
_MATCHED_ONLY = ("copula-scatter", "semi-synthetic-copula", "floor", "fit-cost")
PAPER = (
    *(_experiment(name, protocol) for name in _BOTH for protocol in ("matched", "published")),
    *(_experiment(name, "matched") for name in _MATCHED_ONLY),
)


# --- the authors' draws ------------------------------------------------------------------------------------


@cache
def _replay(file: str) -> replay.Replay:
    published = replay.published(Path(os.environ["COCENSOR_PUBLISHED"]), file)
    return replay.Replay(published, replay.HASHES[file], refit=file == "censoring")


def _replays() -> list[Unit]:
    return [{"file": file} | cell for file in replay.HASHES for cell in _replay(file).cells()]


def _replayed(unit: Unit) -> Iterable[Row]:
    cell: dict[str, Any] = {name: value for name, value in unit.items() if name != "file"}
    return replay.rows_of(unit["file"], _replay(unit["file"]), cell)


REPLAY = (
    Study(
        "replay-published",
        _replays,
        _replayed,
        ("file", *replay.KEYS),
        ("adjustment",),
        seconds=0.1,
        needs="COCENSOR_PUBLISHED",
    ),
)

STUDIES = (*COVERAGE, *DISCRIMINATION, *IMPARTIALITY, *AFTER_DROPOUT, verdicts.VERDICTS, *PAPER, *REPLAY)
