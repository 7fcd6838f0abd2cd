"""Scores as tables of text: one metric under all adjustments, and all metrics under one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from cocensor.metrics import Metric
from cocensor.study import Evaluation
from cocensor.study.scores import Score
from cocensor.study.standing import rankable, standing
from cocensor.views.text.digits import decimals, level_in_words, number
from cocensor.views.text.names import in_a_line, quoted

# A line of a terminal.
_WIDTH = 80


def caption(metric: Metric) -> str:
    """What a table by one metric shows."""
    skill = ", skill against Kaplan–Meier" if metric.has_skill else ""
    return f"{metric.label} ({metric.direction} is better){skill}"


def summary_caption(evaluation: Evaluation) -> str:
    """What the table of the other metrics shows."""
    return f"Other metrics, under {quoted(evaluation, evaluation.primary)}"


def legend(evaluation: Evaluation) -> str:
    """What the marks of the tables mean; without a contender there is no star."""
    level, star = evaluation.data.confidence_level, bool(rankable(evaluation))
    if level is None:
        return f"{'* best score; ' * star}no intervals were requested"
    return f"± half of the {level_in_words(level)} interval{'; * not distinguishable from the best' * star}"


def score_heads(evaluation: Evaluation) -> list[str]:
    """The columns of a table by one metric: the adjustments, and the truth where it is known."""
    truth = [] if evaluation.truth is None else [evaluation.truth.label]
    return [*(each.label for each in evaluation.results.values()), *truth]


def score_cells(evaluation: Evaluation, metric: Metric) -> dict[str, list[str]]:
    """By model its score under each adjustment, with its skill; last the true one, where it is known."""
    names = list(evaluation.results)
    by_place = {name: _cells(evaluation, metric, name, names) for name in names}
    rows: dict[str, list[str]] = {model: [] for model in evaluation.models}
    for name in names:
        for model, cells in rows.items():
            skill = evaluation.score(model, metric.name, name).skill
            share = np.nan if skill is None else skill.value
            cells.append(_with_skill(by_place[name][model], share, metric))
    truth = evaluation.truth
    if truth is not None:
        places = _places(
            evaluation.score(model, metric.name, name).standard_error for name in names for model in rows
        )
        base = truth.reference.get(metric.name)
        for model, cells in rows.items():
            value = truth.value(metric.name, model)
            true_skill = np.nan if base is None else metric.skill(value, base.value)
            cells.append(_with_skill("–" if np.isnan(value) else number(value, places), true_skill, metric))
    return rows


def _with_skill(cell: str, skill: float, metric: Metric) -> str:
    if cell == "–" or not metric.has_skill:
        return cell
    return f"{cell} ({round(100 * skill):+d} %)" if np.isfinite(skill) else f"{cell} (–)"


def summary_cells(evaluation: Evaluation) -> dict[str, list[str]]:
    """By metric beyond the first, the scores of all models under the primary adjustment."""
    primary = evaluation.primary
    return {
        f"{metric.label} ({metric.direction})": [
            _cells(evaluation, metric, primary, [primary])[model] for model in evaluation.models
        ]
        for metric in evaluation.data.metrics[1:]
    }


def score_lines(evaluation: Evaluation, metric: Metric) -> list[str]:
    """One metric under all adjustments."""
    rows = {in_a_line(model): cells for model, cells in score_cells(evaluation, metric).items()}
    return _lines(score_heads(evaluation), rows)


def summary_lines(evaluation: Evaluation) -> list[str]:
    """All metrics beyond the first, for as many models at a time as a line of a terminal holds."""
    rows, models = summary_cells(evaluation), [in_a_line(model) for model in evaluation.models]
    widest = max(len(text) for text in (*models, *(cell for cells in rows.values() for cell in cells)))
    at_once = max(1, (_WIDTH - max(map(len, rows))) // (widest + 2))
    lines: list[str] = []
    for first in range(0, len(models), at_once):
        some = range(first, min(first + at_once, len(models)))
        lines += _lines(
            [models[k] for k in some], {head: [row[k] for k in some] for head, row in rows.items()}
        )
    return lines


def _lines(head: Sequence[str], rows: dict[str, list[str]]) -> list[str]:
    table = [["", *head], *([name, *cells] for name, cells in rows.items())]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if k == 0 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]


def _cells(evaluation: Evaluation, metric: Metric, adjustment: str, beside: Sequence[str]) -> dict[str, str]:
    """The scores of all models, with as many decimals as the most precise of the adjustments ``beside`` each other."""
    scores = {
        (name, model): evaluation.score(model, metric.name, name)
        for name in beside
        for model in evaluation.models
    }
    places = _places(score.standard_error for score in scores.values())
    best = standing(evaluation, metric.name, adjustment).best
    cells = {}
    for model in evaluation.models:
        score = scores[adjustment, model]
        mark = "*" if model in best else " "
        half = _half_interval(score, evaluation.data.confidence_level, places)
        cells[model] = "–" if np.isnan(score.value) else f"{number(score.value, places)}{half}{mark}"
    return cells


def _places(errors: Iterable[float]) -> int:
    """As many decimals as the most precise of several scores deserves."""
    return decimals(min((error for error in errors if error > 0), default=np.nan))


def _half_interval(score: Score, level: float | None, places: int) -> str:
    if level is None or not np.isfinite(score.standard_error):
        return ""
    low, high = score.confidence_interval(level)
    return f" ±{number((high - low) / 2, places)}"
