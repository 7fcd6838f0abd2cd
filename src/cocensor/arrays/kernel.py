"""The mean loss at each time, by the functions of the predictions' own library."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from cocensor._namespaces import Array, Place
from cocensor.arrays.status import PlacedStatus

# So many numbers of a temporary array are held at once: in a processor's cache, or enough to keep a device busy.
_IN_CACHE, _ON_DEVICE = 2**18, 2**25


class Losses(Protocol):
    """The two losses of a metric as functions of the predicted survival probability."""

    @property
    def event_free(self) -> Callable[[Any], Any]:
        """Of who is event-free."""

    @property
    def event(self) -> Callable[[Any], Any]:
        """Of who had the event."""


def mean_losses(status: PlacedStatus, losses: Losses, table: Array, rows: Array | None = None) -> Array:
    """The mean loss of the predictions at each of their columns, (times,), summed in double precision.

    ``table`` has a row for each subject, or for each of ``rows``. Temporary arrays hold a block of rows.
    """
    xp, total = status.place.xp, None
    n = table.shape[0]
    for part in row_blocks(table, status.place):
        block = table if part is None else table[part, :]
        who = part or slice(0, n)
        if rows is not None:
            who = rows if part is None else rows[part]
        values = status.weighed(who, losses.event_free(block), losses.event(block))
        found = xp.sum(values, axis=0, dtype=status.place.exact)
        total = found if total is None else total + found
    total = total / (status.normaliser * (n / status.n))
    return total if status.known is None else xp.where(status.known, total, xp.nan)


def row_blocks(table: Array, place: Place) -> Iterator[slice | None]:
    """Slices of rows; None for all of them at once, which is what a compiler is given: it keeps no temporary array."""
    at_once = _IN_CACHE if "cpu" in str(place.device).lower() else _ON_DEVICE
    n_rows, n_columns = table.shape
    step = max(1, at_once // max(1, n_columns))
    if _compiling() or n_rows <= step:
        yield None
        return
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def _compiling() -> bool:
    """Whether torch is tracing this."""
    torch = sys.modules.get("torch")
    return torch is not None and bool(torch.compiler.is_compiling())
