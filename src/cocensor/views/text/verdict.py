"""Verdicts in words: templates that a verdict fills, and a few rules of grammar."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import isfinite

from cocensor.study.ranking import Standing
from cocensor.study.sensitivity.benchmarks import PlausibleRange
from cocensor.study.sensitivity.grid import ALL
from cocensor.study.verdict import Along, Assumption, LeadingRange, Limit, OverRatios, Reach, Verdict
from cocensor.views.text.digits import from_to, inward, level_in_words, number, ratio_in_words, towards_zero
from cocensor.views.text.names import BARE, IN_SHORT, Doing, Names, as_noun, capital, doing, have, listed

# As many reasons are named one after the other.
_MOST_REASONS = 3
# Above it, a multiple of effects is no longer told apart from others.
_MOST_TIMES = 100
_TAU = "Kendall’s τ"
_TAU_RUNS = "τ runs from -1 to 1, and 0 means no dependence"
_IF_RATIO = "If the hazard of those who left is ρ times that of comparable subjects who stayed"


# --- who is best ------------------------------------------------------------------------------------------


def standing_in_words(standing: Standing, names: Names = BARE, says: Doing = IN_SHORT) -> str:
    """The best models, as far as the data tell: a winner only where the intervals tell it from all others."""
    unknown = [model for model in standing.scores if model not in standing.compared]
    if not standing.scores:
        return "no model has a score"
    if len(standing.scores) == 1:
        return f"there is no other model to compare {names.models(standing.scores)} with"
    if not standing.tells:
        no_intervals = "" if standing.level is None else "; there are no intervals"
        return names.have_best_score(standing.leaders) + no_intervals
    if len(standing.first) > 1:
        clauses = [*_tie(standing, names, says)]
    elif len(standing.beaten) > 1 and not unknown:
        clauses = [f"{names.models(standing.first)} {says.is_best}"]
    else:
        clauses = [f"{names.models(standing.first)} {says.beats} {names.models(standing.beaten)}"]
    if unknown:
        clauses.append(f"{names.models(unknown)} {have(unknown)} no interval to compare by")
    return "; ".join(clauses)


def course(standing: Standing) -> tuple[object, ...]:
    """A key that standings share which are said in one and the same clause."""
    if not standing.tells:
        return standing.tells, standing.level, standing.leaders, tuple(standing.scores)
    winners = tuple(standing.better(*pair) for pair in combinations(standing.first, 2))
    return True, standing.first, standing.beaten, standing.behind, winners, tuple(standing.scores)


def _tie(standing: Standing, names: Names, says: Doing) -> Iterator[str]:
    """Clauses on several models that may be best: whether they can be told apart, and whom they beat."""
    models, pairs = standing.first, list(combinations(standing.first, 2))
    if all(standing.equal(*pair) for pair in pairs):
        yield f"{names.models(models)} are equally good"
    elif any(standing.better(*pair) for pair in pairs):
        yield f"{names.models(models)} may each be best"
    elif len(models) == len(standing.scores) > 2:
        yield f"the data cannot tell the {len(models)} models apart"
    else:
        yield f"the data cannot tell {names.models(models)} apart"
    if standing.beaten:
        winners = f"both {says.beat}" if len(models) == 2 else f"each of them {says.beats}"
        yield f"{winners} {names.models(standing.beaten)}"
    if standing.behind:
        verb = "is" if len(standing.behind) == 1 else "are"
        yield f"{names.models(standing.behind)} {verb} not best, but may be as good as some of them"


# --- under which assumption -------------------------------------------------------------------------------


def assumption_in_words(assumption: Assumption) -> str:
    """The assumption, as the first clause of a sentence."""
    if assumption.tau is None:
        return f"With scores by {as_noun(assumption.label)},"
    if not assumption.anybody_left:
        return "Nobody dropped out, and"
    whom = "comparable subjects who stayed" if assumption.given else "those who stayed"
    if assumption.tau == 0:
        return f"If those who dropped out would have had the event about as fast as {whom},"
    if assumption.family is None:
        return f"At {_TAU} = {assumption.tau:g},"
    copula = f"{_TAU} = {assumption.tau:.2g}, {assumption.family.capitalize()} copula; {_TAU_RUNS}"
    if assumption.hazard_ratio is None:
        return f"If event and dropout depend on each other ({copula}),"
    fast = ratio_in_words(assumption.hazard_ratio)
    return f"If those who dropped out would have had the event {fast} times as fast as {whom} ({copula}),"


def lead_in_words(verdict: Verdict, names: Names) -> str:
    """The best models under the assumption."""
    best = standing_in_words(verdict.standing, names, doing(verdict.standing.metric))
    return f"{assumption_in_words(verdict.assumption)} {best}."


def verdict_in_words(verdict: Verdict) -> str:
    """A verdict in a paragraph: who leads under the assumption, and how far that holds."""
    return " ".join(sentences(verdict))


def sentences(verdict: Verdict) -> list[str]:
    """A verdict, sentence by sentence."""
    if not verdict.standing.scores:
        return ["No model can be called best."]
    by = f"By the {verdict.standing.metric.label}, scored with {as_noun(verdict.assumption.label)}:"
    return [by, lead_in_words(verdict, BARE), *along_in_words(verdict, BARE)]


# --- how far it holds -------------------------------------------------------------------------------------


def along_in_words(verdict: Verdict, names: Names) -> Iterator[str]:
    """The plausible range, how far an answer holds within it, and what comes beyond."""
    along = verdict.over_tau
    if along is None or not verdict.assumption.anybody_left:
        return
    if len(verdict.standing.scores) == 1:
        yield plausible_in_words(verdict)
        yield from _spans(verdict)
    elif len(verdict.tried) == 1:
        yield f"No {'other ' if verdict.assumption.tau else ''}dependence was tried."
    else:
        yield plausible_in_words(verdict)
        yield _within(verdict, along, names)
        yield from _beyond(verdict, along, names)


def plausible_in_words(verdict: Verdict) -> str:
    """The range that is held plausible, and who decided that."""
    plausible = verdict.plausible
    if plausible is None:
        return ""
    where = f"{_TAU} from {plausible.low:.2g} to {plausible.high:.2g}"
    if verdict.plausible_ratios is None:
        where = f"{where} ({_TAU_RUNS})"
    else:
        low, high = map(ratio_in_words, verdict.plausible_ratios)
        where = f"{low} to {high} times as fast ({where}; {_TAU_RUNS})"
    grid = "" if verdict.is_covered else f" The grid has τ {from_to(verdict.tried[0], verdict.tried[-1])}."
    return f"The plausible range is {where}, {_origin(plausible)}.{grid}"


def _origin(plausible: PlausibleRange) -> str:
    if plausible.origin == "asked":
        return "as asked for"
    if plausible.together is None:
        why = {
            "covariates": "there are no covariates to go by",
            "dropouts": "nobody dropped out",
            "benchmarks": f"covariates do not tell ({str(plausible.why).rstrip('.')})",
        }
        return f"the default, as {why[plausible.lacking or 'benchmarks']}"
    together = f"τ = {plausible.together:z.2f}"
    what = f"three times the dependence that all measured covariates together explain ({together})"
    return f"which is {what}" if plausible.origin == "covariates" else f"the default, as {what} is less"


def _spans(verdict: Verdict) -> Iterator[str]:
    """The range of the score of the only model over the plausible range and the grid, with sampling error if known."""
    level, where = verdict.standing.level, {"plausible": f"plausible range{_as_far(verdict)}", "grid": "grid"}
    for name in ("plausible", "grid"):
        span = verdict.spans.get(name)
        if span is None or (name == "grid" and span == verdict.spans.get("plausible")):
            continue
        lies = f"lies between {number(span.low)} and {number(span.high)}"
        if level is not None and isfinite(span.low_with_error) and isfinite(span.high_with_error):
            ends = f"{number(span.low_with_error)} and {number(span.high_with_error)}"
            lies += f"; with sampling error, between {ends} ({level_in_words(level)})"
        yield f"Over the {where[name]}, the {verdict.standing.metric.label} {lies}."


def _as_far(verdict: Verdict) -> str:
    return "" if verdict.is_covered else " as far as it was tried"


def _within(verdict: Verdict, along: Along, names: Names) -> str:
    """Whether an answer holds within the plausible range."""
    reach, covered = along.reach, verdict.covered
    if reach is None:
        [at_start] = (stretch for stretch in along.stretches if stretch.low <= along.start <= stretch.high)
        return f"At τ = {along.start:g} the answer is another: {_then(along.standing, at_start, names)}."
    if covered is None:
        return "The plausible range was not tried."
    if verdict.holds_in_plausible:
        return f"The answer holds throughout the plausible range{_as_far(verdict)}, under every family."
    low, high = covered
    if (reach.high is not None and reach.high.at < low) or (reach.low is not None and reach.low.at > high):
        return "The answer does not hold within the plausible range."
    return "The answer holds in a part of the plausible range only."


def _beyond(verdict: Verdict, along: Along, names: Names) -> Iterator[str]:
    """Sentences on where the answer is lost, nearest first; or that it is not lost."""
    if along.reach is None:
        return
    ends = along.tried[0], along.tried[-1]
    if not along.reach.limits and verdict.covered != ends:
        which = "that has an answer" if verdict.silent else "that was tried"
        yield f"It holds at every dependence {which}, τ {from_to(*ends)}."
    for way, limit in along.reach.ways:
        outward = "up" if way > 0 else "down"
        fast = ratio_in_words(limit.hazard_ratio) if isfinite(limit.hazard_ratio) else "1"
        if limit.is_silent:
            yield f"It holds {outward} to τ = {limit.at:g}; further out an interval is missing."
            continue
        if limit.by_interval:
            yield _lost(verdict, way, limit, "" if fast == "1" else fast, names)
        else:
            point = f"τ = {limit.at:g}" if fast == "1" else f"{fast} times as fast (τ = {limit.at:g})"
            yield f"It holds {outward} to {point}, the last point tried before."
        for stretch in _turns(along, way, limit):
            yield f"At τ {from_to(stretch.low, stretch.high)}, {_then(along.standing, stretch, names)}."


def _lost(verdict: Verdict, way: int, limit: Limit, fast: str, names: Names) -> str:
    """The point where the interval of a difference begins to hold 0, on every scale, and the models of it."""
    further, more = ("above", "more") if way > 0 else ("below", "less")
    scales = [f"τ {further} about {towards_zero(limit.at)}"]
    if fast:
        scales.insert(0, f"{more} than {fast} times as fast")
    if verdict.strongest_covariate is not None and isfinite(limit.multiple):
        many = f"more than {_MOST_TIMES}" if limit.multiple > _MOST_TIMES else ratio_in_words(limit.multiple)
        covariate = names.model(verdict.strongest_covariate)
        scales.append(f"{many} times the effects of {covariate}, the strongest covariate")
    where = scales[0] + (f" ({'; '.join(scales[1:])})" if len(scales) > 1 else "")
    lead = f"{names.model(limit.models[0])} {doing(verdict.standing.metric).beats} {names.model(limit.models[1])}"
    under = f"under {names.family(str(limit.line))}{' first' * limit.other_lines}"
    return f"At {where}, the data no longer show that {lead} ({under})."


def _turns(along: Along, way: int, limit: Limit) -> list[LeadingRange]:
    """The stretches to name beyond a limit: the next, where the grid alone tells, and the first with a new leader."""
    stretches = [] if limit.by_interval else along.after(way, limit.at)[:1]
    leader = along.next_leader(way)
    return stretches if leader is None or leader in stretches else [*stretches, leader]


def _then(standing: Standing, stretch: LeadingRange, names: Names) -> str:
    """The models that may be best in a stretch, as far as the data tell."""
    models = names.models(stretch.models)
    if len(stretch.models) == 1:
        return f"{models} {doing(standing.metric).is_best if standing.tells else 'has the best score'}"
    if standing.tells:
        return f"{models} may each be best{'' if stretch.agreed else ', not all of them under every family'}"
    if stretch.agreed:
        return names.have_best_score(stretch.models)
    return f"it depends on the family which of {models} has the best score"


# --- over the hazard ratio after dropout ------------------------------------------------------------------


def ratios_in_words(over: OverRatios | None, names: Names = BARE) -> str:
    """The best models up to some hazard ratio ρ, of everybody and of one reason or group alone."""
    return "" if over is None else " ".join(_over_ratios(over, names))


def _over_ratios(over: OverRatios, names: Names) -> Iterator[str]:
    along = over.lines[ALL]
    standing, reach = along.standing, along.reach
    tried = f"{along.tried[0]:g} to {along.tried[-1]:g}"
    score = f"the {standing.metric.label} of {names.models(standing.scores)}"
    best = standing_in_words(standing, names, doing(standing.metric))
    if len(along.tried) == 1:
        answer = best if over.span is None else f"{score} is {number(over.span.low)}"
        yield f"{_IF_RATIO}, then for ρ = {along.tried[0]:g}, the only one tried, {answer}."
    elif over.span is not None:
        between = f"{number(over.span.low)} and {number(over.span.high)}"
        yield f"{_IF_RATIO}, {score} lies between {between} for ρ from {tried}."
    elif reach is not None:
        where = f"{'ρ ' if reach.limits else ''}{_ratio_ends(*_rounded(reach))}"
        yield f"{_IF_RATIO}, then for {where} ({tried} was tried) {best}."
        for way, limit in reach.ways:
            for stretch in () if limit.is_silent else _turns(along, way, limit):
                yield f"At ρ {from_to(stretch.low, stretch.high)}, {_then(standing, stretch, names)}."
    # Of those that move alone, lines with one limit are named together.
    ends: dict[tuple[str | None, ...], list[str]] = {}
    for line, along in over.lines.items():
        if line != ALL and along.reach is not None and len(along.tried) > 1:
            ends.setdefault(_rounded(along.reach), []).append(line)
    what, parts = "reason" if over.by_reason else "group", []
    for (low, high), lines in sorted(ends.items(), key=lambda item: item[0] == (None, None)):
        named = listed([f"“{names.model(line)}”" for line in lines])
        many = f"{len(lines)} {what}s" if len(lines) > _MOST_REASONS else named
        whose = many if len(ends) > 1 else f"each {what}"
        parts.append(f"for {whose} alone: {_ratio_ends(low, high)}")
    if parts:
        yield f"{capital('; '.join(parts))}."
    if over.unnamed is not None:
        yield over.unnamed.text


def _rounded(reach: Reach) -> tuple[str | None, ...]:
    return tuple(None if limit is None else inward(limit.at) for limit in reach)


def _ratio_ends(low: str | None, high: str | None) -> str:
    if low is None:
        return "every ρ" if high is None else f"up to about {high}"
    if high is None:
        return f"from about {low} on"
    return f"of about {low} alone" if low == high else f"from about {low} to {high}"
