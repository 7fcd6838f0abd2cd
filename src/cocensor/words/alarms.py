"""Nonsense among predictions and outcomes, in words: what is said before everything else."""

from __future__ import annotations

from cocensor.evaluation import Evaluation
from cocensor.words.names import BARE, Names

CHECK_FIRST = "Check this first"


def alarms_in_words(evaluation: Evaluation, names: Names = BARE) -> list[str]:
    """A line for all models that have alarms of one cause, and for each alarm about all; remarks come last."""
    return [*_lines(evaluation, names, disqualifying=True), *_lines(evaluation, names, disqualifying=False)]


def _lines(evaluation: Evaluation, names: Names, disqualifying: bool) -> list[str]:
    by_cause: dict[str, dict[str, list[str]]] = {}
    about_all = []
    for alarm in evaluation.alarms:
        if alarm.disqualifies == disqualifying and alarm.model is not None:
            by_cause.setdefault(alarm.cause, {}).setdefault(alarm.model, []).append(alarm.found)
        elif alarm.disqualifies == disqualifying:
            about_all.append(f"{alarm.text}{' No model can be called best.' * disqualifying}")
    by_model = []
    for cause, models in by_cause.items():
        found = [f"{names.model(model)}: {' '.join(each)}" for model, each in models.items()]
        end = " It gets no rank and cannot" if len(models) == 1 else " They get no rank and cannot"
        by_model.append(f"{' '.join(found)} {cause}{f'{end} be called best.' * disqualifying}")
    return [*about_all, *by_model] if disqualifying else [*by_model, *about_all]


def nothing_to_rank(evaluation: Evaluation, names: Names) -> str:
    """Why no model is better than another: one alone can be scored, or has no alarm, or none."""
    contenders, scored = evaluation.contenders, evaluation.data.predictions
    if not contenders:
        return "No model can be called best: see what to check first."
    [model] = contenders
    if len(scored) > 1:
        return f"{names.model(model)} alone has no alarm: there is nothing to rank."
    if len(evaluation.models) > 1:
        return f"Only {names.model(model)} has predictions that can be scored: there is nothing to rank."
    return f"There is one model, {names.model(model)}, and nothing to rank."
