"""What is left to say where a range of τ is held plausible."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from cocensor._validation import FloatArray, check_number
from cocensor.inference.along_tau import TauCurve, chosen_curves
from cocensor.inference.bands import normal_quantile
from cocensor.inference.estimates import ConfidenceInterval


@dataclass(frozen=True)
class Uncertainty:
    """Intervals of a value whose τ is known to lie in a range.

    Attributes
    ----------
    ignorance : ConfidenceInterval
        The extremes of the estimates: what would be left open by endless data.
    strong : ConfidenceInterval
        The extremes of the intervals: holds the true values at all τ of the range, with the confidence level.
    pointwise : ConfidenceInterval
        Holds the one true value, with the confidence level.
    constant : float
        How many standard errors ``pointwise`` reaches beyond the estimates (Imbens and Manski).
    missing : tuple of (str, float)
        Families and τ within the range that have no estimate, and so no part in this.
    """

    ignorance: ConfidenceInterval
    strong: ConfidenceInterval
    pointwise: ConfidenceInterval
    constant: float
    missing: tuple[tuple[str, float], ...] = ()


def uncertainty(
    curves: Mapping[str, TauCurve], low: float, high: float, family: str | None = None
) -> Uncertainty:
    """Intervals of a score, or of a difference, over a range of τ.

    Of the points of the grid within the range, and of its ends, where estimates and limits are taken to move along
    lines. NaN where a point has an estimate but no interval.

    Parameters
    ----------
    curves : dict of TauCurve
        By family. A family takes part over the τ that it has.
    low, high : float
        The range, within the grid.
    family : str, optional
        One of them; by default all together.

    Examples
    --------
    >>> import numpy as np
    >>> curve = TauCurve.normal(np.array([0.0, 0.4, 0.8]), np.array([0.2, 0.16, 0.14]), np.full(3, 0.01))
    >>> found = uncertainty({"frank": curve}, 0.0, 0.6)
    >>> [round(end, 3) for end in found.ignorance], [round(end, 3) for end in found.strong]
    ([0.15, 0.2], [0.13, 0.22])
    >>> [round(end, 4) for end in found.pointwise], round(found.constant, 3)
    ([0.1336, 0.2164], 1.645)

    References
    ----------
    Imbens, G. W., Manski, C. F. (2004). Confidence intervals for partially identified parameters. Econometrica 72,
    1845–1857. Vansteelandt, S., Goetghebeur, E., Kenward, M. G., Molenberghs, G. (2006). Ignorance and uncertainty
    regions as inferential tools in a sensitivity analysis. Statistica Sinica 16, 953–979.
    """
    chosen = chosen_curves(curves, family)
    _check_range(chosen, low, high)
    level = next(iter(chosen.values())).confidence_level
    points, missing = [], []
    for name, curve in chosen.items():
        taus, columns = _within(curve, low, high)
        absent = np.isnan(columns[0])
        missing += [(name, float(tau)) for tau in taus[absent]]
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


def _check_range(curves: Mapping[str, TauCurve], low: float, high: float) -> None:
    first, last = (float(end(end(c.taus) for c in curves.values())) for end in (min, max))
    for name, tau in (("low", low), ("high", high)):
        if not first <= check_number(tau, name) <= last:
            raise ValueError(f"{name} must lie within the grid, from {first:g} to {last:g}, but is {tau:g}.")
    if low > high:
        raise ValueError(f"low must not exceed high, {high:g}, but is {low:g}.")
    levels = {curve.confidence_level for curve in curves.values()}
    if len(levels) > 1:
        raise ValueError(f"curves must have one confidence_level, but have {sorted(levels)}.")


def _within(curve: TauCurve, low: float, high: float) -> tuple[FloatArray, FloatArray]:
    """The τ of a curve within a range and those of its ends that it reaches; there, estimates, errors and limits."""
    ends = [end for end in (low, high) if curve.taus[0] <= end <= curve.taus[-1]]
    inside = curve.taus[(curve.taus >= low) & (curve.taus <= high)]
    taus = np.unique(np.concatenate((inside, ends)))
    arrays = (curve.values, curve.standard_errors, curve.low, curve.high)
    return taus, np.array([np.interp(taus, curve.taus, array) for array in arrays])


def _hull(lows: FloatArray, highs: FloatArray) -> ConfidenceInterval:
    return ConfidenceInterval(float(lows.min()), float(highs.max()))
