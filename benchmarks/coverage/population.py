"""What estimates are held against: the models' true scores, and what each judge would say of a huge sample."""

from __future__ import annotations

from operator import methodcaller
from typing import Any

import pandas as pd

import cocensor as cc
from benchmarks.coverage.setting import (
    FORM_GIVEN,
    GRID,
    MODELS,
    POPULATION_SEED,
    Setting,
    clayton,
    setting,
)
from benchmarks.impartiality.truths import Sample
from cocensor._checks import FloatArray
from cocensor.study.scores import refit, score_refit

N_TRUTH, N_LIMIT, _CHUNK = 1_000_000, 200_000, 50_000


def rows(law: str, tau: float | None) -> list[dict[str, Any]]:
    """Scores by model: the truth of a law, or the limits of the judges under a true τ."""
    if tau is None:
        # What the models score has nothing to do with the dropout.
        return [{"law": law, "tau": None, "judge": "truth", "assumed": None, **_truth(setting(law))}]
    assumed = GRID if tau and law != FORM_GIVEN else (tau,)
    return [{"law": law, "tau": tau} | row for row in _limits(setting(law), tau, assumed)]


def _truth(where: Setting) -> dict[str, float]:
    chunks = [where.draw(0.0, _CHUNK, POPULATION_SEED + k) for k in range(N_TRUTH // _CHUNK)]
    return pd.DataFrame([_oracle(where, where.curves(each.x), each) for each in chunks]).mean().to_dict()


def _oracle(where: Setting, curves: dict[str, FloatArray], sample: Sample) -> dict[str, float]:
    adjustments = {"oracle": cc.Oracle(sample.event_time)}
    result = cc.evaluate(
        curves, sample.y, adjustments=adjustments, times=where.times, confidence_level=None, metrics="ibs"
    )
    return {name: result.score(name).value for name in MODELS}


def _limits(where: Setting, tau: float, assumed: tuple[float, ...]) -> list[dict[str, Any]]:
    """Beside them the oracle's scores of the same subjects, which err as the judges' do."""
    sample = where.draw(tau, N_LIMIT, POPULATION_SEED + 1_000)
    curves = where.curves(sample.x)
    result = cc.evaluate(
        curves,
        sample.y,
        where.given(sample.x),
        adjustments={"ipcw": "ipcw", "imputed": "imputation"},
        times=where.times,
        confidence_level=None,
        metrics="ibs",
    )
    rows: list[dict[str, Any]] = [
        {"judge": "oracle", "assumed": None} | _oracle(where, curves, sample),
        {"judge": "ipcw", "assumed": None}
        | {name: result.score(name, adjustment="ipcw").value for name in MODELS},
    ]
    for each in assumed:
        other = refit(result.results["imputation"], methodcaller("with_copula", clayton(each)))
        found = score_refit(result.data, other)
        scores = {name: found.value("ibs", name) for name in MODELS}
        rows.append({"judge": "imputed", "assumed": each} | scores)
    return rows
