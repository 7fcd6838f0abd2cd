"""The tables of the report: every number that a figure shows, for readers without scripts and for paper."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from cocensor._checks import FloatArray
from cocensor.data import TimeAxis
from cocensor.joint import DependenceProfile
from cocensor.metrics import Metric
from cocensor.study.evaluation import Evaluation
from cocensor.study.report import Report
from cocensor.study.scores import AdjustmentScores
from cocensor.study.sensitivity import MarginCurves
from cocensor.study.standing import standing
from cocensor.views.html.cells import (
    MISSING,
    NumberCell,
    NumberRow,
    NumberTable,
    both_ends,
    interval_of,
    number_cell,
)
from cocensor.views.text.names import family_name

_N_TIMES = 5


def score_tables(evaluation: Evaluation) -> list[NumberTable]:
    """For every metric, models by adjustments: score, skill and rank, with the reference in the last row.

    In the last column are the true scores, where they are known.
    """
    known = () if evaluation.truth is None else (evaluation.truth,)
    tables = []
    for metric in evaluation.data.metrics:
        columns = [_scores(evaluation, metric.name, name) for name in evaluation.results]
        columns += [_true_scores(evaluation, each, metric) for each in known]
        rows = [
            NumberRow((model,), list(cells))
            for model, cells in zip(evaluation.models, zip(*columns, strict=True), strict=True)
        ]
        bases = [each.reference.get(metric.name) for each in (*evaluation.results.values(), *known)]
        reference = [number_cell(None if base is None else base.value) for base in bases]
        rows.append(NumberRow(("Kaplan–Meier, the same for all",), reference))
        head = ("model", *(each.label for each in (*evaluation.results.values(), *known)))
        caption = f"{metric.label} ({metric.direction} is better)"
        tables.append(NumberTable(caption, head, rows, metric=metric.name))
    return tables


def curve_tables(report: Report) -> list[NumberTable]:
    """For every metric that has values over time, those at a few of the times, by adjustment and model."""
    evaluation = report.evaluation
    order = np.argsort(evaluation.data.times)
    shown = order[np.unique(np.linspace(0, order.size - 1, _N_TIMES).astype(int))]
    head = (
        "adjustment",
        "model",
        *(_time_head(evaluation.data.time_axis, evaluation.data.times[k]) for k in shown),
    )
    return [
        NumberTable(
            f"{metric.curve_label} at single times",
            head,
            [
                NumberRow(
                    (each.label, model),
                    _curve_cells(report, metric.name, each.name, model, found.curve, shown),
                )
                for each in evaluation.results.values()
                for model, found in each.values[metric.name].items()
                if found.curve is not None
            ],
        )
        for metric in evaluation.data.metrics
        if metric.curve_label is not None
    ]


def _curve_cells(
    report: Report, metric: str, adjustment: str, model: str, curve: FloatArray, shown: Any
) -> list[NumberCell]:
    """Values at some times, with their intervals where these were handed over."""
    errors, level = report.curves.get((metric, adjustment)), report.evaluation.data.confidence_level
    said = [""] * len(shown)
    if errors is not None and level is not None and model not in errors.missing:
        low, high = errors.of(model).confidence_intervals(level)
        said = [both_ends(low[k], high[k]) for k in shown]
    return [number_cell(float(curve[k]), interval=each) for k, each in zip(shown, said, strict=True)]


def survival_table(curves: MarginCurves | None, axis: TimeAxis) -> NumberTable | None:
    """The survival curves at a few times."""
    if curves is None:
        return None
    shown = np.linspace(0, curves.times.size - 1, _N_TIMES).astype(int)
    lines = [(("Kaplan–Meier", MISSING), curves.kaplan_meier)]
    lines += [
        ((family_name(family), f"{tau:g}"), values)
        for family, by_tau in curves.copula_graphic.items()
        for tau, values in by_tau.items()
    ]
    return NumberTable(
        f"Survival probability, {curves.sample} sample",
        ("curve", "τ", *(_time_head(axis, curves.times[k]) for k in shown)),
        [NumberRow(head, [number_cell(float(values[k])) for k in shown]) for head, values in lines],
    )


def likelihood_table(profile: DependenceProfile | None) -> NumberTable | None:
    """The profile log-likelihood less its maximum, by family along τ."""
    if profile is None:
        return None
    top = profile.best[2]
    by_family = {
        name: dict(zip(taus.tolist(), (values - top).tolist(), strict=True))
        for name, (taus, values) in profile.curves.items()
    }
    return NumberTable(
        "Profile log-likelihood less its maximum",
        ("τ", *map(family_name, by_family)),
        [
            NumberRow((f"{tau:g}",), [number_cell(found.get(tau), digits=1) for found in by_family.values()])
            for tau in sorted(set().union(*by_family.values()))
        ],
    )


def _time_head(axis: TimeAxis, t: float) -> str:
    """A time as the heading of a column."""
    return f"t = {axis.said(t)}"


def _scores(evaluation: Evaluation, metric: str, adjustment: str) -> list[NumberCell]:
    """The scores of all models, with rank and skill."""
    found = standing(evaluation, metric, adjustment)
    cells = []
    for model in evaluation.models:
        score = evaluation.score(model, metric, adjustment)
        if np.isnan(score.value):
            cells.append(NumberCell(MISSING))
            continue
        beside = [f"rank {found.ranks[model]}"] if model in found.ranks else []
        beside += _skill(np.nan if score.skill is None else score.skill.value)
        interval = interval_of(score, evaluation.data.confidence_level)
        text = f"{score.value:z.4f}"
        cells.append(NumberCell(text, score.value, ", ".join(beside), model in found.best, interval))
    return cells


def _true_scores(evaluation: Evaluation, truth: AdjustmentScores, metric: Metric) -> list[NumberCell]:
    """The true scores of all models, with their skill; nothing ranks by them."""
    base = truth.reference.get(metric.name)
    cells = []
    for model in evaluation.models:
        value = truth.value(metric.name, model)
        skill = np.nan if base is None else metric.skill(value, base.value)
        cells.append(replace(number_cell(value), beside=", ".join(_skill(skill))))
    return cells


def _skill(skill: float) -> list[str]:
    return [] if np.isnan(skill) else [f"skill {100 * skill:+.1f}\u00a0%"]
