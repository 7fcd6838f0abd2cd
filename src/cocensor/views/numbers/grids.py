"""A sensitivity analysis as JSON can hold it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Any

import numpy as np

from cocensor._checks import FloatArray
from cocensor._json import finite
from cocensor.inference import AxisCurve, Band
from cocensor.metrics import MetricValue
from cocensor.study.sensitivity import Grid, Sensitivity, stretches

# Of curves there are many: so many points of each, first and last among them, and significant digits.
_POINTS, _DIGITS = 41, 4
_LIMITS = ("standard_errors", "low", "high", "band_low", "band_high")


def sensitivity_numbers(sensitivity: Sensitivity) -> dict[str, Any]:
    """All numbers of a sensitivity analysis."""
    grid, after = sensitivity.over_tau, sensitivity.over_ratio
    numbers: dict[str, Any] = {
        "families": list(grid.lines),
        "taus": list(grid.points),
        "statement": sensitivity.statement,
        "verdict": sensitivity.verdict.to_dict(),
        **grid_numbers(grid),
        "hazard_ratios": {
            adjustment: {
                family: [finite(grid.hazard_ratio(family, tau, adjustment)) for tau in grid.points]
                for family in by_family
            }
            for adjustment, by_family in grid.answers.items()
        },
        "stretches": _listed(grid, lambda metric, adjustment: stretches(grid, metric, adjustment)),
        "changes": _listed(grid, grid.changes),
        "after_dropout": None
        if after is None
        else {"lines": list(after.lines), "hazard_ratios": list(after.points), **_without_curves(after)},
        "plausible": asdict(sensitivity.plausible),
    }
    for metric, by_adjustment in numbers.get("pairs", {}).items():
        for adjustment, pairs in by_adjustment.items():
            for pair in pairs:
                pair["tips"] = _tips(sensitivity, pair["a"], pair["b"], metric, adjustment)
    return numbers


def _without_curves(grid: Grid) -> dict[str, Any]:
    """The numbers of a second grid, without the curves behind its values: they are many, and no view has them."""
    curves = {"profile_points", "profiles", "curve_times", "curves"}
    return {name: numbers for name, numbers in grid_numbers(grid).items() if name not in curves}


def _tips(sensitivity: Sensitivity, a: str, b: str, metric: str, adjustment: str) -> list[dict[str, Any]]:
    return [
        {name: finite(value) if isinstance(value, float) else value for name, value in vars(tip).items()}
        for tip in sensitivity.tips(a, b, metric, adjustment)
    ]


def grid_numbers(grid: Grid) -> dict[str, Any]:
    """All numbers of a grid: values by metric, adjustment, line and model, along its points."""
    evaluation = grid.evaluation
    found = {
        "primary": grid.primary,
        "scores": _by_point(grid, lambda metric, adjustment: _scores(grid, metric, adjustment)),
        "profile_points": _profile_points(grid),
        "profiles": _by_point(grid, lambda metric, adjustment: _curves(grid, metric, adjustment, _profile)),
        "curve_times": _rounded(evaluation.data.times),
        "curves": _by_point(
            grid, lambda metric, adjustment: _curves(grid, metric, adjustment, lambda found: found.curve)
        ),
        "best": _by_point(grid, lambda metric, adjustment: _best(grid, metric, adjustment)),
        "missing": [
            {"adjustment": adjustment, _line_name(grid): line, "why": note.text}
            for (adjustment, line), note in grid.missing.items()
        ],
    }
    if evaluation.data.confidence_level is None:
        return found
    return found | {
        "confidence_level": evaluation.data.confidence_level,
        "errors": _by_point(grid, lambda metric, adjustment: _errors(grid, metric, adjustment)),
        "differences": _by_point(grid, lambda metric, adjustment: _differences(grid, metric, adjustment)),
        "pairs": _by_point(grid, lambda metric, adjustment: _pairs(grid, metric, adjustment)),
    }


def _by_point(grid: Grid, numbers: Callable[[str, str], Any]) -> dict[str, Any]:
    return {
        metric: {adjustment: numbers(metric, adjustment) for adjustment in grid.answers}
        for metric in grid.evaluation.metrics
    }


def _scores(grid: Grid, metric: str, adjustment: str) -> dict[str, Any]:
    found = {}
    for line in grid.answers[adjustment]:
        values = [grid.values(line, point, metric, adjustment) for point in grid.points]
        found[line] = {model: [each.get(model) for each in values] for model in grid.evaluation.models}
    return found


def _profile_points(grid: Grid) -> dict[str, Any]:
    """By metric and model, what the curves behind values at one time run over, wherever on the grid."""
    found: dict[str, Any] = {metric: {} for metric in grid.evaluation.metrics}
    points = [
        answer for lines in grid.answers.values() for line in lines.values() for answer in line.values()
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
    grid: Grid,
    metric: str,
    adjustment: str,
    curve_of: Callable[[MetricValue], FloatArray | None],
) -> dict[str, Any]:
    """By line and model, one curve at each point; null where there is none."""
    found: dict[str, Any] = {}
    for line, answers in grid.answers[adjustment].items():
        for model in grid.evaluation.models:
            values = [
                answers[point].values[metric].get(model) if point in answers else None
                for point in grid.points
            ]
            curves = [None if value is None else curve_of(value) for value in values]
            if any(curve is not None for curve in curves):
                found.setdefault(line, {})[model] = [
                    None if curve is None else _rounded(curve) for curve in curves
                ]
    return found


def _rounded(curve: FloatArray) -> list[float | None]:
    """Some of the points of a curve, in a few digits."""
    some = np.unique(np.linspace(0, curve.size - 1, min(curve.size, _POINTS)).round().astype(int))
    return [finite(float(f"{value:.{_DIGITS}g}")) for value in curve[some].tolist()]


def _best(grid: Grid, metric: str, adjustment: str) -> dict[str, Any]:
    best = grid.best(metric, adjustment)
    return {line: [list(by_point.get(point, ())) for point in grid.points] for line, by_point in best.items()}


def _errors(grid: Grid, metric: str, adjustment: str) -> dict[str, Any]:
    """The errors of all scores."""
    bands = {model: grid.bands(model, None, metric, adjustment) for model in grid.evaluation.models}
    curves = {model: grid.along(model, None, metric, adjustment) for model in grid.evaluation.models}
    return _by_line(grid, curves, bands)


def _differences(grid: Grid, metric: str, adjustment: str) -> dict[str, Any] | None:
    """Scores less that of the reference, of the models that have one besides it."""
    if not grid.leaders(metric, adjustment):
        return None
    reference = grid.reference(metric, adjustment)
    others = [model for model in grid.evaluation.models if model != reference]
    curves = {model: grid.along(model, reference, metric, adjustment) for model in others}
    bands = {model: grid.bands(model, reference, metric, adjustment) for model in others}
    found = _by_line(grid, curves, bands)
    for model, by_line in curves.items():
        for line, curve in by_line.items():
            found[line][model]["differences"] = _along(grid, curve.positions, curve.values)
    return {"reference": reference, "lines" if grid.is_of_ratios else "families": found}


def _line_name(grid: Grid) -> str:
    return "line" if grid.is_of_ratios else "family"


def _pairs(grid: Grid, metric: str, adjustment: str) -> list[dict[str, Any]]:
    """Of every two models: how far one is better beyond chance, and where their order turns."""
    pairs = []
    for a, b in combinations(grid.evaluation.models, 2):
        pair = grid.pair(a, b, metric, adjustment)
        if not any(np.isfinite(curve.values).any() for curve in pair.curves.values()):
            continue
        led, together = {line: pair.lead(line) for line in pair.curves}, pair.lead()
        pairs.append(
            {
                "a": a,
                "b": b,
                "lead": None if together is None else dict(vars(together)),
                f"lead_by_{_line_name(grid)}": {
                    line: None if found is None else dict(vars(found)) for line, found in led.items()
                },
                "tipping_points": [
                    {
                        _line_name(grid): point.line,
                        "at": point.at,
                        "interval": None if point.interval is None else list(point.interval),
                        "sign_above": point.sign_above,
                    }
                    for point in pair.tipping_points()
                ],
            }
        )
    return pairs


def _by_line(
    grid: Grid,
    curves: Mapping[str, Mapping[str, AxisCurve]],
    bands: Mapping[str, Mapping[str, Band]],
) -> dict[str, Any]:
    """Errors and limits by line and model."""
    found: dict[str, Any] = {}
    for model, by_line in curves.items():
        for line, curve in by_line.items():
            band = bands[model][line]
            limits = curve.standard_errors, curve.low, curve.high, band.low, band.high
            found.setdefault(line, {})[model] = {
                name: _along(grid, curve.positions, values)
                for name, values in zip(_LIMITS, limits, strict=True)
            }
    return found


def _along(grid: Grid, positions: FloatArray, values: FloatArray) -> list[float | None]:
    """Values at all points of the grid; null where there is none."""
    known = dict(zip(positions.tolist(), map(finite, values.tolist()), strict=True))
    return [known.get(grid.position(point)) for point in grid.points]


def _listed(grid: Grid, found: Callable[[str, str], Sequence[Any]]) -> list[dict[str, Any]]:
    return [
        {"metric": metric, **asdict(each)}
        for metric in grid.evaluation.metrics
        for adjustment in grid.answers
        for each in found(metric, adjustment)
    ]
