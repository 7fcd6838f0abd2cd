"""Cells, rows and tables of numbers, as the page shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cocensor.inference import Estimate, Estimates

MISSING = "–"


@dataclass(frozen=True)
class NumberCell:
    """A shown number with its full value, its interval in words, and what else is said beside it."""

    text: str
    value: float | None = None
    beside: str = ""
    best: bool = False
    interval: str = ""


@dataclass(frozen=True)
class NumberRow:
    """One row: its heading, in one or two parts, and its cells."""

    head: tuple[str, ...]
    cells: list[NumberCell]


@dataclass(frozen=True)
class NumberTable:
    """A table of numbers; ``head`` has the headings of the rows' headings first."""

    caption: str
    head: tuple[str, ...]
    rows: list[NumberRow]
    notes: tuple[str, ...] = ()
    metric: str = ""
    adjustment: str = ""

    def spec(self) -> dict[str, Any]:
        """What the page's script makes the table of."""
        rows = [
            {
                "head": row.head,
                "cells": [(cell.text, cell.interval, cell.beside, cell.best) for cell in row.cells],
            }
            for row in self.rows
        ]
        return {"caption": self.caption, "head": self.head, "notes": self.notes, "rows": rows}


def number_cell(value: float | None, best: bool = False, digits: int = 4, interval: str = "") -> NumberCell:
    """A number with so many decimals."""
    if value is None or np.isnan(value):
        return NumberCell(MISSING)
    return NumberCell(f"{value:z.{digits}f}", value, best=best, interval=interval)


def estimate_of(estimates: Estimates | None, name: str) -> Estimate | None:
    """One of some estimates, where there is such."""
    return None if estimates is None or name not in estimates.names else estimates.estimate(name)


def interval_of(estimate: Estimate | None, level: float | None) -> str:
    """The two ends of an interval, or nothing where there is none."""
    if estimate is None or level is None:
        return ""
    return both_ends(*estimate.confidence_interval(level))


def both_ends(low: float, high: float, digits: int = 4, sign: str = "") -> str:
    """The two ends, or nothing where there are none."""
    return "" if np.isnan(low) or np.isnan(high) else f"{low:{sign}z.{digits}f} to {high:{sign}z.{digits}f}"


def pvalue_cell(value: float | None) -> NumberCell:
    """A p-value."""
    if value is None or np.isnan(value):
        return NumberCell(MISSING)
    return NumberCell("< 0.001" if value < 0.001 else f"{value:.3f}", value)
