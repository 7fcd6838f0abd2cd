"""The weights of all subjects at some times, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cocensor._validation import FloatArray


@dataclass(frozen=True, eq=False)
class Tile:
    """All subjects at some of the sorted times: the weights a and b, (subjects, columns) each."""

    columns: slice
    event_free: FloatArray
    event: FloatArray

    @cached_property
    def by_time(self) -> tuple[FloatArray, FloatArray]:
        """The weights a and b, (columns, subjects) each."""
        return np.ascontiguousarray(self.event_free.T), np.ascontiguousarray(self.event.T)
