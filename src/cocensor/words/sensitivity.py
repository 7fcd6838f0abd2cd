"""A sensitivity analysis in words."""

from __future__ import annotations

from cocensor.sensitivity import Sensitivity, Stretch
from cocensor.words.names import listed


def sensitivity_as_text(sensitivity: Sensitivity) -> str:
    """What a terminal shows of a sensitivity analysis."""
    grid = f"{', '.join(sensitivity.families)}; τ from {min(sensitivity.taus):g} to {max(sensitivity.taus):g}"
    labels = listed([sensitivity.evaluation.results[name].label for name in sensitivity.answers])
    return f"Sensitivity of {labels} over {grid}.\n{sensitivity_in_words(sensitivity)}"


def sensitivity_in_words(sensitivity: Sensitivity) -> str:
    """Which model is best from where to where along τ, by the primary adjustment and the first metric."""
    evaluation = sensitivity.evaluation
    if len(evaluation.models) == 1:
        return _range_in_words(sensitivity)
    by_family: dict[str, list[Stretch]] = {}
    for each in sensitivity.stretches():
        by_family.setdefault(each.family, []).append(each)
    alike: dict[object, dict[str, list[Stretch]]] = {}
    for family, mine in by_family.items():
        course = mine[0].low, mine[-1].high, *((each.model, each.equals) for each in mine)
        alike.setdefault(course, {})[family] = mine
    said = "; ".join(map(_course, alike.values()))
    silent = [family for family in sensitivity.families if family not in by_family]
    unanswered = f" Under {listed(silent)} there is no answer." if silent else ""
    several = f" and the {evaluation.metric().label}" * (len(evaluation.metrics) > 1)
    return f"By {evaluation.results[sensitivity.primary].label}{several}, {said}.{unanswered}"


def _range_in_words(sensitivity: Sensitivity) -> str:
    """How far the score of a single model moves."""
    evaluation, [model] = sensitivity.evaluation, sensitivity.evaluation.models
    found = [
        value
        for family, by_tau in sensitivity.answers[sensitivity.primary].items()
        for tau in by_tau
        for value in sensitivity.values(family, tau).values()
    ]
    return (
        f"The {evaluation.metric().label} of {model} lies between {min(found):.4f} and {max(found):.4f} over the "
        f"grid, by {evaluation.results[sensitivity.primary].label}; with one model there is nothing to rank."
    )


def _course(alike: dict[str, list[Stretch]]) -> str:
    """Which model is best from where to where along τ, under families in which the same models follow each other."""
    courses = list(alike.values())
    names = [listed([each.model, *each.equals]) for each in courses[0]]
    verb = "are equally good and best" if courses[0][0].equals else "is best"
    low, high = courses[0][0].low, courses[0][-1].high
    start = "0 (independent censoring)" if low == 0 else f"{low:g}"
    if low == high:
        return f"{names[0]} {verb} at τ = {start} under {listed(list(alike))}"
    ends = [[f"{each.high:.2f}" for each in column] for column in zip(*courses, strict=True)][:-1]
    one = all(len(set(column)) == 1 for column in ends)
    places = [
        column[0]
        if one
        else listed([f"{at} under {family}" for at, family in zip(column, alike, strict=True)])
        for column in ends
    ]
    turns = [f"{place}, then {name}" for place, name in zip(places, names[1:], strict=True)]
    said = f"{names[0]} {verb} from τ = {start} to {' up to '.join([*turns, f'{high:g}'])}"
    return f"{said} under {listed(list(alike))}" if one else said
