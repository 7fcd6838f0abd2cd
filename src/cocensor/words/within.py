"""How far an answer holds within the plausible range of τ, and beyond it, in words."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, isfinite
from typing import NamedTuple

import numpy as np

from cocensor.sensitivity import Sensitivity
from cocensor.sensitivity.grid_scores import GridScores
from cocensor.words.digits import ratio_in_words, towards_zero
from cocensor.words.names import Names

# Above it, a multiple of effects is no longer told apart from others.
_MOST_TIMES = 100


class End(NamedTuple):
    """The point up to which something holds, and the line that it is lost on first.

    ``silent`` where it is not lost, but an interval is missing beyond.
    """

    at: float
    silent: bool = False
    line: str | None = None
    #: Whether it is lost on other lines too, further out.
    others: bool = False


class Reach(NamedTuple):
    """From where to where something holds, outward from independence; None for the end of the grid."""

    low: End | None
    high: End | None

    def holds(self, point: float) -> bool:
        """Whether a point is within."""
        return (self.low is None or self.low.at <= point) and (self.high is None or point <= self.high.at)


class Extent(NamedTuple):
    """How far an answer holds: within the plausible range, to be put behind the answer; and beyond, in sentences."""

    within: str
    beyond: str = ""


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


def ends_in_words(found: Reach, low: float = -inf, high: float = inf) -> list[str]:
    """Where τ must lie, rounded so that it stays between two others."""
    ends = []
    for end, side, least in ((found.low, "above", "at least"), (found.high, "below", "at most")):
        if end is not None:
            silent = f"{least} {end.at:g} (beyond, an interval is missing)"
            ends.append(silent if end.silent else f"{side} about {_about(end.at, low, high)}")
    return ends


def _about(tau: float, low: float, high: float) -> str:
    """A τ, rounded so that it stays on the same sides of two others."""
    said = towards_zero(tau)
    stays = all(np.sign(float(said) - end) == np.sign(tau - end) for end in (low, high))
    return said if stays else f"{tau:.3g}"


def within_plausible(sensitivity: Sensitivity, found: Reach, whose: str = "") -> str:
    """Half a sentence on the plausible range, to be put behind what holds."""
    plausible, (low, high) = sensitivity.plausible, covered(sensitivity)
    if low > high:
        return (
            f", but the plausible range of τ, {range_in_words(plausible.low, plausible.high)}, was not tried"
        )
    if found.holds(low) and found.holds(high):
        part = as_far_as_tried(sensitivity)
        return f", which holds{whose} throughout the plausible range of τ{part}, {range_in_words(low, high)}"
    if (found.high is not None and found.high.at < low) or (found.low is not None and found.low.at > high):
        return f", but not within the plausible range of τ, {range_in_words(low, high)}"
    inside = Reach(
        found.low if found.low is not None and found.low.at > low else None,
        found.high if found.high is not None and found.high.at < high else None,
    )
    where = f"within the plausible range (τ from {range_in_words(plausible.low, plausible.high)})"
    ends = f"while τ is {' and '.join(ends_in_words(inside, low, high))}"
    if inside.low is not None and inside.high is not None and inside.low.at == inside.high.at:
        ends = f"at τ = {inside.low.at:g}"
    return f", which holds{whose} {where} only {ends}"


def beyond_plausible(sensitivity: Sensitivity, found: Reach, names: Names, then: str = "") -> str:
    """Where what holds is lost, nearest first, on every scale; or that it is not.

    ``then`` is what follows further up.
    """
    (low, high), taus = covered(sensitivity), answered_points(sensitivity)
    if found.low is None and found.high is None:
        if low <= taus[0] and taus[-1] <= high:
            return ""
        more = f"{tried_in_words(sensitivity)}, τ from {taus[0]:g} to {taus[-1]:g}"
        return f"{'Beyond it, this' if low <= high else 'It'} holds at every {more}."
    sentences, again = list[str](), False
    inside = [end for end in (found.low, found.high) if end is not None and low < end.at < high]
    for end in sorted(
        (end for end in (found.low, found.high) if end is not None), key=lambda end: abs(end.at)
    ):
        outside = low <= high and (end.at >= high if end is found.high else end.at <= low)
        where = "Beyond it, this" if outside else "It"
        if end.silent:
            way = "up" if end.at >= 0 else "down"
            said = f"{where} holds {way} to τ = {end.at:g}; further out an interval is missing"
        else:
            at = "there" if inside == [end] else f"at about τ = {_about(end.at, low, high)}"
            first = f"{'It is also' if again else f'{where} is'} lost {at}"
            said = f"{first}{_lost_on(sensitivity, end, names)}{_scales(sensitivity, end, names, again)}"
            again = True
        sentences.append(f"{said}{then if end is found.high else ''}.")
    return " ".join(sentences)


def _lost_on(sensitivity: Sensitivity, end: End, names: Names) -> str:
    leavers = " (healthy leavers)" if end.at < 0 else ""
    if end.line is None:
        return leavers
    under = f"under {names.family(end.line)}"
    if end.others:
        return f"{leavers}, first {under}"
    return f"{leavers}, {under}{' alone' if len(sensitivity.leaders()) > 1 else ''}"


def _scales(sensitivity: Sensitivity, end: End, names: Names, again: bool) -> str:
    said = scales_in_words(sensitivity, end.line, end.at, names, again)
    return f": {said}" if said else ""


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
    times = sensitivity.multiple(tau)
    if isfinite(times):
        many = f"more than {_MOST_TIMES}" if times > _MOST_TIMES else ratio_in_words(times)
        strongest = names.model(sensitivity.evaluation.plausible_tau().strongest.name)
        yield f"{many} times the effects of {strongest}{'' if again else ', the strongest covariate'}"


def plausible_in_words(sensitivity: Sensitivity) -> str:
    """Which range is held plausible, and who decided that."""
    plausible, (low, high) = sensitivity.plausible, covered(sensitivity)
    said = f"τ from {range_in_words(plausible.low, plausible.high)}"
    if plausible.low == -plausible.high:
        said = f"|τ| up to {plausible.high:.2g}"
    part, taus = "", answered_points(sensitivity)
    if (low, high) != (plausible.low, plausible.high):
        part = f" Of it, τ from {range_in_words(low, high)} was tried."
        if low >= high:
            tried = f"τ = {taus[0]:g}" if len(taus) == 1 else f"τ from {taus[0]:g} to {taus[-1]:g}"
            part = f" Tried was {tried}."
    ratios = "" if part else _ratios(sensitivity)
    return f"Plausible: {said}{ratios}, {_origin(sensitivity)}.{part}"


def _ratios(sensitivity: Sensitivity) -> str:
    """The hazard ratios right after leaving that the plausible range stands for, under all families."""
    found = [
        ratio
        for family in sensitivity.leaders()
        for tau in (sensitivity.plausible.low, sensitivity.plausible.high)
        for ratio in (sensitivity.hazard_ratio(family, tau),)
        if isfinite(ratio)
    ]
    if len(found) < 2:
        return ""
    ends = " to ".join(map(ratio_in_words, (min(found), max(found))))
    return f" (hazard ratios right after leaving from {ends})"


def _origin(sensitivity: Sensitivity) -> str:
    plausible = sensitivity.plausible
    if plausible.origin == "asked":
        return "as asked"
    if plausible.why is not None:
        samples = sensitivity.evaluation.data.samples
        if samples.x_test is None:
            return "the default, as there are no covariates"
        if not samples.y_test.dropout.any():
            return "the default, as nobody dropped out"
        return f"the default, as covariates do not tell: {plausible.why.rstrip('.')}"
    together = sensitivity.evaluation.plausible_tau().together
    what = f"three times what all covariates together induce ({together:z.2f})"
    return what if plausible.origin == "covariates" else f"the default; {what} is less"
