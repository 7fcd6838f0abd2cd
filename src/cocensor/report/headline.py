"""The answer in words: what is best, how far that holds, and what it rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cocensor.adjustments import IPCW
from cocensor.evaluation import Evaluation
from cocensor.evaluation.evaluation import listed, ranks
from cocensor.evaluation.question import REFERENCE
from cocensor.joint.select import CAVEAT
from cocensor.sensitivity import Sensitivity, Stretch

#: Around names that users gave, whatever their script: Unicode's first strong isolate and its end.
ISOLATE = "\u2068", "\u2069"
CAUTION = "Sampling intervals are not given yet: differences between models may be within chance."


@dataclass(frozen=True)
class Headline:
    """What the first screen says, from the answer to the small print."""

    lead: str
    support: str
    by: str
    reach: tuple[str, ...]
    rests_on: str
    hint: str
    caution: str = CAUTION


def headline(evaluation: Evaluation, sensitivity: Sensitivity) -> Headline:
    """Which model is best if censoring is independent, and how far that holds by the primary adjustment.

    All by the first metric. The copula that the evaluation was given comes last: it is a hint.
    """
    metric = evaluation.question.metrics[0]
    where, by, scores = _independent(evaluation, sensitivity)
    ranked = ranks(scores)
    winners = [model for model, rank in ranked.items() if rank == 1]
    if len(evaluation.models) == 1:
        lead = f"There is one model, {_name(winners[0])}, and nothing to rank."
        support = f"{where}, its {metric.label} is {scores[winners[0]]:.4f} ({by}; smaller is better)."
        reach: tuple[str, ...] = (_span(evaluation, sensitivity),)
    else:
        said = "is best" if len(winners) == 1 else "are equally good, and no model is better"
        lead = f"{where}, {_names(winners)} {said}{_limit(sensitivity, winners)}."
        support = f"By {by}, {_lead_over(scores, winners, metric.label)} Smaller is better."
        reach = tuple(_reach(evaluation, sensitivity, winners))
    return Headline(
        lead=lead,
        support=support,
        by=f"By {_quoted(evaluation, sensitivity.stretches()[0].adjustment)}, over {_grid(sensitivity)}:",
        reach=reach,
        rests_on=_rests_on(evaluation, sensitivity, by),
        hint=_hint(evaluation),
    )


def family_name(name: str) -> str:
    """A family as in a sentence."""
    return name.capitalize()


def _independent(evaluation: Evaluation, sensitivity: Sensitivity) -> tuple[str, str, Mapping[str, float]]:
    """The scores under independent censoring: by IPCW, else by the primary adjustment at the τ nearest to 0."""
    metric = evaluation.metrics[0]
    for each in evaluation.scored.values():
        if isinstance(each.adjustment, IPCW) and ranks(each.scores[metric]):
            return "If censoring is independent", each.label, _models(each.scores[metric])
    first = min(sensitivity.stretches(), key=lambda stretch: abs(stretch.start))
    where = "If censoring is independent"
    if first.start:
        where = f"At τ = {first.start:g} under {family_name(first.family)}"
    found = sensitivity.answers[first.adjustment][first.family][first.start].scores[metric]
    return where, _quoted(evaluation, first.adjustment), _models(found)


def _grid(sensitivity: Sensitivity) -> str:
    families, taus = len(sensitivity.families), sensitivity.taus
    along = f"τ from {taus[0]:g} to {taus[-1]:g}" if len(taus) > 1 else f"τ = {taus[0]:g}"
    return f"{families} {'families' if families > 1 else 'family'} and {along}"


def _models(scores: Mapping[str, float]) -> dict[str, float]:
    return {name: score for name, score in scores.items() if name != REFERENCE}


def _lead_over(scores: Mapping[str, float], winners: list[str], label: str) -> str:
    best = scores[winners[0]]
    rest = {model: score for model, score in scores.items() if model not in winners}
    if not rest:
        return f"the {label} is {best:.4f} for all."
    second = min(rest, key=lambda model: rest[model])
    return f"the {label} is {best:.4f}; next is {_name(second)} with {rest[second]:.4f}."


def _span(evaluation: Evaluation, sensitivity: Sensitivity) -> str:
    """Between which values the score of the only model moves."""
    model, metric = evaluation.models[0], evaluation.metrics[0]
    adjustment = sensitivity.stretches()[0].adjustment
    found = {
        (family, tau): answer.scores[metric][model]
        for family, by_tau in sensitivity.answers[adjustment].items()
        for tau, answer in by_tau.items()
        if model in answer.scores[metric]
    }
    low, high = (
        f"{found[at]:.4f} ({family_name(at[0])}, τ = {at[1]:g})"
        for at in (min(found, key=lambda at: found[at]), max(found, key=lambda at: found[at]))
    )
    return f"Its score lies between {low} and {high}."


def _reach(evaluation: Evaluation, sensitivity: Sensitivity, winners: list[str]) -> Iterable[str]:
    """How far the first answer holds by the primary adjustment, where it stops, and how often each model wins."""
    stretches = sensitivity.stretches()
    others = [each for each in stretches if each.model not in winners]
    if others:
        found = _names(dict.fromkeys(each.model for each in others))
        at = listed(list(dict.fromkeys(f"τ = {each.start:g}" for each in others)))
        early = "already " if not any(each.start for each in others) else ""
        yield f"This is not the same answer: {early}at {at} it is {found} that is best."
    for model in dict.fromkeys(each.model for each in stretches):
        yield from _of_model(model, stretches)
    best = Counter(model for by_tau in sensitivity.best().values() for model in by_tau.values())
    (first, most), *rest = best.most_common()
    more = "".join(f", {_name(model)} at {count}" for model, count in rest)
    yield f"{_name(first)} is best at {most} of the {best.total()} points of the grid{more}."


def _limit(sensitivity: Sensitivity, winners: list[str]) -> str:
    """Whether the first answer holds over the grid, in half a sentence."""
    stretches = sensitivity.stretches()
    if len(winners) > 1:
        return ""
    if any(each.model not in winners for each in stretches):
        return ", by one score and not by another"
    highs = [each.high for each in stretches if each.after]
    lows = [each.low for each in stretches if each.before]
    if not highs and not lows:
        return ", and at every dependence that was tried"
    if not lows:
        return f"; from about τ = {min(highs):.2f} on, another may be"
    if not highs:
        return f"; below about τ = {max(lows):.2f}, another may be"
    return f"; outside of τ = {max(lows):.2f} to {min(highs):.2f}, another may be"


def _of_model(model: str, stretches: list[Stretch]) -> Iterable[str]:
    """How far one model stays best, over all families where it is best at the start."""
    whole: dict[tuple[float, float], list[str]] = {}
    ends: dict[str, dict[str, list[str]]] = {"up": {}, "down": {}}
    for each in (each for each in stretches if each.model == model):
        family = family_name(each.family)
        if not (each.before or each.after):
            whole.setdefault((each.low, each.high), []).append(family)
        for way, then, at in (("up", each.after, each.high), ("down", each.before, each.low)):
            if then:
                ends[way].setdefault(then, []).append(f"{at:.2f} under {family}")
    for (low, high), families in whole.items():
        span = f"from τ = {low:g} to {high:g}, as far as was tried," if low < high else f"at τ = {low:g}"
        every = "every family tried: " if len(families) == len(stretches) else ""
        yield f"{_name(model)} {'stays' if low < high else 'is'} best {span} under {every}{listed(families)}."
    for way, found in ends.items():
        stops = "; ".join(f"{listed(at)}, where {_name(then)} takes over" for then, at in found.items())
        if stops:
            yield f"{_name(model)} stays best {way} to about τ = {stops}."


def _rests_on(evaluation: Evaluation, sensitivity: Sensitivity, by: str) -> str:
    primary = sensitivity.stretches()[0].adjustment
    each = evaluation.scored[primary].adjustment
    # Over the grid the copula is that of each point, not the one that the evaluation was given.
    assumed = each.assumption.replace(repr(evaluation.copula), "the copula of each point of the grid")
    said = [f"{_quoted(evaluation, primary)}: {assumed}"]
    said += [
        f"{other.label}: {other.adjustment.assumption}"
        for other in evaluation.scored.values()
        if other.label == by
    ]
    return " ".join([*reversed(said), "Data alone cannot check the copula: that is why it is varied."])


def _hint(evaluation: Evaluation) -> str:
    copula = evaluation.copula
    named = "independence"
    if not copula.is_independence:
        named = f"the {family_name(copula.name)} copula with τ = {copula.tau:.2g}"
    ranked = evaluation.ranks(evaluation.primary)
    there = ""
    if ranked and len(evaluation.models) > 1:
        best = _names(model for model, rank in ranked.items() if rank == 1)
        there = f" With it, by {_quoted(evaluation, evaluation.primary)}, the best is {best}."
    if evaluation.choice is not None:
        how = evaluation.choice.how
        return f"A fit to the training sample prefers {named} ({how}).{there} {CAVEAT}"
    if evaluation.copula_from == "given":
        return f"The table of scores takes {named}, as given.{there}"
    return f"No copula was given or selected: the table of scores takes independence.{there}"


def _quoted(evaluation: Evaluation, adjustment: str) -> str:
    return f"“{evaluation.scored[adjustment].label}”"


def _name(model: str) -> str:
    return model.join(ISOLATE)


def _names(models: Iterable[str]) -> str:
    return listed([_name(model) for model in models])
