"""How well the imputation model fits, by decile and period."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cocensor.data import shown_time
from cocensor.study.imputation_fit import FitCells, ImputationFit
from cocensor.views.html.cells import MISSING


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


def fit_maps(fit: ImputationFit | None, series: list[dict[str, Any]]) -> list[FitMap]:
    """Observed over expected by model, the one with most misfit first."""
    if fit is None:
        return []
    looks = [each for each in series if each["name"] in fit.cells]
    maps = []
    for look in sorted(looks, key=lambda each: each["name"] != fit.worst):
        by_kind = fit.cells[look["name"]]
        kinds = {
            f"{kind}s": [
                (f"to {shown_time(end)}", row) for end, row in zip(fit.periods, _ratios(cells), strict=True)
            ]
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
