"""The sections on discrimination, calibration and benefit: values at single times, and the curves behind them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from cocensor.metrics import CalibrationCurve
from cocensor.metrics.base import time_in_label
from cocensor.study.evaluation import Evaluation
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

_SECTIONS = ("discrimination", "calibration", "benefit")
# Of a curve in a table: so many of its points, or all where they are hardly more.
_SHOWN, _FEW = 5, 12


def single_time_sections(numbers: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The three sections by name, of the numbers of :meth:`Report.to_dict`.

    ``shown`` says whether there are metrics for a section, and ``levels`` whether values in cells lie behind one;
    ``summaries`` are what was computed in full, and ``curves`` those behind the values.
    """
    in_full = {"calibration": [*_calibration_tables(numbers), *_d_calibration_tables(numbers)]}
    sections = {}
    for name in _SECTIONS:
        metrics = [metric for metric in numbers["metrics"] if metric["kind"] == name]
        sections[name] = {
            "shown": bool(metrics),
            "levels": any(metric["profile_style"] == "levels" for metric in metrics),
            "summaries": in_full.get(name, []),
            "curves": [table for metric in metrics if (table := _curve_table(numbers, metric)).rows],
        }
    return sections


def single_times(evaluation: Evaluation) -> list[tuple[str, str]]:
    """The times that the sections show, as the script and as the page write them; '' for the horizon."""
    metrics = [metric for metric in evaluation.data.metrics if metric.kind in _SECTIONS]
    times = sorted({metric.at for metric in metrics if metric.at is not None})
    shown = [(repr(at), time_in_label(at, evaluation.data.time_axis.unit)) for at in times]
    if any(metric.at is None and metric.single_times == "only" for metric in metrics):
        shown.append(("", evaluation.data.time_axis.said(evaluation.data.horizon.time)))
    return shown


def _calibration_tables(numbers: Mapping[str, Any]) -> list[NumberTable]:
    """By adjustment what calibration curves say in single numbers."""
    rows: dict[str, list[NumberRow]] = {}
    for curve in sorted(numbers["details"]["calibration"], key=lambda curve: curve["time"]):
        summaries = [curve[name] for name in CalibrationCurve.summaries]
        cells = [
            number_cell(each["value"], digits=3, interval=both_ends(each["low"], each["high"], digits=3))
            for each in summaries
        ]
        at = f"at {time_in_label(curve['time'], numbers['time']['unit'])}"
        rows.setdefault(curve["adjustment"], []).append(NumberRow((at, curve["model"]), cells))
    return _by_adjustment(
        numbers, rows, "calibration", ("time", "model", *CalibrationCurve.summaries.values())
    )


def _d_calibration_tables(numbers: Mapping[str, Any]) -> list[NumberTable]:
    """By adjustment the tests of D-calibration."""
    rows: dict[str, list[NumberRow]] = {}
    for test in numbers["details"]["d_calibration"]:
        cells = [
            number_cell(test["statistic"], digits=1),
            NumberCell(f"{test['df']}"),
            pvalue_cell(test["pvalue"]),
        ]
        if test["missing"] is not None:
            cells = [NumberCell(MISSING, beside=test["missing"]), NumberCell(MISSING), NumberCell(MISSING)]
        rows.setdefault(test["adjustment"], []).append(NumberRow((test["model"],), cells))
    return _by_adjustment(numbers, rows, "test of D-calibration", ("model", "χ²", "degrees of freedom", "p"))


def _by_adjustment(
    numbers: Mapping[str, Any], rows: dict[str, list[NumberRow]], caption: str, head: tuple[str, ...]
) -> list[NumberTable]:
    labels = {each["name"]: each["label"] for each in numbers["adjustments"]}
    return [NumberTable(f"{caption} under “{labels[name]}”", head, own) for name, own in rows.items()]


def _curve_table(numbers: Mapping[str, Any], metric: Mapping[str, Any]) -> NumberTable:
    """The curves behind the values of a metric at a few points, with intervals where these were computed."""
    labels = {each["name"]: each["label"] for each in numbers["adjustments"]}
    rows = []
    for name, profiles in metric["profiles"].items():
        errors = metric.get("profile_errors", {}).get(name, {})
        for model, profile in profiles.items():
            x, y = profile["x"], profile["y"]
            shown = list(range(len(x)))
            if len(x) > _FEW:
                shown = np.linspace(0, len(x) - 1, _SHOWN + 2).round().astype(int)[1:-1].tolist()
            limits = errors.get(model)
            cells = [
                replace(number_cell(y[k], interval=interval_at(limits, k)), beside=f"at {x[k]:.3g}")
                for k in shown
            ]
            rows.append(NumberRow((labels[name], model), cells))
    across, up = metric["profile_labels"] or ("", "")
    widest = max((len(row.cells) for row in rows), default=0)
    head = ("adjustment", "model", *[""] * widest)
    return NumberTable(f"{metric['label']}: {up}, by {across}", head, rows, metric=metric["name"])
