"""Do nominal 95 % intervals of these metrics, and of their differences, cover? Models trained once, known truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

import cocensor as cc
from benchmarks.coverage.setting import FORM_GIVEN, LAWS, MODELS, PAIRS, POPULATION_SEED, Setting, setting
from benchmarks.discrimination.asked import metrics
from benchmarks.impartiality.truths import FORMS, Truth, draw
from cocensor._checks import FloatArray

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
    def copula(self) -> cc.copulas.Copula:
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


LAWS_OF_MODELS = tuple(dict.fromkeys(each.law for each in CONDITIONS if each.law != BY_CHANCE))


def population_rows(law: str) -> list[dict[str, Any]]:
    """The metrics of 1,000,000 subjects with known event times."""
    asked = metrics(LAWS[law])
    chunks = [_oracle(setting(law), asked, POPULATION_SEED + k) for k in range(_CHUNKS)]
    means = pd.concat(chunks).groupby("metric", sort=False).mean().reset_index()
    return means.assign(law=law).to_dict("records")


def _oracle(where: Setting, asked: dict[str, cc.metrics.Metric], seed: int) -> pd.DataFrame:
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


def repeat(at: Condition, number: int, wanted: dict[str, cc.metrics.Metric]) -> list[dict[str, Any]]:
    """Values and differences with standard errors: by known event times, IPCW, and imputation with the true copula."""
    where = at.setting
    sample = draw(at.truth, at.copula, N, at.seed(number))
    curves: dict[str, FloatArray] = where.curves(sample.x)
    result = cc.evaluate(
        curves,
        sample.y,
        where.given(sample.x),
        adjustments={ORACLE: cc.Oracle(sample.event_time), IPCW: "ipcw", IMPUTED: "imputation"},
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
