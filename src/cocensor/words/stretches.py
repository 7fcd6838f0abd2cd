"""Which model has the best score from where to where along τ, in words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from cocensor.sensitivity import Sensitivity, Stretch
from cocensor.words.names import Names, listed


def stretches_in_words(sensitivity: Sensitivity, names: Names) -> list[str]:
    """One clause for all families in which the same models follow each other, by the first metric."""
    alike: dict[tuple[object, ...], dict[str, list[Stretch]]] = {}
    for family, found in groupby(sensitivity.stretches(), key=lambda stretch: stretch.family):
        stretches = list(found)
        course = stretches[0].low, stretches[-1].high, *((each.model, each.equals) for each in stretches)
        alike.setdefault(course, {})[family] = stretches
    return [_course(by_family, names) for by_family in alike.values()]


def _course(by_family: dict[str, list[Stretch]], names: Names) -> str:
    """Which model has the best score from where to where, under families in which the same models follow each other."""
    columns = list(zip(*by_family.values(), strict=True))
    first, last = columns[0][0], columns[-1][0]
    best, under = names.have_best_score((first.model, *first.equals)), f"under {names.families(by_family)}"
    start = "0 (independent censoring)" if first.low == 0 else f"{first.low:g}"
    if first.low == last.high:
        return f"{best} at τ = {start} {under}"
    ends = [_ends(column, names) for column in columns[:-1]]
    differ = any(len(by_end) > 1 for by_end in ends)
    places = [
        listed([f"{end} under {families}" for end, families in by_end.items()])
        if differ
        else next(iter(by_end))
        for by_end in ends
    ]
    then = [names.models((column[0].model, *column[0].equals)) for column in columns[1:]]
    turns = [f"{place}, then {models}" for place, models in zip(places, then, strict=True)]
    said = f"{best} from τ = {start} to {' up to '.join([*turns, f'{last.high:g}'])}"
    return said if differ else f"{said} {under}"


def _ends(column: Sequence[Stretch], names: Names) -> dict[str, str]:
    """Where a stretch ends, with the families in which it ends there."""
    families: dict[str, list[str]] = {}
    for stretch in column:
        families.setdefault(f"{stretch.high:.2f}", []).append(stretch.family)
    return {end: names.families(there) for end, there in families.items()}
