"""Verdicts in words: templates that a verdict fills, and a few rules of grammar."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from math import isfinite

import numpy as np

from cocensor.study.reach import Along, LeadingRange, Limit, OverRatios, Reach, Span
from cocensor.study.sensitivity.grid import ALL
from cocensor.study.standing import Standing
from cocensor.study.verdict import Assumption, Verdict
from cocensor.views.text.digits import inward, level_in_words, number, ratio_in_words, towards_zero
from cocensor.views.text.metrics import IN_SHORT, Doing, doing
from cocensor.views.text.names import BARE, Names, as_noun, capital, family_name, listed

# As many losers, models that may be best, and reasons are named one after the other.
_MOST_NAMED, _MOST_TIED, _MOST_REASONS = 3, 4, 3
# Above it, a multiple of effects is no longer told apart from others.
_MOST_TIMES = 100
_IF_RATIO = "If the hazard of those who left is ρ times that of comparable subjects who stayed"


class Tau:
    """Kendall's τ in a text: called by its full name at first, and then said what it is."""

    def __init__(self) -> None:
        self._named = self._defined = False

    def __str__(self) -> str:
        named, self._named = self._named, True
        return "τ" if named else "Kendall’s τ"

    @property
    def in_brackets(self) -> str:
        """The definition, at the end of the brackets that τ is first named in; empty from then on."""
        if self._defined or not self._named:
            return ""
        self._defined = True
        return "; τ runs from -1 to 1, and 0 means no dependence"

    def told(self, sentences: Iterable[str]) -> list[str]:
        """Sentences, as they are made one after the other, with the definition after the one that first names τ."""
        said = []
        for sentence in filter(None, sentences):
            said.append(sentence)
            if self._named and not self._defined:
                said.append(f"{self.in_brackets.removeprefix('; ')}.")
        return said


# --- who is best ------------------------------------------------------------------------------------------


def standing_in_words(found: Standing, names: Names = BARE, says: Doing = IN_SHORT) -> str:
    """Who is best, as far as the data tell: a winner only where the intervals tell it from all others."""
    return "; ".join(filter(None, _clauses(found, names, says)))


def course(found: Standing) -> tuple[object, ...]:
    """What the words on a standing are filled with: standings that share it are told in one and the same clause."""
    if not found.tells:
        return found.tells, found.asked, found.leaders, tuple(found.scores)
    told = tuple(found.better(*pair) for pair in combinations(found.first, 2))
    return True, found.first, found.beaten, found.behind, told, tuple(found.scores)


def _clauses(found: Standing, names: Names, says: Doing) -> Iterator[str]:
    if not found.scores:
        yield "no model has a score"
        return
    if len(found.scores) == 1:
        yield f"only {names.models(found.scores)} has a score"
        return
    unknown = [model for model in found.scores if model not in found.compared]
    if not found.tells:
        yield names.have_best_score(found.leaders)
        yield "there are no intervals" if found.asked else ""
        return
    if len(found.first) == 1:
        yield _winner(found, names, says, bool(unknown))
    else:
        yield from _tie(found, names, says)
    if unknown:
        yield f"{names.models(unknown)} {_has(unknown)} no interval to compare by"


def _winner(found: Standing, names: Names, says: Doing, unknown: bool) -> str:
    """What one model wins that alone may be best: intervals tell it from all others that have one."""
    [first] = found.first
    if len(found.beaten) > 1 and not unknown:
        return f"{names.model(first)} {says.is_best}"
    return f"{names.model(first)} {says.beats} {_losers(found, names)}"


def _tie(found: Standing, names: Names, says: Doing) -> Iterator[str]:
    """Of several models that may be best: that they cannot be told apart, which of them can, and whom they beat."""
    models, pairs = found.first, list(combinations(found.first, 2))
    told = [(a, b) for a, b in pairs if found.better(a, b) is not None]
    if len(models) > _MOST_TIED and (told or found.beaten or found.behind):
        yield _crowd(found, names)
        return
    if all(found.equal(a, b) for a, b in pairs):
        yield f"{names.models(models)} are equally good"
    elif told:
        yield f"{names.models(models)} may each be best"
    elif len(models) == len(found.scores) > 2:
        yield f"the data cannot tell the {len(models)} models apart"
    else:
        yield f"the data cannot tell {names.models(models)} apart"
    if found.beaten:
        each = f"both {says.beat}" if len(models) == 2 else f"each of them {says.beats}"
        yield f"{each} {_losers(found, names)}"
    if told:
        a, b = told[0]
        better = found.better(a, b) or a
        yield f"{names.model(better)} {says.beats} {names.model(b if better == a else a)}"
    if found.behind:
        verb = "is" if len(found.behind) == 1 else "are"
        yield f"{names.models(found.behind)} {verb} not best, but may be as good as some of them"


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


# --- under which assumption -------------------------------------------------------------------------------


def assumption_in_words(assumption: Assumption, tau: Tau) -> str:
    """What is assumed, as the first clause of a sentence."""
    if assumption.tau is None:
        return f"With scores by {as_noun(assumption.label)},"
    if not assumption.anybody_left:
        return "Nobody dropped out, and"
    whom = "comparable subjects who stayed" if assumption.given else "those who stayed"
    if assumption.tau == 0:
        return f"If those who dropped out would have had the event about as fast as {whom},"
    if assumption.family is None:
        return f"At {tau} = {assumption.tau:g},"
    family = family_name(assumption.family)
    if assumption.hazard_ratio is None:
        return f"If event and dropout depend on each other by the {family} copula with {tau} = {assumption.tau:.2g},"
    fast = f"{ratio_in_words(assumption.hazard_ratio)} times as fast as {whom}"
    which = f"{tau} = {assumption.tau:.2g}, {family} copula{tau.in_brackets}"
    return f"If those who dropped out would have had the event {fast} ({which}),"


def known_in_words(assumption: Assumption) -> str:
    """What is known of subjects beside their outcomes; empty where that is nothing."""
    return listed([f"the {what}" for what in assumption.given]) if assumption.given else ""


def lead_in_words(verdict: Verdict, names: Names, tau: Tau) -> str:
    """Who is best under the assumption."""
    found = verdict.standing
    where = assumption_in_words(verdict.assumption, tau)
    return f"{where} {standing_in_words(found, names, doing(found.metric))}."


def verdict_in_words(verdict: Verdict, names: Names = BARE) -> str:
    """A verdict in a paragraph: who leads under the assumption, and how far that holds."""
    if not verdict.standing.scores:
        return "No model can be called best."
    by = f"By the {verdict.standing.metric.label}, scored with {as_noun(verdict.assumption.label)}:"
    tau = Tau()
    return " ".join([by, *tau.told(_paragraph(verdict, names, tau))])


def _paragraph(verdict: Verdict, names: Names, tau: Tau) -> Iterator[str]:
    yield lead_in_words(verdict, names, tau)
    if verdict.assumption.anybody_left:
        yield from along_in_words(verdict, names, tau)


# --- how far it holds -------------------------------------------------------------------------------------


def along_in_words(verdict: Verdict, names: Names, tau: Tau) -> Iterator[str]:
    """How far an answer holds within the plausible range and beyond, and what that range is."""
    if verdict.plausible is None or verdict.over_tau is None:
        return
    if len(verdict.standing.scores) == 1:
        yield plausible_in_words(verdict, tau)
        yield _span_in_plausible(verdict)
    elif len(verdict.tried) == 1:
        yield f"No {'other ' if verdict.assumption.tau else ''}dependence was tried."
    else:
        yield _stays(verdict, verdict.over_tau, names, tau)
        yield plausible_in_words(verdict, tau)
        yield from _beyond(verdict, verdict.over_tau, names, tau)


def _stays(verdict: Verdict, along: Along, names: Names, tau: Tau) -> str:
    """How far what was said holds within the plausible range."""
    reach, covered, told = along.reach, verdict.covered, verdict.assumption.tau
    if reach is None:
        [at_start] = (each for each in along.stretches if each.low <= along.start <= each.high)
        return f"That is not so at {tau} = {along.start:g}, where {_then(along.standing, at_start, names)}."
    if covered is None:
        return "The plausible range was not tried."
    low, high = covered
    whose = "" if told is None or reach.holds(told) else " under every family"
    if verdict.holds_in_plausible:
        part = "" if verdict.is_covered else " as far as it was tried"
        return f"That stays so{whose} throughout the plausible range{part}."
    if (reach.high is not None and reach.high.at < low) or (reach.low is not None and reach.low.at > high):
        return f"That is not so{whose} within the plausible range."
    inside = Reach(
        reach.low if reach.low is not None and reach.low.at > low else None,
        reach.high if reach.high is not None and reach.high.at < high else None,
    )
    where = _between(inside, covered, tau)
    return f"That stays so{whose} in a part of the plausible range only: {where}."


def _between(reach: Reach, covered: tuple[float, float], tau: Tau) -> str:
    """As long as the dependence lies between two limits, or above or below one."""
    taus = [None if limit is None else _about(limit.at, covered) for limit in reach]
    ratios = [limit.hazard_ratio for limit in reach if limit is not None]
    if not all(map(_tells, ratios)):
        return f"as long as {tau} is {_from_to(*taus)}"
    fast = [None if limit is None else ratio_in_words(limit.hazard_ratio) for limit in reach]
    named = f"{tau} {_from_to(*taus)}{tau.in_brackets}"
    return f"as long as they would have had it {_from_to(*fast)} times as fast ({named})"


def _from_to(low: str | None, high: str | None) -> str:
    if low is not None and high is not None:
        return f"about {low}" if low == high else f"between about {low} and {high}"
    return f"at least about {low}" if high is None else f"up to about {high}"


def _tells(ratio: float) -> bool:
    """Whether a hazard ratio is known, and is not 1 as it is written."""
    return isfinite(ratio) and ratio_in_words(ratio) != "1"


def _about(at: float, covered: tuple[float, float] | None) -> str:
    """A τ, rounded so that it stays on the same sides of the ends of the plausible range."""
    near = towards_zero(at)
    stays = all(np.sign(float(near) - end) == np.sign(at - end) for end in covered or ())
    return near if stays else f"{at:.3g}"


def _beyond(verdict: Verdict, along: Along, names: Names, tau: Tau) -> Iterator[str]:
    """What comes where what holds is lost, nearest first; or that it is not lost."""
    reach, found = along.reach, along.standing
    if reach is None:
        return
    if not reach.limits and verdict.covered != (along.tried[0], along.tried[-1]):
        every = "that has an answer" if verdict.silent else "that was tried"
        yield f"It is so at every dependence {every}, {tau} from {along.tried[0]:g} to {along.tried[-1]:g}."
    for way, limit in reach.ways:
        if limit.is_silent:
            yield f"It is so {'up' if way > 0 else 'down'} to {tau} = {limit.at:g}; further out an interval is missing."
            continue
        if limit.by_interval:
            further, more = ("above", "more") if way > 0 else ("below", "less")
            where = f"{tau} {further} about {_about(limit.at, verdict.covered)}"
            if _tells(limit.hazard_ratio):
                fast = f"{more} than {ratio_in_words(limit.hazard_ratio)} times as fast"
                where = f"{fast} ({where}{tau.in_brackets})"
            first, loser = map(names.model, limit.models)
            yield f"At {where}, the data no longer show that {first} {doing(found.metric).beats} {loser}."
        for stretch in _turns(along, way, limit):
            yield f"At {tau} {_from_point_to_point(stretch)}, {_then(found, stretch, names)}."


def _turns(along: Along, way: int, limit: Limit) -> list[LeadingRange]:
    """The stretches to name beyond a limit: the next, where the grid alone tells, and the first with a new leader."""
    stretches = [] if limit.by_interval else along.after(way, limit.at)[:1]
    leader = along.next_leader(way)
    return stretches if leader is None or leader in stretches else [*stretches, leader]


def _from_point_to_point(stretch: LeadingRange) -> str:
    if stretch.low == stretch.high:
        return f"= {stretch.low:g}"
    return f"from {stretch.low:g} to {stretch.high:g}"


def _then(found: Standing, stretch: LeadingRange, names: Names) -> str:
    """Who may be best in a stretch, as far as the data tell."""
    models = names.models(stretch.models)
    best = doing(found.metric).is_best if found.tells else "has the best score"
    if len(stretch.models) == 1:
        return f"{models} {best}"
    if not stretch.agreed:
        return f"it depends on the family which of {models} {best}"
    return f"{models} may each be best" if found.tells else names.have_best_score(stretch.models)


def lost_in_words(verdict: Verdict, names: Names) -> str:
    """The limits of a lead, nearest first, on every scale."""
    said: list[str] = []
    for way, limit in verdict.reach.ways if verdict.reach is not None and verdict.standing.beaten else ():
        if limit.is_silent:
            continue
        where = f"{'up' if way > 0 else 'down'} to about τ = {towards_zero(limit.at)}"
        under = f"{names.family(str(limit.line))}{' first' * limit.other_lines}"
        scales = _scales(verdict, limit, names, again=bool(said))
        said.append(f"The answer holds {where}; it is lost under {under}{scales}.")
    return " ".join(said)


def _scales(verdict: Verdict, limit: Limit, names: Names, again: bool) -> str:
    """A limit as a hazard ratio right after leaving, and as a multiple of the strongest covariate's effects."""
    said = []
    if isfinite(limit.hazard_ratio):
        said.append(f"a hazard ratio of {ratio_in_words(limit.hazard_ratio)} right after leaving")
    if verdict.strongest_covariate is not None and isfinite(limit.multiple):
        many = f"more than {_MOST_TIMES}" if limit.multiple > _MOST_TIMES else ratio_in_words(limit.multiple)
        called = names.model(verdict.strongest_covariate)
        said.append(f"{many} times the effects of {called}{'' if again else ', the strongest covariate'}")
    return f", at {', '.join(said)}" if said else ""


def plausible_in_words(verdict: Verdict, tau: Tau) -> str:
    """Which range is held plausible, and who decided that."""
    plausible, tried = verdict.plausible, verdict.tried
    if plausible is None:
        return ""
    where = f"{tau} from {plausible.low:.2g} to {plausible.high:.2g}"
    if verdict.plausible_ratios is not None:
        fast = " to ".join(map(ratio_in_words, verdict.plausible_ratios))
        where = f"{fast} times as fast ({where}{tau.in_brackets})"
    part = ""
    if not verdict.is_covered:
        grid = f"{tau} = {tried[0]:g}" if len(tried) == 1 else f"{tau} from {tried[0]:g} to {tried[-1]:g}"
        part = f" The grid has {grid}."
    return f"The plausible range is {where}, {_origin(verdict)}.{part}"


def _origin(verdict: Verdict) -> str:
    plausible = verdict.plausible
    assert plausible is not None
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


def _span_in_plausible(verdict: Verdict) -> str:
    """Between which values the score of the only model lies over the plausible range."""
    span = verdict.spans.get("plausible")
    if span is None:
        return ""
    part = "" if verdict.is_covered else " as far as it was tried"
    what = f"its {verdict.standing.metric.label}"
    return f"Over it{part}, {what} lies between {span_in_words(span, verdict.standing.level)}."


def span_in_words(span: Span, level: float) -> str:
    """From where to where a score goes; with sampling error, where there is one."""
    said = f"{number(span.low)} and {number(span.high)}"
    if not (isfinite(span.low_with_error) and isfinite(span.high_with_error)):
        return said
    ends = f"{number(span.low_with_error)} and {number(span.high_with_error)}"
    return f"{said}; with sampling error, between {ends} ({level_in_words(level)})"


# --- over the hazard ratio after dropout ------------------------------------------------------------------


def ratios_in_words(over: OverRatios | None, names: Names = BARE) -> str:
    """Who is best up to which hazard ratio ρ, of everybody and of one reason or group alone."""
    if over is None:
        return ""
    unnamed = [] if over.unnamed is None else [over.unnamed.text]
    return " ".join([*_everybody(over, names), *_alone(over, names), *unnamed])


def _everybody(over: OverRatios, names: Names) -> Iterator[str]:
    along = over.lines[ALL]
    found, reach = along.standing, along.reach
    tried = f"{along.tried[0]:g} to {along.tried[-1]:g}" if len(along.tried) > 1 else f"{along.tried[0]:g}"
    if over.span is not None:
        what = f"the {found.metric.label} of {names.models(found.scores)}"
        between = f"{number(over.span.low)} and {number(over.span.high)}"
        yield f"{_IF_RATIO}, {what} lies between {between} for ρ from {tried}."
    elif reach is not None:
        ends = _ratio_ends(*_rounded(reach))
        where = f"ρ {ends}" if reach.limits else ends
        best = standing_in_words(found, names, doing(found.metric))
        yield f"{_IF_RATIO}, then for {where} ({tried} was tried) {best}."
        for way, limit in reach.ways:
            for stretch in () if limit.is_silent else _turns(along, way, limit):
                yield f"At ρ {_from_point_to_point(stretch)}, {_then(found, stretch, names)}."


def _rounded(reach: Reach) -> tuple[str | None, ...]:
    return tuple(None if limit is None else inward(limit.at) for limit in reach)


def _ratio_ends(low: str | None, high: str | None) -> str:
    if low is None and high is None:
        return "every ρ"
    if low is not None and high is not None:
        return f"from about {low} to {high}" if low != high else f"of about {low} alone"
    return f"up to about {high}" if low is None else f"from about {low} on"


def _alone(over: OverRatios, names: Names) -> Iterator[str]:
    """The same where the ratio of one reason or group moves alone, those with one limit together."""
    ends: dict[tuple[str | None, ...], list[str]] = {}
    for line, along in over.lines.items():
        if line != ALL and along.reach is not None:
            ends.setdefault(_rounded(along.reach), []).append(line)
    what, parts = "reason" if over.by_reason else "group", []
    for (low, high), lines in sorted(ends.items(), key=lambda item: item[0] == (None, None)):
        named = listed([f"“{names.model(line)}”" for line in lines])
        many = f"{len(lines)} {what}s" if len(lines) > _MOST_REASONS else named
        whose = many if len(ends) > 1 else f"each {what}"
        parts.append(f"for {whose} alone: {_ratio_ends(low, high)}")
    if parts:
        yield f"{capital('; '.join(parts))}."
