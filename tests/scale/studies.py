"""Small studies, held whole and in chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

import cocensor as cc


@dataclass(frozen=True, eq=False)
class Study:
    """Predictions by model as evaluate takes them, outcomes and covariates of the same subjects."""

    models: dict[str, Any]
    y: cc.Survival
    x: Any = None

    def evaluate(self, **asked: Any) -> cc.Evaluation:
        """All subjects at once."""
        return cc.evaluate(self.models, self.y, self.x, **asked)

    def part(self, rows: Any) -> tuple[Any, ...]:
        """Some of the subjects, as a chunk."""
        models = {name: _taken(each, rows) for name, each in self.models.items()}
        return (models, self.y[rows]) if self.x is None else (models, self.y[rows], self.x.iloc[rows])

    def scan(self, cuts: int | Sequence[int] = 5) -> cc.scale.Scan:
        """In so many chunks, or in chunks that begin there."""
        n = len(self.y)
        inner = (
            np.linspace(0, n, cuts + 1).astype(int)[1:-1].tolist() if isinstance(cuts, int) else list(cuts)
        )
        edges = [0, *inner, n]
        return cc.scale.scan_chunks([self.part(slice(*pair)) for pair in pairwise(edges)])


def _taken(model: Any, rows: Any) -> Any:
    return (model[0], model[1][rows]) if isinstance(model, tuple) else model[rows]


def study(
    n: int = 600, seed: int = 0, *, ties: bool = False, administrative: bool = True, p: int = 2
) -> Study:
    """Two models, of which one leaves out a covariate that acts on events and dropouts, and one is crude."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p))
    event = rng.exponential(np.exp(-0.7 * x[:, 0] - 0.4 * x[:, -1]))
    dropout = rng.exponential(1.5 * np.exp(-0.4 * x[:, 0]))
    end = rng.uniform(1.0, 2.5, size=n) if administrative else None
    if ties:
        event, dropout = np.ceil(8 * event) / 8, np.ceil(8 * dropout) / 8
        end = None if end is None else np.ceil(8 * end) / 8
    y = cc.Survival.from_latent(event, dropout, end)
    times = np.linspace(0.1, 1.2, 12)

    def curves(score: Any) -> Any:
        return np.exp(-times * np.exp(score)[:, None])

    models = {
        "full": (times, curves(0.7 * x[:, 0] + 0.4 * x[:, -1])),
        "part": (times, curves(0.5 * x[:, 0] + 0.2)),
    }
    return Study(models, y, pd.DataFrame(x, columns=[f"covariate {k}" for k in range(p)]))
