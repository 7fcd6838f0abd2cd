"""How far the best score stays the best over the grid of families and τ, in words for the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from cocensor.sensitivity import Sensitivity
from cocensor.words.names import ON_PAGE, Names, listed
from cocensor.words.pace import weakest
from cocensor.words.stretches import stretches_in_words
from cocensor.words.within import (
    End,
    Extent,
    Reach,
    answered_points,
    beyond_in_words,
    lost_in_words,
    lost_inside,
    stays_in_words,
)


def grid_in_words(sensitivity: Sensitivity) -> str:
    """What the grid holds: the families that have an answer, those that have none, and the range of τ."""
    best, taus = sensitivity.leaders(), answered_points(sensitivity)
    silent = [family for family in sensitivity.families if family not in best]
    without = ""
    if silent:
        without = f" ({ON_PAGE.families(silent)} {'has' if len(silent) == 1 else 'have'} no answer)"
    along = f"τ from {taus[0]:g} to {taus[-1]:g}" if len(taus) > 1 else f"τ = {taus[0]:g}"
    below = [family for family, by_tau in best.items() if min(by_tau) < 0]
    if below and len(below) < len(best):
        along += f" (below 0 under {ON_PAGE.families(below)} alone)"
    return f"{len(best)} {'families' if len(best) > 1 else 'family'}{without} and {along}"


def scores_extent(
    sensitivity: Sensitivity, winners: tuple[str, ...], start: float, names: Names = ON_PAGE
) -> Extent:
    """How far over the grid those with the best score at ``start`` have it."""
    best = sensitivity.leaders()
    apart = [family for family, by_tau in best.items() if not _hold(winners, by_tau.get(start, winners))]
    if apart:
        if start:
            return Extent(f"Under {names.families(apart)} that is not so.")
        return Extent("The sensitivity analysis has another answer at independence.")
    if answered_points(sensitivity) == [start] and (not start or len(best) == 1):
        return Extent(f"No {'other ' if start else ''}dependence was tried.")
    reach, has = _reach(sensitivity, winners, start), "may have" if len(best) > 1 else "gets"
    return Extent(
        stays_in_words(sensitivity, reach),
        beyond_in_words(sensitivity, reach, lambda end: [f"{names.models(end.models)} {has} the best score"]),
        lost_in_words(sensitivity, reach, names),
        lost_inside(sensitivity, reach),
    )


def extent_of_scores(
    sensitivity: Sensitivity, winners: tuple[str, ...], start: float | None
) -> Iterator[str]:
    """Whether the grid starts with the same answer, whose score is best from where to where, and how often."""
    best = sensitivity.leaders()
    at_zero = next((by_tau[0.0] for by_tau in best.values() if 0.0 in by_tau), winners)
    if not start and not _hold(winners, at_zero):
        yield f"At τ = 0, {ON_PAGE.have_best_score(at_zero)} there."
    for clause in stretches_in_words(sensitivity, ON_PAGE):
        yield f"{clause}."
    yield from _counts(best)


def _hold(winners: tuple[str, ...], best: tuple[str, ...]) -> bool:
    return set(winners) <= set(best)


def _reach(sensitivity: Sensitivity, winners: tuple[str, ...], start: float) -> Reach:
    """From where to where the winners are best under every family that has an answer.

    Both ways from ``start``, which need not be a point of the grid.
    """
    ends: dict[bool, dict[str, tuple[float, tuple[str, ...]]]] = {False: {}, True: {}}
    changes = sensitivity.changes()
    for family, best in sensitivity.leaders().items():
        for up in (False, True):
            way = sorted((tau for tau in best if tau == start or (tau > start) == up), reverse=not up)
            crossed = {
                change.above if up else change.below: change.at
                for change in changes
                if change.family == family
                and (change.at > start) == up
                and _hold(winners, best[change.below if up else change.above])
            }
            lost = next((k for k, tau in enumerate(way) if not _hold(winners, best[tau])), None)
            if lost is not None:
                last = way[max(lost - 1, 0)]
                # Equals that part do so at once.
                ends[up][family] = crossed.get(way[lost], last), best[way[lost]]
    return Reach(*(_nearest(sensitivity, ends[up], start) for up in (False, True)))


def _nearest(
    sensitivity: Sensitivity, ends: dict[str, tuple[float, tuple[str, ...]]], start: float
) -> End | None:
    if not ends:
        return None
    first = min(ends, key=lambda family: abs(ends[family][0] - start))
    at, models = ends[first]
    ratio = weakest(sensitivity, [(family, each) for family, (each, _) in ends.items()])
    return End(at, line=first, others=len(ends) > 1, ratio=ratio, models=models)


def _counts(best: dict[str, dict[float, tuple[str, ...]]]) -> Iterator[str]:
    """How often each model has the best score, alone or with others."""
    counts = Counter(models for by_tau in best.values() for models in by_tau.values())
    (first, most), *rest = counts.most_common()
    more = "".join(
        f", {ON_PAGE.models(models)}{' alike' if len(models) > 1 else ''} at {count}"
        for models, count in rest
    )
    if counts.total() > 1:
        yield f"{ON_PAGE.have_best_score(first)} at {most} of the {counts.total()} points of the grid{more}."


def without_score(sensitivity: Sensitivity) -> Iterator[str]:
    """Which models could not be best, as nothing is known of them, rather than were beaten."""
    points = [(family, tau) for family, by_tau in sensitivity.leaders().items() for tau in by_tau]
    for model in sensitivity.evaluation.data.predictions:
        silent = Counter(
            ON_PAGE.family(family) for family, tau in points if model not in sensitivity.values(family, tau)
        )
        if silent:
            where = f"{silent.total()} of these points, under {listed(list(silent))}"
            yield f"{ON_PAGE.model(model)} has no score at {where}: there it is left out, not beaten."
