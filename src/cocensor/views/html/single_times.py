"""The sections on discrimination, calibration and benefit: values at single times, and the curves behind them."""

from __future__ import annotations

from typing import Any

import numpy as np

from cocensor.metrics import Metric
from cocensor.metrics.single_time import time_in_label
from cocensor.study.evaluation import Evaluation
from cocensor.study.report import Report
from cocensor.views.html.cells import (
    MISSING,
    NumberCell,
    NumberRow,
    NumberTable,
    both_ends,
    number_cell,
    pvalue_cell,
)
from cocensor.views.html.tables import intervals_along
from cocensor.views.numbers.details import summaries

_FAMILIES = {
    "discrimination": ("auc", "concordance", "discrimination"),
    "calibration": ("ici", "e50", "e90", "miscalibration", "d_calibration"),
    "benefit": ("net_benefit",),
}
_MISSING = {
    "discrimination": 'No metric here measures how well models order subjects: give metrics=[..., "auc", '
    '"concordance"], at=[...] to evaluate.',
    "calibration": 'No metric here measures the calibration of predicted risks: give metrics=[..., "ici"], at=[...] to '
    "evaluate.",
    "benefit": 'No metric here measures the benefit of decisions: give metrics=[..., cc.metric("net_benefit", '
    "threshold=0.2)], at=[...] to evaluate, with the risk at which one would treat.",
}
_CALL = "are not shown: full() of the evaluation has them"
_SUMMARIES = (
    "mean predicted",
    "observed",
    "observed over expected",
    "slope",
    "intercept",
    "ICI",
    "E50",
    "E90",
)
# Of a curve in a table: so many of its points, or all where they are hardly more.
_SHOWN, _FEW = 5, 12


def single_time_sections(report: Report) -> dict[str, dict[str, Any]]:
    """The three sections by name.

    ``families`` are the names, without times, of the metrics that a section is about, none where it is absent, and
    ``missing`` names the call that fills it; ``summaries`` are what was computed in full, ``absent`` names the calls
    of what was not; ``curves`` are those behind the values.
    """
    bands = () if report.calibration else (f"Bands, slope and intercept {_CALL}.",)
    tests = () if report.d_calibration else (f"Tests of D-calibration {_CALL}.",)
    intervals = f"Intervals, and the net benefit of treating everybody, {_CALL}."
    absent = {"calibration": bands + tests, "benefit": () if report.decision_curves else (intervals,)}
    in_full = {"calibration": [*_calibration_tables(report), *_d_calibration_tables(report)]}
    sections = {}
    for name, families in _FAMILIES.items():
        metrics = [metric for metric in report.evaluation.data.metrics if metric.family in families]
        sections[name] = {
            "families": tuple(dict.fromkeys(metric.family for metric in metrics)),
            "missing": _MISSING[name],
            "absent": absent.get(name, ()),
            "summaries": in_full.get(name, []),
            "curves": [table for metric in metrics if (table := _curve_table(report, metric)).rows],
        }
    return sections


def single_times(evaluation: Evaluation) -> list[tuple[str, str]]:
    """The times that the sections show, as the script and as the page write them; '' for the horizon."""
    families = {family for section in _FAMILIES.values() for family in section}
    metrics = [metric for metric in evaluation.data.metrics if metric.family in families]
    times = sorted({metric.at for metric in metrics if metric.at is not None})
    shown = [(repr(at), time_in_label(at, evaluation.data.time_axis.unit)) for at in times]
    if any(metric.at is None and metric.single_times == "only" for metric in metrics):
        shown.append(("", evaluation.data.time_axis.said(evaluation.data.horizon.time)))
    return shown


def _calibration_tables(report: Report) -> list[NumberTable]:
    """By adjustment what calibration curves say in single numbers."""
    evaluation = report.evaluation
    rows: dict[str, list[NumberRow]] = {}
    for (adjustment, model, _), curve in sorted(report.calibration.items(), key=lambda item: item[1].time):
        cells = [
            number_cell(estimate.value, digits=3, interval=both_ends(*ends, digits=3))
            for estimate, ends in summaries(curve).values()
        ]
        at = f"at {time_in_label(curve.time, evaluation.data.time_axis.unit)}"
        rows.setdefault(adjustment, []).append(NumberRow((at, model), cells))
    head = ("time", "model", *_SUMMARIES)
    return _by_adjustment(report, rows, "calibration", head)


def _d_calibration_tables(report: Report) -> list[NumberTable]:
    """By adjustment the tests of D-calibration."""
    rows: dict[str, list[NumberRow]] = {}
    for (adjustment, model), test in report.d_calibration.items():
        cells = [number_cell(test.statistic, digits=1), NumberCell(f"{test.df}"), pvalue_cell(test.pvalue)]
        if test.missing is not None:
            cells = [NumberCell(MISSING, beside=test.missing), NumberCell(MISSING), NumberCell(MISSING)]
        rows.setdefault(adjustment, []).append(NumberRow((model,), cells))
    return _by_adjustment(report, rows, "test of D-calibration", ("model", "χ²", "degrees of freedom", "p"))


def _by_adjustment(
    report: Report, rows: dict[str, list[NumberRow]], caption: str, head: tuple[str, ...]
) -> list[NumberTable]:
    labels = {name: scores.label for name, scores in report.evaluation.results.items()}
    return [NumberTable(f"{caption} under “{labels[name]}”", head, own) for name, own in rows.items()]


def _curve_table(report: Report, metric: Metric) -> NumberTable:
    """The curves behind the values of a metric at a few points, with intervals where these were computed."""
    level = report.evaluation.data.confidence_level
    rows = []
    for name, scores in report.evaluation.results.items():
        errors = report.profiles.get((metric.name, name))
        for model, value in scores.values[metric.name].items():
            if value.profile is None:
                continue
            x, y = value.profile
            shown = list(range(x.size))
            if x.size > _FEW:
                shown = np.linspace(0, x.size - 1, _SHOWN + 2).round().astype(int)[1:-1].tolist()
            intervals = intervals_along(errors, model, level)
            cells = [
                NumberCell(f"{y[k]:.4f}", float(y[k]), f"at {x[k]:.3g}", interval=intervals.get(k, ""))
                for k in shown
            ]
            rows.append(NumberRow((scores.label, model), cells))
    across, up = metric.profile_labels or ("", "")
    widest = max((len(row.cells) for row in rows), default=0)
    head = ("adjustment", "model", *[""] * widest)
    return NumberTable(f"{metric.label}: {up}, by {across}", head, rows, metric=metric.name)
