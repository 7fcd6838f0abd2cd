"""All metrics in one table under the primary adjustment, and how far each score moves over the grid."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from cocensor.metrics import Metric
from cocensor.study.evaluation import Evaluation
from cocensor.study.sensitivity import Sensitivity
from cocensor.study.standing import standing
from cocensor.views.html.cells import MISSING, NumberCell, NumberRow, NumberTable, interval_of, number_cell
from cocensor.views.html.figures import series
from cocensor.views.text.names import listed


def summary_table(evaluation: Evaluation) -> NumberTable:
    """The scores of the models by every metric, with the true ones where they are known."""
    rows = []
    for metric in evaluation.data.metrics:
        best = standing(evaluation, metric.name).best
        scores = {model: evaluation.score(model, metric.name) for model in evaluation.models}
        cells = [
            replace(
                number_cell(
                    score.value, model in best, interval=interval_of(score, evaluation.data.confidence_level)
                ),
                beside=_truth(evaluation, metric, model),
            )
            for model, score in scores.items()
        ]
        rows.append(NumberRow((_head(metric),), cells))
    caption = f"all metrics under “{evaluation.results[evaluation.primary].label}”"
    return NumberTable(caption, ("metric", *evaluation.models), rows)


def range_table(sensitivity: Sensitivity | None) -> NumberTable | None:
    """From where to where the scores go over all families and τ, and who has the best one where."""
    if sensitivity is None:
        return None
    evaluation, grid = sensitivity.evaluation, sensitivity.over_tau
    rows = []
    for metric in evaluation.data.metrics:
        found: dict[str, list[float]] = {model: [] for model in evaluation.models}
        for family, answers in grid.answers[grid.primary].items():
            for tau in answers:
                for model, value in grid.values(family, tau, metric.name).items():
                    found[model].append(value)
        cells = [NumberCell(_span(values)) for values in found.values()]
        rows.append(NumberRow((_head(metric),), [*cells, NumberCell(_leaders(sensitivity, metric))]))
    label = evaluation.results[grid.primary].label
    caption = f"the same over all families and τ under “{label}”: smallest to largest score"
    return NumberTable(caption, ("metric", *evaluation.models, "best score"), rows)


def _head(metric: Metric) -> str:
    return f"{metric.label} ({metric.direction} is better)"


def _truth(evaluation: Evaluation, metric: Metric, model: str) -> str:
    """The true score, where it is known."""
    value = np.nan if evaluation.truth is None else evaluation.truth.value(metric.name, model)
    return "" if np.isnan(value) else f"truth {value:z.4f}"


def _span(values: list[float]) -> str:
    return f"{min(values):.4f} to {max(values):.4f}" if values else MISSING


def _leaders(sensitivity: Sensitivity, metric: Metric) -> str:
    """Who has the best score at how many points of the grid, by letters."""
    points = [
        models for line in sensitivity.over_tau.leaders(metric.name).values() for models in line.values()
    ]
    if not any(points):
        return MISSING
    letters = {each["name"]: each["letter"] for each in series(sensitivity.evaluation)}
    counts = Counter(letters[model] for models in points for model in models)
    if set(counts.values()) == {len(points)}:
        return f"always {listed([*counts])}"
    (first, most), *others = counts.most_common()
    return ", ".join(
        [f"{first} at {most} of {len(points)} points", *(f"{each} at {n}" for each, n in others)]
    )
