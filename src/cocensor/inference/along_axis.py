"""A score, or a difference of two, along an axis of dependence: who leads beyond chance, and from where to where.

The axis is Kendall's τ, or the logarithm of a hazard ratio: 0 is independence. A line is what moves along it: a family
of copulas, or whose hazard ratio it is. Functions take curves by line, where a line takes part at the positions that it
has, and look at all lines together unless one is named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from cocensor._cached import cached_property
from cocensor._checks import FloatArray, as_vector, check_choice, refuse_first
from cocensor.inference.bands import normal_quantile


@dataclass(frozen=True, eq=False)
class AxisCurve:
    """Estimates along one line, each with its own interval from the normal distribution.

    A position that the line does not reach is left out; one where there is no estimate or no interval is NaN.
    """

    #: Kendall's τ, or logarithms of hazard ratios; increasing.
    positions: FloatArray
    values: FloatArray
    standard_errors: FloatArray
    confidence_level: float = 0.95

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
        """Where the interval lies: 1 above 0, −1 below; 0 where it holds 0, or where there is none."""
        return 1.0 * (self.low > 0) - 1.0 * (self.high < 0)

    def mirrored(self) -> AxisCurve:
        """The curve along the axis turned round."""
        values, errors = self.values[::-1], self.standard_errors[::-1]
        return AxisCurve(-self.positions[::-1], values, errors, self.confidence_level)


@dataclass(frozen=True)
class Lead:
    """A difference is distinct from 0, with one sign, at every point of the grid from ``low`` to ``high``."""

    #: 1 where the difference is above 0, −1 below.
    sign: int
    #: The last point of the grid, on either side of independence, up to which it is.
    low: float
    high: float
    #: Where the interval first holds 0, if its limits move along lines between the points of the grid; None where it
    #: does not, up to the end of the grid or to a point without an interval.
    lost_below: float | None
    lost_above: float | None

    def on(self, scale: Callable[[float], float]) -> Lead:
        """With positions on another scale, which increases with them."""
        lost = (None if at is None else scale(at) for at in (self.lost_below, self.lost_above))
        return Lead(self.sign, scale(self.low), scale(self.high), *lost)


def lead(curves: Mapping[str, AxisCurve], line: str | None = None) -> Lead | None:
    r"""Where a difference is distinct from 0: a fixed sequence of tests outward from independence.

    It starts at the point of the grid nearest to 0 (of two, the positive one) and goes up and down; either way it stops
    at the first where the interval of any line holds 0, changes side, or is missing. Each step is taken only if those
    before it succeeded, in an order fixed before the data, and at each all lines must agree: no correction for the
    number of points or lines is needed. A step too far needs an error to one side: either way it has a chance of at
    most half of one less the confidence level, as has the wrong side at the start.

    None where the difference is not distinct from 0 at the start.

    Examples
    --------
    >>> import numpy as np
    >>> taus = np.array([0.0, 0.2, 0.4, 0.6])
    >>> clayton = AxisCurve(taus, np.array([-3.0, -2.6, -2.2, -1.0]), np.ones(4))
    >>> frank = AxisCurve(taus, np.array([-3.0, -2.3, -1.5, 0.0]), np.ones(4))
    >>> lead({"clayton": clayton, "frank": frank}, "clayton")
    Lead(sign=-1, low=0.0, high=0.4, lost_below=None, lost_above=0.44...)
    >>> lead({"clayton": clayton, "frank": frank})
    Lead(sign=-1, low=0.0, high=0.2, lost_below=None, lost_above=0.28...)
    """
    chosen = list(chosen_curves(curves, line).values())
    positions = np.unique(np.concatenate([curve.positions for curve in chosen]))
    start = float(min(positions, key=lambda at: (abs(at), -at)))
    sign = _common_side(chosen, start)
    if sign == 0:
        return None
    high, lost_above = _walk_up(chosen, positions, start, sign)
    minus_low, lost_below = _walk_up([curve.mirrored() for curve in chosen], -positions[::-1], -start, sign)
    return Lead(
        int(sign), 0.0 - minus_low, high, None if lost_below is None else 0.0 - lost_below, lost_above
    )


def chosen_curves(curves: Mapping[str, AxisCurve], line: str | None) -> dict[str, AxisCurve]:
    """The curve of one line, or of all."""
    if not curves:
        raise ValueError("curves is empty: at least one line is needed.")
    if line is None:
        return dict(curves)
    check_choice(line, "line", tuple(curves))
    return {line: curves[line]}


def _walk_up(
    curves: list[AxisCurve], positions: FloatArray, position: float, sign: float
) -> tuple[float, float | None]:
    """From ``position`` on, the last where all intervals lie on one side, and where the first of them reaches 0."""
    for following in positions[positions > position]:
        if _common_side(curves, following) != sign:
            lost = [_reaches_zero(curve, following, sign) for curve in curves if following in curve.positions]
            return position, min((at for at in lost if at is not None), default=None)
        position = float(following)
    return position, None


def _common_side(curves: list[AxisCurve], position: float) -> float:
    sides = np.concatenate([curve.sides[curve.positions == position] for curve in curves])
    return float(sides[0]) if (sides == sides[0]).all() else 0.0


def _reaches_zero(curve: AxisCurve, position: float, sign: float) -> float | None:
    """Where, up to ``position``, the limit next to 0 reaches it; None where it does not, or where there is none."""
    k = int(np.searchsorted(curve.positions, position))
    limits = sign * (curve.low if sign > 0 else curve.high)
    if np.isnan(limits[k]) or limits[k] > 0:
        return None
    if k == 0 or not limits[k - 1] > 0:
        return float(position)
    return crossing(curve.positions[k - 1 : k + 1], limits[k - 1 : k + 1])


def crossing(positions: FloatArray, values: FloatArray) -> float:
    """Where the line through two points is 0."""
    return float(positions[0] + (positions[1] - positions[0]) * values[0] / (values[0] - values[1]))
