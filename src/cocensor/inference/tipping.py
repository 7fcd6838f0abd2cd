"""Where along an axis of dependence the order of two models turns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from cocensor._checks import FloatArray
from cocensor.inference.along_axis import AxisCurve, chosen_curves, crossing


class Stretch(NamedTuple):
    """From one point to another; None where it may go on, past the end of the grid or a point without an interval."""

    low: float | None
    high: float | None


@dataclass(frozen=True)
class SignChange:
    """Where the sign of an estimated difference changes along one line."""

    #: A family of copulas, or whose hazard ratio it is.
    line: str
    #: Where the estimates are equal, if they move along lines between the points of the grid.
    at: float
    #: Of :func:`undecided`, the stretch that holds ``at``; None where an interval beside it is missing.
    interval: Stretch | None
    #: The sign of the difference further up the axis.
    sign_above: int

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

    Examples
    --------
    >>> import numpy as np
    >>> taus = np.array([0.0, 0.2, 0.4, 0.6, 0.8])
    >>> curve = AxisCurve(taus, np.array([-3.0, -2.0, -1.0, 1.0, 3.0]), np.full(5, 0.5))
    >>> tipping_points({"clayton": curve})[0]
    SignChange(line='clayton', at=0.5, interval=Stretch(low=0.40..., high=0.59...), sign_above=1)
    """
    points = []
    for name, curve in chosen_curves(curves, line).items():
        for at, sign in _turns(curve):
            around = [stretch for low, high, stretch in _undecided(curve) if low <= at <= high]
            points.append(SignChange(name, at, around[0] if around else None, sign))
    return tuple(sorted(points, key=lambda point: abs(point.at)))


def undecided(curve: AxisCurve) -> tuple[Stretch, ...]:
    """Where the interval holds 0: stretches in their order, limits moving along lines between points.

    Where two models are truly equal at one point within the grid, it lies in one of the stretches with a chance of the
    confidence level, give or take what lines do not follow.

    Examples
    --------
    >>> import numpy as np
    >>> taus = np.array([0.0, 0.4, 0.8])
    >>> undecided(AxisCurve(taus, np.array([-3.0, -2.5, 1.0]), np.ones(3)))
    (Stretch(low=0.46..., high=None),)
    """
    return tuple(stretch for _, _, stretch in _undecided(curve))


def _turns(curve: AxisCurve) -> list[tuple[float, int]]:
    present = ~np.isnan(curve.values)
    positions, values = curve.positions[present], curve.values[present]
    turns = []
    for i, j in pairwise(np.flatnonzero(values)):
        if values[i] * values[j] < 0:
            between = positions[i + 1 : j]
            at = min(between, key=abs) if between.size else crossing(positions[[i, j]], values[[i, j]])
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
        first, last = curve.positions[run[0]], curve.positions[run[-1]]
        for low, high in _merged([_within(curve, k, min(k + 1, run[-1])) for k in run]):
            stretch = Stretch(None if low == first else low, None if high == last else high)
            stretches.append((low, high, stretch))
    return stretches


def _within(curve: AxisCurve, i: int, j: int) -> tuple[float, float]:
    """Between two neighbours, or at one point, from where to where 0 lies between the limits."""
    positions, ends = curve.positions[[i, j]], (curve.high[[i, j]], -curve.low[[i, j]])
    lows, highs = zip(*(_not_negative(positions, end) for end in ends), strict=True)
    return max(lows), min(highs)


def _not_negative(positions: FloatArray, values: FloatArray) -> tuple[float, float]:
    """From where to where the line through two points is at least 0; from ∞ to −∞ where it is nowhere."""
    first, second = values >= 0
    if not (first or second):
        return np.inf, -np.inf
    if first and second:
        return float(positions[0]), float(positions[1])
    at = crossing(positions, values)
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
