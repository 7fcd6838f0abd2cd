"""What estimates are held against: the models' true scores, and what each judge would say of a huge sample."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import cocensor as cc
from benchmarks.coverage.setting import (
    GRID,
    LAWS,
    MODELS,
    POPULATION_SEED,
    TRUE_TAUS,
    Setting,
    clayton,
    setting,
)

N_TRUTH, N_LIMIT, _CHUNK = 1_000_000, 200_000, 50_000
#: How many samples of ``N_LIMIT`` a limit is the mean of.
DRAWS = 2


def population() -> Iterator[dict[str, Any]]:
    """Rows of scores by model: the truth of each law, and the limit of each judge under each dependence."""
    warnings.simplefilter("ignore", cc.HorizonWarning)
    for law in LAWS:
        where = setting(law)
        # What the models score has nothing to do with the dropout.
        yield {"law": law, "judge": "truth", "tau": np.nan, "assumed": np.nan, "draw": 0, **_truth(where)}
    for drawn in range(DRAWS):
        for law in LAWS:
            for tau in TRUE_TAUS:
                for row in _limits(setting(law), tau, POPULATION_SEED + 1_000 + drawn):
                    yield {"law": law, "judge": "", "tau": tau, "assumed": np.nan, "draw": drawn} | row


def _truth(where: Setting) -> dict[str, float]:
    sums = dict.fromkeys(MODELS, 0.0)
    for k in range(N_TRUTH // _CHUNK):
        sample = where.draw(0.0, _CHUNK, POPULATION_SEED + k)
        result = cc.evaluate(
            where.curves(sample.x),
            sample.y,
            adjustments={"oracle": cc.Oracle(sample.event_time)},
            times=where.times,
            confidence_level=None,
        )
        for name in MODELS:
            sums[name] += result.score(name).value
    return {name: total * _CHUNK / N_TRUTH for name, total in sums.items()}


def _limits(where: Setting, tau: float, seed: int) -> Iterator[dict[str, Any]]:
    sample = where.draw(tau, N_LIMIT, seed)
    curves = where.curves(sample.x)

    def scores(adjustment: Any) -> tuple[cc.Evaluation, dict[str, float]]:
        result = cc.evaluate(
            curves,
            sample.y,
            where.given(sample.x),
            adjustments={"judge": adjustment},
            times=where.times,
            confidence_level=None,
        )
        return result, {name: result.score(name).value for name in MODELS}

    yield {"judge": "ipcw", **scores("ipcw")[1]}
    result, _ = scores("imputed")
    for assumed in GRID:
        assert result.judge is not None
        yield {
            "judge": "imputed",
            "assumed": assumed,
            **scores(result.judge.with_copula(clayton(assumed)))[1],
        }
