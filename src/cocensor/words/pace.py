"""The dependence in the clinic's words: how fast those who left would have had the event, beside those who stayed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import isfinite, nan
from typing import NamedTuple

from cocensor.sensitivity.grid_scores import GridScores
from cocensor.words.digits import ratio_in_words

_TAU = "τ"
_DEFINED = "τ runs from -1 to 1, and 0 means no dependence"


class Dependence(NamedTuple):
    """A strength of dependence: Kendall's τ, and the hazard ratio right after leaving, NaN where it is not known."""

    tau: float
    ratio: float = nan

    @property
    def is_positive(self) -> bool:
        """Whether those who leave early would have had the event early."""
        return self.tau > 0


def weakest(grid: GridScores, points: Iterable[tuple[str, float]]) -> float:
    """The hazard ratio nearest to 1 of some points, each with its line; NaN where none is known."""
    return nearest_to_1(_ratios(grid, points))


def strongest(grid: GridScores, points: Iterable[tuple[str, float]]) -> float:
    """The hazard ratio furthest from 1 of some points, each with its line; NaN where none is known."""
    return max(_ratios(grid, points), key=_strength, default=nan)


def _ratios(grid: GridScores, points: Iterable[tuple[str, float]]) -> list[float]:
    ratios = (grid.place(grid.primary, line, point)[-1] for line, point in points)
    return [ratio for ratio in ratios if isfinite(ratio)]


def nearest_to_1(ratios: Iterable[float]) -> float:
    """Of hazard ratios that are known; NaN where there is none."""
    return min(filter(isfinite, ratios), key=_strength, default=nan)


def _strength(ratio: float) -> float:
    return max(ratio, 1 / ratio)


def from_here_on(at: Dependence, tau: str | None = None) -> str:
    """Of this dependence and all that are stronger; ``tau`` is how τ is said."""
    more = "or more" if at.is_positive else "or less"
    said = f"{_TAU} of {tau or f'{at.tau:g}'} {more}"
    if not isfinite(at.ratio) or ratio_in_words(at.ratio) == "1":
        return f"at a {said}"
    return f"at {ratio_in_words(at.ratio)} times as fast {more} ({said})"


def there(at: Dependence) -> str:
    """At this dependence alone."""
    if not isfinite(at.ratio) or ratio_in_words(at.ratio) == "1":
        return f"at {_TAU} = {at.tau:g}"
    return f"at {ratio_in_words(at.ratio)} times as fast ({_TAU} = {at.tau:g})"


def between(low: tuple[Dependence, str] | None, high: tuple[Dependence, str] | None) -> str:
    """As long as the dependence lies between two, or above or below one; each with how its τ is said."""
    along = _span(None if low is None else low[1], None if high is None else high[1])
    known = [end[0].ratio for end in (low, high) if end is not None]
    if not all(isfinite(ratio) and ratio_in_words(ratio) != "1" for ratio in known):
        return f"as long as {_TAU} is {along}"
    fast = _span(*(None if end is None else ratio_in_words(end[0].ratio) for end in (low, high)))
    return f"as long as they would have had it {fast} times as fast ({_TAU} {along})"


def _span(low: str | None, high: str | None) -> str:
    if low is not None and high is not None:
        return f"between about {low} and {high}"
    return f"at least about {low}" if high is None else f"up to about {high}"


def tau_defined(sentences: Iterable[str]) -> list[str]:
    """Sentences in which τ is called by its full name at first, and said what it is: in its brackets, or after it."""
    said = [sentence for sentence in sentences if sentence]
    first = next((k for k, sentence in enumerate(said) if _TAU in sentence), None)
    if first is None:
        return said
    named = said[first].replace(_TAU, f"Kendall’s {_TAU}", 1)
    within = re.sub(r"(\(Kendall’s τ[^()]*)\)", rf"\1; {_DEFINED})", named, count=1)
    defined = [within] if within != named else [named, f"{_DEFINED}."]
    return [*said[:first], *defined, *said[first + 1 :]]
