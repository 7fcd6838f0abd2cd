"""Scores as tables of text: one metric under all adjustments, and all metrics under one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cocensor.metrics import Metric
from cocensor.study import Evaluation
from cocensor.study.ranking import rankable, standing
from cocensor.views.text.digits import decimals, level_in_words, number
from cocensor.views.text.names import in_a_line, quoted

#: What a table shows, its columns, and its rows by their names.
Table = tuple[str, list[str], dict[str, list[str]]]


def legend(evaluation: Evaluation) -> str:
    """What the marks of the tables mean; without a contender there is no star."""
    level, star = evaluation.data.confidence_level, bool(rankable(evaluation))
    if level is None:
        return f"{'* best score; ' * star}no intervals were requested"
    return f"± half of the {level_in_words(level)} interval{'; * not distinguishable from the best' * star}"


def score_table(evaluation: Evaluation) -> Table:
    """The first metric by model and adjustment, with skill; last the true scores, where they are known."""
    metric, names, truth = evaluation.data.metrics[0], list(evaluation.results), evaluation.truth
    heads = [scores.label for scores in evaluation.results.values()]
    places = _places(evaluation, metric, names)
    rows: dict[str, list[str]] = {model: [] for model in evaluation.models}
    for name in names:
        for model, cell in _cells(evaluation, metric, name, places).items():
            skill = evaluation.score(model, metric.name, name).skill
            rows[model].append(_with_skill(cell, np.nan if skill is None else skill.value, metric))
    if truth is not None:
        heads.append(truth.label)
        base = truth.reference.get(metric.name)
        for model, cells in rows.items():
            value = truth.value(metric.name, model)
            true_skill = np.nan if base is None else metric.skill(value, base.value)
            cells.append(_with_skill("–" if np.isnan(value) else number(value, places), true_skill, metric))
    against = ", skill against Kaplan–Meier" if metric.has_skill else ""
    return f"{metric.label} ({metric.direction} is better){against}", heads, rows


def summary_table(evaluation: Evaluation) -> Table:
    """The other metrics by model, under the primary adjustment."""
    primary = evaluation.primary
    rows = {
        f"{metric.label} ({metric.direction})": list(
            _cells(evaluation, metric, primary, _places(evaluation, metric, [primary])).values()
        )
        for metric in evaluation.data.metrics[1:]
    }
    return f"Other metrics, under {quoted(evaluation, primary)}", list(evaluation.models), rows


def lines(table: Table, width: int | None = None) -> list[str]:
    """A table for a terminal, with as many columns at a time as ``width`` holds."""
    _, heads, rows = table
    cells = [["", *map(in_a_line, heads)], *([in_a_line(name), *row] for name, row in rows.items())]
    at_once = len(heads)
    if width is not None:
        widest = max(len(cell) for row in cells for cell in row[1:])
        at_once = max(1, (width - max(len(row[0]) for row in cells)) // (widest + 2))
    return [
        line
        for first in range(1, len(heads) + 1, at_once)
        for line in _aligned([[row[0], *row[first : first + at_once]] for row in cells])
    ]


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([name.ljust(widths[0]), *map(str.rjust, cells, widths[1:])]).rstrip()
        for name, *cells in rows
    ]


def _cells(evaluation: Evaluation, metric: Metric, adjustment: str, places: int) -> dict[str, str]:
    """The scores of all models, with half of their intervals and a star for those that may be best."""
    best, level = standing(evaluation, metric.name, adjustment).best, evaluation.data.confidence_level
    cells = {}
    for model in evaluation.models:
        score, half = evaluation.score(model, metric.name, adjustment), ""
        if level is not None and np.isfinite(score.standard_error):
            low, high = score.confidence_interval(level)
            half = f" ±{number((high - low) / 2, places)}"
        star = "*" if model in best else " "
        cells[model] = "–" if np.isnan(score.value) else f"{number(score.value, places)}{half}{star}"
    return cells


def _places(evaluation: Evaluation, metric: Metric, names: Sequence[str]) -> int:
    """As many decimals as the most precise of the scores under some adjustments deserves."""
    errors = [
        evaluation.score(model, metric.name, name).standard_error
        for name in names
        for model in evaluation.models
    ]
    return decimals(min((error for error in errors if error > 0), default=np.nan))


def _with_skill(cell: str, skill: float, metric: Metric) -> str:
    if cell == "–" or not metric.has_skill:
        return cell
    return f"{cell} ({round(100 * skill):+d} %)" if np.isfinite(skill) else f"{cell} (–)"
