"""The goals of a judge, each with its figure, standard error and verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.impartiality.measures import Condition, Estimate, Pairs

Key = tuple[str, int, float]
CheckOf = Callable[[Key, Condition, str, str], "Check"]


@dataclass(frozen=True)
class Check:
    """A figure beside its limit, and where it was found if that is one place of several."""

    figure: Estimate
    limit: float
    met: bool
    where: str = ""
    #: Whether the goal itself allows for two standard errors.
    allows_for_chance: bool = False

    @property
    def verdict(self) -> str:
        """Whether the goal is met, and where not, whether that may be chance."""
        if self.met:
            return "met"
        return "not met, but within 2 SE" if self.near else "not met"

    @property
    def near(self) -> bool:
        """Whether the limit is within two standard errors, and the goal does not allow for these already."""
        return not self.allows_for_chance and abs(self.figure.value - self.limit) <= 2.0 * self.figure.error


@dataclass(frozen=True)
class Goal:
    """What is asked of which conditions."""

    text: str
    applies: Callable[[Key], bool]
    #: Of a judge, against another.
    check: CheckOf
    scale: float = 1.0


def _at_most(figure: Estimate, limit: float) -> Check:
    return Check(figure, limit, figure.value <= limit)


def _differences(pairs: Callable[[Condition], Pairs]) -> CheckOf:
    def check(key: Key, found: Condition, judge: str, against: str) -> Check:
        _, n, tau = key
        mine, other = (np.abs(found.difference_errors(name, pairs(found))) for name in (judge, against))
        figure = found.ratio(mine, other)
        if tau == 0.0:
            return Check(figure, 1.2, figure.value <= 1.2 or found.mean(mine).value <= 0.001)
        return _at_most(figure, 0.75 if n < 1_000 else 0.5)

    return check


def _scores(key: Key, found: Condition, judge: str, against: str) -> Check:
    mine, other = (np.abs(found.score_errors(name)) for name in (judge, against))
    return _at_most(found.ratio(mine, other), 1.0 / 3.0)


def _class_bias(key: Key, found: Condition, judge: str, against: str) -> Check:
    """The pair of classes with the most bias beyond what chance explains."""
    checks = []
    for pair in found.class_pairs:
        bias = found.mean(found.difference_errors(judge, [pair]))
        limit = 0.003 + 2.0 * float(np.nan_to_num(bias.error))
        where = " − ".join(found.models[k] for k in pair)
        checks.append(Check(bias, limit, abs(bias.value) <= limit, where, True))
    return max(checks, key=lambda each: abs(each.figure.value) - each.limit)


def _order(key: Key, found: Condition, judge: str, against: str) -> Check:
    """At least as often as IPCW within two standard errors; more often at τ = .5."""
    gain = found.gain(found.right(judge), found.right(against))
    if key[2] == 0.5:
        return Check(gain, 0.0, gain.value > 0.0)
    limit = -2.0 * float(np.nan_to_num(gain.error))
    return Check(gain, limit, gain.value >= limit, allows_for_chance=True)


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
