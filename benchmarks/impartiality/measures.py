"""What is measured of a judge: errors of scores and of differences, and how often it picks the better model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from benchmarks.impartiality.models import CLASSES
from cocensor._checks import BoolArray, FloatArray

#: Pairs that differ less in truth are not worth an order.
CLEAR = 0.002

Pairs = list[tuple[int, int]]


@dataclass(frozen=True)
class Estimate:
    """A figure from draws, with its standard error; NaN where there is none."""

    value: float
    error: float

    @staticmethod
    def of(draws: FloatArray, statistic: Callable[[FloatArray], float] = np.mean) -> Estimate:
        """A statistic of draws, by default of one value each their mean; the standard error is the jackknife's."""
        known = draws[np.isfinite(draws.reshape(len(draws), -1)).all(axis=1)]
        n = len(known)
        if not n:
            return Estimate(np.nan, np.nan)
        value = float(statistic(known))
        if n == 1:
            return Estimate(value, np.nan)
        without = np.array([statistic(np.delete(known, k, axis=0)) for k in range(n)])
        return Estimate(value, float(np.sqrt((n - 1) / n * np.sum((without - without.mean()) ** 2))))


def ratio_of_means(both: FloatArray) -> float:
    above, below = both.mean(axis=0)
    return float(above / below)


def _mean_bias(errors: FloatArray) -> float:
    return float(np.abs(errors.mean(axis=0)).mean())


@dataclass(frozen=True)
class Condition:
    """The scores of one n and τ: cells (truth, family and draw) × models, by judge; "oracle" is the truth."""

    truths: list[str]
    seeds: FloatArray
    models: list[str]
    scores: dict[str, FloatArray]
    #: By judge, in which cells it was asked; elsewhere its scores are NaN.
    asked: dict[str, BoolArray]

    @staticmethod
    def of(rows: pd.DataFrame) -> Condition:
        """From rows of cells and judges with a column per model."""
        models = [name for name in rows if name.split(",")[0] in CLASSES and bool(rows[name].notna().any())]
        by_judge = {
            judge: mine.set_index(["truth", "family", "seed"])[models]
            for judge, mine in rows.groupby("judge", sort=False)
        }
        cells = by_judge["oracle"].index
        return Condition(
            list(cells.get_level_values("truth")),
            cells.get_level_values("seed").to_numpy(float),
            models,
            {judge: mine.reindex(cells).to_numpy(float) for judge, mine in by_judge.items()},
            {judge: cells.isin(mine.index) for judge, mine in by_judge.items()},
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

    # --- by cell ---------------------------------------------------------------------------------------

    def score_errors(self, judge: str) -> FloatArray:
        """Cells × models."""
        return self.scores[judge] - self.scores["oracle"]

    def difference_errors(self, judge: str, pairs: Pairs) -> FloatArray:
        """Cells × pairs."""
        return _differences(self.score_errors(judge), pairs)

    def right(self, judge: str) -> FloatArray:
        """Cells × pairs: whether the better model of a clear pair is picked; NaN for other pairs."""
        true, said = (_differences(self.scores[name], self.all_pairs) for name in ("oracle", judge))
        asked = (np.abs(true) > CLEAR) & np.isfinite(said)
        return np.where(asked, np.sign(said) == np.sign(true), np.nan)

    # --- over draws ------------------------------------------------------------------------------------

    def mean(self, values: FloatArray) -> Estimate:
        """Of cells × anything."""
        return Estimate.of(self._by_draw(values))

    def mean_bias(self, errors: FloatArray) -> Estimate:
        """The mean of |bias| over truths and the columns of cells × anything."""
        means = pd.DataFrame(errors).groupby([self.seeds, self.truths]).mean().unstack()
        return Estimate.of(means.to_numpy(float), _mean_bias)

    def ratio(self, above: FloatArray, below: FloatArray) -> Estimate:
        """The ratio of two means, over what both have."""
        return Estimate.of(np.column_stack(self._alike(above, below)), ratio_of_means)

    def gain(self, more: FloatArray, less: FloatArray) -> Estimate:
        """The difference of two means, over what both have."""
        first, second = self._alike(more, less)
        return Estimate.of(first - second)

    def _alike(self, a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        known = np.isfinite(a) & np.isfinite(b)
        return self._by_draw(np.where(known, a, np.nan)), self._by_draw(np.where(known, b, np.nan))

    def _by_draw(self, values: FloatArray) -> FloatArray:
        """Means over families and columns; NaN for a draw without an answer."""
        return pd.DataFrame(values).mean(axis=1).groupby(self.seeds).mean().to_numpy(float)


def _differences(values: FloatArray, pairs: Pairs) -> FloatArray:
    first, second = np.array(pairs).T
    return values[:, first] - values[:, second]


def conditions(rows: pd.DataFrame) -> dict[tuple[str, int, float], Condition]:
    """By truth, n and τ."""
    return {
        (str(truth), int(n), float(tau)): Condition.of(mine)
        for (truth, n, tau), mine in rows.groupby(["truth", "n", "tau"], sort=False)
    }


def over_truths(rows: pd.DataFrame) -> dict[tuple[int, float], Condition]:
    """By n and τ."""
    return {
        (int(n), float(tau)): Condition.of(mine) for (n, tau), mine in rows.groupby(["n", "tau"], sort=False)
    }
