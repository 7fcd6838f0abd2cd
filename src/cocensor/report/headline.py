"""The answer in words: what is best, how far that holds, and what it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cocensor.adjustments import Adjustment
from cocensor.evaluation import Evaluation
from cocensor.evaluation.evaluation import ranks
from cocensor.evaluation.question import REFERENCE
from cocensor.joint.select import CAVEAT
from cocensor.plots.sensitivity import under_ipcw
from cocensor.report.reach import grid, limit, reach, told_by
from cocensor.report.words import and_metric, family_name, is_best, model_name, models_listed
from cocensor.sensitivity import Sensitivity

_FEW_EVENTS = 10


@dataclass(frozen=True)
class Headline:
    """What the first screen says, from the answer to the small print."""

    lead: str
    support: str
    by: str
    reach: tuple[str, ...]
    rests_on: str
    hint: str
    caution: str


@dataclass(frozen=True)
class _Start:
    """The answer under independent censoring, or as near to it as the grid comes."""

    where: str
    tau: float
    by: str
    scores: dict[str, float]

    @property
    def winners(self) -> tuple[str, ...]:
        return _first(ranks(self.scores))


def headline(evaluation: Evaluation, sensitivity: Sensitivity) -> Headline:
    """Which model is best if censoring is independent, and how far that holds by the primary adjustment.

    All by the first metric. The copula that the evaluation was given comes last: it is a hint.
    """
    metric = evaluation.question.metrics[0]
    start = _start(evaluation, sensitivity)
    winners = start.winners
    if len(evaluation.models) == 1:
        lead = f"There is one model, {model_name(winners[0])}, and nothing to rank."
        score = f"{start.scores[winners[0]]:.4f} ({start.by}; smaller is better)"
        support = f"{start.where}, its {metric.label} is {score}."
        found: tuple[str, ...] = (_span(evaluation, sensitivity),)
    else:
        told = f" by the {metric.label}" if len(evaluation.metrics) > 1 else ""
        lead = f"{start.where}, {is_best(winners)}{told}{limit(sensitivity, winners, start.tau)}."
        support = f"By {start.by}, {_lead_over(evaluation, start, metric.label)} Smaller is better."
        found = tuple(reach(sensitivity, winners))
    by = _quoted(evaluation, told_by(sensitivity)) + and_metric(evaluation, metric)
    return Headline(
        lead=lead,
        support=support,
        by=" ".join([*_passed_over(evaluation), f"By {by}, over {grid(sensitivity)}:"]),
        reach=found,
        rests_on=_rests_on(evaluation, sensitivity, start.by),
        hint=_hint(evaluation),
        caution=_caution(evaluation),
    )


def caveat(evaluation: Evaluation) -> str:
    """What to think of a fitted τ; advice that was followed is left out."""
    marked = evaluation.question.y_train.administrative
    if marked is None or not marked.any():
        return CAVEAT
    return CAVEAT.replace(" mark an end of study as administrative,", "")


def _start(evaluation: Evaluation, sensitivity: Sensitivity) -> _Start:
    """By IPCW, the marginal one if there is one; else by the primary adjustment at the τ nearest to 0."""
    metric = evaluation.metrics[0]
    each = under_ipcw(evaluation, metric)
    if each is not None:
        return _Start(_if_independent(each.adjustment), 0.0, each.label, _models(each.scores[metric]))
    name = told_by(sensitivity)
    tau, family = min(
        ((tau, family) for family, by_tau in sensitivity.best().items() for tau in by_tau),
        key=lambda point: abs(point[0]),
    )
    where = f"At τ = {tau:g} under {family_name(family)}"
    if tau == 0:
        where = _if_independent(evaluation.scored[name].adjustment)
    scores = sensitivity.answers[name][family][tau].scores[metric]
    return _Start(where, tau, _quoted(evaluation, name), _models(scores))


def _if_independent(adjustment: Adjustment) -> str:
    given = " given the covariates" if "covariates" in adjustment.needs else ""
    return f"If censoring is independent{given}"


def _models(scores: Mapping[str, float]) -> dict[str, float]:
    return {name: score for name, score in scores.items() if name != REFERENCE}


def _first(ranked: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(model for model, rank in ranked.items() if rank == 1)


def _lead_over(evaluation: Evaluation, start: _Start, label: str) -> str:
    """By how much the first are ahead, and who has no score."""
    best = start.scores[start.winners[0]]
    rest = {model: score for model, score in start.scores.items() if model not in start.winners}
    silent = [model for model in evaluation.models if model not in start.scores]
    said = f"the {label} is {best:.4f}{' for each' if len(start.winners) > 1 else ''}"
    if rest:
        second = min(rest, key=lambda model: rest[model])
        said += f"; next is {model_name(second)} with {rest[second]:.4f}"
    if silent:
        said += f"; {models_listed(silent)} {'has' if len(silent) == 1 else 'have'} no score"
    return f"{said}."


def _span(evaluation: Evaluation, sensitivity: Sensitivity) -> str:
    """Between which values the score of the only model moves."""
    model, metric = evaluation.models[0], evaluation.metrics[0]
    found = {
        (family, tau): answer.scores[metric][model]
        for family, by_tau in sensitivity.answers[told_by(sensitivity)].items()
        for tau, answer in by_tau.items()
        if model in answer.scores[metric]
    }
    low, high = (
        f"{found[at]:.4f} ({family_name(at[0])}, τ = {at[1]:g})"
        for at in (min(found, key=lambda at: found[at]), max(found, key=lambda at: found[at]))
    )
    return f"Its score lies between {low} and {high}."


def _passed_over(evaluation: Evaluation) -> list[str]:
    """Why the adjustment that would be asked first is not, where it was to be."""
    first = evaluation.scored.get("given_covariates")
    if first is None or any(first.scores.values()):
        return []
    return [
        f"“{first.label}” would come first, but has no score: {first.notes[0].removeprefix('No score: ')}"
    ]


def _rests_on(evaluation: Evaluation, sensitivity: Sensitivity, by: str) -> str:
    primary = told_by(sensitivity)
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
        by = _quoted(evaluation, evaluation.primary) + and_metric(evaluation, evaluation.question.metrics[0])
        there = f" With it, by {by}, {is_best(_first(ranked))}."
    if evaluation.choice is not None:
        how = evaluation.choice.how
        said = f"A fit to the training sample prefers {named} ({how})."
        if copula.is_independence and not evaluation.choice.copula.is_independence:
            said = f"No dependence foretells held-out outcomes clearly better than independence ({how})."
        return f"{said}{there} {caveat(evaluation)}"
    if evaluation.copula_from == "given":
        return f"The table of scores takes {named}, as given.{there}"
    return f"No copula was given or selected: the table of scores takes independence.{there}"


def _caution(evaluation: Evaluation) -> str:
    """That numbers are uncertain, and where there are next to no events, that they are very much so."""
    chance = "differences between models may be within chance"
    if len(evaluation.models) == 1:
        chance = "another sample would give another score"
    said = [f"Sampling intervals are not given yet: {chance}."]
    train, test = evaluation.question.y_train.n_events, evaluation.question.y_test.n_events
    if train == 0:
        said.append("The training sample has no event: there is little to adjust by.")
    if test < _FEW_EVENTS:
        many = {0: "no event", 1: "1 event"}.get(test, f"{test} events")
        said.append(f"The test sample has {many}: its scores tell next to nothing.")
    return " ".join(said)


def _quoted(evaluation: Evaluation, adjustment: str) -> str:
    return f"“{evaluation.scored[adjustment].label}”"
