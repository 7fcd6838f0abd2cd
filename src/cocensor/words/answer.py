"""Who is best where the answer starts, in words: under the primary adjustment, at the dependence that it assumes."""

from __future__ import annotations

from dataclasses import dataclass

from cocensor.adjustments import IPCW, Adjustment, Imputation
from cocensor.copulas import Copula
from cocensor.evaluation import Evaluation
from cocensor.words.digits import ratio_in_words
from cocensor.words.metrics import doing
from cocensor.words.names import ON_PAGE, Names, copula_name, family_name, listed, quoted
from cocensor.words.standing import Standing, standing, verdict


@dataclass(frozen=True)
class Start:
    """The answer that everything else is held against.

    ``where`` is the assumption as the first clause of a sentence; ``tau`` is None where no copula is assumed.
    """

    where: str
    tau: float | None
    adjustment: str
    models: Standing


def start_of(evaluation: Evaluation) -> Start:
    """By the primary adjustment at the copula that it has, or by the first after it that has a score."""
    metric = evaluation.metric()
    order = [evaluation.results[name] for name in dict.fromkeys((evaluation.primary, *evaluation.voting))]
    first = next((each for each in order if each.values[metric.name]), order[0])
    copula = getattr(first.adjustment, "copula", None)
    where, tau = f"With scores by {quoted(evaluation, first.name)},", None
    if isinstance(first.adjustment, IPCW) or (isinstance(copula, Copula) and copula.is_independence):
        where, tau = if_independent(evaluation, first.name), 0.0
    elif isinstance(copula, Copula):
        where, tau = _if_dependent(evaluation, first.name, copula), float(copula.tau)
    return Start(where, tau, first.name, standing(evaluation, metric.name, first.name))


def if_independent(evaluation: Evaluation, adjustment: str) -> str:
    """What independence given what is known means for those who left, as the first clause of a sentence."""
    if not anybody_left(evaluation):
        return "Nobody dropped out, and"
    return (
        f"If those who dropped out would have had the event about as fast as {_whom(evaluation, adjustment)},"
    )


def anybody_left(evaluation: Evaluation) -> bool:
    """Whether anybody dropped out before the end of the study."""
    return evaluation.data.anybody_left


def _if_dependent(evaluation: Evaluation, adjustment: str, copula: Copula) -> str:
    ratio = evaluation.results[adjustment].hazard_ratio
    if ratio is None:
        return f"If event and dropout depend on each other by {copula_name(copula)},"
    fast = f"{ratio_in_words(ratio)} times as fast as {_whom(evaluation, adjustment)}"
    which = f"τ = {copula.tau:.2g}, {family_name(copula.name)} copula"
    return f"If those who dropped out would have had the event {fast} ({which}),"


def _whom(evaluation: Evaluation, adjustment: str) -> str:
    """Beside whom those who left are seen."""
    return (
        "comparable subjects who stayed" if known_of_subjects(evaluation, adjustment) else "those who stayed"
    )


def known_of_subjects(evaluation: Evaluation, name: str) -> str:
    """What an adjustment is given of subjects beside their outcomes; empty where that is nothing."""
    adjustment: Adjustment = evaluation.results[name].adjustment
    known = ["the predictions"] if adjustment.needs & {"prediction", "predictions"} else []
    everything = isinstance(adjustment, Imputation) and "everything" in adjustment.given
    if "covariates" in adjustment.needs or (everything and evaluation.data.samples.x_test is not None):
        known.append("the covariates")
    return listed(known) if known else ""


def best_in_words(where: str, found: Standing, names: Names) -> str:
    """Who is best under an assumption."""
    return f"{where} {verdict(found, names, doing(found.metric)).joined()}."


def question(evaluation: Evaluation) -> str:
    """What the page answers."""
    metric, models = evaluation.metric(), list(evaluation.data.predictions)
    said = evaluation.time_axis.said
    when = f"until {said(evaluation.horizon.time)}" if metric.at is None else f"at {said(metric.at)}"
    left = ""
    if anybody_left(evaluation):
        left = ", if subjects may have dropped out for reasons linked to the event"
    if len(models) == 1:
        return f"How well do the predictions of {ON_PAGE.model(models[0])} fit what happened {when}{left}?"
    return f"Which of these {len(models)} models {doing(metric).is_best} {when}{left}?"
