"""An evaluation in words and in text."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import combinations
from typing import TypeVar

import numpy as np

from cocensor._notes import Note
from cocensor.inference.comparisons import may_be_best
from cocensor.metrics import Metric
from cocensor.study.evaluation import Evaluation
from cocensor.study.ranking import Standing, counted, rankable, standing
from cocensor.views.text.checks import CHECK_FIRST, checks_in_words, nothing_to_rank
from cocensor.views.text.digits import decimals, level_in_words, number
from cocensor.views.text.names import BARE, ON_PAGE, Names, capital, listed, metrics_in_words, plural, quoted
from cocensor.views.text.verdict import course, standing_in_words

#: What a table shows, its columns, and its rows by their names.
Table = tuple[str, list[str], dict[str, list[str]]]
_Key = TypeVar("_Key")
# A line of a terminal.
_WIDTH = 80
_KNOWN = "The data are simulated, so the truth is known"


def evaluation_as_text(evaluation: Evaluation) -> str:
    """An evaluation for a terminal."""
    checks = checks_in_words(evaluation)
    text = [f"{CHECK_FIRST}:", *(f"- {line}" for line in checks), ""] if checks else []
    scores = score_table(evaluation)
    text += [_opening(evaluation), "", scores[0], *lines(scores)]
    if len(evaluation.metrics) > 1:
        others = summary_table(evaluation)
        text += ["", others[0], *lines(others, _WIDTH)]
    return "\n".join([*text, _legend(evaluation), "", *_after_tables(evaluation)])


def evaluation_as_html(evaluation: Evaluation) -> str:
    """An evaluation for a notebook."""
    checks = "".join(f"<li>{escape(line)}</li>" for line in checks_in_words(evaluation))
    parts = [f"<p><strong>{CHECK_FIRST}</strong></p><ul>{checks}</ul>"] if checks else []
    title, heads, rows = score_table(evaluation)
    parts.append(f"<p>{escape(_opening(evaluation))}</p>")
    parts.append(_html_table(f"{title}; {_legend(evaluation)}", heads, rows))
    if len(evaluation.metrics) > 1:
        parts.append(_html_table(*summary_table(evaluation)))
    return "".join([*parts, *(f"<p>{escape(line)}</p>" for line in _after_tables(evaluation))])


def _opening(evaluation: Evaluation) -> str:
    data = evaluation.data
    models, subjects = plural(len(evaluation.models), "model"), plural(data.whole.n, "test subject")
    until = f"{data.time_axis.said(data.horizon.time)} ({data.horizon.reason})"
    return f"Evaluation of {models} on {subjects} until {until}; {copula_in_words(evaluation)}."


def _after_tables(evaluation: Evaluation) -> list[str]:
    best = filter(None, [winners_in_words(evaluation), truth_in_words(evaluation, BARE)])
    return [*best, *uncounted_in_words(evaluation), *_important_notes(evaluation)]


def _html_table(title: str, columns: Sequence[str], rows: dict[str, list[str]]) -> str:
    def cells(tag: str, texts: Sequence[str]) -> str:
        return "".join(f"<{tag}>{escape(text)}</{tag}>" for text in texts)

    head = cells("th", ["", *columns])
    body = "".join(f"<tr>{cells('th', [name])}{cells('td', row)}</tr>" for name, row in rows.items())
    return f"<table><caption>{escape(title)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _legend(evaluation: Evaluation) -> str:
    """The legend of the tables; without a contender there is no star."""
    level, star = evaluation.data.confidence_level, bool(rankable(evaluation))
    if level is None:
        return f"{'* best score; ' * star}no intervals were requested"
    return f"± half of the {level_in_words(level)} interval{'; * not distinguishable from the best' * star}"


def score_table(evaluation: Evaluation) -> Table:
    """The first metric by model and adjustment, with skill; last the true scores, where they are known."""
    metric, truth = evaluation.data.metrics[0], evaluation.truth
    heads = [scores.label for scores in evaluation.results.values()]
    rows, places = _cells(evaluation, metric, list(evaluation.results), with_skill=True)
    if truth is not None:
        heads.append(truth.label)
        base = truth.reference.get(metric.name)
        for model, cells in rows.items():
            value = truth.value(metric.name, model)
            skill = None if base is None else metric.skill(value, base.value)
            cells.append(_with_skill("–" if np.isnan(value) else number(value, places), skill, metric))
    against = ", skill against Kaplan–Meier" if metric.has_skill else ""
    return f"{metric.label} ({metric.direction} is better){against}", heads, rows


def summary_table(evaluation: Evaluation) -> Table:
    """The other metrics by model, under the primary adjustment."""
    primary, rows = evaluation.primary, dict[str, list[str]]()
    for metric in evaluation.data.metrics[1:]:
        cells, _ = _cells(evaluation, metric, [primary])
        rows[f"{metric.label} ({metric.direction})"] = [cell for [cell] in cells.values()]
    return f"Other metrics, under {quoted(evaluation, primary)}", list(evaluation.models), rows


def lines(table: Table, width: int | None = None) -> list[str]:
    """A table for a terminal, with as many columns at a time as ``width`` holds."""
    _, heads, rows = table
    cells = [["", *map(BARE.model, heads)], *([BARE.model(name), *row] for name, row in rows.items())]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    at_once = len(heads) if width is None else max(1, (width - widths[0]) // (max(widths[1:]) + 2))
    return [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[part], widths[part])]).rstrip()
        for part in (slice(first, first + at_once) for first in range(1, len(widths), at_once))
        for row in cells
    ]


def _cells(
    evaluation: Evaluation, metric: Metric, names: list[str], with_skill: bool = False
) -> tuple[dict[str, list[str]], int]:
    """By model its scores, with half of their intervals and a star for those that may be best, and their decimals."""
    level, models = evaluation.data.confidence_level, evaluation.models
    scores = {name: [evaluation.score(model, metric.name, name) for model in models] for name in names}
    errors = [score.standard_error for column in scores.values() for score in column]
    places = decimals(min((error for error in errors if error > 0), default=np.nan))
    rows: dict[str, list[str]] = {model: [] for model in models}
    for name, column in scores.items():
        best = standing(evaluation, metric.name, name).best
        for model, score in zip(models, column, strict=True):
            half = ""
            if level is not None and np.isfinite(score.standard_error):
                low, high = score.confidence_interval(level)
                half = f" ±{number((high - low) / 2, places)}"
            star = "*" if model in best else " "
            cell = "–" if np.isnan(score.value) else f"{number(score.value, places)}{half}{star}"
            skill = None if score.skill is None else score.skill.value
            rows[model].append(_with_skill(cell, skill, metric) if with_skill else cell)
    return rows, places


def _with_skill(cell: str, skill: float | None, metric: Metric) -> str:
    if cell == "–" or not metric.has_skill:
        return cell
    return f"{cell} (–)" if skill is None or not np.isfinite(skill) else f"{cell} ({round(100 * skill):+d} %)"


def winners_in_words(evaluation: Evaluation, names: Names = BARE) -> str:
    """The best models by the first metric and each adjustment that votes, and by the other metrics."""
    if len(rankable(evaluation)) < 2:
        return nothing_to_rank(evaluation, names)
    first, *others = evaluation.data.metrics
    by_first = _winners(evaluation, names)
    if not others:
        return by_first
    return " ".join([f"By the {first.label}: {by_first}", *others_in_words(evaluation, names)])


def others_in_words(evaluation: Evaluation, names: Names) -> list[str]:
    """The best models by the other metrics under the primary adjustment; those that say the same are named together."""
    under = quoted(evaluation, evaluation.primary)
    by_metric = [(standing(evaluation, by.name), by) for by in evaluation.data.metrics[1:]]
    return [
        f"By the {metrics_in_words(metrics)}, under {under}, {standing_in_words(best, names)}."
        for best, metrics in _alike(by_metric)
    ]


def _alike(standings: Sequence[tuple[Standing, _Key]]) -> list[tuple[Standing, list[_Key]]]:
    """Standings that are said in one and the same clause, with what they are under."""
    groups: dict[tuple[object, ...], tuple[Standing, list[_Key]]] = {}
    for best, key in standings:
        groups.setdefault(course(best), (best, []))[1].append(key)
    return list(groups.values())


def uncounted_in_words(evaluation: Evaluation) -> list[str]:
    """A sentence on the columns of the table that no verdict counts, and why."""
    silent = [quoted(evaluation, name) for name in evaluation.results if name not in counted(evaluation)]
    if not silent:
        return []
    verb = "is" if len(silent) == 1 else "are"
    return [
        f"{listed(silent)} {verb} shown, but not counted: such scores are biased even if censoring is independent."
    ]


def _winners(evaluation: Evaluation, names: Names) -> str:
    """A sentence for all adjustments that say the same by the first metric, and whether they have a best in common."""
    voting = [(standing(evaluation, None, name), quoted(evaluation, name)) for name in counted(evaluation)]
    scored = [(best, label) for best, label in voting if best.scores]
    if not scored:
        return "No adjustment could score a model."
    alike, silent = _alike(scored), [label for best, label in voting if not best.scores]
    every = not silent and 1 < len(voting) == len(evaluation.results) and len(alike) == 1
    sentences = [
        f"Under {'every adjustment' if every else listed(labels)}, {standing_in_words(best, names)}."
        for best, labels in alike
    ]
    if silent:
        sentences.append(f"{listed(silent)} {'has' if len(silent) == 1 else 'have'} no score.")
    telling = [set(best.best) for best, _ in scored if best.tells]
    first = telling or [set(best.leaders) for best, _ in scored]
    if not all(a & b for a, b in combinations(first, 2)):
        what = "model" if telling else "score"
        sentences.insert(0, f"Which {what} is best depends on what is assumed about the censoring.")
    return " ".join(sentences)


def truth_in_words(evaluation: Evaluation, names: Names) -> str:
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
        above = names is ON_PAGE and name == evaluation.primary  # whose scores the first screen has
        leaders = standing(evaluation, by.name, name).leaders
        picks.setdefault(leaders, []).append("the score above" if above else quoted(evaluation, name))
    clauses = [
        f"{listed(labels)} {'picks' if len(labels) == 1 else 'pick'} {names.models(models)}"
        for models, labels in picks.items()
        if models
    ]
    picked = f" {capital('; '.join(clauses))}." if clauses else ""
    return f"{_KNOWN}: {answer}.{picked}"


def copula_in_words(evaluation: Evaluation) -> str:
    """The assumption on event and dropout that adjustments by name make."""
    assumed, results = evaluation.data.assumed, evaluation.results.values()
    if assumed.origin == "unused":
        own = any(scores.adjustment.rests_on_copula for scores in results)
        return "adjustments have copulas of their own" if own else "no copula is assumed"
    if assumed.copula.is_independence:
        imputed = any(scores.fits and "predictions" in scores.adjustment.needs for scores in results)
        given = " given the predictions and any covariates" if imputed else ""
        copula = f"event and dropout are assumed independent{given}"
    else:
        copula = f"{type(assumed.copula).__name__} copula, τ = {assumed.copula.tau:.2g}"
    origin = {"selected": ", as selected: a hint, not a measurement", "given": ", as given"}
    return copula + origin.get(assumed.origin, "")


def minor_notes(evaluation: Evaluation) -> list[str]:
    """The decisions made under single adjustments."""
    return [
        _note_with_subject(evaluation, note)
        for scores in evaluation.results.values()
        for note in scores.notes_of("decision")
    ]


def _important_notes(evaluation: Evaluation) -> list[str]:
    """Cautions, missing scores, and what was decided for the evaluation; an alarm says why a model was refused."""
    data, notes = evaluation.data, list[Note]()
    for scores in evaluation.results.values():
        notes += [note for note in scores.notes if note.kind != "decision"]
    notes += [note for note in evaluation.notes if note.about.model in (None, *data.predictions)]
    statements = [] if data.assumed.hint is None else [data.assumed.hint.statement]
    return [*statements, *(_note_with_subject(evaluation, note) for note in notes)]


def _note_with_subject(evaluation: Evaluation, note: Note) -> str:
    adjustment, model = note.about
    label = "" if adjustment is None else evaluation.results[adjustment].label
    subject = ", ".join(part for part in (label, model or "") if part)
    text = f"no score: {note.text}" if note.kind == "missing" else note.text
    return f"{subject}: {text}" if subject else text
