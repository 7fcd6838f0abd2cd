"""Verdicts in words: a state, one sentence that is the conclusion, and those that say on what it hangs."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from cocensor.copulas import copula_families
from cocensor.study.sensitivity.zones import Course, Zone
from cocensor.study.verdict import Assumption, Verdict
from cocensor.views.text.digits import inward, ratio_in_words, tau_in_words
from cocensor.views.text.names import BARE, Names, as_noun, doing, listed

#: The five states, as a page names them.
STATES = {
    "no_usable_model": "No model better than Kaplan–Meier",
    "tie": "Equal for practical purposes",
    "settled": "Settled",
    "settled_at_independence": "Settled only if dropout is independent",
    "not_settled": "Not settled",
}
KAPLAN_MEIER = "Kaplan–Meier"
_DEPENDS = "it depends on why subjects dropped out"


def verdict_in_words(verdict: Verdict) -> str:
    """The state, the conclusion, and what it hangs on, in a paragraph."""
    first = f"{STATES[verdict.state]}: {conclusion(verdict)}"
    return " ".join([first, *hangs_on(verdict)])


def rival_name(course: Course, names: Names = BARE) -> str:
    """The second of the two, which may be the Kaplan–Meier curve."""
    return names.model(course.second) if course.second else KAPLAN_MEIER


def conclusion(verdict: Verdict, names: Names = BARE) -> str:
    """One sentence on which model is best."""
    place, leader = verdict.standing, verdict.leader
    remaining = [model for model, answer in verdict.better_than_reference.items() if answer.here != "no"]
    verbs, tried = doing(place.metric), bool(verdict.courses)
    if verdict.state == "no_usable_model":
        if remaining:
            return f"No model has a score by the {place.metric.label}."
        return "No model is better than one Kaplan–Meier curve for all subjects."
    if verdict.state == "tie":
        return f"{names.models(place.scores)} are equal for practical purposes."
    if len(place.scores) == 1 and len(remaining) == 1:
        model = names.model(remaining[0])
        better = f"{model} is better than {KAPLAN_MEIER}"
        if verdict.state == "settled":
            return f"{better}."
        if verdict.state == "not_settled":
            return f"The data cannot tell whether {better}."
        return (
            f"Whether {better}, depends on why subjects dropped out." if tried else f"{better}{_if(verdict)}."
        )
    open_to = [course for course in verdict.courses if _is_lost(course)]
    # Who is better somewhere comes to mind; else who may be.
    open_to = [course for course in open_to if _may_lose(course)] or open_to
    rivals = [rival_name(course, names) for course in open_to]
    if leader is not None and verdict.state != "not_settled":
        best = f"{names.model(leader)} {verbs.is_best}"
        if verdict.state == "settled":
            return f"{best}."
        if rivals:
            return f"{listed([names.model(leader), *rivals[: names.most - 1]], 'or')}: {_DEPENDS}."
        return f"{best}{_if(verdict)}." if not tried else f"{best}, but not at every plausible dependence."
    if not place.tells:
        return f"{names.have_best_score(place.leaders)}, but there are no intervals to tell more."
    if len(place.contenders) > 1:
        if any(zone.kind == "better" for course in open_to[:1] for zone in course.in_plausible):
            return f"{listed([names.model(open_to[0].first), *rivals[: names.most - 1]], 'or')}: {_DEPENDS}."
        return f"The data cannot tell {_apart(place.contenders, names)}."
    return f"{names.models(place.contenders)} {verbs.is_best} of those that can be compared."


def _apart(models: tuple[str, ...], names: Names) -> str:
    if len(models) == 2:
        return " from ".join(map(names.model, models))
    named = (
        names.models(models) if len(models) < names.most else f"the {len(models)} models with the best scores"
    )
    return f"which of {named} is best"


def _if(verdict: Verdict) -> str:
    """The condition after a conclusion at one dependence."""
    if not verdict.assumption.anybody_left:
        return ""
    return " if dropout is independent" if verdict.assumption.tau == 0 else " under the stated dependence"


def _is_lost(course: Course) -> bool:
    """Whether the first is not better than the second somewhere in the plausible range."""
    return any((zone.kind, zone.model) != ("better", course.first) for zone in course.in_plausible)


def _may_lose(course: Course) -> bool:
    """Whether the second is better than the first somewhere in the plausible range."""
    return any((zone.kind, zone.model) == ("better", course.second) for zone in course.in_plausible)


def hangs_on(verdict: Verdict, names: Names = BARE) -> list[str]:
    """Sentences on the assumption of the conclusion, on where it ends, and on the plausible range."""
    place = verdict.standing
    if not place.scores:
        return []
    sentences = [f"{assumption_in_words(verdict.assumption)} {_at_start(verdict, names)}."]
    for course in verdict.courses[:1] if verdict.assumption.anybody_left else ():
        sentences += filter(None, [course_in_words(course, verdict, names), plausible_in_words(verdict)])
    sentences += _reservations(verdict, names)
    return sentences


def assumption_in_words(assumption: Assumption) -> str:
    """The assumption, as the first clause of a sentence."""
    if assumption.tau is None:
        return f"With scores by {as_noun(assumption.label)},"
    if not assumption.anybody_left:
        return "Nobody dropped out:"
    whom = "similar subjects who stayed" if assumption.given else "those who stayed"
    if assumption.tau == 0:
        return f"If dropouts fared like {whom},"
    family = "" if assumption.family is None else f", {assumption.family.capitalize()} copula"
    fast = ""
    if assumption.hazard_ratio is not None:
        fast = f": dropouts had the event {ratio_in_words(assumption.hazard_ratio)} times as fast as {whom}"
    return f"If event and dropout depend on each other (τ = {tau_in_words(assumption.tau)}{family}{fast}),"


def _at_start(verdict: Verdict, names: Names) -> str:
    """Who is best under the assumption."""
    place, verbs = verdict.standing, doing(verdict.standing.metric)
    if len(place.scores) == 1:
        [model] = place.scores
        answer = verdict.better_than_reference[model].here
        if answer == "cannot tell":
            return f"{names.model(model)} may be no better than {KAPLAN_MEIER}"
        return f"{names.model(model)} is better than {KAPLAN_MEIER}"
    if not place.tells:
        return names.have_best_score(place.leaders)
    if len(place.contenders) == 1:
        rest = [model for model in place.scores if model not in (*place.contenders, *place.beaten)]
        told = f"{names.models(place.contenders)} {verbs.is_best}"
        return (
            f"{told}, as far as there are intervals ({names.models(rest)} cannot be compared)"
            if rest
            else told
        )
    pairs = [(a, b) for k, a in enumerate(place.contenders) for b in place.contenders[k + 1 :]]
    if all(place.equivalent(*pair) for pair in pairs):
        within = (
            f"all differences lie within ±{place.margin:.2g}" if place.margin else "their scores are the same"
        )
        told = f"{names.models(place.contenders)} are equivalent: {within}"
    else:
        told = f"the data cannot tell {_apart(place.contenders, names)}"
    if not place.beaten:
        return told
    return f"{told}; {names.models(place.beaten)} {'is' if len(place.beaten) == 1 else 'are'} worse"


def course_in_words(course: Course, verdict: Verdict, names: Names = BARE) -> str:
    """Where what holds at independence ends, on the way up and on the way down."""
    parts = [part for way in (1, -1) if (part := _on_the_way(course, way, verdict, names))]
    if parts:
        return " ".join(parts)
    if len(course.points) < 2:
        return "No other dependence was tried."
    low, high = course.points[0], course.points[-1]
    if course.is_ratio:
        ends = f"from {ratio_in_words(low)} to {ratio_in_words(high)} times as fast"
        return f"That holds whether they had the event {ends}, all that was tried."
    return f"That holds for τ from {tau_in_words(low)} to {tau_in_words(high)}, all that was tried."


def _on_the_way(course: Course, way: int, verdict: Verdict, names: Names) -> str:
    zones = course.outward(way)
    if not zones:
        return ""
    verbs, at_start = doing(verdict.standing.metric), course.at_start
    starts = [zone.low if way > 0 else zone.high for zone in zones]
    clauses = [
        f"{_condition(course, starts[0], way)}, {_then(course, zones[0], at_start, verbs.beats, names)}"
    ]
    for zone, start in list(zip(zones, starts, strict=True))[1:]:
        if zone.kind == "better" and zone.model != zones[0].model:
            clauses.append(
                f"from {point_in_words(course, start)}, {_then(course, zone, at_start, verbs.beats, names)}"
            )
            break
    return f"{'; '.join(clauses)}."


def _then(course: Course, zone: Zone, before: Zone, beats: str, names: Names) -> str:
    rival = rival_name(course, names)
    if zone.kind == "better":
        winner, loser = (
            (course.first, rival)
            if zone.model == course.first
            else (course.second, names.model(course.first))
        )
        return f"{names.model(winner) if winner else KAPLAN_MEIER} {beats} {loser}"
    if zone.kind == "equivalent":
        return f"{names.model(course.first)} and {rival} are equal for practical purposes"
    if zone.kind == "unknown":
        return "there is no interval"
    if before.kind == "better":
        return f"the lead over {rival} is gone"
    return f"the data cannot tell {names.model(course.first)} from {rival}"


def _condition(course: Course, point: float, way: int) -> str:
    if course.is_ratio:
        more, tau = "more" if way > 0 else "less", course.tau(point)
        in_tau = f" (τ = {tau_in_words(tau)})" if isfinite(tau) else ""
        return f"If they had the event {more} than {inward(point)} times as fast{in_tau}"
    fast = course.ratio(point)
    in_ratio = (
        f" ({inward(fast)} times as fast; {family_in_words(course.line)})"
        if isfinite(fast)
        else f" ({family_in_words(course.line)})"
    )
    return f"If Kendall’s τ is {'above' if way > 0 else 'below'} {tau_in_words(point)}{in_ratio}"


def family_in_words(line: str) -> str:
    """A family of copulas in a sentence."""
    return f"{line.capitalize()} copula" if line in copula_families() else line


def point_in_words(course: Course, point: float) -> str:
    """A point of the axis, with τ in brackets where that is known."""
    if not course.is_ratio:
        return f"τ = {tau_in_words(point)}"
    tau = course.tau(point)
    return f"{ratio_in_words(point)} times" + (f" (τ = {tau_in_words(tau)})" if isfinite(tau) else "")


def plausible_in_words(verdict: Verdict) -> str:
    """The range that is held plausible, and who decided that."""
    plausible = verdict.plausible
    if plausible is None:
        return ""
    in_tau = f"τ {tau_in_words(plausible.low)} to {tau_in_words(plausible.high)}"
    origin = "as stated" if plausible.origin == "asked" else "the default"
    course = verdict.courses[0] if verdict.courses else None
    if course is None or not course.is_ratio or course.plausible is None:
        return f"The plausible range is {in_tau}, {origin}."
    low, high = (ratio_in_words(end) for end in course.plausible)
    return f"The plausible range is {low} to {high} times as fast ({in_tau}, {origin})."


def _reservations(verdict: Verdict, names: Names) -> Iterator[str]:
    """Reasons why a conclusion is weaker than it looks."""
    leader, lost = verdict.leader, verdict.robustness
    unsure = leader is not None and verdict.better_than_reference[leader].here == "cannot tell"
    if leader is not None and unsure and len(verdict.standing.scores) > 1:
        yield f"It is not clear that {names.model(leader)} is better than {KAPLAN_MEIER}."
    if verdict.plausible is None and verdict.assumption.anybody_left and verdict.state != "no_usable_model":
        yield "Other dependences were not tried: sensitivity() does that."
    if lost is not None and lost.within_plausible and not any(map(_is_lost, verdict.courses)):
        family = family_in_words(lost.family)
        yield f"With a {family}, the lead over {names.model(lost.against)} is gone at τ = {tau_in_words(lost.tau)}."
    if verdict.unanswered:
        points = f"{verdict.unanswered} point{'s' * (verdict.unanswered > 1)}"
        yield f"{points} of the plausible range {'have' if verdict.unanswered > 1 else 'has'} no answer."


def zones_in_words(course: Course, names: Names = BARE) -> list[tuple[str, str]]:
    """By part of the axis what is known of the two, from the first point to the last."""
    rows = []
    for zone in course.zones:
        ends = zone.low, zone.high
        if course.is_ratio:
            where = " to ".join(map(ratio_in_words, ends)) + " times as fast"
            taus = [course.tau(end) for end in ends]
            where += f" (τ {' to '.join(map(tau_in_words, taus))})" if all(map(isfinite, taus)) else ""
        else:
            where = f"τ {' to '.join(map(tau_in_words, ends))}"
        rows.append((where, zone_in_words(course, zone, names)))
    return rows


def zone_in_words(course: Course, zone: Zone, names: Names = BARE) -> str:
    """What is known of the two in a part of the axis, in short."""
    if zone.kind == "better":
        return f"{names.model(zone.model) if zone.model else KAPLAN_MEIER} better"
    if zone.kind == "undecided" and course.turn is not None and zone.low <= course.turn <= zone.high:
        at = ratio_in_words(course.turn) + "×" if course.is_ratio else f"τ = {tau_in_words(course.turn)}"
        return f"cannot tell (order turns at {at})"
    if zone.kind == "undecided":
        return "cannot tell"
    return "equal for practical purposes" if zone.kind == "equivalent" else "no interval"


def against_others(verdict: Verdict, names: Names = BARE) -> list[str]:
    """A line for further models in play: where the lead of the model with the best score over them ends."""
    if len(verdict.courses) < 2:
        return []
    first, rivals = names.model(verdict.courses[0].first), dict[str, list[str]]()
    for course in verdict.courses[1:]:
        if _is_lost(course):
            rivals.setdefault(_where_lost(course), []).append(course.second)
    if not rivals:
        others = names.models(course.second for course in verdict.courses[1:])
        return [f"{first} is better than {others} throughout the plausible range"]
    return [f"{first} against {names.models(models)}: {where}" for where, models in rivals.items()]


def _where_lost(course: Course) -> str:
    if (course.at_start.kind, course.at_start.model) != ("better", course.first):
        return zone_in_words(course, course.at_start)
    ends = [(way, zone.low if way > 0 else zone.high) for way in (1, -1) for zone in course.outward(way)[:1]]
    parts = []
    for way, end in ends:
        where = f"{inward(end)} times" if course.is_ratio else f"τ = {tau_in_words(end)}"
        parts.append(f"{'above' if way > 0 else 'below'} {where}")
    return f"the lead is gone {' and '.join(parts)}"
