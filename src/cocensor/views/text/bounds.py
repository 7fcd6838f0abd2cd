"""Bounds whatever the dependence, in words."""

from __future__ import annotations

from math import isfinite

from cocensor.study import Evaluation
from cocensor.study.ranking import standing
from cocensor.study.sensitivity import Bound, Bounds
from cocensor.study.sensitivity.bounds import has_bounds
from cocensor.views.text.digits import decimals, level_in_words, number
from cocensor.views.text.names import BARE, Names, counted, listed

_NOTHING_OPEN = "Dropouts leave nothing open."


def why_no_bounds(evaluation: Evaluation) -> str:
    """The reason why there are no bounds by the first metric."""
    metric = evaluation.data.metrics[0]
    if has_bounds(metric):
        return "Bounds have not been computed: call bounds() of the evaluation."
    return (
        f"There are no bounds free of assumptions about dropout: for the {metric.label}, sharp bounds "
        "cannot be computed. They can for means of losses and for the AUC at one time."
    )


def pairs_from_leader(evaluation: Evaluation, bounds: Bounds) -> tuple[tuple[str, str], ...]:
    """All pairs, first those with the model that has the best score: it is subtracted, as in other tables."""
    is_scored = bounds.metric.name in evaluation.metrics
    ranks = standing(evaluation, bounds.metric.name).ranks if is_scored else {}
    leader = min(ranks, key=lambda model: ranks[model], default=None)
    turned = ((b, a) if a == leader else (a, b) for a, b in bounds.pairs)
    return tuple(sorted(turned, key=lambda pair: leader not in pair))


def bounds_as_text(bounds: Bounds) -> str:
    """The bounds of models and pairs for a terminal."""
    bounded = [pair for pair in bounds.pairs if isfinite(bounds[pair].low)]
    keys: list[str | tuple[str, str]] = [*bounds.models, *bounded]
    lines = [f"Bounds of the {bounds.metric.label}, whatever the dependence of event and dropout"]
    for key in keys:
        name = BARE.model(key) if isinstance(key, str) else " minus ".join(map(BARE.model, key))
        bound = bounds[key]
        lines.append(f"  {name}: {_span(bound) if isfinite(bound.low) else f'none, as {bound.missing}'}")
    return "\n".join([*lines, bounds_in_words(bounds)])


def bounds_in_words(
    bounds: Bounds, names: Names = BARE, pairs: tuple[tuple[str, str], ...] | None = None
) -> str:
    """The better models whatever the dependence, and what is open else; models alone where no two are bounded.

    Without intervals it is about this sample. ``pairs`` says which of two models is subtracted.
    """
    if any(isfinite(bounds[pair].low) for pair in bounds.pairs):
        sentences = certain_in_words(bounds, names), open_in_words(bounds, pairs or bounds.pairs, names)
        return " ".join(filter(None, sentences)) or _NOTHING_OPEN
    bounded = [model for model in bounds.models if isfinite(bounds[model].low)]
    if not bounded:
        return f"There are no bounds: {bounds[bounds.models[0]].missing}."
    if not any(bounds[model].width > 0 for model in bounded):
        return _NOTHING_OPEN
    first, *rest = bounded
    spans = [_anything(f"the {bounds.metric.label} of {names.model(first)}", bounds[first], bounds.level)]
    spans += [f"that of {names.model(model)} from {_span(bounds[model])}" for model in rest]
    return f"{listed(spans)}."


def certain_in_words(bounds: Bounds, names: Names = BARE) -> str:
    """The better models whatever the dependence, by intervals of differences, or without any by the sample alone."""
    losers: dict[str, tuple[str, ...]] = {}
    for a, b in bounds.pairs:
        winner = bounds.certain(a, b, bounds.level)
        if winner is not None:
            losers[winner] = (*losers.get(winner, ()), b if winner == a else a)
    if not losers:
        return ""
    one, many = "beats", "beat"
    if bounds.level is None:
        one, many = "has a better score than", "have better scores than"
    clauses = []
    for beaten in dict.fromkeys(losers.values()):
        winners = [winner for winner, others in losers.items() if others == beaten]
        clauses.append(f"{names.models(winners)} {one if len(winners) == 1 else many} {names.models(beaten)}")
    certain = f"Whatever the dependence, {listed(clauses)}"
    winner, (loser, *more) = next(iter(losers.items()))
    if more or len(losers) > 1:
        return f"{certain} by the {bounds.metric.label}."
    return f"{certain}: {_by_how_much(bounds, winner, loser)}."


def open_in_words(bounds: Bounds, pairs: tuple[tuple[str, str], ...], names: Names = BARE) -> str:
    """The bounds of the first difference that may have either sign; empty where there is none."""
    either = [
        pair for pair in pairs if bounds[pair].width > 0 and bounds.certain(*pair, bounds.level) is None
    ]
    if not either:
        return ""
    a, b = either[0]
    better = bounds.certain(a, b)
    if better is None:
        difference = f"the {bounds.metric.label} of {names.model(a)} minus that of {names.model(b)}"
        first = _anything(difference, bounds[a, b], bounds.level)
    else:
        loser = b if better == a else a
        first = (
            f"Whatever the dependence, {names.model(better)} has a better score than {names.model(loser)} in this "
            f"sample, but chance may explain the difference: {_by_how_much(bounds, better, loser)}"
        )
    more = len(either) - 1
    return f"{first}; {counted(more, 'more pair')} may have either sign." if more else f"{first}."


def still_open_in_words(evaluation: Evaluation, bounds: Bounds, names: Names = BARE) -> str:
    """The open difference without any assumption, or the score of the only model; empty where nothing is open."""
    pairs = pairs_from_leader(evaluation, bounds)
    return open_in_words(bounds, pairs, names) if pairs else bounds_in_words(bounds, names)


def _anything(what: str, bound: Bound, level: float | None) -> str:
    span = f"{_span(bound)}{_interval(bound, level)}"
    return f"Without any assumption about dropout, {what} could be anything from {span}"


def _by_how_much(bounds: Bounds, winner: str, loser: str) -> str:
    lower = bounds.metric.direction == "lower"
    difference = bounds[loser, winner] if lower else bounds[winner, loser]
    span = f"{_span(difference)}{_interval(difference, bounds.level)}"
    return f"its {bounds.metric.label} is {'lower' if lower else 'higher'} by {span}"


def _interval(bound: Bound, level: float | None) -> str:
    """In brackets, where there is one."""
    if level is None or not isfinite(bound.low_error):
        return ""
    return f" ({level_in_words(level)} interval {_span(bound, bound.confidence_interval(level))})"


def _span(bound: Bound, ends: tuple[float, float] | None = None) -> str:
    """By default from the lower to the upper bound.

    Half the distance of the bounds, or their error where that is more, has two digits.
    """
    sizes = [size for size in (bound.width / 2, bound.low_error, bound.high_error) if size > 0]
    places = decimals(max(sizes, default=0.0))
    return " to ".join(number(end, places) for end in ends or (bound.low, bound.high))
