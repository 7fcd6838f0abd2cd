"""Grids of dependence on the page: what their lines and points are called, their tables, and who is best where."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

from cocensor.study.lookup import metric_of
from cocensor.study.sensitivity import Sensitivity
from cocensor.study.sensitivity.grid import ALL, Grid
from cocensor.views.text.names import and_metric, listed, quoted

# In a cell of the map; of more models, their number.
_MOST_LETTERS = 3
_ROUNDING = 1e-9


def line_label(line: str) -> str:
    """The name of the dropouts whose hazard ratio moves."""
    return "all dropouts" if line == ALL else line


def grid_tables(grid: Grid) -> list[dict[str, Any]]:
    """For every metric and adjustment, what the page's script makes a table of: scores by line and model."""
    evaluation, symbol = grid.evaluation, _symbol(grid)
    return [
        {
            "caption": f"{metric_of(evaluation, metric).label}, {evaluation.results[adjustment].label}",
            "head": (_line_name(grid), "model", *(f"{symbol} = {point:g}" for point in grid.points)),
            "lines": [(line, _line(grid, line)) for line in grid.answers[adjustment]],
            "notes": _why_missing(grid, adjustment),
            "metric": metric,
            "adjustment": adjustment,
            "axis": symbol,
        }
        for metric, adjustment in product(evaluation.metrics, grid.answers)
    ]


def winner_maps(sensitivity: Sensitivity, series: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Maps of the models that may be best along τ and hazard ratio, by the first metric and primary adjustment.

    The page's script fills the maps for the others; ``series`` says how models look. Points may be plausible, and
    ``notes`` say for each adjustment which ones have no answer, and why.
    """
    looks = {model["name"]: model for model in series}
    return [_map(grid, sensitivity, looks) for grid in sensitivity.grids]


def _map(grid: Grid, sensitivity: Sensitivity, looks: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    metric, adjustment = grid.evaluation.metrics[0], sensitivity.over_tau.primary
    is_there = adjustment in grid.answers
    best = grid.best(metric, adjustment) if is_there else {}
    leaders = grid.leaders(metric, adjustment) if is_there else {}

    def cell(line: str, point: float) -> tuple[list[dict[str, Any]], str, bool]:
        models = [looks[model] for model in best.get(line, {}).get(point, ())]
        n_equal = len(leaders.get(line, {}).get(point, ()))
        return models, _letters(models, n_equal, len(looks)), len(models) > n_equal

    low, high = sensitivity.plausible.low - _ROUNDING, sensitivity.plausible.high + _ROUNDING
    return {
        "symbol": _symbol(grid),
        "axis": "hazard ratio after dropout" if grid.is_of_ratios else "Kendall’s τ of event and dropout",
        "label": f"{quoted(grid.evaluation, adjustment)}{and_metric(grid.evaluation, metric)}",
        "line_name": _line_name(grid),
        "points": [(f"{point:g}", not grid.is_of_ratios and low <= point <= high) for point in grid.points],
        "rows": [(_line(grid, line), [cell(line, point) for point in grid.points]) for line in grid.lines],
        "adjustment": adjustment,
        "notes": [(name, note) for name in grid.answers for note in _why_missing(grid, name)],
        "is_there": is_there,
    }


def _letters(models: list[dict[str, Any]], n_equal: int, n_all: int) -> str:
    """The letters of models in the order of their ranks, the first ones equal; the page's script does the same."""
    letters = [model["letter"] for model in models]
    if len(letters) <= _MOST_LETTERS:
        return "≈".join(["=".join(letters[:n_equal]), *letters[n_equal:]])
    return f"all {n_all}" if len(letters) == n_all else f"{letters[0]} +{len(letters) - 1}"


def _why_missing(grid: Grid, adjustment: str) -> tuple[str, ...]:
    """Sentences on the points of the grid that have no answer."""
    answers = grid.answers[adjustment]
    refused = {
        line: note.text
        for (name, line), note in grid.missing.items()
        if name == adjustment and line in grid.lines
    }
    short = [
        line for line in grid.lines if line not in refused and len(answers.get(line, {})) < len(grid.points)
    ]
    notes = [
        f"No answer {f'at some {_symbol(grid)} ' if line in answers else ''}under {_line(grid, line)}: {why}"
        for line, why in refused.items()
    ]
    if short:
        notes.append(f"{listed([_line(grid, line) for line in short])} cannot reach every τ.")
    return tuple(notes)


def _line(grid: Grid, line: str) -> str:
    return line_label(line) if grid.is_of_ratios else line.capitalize()


def _symbol(grid: Grid) -> str:
    return "ρ" if grid.is_of_ratios else "τ"


def _line_name(grid: Grid) -> str:
    return "whose" if grid.is_of_ratios else "family"
