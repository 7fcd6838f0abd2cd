"""What estimates are held against: the models' true scores, and what each judge would say of a huge sample."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pandas as pd

import cocensor as cc
from benchmarks.coverage.setting import (
    FORM_GIVEN,
    GRID,
    LAWS,
    MODELS,
    POPULATION_SEED,
    TRUE_TAUS,
    Setting,
    clayton,
    setting,
)
from benchmarks.impartiality.truths import Sample
from cocensor._validation import FloatArray
from cocensor.evaluation.scores import scores_at_copula

N_TRUTH, N_LIMIT, _CHUNK = 1_000_000, 200_000, 50_000


def compute(folder: Path) -> None:
    """Scores by model: the truth of each law, and the limits of the judges; what is there stays."""
    folder.mkdir(parents=True, exist_ok=True)
    for category in (cc.FitWarning, cc.HorizonWarning):
        warnings.simplefilter("ignore", category)
    for law in LAWS:
        path = folder / f"population-{law}-truth.csv"
        if not path.exists():
            # What the models score has nothing to do with the dropout.
            pd.DataFrame([{"law": law, "judge": "truth", **_truth(setting(law))}]).to_csv(path, index=False)
    for law in LAWS:
        for tau in TRUE_TAUS:
            path = folder / f"population-{law}-{tau:g}.csv"
            if not path.exists():
                rows = _limits(setting(law), tau, GRID if tau and law != FORM_GIVEN else (tau,))
                pd.DataFrame([{"law": law, "tau": tau} | row for row in rows]).to_csv(path, index=False)
                print(path, flush=True)


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
        adjustments=["ipcw", "imputed"],
        times=where.times,
        confidence_level=None,
        metrics="ibs",
    )
    rows: list[dict[str, Any]] = [
        {"judge": "oracle"} | _oracle(where, curves, sample),
        {"judge": "ipcw"} | {name: result.score(name, adjustment="ipcw").value for name in MODELS},
    ]
    for each in assumed:
        found = scores_at_copula(result.data, result.results["imputed"], clayton(each))
        scores = {name: found.value("ibs", name) for name in MODELS}
        rows.append({"judge": "imputed", "assumed": each} | scores)
    return rows
