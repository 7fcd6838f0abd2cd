"""One model against another along the dependence: from where to where which of the two is better."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf, isfinite, nan
from typing import Any, Literal

import numpy as np

from cocensor._cached import cached_property
from cocensor.inference.along_axis import AxisCurve, tipping_points
from cocensor.inference.comparisons import compare
from cocensor.study.data import REFERENCE
from cocensor.study.ranking import Standing
from cocensor.study.sensitivity.grid import ALL, Grid

Kind = Literal["better", "equivalent", "undecided", "unknown"]
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Zone:
    """A part of an axis of dependence, from point to point, in which the same is known of two models."""

    low: float
    high: float
    kind: Kind
    #: The better model, where one is.
    model: str | None = None


@dataclass(frozen=True, eq=False)
class Course:
    """The difference of two models along the hazard ratio after dropout, or along τ in one family of copulas.

    It is turned so that ``first`` is better above 0: where lower scores are better it is that of ``second`` minus that
    of ``first``. ``second`` is "" for the Kaplan–Meier curve. Between points of the grid limits move along lines.
    """

    first: str
    second: str
    #: The hazard ratio after dropout; else Kendall's τ.
    is_ratio: bool
    #: Of copulas; "all" for hazard ratios.
    line: str
    #: At the points of the grid, on the axis of :meth:`Grid.position`.
    curve: AxisCurve
    points: tuple[float, ...]
    #: Independence, or the point of the grid that comes nearest.
    start: float
    #: The ends of the plausible range on this axis, as far as it was tried.
    plausible: tuple[float, float] | None
    #: By point, τ and the hazard ratio right after leaving; NaN where one is not known.
    scales: Mapping[float, tuple[float, float]] = field(repr=False)

    def position(self, point: float) -> float:
        """The position of a point on the axis of the curve; 0 is independence."""
        return float(np.log(point)) if self.is_ratio else point

    def _point(self, position: float) -> float:
        return float(np.exp(position)) if self.is_ratio else position

    @cached_property
    def zones(self) -> tuple[Zone, ...]:
        """What is known of the two, from the first point of the grid to the last."""
        at, low, high, margin = self.curve.positions, self.curve.low, self.curve.high, self.curve.margin
        breaks = set(at.tolist())
        for limits, levels in ((low, (0.0, -margin)), (high, (0.0, margin))):
            for level in levels:
                breaks.update(_crossings(at, limits - level))
        edges, zones = sorted(breaks), list[Zone]()
        for left, right in pairwise(edges):
            middle = 0.5 * (left + right)
            kind, model = self._known(*(float(np.interp(middle, at, limits)) for limits in (low, high)))
            if zones and (zones[-1].kind, zones[-1].model) == (kind, model):
                zones[-1] = Zone(zones[-1].low, self._point(right), kind, model)
            else:
                zones.append(Zone(self._point(left), self._point(right), kind, model))
        if not zones:  # a single point
            zones.append(Zone(self.points[0], self.points[0], *self._known(float(low[0]), float(high[0]))))
        return tuple(zones)

    def _known(self, low: float, high: float) -> tuple[Kind, str | None]:
        if not (isfinite(low) and isfinite(high)):
            return "unknown", None
        if -self.curve.margin <= low and high <= self.curve.margin:
            return "equivalent", None
        if low > 0 or high < 0:
            return "better", self.first if low > 0 else self.second
        return "undecided", None

    @property
    def at_start(self) -> Zone:
        """The zone that holds independence, on the side of the larger part where it lies between two."""
        holding = [zone for zone in self.zones if zone.low - _ROUNDING <= self.start <= zone.high + _ROUNDING]
        return max(holding, key=lambda zone: self.position(zone.high) - self.position(zone.low))

    def outward(self, way: int) -> list[Zone]:
        """The zones beyond that one, on the way up (1) or down (-1)."""
        place = self.zones.index(self.at_start)
        return list(self.zones[place + 1 :] if way > 0 else self.zones[:place][::-1])

    @property
    def in_plausible(self) -> list[Zone]:
        """The zones that share more than an end with the plausible range."""
        if self.plausible is None:
            return []
        low, high = self.plausible
        return [zone for zone in self.zones if zone.low < high - _ROUNDING and zone.high > low + _ROUNDING]

    @property
    def turn(self) -> float | None:
        """Where the order of the two scores turns, the nearest to independence; None where it does not."""
        turns = tipping_points({self.line: self.curve})
        return self._point(turns[0].at) if turns else None

    def tau(self, point: float) -> float:
        """Kendall's τ at a point; NaN where it is not known."""
        return point if not self.is_ratio else self._scaled(point, 0)

    def ratio(self, point: float) -> float:
        """The hazard ratio of dropouts at a point; NaN where it is not known."""
        return point if self.is_ratio else float(np.exp(self._scaled(point, 1)))

    def _scaled(self, point: float, scale: int) -> float:
        known = sorted((self.position(at), values[scale]) for at, values in self.scales.items())
        places, values = zip(*known, strict=True)
        return float(np.interp(self.position(point), places, np.log(values) if scale else values))

    def nearness(self) -> tuple[float, float]:
        """How far from independence the first stays better, and by how many standard errors it is there."""
        at_start = self.at_start
        if (at_start.kind, at_start.model) != ("better", self.first):
            reach = 0.0
        else:
            ends = [
                abs(self.position(zone.low if way > 0 else zone.high))
                for way in (1, -1)
                for zone in self.outward(way)[:1]
            ]
            reach = min(ends, default=inf)
        place = self.points.index(self.start)
        error = self.curve.standard_errors[place]
        return reach, float(self.curve.values[place] / error) if error > 0 else inf

    def to_dict(self) -> dict[str, Any]:
        """The difference and its zones, as JSON can hold them."""
        return {
            "first": self.first,
            "second": self.second,
            "axis": "hazard_ratio" if self.is_ratio else "tau",
            "line": self.line,
            "points": list(self.points),
            "difference": self.curve.values.tolist(),
            "low": self.curve.low.tolist(),
            "high": self.curve.high.tolist(),
            "margin": self.curve.margin,
            "plausible": self.plausible,
            "turn": self.turn,
            "zones": [dict(vars(zone)) for zone in self.zones],
        }


def courses(
    grids: Sequence[Grid],
    place: Standing,
    remaining: Sequence[str],
    plausible: tuple[float, float],
    taus: Mapping[float, float],
    line: str | None = None,
) -> tuple[Course, ...]:
    """Return the model with the best score against each other one that remains, or against the reference curve.

    The most serious rival comes first: that against whom the lead is lost nearest to independence. The axis is the
    hazard ratio after dropout where that was tried, with the τ that each implies; else τ, in ``line`` or the family
    with the most points.
    """
    scored = sorted(
        (model for model in remaining if model in place.scores), key=lambda model: place._places[model]
    )
    if not scored:
        return ()
    rivals = scored[1:] or [REFERENCE]
    grid = next((each for each in reversed(grids) if place.adjustment in each.answers), grids[0])
    lines = grid.answers.get(place.adjustment, {})
    if (grid.is_of_ratios and ALL not in lines) or len(lines.get(ALL, [0, 0])) < 2:
        grid, lines = grids[0], grids[0].answers.get(place.adjustment, {})
    if not lines:
        return ()
    chosen = (
        ALL if grid.is_of_ratios else line if line in lines else max(lines, key=lambda name: len(lines[name]))
    )
    found = (_course(grid, chosen, place, scored[0], rival, plausible, taus) for rival in rivals)
    return tuple(sorted((course for course in found if course is not None), key=Course.nearness))


def _course(
    grid: Grid,
    line: str,
    place: Standing,
    first: str,
    second: str,
    plausible: tuple[float, float],
    taus: Mapping[float, float],
) -> Course | None:
    by, level = place.metric, grid.evaluation.data.level
    pair = (second, first) if by.direction == "lower" else (first, second)
    rows = list(_differences(grid, line, pair, place.adjustment, by.name))
    if not rows or not any(isfinite(row[1]) for row in rows):
        return None
    points, values, errors = zip(*rows, strict=True)
    positions = np.array([grid.position(point) for point in points])
    curve = AxisCurve(positions, np.array(values), np.array(errors), level, place.margin if second else 0.0)
    scales = {
        point: (taus.get(point, nan), point) if grid.is_of_ratios else (point, grid.hazard_ratio(line, point))
        for point in points
    }
    low, high = (float(np.interp(end, [scales[at][0] for at in points], positions)) for end in plausible)
    covers = (
        scales[points[0]][0] <= plausible[1] and plausible[0] <= scales[points[-1]][0]
    )  # not where τ is unknown
    ends = (grid.at_position(low), grid.at_position(high)) if covers else None
    return Course(first, second, grid.is_of_ratios, line, curve, points, grid.nearest(points), ends, scales)


def _differences(
    grid: Grid, line: str, pair: tuple[str, str], adjustment: str, metric: str
) -> Iterator[tuple[float, float, float]]:
    """Return by point the difference of two models, or of one and the reference curve, with its error."""
    for point, answer in grid.answers[adjustment][line].items():
        errors, scores = answer.errors.get(metric), answer.with_reference(metric)
        if errors is not None and set(pair) <= set(errors.names):
            compared = compare(errors, *pair)
            yield point, compared.difference, compared.standard_error
        else:
            a, b = (scores[name].value if name in scores else nan for name in pair)
            yield point, a - b, nan


def _crossings(at: np.ndarray[Any, Any], values: np.ndarray[Any, Any]) -> list[float]:
    """Return where the lines through some points are 0, strictly between two points."""
    changes = np.flatnonzero(values[:-1] * values[1:] < 0)
    return [float(at[k] + (at[k + 1] - at[k]) * values[k] / (values[k] - values[k + 1])) for k in changes]
