"""How far an answer holds within the plausible range of τ, and beyond it, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import isfinite, nan
from typing import NamedTuple

import numpy as np

from cocensor.sensitivity import Sensitivity
from cocensor.sensitivity.grid_scores import GridScores
from cocensor.words.digits import ratio_in_words, towards_zero
from cocensor.words.names import Names, capital
from cocensor.words.pace import Dependence, between, from_here_on, strongest, weakest

# Above it, a multiple of effects is no longer told apart from others.
_MOST_TIMES = 100
_PLAUSIBLE = "The plausible range is"


class End(NamedTuple):
    """The point up to which something holds, and the line that it is lost on first.

    ``silent`` where it is not lost, but an interval is missing beyond.
    """

    at: float
    silent: bool = False
    line: str | None = None
    #: Whether it is lost on other lines too, further out.
    others: bool = False
    #: The hazard ratio up to which it holds on all lines; NaN where it is not known.
    ratio: float = nan
    #: The model that leads no more, and the one that it is lost against; or those who have the best score beyond.
    models: tuple[str, ...] = ()

    @property
    def dependence(self) -> Dependence:
        """How strong it is."""
        return Dependence(self.at, self.ratio)


class Reach(NamedTuple):
    """From where to where something holds, outward from independence; None for the end of the grid."""

    low: End | None
    high: End | None

    def holds(self, point: float) -> bool:
        """Whether a point is within."""
        return (self.low is None or self.low.at <= point) and (self.high is None or point <= self.high.at)

    @property
    def ends(self) -> list[End]:
        """Those that there are, the nearest to independence first."""
        return sorted((end for end in self if end is not None), key=lambda end: abs(end.at))


class Extent(NamedTuple):
    """How far an answer holds, in sentences; any may be empty.

    ``stays`` is about the plausible range, ``beyond`` names who comes to the fore further out, and ``lost`` has the
    limits on every scale.
    """

    stays: str
    beyond: str = ""
    lost: str = ""
    #: Whether ``beyond`` starts within the plausible range, below independence and above.
    inside: tuple[bool, bool] = (False, False)

    def told(self, plausible: str) -> list[str]:
        """What follows the answer; ``plausible`` says what the plausible range is."""
        if any(self.inside):
            return [self.stays, self.beyond, plausible]
        again = (
            plausible.replace(_PLAUSIBLE, "This is", 1)
            if self.stays.endswith("plausible range.")
            else plausible
        )
        return [self.stays, again, self.beyond]


def answered_points(grid: GridScores) -> list[float]:
    """The points that have an answer by the primary adjustment and the first metric, on any line."""
    return sorted({point for by_point in grid.leaders().values() for point in by_point})


def tried_in_words(sensitivity: Sensitivity) -> str:
    """All dependences of the grid, where some families may have no answer."""
    silent = any(
        name == sensitivity.primary and line in sensitivity.families for name, line in sensitivity.missing
    )
    whole = not silent and len(sensitivity.leaders()) == len(sensitivity.families)
    return f"dependence that {'was tried' if whole else 'has an answer'}"


def covered(sensitivity: Sensitivity) -> tuple[float, float]:
    """The part of the plausible range that the grid covers; its ends are in the wrong order where that is none."""
    taus = answered_points(sensitivity)
    return max(sensitivity.plausible.low, taus[0]), min(sensitivity.plausible.high, taus[-1])


def as_far_as_tried(sensitivity: Sensitivity) -> str:
    """To be put behind the plausible range where the grid does not cover all of it."""
    plausible = sensitivity.plausible
    return "" if covered(sensitivity) == (plausible.low, plausible.high) else " as far as it was tried"


def range_in_words(low: float, high: float) -> str:
    """From one τ to another."""
    return f"{low:.2g} to {high:.2g}"


def _about(tau: float, low: float, high: float) -> str:
    """A τ, rounded so that it stays on the same sides of two others."""
    said = towards_zero(tau)
    stays = all(np.sign(float(said) - end) == np.sign(tau - end) for end in (low, high))
    return said if stays else f"{tau:.3g}"


def stays_in_words(sensitivity: Sensitivity, found: Reach, whose: str = "") -> str:
    """A sentence on how far what was said holds within the plausible range."""
    low, high = covered(sensitivity)
    if low > high:
        return "The plausible range was not tried."
    if found.holds(low) and found.holds(high):
        return f"That stays so{whose} throughout the plausible range{as_far_as_tried(sensitivity)}."
    if (found.high is not None and found.high.at < low) or (found.low is not None and found.low.at > high):
        return f"That is not so{whose} within the plausible range."
    inside = Reach(
        found.low if found.low is not None and found.low.at > low else None,
        found.high if found.high is not None and found.high.at < high else None,
    )
    if inside.low is not None and inside.high is not None and inside.low.at == inside.high.at:
        return f"That is so{whose} only at τ = {inside.low.at:g}."
    low_end, high_end = (
        None if end is None else (end.dependence, _about(end.at, low, high)) for end in inside
    )
    where = between(low_end, high_end)
    silent = "; beyond, an interval is missing" if any(end.silent for end in inside.ends) else ""
    return f"That stays so{whose} in a part of the plausible range only: {where}{silent}."


def beyond_in_words(sensitivity: Sensitivity, found: Reach, then: Callable[[End], Iterable[str]]) -> str:
    """Who comes to the fore where what holds is lost, nearest first; or that it is not lost.

    ``then`` has clauses, of which the first stands behind where that is.
    """
    (low, high), taus = covered(sensitivity), answered_points(sensitivity)
    if not found.ends:
        if low <= taus[0] and taus[-1] <= high:
            return ""
        return f"It is so at every {tried_in_words(sensitivity)}, τ from {taus[0]:g} to {taus[-1]:g}."
    inside, said = any(lost_inside(sensitivity, found)), list[str]()
    for end in found.ends:
        where = f"{capital(from_here_on(end.dependence, _about(end.at, low, high)))}"
        if inside and len(found.ends) == 1:
            where = "Beyond that"
        if end.silent:
            way = "up" if end.at >= 0 else "down"
            said.append(f"It is so {way} to τ = {end.at:g}; further out an interval is missing.")
            continue
        first, *more = then(end)
        said += [f"{where}, {first}.", *(f"{capital(clause)}." for clause in more)]
    return " ".join(said)


def lost_inside(sensitivity: Sensitivity, found: Reach) -> tuple[bool, bool]:
    """Whether what holds is lost within the plausible range, at its low and at its high end."""
    low, high = covered(sensitivity)
    is_low, is_high = (end is not None and low < end.at < high for end in found)
    return is_low, is_high


def lost_in_words(sensitivity: Sensitivity, found: Reach, names: Names) -> str:
    """The limits of what holds, nearest first, on every scale."""
    said, again = list[str](), False
    for end in found.ends:
        if not end.silent:
            way = "up" if end.at >= 0 else "down"
            limit = f"The answer holds {way} to about τ = {towards_zero(end.at)}"
            said.append(
                f"{limit}{_lost_on(sensitivity, end, names)}{_scales(sensitivity, end, names, again)}."
            )
            again = True
    return " ".join(said)


def _lost_on(sensitivity: Sensitivity, end: End, names: Names) -> str:
    if end.line is None:
        return ""
    under = f"under {names.family(end.line)}"
    if end.others:
        return f"; it is lost {under} first"
    return f"; it is lost {under}{' alone' if len(sensitivity.leaders()) > 1 else ''}"


def _scales(sensitivity: Sensitivity, end: End, names: Names, again: bool) -> str:
    said = scales_in_words(sensitivity, end.line, end.at, names, again)
    return f", at {said}" if said else ""


def scales_in_words(
    sensitivity: Sensitivity, family: str | None, tau: float, names: Names, again: bool = False
) -> str:
    """τ as a hazard ratio right after leaving, and as a multiple of the effects of the strongest covariate.

    What is not known is left out; ``again`` where the covariate was named before.
    """
    return ", ".join(_on_other_scales(sensitivity, family, tau, names, again))


def _on_other_scales(
    sensitivity: Sensitivity, family: str | None, tau: float, names: Names, again: bool
) -> Iterator[str]:
    ratio = float("nan") if family is None else sensitivity.hazard_ratio(family, tau)
    if isfinite(ratio):
        yield f"a hazard ratio of {ratio_in_words(ratio)} right after leaving"
    times, measured = sensitivity.multiple(tau), sensitivity.benchmarks
    if measured is not None and isfinite(times):
        many = f"more than {_MOST_TIMES}" if times > _MOST_TIMES else ratio_in_words(times)
        strongest = names.model(measured.strongest.name)
        yield f"{many} times the effects of {strongest}{'' if again else ', the strongest covariate'}"


def plausible_in_words(sensitivity: Sensitivity, inside: tuple[bool, bool] = (False, False)) -> str:
    """Which range is held plausible, and who decided that; ``inside`` says where an answer is lost within it.

    Families have other hazard ratios at the same τ. Where an answer stays to an end of the range, the ratio there is
    one that the range reaches under every family; where it does not, under some.
    """
    plausible, (low, high) = sensitivity.plausible, covered(sensitivity)
    said = f"τ from {range_in_words(plausible.low, plausible.high)}"
    part, taus = "", answered_points(sensitivity)
    if (low, high) != (plausible.low, plausible.high):
        part = f" Of it, τ from {range_in_words(low, high)} was tried."
        if low >= high:
            tried = f"τ = {taus[0]:g}" if len(taus) == 1 else f"τ from {taus[0]:g} to {taus[-1]:g}"
            part = f" Tried was {tried}."
    ratios = "" if part else _ratios(sensitivity, inside)
    where = f"{ratios} times as fast ({said})" if ratios else said
    return f"{_PLAUSIBLE} {where}, {_origin(sensitivity)}.{part}"


def _ratios(sensitivity: Sensitivity, inside: tuple[bool, bool]) -> str:
    """The hazard ratios right after leaving that the plausible range stands for."""
    ends = zip((sensitivity.plausible.low, sensitivity.plausible.high), inside, strict=True)
    found = [
        (strongest if is_lost else weakest)(sensitivity, [(family, tau) for family in sensitivity.leaders()])
        for tau, is_lost in ends
    ]
    return " to ".join(map(ratio_in_words, found)) if all(map(isfinite, found)) else ""


def _origin(sensitivity: Sensitivity) -> str:
    plausible, measured = sensitivity.plausible, sensitivity.benchmarks
    if plausible.origin == "asked":
        return "as asked for"
    if measured is None:
        samples = sensitivity.evaluation.data.samples
        if samples.x_test is None:
            return "the default, as there are no covariates to go by"
        if not samples.y_test.dropout.any():
            return "the default, as nobody dropped out"
        return f"the default, as covariates do not tell ({str(plausible.why).rstrip('.')})"
    together = f"τ = {measured.together:z.2f}"
    what = f"three times the dependence that all measured covariates together explain ({together})"
    return f"which is {what}" if plausible.origin == "covariates" else f"the default, as {what} is less"
