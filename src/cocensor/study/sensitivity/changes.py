"""Where on a grid the best model changes, and where what is said of two models stops to hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from cocensor.study.sensitivity.benchmark_result import PlausibleTau
from cocensor.study.sensitivity.grid import Grid
from cocensor.study.standing import rankable


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
    """From ``low`` to ``high``, ``model`` has the best score under one adjustment and family.

    ``equals`` are models that are just as good all along. A family has one stretch after the other, in the order of τ.
    """

    adjustment: str
    family: str
    model: str
    low: float
    high: float
    equals: tuple[str, ...] = ()


def changes(grid: Grid, metric: str | None, adjustment: str) -> list[Change]:
    """Line by line; a model that merely ties with another stays."""
    listed = []
    for line, best in _led(grid, metric, adjustment).items():
        holders = _holders(grid, best)
        for below, above in pairwise(sorted(best)):
            before, after = holders[below], holders[above]
            if before != after:
                at = _crossing(grid, adjustment, line, metric, (below, above), (before, after))
                listed.append(Change(adjustment, line, below, above, at, before, after))
    return listed


def stretches(grid: Grid, metric: str | None = None, adjustment: str | None = None) -> list[Stretch]:
    """By line, from which to which point each model has the best score."""
    name = grid.adjustment(adjustment)
    all_changes, listed = changes(grid, metric, name), []
    for line, best in _led(grid, metric, name).items():
        holders, mine = _holders(grid, best), [change for change in all_changes if change.family == line]
        ends = [min(best), *(change.at for change in mine), max(best)]
        first = [min(best), *(change.above for change in mine)]
        last = [*(change.below for change in mine), max(best)]
        for low, high, start, stop in zip(ends[:-1], ends[1:], first, last, strict=True):
            shared = [set(best[point]) for point in best if start <= point <= stop]
            equals = tuple(
                m for m in best[start] if m != holders[start] and all(m in each for each in shared)
            )
            listed.append(Stretch(name, line, holders[start], low, high, equals))
    return listed


def _led(grid: Grid, metric: str | None, adjustment: str) -> dict[str, dict[float, tuple[str, ...]]]:
    """The leaders by line and point; none where no model may be ranked."""
    return grid.leaders(metric, adjustment) if rankable(grid.evaluation) else {}


def _crossing(
    grid: Grid,
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


def _holders(grid: Grid, best: dict[float, tuple[str, ...]]) -> dict[float, str]:
    """By point the model that is best, which changes no more often than it must; away from independence, both ways."""
    points = sorted(best)
    start = min(range(len(points)), key=lambda k: abs(grid.position(points[k])))
    # Among equals at the start, the one that stays longest.
    lasting = {model: sum(model in best[point] for point in points) for model in best[points[start]]}
    holders = {points[start]: max(lasting, key=lambda model: lasting[model])}
    for way in (range(start + 1, len(points)), range(start - 1, -1, -1)):
        held = holders[points[start]]
        for k in way:
            held = held if held in best[points[k]] else best[points[k]][0]
            holders[points[k]] = held
    return holders


# --- tipping points of two models -------------------------------------------------------------------------

Kind = Literal["estimate", "interval"]


@dataclass(frozen=True)
class Tip:
    """Where what is said of two models stops to hold, outward from independence along one line.

    Attributes
    ----------
    kind : {"estimate", "interval"}
        The scores change order; or the interval of their difference, which excludes 0 from independence up to there,
        holds it from there on.
    family : str
        Of copulas, or "hazard_ratio".
    reason : str or None
        The reason or group whose hazard ratio moves alone.
    tau : float
        Kendall's τ; NaN for hazard ratios.
    hazard_ratio : float
        After dropout; under a copula that of :meth:`Sensitivity.hazard_ratio`, NaN where that is not known.
    multiple : float
        By how much the log hazard ratios of the strongest measured covariate must be multiplied to induce this τ
        (:meth:`PlausibleTau.multiple_for`); NaN for hazard ratios and without covariates, infinite where none does.
    winner_beyond : str or None
        The model with the better score further out; None of an interval, where none is distinguishable.
    """

    kind: Kind
    family: str
    reason: str | None
    tau: float
    hazard_ratio: float
    multiple: float
    winner_beyond: str | None


def multiple(benchmarks: PlausibleTau | None, tau: float) -> float:
    """How many times as strong as the strongest measured covariate a factor must be to induce τ; NaN if none tells."""
    return float("nan") if np.isnan(tau) or benchmarks is None else benchmarks.multiple_for(tau)


def tips(
    grids: list[Grid], benchmarks: PlausibleTau | None, a: str, b: str, metric: str | None, adjustment: str
) -> tuple[Tip, ...]:
    """Grid by grid, each nearest to independence first. None where one of the models may not be ranked."""
    if not {a, b} <= set(rankable(grids[0].evaluation)):
        return ()
    return tuple(
        Tip(kind, *place, multiple(benchmarks, place[2]), winner)
        for grid in grids
        if adjustment in grid.answers
        for kind, line, at, winner in sorted(
            _places(grid, a, b, metric, adjustment), key=lambda found: abs(grid.position(found[2]))
        )
        for place in (grid.place(adjustment, line, at),)
    )


def _places(
    grid: Grid, a: str, b: str, metric: str | None, adjustment: str
) -> Iterator[tuple[Kind, str, float, str | None]]:
    """By kind and line, where; and the model with the better score beyond."""
    pair = grid.pair(a, b, metric, adjustment)
    for point in pair.tipping_points():
        outward = point.sign_above if grid.position(point.at) >= 0 else -point.sign_above
        yield "estimate", point.line, point.at, pair.better(outward)
    for line in grid.answers[adjustment]:
        led = pair.lead(line)
        if led is not None:
            for lost, side in ((led.lost_below, -1.0), (led.lost_above, 1.0)):
                # Without independence in the grid, a lead may be lost on the way to it, which is no way outward.
                if lost is not None and side * grid.position(lost) >= 0:
                    yield "interval", line, lost, None
