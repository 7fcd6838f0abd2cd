"""Tipping points of two models: on all scales, and of both kinds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cocensor.sensitivity.grid_scores import GridScores

if TYPE_CHECKING:
    from cocensor.sensitivity.result import Sensitivity

Kind = Literal["estimate", "interval"]


@dataclass(frozen=True)
class Tip:
    """Where what is said of two models stops to hold, outward from independence along one line.

    Attributes
    ----------
    kind : {"estimate", "interval"}
        The scores change order; or the interval of their difference, which excludes 0 from independence up to there,
        holds it from there on.
    family : str
        Of copulas, or "hazard_ratio".
    reason : str or None
        The reason or group whose hazard ratio moves alone.
    tau : float
        Kendall's τ; NaN for hazard ratios.
    hazard_ratio : float
        After dropout; under a copula that of :meth:`Sensitivity.hazard_ratio`, NaN where that is not known.
    multiple : float
        By how much the log hazard ratios of the strongest measured covariate must be multiplied to induce this τ
        (:meth:`PlausibleTau.multiple_for`); NaN for hazard ratios and without covariates, infinite where none does.
    winner_beyond : str or None
        The model with the better score further out; None of an interval, where none is distinguishable.
    """

    kind: Kind
    family: str
    reason: str | None
    tau: float
    hazard_ratio: float
    multiple: float
    winner_beyond: str | None


def tips(
    sensitivity: Sensitivity, a: str, b: str, metric: str | None, adjustment: str | None
) -> tuple[Tip, ...]:
    """Under copulas, then by hazard ratio; each nearest to independence first. None where one is no contender."""
    if not {a, b} <= set(sensitivity.evaluation.contenders):
        return ()
    name = sensitivity.primary if adjustment is None else adjustment
    grids: list[GridScores] = [sensitivity]
    after = sensitivity.after_dropout
    if after is not None and name in after.answers:
        grids.append(after)
    return tuple(
        Tip(kind, *place, sensitivity.multiple(place[2]), winner)
        for grid in grids
        for kind, line, at, winner in sorted(
            _places(grid, a, b, metric, name), key=lambda found: abs(grid.position(found[2]))
        )
        for place in (grid.place(name, line, at),)
    )


def _places(
    grid: GridScores, a: str, b: str, metric: str | None, adjustment: str
) -> Iterator[tuple[Kind, str, float, str | None]]:
    """By kind and line, where; and the model with the better score beyond."""
    smaller = grid.evaluation.metric(metric).direction == "smaller"
    for point in grid.tipping_points(a, b, None, metric, adjustment):
        outward = point.sign_above if grid.position(point.at) >= 0 else -point.sign_above
        yield "estimate", point.line, point.at, a if (outward < 0) == smaller else b
    for line in grid.answers[adjustment]:
        led = grid.lead(a, b, line, metric, adjustment)
        if led is not None:
            for lost, side in ((led.lost_below, -1.0), (led.lost_above, 1.0)):
                # Without independence in the grid, a lead may be lost on the way to it, which is no way outward.
                if lost is not None and side * grid.position(lost) >= 0:
                    yield "interval", line, lost, None
