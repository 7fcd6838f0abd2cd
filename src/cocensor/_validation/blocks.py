"""Reading arrays: by blocks of rows, and without writing to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy.typing as npt

_BLOCK_ELEMENTS = 1 << 17
_BLOCK_ROWS = 1 << 12


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A view of ``array`` that refuses to be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def row_blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Slices of rows, each of at most about 1 MiB of float64, so that temporaries stay small and in cache."""
    step = min(max(1, _BLOCK_ELEMENTS // max(1, n_columns)), _BLOCK_ROWS)
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))
