"""Cells, rows and tables of numbers, as the page shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

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


def both_ends(low: float | None, high: float | None, digits: int = 4, sign: str = "") -> str:
    """The two ends of an interval, or nothing where there are none."""
    if low is None or high is None or np.isnan(low) or np.isnan(high):
        return ""
    return f"{low:{sign}z.{digits}f} to {high:{sign}z.{digits}f}"


def interval_at(limits: Mapping[str, Any] | None, k: int) -> str:
    """The interval of one value along a curve, or nothing where it was not computed."""
    return "" if limits is None else both_ends(limits["low"][k], limits["high"][k])


def pvalue_cell(value: float | None) -> NumberCell:
    """A p-value."""
    if value is None or np.isnan(value):
        return NumberCell(MISSING)
    return NumberCell("< 0.001" if value < 0.001 else f"{value:.3f}", value)
