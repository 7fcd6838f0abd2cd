"""How models stand under one assumption, as far as the data can tell, in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import isfinite, nan

from cocensor._cached import cached_property
from cocensor.evaluation import Evaluation
from cocensor.inference import Comparison, Estimates
from cocensor.metrics import Metric
from cocensor.sensitivity import Sensitivity
from cocensor.sensitivity.grid_scores import GridScores
from cocensor.words.metrics import IN_SHORT, Doing
from cocensor.words.names import Names

# As many losers, and as many models that may be best, are named.
_MOST_NAMED, _MOST_TIED = 3, 4


@dataclass(frozen=True)
class Standing:
    """Models by their scores, and which of them the data tell apart.

    Attributes
    ----------
    metric : Metric
    scores : dict of float
        Of the contenders that have one.
    best : tuple of str
        The one with the best score, and those that its interval does not tell from it.
    leaders : tuple of str
        Those with the best score, whether or not they can be told from others.
    compared : tuple of str
        Those that have an interval, best score first.
    better : callable
        Of two of them the better one, or None where the interval of their difference holds 0.
    equal : callable
        Whether the scores of two are the same for every sample.
    asked : bool
        Whether intervals were asked for.
    """

    metric: Metric
    scores: dict[str, float]
    best: tuple[str, ...]
    leaders: tuple[str, ...]
    compared: tuple[str, ...]
    better: Callable[[str, str], str | None]
    equal: Callable[[str, str], bool]
    asked: bool

    @property
    def tells(self) -> bool:
        """Whether there are intervals to tell models apart by."""
        return len(self.compared) > 1

    @cached_property
    def first(self) -> tuple[str, ...]:
        """Of the models with an interval, those that cannot be distinguished from the best, by their scores."""
        return tuple(model for model in self.scores if model in self.best and model in self.compared)

    @cached_property
    def beaten(self) -> tuple[str, ...]:
        """The models that are told from each of the first."""
        return tuple(
            model for model in self._others if all(self.better(first, model) == first for first in self.first)
        )

    @cached_property
    def behind(self) -> tuple[str, ...]:
        """The models that are not among the best, but cannot be told from each of them."""
        beaten = self.beaten
        return tuple(model for model in self._others if model not in beaten)

    @cached_property
    def _others(self) -> tuple[str, ...]:
        return tuple(model for model in self.scores if model in self.compared and model not in self.best)


def standing(evaluation: Evaluation, metric: str | None, adjustment: str) -> Standing:
    """By a metric, under an adjustment that votes."""
    by = evaluation.metric(metric)
    values = evaluation.under(adjustment).values[by.name]
    scores = {model: values[model].value for model in values if model in evaluation.contenders}
    compare = partial(evaluation.compare, metric=by.name, adjustment=adjustment)
    known = evaluation.under(adjustment).errors.get(by.name)
    best = evaluation.best(by.name, adjustment) if scores else ()
    bounds = {model: values[model].bound for model in scores}
    return _standing(by, scores, bounds, best, known, compare, evaluation.confidence_level)


def standing_at(grid: GridScores, line: str, point: float) -> Standing:
    """At a point of the grid, by the first metric and the primary adjustment."""
    by, able = grid.evaluation.metric(), grid.evaluation.contenders
    scores = {model: value for model, value in grid.values(line, point).items() if model in able}
    known, best = grid.errors(line, point), grid.best_at(line, point)
    compare = partial(grid.compare, line=line, point=point)
    return _standing(by, scores, {}, best, known, compare, grid.evaluation.confidence_level)


def standing_at_start(sensitivity: Sensitivity, tau: float) -> Standing:
    """At a τ of the grid under every family that has an answer there: what they all tell."""
    points = [
        standing_at(sensitivity, family, tau)
        for family, by_tau in sensitivity.leaders().items()
        if tau in by_tau
    ]
    first = points[0]
    best = tuple(model for model in first.scores if any(model in point.best for point in points))

    def better(a: str, b: str) -> str | None:
        told = {point.better(a, b) for point in points}
        return told.pop() if len(told) == 1 else None

    return Standing(
        first.metric,
        first.scores,
        best,
        first.leaders,
        first.compared,
        better,
        lambda a, b: all(point.equal(a, b) for point in points),
        first.asked,
    )


def _standing(
    metric: Metric,
    scores: dict[str, float],
    bounds: dict[str, float],
    best: tuple[str, ...],
    known: Estimates | None,
    compare: Callable[[str, str], Comparison],
    level: float | None,
) -> Standing:
    leaders = tuple(model for model, rank in metric.ranks(scores, bounds).items() if rank == 1)
    by_score = metric.ranks(scores)
    # A score without error, such as that of a coin, has no interval of its own, but differences from it have.
    errors = {} if known is None else dict(zip(known.names, known.standard_errors, strict=True))
    compared = tuple(
        model
        for model in sorted(by_score, key=lambda model: by_score[model])
        if level is not None and isfinite(errors.get(model, nan))
    )

    def better(a: str, b: str) -> str | None:
        return None if level is None else compare(a, b).better(metric.direction, level)

    def equal(a: str, b: str) -> bool:
        found = compare(a, b)
        return found.difference == 0 and found.standard_error == 0

    return Standing(metric, scores, best, leaders, compared, better, equal, level is not None)


@dataclass(frozen=True)
class Verdict:
    """Who ties for the best, whom these beat, and what else must be said, in clauses; any may be empty."""

    tied: str
    won: str
    more: tuple[str, ...] = ()

    def joined(self, by: str = "; ", limit: str = "") -> str:
        """All in one; the limit is of the victories, or of the tie where there are none."""
        parts = [self.tied, f"{self.won}{limit}"] if self.won else [f"{self.tied}{limit}"]
        return by.join(part for part in (*parts, *self.more) if part)


def verdict(found: Standing, names: Names, says: Doing = IN_SHORT) -> Verdict:
    """Who is best, as far as the data tell: a winner only where the intervals tell it from all others.

    ``says`` has the verbs.
    """
    if len(found.scores) == 1:
        return Verdict(f"only {names.models(found.scores)} has a score", "")
    unknown = [model for model in found.scores if model not in found.compared]
    if not found.tells:
        none = ("there are no intervals",) if found.asked else ()
        return Verdict(names.have_best_score(found.leaders), "", none)
    more = [f"{names.models(unknown)} {_has(unknown)} no interval to compare by"] if unknown else []
    if len(found.first) == 1:
        return Verdict("", _winner(found, names, says, bool(unknown)), tuple(more))
    tied, pairs = _tie(found, names, says)
    if len(found.first) > _MOST_TIED and (pairs or found.beaten or found.behind):
        return Verdict(_crowd(found, names), "", tuple(more))
    won = ""
    if found.beaten:
        each = f"both {says.beat}" if len(found.first) == 2 else f"each of them {says.beats}"
        won = f"{each} {_losers(found, names)}"
    if found.behind:
        verb = "is" if len(found.behind) == 1 else "are"
        more.insert(0, f"{names.models(found.behind)} {verb} not best, but may be as good as some of them")
    return Verdict(tied, won, (*pairs, *more))


def _winner(found: Standing, names: Names, says: Doing, unknown: bool) -> str:
    """What one model wins that alone may be best: intervals tell it from all others that have one."""
    [first] = found.first
    if len(found.beaten) > 1 and not unknown:
        return f"{names.model(first)} {says.is_best}"
    return f"{names.model(first)} {says.beats} {_losers(found, names)}"


def _tie(found: Standing, names: Names, says: Doing) -> tuple[str, list[str]]:
    """Of several models that may be best: that they cannot be told apart, and which of them can."""
    models, pairs = found.first, list(combinations(found.first, 2))
    if all(found.equal(a, b) for a, b in pairs):
        return f"{names.models(models)} are equally good", []
    told = [(a, b) for a, b in pairs if found.better(a, b) is not None]
    if told:
        a, b = told[0]
        better = found.better(a, b)
        worse = b if better == a else a
        return f"{names.models(models)} may each be best", [
            f"{names.model(better or a)} {says.beats} {names.model(worse)}"
        ]
    if len(models) == len(found.scores) > 2:
        return f"the data cannot tell the {len(models)} models apart", []
    return f"the data cannot tell {names.models(models)} apart", []


def _crowd(found: Standing, names: Names) -> str:
    """Of many models that may be best: the one in front, and how many others."""
    worse = len(found.beaten) + len(found.behind)
    others = f"{len(found.first) - 1} others may be as good"
    if worse:
        others += f", and {worse} {'is' if worse == 1 else 'are'} not"
    return f"{names.model(found.first[0])} has the best score; {others}"


def _losers(found: Standing, names: Names) -> str:
    count = len(found.beaten)
    if count <= _MOST_NAMED:
        return names.models(found.beaten)
    return f"the other {count}" if count == len(found.scores) - len(found.first) else f"{count} others"


def _has(models: Sequence[str]) -> str:
    return "has" if len(models) == 1 else "have"
