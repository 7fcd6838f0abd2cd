"""What a grid of families and τ says beyond the answer, line by line, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations, groupby

from cocensor._validation import FloatArray
from cocensor.inference import TippingPoint
from cocensor.sensitivity import Sensitivity
from cocensor.words.digits import level_in_words, towards_zero, turn_in_words
from cocensor.words.leads import reach
from cocensor.words.names import Names, counted, listed
from cocensor.words.standing import Standing
from cocensor.words.within import Reach, answered_points, scales_in_words, tried_in_words

# As many pairs of models are told of one after the other.
_MOST_PAIRS = 3


def told_over_grid(sensitivity: Sensitivity, found: Standing, names: Names) -> Iterator[str]:
    """Who is told from whom how far, where the order of the scores turns, and what is told elsewhere."""
    yield from _reaches(sensitivity, found, names)
    yield from _turns(sensitivity, found, names)
    yield from _elsewhere(sensitivity, found, names)


def _reach_in_words(sensitivity: Sensitivity, found: Reach) -> str:
    """As long as τ is where."""
    if not found.ends:
        return f"at every {tried_in_words(sensitivity)}"
    taus = answered_points(sensitivity)
    # Where the grid does not reach 0, nothing is known between.
    ends = [f"at least {taus[0]:g}"] if taus[0] > 0 else [f"at most {taus[-1]:g}"] if taus[-1] < 0 else []
    return f"as long as τ is {' and '.join([*ends, *_ends(found)])}"


def _ends(found: Reach) -> list[str]:
    ends = []
    for end, side, least in ((found.low, "above", "at least"), (found.high, "below", "at most")):
        if end is not None:
            silent = f"{least} {end.at:g} (beyond, an interval is missing)"
            ends.append(silent if end.silent else f"{side} about {towards_zero(end.at)}")
    return ends


def _reaches(sensitivity: Sensitivity, found: Standing, names: Names) -> Iterator[str]:
    """Which of the losers are beaten further than all of them are."""
    whole = reach(sensitivity, found, found.beaten)
    by_text: dict[str, list[str]] = {}
    for loser in found.beaten:
        extent = reach(sensitivity, found, (loser,))
        if extent is not None:
            by_text.setdefault(_reach_in_words(sensitivity, extent), []).append(loser)
    beat = "beats" if len(found.first) == 1 else "beat"
    for text, losers in by_text.items():
        if whole is None or text != _reach_in_words(sensitivity, whole):
            yield f"{names.models(found.first)} {beat} {names.models(losers)} {text}."


def _turns(sensitivity: Sensitivity, found: Standing, names: Names) -> Iterator[str]:
    """Where the best score and those of others change order, nearest to τ = 0 first."""
    first = found.compared[0]
    turns: list[tuple[float, str, list[TippingPoint]]] = []
    for other in found.compared:
        points = [] if other == first else sensitivity.tipping_points(first, other)
        for below in (False, True):
            side = [point for point in points if (point.at < 0) == below]
            if side and side[0].interval != (None, None):  # which tells nothing of where
                turns.append((abs(side[0].at), other, side))
    turns.sort(key=lambda turn: turn[0])
    for _, other, points in turns[:_MOST_PAIRS]:
        at, interval = turn_in_words(points[0], sensitivity.confidence_level)
        family, turning = points[0].line, {point.line for point in points}
        under = f"under {names.family(family)}"
        if len(turning) > 1:
            under = f"first {under}"
        elif len(sensitivity.leaders()) > 1:
            under += " alone"
        scales = scales_in_words(sensitivity, family, points[0].at, names, again=True)
        yield (
            f"The scores of {names.model(first)} and {names.model(other)} change order at about τ = {at} "
            f"({interval}), {under}{f': {scales}' if scales else ''}."
        )
    if len(turns) > _MOST_PAIRS:
        yield f"Those of {names.model(first)} and others do so {len(turns) - _MOST_PAIRS} more times, further out."


def _elsewhere(sensitivity: Sensitivity, found: Standing, names: Names) -> Iterator[str]:
    """What intervals tell that those of the start do not: victories of losers, and pairs of a tie."""
    smaller, n_families = found.metric.direction == "smaller", len(sensitivity.leaders())
    lines = []
    for pair in combinations(found.compared, 2):
        if not set(pair) & set(found.first):
            continue
        winners = {-1 if smaller else 1: pair, 1 if smaller else -1: pair[::-1]}
        before = found.better(*pair)
        signs = tuple(sign for sign, (winner, _) in winners.items() if winner != before)
        for sign, where in _decided(sensitivity, pair, signs).items():
            winner, loser = map(names.model, winners[sign])
            lines.append(f"{winner} beats {loser} {_places(where, names, n_families)}")
    for line in lines[:_MOST_PAIRS]:
        yield f"{line} (by the {level_in_words(sensitivity.confidence_level)} interval at each τ)."
    if len(lines) > _MOST_PAIRS:
        yield f"{counted(len(lines) - _MOST_PAIRS, 'more such statement')} can be made of other pairs of models."


def _decided(
    sensitivity: Sensitivity, pair: tuple[str, str], signs: tuple[int, ...]
) -> dict[int, dict[str, list[str]]]:
    """By sign of the difference of two models and by family, where its interval excludes 0."""
    found: dict[int, dict[str, list[str]]] = {}
    for family, curve in sensitivity.along(*pair).items():
        for sign in signs:
            runs = list(_runs(curve.positions, curve.sides == sign))
            if runs:
                found.setdefault(sign, {})[family] = runs
    return found


def _runs(taus: FloatArray, marked: FloatArray) -> Iterator[str]:
    """Where along τ points are marked, one stretch after the other."""
    for mark, points in groupby(range(len(taus)), key=lambda k: bool(marked[k])):
        run = list(points)
        low, high = float(taus[run[0]]), float(taus[run[-1]])
        if not mark:
            continue
        if len(run) == len(taus) > 1:
            yield "at every τ"
        elif len(run) == 1:
            yield f"at τ = {low:g}"
        elif run[-1] == len(taus) - 1:
            yield f"from τ = {low:g} on"
        else:
            yield f"up to τ = {high:g}" if run[0] == 0 else f"from τ = {low:g} to {high:g}"


def points_in_words(sensitivity: Sensitivity, names: Names) -> str:
    """How many points of the grid, each taken by itself, leave which models as the best."""
    kept = Counter(tuple(sorted(best)) for line in sensitivity.best().values() for best in line.values())
    parts = []
    for models, count in kept.most_common(_MOST_PAIRS):
        every = len(models) == len(sensitivity.evaluation.contenders)
        ordered = [names.model(model) for model in sensitivity.evaluation.models if model in models]
        parts.append(f"{'any model' if every else listed(ordered, 'or')} at {count}")
    more = kept.total() - sum(count for _, count in kept.most_common(_MOST_PAIRS))
    others = f"; others at {more}" if more else ""
    many = counted(kept.total(), "point")
    return f"Of the {many} of the grid, each taken by itself, the best may be {'; '.join(parts)}{others}."


def _places(by_family: Mapping[str, list[str]], names: Names, n_families: int) -> str:
    """Where, with the families in which it is there."""
    families: dict[str, list[str]] = {}
    for family, runs in by_family.items():
        families.setdefault(listed(runs), []).append(family)
    if len(families) == 1 and len(by_family) == n_families > 1:
        return f"{next(iter(families))} under every family"
    return listed([f"{where} under {names.families(under)}" for where, under in families.items()])
