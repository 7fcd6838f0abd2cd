"""Intervals of a value where a range of dependence is held plausible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from cocensor._checks import FloatArray, check_number
from cocensor.inference.along_axis import AxisCurve, chosen_curves
from cocensor.inference.bands import normal_quantile
from cocensor.inference.estimates import ConfidenceInterval


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
    """Intervals of a score, or of a difference, over a range of the axis.

    Of the points of the grid within the range, and of its ends, where estimates and limits are taken to move along
    lines. NaN where a point has an estimate but no interval.

    Examples
    --------
    >>> import numpy as np
    >>> curve = AxisCurve(np.array([0.0, 0.4, 0.8]), np.array([0.2, 0.16, 0.14]), np.full(3, 0.01))
    >>> over_range = uncertainty({"frank": curve}, 0.0, 0.6)
    >>> [round(end, 3) for end in over_range.ignorance], [round(end, 3) for end in over_range.strong]
    ([0.15, 0.2], [0.13, 0.22])
    >>> [round(end, 4) for end in over_range.pointwise], round(over_range.constant, 3)
    ([0.1336, 0.2164], 1.645)

    References
    ----------
    Imbens, G. W., Manski, C. F. (2004). Confidence intervals for partially identified parameters. Econometrica 72,
    1845–1857. Vansteelandt, S., Goetghebeur, E., Kenward, M. G., Molenberghs, G. (2006). Ignorance and uncertainty
    regions as inferential tools in a sensitivity analysis. Statistica Sinica 16, 953–979.
    """
    chosen = chosen_curves(curves, line)
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
    return Uncertainty(
        ignorance,
        _hull(lows, highs),
        _hull(values - constant * errors, values + constant * errors),
        constant,
        tuple(missing),
    )


def imbens_manski_constant(width: float, standard_error: float, confidence_level: float = 0.95) -> float:
    r"""The c with :math:`\Phi(c + w/s) - \Phi(-c)` equal to the confidence level.

    w is the width of the ignorance interval, s the larger standard error of its two ends. From 1.96 (no width) to
    1.645 (a wide interval, where the true value can only be near one end) at 95 %.

    Examples
    --------
    >>> [round(imbens_manski_constant(width, 1.0), 3) for width in (0.0, 1.0, 10.0)]
    [1.96, 1.681, 1.645]
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
