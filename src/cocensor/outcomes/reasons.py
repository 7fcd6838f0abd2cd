"""Why dropouts left."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cocensor._validation import BoolArray, check_length, column_values, refuse_at, spelled


def as_reasons(values: Any, dropout: BoolArray) -> npt.NDArray[np.object_]:
    """A text for each dropout, None for all others."""
    values = column_values(values, "reason")
    check_length(values, "reason", dropout.size, "time")
    found = np.full(dropout.size, None, dtype=object)
    for row in np.flatnonzero(dropout):
        text = "" if values[row] is None else spelled(values[row]).strip()
        if not text:
            refuse_at((int(row),), values[row], "reason must be given for each dropout, if only as 'unknown'")
        found[row] = text
    return found
