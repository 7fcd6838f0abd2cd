"""The tables of the report: every number that a figure shows, for readers without scripts and for paper.

``numbers`` are those of :meth:`Report.to_dict`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from cocensor.data.times import TimeAxis, shown_time
from cocensor.inference.comparisons import Comparison
from cocensor.metrics import Metric
from cocensor.study.evaluation import Evaluation
from cocensor.study.imputation_fit import FitCells, ImputationFit
from cocensor.study.ranking import standing
from cocensor.study.scores import AdjustmentScores
from cocensor.study.sensitivity import Sensitivity
from cocensor.study.tables import pairs_of
from cocensor.views.html.cells import (
    MISSING,
    NumberCell,
    NumberRow,
    NumberTable,
    both_ends,
    interval_at,
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


def summary_table(numbers: Mapping[str, Any]) -> NumberTable:
    """The scores of the models by every metric, with the true ones where they are known."""
    names, primary, truth = _names(numbers["models"]), numbers["primary"], numbers.get("truth", {})
    rows = []
    for metric in numbers["metrics"]:
        true = {model: f"truth {value:z.4f}" for model, value in truth.get(metric["name"], {}).items()}
        cells = [_score_cell(metric, primary, model, true.get(model, "")) for model in names]
        rows.append(NumberRow((_head(metric),), cells))
    [label] = (each["label"] for each in numbers["adjustments"] if each["name"] == primary)
    return NumberTable(f"all metrics under “{label}”", ("metric", *names), rows)


def score_tables(numbers: Mapping[str, Any], evaluation: Evaluation) -> list[NumberTable]:
    """For every metric, models by adjustments: score, skill and rank, with the reference in the last row.

    In the last column are the true scores, where they are known.
    """
    names, adjustments = _names(numbers["models"]), _names(numbers["adjustments"])
    truth = () if evaluation.truth is None else (evaluation.truth,)
    labels = [each["label"] for each in numbers["adjustments"]] + [scores.label for scores in truth]
    tables = []
    for metric, by in zip(evaluation.data.metrics, numbers["metrics"], strict=True):
        rows = [
            NumberRow(
                (model,),
                [_score_cell(by, name, model, _rank_and_skill(by, name, model)) for name in adjustments]
                + [_true_cell(scores, metric, model) for scores in truth],
            )
            for model in names
        ]
        bases = [by["reference"].get(name) for name in adjustments]
        bases += [base and base.value for scores in truth for base in [scores.reference.get(metric.name)]]
        rows.append(NumberRow(("Kaplan–Meier, the same for all",), [*map(number_cell, bases)]))
        tables.append(NumberTable(_head(by), ("model", *labels), rows, metric=metric.name))
    return tables


def _names(parts: list[dict[str, Any]]) -> list[str]:
    return [part["name"] for part in parts]


def _head(metric: Mapping[str, Any]) -> str:
    return f"{metric['label']} ({metric['direction']} is better)"


def _score_cell(metric: Mapping[str, Any], adjustment: str, model: str, beside: str) -> NumberCell:
    """A score with its interval, and whether it may be the best."""
    ends = metric.get("intervals", {}).get(adjustment, {}).get(model)
    best = model in metric["best"].get(adjustment, ())
    cell = number_cell(metric["scores"].get(adjustment, {}).get(model), best)
    return replace(cell, beside=beside, interval=both_ends(*ends) if ends else "")


def _rank_and_skill(metric: Mapping[str, Any], adjustment: str, model: str) -> str:
    rank = metric["ranks"].get(adjustment, {}).get(model)
    skill = metric["skill"].get(adjustment, {}).get(model)
    return ", ".join(([] if rank is None else [f"rank {rank}"]) + _skill(skill))


def _true_cell(truth: AdjustmentScores, metric: Metric, model: str) -> NumberCell:
    """The true score of a model, with its skill; nothing ranks by it."""
    value, base = truth.value(metric.name, model), truth.reference.get(metric.name)
    skill = None if base is None else metric.skill(value, base.value)
    return replace(number_cell(value), beside=", ".join(_skill(skill)))


def _skill(skill: float | None) -> list[str]:
    return [] if skill is None or np.isnan(skill) else [f"skill {100 * skill:+.1f}\u00a0%"]


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
        cells = [
            NumberCell(both_ends(min(values, default=None), max(values, default=None)) or MISSING)
            for values in scores.values()
        ]
        head = f"{metric.label} ({metric.direction} is better)"
        rows.append(NumberRow((head,), [*cells, NumberCell(_leaders(sensitivity, metric))]))
    label = evaluation.results[grid.primary].label
    caption = f"the same over all families and τ under “{label}”: smallest to largest score"
    return NumberTable(caption, ("metric", *evaluation.models, "best score"), rows)


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


def curve_tables(numbers: Mapping[str, Any], axis: TimeAxis) -> list[NumberTable]:
    """For every metric that has values over time, those at a few of the times, by adjustment and model."""
    labels = {each["name"]: each["label"] for each in numbers["adjustments"]}
    tables = []
    for metric in numbers["metrics"]:
        if metric["curve_label"] is None:
            continue
        times = metric["times"]
        order = np.argsort(times)
        shown = order[np.unique(np.linspace(0, order.size - 1, _N_TIMES).astype(int))].tolist()
        rows = []
        for name, curves in metric["curves"].items():
            errors = metric.get("curve_errors", {}).get(name, {})
            for model, curve in curves.items():
                cells = [number_cell(curve[k], interval=interval_at(errors.get(model), k)) for k in shown]
                rows.append(NumberRow((labels[name], model), cells))
        head = ("adjustment", "model", *(_time_head(axis, times[k]) for k in shown))
        tables.append(NumberTable(f"{metric['curve_label']} at single times", head, rows))
    return tables


def survival_table(survival: Mapping[str, Any] | None, axis: TimeAxis) -> NumberTable | None:
    """The survival curves at a few times."""
    if survival is None:
        return None
    times = survival["times"]
    shown = np.linspace(0, len(times) - 1, _N_TIMES).astype(int).tolist()
    lines = [(("Kaplan–Meier", MISSING), survival["kaplan_meier"])]
    lines += [
        ((family_name(family), f"{tau:g}"), values)
        for family, curves in survival["copula_graphic"].items()
        for tau, values in zip(survival["taus"], curves, strict=True)
    ]
    return NumberTable(
        f"Survival probability, {survival['sample']} sample",
        ("curve", "τ", *(_time_head(axis, times[k]) for k in shown)),
        [NumberRow(head, [number_cell(values[k]) for k in shown]) for head, values in lines],
    )


def likelihood_table(profile: Mapping[str, Any] | None) -> NumberTable | None:
    """The profile log-likelihood less its maximum, by family along τ."""
    if profile is None:
        return None
    families = profile["families"]
    curves = [dict(zip(curve["taus"], curve["difference"], strict=True)) for curve in families.values()]
    return NumberTable(
        "Profile log-likelihood less its maximum",
        ("τ", *map(family_name, families)),
        [
            NumberRow((f"{tau:g}",), [number_cell(curve.get(tau), digits=1) for curve in curves])
            for tau in sorted(set().union(*curves))
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
