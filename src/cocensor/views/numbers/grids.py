"""A sensitivity analysis as JSON can hold it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from cocensor._checks import FloatArray
from cocensor._json import plain
from cocensor.metrics import MetricValue
from cocensor.study.sensitivity import Sensitivity
from cocensor.study.sensitivity.grid import Grid

# Of curves there are many: so many points of each, first and last among them, and significant digits.
_POINTS, _DIGITS = 41, 4


def sensitivity_numbers(sensitivity: Sensitivity) -> dict[str, Any]:
    """All numbers of a sensitivity analysis.

    The second grid is without the curves behind its values: they are many, and no view has them.
    """
    grid, after = sensitivity.over_tau, sensitivity.over_ratio
    numbers: dict[str, Any] = {
        "families": grid.lines,
        "taus": grid.points,
        "statement": sensitivity.statement,
        "verdict": sensitivity.verdict.to_dict(),
        **_grid(grid),
        **_curves_behind(grid),
        "hazard_ratios": {
            adjustment: {
                family: [grid.hazard_ratio(family, tau, adjustment) for tau in grid.points]
                for family in by_family
            }
            for adjustment, by_family in grid.answers.items()
        },
        "stretches": _listed(grid, grid.stretches),
        "changes": _listed(grid, grid.changes),
        "after_dropout": None
        if after is None
        else {"lines": after.lines, "hazard_ratios": after.points, **_grid(after)},
        "plausible": asdict(sensitivity.plausible),
    }
    for metric, by_adjustment in numbers.get("pairs", {}).items():
        for adjustment, pairs in by_adjustment.items():
            for pair in pairs:
                tips = sensitivity.tipping_points(pair["a"], pair["b"], metric, adjustment)
                pair["tips"] = [vars(tip) for tip in tips]
    return dict(plain(numbers))


def _grid(grid: Grid) -> dict[str, Any]:
    """Values by metric, adjustment, line and model, along the points of a grid."""
    numbers = {
        "primary": grid.primary,
        "scores": _by_adjustment(grid, _scores),
        "best": _by_adjustment(grid, _best),
        "missing": [
            {"adjustment": adjustment, _line_name(grid): line, "why": note.text}
            for (adjustment, line), note in grid.missing.items()
        ],
    }
    level = grid.evaluation.data.confidence_level
    if level is None:
        return numbers
    return numbers | {
        "confidence_level": level,
        "errors": _by_adjustment(grid, _errors),
        "differences": _by_adjustment(grid, _differences),
        "pairs": _by_adjustment(grid, _pairs),
    }


def _by_adjustment(grid: Grid, numbers: Callable[[Grid, str, str], Any]) -> dict[str, Any]:
    return {
        metric: {adjustment: numbers(grid, metric, adjustment) for adjustment in grid.answers}
        for metric in grid.evaluation.metrics
    }


def _listed(grid: Grid, parts: Callable[[str, str], Iterable[Any]]) -> list[dict[str, Any]]:
    return [
        {"metric": metric, **asdict(part)}
        for metric in grid.evaluation.metrics
        for adjustment in grid.answers
        for part in parts(metric, adjustment)
    ]


def attributes(of: Any, *names: str) -> dict[str, Any]:
    """Some attributes by their names."""
    return {name: getattr(of, name) for name in names}


def _line_name(grid: Grid) -> str:
    return "line" if grid.is_of_ratios else "family"


def _scores(grid: Grid, metric: str, adjustment: str) -> dict[str, Any]:
    scores = {}
    for line in grid.answers[adjustment]:
        values = [grid.values(line, point, metric, adjustment) for point in grid.points]
        scores[line] = {model: [row.get(model) for row in values] for model in grid.evaluation.models}
    return scores


def _best(grid: Grid, metric: str, adjustment: str) -> dict[str, Any]:
    best = grid.best(metric, adjustment)
    return {line: [by_point.get(point, ()) for point in grid.points] for line, by_point in best.items()}


def _curves_behind(grid: Grid) -> dict[str, Any]:
    """Curves over time and behind values at one time, and what these run over, wherever on the grid."""
    x: dict[str, Any] = {metric: {} for metric in grid.evaluation.metrics}
    points = [
        answer for lines in grid.answers.values() for line in lines.values() for answer in line.values()
    ]
    for answer in points:
        for metric, values in answer.values.items():
            for model, value in values.items():
                if value.profile is not None and model not in x[metric]:
                    x[metric][model] = _rounded(value.profile.x)
    return {
        "profile_points": x,
        "profiles": _by_adjustment(
            grid, partial(_curves, curve_of=lambda value: value.profile and value.profile.y)
        ),
        "curve_times": _rounded(grid.evaluation.data.times),
        "curves": _by_adjustment(grid, partial(_curves, curve_of=lambda value: value.curve)),
    }


def _curves(
    grid: Grid, metric: str, adjustment: str, curve_of: Callable[[MetricValue], FloatArray | None]
) -> dict[str, Any]:
    """By line and model, one curve at each point; null where there is none."""
    numbers: dict[str, Any] = {}
    for line, answers in grid.answers[adjustment].items():
        for model in grid.evaluation.models:
            values = [
                answers[point].values[metric].get(model) if point in answers else None
                for point in grid.points
            ]
            curves = [None if value is None else curve_of(value) for value in values]
            if any(curve is not None for curve in curves):
                numbers.setdefault(line, {})[model] = [
                    None if curve is None else _rounded(curve) for curve in curves
                ]
    return numbers


def _rounded(curve: FloatArray) -> list[float]:
    """Some of the points of a curve, in a few digits."""
    some = np.unique(np.linspace(0, curve.size - 1, min(curve.size, _POINTS)).round().astype(int))
    return [float(f"{value:.{_DIGITS}g}") for value in curve[some].tolist()]


def _errors(grid: Grid, metric: str, adjustment: str, minus: str | None = None) -> dict[str, Any]:
    """By line and model the errors and limits of scores, or of their differences from those of one model."""
    numbers: dict[str, Any] = {}
    for model in grid.evaluation.models:
        if model == minus:
            continue
        bands = grid.bands(model, minus, metric, adjustment)
        for line, curve in grid.along(model, minus, metric, adjustment).items():
            limits = attributes(curve, "standard_errors", "low", "high")
            limits |= {"band_low": bands[line].low, "band_high": bands[line].high}
            if minus is not None:
                limits["differences"] = curve.values
            places = {position: k for k, position in enumerate(curve.positions.tolist())}
            at = [places.get(grid.position(point)) for point in grid.points]
            numbers.setdefault(line, {})[model] = {
                name: [None if k is None else values[k] for k in at] for name, values in limits.items()
            }
    return numbers


def _differences(grid: Grid, metric: str, adjustment: str) -> dict[str, Any] | None:
    """Scores minus that of the reference, of the models that have one besides it."""
    if not grid.leaders(metric, adjustment):
        return None
    reference = grid.reference(metric, adjustment)
    lines = "lines" if grid.is_of_ratios else "families"
    return {"reference": reference, lines: _errors(grid, metric, adjustment, reference)}


def _pairs(grid: Grid, metric: str, adjustment: str) -> list[dict[str, Any]]:
    """By pair of models, how far one is better beyond chance, and where their order turns."""
    numbers, line_name = [], _line_name(grid)
    for a, b in combinations(grid.evaluation.models, 2):
        pair = grid.pair(a, b, metric, adjustment)
        if not any(np.isfinite(curve.values).any() for curve in pair.curves.values()):
            continue
        leads = {line: pair.lead(line) for line in (None, *pair.curves)}
        by_line = {line: lead and vars(lead) for line, lead in leads.items()}
        turns = [
            {line_name: point.line, **attributes(point, "at", "interval", "sign_above")}
            for point in pair.tipping_points()
        ]
        lead = by_line.pop(None)
        numbers.append(
            {"a": a, "b": b, "lead": lead, f"lead_by_{line_name}": by_line, "tipping_points": turns}
        )
    return numbers
