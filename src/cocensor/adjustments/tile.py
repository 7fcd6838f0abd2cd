"""Weights of subjects and times, put together: blocks of some subjects, tiles of all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cocensor._cached import cached_property
from cocensor._checks import BoolArray, FloatArray, Rows

if TYPE_CHECKING:
    from cocensor.adjustments.weights import BlockWeights


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
class Strip:
    """Blocks of subjects whose rows are neighbours: all of these are read at once."""

    rows: Rows
    blocks: tuple[Block, ...]

    @classmethod
    def of(cls, blocks: Sequence[Block]) -> Strip:
        """Some blocks."""
        return cls(np.concatenate([block.rows for block in blocks]), tuple(blocks))

    def __iter__(self) -> Iterator[tuple[Block, slice]]:
        """Each block, and its place among the rows."""
        start = 0
        for block in self.blocks:
            yield block, slice(start, start + block.rows.size)
            start += block.rows.size


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
