"""A score, or a difference of two, along Kendall's τ: who leads for certain, and from where to where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cocensor._validation import FloatArray, as_vector, check_choice, refuse_first
from cocensor.inference.bands import normal_quantile
from cocensor.inference.estimates import Estimates


@dataclass(frozen=True, eq=False)
class TauCurve:
    """Estimates along τ under one family, each with its own interval.

    A τ that the family does not reach is left out; one where there is no estimate or no interval is NaN.

    Attributes
    ----------
    taus : array
        Increasing.
    values, standard_errors, low, high : array
        At each τ the estimate, its standard error and the ends of its interval.
    confidence_level : float
    """

    taus: FloatArray
    values: FloatArray
    standard_errors: FloatArray
    low: FloatArray
    high: FloatArray
    confidence_level: float = 0.95

    def __post_init__(self) -> None:
        taus = as_vector(self.taus, "taus")
        if not taus.size:
            raise ValueError("taus is empty: at least one is needed.")
        falls = np.diff(taus, prepend=-np.inf) <= 0
        if falls.any():
            refuse_first(falls, taus, "taus must increase")
        for name in ("values", "standard_errors", "low", "high"):
            array = np.asarray(getattr(self, name), dtype=np.float64)
            if array.shape != taus.shape:
                raise ValueError(f"{name} must have shape {taus.shape}, as taus has, but has {array.shape}.")
            object.__setattr__(self, name, array)
        object.__setattr__(self, "taus", taus)

    @classmethod
    def normal(
        cls, taus: FloatArray, values: FloatArray, standard_errors: FloatArray, confidence_level: float = 0.95
    ) -> TauCurve:
        """With intervals from the normal distribution."""
        reach = normal_quantile(confidence_level) * np.asarray(standard_errors)
        low, high = np.asarray(values) - reach, np.asarray(values) + reach
        return cls(taus, values, standard_errors, low, high, confidence_level)

    @classmethod
    def of(cls, taus: FloatArray, estimates: Estimates, confidence_level: float = 0.95) -> TauCurve:
        """Of one estimate for each τ, with their own kind of intervals."""
        low, high = estimates.confidence_intervals(confidence_level)
        return cls(taus, estimates.values, estimates.standard_errors, low, high, confidence_level)

    @property
    def sides(self) -> FloatArray:
        """Where the interval lies: 1 above 0, −1 below; 0 where it holds 0, or where there is none."""
        return 1.0 * (self.low > 0) - 1.0 * (self.high < 0)

    def mirrored(self) -> TauCurve:
        """The curve along −τ."""
        values, errors, low, high = (
            array[::-1] for array in (self.values, self.standard_errors, self.low, self.high)
        )
        return TauCurve(-self.taus[::-1], values, errors, low, high, self.confidence_level)


@dataclass(frozen=True)
class Lead:
    """A difference is told from 0, with one sign, for every τ of the grid from ``low`` to ``high``.

    Attributes
    ----------
    sign : int
        1 where the difference is above 0, −1 below.
    low, high : float
        The last τ of the grid, on either side of 0, up to which it is.
    lost_below, lost_above : float or None
        Where the interval first holds 0, if its limits move along lines between the points of the grid; None where it
        does not, up to the end of the grid or to a point without an interval.
    """

    sign: int
    low: float
    high: float
    lost_below: float | None
    lost_above: float | None


def lead(curves: Mapping[str, TauCurve], family: str | None = None) -> Lead | None:
    r"""Over which τ a difference is told from 0: a fixed sequence of tests outward from independence.

    It starts at the τ of the grid nearest to 0 (of two, the positive one) and goes up and down; either way it stops at
    the first τ where the interval of any family holds 0, changes side, or is missing. Each step is taken only if those
    before it succeeded, in an order fixed before the data, and at each all families must agree: no correction for the
    number of points or families is needed. A step too far needs an error to one side: either way it has a chance of at
    most half of one less the confidence level, as has the wrong side at the start.

    Parameters
    ----------
    curves : dict of TauCurve
        By family. A family takes part at the τ that it has.
    family : str, optional
        One of them; by default all together.

    Returns
    -------
    Lead or None
        None where the difference is not told from 0 at the start.

    Examples
    --------
    >>> import numpy as np
    >>> taus = np.array([0.0, 0.2, 0.4, 0.6])
    >>> clayton = TauCurve.normal(taus, np.array([-3.0, -2.6, -2.2, -1.0]), np.ones(4))
    >>> frank = TauCurve.normal(taus, np.array([-3.0, -2.3, -1.5, 0.0]), np.ones(4))
    >>> lead({"clayton": clayton, "frank": frank}, "clayton")
    Lead(sign=-1, low=0.0, high=0.4, lost_below=None, lost_above=0.44...)
    >>> lead({"clayton": clayton, "frank": frank})
    Lead(sign=-1, low=0.0, high=0.2, lost_below=None, lost_above=0.28...)
    """
    chosen = list(chosen_curves(curves, family).values())
    taus = np.unique(np.concatenate([curve.taus for curve in chosen]))
    start = float(min(taus, key=lambda tau: (abs(tau), -tau)))
    sign = _common_side(chosen, start)
    if sign == 0:
        return None
    high, lost_above = _walk_up(chosen, taus, start, sign)
    minus_low, lost_below = _walk_up([curve.mirrored() for curve in chosen], -taus[::-1], -start, sign)
    return Lead(
        int(sign), 0.0 - minus_low, high, None if lost_below is None else 0.0 - lost_below, lost_above
    )


def chosen_curves(curves: Mapping[str, TauCurve], family: str | None) -> dict[str, TauCurve]:
    """The curve of one family, or of all."""
    if not curves:
        raise ValueError("curves is empty: at least one family is needed.")
    if family is None:
        return dict(curves)
    check_choice(family, "family", tuple(curves))
    return {family: curves[family]}


def _walk_up(curves: list[TauCurve], taus: FloatArray, tau: float, sign: float) -> tuple[float, float | None]:
    """From ``tau`` on, the last τ where all intervals lie on one side, and where the first of them reaches 0."""
    for following in taus[taus > tau]:
        if _common_side(curves, following) != sign:
            lost = [_reaches_zero(curve, following, sign) for curve in curves if following in curve.taus]
            return tau, min((at for at in lost if at is not None), default=None)
        tau = float(following)
    return tau, None


def _common_side(curves: list[TauCurve], tau: float) -> float:
    sides = np.concatenate([curve.sides[curve.taus == tau] for curve in curves])
    return float(sides[0]) if (sides == sides[0]).all() else 0.0


def _reaches_zero(curve: TauCurve, tau: float, sign: float) -> float | None:
    """Where, up to ``tau``, the limit next to 0 reaches it; None where it does not, or where there is none."""
    k = int(np.searchsorted(curve.taus, tau))
    limits = sign * (curve.low if sign > 0 else curve.high)
    if np.isnan(limits[k]) or limits[k] > 0:
        return None
    if k == 0 or not limits[k - 1] > 0:
        return float(tau)
    return crossing(curve.taus[k - 1 : k + 1], limits[k - 1 : k + 1])


def crossing(taus: FloatArray, values: FloatArray) -> float:
    """Where the line through two points is 0."""
    return float(taus[0] + (taus[1] - taus[0]) * values[0] / (values[0] - values[1]))
