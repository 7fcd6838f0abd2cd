"""Sensitivity analyses, bounds whatever the dependence, and benchmarks by measured covariates, in words."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from cocensor.study import Evaluation
from cocensor.study.ranking import standing
from cocensor.study.sensitivity import Bound, Bounds, CovariateBenchmarks, Sensitivity
from cocensor.study.sensitivity.bounds import has_bounds
from cocensor.views.text.digits import decimals, level_in_words, number, tau_in_words
from cocensor.views.text.names import BARE, Names, listed, plural, quoted
from cocensor.views.text.verdict import verdict_in_words

# A τ that many sensitivity analyses come to.
_EXAMPLE = 0.3
_TINY = 0.005
_NOTHING_OPEN = "Dropouts leave nothing open."


def sensitivity_in_words(sensitivity: Sensitivity) -> str:
    """The verdict over τ, by the primary adjustment and the first metric."""
    return " ".join([*silent_in_words(sensitivity), verdict_in_words(sensitivity.verdict)])


def silent_in_words(sensitivity: Sensitivity) -> list[str]:
    """Why a grid says nothing, or nothing in some families."""
    grid, verdict = sensitivity.over_tau, sensitivity.verdict
    label = quoted(sensitivity.evaluation, grid.primary)
    if not grid.leaders():
        return [f"By {label} there is no {verdict.standing.metric.label} at any point of the grid."]
    if not verdict.stretches:
        return [f"The grid is of {label}, which no verdict counts."]
    return [f"Under {BARE.families(verdict.silent)} there is no answer."] if verdict.silent else []


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


def bounds_in_words(bounds: Bounds, names: Names = BARE, pairs: Sequence[tuple[str, str]] = ()) -> str:
    """The better models whatever the dependence, and what is open else; models alone where no two are bounded."""
    if any(isfinite(bounds[pair].low) for pair in bounds.pairs):
        parts = certain_in_words(bounds, names), open_in_words(bounds, pairs or bounds.pairs, names)
        return " ".join(filter(None, parts)) or _NOTHING_OPEN
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
    in_sample = "has a better score than", "have better scores than"
    one, many = in_sample if bounds.level is None else ("beats", "beat")
    clauses = []
    for beaten in dict.fromkeys(losers.values()):
        winners = [winner for winner, others in losers.items() if others == beaten]
        clauses.append(f"{names.models(winners)} {one if len(winners) == 1 else many} {names.models(beaten)}")
    certain = f"Whatever the dependence, {listed(clauses)}"
    winner, (loser, *more) = next(iter(losers.items()))
    if more or len(losers) > 1:
        return f"{certain} by the {bounds.metric.label}."
    return f"{certain}: {_by_how_much(bounds, winner, loser)}."


def open_in_words(bounds: Bounds, pairs: Sequence[tuple[str, str]], names: Names = BARE) -> str:
    """The bounds of the first difference that may have either sign; empty where there is none."""
    level = bounds.level
    either = [pair for pair in pairs if bounds[pair].width > 0 and bounds.certain(*pair, level) is None]
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
    return f"{first}; {plural(more, 'more pair')} may have either sign." if more else f"{first}."


def still_open_in_words(evaluation: Evaluation, bounds: Bounds, names: Names = BARE) -> str:
    """The open difference without any assumption, or the score of the only model; empty where nothing is open."""
    pairs = pairs_from_leader(evaluation, bounds)
    return open_in_words(bounds, pairs, names) if pairs else bounds_in_words(bounds, names)


def _anything(what: str, bound: Bound, level: float | None) -> str:
    return f"Without any assumption about dropout, {what} could be anything from {_span(bound, level)}"


def _by_how_much(bounds: Bounds, winner: str, loser: str) -> str:
    pair = (loser, winner) if bounds.metric.direction == "lower" else (winner, loser)
    return f"its {bounds.metric.label} is {bounds.metric.direction} by {_span(bounds[pair], bounds.level)}"


def _span(bound: Bound, level: float | None = None) -> str:
    """From bound to bound, with two digits of half their distance or their error, and the interval in brackets."""
    sizes = [size for size in (bound.width / 2, bound.low_error, bound.high_error) if size > 0]
    places = decimals(max(sizes, default=0.0))
    span = f"{number(bound.low, places)} to {number(bound.high, places)}"
    if level is None or not isfinite(bound.low_error):
        return span
    low, high = bound.confidence_interval(level)
    return f"{span} ({level_in_words(level)} interval {number(low, places)} to {number(high, places)})"


def plausible_tau_in_words(benchmarks: CovariateBenchmarks, names: Names = BARE) -> str:
    """The hidden factor that some τ would take, beside the strongest measured one, and what that leaves open."""
    strongest = benchmarks.strongest
    ratio = benchmarks.hidden([_EXAMPLE])[_EXAMPLE]
    # Shrinking is mentioned where it shows.
    before, shrunken = f"{strongest.tau:z.2f}", f"{strongest.shrunken_tau:z.2f}"
    noise = f" ({before} before its noise is allowed for)" if before != shrunken else ""
    several = len(benchmarks.benchmarks) > 1
    together = f" All covariates together induce {_tau(benchmarks.together)}." * several
    return (
        f"τ = {_EXAMPLE} would take a hidden factor with a hazard ratio of {ratio:.1f} per SD on both event and "
        f"dropout; {names.model(strongest.name)}, the strongest you measured, has {strongest.hazard_ratio_event:.2f} "
        f"on the event and {strongest.hazard_ratio_dropout:.2f} on dropout and induces "
        f"{_tau(strongest.shrunken_tau)}{noise}.{together} This is a benchmark, not a bound: leaving because the event "
        "is near can be stronger than any covariate."
    )


def _tau(tau: float) -> str:
    return f"τ = {tau_in_words(tau)}" if abs(tau) >= _TINY else f"|τ| below {_TINY}"


def plausible_tau_as_text(benchmarks: CovariateBenchmarks) -> str:
    """The table of all covariates, and the statement."""
    rows = benchmarks.benchmarks
    width = max(12, *(len(row.name) for row in rows)) + 2
    level = level_in_words(benchmarks.confidence_level)
    lines = [
        f"Which τ of event and dropout leaving out a covariate would induce ({plural(benchmarks.n, 'subject')}, "
        f"{plural(benchmarks.n_events, 'event')}, {plural(benchmarks.n_dropouts, 'dropout')}; hazard ratios per SD, "
        f"{level} intervals)",
        "",
        f"{'covariate':<{width}}{'event':>8}{'dropout':>9}{'τ':>9}{'from':>9}{'to':>9}{'shrunken':>10}",
    ]
    for row in rows:
        lines.append(
            f"{row.name:<{width}}{row.hazard_ratio_event:8.2f}{row.hazard_ratio_dropout:9.2f}{row.tau:z9.3f}"
            f"{row.interval.low:z9.3f}{row.interval.high:z9.3f}{row.shrunken_tau:z10.3f}"
        )
    low, high = benchmarks.together_interval
    lines.append(f"{'all together':<{width}}{'':17}{benchmarks.together:z9.3f}{low:z9.3f}{high:z9.3f}")
    lines.append(f"{'aligned':<{width}}{'':17}{benchmarks.aligned:9.3f}")
    return "\n".join([*lines, "", benchmarks.statement, *map(str, benchmarks.notes)])
