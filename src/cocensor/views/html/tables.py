"""Every number that a figure shows, in tables; their ``numbers`` are those of :meth:`Report.to_dict`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cocensor.data.times import TimeAxis, shown_time
from cocensor.inference.comparisons import Comparison
from cocensor.metrics import CalibrationCurve, Metric
from cocensor.metrics.base import time_in_label
from cocensor.study.evaluation import Evaluation
from cocensor.study.imputation_fit import FitCells, ImputationFit
from cocensor.study.ranking import standing
from cocensor.study.sensitivity import Sensitivity
from cocensor.study.tables import pairs_of
from cocensor.views.text.digits import decimals
from cocensor.views.text.names import listed

MISSING = "–"
_N_TIMES = 5
# Of more pairs, those with the leading model are shown first, and all others on demand.
_FEW_PAIRS = 6
# More than at least where a standard error would have fewer than two, or an end would seem to be 0.
_DIGITS, _MOST_DIGITS = 4, 8
_PAIR_HEAD = ("model", "minus", "difference", "interval", "p", "adjusted p")
_SINGLE_TIME_SECTIONS = ("discrimination", "calibration", "benefit")
# Of a curve behind a value: so many of its points, or all where they are hardly more.
_SHOWN, _FEW = 5, 12


@dataclass(frozen=True)
class NumberCell:
    """A shown number with its full value, its interval in words, and what else is said beside it."""

    text: str
    value: float | None = None
    beside: str = ""
    best: bool = False
    interval: str = ""


class NumberRow(NamedTuple):
    """One row: its heading, in one or two parts, and its cells."""

    head: tuple[str, ...]
    cells: list[NumberCell]


@dataclass(frozen=True)
class NumberTable:
    """A table of numbers; ``head`` has the headings of the rows' headings first."""

    caption: str
    head: tuple[str, ...]
    rows: list[NumberRow]
    notes: tuple[str, ...] = ()
    metric: str = ""
    adjustment: str = ""

    def spec(self) -> dict[str, Any]:
        """The parts from which the page's script makes the table."""
        rows = [
            {"head": head, "cells": [(cell.text, cell.interval, cell.beside, cell.best) for cell in cells]}
            for head, cells in self.rows
        ]
        return {"caption": self.caption, "head": self.head, "notes": self.notes, "rows": rows}


def number_cell(
    value: float | None,
    best: bool = False,
    digits: int = 4,
    interval: str = "",
    beside: str = "",
    sign: str = "",
) -> NumberCell:
    """A number with so many decimals."""
    if value is None or np.isnan(value):
        return NumberCell(MISSING, beside=beside)
    return NumberCell(f"{value:{sign}z.{digits}f}", value + 0.0, beside, best, interval)


def both_ends(low: float | None, high: float | None, digits: int = 4, sign: str = "") -> str:
    """The two ends of an interval, or nothing where there are none."""
    if low is None or high is None or np.isnan(low) or np.isnan(high):
        return ""
    return f"{low:{sign}z.{digits}f} to {high:{sign}z.{digits}f}"


def _interval_at(limits: Mapping[str, Any] | None, k: int) -> str:
    """The interval of one value along a curve, or nothing where it was not computed."""
    return "" if limits is None else both_ends(limits["low"][k], limits["high"][k])


def _pvalue_cell(value: float | None) -> NumberCell:
    if value is None or np.isnan(value):
        return NumberCell(MISSING)
    return NumberCell("< 0.001" if value < 0.001 else f"{value:.3f}", value)


def _labels(numbers: Mapping[str, Any]) -> dict[str, str]:
    """The labels of adjustments by their names."""
    return {adjustment["name"]: adjustment["label"] for adjustment in numbers["adjustments"]}


# --- scores ---------------------------------------------------------------------------------------------


def summary_table(numbers: Mapping[str, Any]) -> NumberTable:
    """The scores of the models by every metric, with the true ones where they are known."""
    names, primary = [model["name"] for model in numbers["models"]], numbers["primary"]
    rows = []
    for metric in numbers["metrics"]:
        true = numbers.get("truth", {}).get(metric["name"], {})
        beside = {model: f"truth {true[model]:z.4f}" if model in true else "" for model in names}
        cells = [_score_cell(metric, primary, model, beside[model]) for model in names]
        rows.append(NumberRow((_head(metric),), cells))
    return NumberTable(f"all metrics under “{_labels(numbers)[primary]}”", ("metric", *names), rows)


def score_tables(numbers: Mapping[str, Any], evaluation: Evaluation) -> list[NumberTable]:
    """For every metric, models by adjustments: score, skill and rank; last the reference, and true scores if known."""
    labels, truth = _labels(numbers), evaluation.truth
    heads = ("model", *labels.values(), *([] if truth is None else [truth.label]))
    tables = []
    for metric, by in zip(evaluation.data.metrics, numbers["metrics"], strict=True):
        cells = {model: [_score_cell(by, name, model) for name in labels] for model in evaluation.models}
        bases = [number_cell(by["reference"].get(name)) for name in labels]
        if truth is not None:
            base = truth.reference.get(metric.name)
            bases.append(number_cell(None if base is None else base.value))
            for model, row in cells.items():
                value = truth.value(metric.name, model)
                skill = None if base is None else metric.skill(value, base.value)
                row.append(number_cell(value, beside=_skill(skill)))
        rows = [NumberRow((model,), row) for model, row in cells.items()]
        rows.append(NumberRow(("Kaplan–Meier, the same for all",), bases))
        tables.append(NumberTable(_head(by), heads, rows, metric=metric.name))
    return tables


def _head(metric: Mapping[str, Any]) -> str:
    return f"{metric['label']} ({metric['direction']} is better)"


def _score_cell(by: Mapping[str, Any], adjustment: str, model: str, beside: str | None = None) -> NumberCell:
    """A score with its interval, whether it may be the best, and ``beside`` it by default its rank and skill."""
    parts = ("scores", "intervals", "ranks", "skill")
    score, ends, rank, skill = (by.get(part, {}).get(adjustment, {}).get(model) for part in parts)
    if beside is None:
        beside = ", ".join(filter(None, ["" if rank is None else f"rank {rank}", _skill(skill)]))
    best = model in by["best"].get(adjustment, ())
    return number_cell(score, best, interval=both_ends(*ends) if ends else "", beside=beside)


def _skill(skill: float | None) -> str:
    return "" if skill is None or np.isnan(skill) else f"skill {100 * skill:+.1f}\u00a0%"


def range_table(sensitivity: Sensitivity, letters: Mapping[str, str]) -> NumberTable:
    """The smallest and largest scores over all families and τ, and the best model at each point, by letters."""
    evaluation, grid = sensitivity.evaluation, sensitivity.over_tau
    points = [(family, tau) for family, answers in grid.answers[grid.primary].items() for tau in answers]
    rows = []
    for metric in evaluation.data.metrics:
        scores = [grid.values(*point, metric.name) for point in points]
        cells = []
        for model in evaluation.models:
            own = [values[model] for values in scores if model in values]
            cells.append(NumberCell(both_ends(min(own), max(own)) if own else MISSING))
        cells.append(NumberCell(_leaders(sensitivity, metric, letters)))
        rows.append(NumberRow((f"{metric.label} ({metric.direction} is better)",), cells))
    label = evaluation.results[grid.primary].label
    caption = f"the same over all families and τ under “{label}”: smallest to largest score"
    return NumberTable(caption, ("metric", *evaluation.models, "best score"), rows)


def _leaders(sensitivity: Sensitivity, metric: Metric, letters: Mapping[str, str]) -> str:
    """The models with the best score, with the number of points of the grid where they have it."""
    leaders = sensitivity.over_tau.leaders(metric.name)
    points = [models for line in leaders.values() for models in line.values()]
    counts = Counter(letters[model] for models in points for model in models)
    if not counts:
        return MISSING
    if set(counts.values()) == {len(points)}:
        return f"always {listed([*counts])}"
    (first, most), *rest = counts.most_common()
    return ", ".join([f"{first} at {most} of {len(points)} points", *(f"{name} at {n}" for name, n in rest)])


# --- differences ----------------------------------------------------------------------------------------


def difference_tables(evaluation: Evaluation) -> list[dict[str, Any]]:
    """For every metric the differences of the models from the one that leads; empty without intervals."""
    level = evaluation.data.confidence_level
    if level is None:
        return []
    tables = []
    for metric in evaluation.data.metrics:
        pairs, ranks = pairs_of(evaluation, metric), standing(evaluation, metric.name).ranks
        if not pairs or not ranks:
            continue
        leader, few = min(ranks, key=ranks.__getitem__), len(pairs) <= _FEW_PAIRS
        label = evaluation.results[evaluation.primary].label
        caption, all_pairs = f"{metric.label} by “{label}”, {metric.direction} is better", None
        if not few and metric is evaluation.data.metrics[0]:  # they stand apart
            rows = [_pair_row(pair, None, level) for pair in pairs]
            all_pairs = NumberTable(f"all pairs, {caption}", _PAIR_HEAD, rows)
        rows = [_pair_row(pair, leader, level) for pair in pairs if few or leader in (pair.a, pair.b)]
        table = NumberTable(caption, _PAIR_HEAD, rows, metric=metric.name)
        side = "right" if metric.direction == "lower" else "left"  # of 0, where the leader is better
        tables.append({"leader": leader, "side": side, "table": table, "all_pairs": all_pairs})
    return tables


def _pair_row(pair: Comparison, leader: str | None, level: float) -> NumberRow:
    """A pair; the leading model is what is subtracted."""
    names, difference, (low, high) = (pair.a, pair.b), pair.difference, pair.confidence_interval(level)
    if pair.a == leader:
        names, difference, low, high = (pair.b, pair.a), -difference, -high, -low
    digits = max(_DIGITS, decimals(pair.standard_error))
    while digits < _MOST_DIGITS and any(end and round(end, digits) == 0 for end in (low, high)):
        digits += 1
    cells = [
        number_cell(difference, digits=digits, sign="+"),
        NumberCell(both_ends(low, high, digits, "+") or MISSING, beside=pair.missing or ""),
        _pvalue_cell(pair.pvalue),
        _pvalue_cell(pair.adjusted_pvalue),
    ]
    return NumberRow(names, cells)


# --- curves ---------------------------------------------------------------------------------------------


def curve_tables(numbers: Mapping[str, Any], axis: TimeAxis) -> list[NumberTable]:
    """For every metric that has values over time, those at a few of the times, by adjustment and model."""
    labels, tables = _labels(numbers), []
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
                cells = [number_cell(curve[k], interval=_interval_at(errors.get(model), k)) for k in shown]
                rows.append(NumberRow((labels[name], model), cells))
        head = ("adjustment", "model", *(f"t = {axis.said(times[k])}" for k in shown))
        tables.append(NumberTable(f"{metric['curve_label']} at single times", head, rows))
    return tables


def survival_table(survival: Mapping[str, Any], axis: TimeAxis) -> NumberTable:
    """The survival curves at a few times."""
    times = survival["times"]
    shown = np.linspace(0, len(times) - 1, _N_TIMES).astype(int).tolist()
    lines = [(("Kaplan–Meier", MISSING), survival["kaplan_meier"])]
    lines += [
        ((family.capitalize(), f"{tau:g}"), values)
        for family, curves in survival["copula_graphic"].items()
        for tau, values in zip(survival["taus"], curves, strict=True)
    ]
    rows = [NumberRow(head, [number_cell(values[k]) for k in shown]) for head, values in lines]
    head = ("curve", "τ", *(f"t = {axis.said(times[k])}" for k in shown))
    return NumberTable(f"Survival probability, {survival['sample']} sample", head, rows)


def likelihood_table(profile: Mapping[str, Any]) -> NumberTable:
    """The profile log-likelihood minus its maximum, by family along τ."""
    families = profile["families"]
    curves = [dict(zip(curve["taus"], curve["difference"], strict=True)) for curve in families.values()]
    rows = [
        NumberRow((f"{tau:g}",), [number_cell(curve.get(tau), digits=1) for curve in curves])
        for tau in sorted(set().union(*curves))
    ]
    head = ("τ", *map(str.capitalize, families))
    return NumberTable("Profile log-likelihood minus its maximum", head, rows)


# --- discrimination, calibration and benefit ------------------------------------------------------------


def single_time_sections(numbers: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """By name the sections: whether it has metrics, what was computed in full, and the curves behind values."""
    sections = {}
    for name in _SINGLE_TIME_SECTIONS:
        metrics = [metric for metric in numbers["metrics"] if metric["kind"] == name]
        sections[name] = {
            "shown": bool(metrics),
            "levels": any(metric["profile_style"] == "levels" for metric in metrics),
            "summaries": _calibration_tables(numbers) if name == "calibration" else [],
            "curves": [table for metric in metrics if (table := _profile_table(numbers, metric)).rows],
        }
    return sections


def single_times(evaluation: Evaluation) -> list[tuple[str, str]]:
    """The times that the sections show, as the script and as the page write them; '' for the horizon."""
    metrics = [metric for metric in evaluation.data.metrics if metric.kind in _SINGLE_TIME_SECTIONS]
    times = sorted({metric.at for metric in metrics if metric.at is not None})
    shown = [(repr(at), time_in_label(at, evaluation.data.time_axis.unit)) for at in times]
    if any(metric.at is None and metric.single_times == "only" for metric in metrics):
        shown.append(("", evaluation.data.time_axis.said(evaluation.data.horizon.time)))
    return shown


def _calibration_tables(numbers: Mapping[str, Any]) -> list[NumberTable]:
    """By adjustment what calibration curves say in single numbers, and the tests of D-calibration."""
    details, labels = numbers["details"], _labels(numbers)
    head: tuple[str, ...] = ("time", "model", *CalibrationCurve.summaries.values())
    tables: dict[tuple[str, str], NumberTable] = {}
    for curve in sorted(details["calibration"], key=lambda curve: curve["time"]):
        cells = [
            number_cell(summary["value"], digits=3, interval=both_ends(summary["low"], summary["high"], 3))
            for summary in map(curve.get, CalibrationCurve.summaries)
        ]
        name, at = curve["adjustment"], f"at {time_in_label(curve['time'], numbers['time']['unit'])}"
        table = NumberTable(f"calibration under “{labels[name]}”", head, [])
        tables.setdefault(("curve", name), table).rows.append(NumberRow((at, curve["model"]), cells))
    head = ("model", "χ²", "degrees of freedom", "p")
    for test in details["d_calibration"]:
        pvalue = _pvalue_cell(test["pvalue"])
        cells = [number_cell(test["statistic"], digits=1), NumberCell(f"{test['df']}"), pvalue]
        if test["missing"] is not None:
            cells = [NumberCell(MISSING, beside=test["missing"]), NumberCell(MISSING), NumberCell(MISSING)]
        name = test["adjustment"]
        table = NumberTable(f"test of D-calibration under “{labels[name]}”", head, [])
        tables.setdefault(("test", name), table).rows.append(NumberRow((test["model"],), cells))
    return list(tables.values())


def _profile_table(numbers: Mapping[str, Any], metric: Mapping[str, Any]) -> NumberTable:
    """The curves behind the values of a metric at a few points, with intervals where these were computed."""
    labels, rows = _labels(numbers), []
    for name, profiles in metric["profiles"].items():
        errors = metric.get("profile_errors", {}).get(name, {})
        for model, profile in profiles.items():
            x, y = profile["x"], profile["y"]
            shown = list(range(len(x)))
            if len(x) > _FEW:
                shown = np.linspace(0, len(x) - 1, _SHOWN + 2).round().astype(int)[1:-1].tolist()
            cells = [
                number_cell(y[k], interval=_interval_at(errors.get(model), k), beside=f"at {x[k]:.3g}")
                for k in shown
            ]
            rows.append(NumberRow((labels[name], model), cells))
    across, up = metric["profile_labels"] or ("", "")
    widest = max((len(row.cells) for row in rows), default=0)
    head = ("adjustment", "model", *[""] * widest)
    return NumberTable(f"{metric['label']}: {up}, by {across}", head, rows, metric=metric["name"])


# --- the fit of the imputation model --------------------------------------------------------------------


def fit_maps(fit: ImputationFit, models: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Observed over expected events and dropouts by model, that with most misfit first; ``models`` has their looks."""
    maps = []
    for model in sorted(models, key=lambda model: model["name"] != fit.worst):
        if model["name"] in fit.cells:
            by_kind = fit.cells[model["name"]]
            ends = [f"to {shown_time(end)}" for end in fit.periods]
            kinds = {f"{kind}s": [*zip(ends, _ratios(cells), strict=True)] for kind, cells in by_kind.items()}
            maps.append({"model": model, "n_groups": len(by_kind["event"].expected), "kinds": kinds})
    return maps


def _ratios(cells: FitCells) -> list[list[tuple[str, str, bool]]]:
    """By period and decile the ratio, the numbers behind it, and whether its interval leaves 1 out."""
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
