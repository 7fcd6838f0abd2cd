"""Weights of subjects and times, put together: blocks of some subjects, tiles of all."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from cocensor._validation import BoolArray, FloatArray, Rows

if TYPE_CHECKING:
    from cocensor.adjustments.status import BlockWeights


@dataclass(frozen=True, eq=False)
class Block:
    """Some subjects, and their weights in stretches of the sorted times.

    A stretch is the weights, its columns, and which (subject, column) of it they hold for; None for all.
    """

    rows: Rows
    stretches: tuple[tuple[BlockWeights, slice, BoolArray | None], ...]

    def dense(self, columns: slice) -> FloatArray:
        """Both weights at the sorted times that the block was asked for, (2, subjects, columns)."""
        both = np.zeros((2, self.rows.size, columns.stop - columns.start))
        for weights, some, mask in self.stretches:
            within = slice(some.start - columns.start, some.stop - columns.start)
            for weight, values in zip(both, weights.dense(), strict=True):
                if not values.any():  # often one of the two is 0 throughout
                    continue
                if mask is None:
                    weight[:, within] = values
                else:
                    weight[:, within] += np.where(mask, values, 0.0)
        return both


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
