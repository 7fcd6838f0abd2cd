"""A score, or a difference of two, along an axis of dependence: leads, tipping points, and ranges held plausible.

The axis is Kendall's τ, or the logarithm of a hazard ratio: 0 is independence. A line is what moves along it: a family
of copulas, or whose hazard ratio it is. Functions take curves by line and look at all lines together unless one is
named; a line takes part at the positions that it has. Between points, estimates and limits move along straight lines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from cocensor._cached import cached_property
from cocensor._checks import FloatArray, as_vector, check_choice, check_number, refuse_first
from cocensor.inference.bands import normal_quantile
from cocensor.inference.estimates import ConfidenceInterval


@dataclass(frozen=True, eq=False)
class AxisCurve:
    """Estimates along one line, at increasing positions, each with its own normal interval; NaN where there is none."""

    positions: FloatArray  # Kendall's τ, or logarithms of hazard ratios
    values: FloatArray
    standard_errors: FloatArray
    confidence_level: float = 0.95
    #: Of a difference: it is equivalent to 0 where its interval lies within ± this.
    margin: float = 0.0

    def __post_init__(self) -> None:
        positions = as_vector(self.positions, "positions")
        if not positions.size:
            raise ValueError("positions is empty: at least one is needed.")
        falls = np.diff(positions, prepend=-np.inf) <= 0
        if falls.any():
            refuse_first(falls, positions, "positions must increase")
        for name in ("values", "standard_errors"):
            array = np.asarray(getattr(self, name), dtype=np.float64)
            if array.shape != positions.shape:
                raise ValueError(
                    f"{name} must have shape {positions.shape}, as positions has, but has {array.shape}."
                )
            object.__setattr__(self, name, array)
        object.__setattr__(self, "positions", positions)

    @cached_property
    def low(self) -> FloatArray:
        """The lower ends of the intervals."""
        return self.values - normal_quantile(self.confidence_level) * self.standard_errors

    @cached_property
    def high(self) -> FloatArray:
        """The upper ends of the intervals."""
        return self.values + normal_quantile(self.confidence_level) * self.standard_errors

    @cached_property
    def sides(self) -> FloatArray:
        """Where the interval lies: 1 above 0, −1 below; 0 where it holds 0, is within the margin, or there is none."""
        beyond = (self.low < -self.margin) | (self.high > self.margin)
        return 1.0 * ((self.low > 0) & beyond) - 1.0 * ((self.high < 0) & beyond)

    def mirrored(self) -> AxisCurve:
        """The curve along the axis turned round."""
        values, errors = self.values[::-1], self.standard_errors[::-1]
        return replace(self, positions=-self.positions[::-1], values=values, standard_errors=errors)


@dataclass(frozen=True)
class Lead:
    """A difference is distinct from 0, with one sign, at every point of the grid from ``low`` to ``high``."""

    sign: int  # 1 where the difference is above 0, −1 below
    low: float
    high: float
    #: Where the interval first holds 0, or lies within the margin; None where it does neither before the grid ends, or
    #: a point has no interval.
    lost_below: float | None
    lost_above: float | None

    def on(self, scale: Callable[[float], float]) -> Lead:
        """With positions on another scale, which increases with them."""
        lost = (None if at is None else scale(at) for at in (self.lost_below, self.lost_above))
        return Lead(self.sign, scale(self.low), scale(self.high), *lost)


def lead(curves: Mapping[str, AxisCurve], line: str | None = None) -> Lead | None:
    """Where a difference is distinct from 0: a fixed sequence of tests outward from independence; None if not there.

    It starts at the point of the grid nearest to 0 (of two, the positive one) and goes up and down; either way it stops
    at the first where the interval of any line holds 0, changes side, or is missing. Each step is taken only if those
    before it succeeded, in an order fixed before the data, and at each all lines must agree: no correction for the
    number of points or lines is needed. A step too far needs an error to one side: either way it has a chance of at
    most half of one less the confidence level, as has the wrong side at the start.
    """
    chosen = list(_chosen_curves(curves, line).values())
    positions = np.unique(np.concatenate([curve.positions for curve in chosen]))
    start = float(min(positions, key=lambda at: (abs(at), -at)))
    sign = _common_side(chosen, start)
    if sign == 0:
        return None
    high, lost_above = _walk_up(chosen, positions, start, sign)
    minus_low, lost = _walk_up([curve.mirrored() for curve in chosen], -positions[::-1], -start, sign)
    return Lead(int(sign), 0.0 - minus_low, high, None if lost is None else 0.0 - lost, lost_above)


def _walk_up(
    curves: list[AxisCurve], positions: FloatArray, position: float, sign: float
) -> tuple[float, float | None]:
    """From ``position`` on, the last where all intervals lie on one side, and where the first of them reaches 0."""
    for following in positions[positions > position].tolist():
        if _common_side(curves, following) != sign:
            lost = [_reaches_zero(curve, following, sign) for curve in curves if following in curve.positions]
            return position, min((at for at in lost if at is not None), default=None)
        position = following
    return position, None


def _common_side(curves: list[AxisCurve], position: float) -> float:
    sides = np.concatenate([curve.sides[curve.positions == position] for curve in curves])
    return float(sides[0]) if (sides == sides[0]).all() else 0.0


def _reaches_zero(curve: AxisCurve, position: float, sign: float) -> float | None:
    """Where, up to ``position``, the limit next to 0 reaches it, or the other one the margin; None for nowhere."""
    k = int(np.searchsorted(curve.positions, position))
    ends = (curve.low, curve.high)[:: int(sign)]
    lost = []
    for limits in (sign * ends[0], sign * ends[1] - curve.margin):
        if limits[k] <= 0:
            at_once = k == 0 or not limits[k - 1] > 0
            near = slice(k - 1, k + 1)
            lost.append(float(position) if at_once else _crossing(curve.positions[near], limits[near]))
    return min(lost, default=None)


class Stretch(NamedTuple):
    """From one point to another; None where it may go on, past the end of the grid or a point without an interval."""

    low: float | None
    high: float | None


@dataclass(frozen=True)
class SignChange:
    """Where the sign of an estimated difference changes along one line."""

    line: str
    at: float  # where the estimates are equal
    #: Of :func:`undecided`, the stretch that holds ``at``; None where an interval beside it is missing.
    interval: Stretch | None
    sign_above: int  # of the difference, further up the axis

    def on(self, scale: Callable[[float], float]) -> SignChange:
        """With positions on another scale, which increases with them."""
        interval = self.interval
        if interval is not None:
            interval = Stretch(*(None if end is None else scale(end) for end in interval))
        return SignChange(self.line, scale(self.at), interval, self.sign_above)


def tipping_points(curves: Mapping[str, AxisCurve], line: str | None = None) -> tuple[SignChange, ...]:
    """Where the order of the estimates turns, nearest to independence first; empty where it never does.

    Estimates that are equal over a stretch and differ in sign on its two sides turn at its point nearest to 0; those
    that touch 0 and come back do not turn, nor do equal ones. Points without an estimate are passed over.
    """
    points = []
    for name, curve in _chosen_curves(curves, line).items():
        for at, sign in _turns(curve):
            around = (stretch for low, high, stretch in _undecided(curve) if low <= at <= high)
            points.append(SignChange(name, at, next(around, None), sign))
    return tuple(sorted(points, key=lambda point: abs(point.at)))


def undecided(curve: AxisCurve) -> tuple[Stretch, ...]:
    """Where the interval holds 0: stretches in their order.

    Where two models are truly equal at one point within the grid, it lies in one of them with a chance of the
    confidence level, give or take what straight lines do not follow.
    """
    return tuple(stretch for _, _, stretch in _undecided(curve))


def _turns(curve: AxisCurve) -> list[tuple[float, int]]:
    present = ~np.isnan(curve.values)
    positions, values = curve.positions[present], curve.values[present]
    turns = []
    for i, j in pairwise(np.flatnonzero(values)):
        if values[i] * values[j] < 0:
            between = positions[i + 1 : j]
            at = min(between, key=abs) if between.size else _crossing(positions[[i, j]], values[[i, j]])
            turns.append((float(at), int(np.sign(values[j]))))
    return turns


def _undecided(curve: AxisCurve) -> list[tuple[float, float, Stretch]]:
    """The ends of each stretch, and the stretch itself with None for open ends."""
    answered = ~np.isnan(curve.low) & ~np.isnan(curve.high)
    runs = np.split(np.arange(len(answered)), np.flatnonzero(np.diff(answered)) + 1)
    stretches = []
    for run in runs:
        if not answered[run[0]]:
            continue
        # Between each point and its next, where the limits have 0 between them.
        pieces = list[tuple[float, float]]()
        for pair in zip(run, [*run[1:], run[-1]], strict=True):
            at, high, low = (array[list(pair)] for array in (curve.positions, curve.high, curve.low))
            below, above = _not_negative(at, high), _not_negative(at, -low)
            pieces.append((max(below[0], above[0]), min(below[1], above[1])))
        first, last = curve.positions[run[0]], curve.positions[run[-1]]
        for start, end in _merged(pieces):
            stretch = Stretch(None if start == first else start, None if end == last else end)
            stretches.append((start, end, stretch))
    return stretches


def _not_negative(positions: FloatArray, values: FloatArray) -> tuple[float, float]:
    """From where to where the line through two points is at least 0; from ∞ to −∞ where it is nowhere."""
    first, second = values >= 0
    if not (first or second):
        return np.inf, -np.inf
    if first and second:
        return float(positions[0]), float(positions[1])
    at = _crossing(positions, values)
    return (float(positions[0]), at) if first else (at, float(positions[1]))


def _merged(pieces: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Pieces in order, those that touch as one, empty ones left out."""
    merged: list[tuple[float, float]] = []
    for low, high in pieces:
        if low > high:
            continue
        if merged and merged[-1][1] == low:
            low = merged.pop()[0]
        merged.append((low, high))
    return merged


@dataclass(frozen=True)
class Uncertainty:
    """Intervals of a value whose point on the axis is known to lie in a range."""

    #: The extremes of the estimates: what would be left open by endless data.
    ignorance: ConfidenceInterval
    #: The extremes of the intervals: holds the true values at all points of the range, with the confidence level.
    strong: ConfidenceInterval
    #: Holds the one true value, with the confidence level.
    pointwise: ConfidenceInterval
    #: How many standard errors ``pointwise`` reaches beyond the estimates (Imbens and Manski).
    constant: float
    #: Lines and points within the range that have no estimate, and so no part in this.
    missing: tuple[tuple[str, float], ...] = ()


def uncertainty(
    curves: Mapping[str, AxisCurve], low: float, high: float, line: str | None = None
) -> Uncertainty:
    """Intervals of a score, or of a difference, over a range; NaN where a point has an estimate but no interval.

    By Imbens and Manski (2004) and Vansteelandt et al. (2006), in ``docs/theory/references.md``.
    """
    chosen = _chosen_curves(curves, line)
    check_range(low, high, [float(at) for curve in chosen.values() for at in curve.positions])
    levels = {curve.confidence_level for curve in chosen.values()}
    if len(levels) > 1:
        raise ValueError(f"curves must have one confidence_level, but have {sorted(levels)}.")
    [level] = levels
    points, missing = [], []
    for name, curve in chosen.items():
        positions, columns = _within(curve, low, high)
        absent = np.isnan(columns[0])
        missing += [(name, float(position)) for position in positions[absent]]
        points.append(columns[:, ~absent])
    values, errors, lows, highs = np.concatenate(points, axis=1)
    if not values.size:
        nowhere = ConfidenceInterval(np.nan, np.nan)
        return Uncertainty(nowhere, nowhere, nowhere, np.nan, tuple(missing))
    ignorance = _hull(values, values)
    constant = imbens_manski_constant(ignorance.high - ignorance.low, float(errors.max()), level)
    pointwise = _hull(values - constant * errors, values + constant * errors)
    return Uncertainty(ignorance, _hull(lows, highs), pointwise, constant, tuple(missing))


def imbens_manski_constant(width: float, standard_error: float, confidence_level: float = 0.95) -> float:
    r"""The c with :math:`\Phi(c + w/s) - \Phi(-c)` equal to the confidence level.

    w is the width of the ignorance interval, s the larger standard error of its two ends. From 1.96 (no width) to
    1.645 (a wide interval, where the true value can only be near one end) at 95%.
    """
    from scipy.optimize import brentq  # late: it takes a moment

    lowest = normal_quantile(confidence_level, two_sided=False)
    if np.isnan(standard_error):
        return float("nan")
    if width > 0 and standard_error == 0:
        return lowest
    share = width / standard_error if width else 0.0

    def excess(c: float) -> float:
        return float(ndtr(c + share) - ndtr(-c)) - confidence_level

    return float(brentq(excess, lowest - 1e-6, normal_quantile(confidence_level) + 1e-6))


def check_range(low: float, high: float, points: Sequence[float]) -> None:
    """Refuse a range that does not lie within the points of a grid."""
    first, last = min(points), max(points)
    for name, end in (("low", low), ("high", high)):
        if not first <= check_number(end, name) <= last:
            raise ValueError(f"{name} must lie within the grid, from {first:g} to {last:g}, but is {end:g}.")
    if low > high:
        raise ValueError(f"low must not exceed high, {high:g}, but is {low:g}.")


def _within(curve: AxisCurve, low: float, high: float) -> tuple[FloatArray, FloatArray]:
    """Positions of a curve in a range, with the ends that it reaches; there, estimates, errors and limits."""
    ends = [end for end in (low, high) if curve.positions[0] <= end <= curve.positions[-1]]
    inside = curve.positions[(curve.positions >= low) & (curve.positions <= high)]
    positions = np.unique(np.concatenate((inside, ends)))
    arrays = (curve.values, curve.standard_errors, curve.low, curve.high)
    return positions, np.array([np.interp(positions, curve.positions, array) for array in arrays])


def _hull(lows: FloatArray, highs: FloatArray) -> ConfidenceInterval:
    return ConfidenceInterval(float(lows.min()), float(highs.max()))


def _chosen_curves(curves: Mapping[str, AxisCurve], line: str | None) -> dict[str, AxisCurve]:
    """The curve of one line, or of all."""
    if not curves:
        raise ValueError("curves is empty: at least one line is needed.")
    if line is None:
        return dict(curves)
    check_choice(line, "line", tuple(curves))
    return {line: curves[line]}


def _crossing(positions: FloatArray, values: FloatArray) -> float:
    """Where the line through two points is 0."""
    return float(positions[0] + (positions[1] - positions[0]) * values[0] / (values[0] - values[1]))
