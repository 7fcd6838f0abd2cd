"""The answer of a page in words: what is best, how far that holds, and what it rests on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from cocensor.adjustments import IPCW, Adjustment, Imputation
from cocensor.copulas import Copula
from cocensor.evaluation import Evaluation
from cocensor.evaluation.hint import CopulaHint
from cocensor.metrics import Metric
from cocensor.sensitivity import Sensitivity
from cocensor.words.after_dropout import after_dropout_in_words
from cocensor.words.alarms import nothing_to_rank
from cocensor.words.bounds import bounds_in_words, bounds_of, certain_in_words, open_in_words
from cocensor.words.digits import level_in_words, number, with_interval
from cocensor.words.evaluation import copula_in_words, scores_in_words
from cocensor.words.extent import extent_of_scores, grid_in_words, scores_extent, without_score
from cocensor.words.judge_fit import judge_fit_in_words
from cocensor.words.leads import points_in_words, told_extent, told_in_range, told_over_grid
from cocensor.words.metrics import metrics_in_words
from cocensor.words.names import ON_PAGE, and_metric, copula_name, listed, quoted
from cocensor.words.plausible import plausible_tau_in_words
from cocensor.words.sensitivity import (
    score_in_range,
    scores_over_grid,
    sensitivity_in_words,
    uncertainty_in_words,
)
from cocensor.words.standing import Standing, standing, standing_at, verdict
from cocensor.words.within import Extent, plausible_in_words


@dataclass(frozen=True)
class Headline:
    """What the first screen says, from the answer to the small print; any but ``lead`` may be empty.

    Attributes
    ----------
    certain : str
        Who beats whom whatever the dependence, by the bounds.
    lead : str
        The answer where it starts, and how far it holds within the plausible range of τ.
    beyond : str
        Where it is lost, on every scale, or that it holds beyond the plausible range.
    plausible : str
        What the plausible range is, and who decided it.
    after_dropout : str
        How far it holds over the hazard ratio after dropout, of all and by reason.
    support : str
        The scores behind it, and how much is open without any assumption.
    others : str
        The answer by the other metrics.
    by, extent : str, tuple of str
        What the grid says beyond the answer, line by line, and what that is told by.
    rests_on, benchmarks : str
        What is assumed; what measured covariates say of the dependence, and the limit of that.
    hint, judge_fit, caution : str
    """

    certain: str
    lead: str
    beyond: str
    plausible: str
    after_dropout: str
    support: str
    others: str
    by: str
    extent: tuple[str, ...]
    rests_on: str
    benchmarks: str
    hint: str
    judge_fit: str
    caution: str


@dataclass(frozen=True)
class _Start:
    """The answer that everything else is held against.

    ``tau`` is None where no copula is assumed.
    """

    where: str
    tau: float | None
    adjustment: str
    models: Standing


def headline(evaluation: Evaluation, sensitivity: Sensitivity | None) -> Headline:
    """Which model is best by the primary adjustment, and how far that holds over other dependences.

    All by the first metric. By default this is at independence given what the judge conditions on; the copula that fits
    best comes last, as a hint.
    """
    fit = evaluation.computed("judge_fit")
    unanswered = sensitivity is not None and not sensitivity.leaders()
    if unanswered:
        sensitivity = None
    start = _start(evaluation)
    bounds, plausible = bounds_of(evaluation), "" if sensitivity is None else plausible_in_words(sensitivity)
    covariates = evaluation.computed("plausible_tau")  # which the plausible range may have asked for
    extent = Extent("")
    if sensitivity is not None and start.tau is not None and len(start.models.scores) > 1:
        extent = _how_far(sensitivity, start, start.tau)
    after = None if sensitivity is None else sensitivity.after_dropout
    return Headline(
        certain="" if bounds is None else certain_in_words(bounds, ON_PAGE),
        lead=_answer(evaluation, start, extent.within) + _in_range(sensitivity, start),
        beyond=extent.beyond,
        plausible=plausible,
        after_dropout="" if after is None else after_dropout_in_words(after, ON_PAGE),
        support=_support(evaluation, sensitivity, start),
        others=_by_other_metrics(evaluation, start),
        by=" ".join([*_passed_over(evaluation), _extent_by(evaluation, sensitivity, unanswered)]),
        extent=() if sensitivity is None else tuple(_extent(sensitivity, start)),
        rests_on=_rests_on(evaluation, sensitivity, start),
        benchmarks="" if covariates is None else plausible_tau_in_words(covariates, ON_PAGE),
        hint=_hint(evaluation, sensitivity),
        judge_fit="" if fit is None else judge_fit_in_words(fit, ON_PAGE),
        caution=_caution(evaluation, start),
    )


def _start(evaluation: Evaluation) -> _Start:
    """By the primary adjustment at the copula that it has, or by the first after it that has a score."""
    metric = evaluation.metric()
    order = [evaluation.results[name] for name in dict.fromkeys((evaluation.primary, *evaluation.voting))]
    first = next((each for each in order if each.values[metric.name]), order[0])
    copula = getattr(first.adjustment, "copula", None)
    where, tau = f"By {quoted(evaluation, first.name)}", None
    if isinstance(first.adjustment, IPCW) or (isinstance(copula, Copula) and copula.is_independence):
        where, tau = _if_independent(evaluation, first.adjustment), 0.0
    elif isinstance(copula, Copula):
        where, tau = f"Under {copula_name(copula)}", float(copula.tau)
    return _Start(where, tau, first.name, standing(evaluation, metric.name, first.name))


def _if_independent(evaluation: Evaluation, adjustment: Adjustment) -> str:
    known = []
    if adjustment.needs & {"prediction", "predictions"}:
        known.append("the predictions")
    everything = isinstance(adjustment, Imputation) and "everything" in adjustment.given
    if "covariates" in adjustment.needs or (everything and evaluation.data.samples.x_test is not None):
        known.append("the covariates")
    return f"If censoring is independent{f' given {listed(known)}' if known else ''}"


def _answer(evaluation: Evaluation, start: _Start, within: str) -> str:
    """Who is best, and how far that holds within the plausible range."""
    if not start.models.scores and evaluation.contenders:
        return f"No model has a score by the {start.models.metric.label}."
    if len(evaluation.contenders) < 2:
        return nothing_to_rank(evaluation, ON_PAGE)
    by = f", by the {start.models.metric.label}" if len(evaluation.metrics) > 1 else ""
    return f"{start.where}{by}, {verdict(start.models, ON_PAGE).joined(limit=within)}."


def _support(evaluation: Evaluation, sensitivity: Sensitivity | None, start: _Start) -> str:
    """The scores behind the answer, and how much is open without any assumption."""
    metric, models, bounds = start.models.metric, start.models, bounds_of(evaluation)
    better = f"{metric.direction.capitalize()} is better."
    if not models.scores:
        return better
    if len(evaluation.contenders) == 1:
        [model] = evaluation.contenders
        score = with_interval(
            evaluation.score(model, adjustment=start.adjustment), evaluation.confidence_level
        )
        said = [
            f"{start.where}, its {metric.label} is {score} by {quoted(evaluation, start.adjustment)}. {better}"
        ]
        said += [] if sensitivity is None else [score_in_range(sensitivity, model)]
        said += [] if bounds is None else [bounds_in_words(bounds, ON_PAGE)]
        return " ".join(filter(None, said))
    said = [scores_in_words(evaluation, start.adjustment, models), better, _unlike_ipcw(evaluation, start)]
    first, *others = sorted(models.scores, key=lambda model: metric.ranks(models.scores)[model])
    if bounds is not None and others and {first, others[0]} <= set(bounds.models):
        pair = (others[0], first) if metric.direction == "smaller" else (first, others[0])
        said.append(open_in_words(bounds, (pair,), ON_PAGE))
    return " ".join(filter(None, said))


def _how_far(sensitivity: Sensitivity, start: _Start, tau: float) -> Extent:
    """How far the answer holds over the grid, where that is by the same adjustment."""
    if not start.models.tells:
        return scores_extent(sensitivity, start.models.leaders, tau)
    if sensitivity.primary != start.adjustment:
        return Extent("")
    return told_extent(sensitivity, start.models, tau, ON_PAGE)


def _in_range(sensitivity: Sensitivity | None, start: _Start) -> str:
    if sensitivity is None or not start.models.tells or sensitivity.primary != start.adjustment:
        return ""
    return told_in_range(sensitivity, start.models, ON_PAGE)


def _extent(sensitivity: Sensitivity, start: _Start) -> Iterator[str]:
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


def _unlike_ipcw(evaluation: Evaluation, start: _Start) -> str:
    """That the usual weights have another answer, or cannot tell what is told."""
    weighted = evaluation.under_ipcw()
    if weighted is None or weighted.name == start.adjustment or weighted.name not in evaluation.voting:
        return ""
    found = standing(evaluation, None, weighted.name)
    if found.tells != start.models.tells or len(found.scores) == 1:
        return ""
    by = quoted(evaluation, weighted.name)
    if not found.tells:
        unlike = set(found.leaders) != set(start.models.leaders)
        return f"By {by}, {ON_PAGE.have_best_score(found.leaders)}." if unlike else ""
    if not set(found.first) & set(start.models.first):
        return f"By {by}, {verdict(found, ON_PAGE).joined()}."
    if set(found.first) > set(start.models.first):
        return f"{by} cannot tell {ON_PAGE.models(found.first)} apart."
    return ""


def _by_other_metrics(evaluation: Evaluation, start: _Start) -> str:
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
                said += f", {f'but cannot be told from {ON_PAGE.models(leaders)}' if tied else worse}"
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
    if sensitivity is not None:
        by = quoted(evaluation, sensitivity.primary) + and_metric(evaluation)
        return f"By {by}, over {grid_in_words(sensitivity)}:"
    if unanswered:
        return f"The sensitivity analysis has no {evaluation.metric().label}."
    return why_no_sensitivity(evaluation)


def why_no_sensitivity(evaluation: Evaluation) -> str:
    """Why nothing is said of other dependences."""
    if not any(each.varies_with_copula for each in evaluation.results.values()):
        return "No adjustment here rests on a copula, so that there is no dependence to vary."
    return "How far this holds under other dependences has not been computed: call sensitivity() of the evaluation."


def _passed_over(evaluation: Evaluation) -> list[str]:
    """Why the adjustment that would be asked first is not."""
    first = evaluation.results[evaluation.preferred]
    if first.answered:
        return []
    why = "".join(f": {note.text}" for note in first.notes_of("missing")[:1])
    return [f"“{first.label}” would come first, but has no score{why}"]


def _rests_on(evaluation: Evaluation, sensitivity: Sensitivity | None, start: _Start) -> str:
    names = dict.fromkeys([start.adjustment, *([] if sensitivity is None else [sensitivity.primary])])
    said = [f"{quoted(evaluation, name)}: {evaluation.results[name].adjustment.assumption}" for name in names]
    if sensitivity is not None:
        said.append(
            "Over the grid, the copula is that of each point. Data alone cannot check it: that is why it is varied."
        )
    said += [note.text for note in evaluation.notes if note.kind == "caution" and note.model is None]
    return " ".join(said)


def _hint(evaluation: Evaluation, sensitivity: Sensitivity | None) -> str:
    """What the copula of the table is, and which one fits best."""
    assumed, hint = evaluation.assumed, evaluation.computed("hint")
    if assumed.origin == "unused":
        said = f"{copula_in_words(evaluation).capitalize()}."
    else:
        how = {"given": ", as given", "selected": ", as selected"}.get(assumed.origin, "")
        said = f"The table of scores takes {copula_name(assumed.copula)}{how}."
    if hint is None:
        return f"{said} Which copula fits best has not been computed: call copula_hint() of the evaluation."
    return f"{said} {hint.statement}{_at_the_hint(hint, sensitivity)}"


def _at_the_hint(hint: CopulaHint, sensitivity: Sensitivity | None) -> str:
    """What the grid says nearest to the hint, which is of the same dependence if it is given what the judge is."""
    if hint.choice is None or hint.given != "judge" or sensitivity is None:
        return ""
    copula, one = hint.choice.copula, len(sensitivity.evaluation.contenders) < 2
    points = {} if one or copula.is_independence else sensitivity.leaders().get(copula.name, {})
    if not points:
        return ""
    tau = min(points, key=lambda each: abs(each - copula.tau))
    point = f"{ON_PAGE.family(copula.name)} with τ = {tau:g}"
    said = verdict(standing_at(sensitivity, copula.name, tau), ON_PAGE).joined()
    return f" At the nearest point of the grid, {point}, {said}."


def _caution(evaluation: Evaluation, start: _Start) -> str:
    """What intervals leave out."""
    level = evaluation.confidence_level
    if level is None:
        chance = "differences between models may be within chance"
        if len(evaluation.data.predictions) == 1:
            chance = "another sample would give another score"
        said = [f"No intervals were asked for: {chance}."]
    else:
        said = [
            f"Intervals are at {level_in_words(level)}, about these trained models up to this horizon, and take the "
            "copula for true."
        ]
        how = evaluation.under().resampling
        if how is not None:
            drawn = f"Those of scores are from {how.n_resamples} bootstrap samples"
            said.append(f"{drawn}, those over time and over the grid from formulas: the two may differ.")
        said += _without_interval(evaluation, start)
    return " ".join(said)


def _without_interval(evaluation: Evaluation, start: _Start) -> list[str]:
    """Why scores that the answer is told by have no interval."""
    reasons: dict[str, list[str]] = {}
    for model in start.models.scores:
        score = evaluation.score(model, start.models.metric.name, start.adjustment)
        if score.missing is not None:
            reasons.setdefault(score.missing.rstrip("."), []).append(model)
    return [
        f"By {quoted(evaluation, start.adjustment)}, there is no interval of {ON_PAGE.models(models)}: {why}."
        for why, models in reasons.items()
    ]
