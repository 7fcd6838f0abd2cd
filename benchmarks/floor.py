"""How far from the floor? Tables for docs/validation/accuracy.md from benchmarks/results/floor-matched.csv.gz.

The rows are those of ``cocensor reproduce floor``, the study ``floor-matched``.

Run: python -m benchmarks.floor
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pandas as pd

from benchmarks.impartiality.measures import Estimate
from benchmarks.reproduction.tables import read
from benchmarks.tables import markdown, section
from cocensor._checks import FloatArray

#: Draws × learners.
Errors = dict[str, dict[str, FloatArray]]


def errors(rows: pd.DataFrame) -> Errors:
    """By data set and adjustment, in units of 0.001; draws in the same order for all."""
    found: Errors = {}
    for (dataset, adjustment), mine in rows.groupby(["dataset", "adjustment"], sort=False):
        wide = mine.set_index(["copula", "tau", "seed", "learner"])["error"].unstack()
        found.setdefault(dataset, {})[adjustment] = wide.to_numpy(float)
    return found


def of_scores(errors: FloatArray) -> FloatArray:
    """Mean |error| by draw."""
    return np.asarray(np.abs(errors).mean(axis=1))


def of_differences(errors: FloatArray) -> FloatArray:
    """Mean |error| of the differences between learners, by draw."""
    pairs = list(combinations(range(errors.shape[1]), 2))
    return np.asarray(np.mean([np.abs(errors[:, i] - errors[:, j]) for i, j in pairs], axis=0))


def table(found: Errors, measure: Callable[[FloatArray], FloatArray]) -> str:
    """Mean |error| with its standard error by data set, and in brackets its ratio to the floor's."""
    adjustments = list(next(iter(found.values())))
    lines = []
    for name in adjustments:
        cells, ratios, means = [], [], []
        for mine in found.values():
            by_draw, floor = measure(mine[name]), measure(mine["floor"])
            answered = np.isfinite(by_draw)
            figure = Estimate.of(by_draw)
            ratio = by_draw[answered].mean() / floor[answered].mean()
            silent = f" [{np.sum(~answered)} without answer]" if not answered.all() else ""
            cells.append(f"{figure.value:.2f} ± {figure.error:.2f} ({ratio:.2f}){silent}")
            ratios.append(ratio)
            means.append((by_draw[answered].mean(), floor[answered].mean()))
        above, below = np.mean(means, axis=0)
        lines.append([name, *cells, f"{np.mean(ratios):.2f}", f"{above / below:.2f}"])
    draws = [f"{name}, {len(mine['floor'])} draws" for name, mine in found.items()]
    return markdown(["adjustment", *draws, "mean ratio", "ratio of means"], lines)


def main() -> None:
    found = errors(read("floor-matched"))
    print(section("Scores", "scores", table(found, of_scores)))
    print("\n" + section("Differences between learners", "differences", table(found, of_differences)))


if __name__ == "__main__":
    main()
