"""Calibration and benefit in full, as JSON can hold them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from cocensor._json import finite, finite_values
from cocensor.inference.estimates import Estimate
from cocensor.metrics import CalibrationCurve, DCalibrationResult, DecisionCurve
from cocensor.study.report import Report

_CURVE = ("predicted", "observed", "standard_error", "low", "high", "band_low", "band_high")
_LEVELS = ("levels", "observed", "expected", "standard_error", "low", "high")
_BENEFIT = ("values", "standard_error", "low", "high")


def detail_numbers(report: Report) -> dict[str, Any]:
    """By kind the curves in full, each with its adjustment, and model and time where it has such."""
    return {
        "calibration": [
            {"adjustment": adjustment, "model": model, **_calibration(curve)}
            for (adjustment, model, _), curve in report.calibration.items()
        ],
        "d_calibration": [
            {"adjustment": adjustment, "model": model, **_d_calibration(result)}
            for (adjustment, model), result in report.d_calibration.items()
        ],
        "decision_curves": [
            {"adjustment": adjustment, **_decision(curves)}
            for (adjustment, _), curves in report.decision_curves.items()
        ],
    }


def _summaries(curve: CalibrationCurve) -> dict[str, Any]:
    """What a calibration curve says in single numbers, with their intervals."""
    numbers = {}
    for name in curve.summaries:
        estimate: Estimate = getattr(curve, name)
        low, high = estimate.confidence_interval(curve.confidence_level)
        if name == "observed_expected":
            low, high = curve.observed_expected_interval
        elif name not in ("slope", "intercept"):  # shares, and distances of such
            low, high = np.clip((low, high), 0.0, 1.0).tolist()
        numbers[name] = {
            "value": finite(estimate.value),
            "standard_error": finite(estimate.standard_error),
            "low": finite(low),
            "high": finite(high),
        }
    return numbers


def _calibration(curve: CalibrationCurve) -> dict[str, Any]:
    return {
        "time": curve.time,
        **_arrays(curve, _CURVE),
        "groups": _arrays(curve.groups, [column.name for column in fields(curve.groups)]),
        "counts": curve.counts.tolist(),
        "edges": curve.edges.tolist(),
        **_summaries(curve),
        "notes": [note.to_dict() for note in curve.notes],
    }


def _d_calibration(result: DCalibrationResult) -> dict[str, Any]:
    return {
        **_arrays(result, _LEVELS),
        "statistic": finite(result.statistic),
        "df": result.df,
        "pvalue": finite(result.pvalue),
        "missing": result.missing,
    }


def _decision(curves: Mapping[str, DecisionCurve]) -> dict[str, Any]:
    first = next(iter(curves.values()))
    return {
        "time": first.time,
        "thresholds": first.thresholds.tolist(),
        "treat_all": _arrays(first.treat_all, _BENEFIT),
        "models": {
            model: {
                "net_benefit": _arrays(curve.net_benefit, _BENEFIT),
                "more_than_treat_all": _arrays(curve.difference, _BENEFIT),
            }
            for model, curve in curves.items()
        },
    }


def _arrays(of: Any, names: Iterable[str]) -> dict[str, list[float | None]]:
    return {name: finite_values(getattr(of, name)) for name in names}
