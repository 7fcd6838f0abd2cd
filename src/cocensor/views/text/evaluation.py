"""An evaluation in words and in text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import combinations
from typing import TypeVar

from cocensor._notes import Note
from cocensor.inference.comparisons import may_be_best
from cocensor.metrics import Metric
from cocensor.study.evaluation import Evaluation
from cocensor.study.ranking import Standing, counted, rankable, standing
from cocensor.views.text.checks import CHECK_FIRST, checks_in_words, nothing_to_rank
from cocensor.views.text.digits import number
from cocensor.views.text.metrics import metrics_in_words
from cocensor.views.text.names import (
    BARE,
    ON_PAGE,
    Names,
    capital,
    have,
    listed,
    quoted,
)
from cocensor.views.text.names import counted as number_of
from cocensor.views.text.score_tables import legend, lines, score_table, summary_table
from cocensor.views.text.verdict import course, standing_in_words

_Key = TypeVar("_Key")
# A line of a terminal.
_WIDTH = 80
_KNOWN = "The data are simulated, so the truth is known"


def evaluation_as_text(evaluation: Evaluation) -> str:
    """What a terminal shows of an evaluation."""
    checks = checks_in_words(evaluation)
    said = [f"{CHECK_FIRST}:", *(f"- {line}" for line in checks), ""] if checks else []
    scores = score_table(evaluation)
    said += [_opening(evaluation), "", scores[0], *lines(scores)]
    if len(evaluation.metrics) > 1:
        others = summary_table(evaluation)
        said += ["", others[0], *lines(others, _WIDTH)]
    return "\n".join([*said, legend(evaluation), "", *_said(evaluation)])


def evaluation_as_html(evaluation: Evaluation) -> str:
    """What a notebook shows of an evaluation."""
    checks = "".join(f"<li>{escape(line)}</li>" for line in checks_in_words(evaluation))
    parts = [f"<p><strong>{CHECK_FIRST}</strong></p><ul>{checks}</ul>"] if checks else []
    above, heads, rows = score_table(evaluation)
    parts.append(f"<p>{escape(_opening(evaluation))}</p>")
    parts.append(_html_table(f"{above}; {legend(evaluation)}", heads, rows))
    if len(evaluation.metrics) > 1:
        parts.append(_html_table(*summary_table(evaluation)))
    return "".join([*parts, *(f"<p>{escape(line)}</p>" for line in _said(evaluation))])


def _said(evaluation: Evaluation) -> list[str]:
    """What follows the tables."""
    best = filter(None, [winners_in_words(evaluation), truth_in_words(evaluation, BARE)])
    return [*best, *uncounted_in_words(evaluation), *important_notes(evaluation)]


def _html_table(above: str, columns: Sequence[str], rows: dict[str, list[str]]) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join(
        f"<tr><th>{escape(name)}</th>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
        for name, cells in rows.items()
    )
    return (
        f"<table><caption>{escape(above)}</caption><thead><tr><th></th>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


def winners_in_words(evaluation: Evaluation, metric: str | None = None, names: Names = BARE) -> str:
    """Who is best under which adjustment that votes: by one metric, or by the first and the others.

    By the others, who is best under the primary adjustment alone: metrics that say the same are named together.
    """
    if len(rankable(evaluation)) < 2:
        return nothing_to_rank(evaluation, names)
    first, *others = evaluation.data.metrics
    if metric is not None or not others:
        return _winners(evaluation, metric, names)
    by_first = f"By the {first.label}: {_winners(evaluation, first.name, names)}"
    return " ".join([by_first, *others_in_words(evaluation, names)])


def others_in_words(evaluation: Evaluation, names: Names) -> list[str]:
    """Who is best by the other metrics under the primary adjustment: those that say the same are named together."""
    under = quoted(evaluation, evaluation.primary)
    found = [(standing(evaluation, by.name, evaluation.primary), by) for by in evaluation.data.metrics[1:]]
    return [
        f"By the {metrics_in_words(metrics)}, under {under}, {standing_in_words(best, names)}."
        for best, metrics in _alike(found)
    ]


def _alike(found: Sequence[tuple[Standing, _Key]]) -> list[tuple[Standing, list[_Key]]]:
    """Standings that are told in one and the same clause, with what they are under."""
    groups: dict[tuple[object, ...], tuple[Standing, list[_Key]]] = {}
    for best, key in found:
        groups.setdefault(course(best), (best, []))[1].append(key)
    return list(groups.values())


def uncounted_in_words(evaluation: Evaluation) -> list[str]:
    """Which columns of the table no verdict counts, and why."""
    silent = [quoted(evaluation, name) for name in evaluation.results if name not in counted(evaluation)]
    if not silent:
        return []
    verb = "is" if len(silent) == 1 else "are"
    return [
        f"{listed(silent)} {verb} shown, but not counted: such scores are biased even if censoring is independent."
    ]


def _winners(evaluation: Evaluation, metric: str | None, names: Names) -> str:
    """Who is best by one metric: a sentence for all adjustments that say the same."""
    found = [(standing(evaluation, metric, name), quoted(evaluation, name)) for name in counted(evaluation)]
    scored = [(best, label) for best, label in found if best.scores]
    if not scored:
        return "No adjustment could score a model."
    alike, silent = _alike(scored), [label for best, label in found if not best.scores]
    every = not silent and 1 < len(found) == len(evaluation.results) and len(alike) == 1
    said = [
        f"Under {'every adjustment' if every else listed(labels)}, {standing_in_words(best, names)}."
        for best, labels in alike
    ]
    if silent:
        said.append(f"{listed(silent)} {have(silent)} no score.")
    return " ".join([*_disagreement([best for best, _ in scored]), *said])


def _disagreement(answers: list[Standing]) -> list[str]:
    """That adjustments have no best model in common, by their intervals where any has some."""
    telling = [found for found in answers if found.tells]
    best = [set(found.best) for found in telling] or [set(found.leaders) for found in answers]
    if not any(not a & b for a, b in combinations(best, 2)):
        return []
    what = "Which model is best" if telling else "Which score is best"
    return [f"{what} depends on what is assumed about the censoring."]


def truth_in_words(evaluation: Evaluation, names: Names) -> str:
    """Which model is truly best by the first metric, and which ones the adjustments pick; empty for data of a study."""
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
    if len(able) == 1:
        return f"{_KNOWN}: the {by.label} of {names.models(best)} is {value}."
    said = f"{names.models(best)} {'has' if len(best) == 1 else 'share'} the best {by.label}, {value}"
    level, close = evaluation.data.confidence_level, list[str]()
    if level is not None and by.name in truth.errors and len(best) == 1:
        kept = may_be_best(truth.errors[by.name].only(able), by.direction, level)
        close = [names.model(model) for model in kept if model not in best]
    if close:
        said += f", but cannot be distinguished from {listed(close, 'or')}"
    return " ".join([f"{_KNOWN}: {said}.", *_picked(evaluation, by, names)])


def _picked(evaluation: Evaluation, by: Metric, names: Names) -> Iterator[str]:
    """Which models have the best score under the adjustments that vote: a clause for each choice."""
    picks: dict[tuple[str, ...], list[str]] = {}
    for name in counted(evaluation):
        leaders = standing(evaluation, by.name, name).leaders
        if leaders:
            above = names is ON_PAGE and name == evaluation.primary  # whose scores the first screen has
            picks.setdefault(leaders, []).append("the score above" if above else quoted(evaluation, name))
    said = [
        f"{listed(labels)} {'picks' if len(labels) == 1 else 'pick'} {names.models(models)}"
        for models, labels in picks.items()
    ]
    if said:
        yield capital(f"{'; '.join(said)}.")


def copula_in_words(evaluation: Evaluation) -> str:
    """What adjustments by name assume about event and dropout."""
    assumed = evaluation.data.assumed
    if assumed.origin == "unused":
        own = any(each.varies_with_copula for each in evaluation.results.values())
        return "adjustments have copulas of their own" if own else "no copula is assumed"
    if assumed.copula.is_independence:
        imputed = any(
            each.fits and "predictions" in each.adjustment.needs for each in evaluation.results.values()
        )
        given = " given the predictions and any covariates" if imputed else ""
        said = f"event and dropout are assumed independent{given}"
    else:
        said = f"{type(assumed.copula).__name__} copula, τ = {assumed.copula.tau:.2g}"
    origin = {"selected": ", as selected: a hint, not a measurement", "given": ", as given"}
    return said + origin.get(assumed.origin, "")


def note_with_subject(evaluation: Evaluation, note: Note) -> str:
    """A note with what it is about before it."""
    adjustment, model = note.about
    label = "" if adjustment is None else evaluation.results[adjustment].label
    about = ", ".join(part for part in (label, model or "") if part)
    text = f"no score: {note.text}" if note.kind == "missing" else note.text
    return f"{about}: {text}" if about else text


def important_notes(evaluation: Evaluation) -> list[str]:
    """What must not be overlooked: cautions, missing scores, and what was decided for the evaluation as a whole.

    Why a model was refused is among the alarms.
    """
    notes = [
        note for scores in evaluation.results.values() for note in scores.notes if note.kind != "decision"
    ]
    notes += [note for note in evaluation.notes if note.about.model in (None, *evaluation.data.predictions)]
    hint = evaluation.data.assumed.hint
    hinted = [] if hint is None else [hint.statement]
    return [*hinted, *(note_with_subject(evaluation, note) for note in notes)]


def minor_notes(evaluation: Evaluation) -> list[str]:
    """What was decided under single adjustments."""
    return [
        note_with_subject(evaluation, note)
        for each in evaluation.results.values()
        for note in each.notes_of("decision")
    ]


def _opening(evaluation: Evaluation) -> str:
    data = evaluation.data
    models, subjects = number_of(len(evaluation.models), "model"), number_of(data.n_test, "test subject")
    until = f"{data.time_axis.said(data.horizon.time)} ({data.horizon.reason})"
    return f"Evaluation of {models} on {subjects} until {until}; {copula_in_words(evaluation)}."
