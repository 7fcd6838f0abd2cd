"""Grids of dependence on the page: what their lines and points are called, their tables, and who is best where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cocensor.report.cells import NumberRow, NumberTable, estimate_of, interval_of, number_cell
from cocensor.sensitivity import AfterDropout, Sensitivity
from cocensor.sensitivity.after_dropout import ALL
from cocensor.sensitivity.grid_scores import GridScores
from cocensor.words.names import and_metric, family_name, listed, quoted

# Beside the leading model in a cell of the map; of more, their number.
_MOST_LETTERS = 2
_ROUNDING = 1e-9


@dataclass(frozen=True)
class WinnerMap:
    """Who is best along τ, and along the hazard ratio after dropout where there is such a grid."""

    metric: str
    adjustment: str
    label: str
    grids: tuple[GridMap, ...]


@dataclass(frozen=True)
class GridMap:
    """By line and along ``points``, the models that cannot be distinguished from the best; points may be plausible."""

    axis: str
    line_name: str
    points: list[tuple[str, bool]]
    rows: list[tuple[str, list[MapCell]]]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class MapCell:
    """The models that cannot be distinguished from the best, the leading one first.

    ``is_open`` where some of them have another score than it; ``letters`` stand for all of them.
    """

    models: list[dict[str, Any]]
    letters: str
    is_open: bool


def line_label(line: str) -> str:
    """Whose hazard ratio after dropout moves."""
    return "all dropouts" if line == ALL else line


def grid_tables(grid: GridScores) -> list[NumberTable]:
    """For every metric and adjustment, scores by line and model along the points."""
    evaluation = grid.evaluation
    tables = []
    for metric, adjustment in pairs(grid):
        rows = []
        best = grid.best(metric, adjustment)
        for line in grid.answers[adjustment]:
            values = {point: grid.values(line, point, metric, adjustment) for point in grid.points}
            errors = {point: grid.errors(line, point, metric, adjustment) for point in grid.points}
            winners = best.get(line, {})
            rows += [
                NumberRow(
                    (_line(grid, line), model),
                    [
                        number_cell(
                            found.get(model),
                            model in winners.get(point, ()),
                            interval=interval_of(estimate_of(errors[point], model), grid.confidence_level),
                        )
                        for point, found in values.items()
                    ],
                )
                for model in evaluation.models
            ]
        tables.append(
            NumberTable(
                f"{evaluation.metric(metric).label}, {evaluation.results[adjustment].label}",
                (_line_name(grid), "model", *(f"{_symbol(grid)} = {point:g}" for point in grid.points)),
                rows,
                why_missing(grid, adjustment),
                metric,
                adjustment,
            )
        )
    return tables


def winner_maps(sensitivity: Sensitivity, series: list[dict[str, Any]]) -> list[WinnerMap]:
    """Who is best where, for every metric and adjustment; ``series`` says how models look."""
    evaluation, after = sensitivity.evaluation, sensitivity.after_dropout
    looks = {each["name"]: each for each in series}
    maps = []
    for metric, adjustment in pairs(sensitivity):
        grids = [_map(sensitivity, metric, adjustment, looks)]
        if after is not None and adjustment in after.answers:
            grids.append(_map(after, metric, adjustment, looks))
        label = f"{quoted(evaluation, adjustment)}{and_metric(evaluation, metric)}"
        maps.append(WinnerMap(metric, adjustment, label, tuple(grids)))
    return maps


def _map(grid: GridScores, metric: str, adjustment: str, looks: dict[str, dict[str, Any]]) -> GridMap:
    best, leaders = grid.best(metric, adjustment), grid.leaders(metric, adjustment)
    rows = [
        (
            _line(grid, line),
            [
                _map_cell(
                    [looks[model] for model in best.get(line, {}).get(point, ())],
                    len(leaders.get(line, {}).get(point, ())),
                )
                for point in grid.points
            ],
        )
        for line in grid.lines
    ]
    axis = (
        "hazard ratio after dropout" if isinstance(grid, AfterDropout) else "Kendall’s τ of event and dropout"
    )
    points = [(f"{point:g}", is_plausible(grid, point)) for point in grid.points]
    return GridMap(axis, _line_name(grid), points, rows, why_missing(grid, adjustment))


def is_plausible(grid: GridScores, point: float) -> bool:
    """Whether a τ lies in the plausible range; of hazard ratios there is none."""
    if not isinstance(grid, Sensitivity):
        return False
    return grid.plausible.low - _ROUNDING <= point <= grid.plausible.high + _ROUNDING


def _map_cell(models: list[dict[str, Any]], n_equal: int) -> MapCell:
    """Of models in the order of their ranks, of which the first ones are equal."""
    letters = [model["letter"] for model in models]
    equal, others = "=".join(letters[:n_equal]), letters[n_equal:]
    if len(others) > _MOST_LETTERS:
        return MapCell(models, f"{equal} +{len(others)}", True)
    return MapCell(models, "≈".join([equal, *others]), bool(others))


def pairs(grid: GridScores) -> Sequence[tuple[str, str]]:
    """Every metric with every adjustment of the grid."""
    return [(metric, adjustment) for metric in grid.evaluation.metrics for adjustment in grid.answers]


def why_missing(grid: GridScores, adjustment: str) -> tuple[str, ...]:
    """Why some points of the grid have no answer."""
    refused = {
        line: note.text
        for (name, line), note in grid.missing.items()
        if name == adjustment and line in grid.lines
    }
    found = grid.answers[adjustment]
    short = [
        line for line in grid.lines if line not in refused and len(found.get(line, {})) < len(grid.points)
    ]
    said = [
        f"No answer {f'at some {_symbol(grid)} ' if line in found else ''}under {_line(grid, line)}: {why}"
        for line, why in refused.items()
    ]
    if short:
        said.append(f"{listed([_line(grid, line) for line in short])} cannot have every τ of the grid.")
    return tuple(said)


def _line(grid: GridScores, line: str) -> str:
    return family_name(line) if isinstance(grid, Sensitivity) else line_label(line)


def _symbol(grid: GridScores) -> str:
    return "ρ" if isinstance(grid, AfterDropout) else "τ"


def _line_name(grid: GridScores) -> str:
    return "whose" if isinstance(grid, AfterDropout) else "family"
