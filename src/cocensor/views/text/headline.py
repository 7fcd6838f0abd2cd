"""The answer of a page in words: what is best, how far that holds, and what it rests on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cocensor.adjustments import IPCW, Imputation
from cocensor.study.evaluation import Evaluation, results_of
from cocensor.study.hint import CopulaHint
from cocensor.study.imputation_fit import ImputationFit
from cocensor.study.lookup import first_choice
from cocensor.study.reach import standing_at
from cocensor.study.report import Report
from cocensor.study.sensitivity import Sensitivity
from cocensor.study.standing import rankable, standing
from cocensor.study.verdict import Verdict
from cocensor.views.text.bounds import bounds_in_words, certain_in_words, open_in_words, pairs_from_leader
from cocensor.views.text.checks import nothing_to_rank
from cocensor.views.text.digits import decimals, level_in_words, number, with_interval
from cocensor.views.text.evaluation import copula_in_words, others_in_words
from cocensor.views.text.imputation_fit import imputation_fit_in_words
from cocensor.views.text.metrics import briefly, doing
from cocensor.views.text.names import ON_PAGE, and_metric, capital, copula_name, listed, quoted
from cocensor.views.text.plausible import plausible_tau_in_words
from cocensor.views.text.verdict import (
    Tau,
    along_in_words,
    assumption_in_words,
    known_in_words,
    lead_in_words,
    lost_in_words,
    plausible_in_words,
    ratios_in_words,
    standing_in_words,
)


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
        What the statements on how far the answer holds are told by, and which models had no score somewhere.
    rests_on, plausible, benchmarks : str
        What is assumed; what the plausible range is; what measured covariates say of the dependence.
    hint, imputation_fit, intervals : str
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
    imputation_fit: str
    intervals: str


def headline(report: Report) -> Headline:
    """Which model is best by the primary adjustment, and how far that holds over other dependences.

    All by the first metric. By default this is at independence given what imputation conditions on; the copula
    that fits best comes last, as a hint.
    """
    evaluation, verdict, bounds = report.evaluation, report.verdict, report.bounds_by()
    fit = joint_fit(evaluation)
    lead, along = _paragraph(evaluation, verdict)
    return Headline(
        question=question(evaluation),
        certain="" if bounds is None else certain_in_words(bounds, ON_PAGE),
        lead=lead,
        along=along,
        support=_support(evaluation, verdict),
        usual=_usual(evaluation, verdict),
        caution=_caution(evaluation, verdict),
        lost=lost_in_words(verdict, ON_PAGE) if evaluation.data.anybody_left else "",
        after_dropout=ratios_in_words(verdict.over_ratios, ON_PAGE),
        open=_open(report),
        others=" ".join(others_in_words(evaluation, ON_PAGE)) if len(verdict.standing.scores) > 1 else "",
        by=" ".join([*_passed_over(evaluation), _told_by(report)]),
        extent=() if report.sensitivity is None else tuple(_without_score(report.sensitivity)),
        rests_on=_rests_on(report, verdict),
        plausible=plausible_in_words(verdict, Tau()),
        benchmarks="" if report.benchmarks is None else plausible_tau_in_words(report.benchmarks, ON_PAGE),
        hint=_hint(report),
        imputation_fit="" if fit is None else imputation_fit_in_words(fit, ON_PAGE),
        intervals=_intervals(evaluation),
    )


def joint_fit(evaluation: Evaluation) -> ImputationFit | None:
    """The fit of the joint model of the primary adjustment, or of the first that has one."""
    first = [results_of(evaluation), *evaluation.results.values()]
    return next((each.imputation_fit for each in first if each.imputation_fit is not None), None)


def question(evaluation: Evaluation) -> str:
    """What the page answers."""
    metric, models, data = evaluation.data.metrics[0], list(evaluation.data.predictions), evaluation.data
    when = f"until {data.time_axis.said(data.horizon.time)}"
    if metric.at is not None:
        when = f"at {data.time_axis.said(metric.at)}"
    left = ", if subjects may have dropped out for reasons linked to the event" if data.anybody_left else ""
    if len(models) == 1:
        return f"How well do the predictions of {ON_PAGE.model(models[0])} fit what happened {when}{left}?"
    return f"Which of these {len(models)} models {doing(metric).is_best} {when}{left}?"


def _paragraph(evaluation: Evaluation, verdict: Verdict) -> tuple[str, str]:
    """Who is best, and how far that holds; τ is defined where it is used first."""
    able, tau = rankable(evaluation), Tau()
    if not able:
        return nothing_to_rank(evaluation, ON_PAGE), ""
    if not verdict.standing.scores:
        return f"No model has a score by the {verdict.standing.metric.label}.", ""
    if len(able) == 1:
        lead = _only_score(evaluation, verdict, tau)
    else:
        lead = lead_in_words(verdict, ON_PAGE, tau)
    along = along_in_words(verdict, ON_PAGE, tau) if evaluation.data.anybody_left else ()
    return lead, " ".join(tau.told(along))


def _only_score(evaluation: Evaluation, verdict: Verdict, tau: Tau) -> str:
    """The score of the model that alone can be called best, after why it is alone."""
    [model] = rankable(evaluation)
    score = evaluation.score(model, adjustment=verdict.adjustment)
    shown = with_interval(score, evaluation.data.confidence_level)
    where, label = assumption_in_words(verdict.assumption, tau), verdict.standing.metric.label
    said = f"{where} the {label} of {ON_PAGE.model(model)} is {shown}."
    return said if len(evaluation.models) == 1 else f"{nothing_to_rank(evaluation, ON_PAGE)} {said}"


def _support(evaluation: Evaluation, verdict: Verdict) -> str:
    """The scores behind the answer, how far apart they are, and what they mean."""
    found, level = verdict.standing, evaluation.data.confidence_level
    by, able = found.metric, rankable(evaluation)
    if not able:
        return ""
    if not found.scores or len(able) == 1:
        return briefly(by, f"The {by.label}")
    ranked = by.ranks(found.scores)
    first, *others = sorted(ranked, key=lambda model: ranked[model])
    equals = [first, *(model for model in others if found.equal(model, first) or ranked[model] == 1)]
    rest = [model for model in others if model not in equals]
    scores = [evaluation.score(model, by.name, verdict.adjustment) for model in (first, *rest[:1])]
    places = max(decimals(score.standard_error) for score in scores)
    best = number(scores[0].value, places) if rest else with_interval(scores[0], level, places)
    said = f"The {by.label} of {ON_PAGE.models(equals)} is {best}"
    if rest:
        pair = (rest[0], first) if by.direction == "smaller" else (first, rest[0])
        apart = evaluation.compare(*pair, by.name, verdict.adjustment)
        said += f", against {number(scores[1].value, places)} for {ON_PAGE.model(rest[0])}"
        if np.isfinite(apart.standard_error):
            said += f": a difference of {with_interval(apart, level)}"
    values = evaluation.results[verdict.adjustment]
    silent = [model for model in evaluation.models if np.isnan(values.value(by.name, model))]
    if silent:
        said += f"; {ON_PAGE.models(silent)} {'has' if len(silent) == 1 else 'have'} no score"
    return f"{said}. {briefly(by)}"


def _open(report: Report) -> str:
    """How far the best two are apart without any assumption."""
    evaluation, bounds = report.evaluation, report.bounds_by()
    if bounds is None or not rankable(evaluation):
        return ""
    if len(rankable(evaluation)) == 1:
        return bounds_in_words(bounds, ON_PAGE)
    return open_in_words(bounds, pairs_from_leader(evaluation, bounds)[:1], ON_PAGE)


def _usual(evaluation: Evaluation, verdict: Verdict) -> str:
    """How the usual score differs from that of the answer at independence, and why; empty where it does not."""
    found, assumption = verdict.standing, verdict.assumption
    known, by = known_in_words(assumption), found.metric
    ipcw = [
        each
        for each in evaluation.results.values()
        if isinstance(each.adjustment, IPCW) and each.values[by.name]
    ]
    weighted = min(ipcw, key=lambda each: len(each.adjustment.needs), default=None)
    imputed = isinstance(evaluation.results[verdict.adjustment].adjustment, Imputation)
    if weighted is None or "covariates" in weighted.adjustment.needs or assumption.tau:
        return ""
    if not (known and imputed and evaluation.data.anybody_left):
        return ""
    usual, best = standing(evaluation, None, weighted.name), found.leaders[:1]
    if not best or best[0] not in usual.scores or usual.tells != found.tells:
        return ""
    [leader] = best
    places = decimals(evaluation.score(leader, None, verdict.adjustment).standard_error)
    values = [number(each.scores[leader], places) for each in (usual, found)]
    first = [set(each.first if each.tells else each.leaders) for each in (usual, found)]
    agree = first[0] == first[1]
    if values[0] == values[1] and (agree or len(found.scores) == 1):
        return ""
    why = (
        f"The usual score (IPCW) leaves out what {known} say about those who dropped out; the score here uses it, to "
        "estimate how likely they are to be still event-free."
    )
    both = f"for {ON_PAGE.model(leader)}, the {by.label} is {values[0]} by IPCW and {values[1]} here"
    if len(found.scores) == 1:
        return f"{why} {capital(both)}."
    if agree:
        return f"{why} Both lead to the same answer; {both}."
    other = standing_in_words(usual, ON_PAGE, doing(by))
    return f"{why} The two lead to different answers. By IPCW, {other}; {both}."


def _caution(evaluation: Evaluation, verdict: Verdict) -> str:
    """Why numbers are more uncertain than they look; empty where nothing says so."""
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


def _passed_over(evaluation: Evaluation) -> list[str]:
    """Why the adjustment that would be asked first is not."""
    first = evaluation.results[first_choice(list(evaluation.results.values()), evaluation.metrics[0])]
    if first.answered:
        return []
    why = "".join(f": {note.text}" for note in first.notes_of("missing")[:1])
    return [f"“{first.label}” would come first, but has no score{why}"]


def _told_by(report: Report) -> str:
    """What the statements on how far an answer holds are told by, or why there are none."""
    evaluation, sensitivity = report.evaluation, report.sensitivity
    if not rankable(evaluation):
        return ""
    if sensitivity is None:
        return why_no_sensitivity(evaluation)
    if not report.verdict.tried:
        return f"The sensitivity analysis has no {evaluation.data.metrics[0].label}."
    by = quoted(evaluation, sensitivity.over_tau.primary) + and_metric(evaluation)
    return f"By {by}, over {_grid_in_words(sensitivity, report.verdict)}."


def _grid_in_words(sensitivity: Sensitivity, verdict: Verdict) -> str:
    """What the grid holds: the families that have an answer, those that have none, and the range of τ."""
    best, tried = sensitivity.over_tau.leaders(), verdict.tried
    without = ""
    if verdict.silent:
        verb = "has" if len(verdict.silent) == 1 else "have"
        without = f" ({ON_PAGE.families(verdict.silent)} {verb} no answer)"
    along = f"τ from {tried[0]:g} to {tried[-1]:g}" if len(tried) > 1 else f"τ = {tried[0]:g}"
    below = [family for family, by_tau in best.items() if min(by_tau) < 0]
    if below and len(below) < len(best):
        along += f" (below 0 under {ON_PAGE.families(below)} alone)"
    return f"{len(best)} {'families' if len(best) > 1 else 'family'}{without} and {along}"


def _without_score(sensitivity: Sensitivity) -> list[str]:
    """Which models could not be best, as nothing is known of them, rather than were beaten."""
    grid = sensitivity.over_tau
    points = [(family, tau) for family, by_tau in grid.leaders().items() for tau in by_tau]
    said = []
    for model in sensitivity.evaluation.data.predictions:
        silent = [family for family, tau in points if model not in grid.values(family, tau)]
        if silent:
            under = listed([ON_PAGE.family(family) for family in dict.fromkeys(silent)])
            where = f"{len(silent)} of these points, under {under}"
            said.append(f"{ON_PAGE.model(model)} has no score at {where}: there it is left out, not beaten.")
    return said


def _rests_on(report: Report, verdict: Verdict) -> str:
    """What is assumed."""
    evaluation, sensitivity = report.evaluation, report.sensitivity
    names = (
        [verdict.adjustment] if sensitivity is None else [verdict.adjustment, sensitivity.over_tau.primary]
    )
    said = [
        f"{quoted(evaluation, name)}: {evaluation.results[name].adjustment.assumption}"
        for name in dict.fromkeys(names)
    ]
    if sensitivity is not None:
        said.append(
            "Over the grid, the copula is that of each point. Data alone cannot check it: that is why it is varied."
        )
    said += [note.text for note in evaluation.notes if note.kind == "caution" and note.about.model is None]
    return " ".join(said)


def why_no_sensitivity(evaluation: Evaluation) -> str:
    """Why nothing is said of other dependences."""
    if not any(each.varies_with_copula for each in evaluation.results.values()):
        return "No adjustment here rests on a copula, so that there is no dependence to vary."
    return (
        "How far this holds under other dependences is not shown: hand over sensitivity() of the evaluation."
    )


def _hint(report: Report) -> str:
    """What the copula of the table is, and which one fits best."""
    evaluation, assumed = report.evaluation, report.evaluation.data.assumed
    if assumed.origin == "unused":
        said = f"{capital(copula_in_words(evaluation))}."
    else:
        how = {"given": ", as given", "selected": ", as selected"}.get(assumed.origin, "")
        said = f"The table of scores assumes {copula_name(assumed.copula)}{how}."
    if report.hint is None:
        return f"{said} Which copula fits best is not shown: give --hint, or hand over suggest_copula()."
    return f"{said} {report.hint.statement}{_at_the_hint(report.hint, report.sensitivity)}"


def _at_the_hint(hint: CopulaHint, sensitivity: Sensitivity | None) -> str:
    """What the grid says nearest to the hint, which is of the same dependence if both are given the same."""
    if hint.choice is None or hint.given != "imputation" or sensitivity is None:
        return ""
    copula, one = hint.choice.copula, len(rankable(sensitivity.evaluation)) < 2
    points = {} if one or copula.is_independence else sensitivity.over_tau.leaders().get(copula.name, {})
    if not points:
        return ""
    tau = min(points, key=lambda each: abs(each - copula.tau))
    point = f"{ON_PAGE.family(copula.name)} with τ = {tau:g}"
    said = standing_in_words(standing_at(sensitivity.over_tau, copula.name, tau), ON_PAGE)
    return f" At the nearest point of the grid, {point}, {said}."


def _intervals(evaluation: Evaluation) -> str:
    """What intervals are about, and what they leave out; empty where there are none."""
    data = evaluation.data
    if data.confidence_level is None:
        return ""
    said = [
        f"Intervals ({level_in_words(data.confidence_level)}) are about these trained models until "
        f"{data.time_axis.said(data.horizon.time)}. They take the assumed dependence as true."
    ]
    how = results_of(evaluation).resampling
    if how is not None:
        drawn = f"Those of scores come from {how.n_resamples} bootstrap samples"
        said.append(f"{drawn}, those over time and over the grid from formulas: the two may differ.")
    return " ".join(said)
