"""The tables of the report: every number that a figure shows, for readers without scripts and for paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from cocensor._checks import FloatArray
from cocensor.data import TimeAxis, shown_time
from cocensor.inference import Comparison
from cocensor.joint import DependenceProfile
from cocensor.metrics import Metric
from cocensor.study.curves import CurveErrors
from cocensor.study.evaluation import Evaluation
from cocensor.study.imputation_fit import FitCells, ImputationFit
from cocensor.study.report import Report
from cocensor.study.scores import AdjustmentScores
from cocensor.study.sensitivity import MarginCurves, Sensitivity
from cocensor.study.standing import standing
from cocensor.study.tables import pairs_of
from cocensor.views.html.cells import (
    MISSING,
    NumberCell,
    NumberRow,
    NumberTable,
    both_ends,
    interval_of,
    number_cell,
    pvalue_cell,
)
from cocensor.views.html.figures import series
from cocensor.views.text.digits import decimals
from cocensor.views.text.names import family_name, listed

_N_TIMES = 5
# Of more pairs, those with the leading model are shown first, and all others on demand.
_FEW_PAIRS = 6
# More than at least where a standard error would have fewer than two, or an end would seem to be 0.
_DIGITS, _MOST_DIGITS = 4, 8
_PAIR_HEAD = ("model", "less", "difference", "interval", "p", "adjusted p")


# --- scores ---------------------------------------------------------------------------------------------


def summary_table(evaluation: Evaluation) -> NumberTable:
    """The scores of the models by every metric, with the true ones where they are known."""
    level = evaluation.data.confidence_level
    rows = []
    for metric in evaluation.data.metrics:
        best = standing(evaluation, metric.name).best
        cells = []
        for model in evaluation.models:
            score = evaluation.score(model, metric.name)
            cell = number_cell(score.value, model in best, interval=interval_of(score, level))
            cells.append(replace(cell, beside=_truth(evaluation, metric, model)))
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
        scores: dict[str, list[float]] = {model: [] for model in evaluation.models}
        for family, answers in grid.answers[grid.primary].items():
            for tau in answers:
                for model, value in grid.values(family, tau, metric.name).items():
                    scores[model].append(value)
        cells = [NumberCell(_span(values)) for values in scores.values()]
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
    leaders = sensitivity.over_tau.leaders(metric.name)
    points = [models for line in leaders.values() for models in line.values()]
    if not any(points):
        return MISSING
    letters = {model["name"]: model["letter"] for model in series(sensitivity.evaluation)}
    counts = Counter(letters[model] for models in points for model in models)
    if set(counts.values()) == {len(points)}:
        return f"always {listed([*counts])}"
    (first, most), *others = counts.most_common()
    return ", ".join(
        [f"{first} at {most} of {len(points)} points", *(f"{other} at {n}" for other, n in others)]
    )


def score_tables(evaluation: Evaluation) -> list[NumberTable]:
    """For every metric, models by adjustments: score, skill and rank, with the reference in the last row.

    In the last column are the true scores, where they are known.
    """
    truth = () if evaluation.truth is None else (evaluation.truth,)
    columns = (*evaluation.results.values(), *truth)
    tables = []
    for metric in evaluation.data.metrics:
        cells = [_scores(evaluation, metric.name, name) for name in evaluation.results]
        cells += [_true_scores(evaluation, scores, metric) for scores in truth]
        rows = [
            NumberRow((model,), list(row))
            for model, row in zip(evaluation.models, zip(*cells, strict=True), strict=True)
        ]
        bases = [scores.reference.get(metric.name) for scores in columns]
        reference = [number_cell(None if base is None else base.value) for base in bases]
        rows.append(NumberRow(("Kaplan–Meier, the same for all",), reference))
        head = ("model", *(scores.label for scores in columns))
        tables.append(NumberTable(_head(metric), head, rows, metric=metric.name))
    return tables


def _scores(evaluation: Evaluation, metric: str, adjustment: str) -> list[NumberCell]:
    """The scores of all models, with rank and skill."""
    order = standing(evaluation, metric, adjustment)
    cells = []
    for model in evaluation.models:
        score = evaluation.score(model, metric, adjustment)
        if np.isnan(score.value):
            cells.append(NumberCell(MISSING))
            continue
        beside = [f"rank {order.ranks[model]}"] if model in order.ranks else []
        beside += _skill(np.nan if score.skill is None else score.skill.value)
        interval = interval_of(score, evaluation.data.confidence_level)
        text = f"{score.value:z.4f}"
        cells.append(NumberCell(text, score.value, ", ".join(beside), model in order.best, interval))
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


# --- differences ----------------------------------------------------------------------------------------


def difference_tables(evaluation: Evaluation) -> list[dict[str, Any]]:
    """For every metric the differences of the models from the leading one under the primary adjustment.

    On the ``side`` of 0 the ``leader`` is better; of many models, ``all_pairs`` stand apart by the first metric. Empty
    without intervals.
    """
    level = evaluation.data.confidence_level
    if level is None:
        return []
    tables = []
    for metric in evaluation.data.metrics:
        pairs = pairs_of(evaluation, metric)
        ranked = standing(evaluation, metric.name).ranks
        if not pairs or not ranked:
            continue
        leader = min(ranked, key=lambda model: ranked[model])
        few = len(pairs) <= _FEW_PAIRS
        shown = [pair for pair in pairs if few or leader in (pair.a, pair.b)]
        label = evaluation.results[evaluation.primary].label
        caption = f"{metric.label} by “{label}”, {metric.direction} is better"
        every = None
        if not few and metric is evaluation.data.metrics[0]:
            rows = [_pair_row(pair, None, level) for pair in pairs]
            every = NumberTable(f"all pairs, {caption}", _PAIR_HEAD, rows)
        rows = [_pair_row(pair, leader, level) for pair in shown]
        tables.append(
            {
                "leader": leader,
                "side": "right" if metric.direction == "smaller" else "left",
                "table": NumberTable(caption, _PAIR_HEAD, rows, metric=metric.name),
                "all_pairs": every,
            }
        )
    return tables


def _pair_row(pair: Comparison, leader: str | None, level: float) -> NumberRow:
    """A pair; the leading model is what is subtracted."""
    low, high = pair.confidence_interval(level)
    names, difference = (pair.a, pair.b), pair.difference
    if pair.a == leader:
        names, difference, low, high = (pair.b, pair.a), -difference, -high, -low
    digits = max(_DIGITS, decimals(pair.standard_error))
    while digits < _MOST_DIGITS and any(end and round(end, digits) == 0 for end in (low, high)):
        digits += 1
    interval = both_ends(low, high, digits, "+") or MISSING
    cells = [
        NumberCell(MISSING)
        if np.isnan(difference)
        else NumberCell(f"{difference:+z.{digits}f}", difference + 0.0),
        NumberCell(interval, beside="" if pair.missing is None else pair.missing),
        pvalue_cell(pair.pvalue),
        pvalue_cell(pair.adjusted_pvalue),
    ]
    return NumberRow(names, cells)


# --- curves ---------------------------------------------------------------------------------------------


def curve_tables(report: Report) -> list[NumberTable]:
    """For every metric that has values over time, those at a few of the times, by adjustment and model."""
    evaluation, axis = report.evaluation, report.evaluation.data.time_axis
    times = evaluation.data.times
    order = np.argsort(times)
    shown = order[np.unique(np.linspace(0, order.size - 1, _N_TIMES).astype(int))]
    tables = []
    for metric in evaluation.data.metrics:
        if metric.curve_label is None:
            continue
        rows = []
        for scores in evaluation.results.values():
            errors = report.curves.get((metric.name, scores.name))
            for model, value in scores.values[metric.name].items():
                if value.curve is not None:
                    intervals = intervals_along(errors, model, evaluation.data.confidence_level)
                    cells = [number_cell(float(value.curve[k]), interval=intervals.get(k, "")) for k in shown]
                    rows.append(NumberRow((scores.label, model), cells))
        head = ("adjustment", "model", *(_time_head(axis, times[k]) for k in shown))
        tables.append(NumberTable(f"{metric.curve_label} at single times", head, rows))
    return tables


def intervals_along(errors: CurveErrors | None, model: str, level: float | None) -> Mapping[int, str]:
    """The intervals of the values along a curve by place; empty where they were not computed."""
    if errors is None or level is None or model in errors.missing or model not in errors.values:
        return {}
    limits = errors.of(model).confidence_intervals(level)
    return {k: both_ends(*ends) for k, ends in enumerate(zip(*limits, strict=True))}


def survival_table(curves: MarginCurves | None, axis: TimeAxis) -> NumberTable | None:
    """The survival curves at a few times."""
    if curves is None:
        return None
    shown = np.linspace(0, curves.times.size - 1, _N_TIMES).astype(int)
    lines: list[tuple[tuple[str, ...], FloatArray]] = [(("Kaplan–Meier", MISSING), curves.kaplan_meier)]
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
            NumberRow(
                (f"{tau:g}",), [number_cell(by_tau.get(tau), digits=1) for by_tau in by_family.values()]
            )
            for tau in sorted(set().union(*by_family.values()))
        ],
    )


def _time_head(axis: TimeAxis, t: float) -> str:
    """A time as the heading of a column."""
    return f"t = {axis.said(t)}"


# --- the fit of the imputation model --------------------------------------------------------------------


def fit_maps(fit: ImputationFit | None, models: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Observed over expected events and dropouts by model, the one with most misfit first.

    By kind and period, each decile of the model's score has its ratio, the numbers behind it, and whether the interval
    of the ratio leaves 1 out. ``models`` say how they look.
    """
    if fit is None:
        return []
    maps = []
    for model in sorted(models, key=lambda model: model["name"] != fit.worst):
        if model["name"] in fit.cells:
            by_kind = fit.cells[model["name"]]
            ends = [f"to {shown_time(end)}" for end in fit.periods]
            kinds = {f"{kind}s": [*zip(ends, _ratios(cells), strict=True)] for kind, cells in by_kind.items()}
            maps.append({"model": model, "n_groups": len(by_kind["event"].expected), "kinds": kinds})
    return maps


def _ratios(cells: FitCells) -> list[list[tuple[str, str, bool]]]:
    """By period, and in each by decile."""
    low, high = cells.interval()

    def ratio(at: tuple[int, int]) -> tuple[str, str, bool]:
        text = f"{cells.observed[at]} observed, {cells.expected[at]:.1f} expected"
        if not cells.shown[at]:
            return MISSING, text, False
        text += f"; 95 % interval of the ratio {low[at]:.2f} to {high[at]:.2f}"
        value = cells.ratio[at]
        return f"{value:.2f}" if value < 9.995 else f"{value:.0f}", text, not low[at] <= 1 <= high[at]

    n_groups, n_periods = cells.expected.shape
    return [[ratio((g, p)) for g in range(n_groups)] for p in range(n_periods)]
