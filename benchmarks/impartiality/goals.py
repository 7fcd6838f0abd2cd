"""The goals of the new primary, each with its figure, standard error and verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.impartiality.judges import PRIMARY
from benchmarks.impartiality.measures import Condition, Estimate, Pairs

Key = tuple[str, int, float]


@dataclass(frozen=True)
class Check:
    """A figure beside its limit, and where it was found if that is one place of several."""

    figure: Estimate
    limit: float
    met: bool
    where: str = ""

    @property
    def verdict(self) -> str:
        """Whether the goal is met, and where not, whether that may be chance."""
        if self.met:
            return "met"
        return "not met, but within 2 SE" if self.near else "not met"

    @property
    def near(self) -> bool:
        """Whether the limit is within two standard errors."""
        return bool(abs(self.figure.value - self.limit) <= 2.0 * self.figure.error)


@dataclass(frozen=True)
class Goal:
    """What is asked of which conditions."""

    text: str
    applies: Callable[[Key], bool]
    #: The last argument is the judge that it is compared with.
    check: Callable[[Key, Condition, str], Check]
    scale: float = 1.0


def _ratio(figure: Estimate, limit: float, or_below: bool = False) -> Check:
    return Check(figure, limit, or_below or figure.value <= limit)


def _differences(pairs: Callable[[Condition], Pairs]) -> Callable[[Key, Condition, str], Check]:
    def check(key: Key, found: Condition, against: str) -> Check:
        _, n, tau = key
        mine, other = (found.difference_size(judge, pairs(found)) for judge in (PRIMARY, against))
        if tau == 0.0:
            return _ratio(Estimate.ratio(mine, other), 1.2, bool(np.nanmean(mine) <= 0.001))
        return _ratio(Estimate.ratio(mine, other), 0.75 if n < 1_000 else 0.5)

    return check


def _scores(key: Key, found: Condition, against: str) -> Check:
    return _ratio(Estimate.ratio(found.score_size(PRIMARY), found.score_size(against)), 1.0 / 3.0)


def _class_bias(key: Key, found: Condition, against: str) -> Check:
    """The pair of classes with the most bias beyond what chance explains."""
    checks = []
    for pair in found.class_pairs:
        bias = Estimate.of(found.by_draw(found.difference_errors(PRIMARY, [pair])))
        limit = 0.003 + 2.0 * float(np.nan_to_num(bias.error))
        where = " − ".join(found.models[k] for k in pair)
        checks.append(Check(bias, limit, abs(bias.value) <= limit, where))
    return max(checks, key=lambda each: abs(each.figure.value) - each.limit)


def _order(key: Key, found: Condition, against: str) -> Check:
    """At least as often as IPCW within two standard errors; more often at τ = .5."""
    gain = Estimate.of(found.picked(PRIMARY) - found.picked(against))
    met = gain.value > 0.0 if key[2] == 0.5 else gain.value >= -2.0 * np.nan_to_num(gain.error)
    return Check(gain, 0.0, bool(met))


def _all_pairs(found: Condition) -> Pairs:
    return found.all_pairs


def _class_pairs(found: Condition) -> Pairs:
    return found.class_pairs


GOALS = (
    Goal(
        "Differences of all pairs, error over IPCW's: at τ = 0 at most 1.2, or an error of 0.001; at τ = .5 at most "
        ".5, and .75 at n = 300",
        lambda key: key[2] in (0.0, 0.5),
        _differences(_all_pairs),
    ),
    Goal(
        "The same for pairs of classes",
        lambda key: key[2] in (0.0, 0.5),
        _differences(_class_pairs),
    ),
    Goal("Scores, error over IPCW's: at τ = .5 at most 1/3", lambda key: key[2] == 0.5, _scores),
    Goal(
        "Bias of the worst pair of classes, in units of 0.001: at most 3 and two standard errors, n ≥ 1,000",
        lambda key: key[1] >= 1_000,
        _class_bias,
        1_000.0,
    ),
    Goal(
        "Better model of a clear pair picked, percentage points more than by IPCW: no fewer within two standard "
        "errors; more at τ = .5",
        lambda key: True,
        _order,
        100.0,
    ),
)
