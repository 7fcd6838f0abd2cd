"""The sections on discrimination, calibration and benefit: values at single times, and the curves behind them."""

from __future__ import annotations

from dataclasses import dataclass

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
from cocensor.views.numbers.details import summaries

_SECTIONS = {
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
# By section, what comes from calls of their own.
_ABSENT: dict[str, dict[str, str]] = {
    "discrimination": {},
    "calibration": {
        "calibration": f"Bands, slope and intercept {_CALL}.",
        "d_calibration": f"Tests of D-calibration {_CALL}.",
    },
    "benefit": {"decision_curves": f"Intervals, and the net benefit of treating everybody, {_CALL}."},
}
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


@dataclass(frozen=True)
class BehindSection:
    """What a section shows.

    Attributes
    ----------
    families : tuple of str
        Names, without times, of the metrics that it is about; none where the section is absent.
    missing : str
        Which call fills it.
    absent : tuple of str
        What it could show beside, and which calls compute it.
    summaries : list of NumberTable
        What was computed in full.
    curves : list of NumberTable
        The curves behind the values.
    """

    families: tuple[str, ...]
    missing: str
    absent: tuple[str, ...]
    summaries: list[NumberTable]
    curves: list[NumberTable]


def behind_sections(report: Report) -> dict[str, BehindSection]:
    """The three sections by name."""
    evaluation = report.evaluation
    handed = {
        "calibration": report.calibration,
        "d_calibration": report.d_calibration,
        "decision_curves": report.decision_curves,
    }
    in_full: dict[str, list[NumberTable]] = {
        "discrimination": [],
        "calibration": [*_calibration_tables(report), *_d_calibration_tables(report)],
        "benefit": [],
    }
    found = {}
    for name, families in _SECTIONS.items():
        metrics = [each for each in evaluation.data.metrics if each.family in families]
        found[name] = BehindSection(
            tuple(dict.fromkeys(each.family for each in metrics)),
            _MISSING[name],
            tuple(text for kind, text in _ABSENT[name].items() if not handed[kind]),
            in_full[name],
            [table for each in metrics if (table := _curve_table(report, each)).rows],
        )
    return found


def _calibration_tables(report: Report) -> list[NumberTable]:
    """By adjustment what calibration curves say in single numbers."""
    evaluation = report.evaluation
    rows: dict[str, list[tuple[float, NumberRow]]] = {}
    for (adjustment, model, _), curve in report.calibration.items():
        cells = [
            number_cell(each.value, digits=3, interval=both_ends(*ends, digits=3))
            for each, ends in summaries(curve).values()
        ]
        row = NumberRow((f"at {time_in_label(curve.time, evaluation.data.time_axis.unit)}", model), cells)
        rows.setdefault(adjustment, []).append((curve.time, row))
    return [
        NumberTable(
            f"calibration under “{evaluation.results[name].label}”",
            ("time", "model", *_SUMMARIES),
            [row for _, row in sorted(found, key=lambda each: each[0])],
        )
        for name, found in rows.items()
    ]


def _d_calibration_tables(report: Report) -> list[NumberTable]:
    """By adjustment the tests of D-calibration."""
    rows: dict[str, list[NumberRow]] = {}
    for (adjustment, model), found in report.d_calibration.items():
        cells = [number_cell(found.statistic, digits=1), NumberCell(f"{found.df}"), pvalue_cell(found.pvalue)]
        if found.missing is not None:
            cells = [NumberCell(MISSING, beside=found.missing), NumberCell(MISSING), NumberCell(MISSING)]
        rows.setdefault(adjustment, []).append(NumberRow((model,), cells))
    return [
        NumberTable(
            f"test of D-calibration under “{report.evaluation.results[name].label}”",
            ("model", "χ²", "degrees of freedom", "p"),
            found,
        )
        for name, found in rows.items()
    ]


def single_times(evaluation: Evaluation) -> list[tuple[str, str]]:
    """The times that the sections show, as the script knows them and as they are said; '' for the horizon."""
    families = {family for each in _SECTIONS.values() for family in each}
    metrics = [each for each in evaluation.data.metrics if each.family in families]
    times = sorted({each.at for each in metrics if each.at is not None})
    found = [(repr(at), time_in_label(at, evaluation.data.time_axis.unit)) for at in times]
    if any(each.at is None and each.single_times == "only" for each in metrics):
        found.append(("", evaluation.data.time_axis.said(evaluation.data.horizon.time)))
    return found


def _curve_table(report: Report, metric: Metric) -> NumberTable:
    """The curves behind the values of a metric at a few points, with intervals where these were computed."""
    rows = []
    for name, each in report.evaluation.results.items():
        for model, found in each.values[metric.name].items():
            if found.profile is None:
                continue
            x, y = found.profile
            shown = np.arange(x.size)
            if x.size > _FEW:
                shown = np.linspace(0, x.size - 1, _SHOWN + 2).round().astype(int)[1:-1]
            said = _intervals(report, metric.name, name, model)
            cells = [
                NumberCell(f"{y[k]:.4f}", float(y[k]), f"at {x[k]:.3g}", interval=said[k] if said else "")
                for k in shown
            ]
            rows.append(NumberRow((each.label, model), cells))
    across, up = metric.profile_labels or ("", "")
    widest = max((len(row.cells) for row in rows), default=0)
    return NumberTable(
        f"{metric.label}: {up}, by {across}",
        ("adjustment", "model", *[""] * widest),
        rows,
        metric=metric.name,
    )


def _intervals(report: Report, metric: str, adjustment: str, model: str) -> list[str]:
    errors, level = report.profiles.get((metric, adjustment)), report.evaluation.data.confidence_level
    if errors is None or level is None or model in errors.missing or model not in errors.values:
        return []
    low, high = errors.of(model).confidence_intervals(level)
    return [both_ends(*ends) for ends in zip(low, high, strict=True)]
