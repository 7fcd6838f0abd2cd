"""What the true event times of simulated subjects say, in words."""

from __future__ import annotations

from cocensor.copulas import Copula
from cocensor.inference import may_be_best
from cocensor.metrics import Metric
from cocensor.study import Evaluation
from cocensor.study.scores import AdjustmentScores
from cocensor.study.standing import counted, rankable, standing
from cocensor.views.text.digits import number
from cocensor.views.text.names import ON_PAGE, Names, as_noun, capital, copula_name, listed

_KNOWN = "The data are simulated, so the truth is known"


def truth_in_words(evaluation: Evaluation, names: Names) -> str:
    """Which model is truly best by the first metric, and which ones the adjustments pick; empty for data of a study."""
    truth, by = evaluation.truth, evaluation.data.metrics[0]
    if truth is None:
        return ""
    if not truth.values[by.name]:
        why = next((f": {note.text}" for note in truth.notes_of("missing")), ".")
        return f"{_KNOWN}, but no model has a true {by.label}{why}"
    scores = {model: each.value for model, each in truth.values[by.name].items()}
    scores = {model: value for model, value in scores.items() if model in rankable(evaluation)}
    if not scores:
        return f"{_KNOWN}: the table has the true scores."
    best = _leaders(by.ranks(scores))
    value = number(scores[best[0]])
    if len(scores) == 1:
        return f"{_KNOWN}: the {by.label} of {names.models(best)} is {value}."
    if len(best) > 1:
        said = f"{names.models(best)} share the best {by.label}, {value}"
    elif close := _close(evaluation, truth, by, best[0]):
        said = (
            f"{names.models(best)} has the best {by.label}, {value}, but cannot be distinguished from "
            f"{listed([names.model(model) for model in close], 'or')}"
        )
    else:
        said = f"{names.models(best)} is best, with {_a(by.label)} {by.label} of {value}"
    return " ".join([f"{_KNOWN}: {said}.", *_picked(evaluation, by, best, names)])


def _leaders(ranked: dict[str, int]) -> tuple[str, ...]:
    return tuple(model for model, rank in ranked.items() if rank == 1)


def _close(evaluation: Evaluation, truth: AdjustmentScores, by: Metric, best: str) -> list[str]:
    """Whom so few subjects do not set apart from the best; nobody where no intervals were asked for."""
    level = evaluation.data.confidence_level
    if level is None or by.name not in truth.errors:
        return []
    able = [model for model in truth.values[by.name] if model in rankable(evaluation)]
    kept = may_be_best(truth.errors[by.name].only(able), by.direction, level)
    return [model for model in kept if model != best]


def _picked(evaluation: Evaluation, by: Metric, best: tuple[str, ...], names: Names) -> list[str]:
    """Which models have the best score under the adjustments that vote: a clause for each choice."""
    picks: dict[tuple[str, ...], list[str]] = {}
    for name in counted(evaluation):
        leaders = _leaders(standing(evaluation, by.name, name).ranks)
        if leaders:
            above = names is ON_PAGE and name == evaluation.primary  # whose scores the first screen has
            called = "the score above" if above else _called(evaluation.results[name])
            picks.setdefault(leaders, []).append(called)
    said = []
    for models, adjustments in picks.items():
        whom = names.models(models)
        if list(picks) == [best]:
            whom = "it too" if len(best) == 1 else "them too"
        said.append(f"{listed(adjustments)} {'picks' if len(adjustments) == 1 else 'pick'} {whom}")
    return [capital(f"{'; '.join(said)}.")] if said else []


def _called(found: AdjustmentScores) -> str:
    """An adjustment with the dependence that it rests on."""
    copula = getattr(found.adjustment, "copula", None)
    if not isinstance(copula, Copula):
        return as_noun(found.label)
    return f"{as_noun(found.label)} {'at' if copula.is_independence else 'under'} {copula_name(copula)}"


def _a(label: str) -> str:
    return "an" if label[0] in "aeiouAEIOU" else "a"
