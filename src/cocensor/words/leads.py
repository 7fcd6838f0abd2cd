"""How far over the grid of families and τ the data tell models apart, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations

import numpy as np

from cocensor.inference import AxisCurve
from cocensor.sensitivity import Sensitivity
from cocensor.sensitivity.grid_scores import GridScores
from cocensor.words.metrics import doing
from cocensor.words.names import Names, capital, listed
from cocensor.words.pace import Dependence, from_here_on, nearest_to_1, strongest, there, weakest
from cocensor.words.standing import Standing
from cocensor.words.within import (
    End,
    Extent,
    Reach,
    answered_points,
    beyond_in_words,
    covered,
    lost_in_words,
    lost_inside,
    stays_in_words,
    tried_in_words,
)

# As many pairs of models are told of one after the other.
_MOST_PAIRS = 3


def first_point(grid: GridScores) -> float:
    """Where the way outward begins: the point nearest to independence."""
    position = grid.position
    return min(answered_points(grid), key=lambda point: (abs(position(point)), -position(point)))


def reach(
    grid: GridScores, found: Standing, losers: tuple[str, ...], line: str | None = None
) -> Reach | None:
    """How far each of the first models beats some others on all lines, or on one; None where not even at the start."""
    sign = -1 if found.metric.direction == "smaller" else 1
    lines = grid.answers[grid.primary]
    points = [point for name, by_point in lines.items() if line in (None, name) for point in by_point]
    lows, highs = list[End](), list[End]()
    for pair in ((model, loser) for model in found.first for loser in losers):
        lead = grid.lead(*pair, line)
        if lead is None or lead.sign != sign:
            return None
        if lead.lost_above is not None:
            highs.append(_lost(grid, pair, lead.lost_above, "lost_above", line))
        elif lead.high < max(points):
            highs.append(End(lead.high, silent=True))
        if lead.lost_below is not None:
            lows.append(_lost(grid, pair, lead.lost_below, "lost_below", line))
        elif lead.low > min(points):
            lows.append(End(lead.low, silent=True))
    return Reach(_least(lows, max), _least(highs, min))


def _lost(grid: GridScores, pair: tuple[str, str], at: float, side: str, line: str | None) -> End:
    """The end of a lead, with the line on which it is lost first."""
    lost = {}
    for name in grid.answers[grid.primary] if line is None else (line,):
        lead = grid.lead(*pair, name)
        end = None if lead is None else getattr(lead, side)
        if end is not None:
            lost[name] = end
    first = min(lost, key=lambda name: abs(lost[name] - at), default=None)
    return End(at, False, first, len(lost) > 1, weakest(grid, lost.items()), pair)


def _least(ends: list[End], of: Callable[..., End]) -> End | None:
    """The end that comes first, with the ratio that does."""
    if not ends:
        return None
    return of(ends, key=lambda end: end.at)._replace(ratio=nearest_to_1(end.ratio for end in ends))


def told_extent(sensitivity: Sensitivity, found: Standing, tau: float, names: Names) -> Extent:
    """How far over the grid what is told at ``tau`` holds."""
    if answered_points(sensitivity) == [tau]:
        return Extent(f"No {'other ' if tau else ''}dependence was tried.")
    if not found.beaten:
        return _extent_of_tie(sensitivity, found, names) if len(found.first) > 1 else Extent("")
    extent, start = reach(sensitivity, found, found.beaten), first_point(sensitivity)
    if extent is None:
        return Extent(f"Over the grid that is not so under every family, not even at τ = {start:g}.")
    whose = "" if extent.holds(tau) else " under every family"
    return Extent(
        stays_in_words(sensitivity, extent, whose),
        beyond_in_words(sensitivity, extent, lambda end: _then(sensitivity, found, end, names)),
        lost_in_words(sensitivity, extent, names),
        lost_inside(sensitivity, extent),
    )


def _then(sensitivity: Sensitivity, found: Standing, end: End, names: Names) -> Iterator[str]:
    """Beyond the end of a lead: against whom it is lost, from where on who may be better, and from where on is."""
    way = 1 if end.at >= 0 else -1
    yield f"the data cannot tell {names.models(end.models)} apart"
    overtaken = overtaking(sensitivity, found, way=way)
    if len(found.first) > 1:
        if overtaken is not None:
            who = f"{names.model(overtaken[0])} {doing(found.metric).beats} {whom(found)}"
            yield f"{_from_on(sensitivity, overtaken[1])}, {who}"
        return
    turns = {
        loser: point
        for loser in found.beaten
        for point in reversed(sensitivity.tipping_points(found.first[0], loser))
        if point.at * way > 0 and point.interval != (None, None)
    }
    model = overtaken[0] if overtaken else min(turns, key=lambda each: abs(turns[each].at), default=None)
    if model is None:
        return
    clauses = []
    if model in turns:
        at = Dependence(turns[model].at, weakest(sensitivity, [(turns[model].line, turns[model].at)]))
        clauses.append(f"{from_here_on(at, f'{at.tau:z.2g}')}, {names.model(model)} may be better")
    if overtaken is not None:
        who = "it is" if clauses else f"{names.model(model)} {doing(found.metric).beats} {whom(found)}"
        clauses.append(f"{_from_on(sensitivity, overtaken[1])}, {who}")
    yield "; ".join(clauses)


def _from_on(sensitivity: Sensitivity, starts: Mapping[str, float]) -> str:
    """From here on under every family, each of which has its own start."""
    return from_here_on(Dependence(max(starts.values(), key=abs), strongest(sensitivity, starts.items())))


def overtaking(
    grid: GridScores, found: Standing, line: str | None = None, way: int = 1
) -> tuple[str, dict[str, float]] | None:
    """The loser that is first to beat each of the first models on all lines, or on one, and from where on by line.

    ``way`` is 1 for dependences above independence, and -1 for those below. From the end of the grid inward it is a
    fixed sequence of tests, as a lead is outward (:func:`cocensor.inference.lead`).
    """
    sign = 1 if found.metric.direction == "smaller" else -1
    starts: dict[str, dict[str, float]] = {}
    for loser in found.beaten:
        by_model = [grid.along(model, loser) for model in found.first]
        lines = [name for name in by_model[0] if line in (None, name)]
        starts[loser] = {name: max(_tail(by[name], sign, way) for by in by_model) for name in lines}
    last = {loser: max(by_line.values(), default=np.inf) for loser, by_line in starts.items()}
    loser = min(last, key=lambda model: last[model])
    if not np.isfinite(last[loser]):
        return None
    return loser, {name: grid.at_position(way * start) for name, start in starts[loser].items()}


def whom(found: Standing) -> str:
    """The first models, who are beaten."""
    return "it" if len(found.first) == 1 else "both" if len(found.first) == 2 else "each of them"


def _tail(curve: AxisCurve, sign: int, way: int) -> float:
    """How far from 0, one way, all intervals come to lie on one side for good; infinite where they do not."""
    order = np.argsort(way * curve.positions)
    outward = way * curve.positions[order]
    other = np.flatnonzero((curve.sides[order] != sign) | (outward <= 0))
    tail = outward[other[-1] + 1 :] if other.size else outward
    return float(tail[0]) if tail.size else np.inf


def _extent_of_tie(sensitivity: Sensitivity, found: Standing, names: Names) -> Extent:
    """Whether models that tie do so over the plausible range, and beyond."""
    pairs = list(combinations(found.first, 2))
    curves = [curve for a, b in pairs for curve in sensitivity.along(a, b).values()]
    everywhere = Reach(None, None)
    if all(found.equal(a, b) for a, b in pairs):
        same = all((curve.values == 0).all() for curve in curves)
        return Extent(f"That is so at every {tried_in_words(sensitivity)}." if same else "")
    if found.behind or any(np.isnan(curve.standard_errors).any() for curve in curves):
        return Extent("")
    stays = stays_in_words(sensitivity, everywhere)
    if not any(curve.sides.any() for curve in curves):
        return Extent(stays, beyond_in_words(sensitivity, everywhere, lambda _: ()))
    low, high = covered(sensitivity)
    decided = _decided(sensitivity, found, pairs, names)
    said = " ".join(decided[tau] for tau in sorted(decided, key=abs))
    within = [tau for tau in decided if low <= tau <= high]
    if within:
        return Extent("", said, inside=(min(within) < 0, max(within) > 0))
    inside = [curve.sides[(curve.positions >= low) & (curve.positions <= high)] for curve in curves]
    apart = low > high or any(sides.any() for sides in inside)
    return Extent("" if apart else stays, said)


def _decided(
    sensitivity: Sensitivity, found: Standing, pairs: list[tuple[str, str]], names: Names
) -> dict[float, str]:
    """The τ next to 0, on either side, whose intervals tell some models apart, with a sentence on that."""
    smaller, decided = found.metric.direction == "smaller", dict[tuple[float, str, str], list[str]]()
    for a, b in pairs:
        for family, curve in sensitivity.along(a, b).items():
            for tau, side in zip(curve.positions, curve.sides, strict=True):
                if side:
                    winner, loser = (a, b) if (side < 0) == smaller else (b, a)
                    decided.setdefault((float(tau), winner, loser), []).append(family)
    said = {}
    for is_below in (True, False):
        points = [each for each in decided.items() if (each[0][0] < 0) == is_below]
        if points:
            (tau, winner, loser), families = min(points, key=lambda each: (abs(each[0][0]), -len(each[1])))
            at = there(Dependence(tau, weakest(sensitivity, [(family, tau) for family in families])))
            under = f" under {names.families(families)}" if len(families) < len(sensitivity.leaders()) else ""
            beats = f"{names.model(winner)} {doing(found.metric).beats} {names.model(loser)}"
            said[tau] = f"{capital(at)}, {beats}{under}."
    return said


def told_in_range(sensitivity: Sensitivity, found: Standing, names: Names) -> str:
    """Who beats whom all over a plausible range without independence, which a way outward from there may not reach."""
    low, high = covered(sensitivity)
    if low > high or sensitivity.plausible.holds_independence:
        return ""
    won = []
    for pair in combinations(found.compared, 2):
        winner = sensitivity.within_plausible(*pair).winner
        extent = reach(sensitivity, found, found.beaten) if found.beaten else None
        led = (
            extent is not None and extent.holds(low) and extent.holds(high) and found.better(*pair) == winner
        )
        if winner is not None and not led:
            won.append(
                f"{names.model(winner)} {doing(found.metric).beats} {names.model(pair[winner == pair[0]])}"
            )
    if not won:
        return ""
    more = f", and {len(won) - _MOST_PAIRS} more such pairs" if len(won) > _MOST_PAIRS else ""
    return f"Throughout the plausible range, {listed(won[:_MOST_PAIRS])}{more}."
