"""The answer of a page in words: what is best, how far that holds, and what it rests on."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np

from cocensor.adjustments import IPCW, Imputation
from cocensor.study.evaluation import Evaluation
from cocensor.study.imputation_fit import ImputationFit
from cocensor.study.lookup import preferred, results_of
from cocensor.study.ranking import rankable, standing
from cocensor.study.report import Report
from cocensor.study.sensitivity import Sensitivity
from cocensor.study.verdict import Verdict
from cocensor.views.text.checks import nothing_to_rank
from cocensor.views.text.digits import decimals, from_to, level_in_words, number, with_interval
from cocensor.views.text.evaluation import copula_in_words, others_in_words
from cocensor.views.text.fits import imputation_fit_in_words
from cocensor.views.text.names import ON_PAGE, and_metric, briefly, capital, doing, have, listed, quoted
from cocensor.views.text.sensitivity import certain_in_words, plausible_tau_in_words, still_open_in_words
from cocensor.views.text.verdict import (
    along_in_words,
    assumption_in_words,
    lead_in_words,
    plausible_in_words,
    ratios_in_words,
    standing_in_words,
)

_NO_HINT = "Which copula fits best is not shown: give --hint, or hand over suggest_copula()."
_VARIED = "Over the grid, the copula is that of each point. Data alone cannot check it, so it is varied."


def headline(report: Report) -> SimpleNamespace:
    """The first screen, from question to small print; all but ``question`` and ``lead`` may be empty."""
    evaluation, verdict, bounds = report.evaluation, report.verdict, report.bounds_by()
    fit, hint, scored = joint_fit(evaluation), report.hint, len(verdict.standing.scores)
    able = rankable(evaluation)
    return SimpleNamespace(
        question=question(evaluation),
        # who beats whom whatever the dependence
        certain="" if bounds is None else certain_in_words(bounds, ON_PAGE),
        # the answer where it starts, the plausible range, how far it holds within it, and who comes to the fore beyond
        lead=_lead(evaluation, verdict),
        along=" ".join(along_in_words(verdict, ON_PAGE)) if scored else "",
        support=_support(evaluation, verdict),
        # what the usual score has in its place, and why
        usual=_usual(evaluation, verdict),
        caution=_caution(evaluation, verdict),
        after_dropout=ratios_in_words(verdict.over_ratios, ON_PAGE),
        # how much is open without any assumption
        open="" if bounds is None or not able else still_open_in_words(evaluation, bounds, ON_PAGE),
        others=" ".join(others_in_words(evaluation, ON_PAGE)) if scored > 1 else "",
        by=_grounds(report),
        # which models had no score somewhere
        extent=() if report.sensitivity is None else tuple(_without_score(report.sensitivity)),
        rests_on=_rests_on(report),
        plausible=plausible_in_words(verdict),
        benchmarks="" if report.benchmarks is None else plausible_tau_in_words(report.benchmarks, ON_PAGE),
        hint=f"{capital(copula_in_words(evaluation))}. {hint.statement if hint else _NO_HINT}",
        imputation_fit="" if fit is None else imputation_fit_in_words(fit, ON_PAGE),
        intervals=_intervals(evaluation),
    )


def joint_fit(evaluation: Evaluation) -> ImputationFit | None:
    """The fit of the joint model of the primary adjustment, or of the first that has one."""
    first = [results_of(evaluation), *evaluation.results.values()]
    return next((scores.imputation_fit for scores in first if scores.imputation_fit is not None), None)


def question(evaluation: Evaluation) -> str:
    """The question that the page answers."""
    data = evaluation.data
    metric, models, said = data.metrics[0], list(data.predictions), data.time_axis.said
    when = f"until {said(data.horizon.time)}" if metric.at is None else f"at {said(metric.at)}"
    left = ", if subjects may have dropped out for reasons linked to the event" if data.anybody_left else ""
    if len(models) == 1:
        return f"How well do the predictions of {ON_PAGE.model(models[0])} fit what happened {when}{left}?"
    return f"Which of these {len(models)} models {doing(metric).is_best} {when}{left}?"


def _lead(evaluation: Evaluation, verdict: Verdict) -> str:
    """The best models, or the score of the model that alone can be called best, after why it is alone."""
    able, answer = rankable(evaluation), verdict.standing
    if not able:
        return nothing_to_rank(evaluation, ON_PAGE)
    if not answer.scores:
        return f"No model has a score by the {answer.metric.label}."
    if len(able) > 1:
        return lead_in_words(verdict, ON_PAGE)
    score = evaluation.score(able[0], adjustment=verdict.adjustment)
    value = with_interval(score, evaluation.data.confidence_level)
    assumption = assumption_in_words(verdict.assumption)
    lead = f"{assumption} the {answer.metric.label} of {ON_PAGE.model(able[0])} is {value}."
    return lead if len(evaluation.models) == 1 else f"{nothing_to_rank(evaluation, ON_PAGE)} {lead}"


def _support(evaluation: Evaluation, verdict: Verdict) -> str:
    """The scores behind the answer, how far apart they are, and what they mean."""
    answer, level = verdict.standing, evaluation.data.confidence_level
    by, able = answer.metric, rankable(evaluation)
    if not able:
        return ""
    if not answer.scores or len(able) == 1:
        return briefly(by, f"The {by.label}")
    ranks = by.ranks(answer.scores)
    first, *others = sorted(ranks, key=lambda model: ranks[model])
    equals = [first, *(model for model in others if answer.equal(model, first) or ranks[model] == 1)]
    rest = [model for model in others if model not in equals]
    scores = [evaluation.score(model, by.name, verdict.adjustment) for model in (first, *rest[:1])]
    places = max(decimals(score.standard_error) for score in scores)
    best = number(scores[0].value, places) if rest else with_interval(scores[0], level, places)
    support = f"The {by.label} of {ON_PAGE.models(equals)} is {best}"
    if rest:
        pair = (rest[0], first) if by.direction == "lower" else (first, rest[0])
        apart = evaluation.compare(*pair, by.name, verdict.adjustment)
        support += f", against {number(scores[1].value, places)} for {ON_PAGE.model(rest[0])}"
        if np.isfinite(apart.standard_error):
            support += f": a difference of {with_interval(apart, level)}"
    scored = evaluation.results[verdict.adjustment].values[by.name]
    silent = [model for model in evaluation.models if model not in scored]
    if silent:
        support += f"; {ON_PAGE.models(silent)} {have(silent)} no score"
    return f"{support}. {briefly(by)}"


def _usual(evaluation: Evaluation, verdict: Verdict) -> str:
    """The difference of the usual score from that of the answer at independence, and its reason; else empty."""
    answer, assumption = verdict.standing, verdict.assumption
    imputed = isinstance(evaluation.results[verdict.adjustment].adjustment, Imputation)
    weighted = [
        scores
        for scores in evaluation.results.values()
        if isinstance(scores.adjustment, IPCW) and "covariates" not in scores.adjustment.needs
    ]
    if assumption.tau or not (weighted and assumption.given and imputed and assumption.anybody_left):
        return ""
    usual = standing(evaluation, None, weighted[0].name)
    if not answer.leaders or answer.leaders[0] not in usual.scores or usual.tells != answer.tells:
        return ""
    leader = answer.leaders[0]
    places = decimals(evaluation.score(leader, None, verdict.adjustment).standard_error)
    values = [number(by.scores[leader], places) for by in (usual, answer)]
    agree = set(usual.contenders) == set(answer.contenders) or len(answer.scores) == 1
    if agree and values[0] == values[1]:
        return ""
    differ = " Both lead to the same answer." * (len(answer.scores) > 1)
    if not agree:
        other = standing_in_words(usual, ON_PAGE, doing(answer.metric))
        differ = f" The two lead to different answers. By IPCW, {other}."
    given = listed([f"the {part}" for part in assumption.given])
    return (
        f"The usual score (IPCW) leaves out what {given} say about those who dropped out; the score here uses it, to "
        f"estimate how likely they are to be still event-free.{differ} For {ON_PAGE.model(leader)}, the "
        f"{answer.metric.label} is {values[0]} by IPCW and {values[1]} here."
    )


def _caution(evaluation: Evaluation, verdict: Verdict) -> str:
    """The reason why numbers are more uncertain than they look; empty where there is none."""
    if evaluation.data.confidence_level is None:
        chance = "differences between models may be due to chance"
        if len(rankable(evaluation)) < 2:
            chance = "another sample would give another score"
        return f"No intervals were asked for: {chance}."
    without: dict[str, list[str]] = {}
    for model in verdict.standing.scores:
        score = evaluation.score(model, verdict.metric, verdict.adjustment)
        if score.missing is not None:
            without.setdefault(score.missing, []).append(model)
    label = quoted(evaluation, verdict.adjustment)
    return " ".join(
        f"By {label}, there is no interval of {ON_PAGE.models(models)}: {why.rstrip('.')}."
        for why, models in without.items()
    )


def _grounds(report: Report) -> str:
    """The adjustment and grid behind the statements on how far an answer holds, or why there are none."""
    evaluation, verdict, sensitivity = report.evaluation, report.verdict, report.sensitivity
    first = evaluation.results[preferred(list(evaluation.results.values()), evaluation.metrics[0])]
    why = "".join(f": {note.text}" for note in first.notes_of("missing")[:1])
    passed_over = "" if first.answered else f"“{first.label}” would come first, but has no score{why} "
    if not rankable(evaluation):
        return passed_over.strip()
    if sensitivity is None:
        return passed_over + why_no_sensitivity(evaluation)
    if not verdict.tried:
        return f"{passed_over}The sensitivity analysis has no {evaluation.data.metrics[0].label}."
    leaders = sensitivity.over_tau.leaders()
    over = f"{len(leaders)} {'families' if len(leaders) > 1 else 'family'}"
    if verdict.silent:
        over += f" ({ON_PAGE.families(verdict.silent)} {have(verdict.silent)} no answer)"
    over += f" and τ {from_to(verdict.tried[0], verdict.tried[-1])}"
    below = [family for family, by_tau in leaders.items() if min(by_tau) < 0]
    if below and len(below) < len(leaders):
        over += f" (below 0 under {ON_PAGE.families(below)} alone)"
    by = quoted(evaluation, sensitivity.over_tau.primary) + and_metric(evaluation)
    return f"{passed_over}By {by}, over {over}."


def _without_score(sensitivity: Sensitivity) -> Iterator[str]:
    """A sentence per model that could not be best, as nothing is known of it, rather than was beaten."""
    grid = sensitivity.over_tau
    points = [(family, tau) for family, by_tau in grid.leaders().items() for tau in by_tau]
    for model in sensitivity.evaluation.data.predictions:
        silent = [family for family, tau in points if model not in grid.values(family, tau)]
        if silent:
            where = f"{len(silent)} of these points, under {ON_PAGE.families(dict.fromkeys(silent))}"
            yield f"{ON_PAGE.model(model)} has no score at {where}: there it is left out, not beaten."


def _rests_on(report: Report) -> str:
    """The assumptions of the answer."""
    evaluation, names, varied = report.evaluation, [report.verdict.adjustment], ""
    if report.sensitivity is not None:
        names.append(report.sensitivity.over_tau.primary)
        varied = _VARIED
    assumptions = [
        f"{quoted(evaluation, name)}: {evaluation.results[name].adjustment.assumption}"
        for name in dict.fromkeys(names)
    ]
    cautions = [note.text for note in evaluation.notes if note.kind == "caution" and note.about.model is None]
    return " ".join(filter(None, [*assumptions, varied, *cautions]))


def why_no_sensitivity(evaluation: Evaluation) -> str:
    """The reason why nothing is said of other dependences."""
    if not any(scores.adjustment.rests_on_copula for scores in evaluation.results.values()):
        return "No adjustment here rests on a copula, so that there is no dependence to vary."
    return (
        "How far this holds under other dependences is not shown: hand over sensitivity() of the evaluation."
    )


def _intervals(evaluation: Evaluation) -> str:
    """The scope of intervals, and what they leave out; empty where there are none."""
    data = evaluation.data
    if data.confidence_level is None:
        return ""
    scope = (
        f"Intervals ({level_in_words(data.confidence_level)}) are about these trained models until "
        f"{data.time_axis.said(data.horizon.time)}. They take the assumed dependence as true."
    )
    bootstrap = results_of(evaluation).resampling
    if bootstrap is not None:
        scope += (
            f" Those of scores come from {bootstrap.n_resamples} bootstrap samples, those over time and over the grid "
            "from formulas: the two may differ."
        )
    return scope
