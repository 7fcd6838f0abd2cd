"""How far over a grid of dependences a standing holds, and who may be best beyond."""

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
        return sorted(limits, key=lambda each: abs(each[1].at))

    @property
    def limits(self) -> list[Limit]:
        """Those that there are, the nearest to independence first."""
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

    #: At the point nearest to independence.
    standing: Standing
    #: That point.
    start: float
    #: The points that have an answer.
    tried: tuple[float, ...]
    stretches: tuple[LeadingRange, ...]
    #: From where to where the standing holds on every line; None where that is not so even at its start.
    reach: Reach | None

    def after(self, way: int, point: float) -> list[LeadingRange]:
        """The stretches that begin beyond a point on the way up (1), or down (-1), in the order of that way."""
        return [
            each for each in self.stretches[::way] if ((each.low if way > 0 else each.high) - point) * way > 0
        ]

    def next_leader(self, way: int) -> LeadingRange | None:
        """The first stretch on the way up (1), or down (-1), where one new model alone may be best."""
        first = self.standing.first if self.standing.tells else self.standing.leaders
        alone = (each for each in self.after(way, self.start) if len(each.models) == 1)
        return next((each for each in alone if each.models[0] not in first), None)


@dataclass(frozen=True, eq=False)
class OverRatios:
    """How far a lead holds over the hazard ratio after dropout."""

    #: Of "all" dropouts, and of one reason or group alone.
    lines: Mapping[str, Along]
    #: Of the score of the only model that may be ranked.
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
    """Where the way outward begins: the point nearest to independence."""
    position = grid.position
    return min(answered_points(grid, line), key=lambda point: (abs(position(point)), -position(point)))


def standing_at_start(grid: Grid, point: float) -> Standing:
    """At a point of the grid on every line that has an answer there: what they all tell."""
    points = [grid.standing(line, point) for line, by_point in grid.leaders().items() if point in by_point]
    first = points[0]
    best = tuple(model for model in first.scores if any(model in found.best for found in points))
    return replace(first, errors=sum((found.errors for found in points), ()), best_of_several=best)


def along(grid: Grid, found: Standing, line: str | None = None) -> Along:
    """A standing along a grid: who may be best where, and from where to where it holds."""
    best = _best(grid, found, line)
    tried, start = tuple(answered_points(grid, line)), first_point(grid, line)
    stretches: list[LeadingRange] = []
    for point in tried:
        sets = [by_point[point] for by_point in best.values() if point in by_point]
        models = tuple(model for model in rankable(grid.evaluation) if any(model in each for each in sets))
        agreed = all(each == set(models) for each in sets)
        last = stretches[-1] if stretches else None
        if last is not None and (last.models, last.agreed) == (models, agreed):
            stretches[-1] = replace(last, high=point)
        else:
            stretches.append(LeadingRange(point, point, models, agreed))
    whole = Along(found, start, tried, tuple(stretches), None)
    return replace(whole, reach=_reach(grid, whole, best, line)) if len(found.scores) > 1 else whole


def _best(grid: Grid, found: Standing, line: str | None) -> dict[str, dict[float, set[str]]]:
    """Who may be best by line and point: by intervals where the standing has some; nothing sets lost scores apart."""
    by_line = grid.best() if found.tells else grid.leaders()
    return {
        name: {point: set(best) | _missing(grid, found, name, point) for point, best in by_point.items()}
        for name, by_point in by_line.items()
        if line in (None, name)
    }


def _missing(grid: Grid, found: Standing, line: str, point: float) -> set[str]:
    """The models of a standing without a score at a point of the grid."""
    return set(found.scores) - set(grid.values(line, point))


def _reach(
    grid: Grid, whole: Along, best: Mapping[str, Mapping[float, set[str]]], line: str | None
) -> Reach | None:
    """From where to where the same models are first and, by the intervals of differences, beat the same."""
    found, start = whole.standing, whole.start
    wanted, rivals = set(found.leaders), set(found.scores)
    if found.tells:
        wanted, rivals = set(found.first), set(found.compared) - set(found.beaten)

    def lost_on(point: float) -> list[str]:
        return [name for name, by in best.items() if point in by and by[point] & rivals != wanted]

    by_interval = _reach_of_lead(grid, found, line) if found.tells and found.beaten else Reach()
    if by_interval is None or lost_on(start):
        return None
    ends: list[Limit | None] = []
    for way, told in zip((-1, 1), by_interval, strict=True):
        points = [at for at in whole.tried[::way] if (at - start) * way >= 0]
        lost = next((k for k, at in enumerate(points) if lost_on(at)), None)
        if lost is None or (told is not None and told.at * way <= points[lost] * way):
            ends.append(told)
            continue
        at, lines = points[lost - 1], lost_on(points[lost])
        known = [name for name in lines if not _missing(grid, found, name, points[lost])]
        if not known:
            ends.append(Limit(at))
            continue
        later = {name for point in points[lost + 1 :] for name in lost_on(point)} - set(lines)
        ratio = weakest(grid, [(name, at) for name in best if at in best[name]])
        ends.append(Limit(at, ratio, known[0], bool(later), whole.after(way, at)[0].models))
    return Reach(*ends)


def _reach_of_lead(grid: Grid, found: Standing, line: str | None) -> Reach | None:
    """How far each of the first models beats all that are beaten, by the intervals of their differences."""
    sign = -1 if found.metric.direction == "smaller" else 1
    tried = answered_points(grid, line)
    limits: tuple[list[Limit], list[Limit]] = [], []
    for pair in (grid.pair(model, loser) for model in found.first for loser in found.beaten):
        held = pair.lead(line)
        if held is None or held.sign != sign:
            return None
        sides = ((-1, "lost_below", held.low, tried[0]), (1, "lost_above", held.high, tried[-1]))
        for on_side, (way, side, last, end) in zip(limits, sides, strict=True):
            lost = getattr(held, side)
            if lost is not None:
                on_side.append(_lost(pair, sign, lost, side, line))
            elif (end - last) * way > 0:
                on_side.append(Limit(last))
    return Reach(*map(_nearest, limits, (max, min)))


def _lost(pair: Pair, sign: int, at: float, side: str, line: str | None) -> Limit:
    """The end of a lead, with the line on which it is lost first."""
    lost = {}
    for name in pair.curves if line is None else (line,):
        held = pair.lead(name)
        # A line that begins where the lead is lost never had it.
        end = at if held is None or held.sign != sign else getattr(held, side)
        if end is not None:
            lost[name] = end
    first = min(lost, key=lambda name: abs(lost[name] - at))
    models = pair.a, pair.b
    return Limit(at, weakest(pair.grid, lost.items()), first, len(lost) > 1, models, by_interval=True)


def _nearest(limits: list[Limit], first: Any) -> Limit | None:
    """The limit that comes first, by min on the way up and by max on the way down, with the hazard ratio that does."""
    if not limits:
        return None
    nearest: Limit = first(limits, key=lambda limit: limit.at)
    return replace(nearest, hazard_ratio=nearest_to_1(limit.hazard_ratio for limit in limits))


def over_ratios_of(grid: Grid) -> OverRatios | None:
    """How far a lead holds over the hazard ratio after dropout; None where no other than 1 was tried."""
    evaluation, leaders = grid.evaluation, grid.leaders()
    able = rankable(evaluation)
    if set(leaders.get(ALL, {})) <= {1.0} or not evaluation.data.anybody_left or not able:
        return None
    found = grid.standing(ALL, first_point(grid, ALL))
    span = None
    if len(able) == 1:
        scores = [grid.values(ALL, ratio)[able[0]] for ratio in leaders[ALL]]
        span = Span(min(scores), max(scores))
    others, reasons = set(leaders) - {ALL}, evaluation.data.samples.y_test.reasons
    lines = {line: along(grid, found, line) for line in leaders}
    return OverRatios(lines, span, others <= set(reasons), grid.missing.get((grid.primary, "reason")))


def weakest(grid: Grid, points: Iterable[tuple[str, float]]) -> float:
    """The hazard ratio nearest to 1 of some points, each with its line; NaN where none is known."""
    return nearest_to_1(grid.hazard_ratio(line, point) for line, point in points)


def nearest_to_1(ratios: Iterable[float]) -> float:
    """Of hazard ratios that are known; NaN where there is none."""
    return min(filter(isfinite, ratios), key=lambda ratio: max(ratio, 1 / ratio), default=nan)
