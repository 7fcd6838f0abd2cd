"""The range of dependences over which a standing holds, and who may be best beyond."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import isfinite, nan
from typing import Any, NamedTuple

from cocensor._notes import Note
from cocensor.study.ranking import Standing, rankable
from cocensor.study.sensitivity.grid import ALL, Grid, Pair


@dataclass(frozen=True)
class Limit:
    """The point up to which something holds, outward from independence."""

    #: Kendall's τ, or the hazard ratio after dropout.
    at: float
    #: The one up to which it holds on all lines; NaN where it is not known.
    hazard_ratio: float = nan
    #: The family, or whose hazard ratio it is, on which it is lost first; None where it is not lost, but an interval or
    #: a score is missing beyond.
    line: str | None = None
    #: Whether it is lost on other lines too, further out.
    other_lines: bool = False
    #: The two that cannot be told apart beyond; or those that may be best there.
    models: tuple[str, ...] = ()
    #: Whether the interval of a difference comes to hold 0 here, which may be between two points of the grid; else this
    #: is the last point of the grid where it holds.
    by_interval: bool = False
    #: By how much the effects of the strongest measured covariate must be multiplied to induce this τ; NaN where no
    #: covariate tells.
    multiple: float = nan

    @property
    def is_silent(self) -> bool:
        """Whether nothing is lost here, but an interval, or a score, is missing beyond."""
        return self.line is None


class Reach(NamedTuple):
    """From where to where something holds, outward from independence; None for the end of the grid."""

    low: Limit | None = None
    high: Limit | None = None

    def holds(self, point: float) -> bool:
        """Whether a point is within."""
        return (self.low is None or self.low.at <= point) and (self.high is None or point <= self.high.at)

    @property
    def ways(self) -> list[tuple[int, Limit]]:
        """The limits that there are, each on the way up (1) or down (-1), the nearest to independence first."""
        limits = [(way, limit) for way, limit in zip((-1, 1), self, strict=True) if limit is not None]
        return sorted(limits, key=lambda way_and_limit: abs(way_and_limit[1].at))

    @property
    def limits(self) -> list[Limit]:
        """The limits that there are, the nearest to independence first."""
        return [limit for _, limit in self.ways]


@dataclass(frozen=True)
class LeadingRange:
    """From one point of the grid to another, the same models may be best: each on some line, and no other on any.

    One that has lost its score there may be, as nothing sets it apart.
    """

    low: float
    high: float
    models: tuple[str, ...]
    #: Whether they are the same on every line.
    agreed: bool = True


@dataclass(frozen=True, eq=False)
class Along:
    """A standing along a grid, on all lines together or on one."""

    #: The standing at the point nearest to independence, and that point.
    standing: Standing
    start: float
    #: The points that have an answer.
    tried: tuple[float, ...]
    stretches: tuple[LeadingRange, ...]
    #: From where to where the standing holds on every line; None where that is not so even at its start.
    reach: Reach | None

    def after(self, way: int, point: float) -> list[LeadingRange]:
        """The stretches that begin beyond a point on the way up (1), or down (-1), in the order of that way."""
        stretches = self.stretches[::way]
        return [part for part in stretches if ((part.low if way > 0 else part.high) - point) * way > 0]

    def next_leader(self, way: int) -> LeadingRange | None:
        """The first stretch on the way up (1), or down (-1), where one new model alone may be best."""
        first = self.standing.first if self.standing.tells else self.standing.leaders
        alone = (part for part in self.after(way, self.start) if len(part.models) == 1)
        return next((part for part in alone if part.models[0] not in first), None)


@dataclass(frozen=True, eq=False)
class OverRatios:
    """The range of hazard ratios after dropout over which a lead holds."""

    #: For "all" dropouts, and for one reason or group alone.
    lines: Mapping[str, Along]
    #: Where the score of the only model that may be ranked lies.
    span: Span | None = None
    #: Whether the lines beside "all" are reasons of dropout.
    by_reason: bool = False
    #: Why reasons that there are have no lines.
    unnamed: Note | None = None


class Span(NamedTuple):
    """Between which values a score lies over some dependences; with sampling error, where there is one."""

    low: float
    high: float
    low_with_error: float = nan
    high_with_error: float = nan


def answered_points(grid: Grid, line: str | None = None) -> list[float]:
    """The points that have an answer by the primary adjustment and the first metric, on any line or on one."""
    leaders = grid.leaders().items()
    return sorted({point for name, by_point in leaders if line in (None, name) for point in by_point})


def first_point(grid: Grid, line: str | None = None) -> float:
    """Return the point nearest to independence, where the way outward begins."""
    position = grid.position
    return min(answered_points(grid, line), key=lambda point: (abs(position(point)), -position(point)))


def standing_at_start(grid: Grid, point: float) -> Standing:
    """Return the standing at a point on which every line that has an answer there agrees."""
    places = [grid.standing(line, point) for line, by_point in grid.leaders().items() if point in by_point]
    best = tuple(model for model in places[0].scores if any(model in place.best for place in places))
    return replace(places[0], errors=sum((place.errors for place in places), ()), best_of_several=best)


def along(grid: Grid, place: Standing, line: str | None = None) -> Along:
    """Return a standing along a grid: who may be best where, and from where to where it holds."""
    best, tried = _best(grid, place, line), tuple(answered_points(grid, line))
    ranges: list[LeadingRange] = []
    for point in tried:
        sets = [by_point[point] for by_point in best.values() if point in by_point]
        models = tuple(model for model in rankable(grid.evaluation) if any(model in some for some in sets))
        agreed = all(some == set(models) for some in sets)
        if ranges and (ranges[-1].models, ranges[-1].agreed) == (models, agreed):
            ranges[-1] = replace(ranges[-1], high=point)
        else:
            ranges.append(LeadingRange(point, point, models, agreed))
    whole = Along(place, first_point(grid, line), tried, tuple(ranges), None)
    return replace(whole, reach=_reach(grid, whole, best, line)) if len(place.scores) > 1 else whole


def _best(grid: Grid, place: Standing, line: str | None) -> dict[str, dict[float, set[str]]]:
    """By line and point the models that may be best: by intervals where there are some, and those without a score."""
    by_line = grid.best() if place.tells else grid.leaders()
    return {
        name: {point: set(best) | _missing(grid, place, name, point) for point, best in by_point.items()}
        for name, by_point in by_line.items()
        if line in (None, name)
    }


def _missing(grid: Grid, place: Standing, line: str, point: float) -> set[str]:
    """Return the models of a standing without a score at a point of the grid."""
    return set(place.scores) - set(grid.values(line, point))


def _reach(
    grid: Grid, whole: Along, best: Mapping[str, Mapping[float, set[str]]], line: str | None
) -> Reach | None:
    """From where to where the same models are first and, by the intervals of differences, beat the same."""
    place, start = whole.standing, whole.start
    wanted, rivals = set(place.leaders), set(place.scores)
    if place.tells:
        wanted, rivals = set(place.first), set(place.compared) - set(place.beaten)

    def lost_on(point: float) -> list[str]:
        return [name for name, by in best.items() if point in by and by[point] & rivals != wanted]

    by_interval = _reach_of_lead(grid, place, line) if place.tells and place.beaten else Reach()
    if by_interval is None or lost_on(start):
        return None
    ends: list[Limit | None] = []
    for way, limit in zip((-1, 1), by_interval, strict=True):
        points = [at for at in whole.tried[::way] if (at - start) * way >= 0]
        lost = next((k for k, at in enumerate(points) if lost_on(at)), None)
        if lost is not None and (limit is None or limit.at * way > points[lost] * way):
            at, lines = points[lost - 1], lost_on(points[lost])
            limit = Limit(at)
            scored = [name for name in lines if not _missing(grid, place, name, points[lost])]
            if scored:
                later = {name for point in points[lost + 1 :] for name in lost_on(point)} - set(lines)
                ratio = weakest(grid, [(name, at) for name in best if at in best[name]])
                limit = Limit(at, ratio, scored[0], bool(later), whole.after(way, at)[0].models)
        ends.append(limit)
    return Reach(*ends)


def _reach_of_lead(grid: Grid, place: Standing, line: str | None) -> Reach | None:
    """From where to where each of the first models beats all that are beaten, by the intervals of their differences."""
    sign = -1 if place.metric.direction == "smaller" else 1
    tried = answered_points(grid, line)
    limits: tuple[list[Limit], list[Limit]] = [], []
    for pair in (grid.pair(model, loser) for model in place.first for loser in place.beaten):
        lead = pair.lead(line)
        if lead is None or lead.sign != sign:
            return None
        sides = ((-1, "lost_below", lead.low, tried[0]), (1, "lost_above", lead.high, tried[-1]))
        for on_side, (way, side, last, end) in zip(limits, sides, strict=True):
            lost = getattr(lead, side)
            if lost is not None:
                on_side.append(_lost(pair, sign, lost, side, line))
            elif (end - last) * way > 0:
                on_side.append(Limit(last))
    return Reach(*map(_nearest, limits, (max, min)))


def _lost(pair: Pair, sign: int, at: float, side: str, line: str | None) -> Limit:
    """Return the end of a lead, with the line on which it is lost first."""
    lost = {}
    for name in pair.curves if line is None else (line,):
        lead = pair.lead(name)
        # A line that begins where the lead is lost never had it.
        end = at if lead is None or lead.sign != sign else getattr(lead, side)
        if end is not None:
            lost[name] = end
    first = min(lost, key=lambda name: abs(lost[name] - at))
    models = pair.a, pair.b
    return Limit(at, weakest(pair.grid, lost.items()), first, len(lost) > 1, models, by_interval=True)


def _nearest(limits: list[Limit], first: Any) -> Limit | None:
    """Return the limit that comes first, by min on the way up and by max on the way down, with that hazard ratio."""
    if not limits:
        return None
    nearest: Limit = first(limits, key=lambda limit: limit.at)
    return replace(nearest, hazard_ratio=nearest_to_1(limit.hazard_ratio for limit in limits))


def over_ratios_of(grid: Grid) -> OverRatios | None:
    """Return how far a lead holds over the hazard ratio after dropout; None where no other than 1 was tried."""
    data, leaders, models = grid.evaluation.data, grid.leaders(), rankable(grid.evaluation)
    if set(leaders.get(ALL, {})) <= {1.0} or not data.anybody_left or not models:
        return None
    place = grid.standing(ALL, first_point(grid, ALL))
    span = None
    if len(models) == 1:
        scores = [grid.values(ALL, ratio)[models[0]] for ratio in leaders[ALL]]
        span = Span(min(scores), max(scores))
    by_reason = set(leaders) - {ALL} <= set(data.samples.y_test.reasons)
    lines = {line: along(grid, place, line) for line in leaders}
    return OverRatios(lines, span, by_reason, grid.missing.get((grid.primary, "reason")))


def weakest(grid: Grid, points: Iterable[tuple[str, float]]) -> float:
    """Return the hazard ratio nearest to 1 of some points, each with its line; NaN where none is known."""
    return nearest_to_1(grid.hazard_ratio(line, point) for line, point in points)


def nearest_to_1(ratios: Iterable[float]) -> float:
    """Return the nearest to 1 of the hazard ratios that are known; NaN where there is none."""
    return min(filter(isfinite, ratios), key=lambda ratio: max(ratio, 1 / ratio), default=nan)
