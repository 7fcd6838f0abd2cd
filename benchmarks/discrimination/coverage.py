"""Do nominal 95 % intervals of these metrics, and of their differences, cover? Models trained once, known truth."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

import cocensor as cc
from benchmarks.coverage.setting import FORM_GIVEN, LAWS, MODELS, PAIRS, POPULATION_SEED, Setting, setting
from benchmarks.discrimination.asked import metrics
from benchmarks.impartiality.truths import FORMS, Truth, draw
from cocensor._validation import FloatArray

N = 1_000
_CHUNKS, _CHUNK = 10, 100_000
ORACLE, IPCW, IMPUTED = "oracle", "ipcw", "imputed"
BY_CHANCE = "linear, dropout by chance"
#: Events of the linear law, and dropout that depends on nothing, as IPCW (KM) has it.
_DROPOUT_BY_CHANCE = Truth(BY_CHANCE, LAWS["linear"].event, FORMS[0].dropout)


@dataclass(frozen=True)
class Condition:
    """A law of events, with the models that were trained under it; the dropout, and the copula of both."""

    law: str
    family: str
    tau: float
    number: int

    @property
    def copula(self) -> cc.Copula:
        """The true one, which imputation is told."""
        return cc.Independence() if self.tau == 0.0 else cc.copula(self.family, tau=self.tau)

    @property
    def setting(self) -> Setting:
        """Models, and the times that they are scored at."""
        return setting("linear" if self.law == BY_CHANCE else self.law)

    @property
    def truth(self) -> Truth:
        """What subjects are drawn from."""
        return _DROPOUT_BY_CHANCE if self.law == BY_CHANCE else LAWS[self.law]

    def seed(self, repeat: int) -> int:
        """That of one repeat."""
        return 1_000_000 + 10_000 * self.number + repeat


CONDITIONS = [
    Condition(law, family, tau, number)
    for number, (law, family, tau) in enumerate(
        (
            (BY_CHANCE, "independence", 0.0),
            ("linear", "independence", 0.0),
            ("linear", "clayton", 0.5),
            ("linear", "frank", 0.5),
            ("linear", "gumbel", 0.5),
            (FORM_GIVEN, "independence", 0.0),
            (FORM_GIVEN, "clayton", 0.5),
        )
    )
]


# --- the truth -----------------------------------------------------------------------------------------


def population(folder: Path) -> None:
    """The metrics of 1,000,000 subjects with known event times, by law; what is there stays."""
    folder.mkdir(parents=True, exist_ok=True)
    for law in dict.fromkeys(each.law for each in CONDITIONS if each.law != BY_CHANCE):
        path = folder / f"population-{law}.csv"
        known = pd.read_csv(path) if path.exists() else pd.DataFrame({"metric": []})
        missing = {name: by for name, by in metrics(LAWS[law]).items() if name not in set(known["metric"])}
        if not missing:
            continue
        where = setting(law)
        chunks = [_oracle(where, missing, POPULATION_SEED + k) for k in range(_CHUNKS)]
        means = pd.concat(chunks).groupby("metric", sort=False).mean().reset_index()
        pd.concat([known, means.assign(law=law)]).to_csv(path, index=False)
        print(path, flush=True)


def _oracle(where: Setting, asked: dict[str, cc.Metric], seed: int) -> pd.DataFrame:
    sample = where.draw(0.0, _CHUNK, seed)
    result = cc.evaluate(
        where.curves(sample.x),
        sample.y,
        adjustments={"oracle": cc.Oracle(sample.event_time)},
        metrics=list(asked.values()),
        times=where.times,
        confidence_level=None,
    )
    return pd.DataFrame(
        [
            {"metric": name} | {model: result.score(model, by.name).value for model in MODELS}
            for name, by in asked.items()
        ]
    )


# --- repeats -------------------------------------------------------------------------------------------


def repeat(at: Condition, number: int, wanted: dict[str, cc.Metric]) -> list[dict[str, Any]]:
    """Values and differences with standard errors: by known event times, IPCW, and imputation with the true copula."""
    where = at.setting
    sample = draw(at.truth, at.copula, N, at.seed(number))
    curves: dict[str, FloatArray] = where.curves(sample.x)
    result = cc.evaluate(
        curves,
        sample.y,
        where.given(sample.x),
        adjustments={ORACLE: cc.Oracle(sample.event_time), IPCW: IPCW, IMPUTED: IMPUTED},
        metrics=list(wanted.values()),
        times=where.times,
        copula=at.copula,
    )
    rows = []
    for judge in (ORACLE, IPCW, IMPUTED):
        for name, by in wanted.items():
            scores = {model: result.score(model, by.name, judge) for model in MODELS}
            pairs = {f"{a} - {b}": result.compare(a, b, by.name, judge) for a, b in PAIRS}
            rows.append(
                {"law": at.law, "family": at.family, "tau": at.tau, "repeat": number}
                | {"judge": judge, "metric": name}
                | {model: round(each.value, 4) for model, each in scores.items()}
                | {f"se {what}": round(each.standard_error, 5) for what, each in (scores | pairs).items()}
            )
    return rows


def run(folder: Path, repeats: int, part: str, laws: list[str]) -> None:
    """Compute what is missing, all conditions of the first repeat first; metrics that have come since are added."""
    folder.mkdir(parents=True, exist_ok=True)
    for category in (cc.FitWarning, cc.HorizonWarning):
        warnings.simplefilter("ignore", category)
    number, parts = (int(each) for each in part.split("/"))
    path = folder / f"coverage-{number}-{parts}.csv"
    known: set[tuple[str, str, float, int, str]] = set()
    if path.exists():
        found = pd.read_csv(path)[["law", "family", "tau", "repeat", "metric"]].drop_duplicates()
        known = set(found.itertuples(index=False, name=None))
    start, done = time.perf_counter(), 0
    for k in range(number - 1, repeats, parts):
        for at in (each for each in CONDITIONS if each.law in laws):
            wanted = {
                name: by
                for name, by in metrics(LAWS["linear" if at.law == BY_CHANCE else at.law]).items()
                if (at.law, at.family, at.tau, k, name) not in known
            }
            if wanted:
                text = pd.DataFrame(repeat(at, k, wanted)).to_csv(index=False, header=not path.exists())
                with path.open("a", encoding="utf-8") as file:
                    file.write(text)
                done += 1
        print(f"repeat {k + 1} of {repeats}; {time.perf_counter() - start:.0f} s, {done} samples", flush=True)


def rows(folder: Path) -> pd.DataFrame:
    """All that was computed, in the order of conditions and repeats."""
    found = pd.concat([pd.read_csv(path) for path in sorted(folder.glob("coverage-*.csv"))])
    places = {(each.law, each.family): each.number for each in CONDITIONS}
    found["place"] = [places[key] for key in zip(found["law"], found["family"], strict=True)]
    found[list(MODELS)] = found[list(MODELS)].round(4)
    return found.sort_values(["place", "repeat"], kind="stable").drop(columns="place").reset_index(drop=True)


def truths(folder: Path) -> pd.DataFrame:
    """The metrics of the population, by law."""
    return pd.concat([pd.read_csv(path) for path in sorted(folder.glob("population-*.csv"))])
