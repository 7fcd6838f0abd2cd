"""The answer of a page in words: what is best, how far that holds, and what it rests on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from cocensor.adjustments import Imputation
from cocensor.evaluation import Evaluation
from cocensor.metrics import Metric
from cocensor.sensitivity import Sensitivity
from cocensor.words.after_dropout import after_dropout_in_words
from cocensor.words.alarms import nothing_to_rank
from cocensor.words.answer import Start, anybody_left, best_in_words, known_of_subjects, question, start_of
from cocensor.words.bounds import bounds_in_words, bounds_of, certain_in_words, open_in_words
from cocensor.words.digits import decimals, number, with_interval
from cocensor.words.extent import extent_of_scores, grid_in_words, scores_extent, without_score
from cocensor.words.footing import (
    caution,
    hint_on_page,
    intervals_in_words,
    passed_over,
    rests_on,
    why_no_sensitivity,
)
from cocensor.words.judge_fit import judge_fit_in_words
from cocensor.words.leads import told_extent, told_in_range
from cocensor.words.metrics import briefly, doing, metrics_in_words
from cocensor.words.names import ON_PAGE, and_metric, capital, quoted
from cocensor.words.over_grid import points_in_words, told_over_grid
from cocensor.words.pace import tau_defined
from cocensor.words.plausible import plausible_tau_in_words
from cocensor.words.sensitivity import (
    score_in_range,
    scores_over_grid,
    sensitivity_in_words,
    uncertainty_in_words,
)
from cocensor.words.standing import standing, verdict
from cocensor.words.within import Extent, plausible_in_words


@dataclass(frozen=True)
class Headline:
    """What the first screen says, from the question to the small print; any but ``question`` and ``lead`` may be empty.

    Attributes
    ----------
    question : str
    certain : str
        Who beats whom whatever the dependence, by the bounds.
    lead : str
        The answer where it starts.
    along : str
        How far it holds within the plausible range of the dependence, which model comes to the fore beyond, and what
        the plausible range is.
    support : str
        The scores behind it.
    usual : str
        What the usual score has in its place, and why.
    caution : str
        Why numbers are more uncertain than they look.
    lost : str
        Where the answer is lost, on every scale.
    after_dropout : str
        How far it holds over the hazard ratio after dropout, of all and by reason.
    open : str
        How much is open without any assumption.
    others : str
        The answer by the other metrics.
    by, extent : str, tuple of str
        What the grid says beyond the answer, line by line, and what that is told by.
    rests_on, plausible, benchmarks : str
        What is assumed; what the plausible range is; what measured covariates say of the dependence.
    hint, judge_fit, intervals : str
    """

    question: str
    certain: str
    lead: str
    along: str
    support: str
    usual: str
    caution: str
    lost: str
    after_dropout: str
    open: str
    others: str
    by: str
    extent: tuple[str, ...]
    rests_on: str
    plausible: str
    benchmarks: str
    hint: str
    judge_fit: str
    intervals: str


def headline(evaluation: Evaluation, sensitivity: Sensitivity | None) -> Headline:
    """Which model is best by the primary adjustment, and how far that holds over other dependences.

    All by the first metric. By default this is at independence given what the judge conditions on; the copula that fits
    best comes last, as a hint.
    """
    fit = evaluation.computed("judge_fit")
    unanswered = sensitivity is not None and not sensitivity.leaders()
    if unanswered:
        sensitivity = None
    start = start_of(evaluation)
    bounds, extent = bounds_of(evaluation), Extent("")
    if sensitivity is not None and start.tau is not None and len(start.models.scores) > 1:
        extent = _how_far(sensitivity, start, start.tau)
    plausible = "" if sensitivity is None else plausible_in_words(sensitivity, extent.inside)
    covariates = evaluation.computed("plausible_tau")
    after = None if sensitivity is None else sensitivity.after_dropout
    lead, along = _paragraph(evaluation, sensitivity, start, extent, plausible)
    return Headline(
        question=question(evaluation),
        certain="" if bounds is None else certain_in_words(bounds, ON_PAGE),
        lead=lead,
        along=along,
        support=_support(evaluation, start),
        usual=_usual(evaluation, start),
        caution=caution(evaluation, start),
        lost=extent.lost,
        after_dropout="" if after is None else after_dropout_in_words(after, ON_PAGE),
        open=_open(evaluation, start),
        others=_by_other_metrics(evaluation, start),
        by=" ".join([*passed_over(evaluation), _extent_by(evaluation, sensitivity, unanswered)]),
        extent=() if sensitivity is None else tuple(_extent(sensitivity, start)),
        rests_on=rests_on(evaluation, sensitivity, start),
        plausible=plausible,
        benchmarks="" if covariates is None else plausible_tau_in_words(covariates, ON_PAGE),
        hint=hint_on_page(evaluation, sensitivity),
        judge_fit="" if fit is None else judge_fit_in_words(fit, ON_PAGE),
        intervals=intervals_in_words(evaluation),
    )


def _paragraph(
    evaluation: Evaluation, sensitivity: Sensitivity | None, start: Start, extent: Extent, plausible: str
) -> tuple[str, str]:
    """Who is best, and how far that holds; τ is defined where it is used first."""
    along, in_range = list[str](), _in_range(sensitivity, start)
    if anybody_left(evaluation) and evaluation.contenders:
        one = len(evaluation.contenders) == 1
        along = [plausible, *in_range] if one else [*in_range, *extent.told(plausible)]
    lead, *rest = tau_defined([_answer(evaluation, start), *along])
    return lead, " ".join(rest)


def _answer(evaluation: Evaluation, start: Start) -> str:
    if not evaluation.contenders:
        return nothing_to_rank(evaluation, ON_PAGE)
    if not start.models.scores:
        return f"No model has a score by the {start.models.metric.label}."
    if len(evaluation.contenders) == 1:
        return _only_score(evaluation, start)
    return best_in_words(start.where, start.models, ON_PAGE)


def _only_score(evaluation: Evaluation, start: Start) -> str:
    """The score of the model that alone can be called best, after why it is alone."""
    [model] = evaluation.contenders
    score = with_interval(evaluation.score(model, adjustment=start.adjustment), evaluation.confidence_level)
    said = f"{start.where} the {start.models.metric.label} of {ON_PAGE.model(model)} is {score}."
    return said if len(evaluation.models) == 1 else f"{nothing_to_rank(evaluation, ON_PAGE)} {said}"


def _in_range(sensitivity: Sensitivity | None, start: Start) -> list[str]:
    if sensitivity is None:
        return []
    if len(sensitivity.evaluation.contenders) == 1:
        [model] = sensitivity.evaluation.contenders
        return [score_in_range(sensitivity, model, f"its {start.models.metric.label}")]
    if not start.models.tells or sensitivity.primary != start.adjustment:
        return []
    return [told_in_range(sensitivity, start.models, ON_PAGE)]


def _support(evaluation: Evaluation, start: Start) -> str:
    """The scores behind the answer, how far apart they are, and what they mean."""
    models, by, level = start.models, start.models.metric, evaluation.confidence_level
    if not evaluation.contenders:
        return ""
    if not models.scores or len(evaluation.contenders) == 1:
        return briefly(by, f"The {by.label}")
    ranked = by.ranks(models.scores)
    first, *others = sorted(ranked, key=lambda model: ranked[model])
    equals = [first, *(model for model in others if models.equal(model, first) or ranked[model] == 1)]
    rest = [model for model in others if model not in equals]
    scores = [evaluation.score(model, by.name, start.adjustment) for model in (first, *rest[:1])]
    places = max(decimals(score.standard_error) for score in scores)
    best = number(scores[0].value, places) if rest else with_interval(scores[0], level, places)
    said = f"The {by.label} of {ON_PAGE.models(equals)} is {best}"
    if rest:
        pair = (rest[0], first) if by.direction == "smaller" else (first, rest[0])
        apart = evaluation.compare(*pair, by.name, start.adjustment)
        said += f", against {number(scores[1].value, places)} for {ON_PAGE.model(rest[0])}"
        if np.isfinite(apart.standard_error):
            said += f": a difference of {with_interval(apart, level)}"
    silent = [
        model
        for model in evaluation.models
        if np.isnan(evaluation.under(start.adjustment).value(by.name, model))
    ]
    if silent:
        said += f"; {ON_PAGE.models(silent)} {'has' if len(silent) == 1 else 'have'} no score"
    return f"{said}. {briefly(by)}"


def _open(evaluation: Evaluation, start: Start) -> str:
    """How far the best two are apart without any assumption."""
    metric, models, bounds = start.models.metric, start.models, bounds_of(evaluation)
    if bounds is None or not models.scores:
        return ""
    if len(evaluation.contenders) == 1:
        return bounds_in_words(bounds, ON_PAGE)
    first, *others = sorted(models.scores, key=lambda model: metric.ranks(models.scores)[model])
    if not others or not {first, others[0]} <= set(bounds.models):
        return ""
    pair = (others[0], first) if metric.direction == "smaller" else (first, others[0])
    return open_in_words(bounds, (pair,), ON_PAGE)


def _how_far(sensitivity: Sensitivity, start: Start, tau: float) -> Extent:
    """How far the answer holds over the grid, where that is by the same adjustment."""
    if not start.models.tells:
        return scores_extent(sensitivity, start.models.leaders, tau)
    if sensitivity.primary != start.adjustment:
        return Extent("")
    return told_extent(sensitivity, start.models, tau, ON_PAGE)


def _extent(sensitivity: Sensitivity, start: Start) -> Iterator[str]:
    """What the grid says beyond the answer, line by line."""
    models = start.models
    contenders = sensitivity.evaluation.contenders
    if len(contenders) < 2:
        yield from map(partial(_span, sensitivity), contenders)
        return
    if not models.tells:
        yield from extent_of_scores(sensitivity, models.leaders, start.tau)
    elif sensitivity.primary == start.adjustment:
        yield from told_over_grid(sensitivity, models, ON_PAGE)
        yield points_in_words(sensitivity, ON_PAGE)
    else:
        yield sensitivity_in_words(sensitivity, ON_PAGE)
    yield from without_score(sensitivity)


def _usual(evaluation: Evaluation, start: Start) -> str:
    """How the usual score differs from that of the answer at independence, and why; empty where it does not."""
    weighted, adjustment = evaluation.under_ipcw(), evaluation.results[start.adjustment].adjustment
    known = known_of_subjects(evaluation, start.adjustment)
    if (
        weighted is None
        or "covariates" in weighted.adjustment.needs
        or start.tau
        or not (known and isinstance(adjustment, Imputation) and anybody_left(evaluation))
    ):
        return ""
    models, usual = start.models, standing(evaluation, None, weighted.name)
    best = models.leaders[:1]
    if not best or best[0] not in usual.scores or usual.tells != models.tells:
        return ""
    label, [leader] = models.metric.label, best
    places = decimals(evaluation.score(leader, None, start.adjustment).standard_error)
    values = [number(found.scores[leader], places) for found in (usual, models)]
    first = [set(found.first if found.tells else found.leaders) for found in (usual, models)]
    agree = first[0] == first[1]
    if values[0] == values[1] and (agree or len(models.scores) == 1):
        return ""
    why = (
        f"The usual score (IPCW) leaves out what {known} say about those who dropped out; the score here uses it, to "
        "estimate how likely they are to be still event-free."
    )
    both = f"for {ON_PAGE.model(leader)}, the {label} is {values[0]} by IPCW and {values[1]} here"
    if len(models.scores) == 1:
        return f"{why} {capital(both)}."
    if agree:
        return f"{why} Both lead to the same answer; {both}."
    other = verdict(usual, ON_PAGE, doing(models.metric)).joined()
    return f"{why} The two lead to different answers. By IPCW, {other}; {both}."


def _by_other_metrics(evaluation: Evaluation, start: Start) -> str:
    """Whether the model with the best score by the first metric has it by the others too."""
    leaders, told = start.models.leaders, dict[str, list[Metric]]()
    for metric in evaluation.data.metrics[1:] if len(start.models.scores) > 1 else ():
        found = standing(evaluation, metric.name, start.adjustment)
        if len(found.scores) < 2:
            continue
        if set(found.leaders) & set(leaders):
            said = f"{ON_PAGE.have_best_score(leaders)} too"
        else:
            said = ON_PAGE.have_best_score(found.leaders)
            if found.tells:
                tied = set(leaders) <= set(found.best)
                verb = "is" if len(leaders) == 1 else "are"
                worse = f"and {ON_PAGE.models(leaders)} {verb} not among the best"
                said += (
                    f", {f'but cannot be distinguished from {ON_PAGE.models(leaders)}' if tied else worse}"
                )
        told.setdefault(said, []).append(metric)
    return " ".join(f"By the {metrics_in_words(metrics)}, {said}." for said, metrics in told.items())


def _span(sensitivity: Sensitivity, model: str) -> str:
    """Between which values the score of the only model moves."""
    scores = scores_over_grid(sensitivity, model)
    low, high = (
        f"{number(scores[at])} ({ON_PAGE.family(at[0])}, τ = {at[1]:g})"
        for at in (min(scores, key=lambda at: scores[at]), max(scores, key=lambda at: scores[at]))
    )
    return f"Its score lies between {low} and {high}{uncertainty_in_words(sensitivity, model)}."


def _extent_by(evaluation: Evaluation, sensitivity: Sensitivity | None, unanswered: bool) -> str:
    """What the statements on how far an answer holds are told by, or why there are none."""
    if not evaluation.contenders:
        return ""
    if sensitivity is not None:
        by = quoted(evaluation, sensitivity.primary) + and_metric(evaluation)
        return f"By {by}, over {grid_in_words(sensitivity)}:"
    if unanswered:
        return f"The sensitivity analysis has no {evaluation.metric().label}."
    return why_no_sensitivity(evaluation)
