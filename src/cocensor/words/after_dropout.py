"""How far an answer holds if those who left have another hazard, in words."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from cocensor.sensitivity import AfterDropout
from cocensor.sensitivity.after_dropout import ALL
from cocensor.words.digits import inward, number
from cocensor.words.leads import first_point, overtaking, reach, whom
from cocensor.words.names import BARE, Names, as_noun, listed
from cocensor.words.standing import Standing, standing_at
from cocensor.words.within import End, Reach

_IF = "If the hazard of those who left is ρ times that of comparable subjects who stayed"
# As many reasons or groups are named at once.
_MOST_NAMED = 3
_EVERY = "every ρ"


def after_dropout_as_text(after: AfterDropout) -> str:
    """What a terminal shows of scores over the hazard ratio after dropout."""
    labels = listed([as_noun(after.evaluation.results[name].label) for name in after.answers])
    lines = f" of {listed([BARE.model(line) for line in after.lines])}" if len(after.lines) > 1 else ""
    over = f"over the hazard ratio ρ after dropout{lines}, {_tried(after, ALL)}"
    return f"Sensitivity of {labels} {over}.\n{after_dropout_in_words(after)}"


def after_dropout_in_words(after: AfterDropout, names: Names = BARE) -> str:
    """Who beats whom up to which ρ, of everybody and of one reason or group alone; empty where no other ρ was tried.

    By the primary adjustment and the first metric. Without intervals, whose score is the best; empty too where nobody
    left.
    """
    unnamed = after.missing.get((after.primary, "reason"))
    said = [_everybody_in_words(after, names), "" if unnamed is None else unnamed.text]
    return " ".join(filter(None, said)) if said[0] else ""


def _everybody_in_words(after: AfterDropout, names: Names) -> str:
    by_ratio = after.leaders().get(ALL, {})
    if set(by_ratio) <= {1.0} or not after.evaluation.data.anybody_left:
        return ""
    if not after.evaluation.contenders:
        return ""
    if len(after.evaluation.contenders) == 1:
        [model] = after.evaluation.contenders
        scores = [after.values(ALL, ratio)[model] for ratio in by_ratio]
        what = f"the {after.evaluation.metric().label} of {names.model(model)}"
        return f"{_IF}, {what} lies between {number(min(scores))} and {number(max(scores))} for {_tried(after, ALL)}."
    found = standing_at(after, ALL, first_point(after))
    if found.tells and not found.beaten:
        return f"{_IF}, {_tie(after, found, names)}."
    what = names.have_best_score(found.leaders)
    if found.tells:
        beat = "beats" if len(found.first) == 1 else "beat"
        what = f"{names.models(found.first)} {beat} {names.models(found.beaten)}"
    everybody = _reach(after, found, ALL)
    if everybody is None:
        return ""
    then = _overtaken(after, found, names) if found.tells else ""
    return " ".join([f"{_IF}, {what} {_where(after, ALL, everybody)}{then}.", *_alone(after, found, names)])


def _overtaken(after: AfterDropout, found: Standing, names: Names) -> str:
    """Which loser beats each of the first models soonest, from some ratio on."""
    soonest = overtaking(after, found, ALL)
    if soonest is None:
        return ""
    loser, ratio = soonest[0], soonest[1][ALL]
    where = f"at ρ = {ratio:g}" if ratio == max(after.leaders()[ALL]) else f"from ρ = {ratio:g} on"
    return f"; {where}, {names.model(loser)} beats {whom(found)}"


def _reach(after: AfterDropout, found: Standing, line: str) -> Reach | None:
    if found.tells:
        return reach(after, found, found.beaten, line)
    best = after.leaders()[line]
    ends = []
    for way in (sorted((r for r in best if r <= 1), reverse=True), sorted(r for r in best if r >= 1)):
        lost = next((k for k, ratio in enumerate(way) if not set(found.leaders) <= set(best[ratio])), None)
        ends.append(None if lost is None else End(way[max(lost - 1, 0)]))
    return Reach(*ends)


def _tie(after: AfterDropout, found: Standing, names: Names) -> str:
    who, start = "the best models" if found.behind else "the models", first_point(after)
    if len(found.first) <= _MOST_NAMED:
        who = names.models(found.first)
    they = "them" if len(found.first) == 2 else "some of them"
    told = {
        after.at_position(float(position))
        for a, b in combinations(found.first, 2)
        for curve in (after.along(a, b)[ALL],)
        for position in curve.positions[curve.sides != 0]
    } - {start}
    if not told:
        return f"the data cannot tell {who} apart for any ρ that was tried, {_span(after, ALL)}"
    at = listed([f"{ratio:g}" for ratio in sorted(told)], "or")
    return f"the data cannot tell {who} apart at ρ = {start:g}; at ρ = {at} they can tell {they} apart"


def _where(after: AfterDropout, line: str, found: Reach) -> str:
    """For which ρ."""
    if found.low is None and found.high is None:
        return f"for every ρ that was tried, {_span(after, line)}"
    return f"for ρ {_ends(found)} ({_span(after, line)} was tried)"


def _ends(found: Reach) -> str:
    low = None if found.low is None else inward(found.low.at)
    high = None if found.high is None else inward(found.high.at)
    if low is not None and high is not None:
        return f"from about {low} to {high}" if low != high else f"of about {low} alone"
    return f"up to about {high}" if low is None else f"from about {low} on"


def _span(after: AfterDropout, line: str) -> str:
    ratios = sorted(after.leaders()[line])
    return f"{ratios[0]:g} to {ratios[-1]:g}" if len(ratios) > 1 else f"{ratios[0]:g}"


def _tried(after: AfterDropout, line: str) -> str:
    return f"ρ from {_span(after, line)}"


def _alone(after: AfterDropout, found: Standing, names: Names) -> Iterator[str]:
    """The same where the ratio of one reason or group moves alone, those with one limit together."""
    by_text: dict[str, list[str]] = {}
    others = [line for line in after.leaders() if line != ALL]
    for line in others:
        extent = _reach(after, found, line)
        if extent is not None:
            whole = extent.low is None and extent.high is None
            by_text.setdefault(_EVERY if whole else _ends(extent), []).append(line)
    if not by_text:
        return
    reasons = after.evaluation.data.samples.y_test.reasons
    what = "reason" if set(others) <= set(reasons) else "group"
    if len(by_text) == 1:
        yield f"For each {what} alone: {next(iter(by_text))}."
        return
    parts = []
    for text, lines in sorted(by_text.items(), key=lambda item: item[0] == _EVERY):
        many = f"{len(lines)} {what}s"
        named = listed([f"“{names.model(line)}”" for line in lines])
        parts.append(f"for {many if len(lines) > _MOST_NAMED else named} alone: {text}")
    said = "; ".join(parts)
    yield f"{said[0].upper()}{said[1:]}."
