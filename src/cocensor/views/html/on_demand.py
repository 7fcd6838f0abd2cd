"""Tables that the page's script makes when they are unfolded; written out, they would fill megabytes."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from markupsafe import Markup

from cocensor.views.html.cells import NumberCell, NumberTable
from cocensor.views.html.grids import GridTable
from cocensor.views.html.packing import packed


@dataclass
class OnDemand:
    """What the tables hold, in the order of their places on the page; called with a table, it returns its place."""

    models: tuple[str, ...]
    tables: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, table: NumberTable | GridTable, kind: str) -> Markup:
        """Where a table will stand; ``kind`` is its class."""
        content = _of_grid(table) if isinstance(table, GridTable) else _of_numbers(table)
        shared = {
            "kind": kind,
            "caption": table.caption,
            "head": list(table.head),
            "notes": list(table.notes),
        }
        self.tables.append(shared | content)
        return Markup('<div data-table="{}"></div>').format(len(self.tables) - 1)

    def packed(self) -> dict[str, Any]:
        """All tables so far, in few characters."""
        return packed({"tables": self.tables}, self.models, ())


def _of_numbers(table: NumberTable) -> dict[str, Any]:
    rows = [[*row.head, *map(_cell, row.cells)] for row in table.rows]
    heads = len(table.rows[0].head) if table.rows else 0
    return {"heads": heads, "columns": [*map(list, zip_longest(*rows, fillvalue=""))]}


def _cell(cell: NumberCell) -> Any:
    """A text alone, or with interval, what stands beside it, and whether it is best."""
    rest = [cell.interval, cell.beside, int(cell.best)]
    return [cell.text, *rest] if any(rest) else cell.text


def _of_grid(table: GridTable) -> dict[str, Any]:
    return {
        "grid": table.axis,
        "metric": table.metric,
        "adjustment": table.adjustment,
        "lines": [list(each) for each in table.lines.items()],
    }
