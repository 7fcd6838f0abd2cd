"""What is measured of a judge: errors of scores and of differences, and how often it picks the better model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import pandas as pd

from benchmarks.impartiality.models import CLASSES
from cocensor._validation import FloatArray

#: Pairs that differ less in truth are not worth an order.
CLEAR = 0.002

Pairs = list[tuple[int, int]]


@dataclass(frozen=True)
class Estimate:
    """A mean over draws, with its standard error."""

    value: float
    error: float

    @staticmethod
    def of(draws: FloatArray) -> Estimate:
        """From one value a draw; NaN where there is none."""
        known = draws[np.isfinite(draws)]
        if not known.size:
            return Estimate(np.nan, np.nan)
        return Estimate(
            float(known.mean()),
            float(known.std(ddof=1) / np.sqrt(known.size)) if known.size > 1 else np.nan,
        )

    @staticmethod
    def ratio(above: FloatArray, below: FloatArray) -> Estimate:
        """The ratio of two means over the same draws; the standard error is the jackknife's."""
        known = np.isfinite(above) & np.isfinite(below)
        a, b = above[known], below[known]
        if not a.size:
            return Estimate(np.nan, np.nan)
        if a.size == 1:
            return Estimate(float(a[0] / b[0]), np.nan)
        without = (a.sum() - a) / (b.sum() - b)
        spread = np.sqrt((a.size - 1) / a.size * np.sum((without - without.mean()) ** 2))
        return Estimate(float(a.sum() / b.sum()), float(spread))


@dataclass(frozen=True)
class Condition:
    """The scores of one truth, n and τ: cells (family and draw) × models, by judge; "oracle" is the truth."""

    seeds: FloatArray
    models: list[str]
    scores: dict[str, FloatArray]

    @staticmethod
    def of(rows: pd.DataFrame) -> Condition:
        """From rows of cells and judges with a column per model."""
        models = [
            name
            for name in rows
            if name.split(",")[0] in CLASSES and bool(rows[name].notna().to_numpy().any())
        ]
        by_cell = {
            judge: mine.set_index(["family", "seed"])[models]
            for judge, mine in rows.groupby("judge", sort=False)
        }
        cells = by_cell["oracle"].index
        return Condition(
            cells.get_level_values("seed").to_numpy(float),
            models,
            {judge: mine.reindex(cells).to_numpy(float) for judge, mine in by_cell.items()},
        )

    @property
    def all_pairs(self) -> Pairs:
        """All pairs of models."""
        return list(combinations(range(len(self.models)), 2))

    @property
    def class_pairs(self) -> Pairs:
        """Pairs of two classes, each as it was fitted."""
        plain = [k for k, name in enumerate(self.models) if name in CLASSES]
        return list(combinations(plain, 2))

    @cached_property
    def judges(self) -> list[str]:
        """The judges, without the oracle."""
        return [name for name in self.scores if name != "oracle"]

    def score_errors(self, judge: str) -> FloatArray:
        """Cells × models."""
        return self.scores[judge] - self.scores["oracle"]

    def difference_errors(self, judge: str, pairs: Pairs) -> FloatArray:
        """Cells × pairs."""
        errors = self.score_errors(judge)
        return np.column_stack([errors[:, i] - errors[:, j] for i, j in pairs])

    def by_draw(self, values: FloatArray) -> FloatArray:
        """Means over families and whatever else is in the columns; one value a draw, NaN without an answer."""
        frame = pd.DataFrame(values).mean(axis=1).groupby(self.seeds).mean()
        return frame.to_numpy(float)

    def score_size(self, judge: str) -> FloatArray:
        """Mean |error| of scores by draw."""
        return self.by_draw(np.abs(self.score_errors(judge)))

    def difference_size(self, judge: str, pairs: Pairs) -> FloatArray:
        """Mean |error| of differences by draw."""
        return self.by_draw(np.abs(self.difference_errors(judge, pairs)))

    def picked(self, judge: str) -> FloatArray:
        """The share of clear pairs of which the better model is picked, by draw."""
        truth, found = self.scores["oracle"], self.scores[judge]
        right = []
        for i, j in self.all_pairs:
            true = truth[:, i] - truth[:, j]
            said = found[:, i] - found[:, j]
            asked = (np.abs(true) > CLEAR) & np.isfinite(said)
            right.append(np.where(asked, np.sign(said) == np.sign(true), np.nan))
        return self.by_draw(np.column_stack(right))


def conditions(rows: pd.DataFrame) -> dict[tuple[str, int, float], Condition]:
    """By truth, n and τ."""
    return {
        (str(truth), int(n), float(tau)): Condition.of(mine)
        for (truth, n, tau), mine in rows.groupby(["truth", "n", "tau"], sort=False)
    }
