"""How far an answer holds over the grid of families and τ, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from cocensor.evaluation.evaluation import listed
from cocensor.report.words import families_listed, family_name, is_best, model_name, models_listed
from cocensor.sensitivity import Sensitivity, Stretch


def told_by(sensitivity: Sensitivity) -> str:
    """The adjustment that the grid is told by: the primary one, where it has an answer."""
    return sensitivity.stretches()[0].adjustment


def grid(sensitivity: Sensitivity) -> str:
    """What the grid holds: the families that have an answer, those that have none, and the range of τ."""
    best = sensitivity.best()
    taus = sorted({tau for by_tau in best.values() for tau in by_tau})
    silent = [family for family in sensitivity.families if family not in best]
    without = (
        f" ({families_listed(silent)} {'has' if len(silent) == 1 else 'have'} no answer)" if silent else ""
    )
    along = f"τ from {taus[0]:g} to {taus[-1]:g}" if len(taus) > 1 else f"τ = {taus[0]:g}"
    below = [family for family, by_tau in best.items() if min(by_tau) < 0]
    if below and len(below) < len(best):
        along += f" (below 0 under {families_listed(below)} alone)"
    return f"{len(best)} {'families' if len(best) > 1 else 'family'}{without} and {along}"


def limit(sensitivity: Sensitivity, winners: tuple[str, ...], start: float) -> str:
    """Whether the answer at ``start`` holds over the grid, in half a sentence."""
    best = sensitivity.best()
    apart = [family for family, by_tau in best.items() if not _hold(winners, by_tau.get(start, winners))]
    if apart:
        return (
            f", but not under {families_listed(apart)}" if start else ", under one adjustment and not another"
        )
    if {tau for by_tau in best.values() for tau in by_tau} == {start} and (not start or len(best) == 1):
        return f"; no {'other ' if start else ''}dependence was tried"
    lows, highs = _ends(sensitivity, winners, start)
    then = "another may be" if len(winners) == 1 else "that may change"
    if not highs and not lows:
        return f", and at every dependence that {'was tried' if _is_whole(sensitivity) else 'has an answer'}"
    if not lows:
        return f"; from about τ = {min(highs):z.2f} on, {then}"
    if not highs:
        return f"; below about τ = {max(lows):z.2f}, {then}"
    low, high = f"{max(lows):z.2f}", f"{min(highs):z.2f}"
    return f"; {f'outside of τ = {low} to {high}' if low != high else f'away from τ = {low}'}, {then}"


def reach(sensitivity: Sensitivity, winners: tuple[str, ...]) -> Iterator[str]:
    """Whether the grid starts with the same answer, who is best from where to where, and how often."""
    best = sensitivity.best()
    at_zero = next((by_tau[0.0] for by_tau in best.values() if 0.0 in by_tau), winners)
    if not _hold(winners, at_zero):
        verb = "is" if len(at_zero) == 1 else "are"
        yield f"This is not the same answer: already at τ = 0 it is {models_listed(at_zero)} that {verb} best."
    alike: dict[tuple[object, ...], dict[str, list[Stretch]]] = {}
    for family, found in groupby(sensitivity.stretches(), key=lambda each: each.family):
        mine = list(found)
        course = mine[0].low, mine[-1].high, *((each.model, each.equals) for each in mine)
        alike.setdefault(course, {})[family] = mine
    for courses in alike.values():
        every = ""
        if len(courses) == len(best) > 1:
            every = (
                f"every family {'tried' if len(best) == len(sensitivity.families) else 'with an answer'}: "
            )
        yield _course(courses, every)
    yield from _counts(best)
    yield from _without_score(sensitivity)


def _hold(winners: tuple[str, ...], best: tuple[str, ...]) -> bool:
    return set(winners) <= set(best)


def _is_whole(sensitivity: Sensitivity) -> bool:
    """Whether every family has an answer wherever it was asked."""
    name = told_by(sensitivity)
    silent = any(adjustment == name for adjustment, _ in sensitivity.missing)
    return not silent and len(sensitivity.answers[name]) == len(sensitivity.families)


def _ends(
    sensitivity: Sensitivity, winners: tuple[str, ...], start: float
) -> tuple[list[float], list[float]]:
    """The τ below which, and those above which, the winners are no longer best, where a family has any.

    Both ways from ``start``, which need not be a point of the grid.
    """
    ends: dict[bool, list[float]] = {False: [], True: []}
    flips = sensitivity.flips()
    for family, best in sensitivity.best().items():
        for up in (False, True):
            way = sorted((tau for tau in best if tau == start or (tau > start) == up), reverse=not up)
            crossed = {
                flip.above if up else flip.below: flip.at
                for flip in flips
                if flip.family == family
                and (flip.at > start) == up
                and _hold(winners, best[flip.below if up else flip.above])
            }
            lost = next((k for k, tau in enumerate(way) if not _hold(winners, best[tau])), None)
            if lost is not None:
                last = way[max(lost - 1, 0)]
                ends[up].append(crossed.get(way[lost], last))  # equals that part do so at once
    return ends[False], ends[True]


def _course(courses: dict[str, list[Stretch]], every: str) -> str:
    """Who is best from where to where, under families in which the same models follow each other."""
    columns = list(zip(*courses.values(), strict=True))
    first, last = columns[0][0], columns[-1][0]
    under = f"under {every}{families_listed(courses)}"
    if first.low == last.high:
        return f"{is_best((first.model, *first.equals))} at τ = {first.low:g} {under}."
    stays = f"{_holders(first)} {'stay equally good and' if first.equals else 'stays'} best from τ = {first.low:g}"
    if len(columns) == 1:
        return f"{stays} to {first.high:g}, as far as was tried, {under}."
    seen, turns = {first.model}, []
    for column in columns[1:]:
        new = column[0]
        verb = "return" if new.model in seen else "take over"
        if not new.equals:
            verb = "returns" if new.model in seen else "takes over"
        turns.append((_places(column), f"{_holders(new)} {verb}"))
        seen.add(new.model)
    (place, then), *later = turns
    return f"{stays} to about {place}, where {then}{''.join(f'; at about τ = {at}, {who}' for at, who in later)}."


def _holders(stretch: Stretch) -> str:
    return models_listed((stretch.model, *stretch.equals))


def _places(column: Sequence[Stretch]) -> str:
    """Where a stretch begins, by family."""
    found: dict[str, list[str]] = {}
    for each in column:
        found.setdefault(f"{each.low:.2f}", []).append(each.family)
    return listed([f"{at} under {families_listed(families)}" for at, families in found.items()])


def _counts(best: dict[str, dict[float, tuple[str, ...]]]) -> Iterator[str]:
    """How often each model is best, alone or with others."""
    counts = Counter(models for by_tau in best.values() for models in by_tau.values())
    (first, most), *rest = counts.most_common()
    more = "".join(
        f", {models_listed(models)}{' alike' if len(models) > 1 else ''} at {count}" for models, count in rest
    )
    if counts.total() > 1:
        yield f"{is_best(first)} at {most} of the {counts.total()} points of the grid{more}."


def _without_score(sensitivity: Sensitivity) -> Iterator[str]:
    """Which models could not be best, as nothing is known of them, rather than were beaten."""
    evaluation, answers = sensitivity.evaluation, sensitivity.answers[told_by(sensitivity)]
    metric = evaluation.metrics[0]
    for model in evaluation.models:
        silent = Counter(
            family_name(family)
            for family, by_tau in answers.items()
            for answer in by_tau.values()
            if model not in answer.scores[metric]
        )
        if silent:
            where = f"{silent.total()} of these points, under {listed(list(silent))}"
            yield f"{model_name(model)} has no score at {where}: there it is left out, not beaten."
