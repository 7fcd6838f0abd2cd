"""How far over the grid of families and τ the data tell models apart, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations, groupby

import numpy as np

from cocensor._validation import FloatArray
from cocensor.inference import TippingPoint
from cocensor.sensitivity import Sensitivity
from cocensor.sensitivity.grid_scores import GridScores
from cocensor.words.digits import level_in_words, turn_in_words
from cocensor.words.names import BARE, Names, counted, listed
from cocensor.words.standing import Standing
from cocensor.words.within import (
    End,
    Extent,
    Reach,
    answered_points,
    beyond_plausible,
    covered,
    ends_in_words,
    range_in_words,
    scales_in_words,
    tried_in_words,
    within_plausible,
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
    return Reach(
        max(lows, key=lambda end: end.at, default=None), min(highs, key=lambda end: end.at, default=None)
    )


def _lost(grid: GridScores, pair: tuple[str, str], at: float, side: str, line: str | None) -> End:
    """The end of a lead, with the line on which it is lost first."""
    lost = {}
    for name in grid.answers[grid.primary] if line is None else (line,):
        lead = grid.lead(*pair, name)
        end = None if lead is None else getattr(lead, side)
        if end is not None:
            lost[name] = abs(end - at)
    first = min(lost, key=lambda name: lost[name], default=None)
    return End(at, line=first, others=len(lost) > 1)


def reach_in_words(sensitivity: Sensitivity, found: Reach) -> str:
    """As long as τ is where."""
    if found.low is None and found.high is None:
        return f"at every {tried_in_words(sensitivity)}"
    taus = answered_points(sensitivity)
    # Where the grid does not reach 0, nothing is known between.
    ends = [f"at least {taus[0]:g}"] if taus[0] > 0 else [f"at most {taus[-1]:g}"] if taus[-1] < 0 else []
    return f"as long as τ is {' and '.join([*ends, *ends_in_words(found)])}"


def told_extent(sensitivity: Sensitivity, found: Standing, tau: float, names: Names) -> Extent:
    """How far over the grid what is told at ``tau`` holds."""
    if answered_points(sensitivity) == [tau]:
        return Extent(f"; no {'other ' if tau else ''}dependence was tried")
    if not found.beaten:
        return _extent_of_tie(sensitivity, found) if len(found.first) > 1 else Extent("")
    extent, start = reach(sensitivity, found, found.beaten), first_point(sensitivity)
    if extent is None:
        return Extent(f", but not under every family at τ = {start:g}")
    whose = "" if extent.holds(tau) else " under every family"
    overtaken = _overtaken(sensitivity, found, names)
    return Extent(
        within_plausible(sensitivity, extent, whose),
        beyond_plausible(sensitivity, extent, names, overtaken),
    )


def _overtaken(sensitivity: Sensitivity, found: Standing, names: Names) -> str:
    """Which loser beats each of the first models soonest, from some τ on under every family."""
    soonest = overtaking(sensitivity, found)
    if soonest is None:
        return ""
    loser, tau = soonest
    where = f"at τ = {tau:g}" if tau == answered_points(sensitivity)[-1] else f"from τ = {tau:g} on"
    return f"; {where}, {names.model(loser)} beats {whom(found)}{_under_all(sensitivity)}"


def overtaking(grid: GridScores, found: Standing, line: str | None = None) -> tuple[str, float] | None:
    """The loser that beats each of the first models soonest, and from where on, under all lines or one."""
    sign = 1 if found.metric.direction == "smaller" else -1
    starts: dict[str, float] = {}
    for loser in found.beaten:
        sides = [_band_sides(grid, (model, loser), (sign,)) for model in found.first]
        starts[loser] = max(
            _tail({name: each for name, each in by.items() if line in (None, name)}, sign) for by in sides
        )
    loser = min(starts, key=lambda model: starts[model])
    return (loser, grid.at_position(starts[loser])) if np.isfinite(starts[loser]) else None


def whom(found: Standing) -> str:
    """The first models, who are beaten."""
    return "it" if len(found.first) == 1 else "both" if len(found.first) == 2 else "each of them"


def _under_all(sensitivity: Sensitivity) -> str:
    return " under every family" if len(sensitivity.leaders()) > 1 else ""


def _tail(sides: Mapping[str, tuple[FloatArray, FloatArray]], sign: int) -> float:
    """The position above 0 from which on the bands of all lines lie on one side; infinite where there is none."""
    starts = [np.inf] if not sides else []
    for taus, side in sides.values():
        other = np.flatnonzero((side != sign) | (taus <= 0))
        tail = taus[other[-1] + 1 :] if other.size else taus
        starts.append(float(tail[0]) if tail.size else np.inf)
    return max(starts)


def _extent_of_tie(sensitivity: Sensitivity, found: Standing) -> Extent:
    """Whether models that tie do so over the plausible range, and beyond."""
    pairs = list(combinations(found.first, 2))
    curves = [curve for a, b in pairs for curve in sensitivity.along(a, b).values()]
    everywhere = Reach(None, None)
    if all(found.equal(a, b) for a, b in pairs):
        same = all((curve.values == 0).all() for curve in curves)
        return Extent(f", which holds at every {tried_in_words(sensitivity)}" if same else "")
    if found.behind or any(np.isnan(curve.standard_errors).any() for curve in curves):
        return Extent("")
    (low, high), they = covered(sensitivity), "they" if len(found.first) == 2 else "some"
    if not any(curve.sides.any() for curve in curves):
        return Extent(
            within_plausible(sensitivity, everywhere), beyond_plausible(sensitivity, everywhere, BARE)
        )
    bands = [side for pair in pairs for side in _band_sides(sensitivity, pair, (-1, 1)).values()]
    told = [tau for taus, sides in bands for tau in taus[sides != 0]]
    if any(low <= tau <= high for tau in told):
        return Extent(f"; within the plausible range of τ, {range_in_words(low, high)}, {they} can")
    beyond = f"Beyond it, {they} can be told apart." if told else ""
    inside = [curve.sides[(curve.positions >= low) & (curve.positions <= high)] for curve in curves]
    if low > high or any(sides.any() for sides in inside):
        return Extent("", beyond.replace("Beyond it", "Under other dependences"))
    return Extent(within_plausible(sensitivity, everywhere), beyond)


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
            won.append(f"{names.model(winner)} beats {names.model(pair[winner == pair[0]])}")
    if not won:
        return ""
    more = f", and {len(won) - _MOST_PAIRS} more such pairs" if len(won) > _MOST_PAIRS else ""
    return f" Throughout the plausible range of τ, {range_in_words(low, high)}, {listed(won[:_MOST_PAIRS])}{more}."


def told_over_grid(sensitivity: Sensitivity, found: Standing, names: Names) -> Iterator[str]:
    """Who is told from whom how far, where the order of the scores turns, and what is told elsewhere."""
    yield from _reaches(sensitivity, found, names)
    yield from _turns(sensitivity, found, names)
    yield from _elsewhere(sensitivity, found, names)


def _reaches(sensitivity: Sensitivity, found: Standing, names: Names) -> Iterator[str]:
    """Which of the losers are beaten further than all of them are."""
    whole = reach(sensitivity, found, found.beaten)
    by_text: dict[str, list[str]] = {}
    for loser in found.beaten:
        extent = reach(sensitivity, found, (loser,))
        if extent is not None:
            by_text.setdefault(reach_in_words(sensitivity, extent), []).append(loser)
    beat = "beats" if len(found.first) == 1 else "beat"
    for text, losers in by_text.items():
        if whole is None or text != reach_in_words(sensitivity, whole):
            yield f"{names.models(found.first)} {beat} {names.models(losers)} {text}."


def _turns(sensitivity: Sensitivity, found: Standing, names: Names) -> Iterator[str]:
    """Where the best score and those of others change order, nearest to τ = 0 first."""
    first = found.compared[0]
    turns: list[tuple[float, str, list[TippingPoint]]] = []
    for other in found.compared:
        points = [] if other == first else sensitivity.tipping_points(first, other)
        for below in (False, True):
            side = [point for point in points if (point.at < 0) == below]
            if side and side[0].interval != (None, None):  # which tells nothing of where
                turns.append((abs(side[0].at), other, side))
    turns.sort(key=lambda turn: turn[0])
    for _, other, points in turns[:_MOST_PAIRS]:
        at, interval = turn_in_words(points[0], sensitivity.confidence_level)
        family, turning = points[0].line, {point.line for point in points}
        under = f"under {names.family(family)}"
        if len(turning) > 1:
            under = f"first {under}"
        elif len(sensitivity.leaders()) > 1:
            under += " alone"
        scales = scales_in_words(sensitivity, family, points[0].at, names, again=True)
        yield (
            f"The scores of {names.model(first)} and {names.model(other)} change order at about τ = {at} "
            f"({interval}), {under}{f': {scales}' if scales else ''}."
        )
    if len(turns) > _MOST_PAIRS:
        yield f"Those of {names.model(first)} and others do so {len(turns) - _MOST_PAIRS} more times, further out."


def _elsewhere(sensitivity: Sensitivity, found: Standing, names: Names) -> Iterator[str]:
    """What the bands tell that neither the start nor its limit does: victories of losers, and pairs of a tie."""
    smaller, n_families = found.metric.direction == "smaller", len(sensitivity.leaders())
    limited = bool(found.beaten) and reach(sensitivity, found, found.beaten) is not None
    said = _overtaken(sensitivity, found, names) if limited else ""
    lines = []
    for pair in combinations(found.compared, 2):
        if not set(pair) & set(found.first):
            continue
        winners = {-1 if smaller else 1: pair, 1 if smaller else -1: pair[::-1]}
        before = found.better(*pair)
        signs = tuple(sign for sign, (winner, _) in winners.items() if winner != before)
        for sign, where in _decided(sensitivity, pair, signs).items():
            winner, loser = map(names.model, winners[sign])
            runs = {run for by_family in where.values() for run in by_family}
            same = {f"; {run}, {winner} beats it{_under_all(sensitivity)}" for run in runs}
            if not (len(where) == n_families and len(runs) == 1 and said in same):
                lines.append(f"{winner} beats {loser} {_places(where, names, n_families)}")
    for line in lines[:_MOST_PAIRS]:
        yield f"{line} (simultaneous {level_in_words(sensitivity.confidence_level)} bands)."
    if len(lines) > _MOST_PAIRS:
        yield f"{len(lines) - _MOST_PAIRS} more such statements can be made of other pairs of models."


def _decided(
    sensitivity: Sensitivity, pair: tuple[str, str], signs: tuple[int, ...]
) -> dict[int, dict[str, list[str]]]:
    """By sign of the difference of two models and by family, where the simultaneous band excludes 0."""
    found: dict[int, dict[str, list[str]]] = {}
    for family, (taus, sides) in _band_sides(sensitivity, pair, signs).items():
        for sign in signs:
            runs = list(_runs(taus, sides == sign))
            if runs:
                found.setdefault(sign, {})[family] = runs
    return found


def _band_sides(
    grid: GridScores, pair: tuple[str, str], signs: tuple[int, ...]
) -> dict[str, tuple[FloatArray, FloatArray]]:
    """By line each position, and on which side of 0 the band of a difference lies there; empty where on none."""
    curves = grid.along(*pair)
    if not any(np.isin(curve.sides, signs).any() for curve in curves.values()):
        return {}  # a band is wider than the intervals
    bands = grid.bands(*pair)
    return {
        line: (curve.positions, 1.0 * (bands[line].low > 0) - 1.0 * (bands[line].high < 0))
        for line, curve in curves.items()
    }


def _runs(taus: FloatArray, marked: FloatArray) -> Iterator[str]:
    """Where along τ points are marked, one stretch after the other."""
    for mark, points in groupby(range(len(taus)), key=lambda k: bool(marked[k])):
        run = list(points)
        low, high = float(taus[run[0]]), float(taus[run[-1]])
        if not mark:
            continue
        if len(run) == len(taus) > 1:
            yield "at every τ"
        elif len(run) == 1:
            yield f"at τ = {low:g}"
        elif run[-1] == len(taus) - 1:
            yield f"from τ = {low:g} on"
        else:
            yield f"up to τ = {high:g}" if run[0] == 0 else f"from τ = {low:g} to {high:g}"


def points_in_words(sensitivity: Sensitivity, names: Names) -> str:
    """How many points of the grid, each taken by itself, leave which models as the best."""
    kept = Counter(tuple(sorted(best)) for line in sensitivity.best().values() for best in line.values())
    parts = []
    for models, count in kept.most_common(_MOST_PAIRS):
        every = len(models) == len(sensitivity.evaluation.contenders)
        ordered = [names.model(model) for model in sensitivity.evaluation.models if model in models]
        parts.append(f"{'any model' if every else listed(ordered, 'or')} at {count}")
    more = kept.total() - sum(count for _, count in kept.most_common(_MOST_PAIRS))
    others = f"; others at {more}" if more else ""
    many = counted(kept.total(), "point")
    return f"Of the {many} of the grid, each taken by itself, the best may be {'; '.join(parts)}{others}."


def _places(by_family: Mapping[str, list[str]], names: Names, n_families: int) -> str:
    """Where, with the families in which it is there."""
    families: dict[str, list[str]] = {}
    for family, runs in by_family.items():
        families.setdefault(listed(runs), []).append(family)
    if len(families) == 1 and len(by_family) == n_families > 1:
        return f"{next(iter(families))} under every family"
    return listed([f"{where} under {names.families(under)}" for where, under in families.items()])
