"""Calibration and benefit in full, as JSON can hold them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from cocensor._json import finite, finite_values
from cocensor.inference import Estimate
from cocensor.metrics import CalibrationCurve, DCalibrationResult, DecisionCurve
from cocensor.study.report import Report

_CURVE = ("predicted", "observed", "standard_error", "low", "high", "band_low", "band_high")
#: What a calibration curve says in single numbers.
SUMMARIES = (
    "mean_predicted",
    "mean_observed",
    "observed_expected",
    "slope",
    "intercept",
    "ici",
    "e50",
    "e90",
)


def detail_numbers(report: Report) -> dict[str, Any]:
    """By kind the curves in full, each with its adjustment, and model and time where it has such."""
    return {
        "calibration": [
            {"adjustment": adjustment, **_calibration(model, curve)}
            for (adjustment, model, _), curve in report.calibration.items()
        ],
        "d_calibration": [
            {"adjustment": adjustment, **_d_calibration(model, result)}
            for (adjustment, model), result in report.d_calibration.items()
        ],
        "decision_curves": [
            {"adjustment": adjustment, **_decision(curves)}
            for (adjustment, _), curves in report.decision_curves.items()
        ],
    }


def summaries(curve: CalibrationCurve) -> dict[str, tuple[Estimate, tuple[float, float]]]:
    """The single numbers, with their intervals."""
    found: dict[str, tuple[Estimate, tuple[float, float]]] = {}
    for name in SUMMARIES:
        each: Estimate = getattr(curve, name)
        low, high = each.confidence_interval(curve.confidence_level)
        if name not in ("slope", "intercept"):  # shares, and distances of such
            low, high = np.clip((low, high), 0.0, 1.0).tolist()
        found[name] = each, (low, high)
    ratio, _ = found["observed_expected"]
    return found | {"observed_expected": (ratio, curve.observed_expected_interval)}


def _calibration(model: str, found: CalibrationCurve) -> dict[str, Any]:
    groups = {each.name: finite_values(getattr(found.groups, each.name)) for each in fields(found.groups)}
    return {
        "model": model,
        "time": found.time,
        **_arrays(found, _CURVE),
        "groups": groups,
        "counts": found.counts.tolist(),
        "edges": found.edges.tolist(),
        **{
            name: {
                "value": finite(each.value),
                "standard_error": finite(each.standard_error),
                "low": finite(low),
                "high": finite(high),
            }
            for name, (each, (low, high)) in summaries(found).items()
        },
        "notes": [note.to_dict() for note in found.notes],
    }


def _d_calibration(model: str, found: DCalibrationResult) -> dict[str, Any]:
    return {
        "model": model,
        **_arrays(found, ("levels", "observed", "expected", "standard_error", "low", "high")),
        "statistic": finite(found.statistic),
        "df": found.df,
        "pvalue": finite(found.pvalue),
        "missing": found.missing,
    }


def _decision(found: Mapping[str, DecisionCurve]) -> dict[str, Any]:
    first = next(iter(found.values()))
    limited = ("values", "standard_error", "low", "high")
    return {
        "time": first.time,
        "thresholds": first.thresholds.tolist(),
        "treat_all": _arrays(first.treat_all, limited),
        "models": {
            model: {
                "net_benefit": _arrays(each.net_benefit, limited),
                "more_than_treat_all": _arrays(each.difference, limited),
            }
            for model, each in found.items()
        },
    }


def _arrays(found: Any, names: Iterable[str]) -> dict[str, list[float | None]]:
    return {name: finite_values(getattr(found, name)) for name in names}
