"""Maps of the report: who is best by family and τ, and how well the judge fits by decile and period."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cocensor.evaluation.judge_fit import FitCells, JudgeFit
from cocensor.report.cells import MISSING
from cocensor.report.tables import pairs, why_missing
from cocensor.sensitivity import Sensitivity
from cocensor.words.names import and_metric, family_name, quoted

# Beside the leading model in a cell of the map; of more, their number.
_MOST_LETTERS = 2


@dataclass(frozen=True)
class WinnerMap:
    """By family and along ``taus``, the models that cannot be told from the best."""

    metric: str
    adjustment: str
    label: str
    taus: tuple[float, ...]
    winners: dict[str, list[MapCell]]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class MapCell:
    """The models that cannot be told from the best, the leading one first.

    ``is_open`` where some of them have another score than it; ``letters`` stand for all of them.
    """

    models: list[dict[str, Any]]
    letters: str
    is_open: bool


@dataclass(frozen=True)
class RatioCell:
    """Observed over expected, the numbers behind it, and whether its interval leaves 1 out."""

    text: str
    said: str
    is_off: bool = False


@dataclass(frozen=True)
class FitMap:
    """By kind and period, the ratios of the deciles of a model's score."""

    model: dict[str, Any]
    n_groups: int
    kinds: dict[str, list[tuple[str, list[RatioCell]]]]


def fit_maps(fit: JudgeFit | None, series: list[dict[str, Any]]) -> list[FitMap]:
    """Observed over expected by model, the one with most misfit first."""
    if fit is None:
        return []
    looks = [each for each in series if each["name"] in fit.cells]
    maps = []
    for look in sorted(looks, key=lambda each: each["name"] != fit.worst):
        by_kind = fit.cells[look["name"]]
        kinds = {
            f"{kind}s": [(f"to {end:.4g}", row) for end, row in zip(fit.periods, _ratios(cells), strict=True)]
            for kind, cells in by_kind.items()
        }
        maps.append(FitMap(look, len(by_kind["event"].expected), kinds))
    return maps


def _ratios(cells: FitCells) -> list[list[RatioCell]]:
    """By period, and in each by decile."""
    ratios = cells.ratio, *cells.interval()

    def cell(at: tuple[int, int]) -> RatioCell:
        said = f"{cells.observed[at]} observed, {cells.expected[at]:.1f} expected"
        if not cells.shown[at]:
            return RatioCell(MISSING, said)
        ratio, lower, upper = (each[at] for each in ratios)
        said += f"; 95 % interval of the ratio {lower:.2f} to {upper:.2f}"
        return RatioCell(f"{ratio:.2f}" if ratio < 9.995 else f"{ratio:.0f}", said, not lower <= 1 <= upper)

    n_groups, n_periods = cells.expected.shape
    return [[cell((g, p)) for g in range(n_groups)] for p in range(n_periods)]


def winner_maps(sensitivity: Sensitivity, series: list[dict[str, Any]]) -> list[WinnerMap]:
    """Who is best where, for every metric and adjustment; ``series`` says how models look."""
    evaluation = sensitivity.evaluation
    looks = {each["name"]: each for each in series}
    maps = []
    for metric, adjustment in pairs(sensitivity):
        best, leaders = sensitivity.best(metric, adjustment), sensitivity.leaders(metric, adjustment)
        winners = {
            family_name(family): [
                _map_cell(
                    [looks[model] for model in best.get(family, {}).get(tau, ())],
                    len(leaders.get(family, {}).get(tau, ())),
                )
                for tau in sensitivity.taus
            ]
            for family in sensitivity.families
        }
        label = f"{quoted(evaluation, adjustment)}{and_metric(evaluation, metric)}"
        notes = why_missing(sensitivity, adjustment)
        maps.append(WinnerMap(metric, adjustment, label, sensitivity.taus, winners, notes))
    return maps


def _map_cell(models: list[dict[str, Any]], n_equal: int) -> MapCell:
    """Of models in the order of their ranks, of which the first ones are equal."""
    letters = [model["letter"] for model in models]
    equal, others = "=".join(letters[:n_equal]), letters[n_equal:]
    if len(others) > _MOST_LETTERS:
        return MapCell(models, f"{equal} +{len(others)}", True)
    return MapCell(models, "≈".join([equal, *others]), bool(others))
