"""Numbers with as many digits as they deserve."""

from __future__ import annotations

from math import ceil, floor, isfinite, log10
from typing import TYPE_CHECKING

import numpy as np

from cocensor.inference.comparisons import Comparison
from cocensor.inference.estimates import Estimate

if TYPE_CHECKING:
    from cocensor.study.scores import Score

#: Of scores whose error is not known, or is none.
_DECIMALS, _MOST_DECIMALS = 4, 8
_ROUNDING = 1e-9
_ONE_DIGIT, _NEXT_TO_1, _TWO_DIGITS = 0.0995, 1.1, 9.95


def decimals(standard_error: float) -> int:
    """So many that the standard error has two significant digits."""
    if not isfinite(standard_error) or standard_error <= 0:
        return _DECIMALS
    return min(max(1 - floor(log10(standard_error)), 0), _MOST_DECIMALS)


def number(value: float, places: int = _DECIMALS) -> str:
    """A number with so many decimals; with two significant digits where these would all be 0."""
    text = f"{value:z.{places}f}"
    return minus(f"{value:.2g}" if value and not text.strip("-0.") else text)


def minus(text: str) -> str:
    """A number with a minus sign in the place of a hyphen."""
    return f"−{text[1:]}" if text.startswith("-") else text


def tau_in_words(tau: float) -> str:
    """A τ with two decimals."""
    return minus(f"{tau:z.2f}")


def level_in_words(level: float) -> str:
    """A confidence level as a share."""
    return f"{100 * level:g}%"


def with_interval(
    estimate: Estimate | Comparison, level: float | None, places: int | None = None, in_short: bool = False
) -> str:
    """A score, or a difference, with its interval where there is one; ``in_short`` without the level."""
    value = estimate.difference if isinstance(estimate, Comparison) else estimate.value
    if places is None:
        places = decimals(estimate.standard_error)
    if level is None or not isfinite(estimate.standard_error):
        return number(value, places)
    low, high = (number(end, places) for end in estimate.confidence_interval(level))
    what = "" if in_short else f"{level_in_words(level)} CI "
    return f"{number(value, places)} ({what}{low} to {high})"


def ratio_in_words(ratio: float) -> str:
    """A ratio with two digits, or three where it is next to 1."""
    if ratio < _ONE_DIGIT:
        return np.format_float_positional(ratio, 2, fractional=False, trim="-")
    if f"{ratio:.2f}" == "1.00":
        return "1"
    text = f"{ratio:.{2 if ratio < _NEXT_TO_1 else 1 if ratio < _TWO_DIGITS else 0}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def inward(ratio: float) -> str:
    """A ratio up to which something holds, rounded towards 1 so that it does: two digits, or three next to 1."""
    unit = 0.01 if 1 <= ratio < _NEXT_TO_1 else 10.0 ** (floor(log10(ratio) + _ROUNDING) - 1)
    steps = ratio / unit
    return f"{(ceil(steps - _ROUNDING) if ratio < 1 else floor(steps + _ROUNDING)) * unit:.3g}"


def from_to(low: float, high: float) -> str:
    """The ends of a stretch of a grid."""
    return f"= {low:g}" if low == high else f"from {low:g} to {high:g}"


def comparison_in_words(comparison: Comparison) -> str:
    """A difference with its 95% interval and p-value."""
    difference = with_interval(comparison, 0.95)
    p = comparison.pvalue
    return f"{comparison.a} − {comparison.b} = {difference}" + (
        f", {pvalue_in_words(p)}" if isfinite(p) else ""
    )


def pvalue_in_words(p: float) -> str:
    """A p-value with two digits, or that it is below 0.001."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}" if p < 0.1 else f"p = {p:.2f}"


def score_in_words(score: Score) -> str:
    """A score with its 95% interval: the model, the metric, and the adjustment."""
    at = "" if score.at is None or str(score.at) in score.metric else f" at {score.at:g}"
    return f"{score.model}: {score.metric}{at} = {with_interval(score, 0.95)}, by {score.adjustment}"
