"""A sensitivity analysis as JSON can hold it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from cocensor._validation import FloatArray
from cocensor.evaluation.json_values import finite
from cocensor.inference import Band, TauCurve, lead, tipping_points
from cocensor.metrics import MetricValue

if TYPE_CHECKING:
    from cocensor.sensitivity.result import Sensitivity

# Of curves there are many: so many points of each, first and last among them, and significant digits.
_POINTS, _DIGITS = 41, 4
_LIMITS = ("standard_errors", "low", "high", "band_low", "band_high")


def grid_numbers(sensitivity: Sensitivity) -> dict[str, Any]:
    """All numbers of the grid: values by metric, adjustment, family and model, along ``taus``."""
    evaluation = sensitivity.evaluation
    found = {
        "families": list(sensitivity.families),
        "taus": list(sensitivity.taus),
        "primary": sensitivity.primary,
        "statement": sensitivity.statement,
        "scores": _by_point(sensitivity, lambda metric, adjustment: _scores(sensitivity, metric, adjustment)),
        "profile_points": _profile_points(sensitivity),
        "profiles": _by_point(
            sensitivity, lambda metric, adjustment: _curves(sensitivity, metric, adjustment, _profile)
        ),
        "curve_times": _rounded(evaluation.times),
        "curves": _by_point(
            sensitivity,
            lambda metric, adjustment: _curves(sensitivity, metric, adjustment, lambda found: found.curve),
        ),
        "best": _by_point(sensitivity, lambda metric, adjustment: _best(sensitivity, metric, adjustment)),
        "stretches": _listed(sensitivity, sensitivity.stretches),
        "changes": _listed(sensitivity, sensitivity.changes),
        "missing": [
            {"adjustment": adjustment, "family": family, "why": note.text}
            for (adjustment, family), note in sensitivity.missing.items()
        ],
    }
    if evaluation.confidence_level is None:
        return found
    return found | {
        "confidence_level": evaluation.confidence_level,
        "errors": _by_point(sensitivity, lambda metric, adjustment: _errors(sensitivity, metric, adjustment)),
        "differences": _by_point(
            sensitivity, lambda metric, adjustment: _differences(sensitivity, metric, adjustment)
        ),
        "pairs": _by_point(sensitivity, lambda metric, adjustment: _pairs(sensitivity, metric, adjustment)),
    }


def _by_point(sensitivity: Sensitivity, numbers: Callable[[str, str], Any]) -> dict[str, Any]:
    return {
        metric: {adjustment: numbers(metric, adjustment) for adjustment in sensitivity.answers}
        for metric in sensitivity.evaluation.metrics
    }


def _listed(sensitivity: Sensitivity, found: Callable[[str, str], Sequence[Any]]) -> list[dict[str, Any]]:
    return [
        {"metric": metric, **asdict(each)}
        for metric in sensitivity.evaluation.metrics
        for adjustment in sensitivity.answers
        for each in found(metric, adjustment)
    ]


def _scores(sensitivity: Sensitivity, metric: str, adjustment: str) -> dict[str, Any]:
    return {
        family: {
            model: [
                sensitivity.values(family, tau, metric, adjustment).get(model) for tau in sensitivity.taus
            ]
            for model in sensitivity.evaluation.models
        }
        for family in sensitivity.answers[adjustment]
    }


def _profile_points(sensitivity: Sensitivity) -> dict[str, Any]:
    """By metric and model, what the curves behind values at one time run over, wherever on the grid."""
    found: dict[str, Any] = {metric: {} for metric in sensitivity.evaluation.metrics}
    points = [
        answer
        for lines in sensitivity.answers.values()
        for line in lines.values()
        for answer in line.values()
    ]
    for answer in points:
        for metric, values in answer.values.items():
            for model, value in values.items():
                if value.profile is not None and model not in found[metric]:
                    found[metric][model] = _rounded(value.profile.x)
    return found


def _profile(found: MetricValue) -> FloatArray | None:
    return None if found.profile is None else found.profile.y


def _curves(
    sensitivity: Sensitivity,
    metric: str,
    adjustment: str,
    curve_of: Callable[[MetricValue], FloatArray | None],
) -> dict[str, Any]:
    """By family and model, one curve at each τ; null where there is none."""
    found: dict[str, Any] = {}
    for family, answers in sensitivity.answers[adjustment].items():
        for model in sensitivity.evaluation.models:
            values = [
                answers[tau].values[metric].get(model) if tau in answers else None for tau in sensitivity.taus
            ]
            curves = [None if value is None else curve_of(value) for value in values]
            if any(curve is not None for curve in curves):
                found.setdefault(family, {})[model] = [
                    None if curve is None else _rounded(curve) for curve in curves
                ]
    return found


def _rounded(curve: FloatArray) -> list[float | None]:
    """Some of the points of a curve, in a few digits."""
    some = np.unique(np.linspace(0, curve.size - 1, min(curve.size, _POINTS)).round().astype(int))
    return [finite(float(f"{value:.{_DIGITS}g}")) for value in curve[some]]


def _best(sensitivity: Sensitivity, metric: str, adjustment: str) -> dict[str, Any]:
    best = sensitivity.best(metric, adjustment)
    return {
        family: [list(by_tau.get(tau, ())) for tau in sensitivity.taus] for family, by_tau in best.items()
    }


def _errors(sensitivity: Sensitivity, metric: str, adjustment: str) -> dict[str, Any]:
    """The errors of all scores."""
    bands = {
        model: sensitivity.bands(model, None, metric, adjustment) for model in sensitivity.evaluation.models
    }
    curves = {
        model: sensitivity.along_tau(model, None, metric, adjustment)
        for model in sensitivity.evaluation.models
    }
    return _by_family(sensitivity, curves, bands)


def _differences(sensitivity: Sensitivity, metric: str, adjustment: str) -> dict[str, Any] | None:
    """Scores less that of the reference, of the models that have one besides it."""
    if not sensitivity.leaders(metric, adjustment):
        return None
    reference = sensitivity.reference(metric, adjustment)
    others = [model for model in sensitivity.evaluation.models if model != reference]
    curves = {model: sensitivity.along_tau(model, reference, metric, adjustment) for model in others}
    bands = {model: sensitivity.bands(model, reference, metric, adjustment) for model in others}
    found = _by_family(sensitivity, curves, bands)
    for model, by_family in curves.items():
        for family, curve in by_family.items():
            found[family][model]["differences"] = _along(sensitivity, curve.taus, curve.values)
    return {"reference": reference, "families": found}


def _pairs(sensitivity: Sensitivity, metric: str, adjustment: str) -> list[dict[str, Any]]:
    """Of every two models: for which τ one is better for certain, and where their order turns."""
    pairs = []
    for a, b in combinations(sensitivity.evaluation.models, 2):
        curves = sensitivity.along_tau(a, b, metric, adjustment)
        if not any(np.isfinite(curve.values).any() for curve in curves.values()):
            continue
        led = {family: lead(curves, family) for family in curves}
        together = lead(curves)
        pairs.append(
            {
                "a": a,
                "b": b,
                "lead": None if together is None else asdict(together),
                "lead_by_family": {
                    family: None if found is None else asdict(found) for family, found in led.items()
                },
                "tipping_points": [
                    {
                        "family": point.family,
                        "at": point.at,
                        "interval": None if point.interval is None else list(point.interval),
                        "sign_above": point.sign_above,
                    }
                    for point in tipping_points(curves)
                ],
            }
        )
    return pairs


def _by_family(
    sensitivity: Sensitivity,
    curves: Mapping[str, Mapping[str, TauCurve]],
    bands: Mapping[str, Mapping[str, Band]],
) -> dict[str, Any]:
    """Errors and limits by family and model."""
    found: dict[str, Any] = {}
    for model, by_family in curves.items():
        for family, curve in by_family.items():
            band = bands[model][family]
            limits = curve.standard_errors, curve.low, curve.high, band.low, band.high
            found.setdefault(family, {})[model] = {
                name: _along(sensitivity, curve.taus, values)
                for name, values in zip(_LIMITS, limits, strict=True)
            }
    return found


def _along(sensitivity: Sensitivity, taus: FloatArray, values: FloatArray) -> list[float | None]:
    """Values at all τ of the grid; null where there is none."""
    known = {float(tau): float(value) for tau, value in zip(taus, values, strict=True) if np.isfinite(value)}
    return [known.get(tau) for tau in sensitivity.taus]
