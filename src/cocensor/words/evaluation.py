"""An evaluation in words and in text."""

from __future__ import annotations

from html import escape

import numpy as np

from cocensor._notes import Note
from cocensor.evaluation import Evaluation
from cocensor.metrics import Metric
from cocensor.words.names import BARE, Names, as_noun, counted, in_a_line, listed


def evaluation_as_text(evaluation: Evaluation) -> str:
    """What a terminal shows of an evaluation."""
    lines = [_opening(evaluation), ""]
    for metric in evaluation.data.metrics:
        lines += [_caption(metric), *_text_table(evaluation, metric), ""]
    said = (winners_in_words(evaluation), *uncounted_in_words(evaluation), *important_notes(evaluation))
    return "\n".join([*lines, *said])


def evaluation_as_html(evaluation: Evaluation) -> str:
    """What a notebook shows of an evaluation."""
    parts = [f"<p>{escape(_opening(evaluation))}</p>"]
    head = "".join(f"<th>{escape(each.label)}</th>" for each in evaluation.results.values())
    for metric in evaluation.data.metrics:
        body = "".join(
            f"<tr><th>{escape(model)}</th>"
            + "".join(f"<td>{escape(cell)}</td>" for cell in _cells(evaluation, model, metric))
            + "</tr>"
            for model in evaluation.models
        )
        parts.append(
            f"<table><caption>{escape(_caption(metric))}</caption><thead><tr><th></th>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table>"
        )
    said = (winners_in_words(evaluation), *uncounted_in_words(evaluation), *important_notes(evaluation))
    return "".join([*parts, *(f"<p>{escape(line)}</p>" for line in said)])


def winners_in_words(evaluation: Evaluation, metric: str | None = None, names: Names = BARE) -> str:
    """Which model is best under which adjustment that votes, metric by metric unless one is named."""
    if len(evaluation.data.predictions) == 1:
        return nothing_to_rank(evaluation, names)
    if metric is None and len(evaluation.metrics) > 1:
        return " ".join(
            f"By the {each.label}, {_winners(evaluation, each.name, names, 'the best', 'no adjustment')}"
            for each in evaluation.data.metrics
        )
    return _winners(evaluation, metric, names, "The best", "No adjustment")


def nothing_to_rank(evaluation: Evaluation, names: Names) -> str:
    """That one model alone has predictions."""
    [model] = evaluation.data.predictions
    if len(evaluation.models) > 1:
        return f"Only {names.model(model)} has predictions that can be scored: there is nothing to rank."
    return f"There is one model, {names.model(model)}, and nothing to rank."


def uncounted_in_words(evaluation: Evaluation) -> list[str]:
    """Which columns of the table no verdict counts, and why."""
    silent = [
        as_noun(each.label) for name, each in evaluation.results.items() if name not in evaluation.voting
    ]
    if not silent:
        return []
    verb = "is" if len(silent) == 1 else "are"
    return [
        f"{listed(silent)} {verb} shown, but not counted: such scores are biased even if censoring is independent."
    ]


def _winners(evaluation: Evaluation, metric: str | None, names: Names, the_best: str, none: str) -> str:
    """Which model is best by one metric; the last two are how a sentence begins."""
    labels: dict[str, list[str]] = {}
    silent = []
    for name in evaluation.voting:
        each = evaluation.results[name]
        best = [model for model, rank in evaluation.ranks(metric, name).items() if rank == 1]
        if best:
            labels.setdefault(names.are_best(best), []).append(as_noun(each.label))
        else:
            silent.append(as_noun(each.label))
    if not labels:
        return f"{none} could score a model."
    more = f"; {listed(silent)} {'has' if len(silent) == 1 else 'have'} no score" if silent else ""
    if len(labels) == 1:
        [(said, under)] = labels.items()
        every = not silent and len(evaluation.voting) == len(evaluation.results)
        return f"{said} under {'every adjustment' if every else listed(under)}{more}."
    parts = "; ".join(f"{said} under {listed(under)}" for said, under in labels.items())
    return f"{the_best} model depends on what is assumed about the censoring: {parts}{more}."


def copula_in_words(evaluation: Evaluation) -> str:
    """What adjustments by name assume about event and dropout."""
    assumed = evaluation.assumed
    if assumed.origin == "unused":
        own = any(each.varies_with_copula for each in evaluation.results.values())
        return "adjustments have copulas of their own" if own else "no copula is assumed"
    if assumed.copula.is_independence:
        given = "" if evaluation.judge is None else " given what the judge conditions on"
        said = f"event and dropout are taken for independent{given}"
    else:
        said = f"{type(assumed.copula).__name__} copula, τ = {assumed.copula.tau:.2g}"
    origin = {"selected": ", as selected: a hint, not a measurement", "given": ", as given"}
    return said + origin.get(assumed.origin, "")


def note_in_words(evaluation: Evaluation, note: Note) -> str:
    """A note with what it is about before it."""
    label = "" if note.adjustment is None else evaluation.results[note.adjustment].label
    about = ", ".join(part for part in (label, note.model or "") if part)
    text = f"no score: {note.text}" if note.kind == "missing" else note.text
    return f"{about}: {text}" if about else text


def important_notes(evaluation: Evaluation) -> list[str]:
    """What must not be overlooked: cautions, missing scores, and what was decided for the evaluation as a whole."""
    found = [
        note
        for each in evaluation.results.values()
        for note in each.notes
        if note.kind in ("caution", "missing")
    ]
    hint = evaluation.computed("hint")
    hinted = [] if hint is None else [hint.statement]
    return [*hinted, *(note_in_words(evaluation, note) for note in (*found, *evaluation.notes))]


def minor_notes(evaluation: Evaluation) -> list[str]:
    """What was decided under single adjustments."""
    return [
        note_in_words(evaluation, note)
        for each in evaluation.results.values()
        for note in each.notes_of("decision")
    ]


def _opening(evaluation: Evaluation) -> str:
    size = (
        counted(len(evaluation.models), "model"),
        counted(len(evaluation.data.samples.y_test), "test subject"),
    )
    return (
        f"Evaluation of {size[0]} on {size[1]} until {evaluation.horizon.time:g} ({evaluation.horizon.reason}); "
        f"{copula_in_words(evaluation)}."
    )


def _caption(metric: Metric) -> str:
    return f"{metric.label} ({metric.direction} is better, * best), skill against Kaplan–Meier"


def _text_table(evaluation: Evaluation, metric: Metric) -> list[str]:
    table = [["", *(each.label for each in evaluation.results.values())]]
    table += [[in_a_line(model), *_cells(evaluation, model, metric)] for model in evaluation.models]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if k == 0 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]


def _cells(evaluation: Evaluation, model: str, metric: Metric) -> list[str]:
    cells = []
    for name in evaluation.results:
        score = evaluation.score(model, metric.name, name).value
        if np.isnan(score):
            cells.append("–")
            continue
        best = "*" if evaluation.ranks(metric.name, name).get(model) == 1 else " "
        skill = evaluation.skill(model, metric.name, name).value
        saved = f"({round(100 * skill):+d} %)" if np.isfinite(skill) else "(–)"
        cells.append(f"{score:.4f}{best} {saved}")
    return cells
