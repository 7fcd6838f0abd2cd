"""What is known of simulated data, in words."""

from __future__ import annotations

from cocensor.inference.comparisons import may_be_best
from cocensor.study.evaluation import Evaluation
from cocensor.study.ranking import counted, rankable, standing
from cocensor.views.text.digits import number
from cocensor.views.text.names import Names, capital, listed, quoted

_KNOWN = "The data are simulated, so the truth is known"


def truth_in_words(evaluation: Evaluation, names: Names, in_short: bool = False) -> str:
    """The model that is truly best by the first metric, and those that adjustments pick; empty for data of a study."""
    truth, by = evaluation.truth, evaluation.data.metrics[0]
    if truth is None:
        return ""
    if not truth.values[by.name]:
        why = next((f": {note.text}" for note in truth.notes_of("missing")), ".")
        return f"{_KNOWN}, but no model has a true {by.label}{why}"
    able = [model for model in truth.values[by.name] if model in rankable(evaluation)]
    if not able:
        return f"{_KNOWN}: the table has the true scores."
    scores = {model: truth.values[by.name][model].value for model in able}
    best = [model for model, rank in by.ranks(scores).items() if rank == 1]
    value = number(scores[best[0]])
    if in_short:
        return f"Truth (simulated): {names.models(best)} {'is' if len(best) == 1 else 'are'} best."
    if len(able) == 1:
        return f"{_KNOWN}: the {by.label} of {names.models(best)} is {value}."
    answer = f"{names.models(best)} {'has' if len(best) == 1 else 'share'} the best {by.label}, {value}"
    level, close = evaluation.data.confidence_level, list[str]()
    if level is not None and by.name in truth.errors and len(best) == 1:
        kept = may_be_best(truth.errors[by.name].only(able), by.direction, level)
        close = [names.model(model) for model in kept if model not in best]
    if close:
        answer += f", but cannot be distinguished from {listed(close, 'or')}"
    picks: dict[tuple[str, ...], list[str]] = {}
    for name in counted(evaluation):
        leaders = standing(evaluation, by.name, name).leaders
        picks.setdefault(leaders, []).append(quoted(evaluation, name))
    clauses = [
        f"{listed(labels)} {'picks' if len(labels) == 1 else 'pick'} {names.models(models)}"
        for models, labels in picks.items()
        if models
    ]
    picked = f" {capital('; '.join(clauses))}." if clauses else ""
    return f"{_KNOWN}: {answer}.{picked}"
