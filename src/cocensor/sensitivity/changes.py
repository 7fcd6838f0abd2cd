"""Where on a grid the best model changes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from cocensor.sensitivity.grid_scores import GridScores


@dataclass(frozen=True)
class Change:
    """Where along τ, or along the hazard ratio after dropout, the best model changes, under one adjustment.

    It happens on one line, a family or whose ratio moves, between two neighbours of the grid, ``below`` and ``above``;
    ``at`` is where the two scores cross if they move along lines in between.
    """

    adjustment: str
    family: str
    below: float
    above: float
    at: float
    before: str
    after: str


@dataclass(frozen=True)
class Stretch:
    """From ``low`` to ``high``, ``model`` is best under one adjustment and family.

    ``equals`` are models that are just as good all along. A family has one stretch after the other, in the order of τ.
    """

    adjustment: str
    family: str
    model: str
    low: float
    high: float
    equals: tuple[str, ...] = ()


def changes(grid: GridScores, metric: str | None, adjustment: str) -> list[Change]:
    """Line by line; a model that merely ties with another stays."""
    found = []
    for line, best in _led(grid, metric, adjustment).items():
        holders = _holders(grid, best)
        for below, above in pairwise(sorted(best)):
            before, after = holders[below], holders[above]
            if before != after:
                at = _crossing(grid, adjustment, line, metric, (below, above), (before, after))
                found.append(Change(adjustment, line, below, above, at, before, after))
    return found


def stretches(grid: GridScores, metric: str | None, adjustment: str) -> list[Stretch]:
    """By line, from which to which point each model is best."""
    all_changes, found = changes(grid, metric, adjustment), []
    for line, best in _led(grid, metric, adjustment).items():
        holders, mine = _holders(grid, best), [change for change in all_changes if change.family == line]
        ends = [min(best), *(change.at for change in mine), max(best)]
        first = [min(best), *(change.above for change in mine)]
        last = [*(change.below for change in mine), max(best)]
        for low, high, start, stop in zip(ends[:-1], ends[1:], first, last, strict=True):
            shared = [set(best[point]) for point in best if start <= point <= stop]
            equals = tuple(
                m for m in best[start] if m != holders[start] and all(m in each for each in shared)
            )
            found.append(Stretch(adjustment, line, holders[start], low, high, equals))
    return found


def _led(grid: GridScores, metric: str | None, adjustment: str) -> dict[str, dict[float, tuple[str, ...]]]:
    """The leaders by line and point; none where no model is a contender."""
    return grid.leaders(metric, adjustment) if grid.evaluation.contenders else {}


def _crossing(
    grid: GridScores,
    adjustment: str,
    line: str,
    metric: str | None,
    between: tuple[float, float],
    models: tuple[str, str],
) -> float:
    """Where the scores of two models cross; in the middle, if one of them has no score at one end."""
    below, above = map(grid.position, between)
    scores = [grid.values(line, point, metric, adjustment) for point in between]
    gaps = [each.get(models[1], np.nan) - each.get(models[0], np.nan) for each in scores]
    share = gaps[0] / (gaps[0] - gaps[1]) if np.isfinite(gaps).all() and gaps[0] != gaps[1] else 0.5
    return grid.at_position(float(below + share * (above - below)))


def _holders(grid: GridScores, best: dict[float, tuple[str, ...]]) -> dict[float, str]:
    """By point the model that is best, which changes no more often than it must; away from independence, both ways."""
    points = sorted(best)
    start = min(range(len(points)), key=lambda k: abs(grid.position(points[k])))
    # Among equals at the start, the one that stays longest.
    lasting = {model: sum(model in best[point] for point in points) for model in best[points[start]]}
    found = {points[start]: max(lasting, key=lambda model: lasting[model])}
    for way in (range(start + 1, len(points)), range(start - 1, -1, -1)):
        held = found[points[start]]
        for k in way:
            held = held if held in best[points[k]] else best[points[k]][0]
            found[points[k]] = held
    return found
