"""Harrell's concordance."""

from __future__ import annotations

import numpy as np

from cocensor._validation import BoolArray, FloatArray, row_blocks
from cocensor.outcomes import Survival


def harrell_c(y: Survival, risk: FloatArray) -> float:
    """Harrell's concordance: of the pairs whose earlier time is an event, the share with the higher risk for it.

    Ties in risk count one half; a censoring at the time of an event comes after it.
    """
    events = np.flatnonzero(y.event)
    concordant = comparable = 0.0
    for part in row_blocks(events.size, len(y)):
        rows = events[part][:, None]
        later: BoolArray = (y.time > y.time[rows]) | ((y.time == y.time[rows]) & ~y.event)
        comparable += float(later.sum())
        concordant += float((later & (risk < risk[rows])).sum()) + 0.5 * float(
            (later & (risk == risk[rows])).sum()
        )
    if not comparable:
        raise ValueError("y has no comparable pair: Harrell's C is not defined.")
    return concordant / comparable
