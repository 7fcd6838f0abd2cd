"""The times that scores are asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cocensor._numerics import lookup
from cocensor._validation import FloatArray, IntArray, as_times, as_vector, read_only


@dataclass(frozen=True, eq=False, repr=False)
class TimeGrid:
    """Times in the order given, which may repeat themselves, and sorted, each once."""

    times: FloatArray
    sorted: FloatArray
    #: For each of the times its place among the sorted ones; None where these are the same.
    place: npt.NDArray[np.intp] | None

    @classmethod
    def of(cls, times: npt.ArrayLike | TimeGrid) -> TimeGrid:
        """The grid of ``times``, of which there must be at least one."""
        if isinstance(times, TimeGrid):
            return times
        given = as_times(as_vector(times, "times", copy=True, single=True), "times")
        if not given.size:
            raise ValueError("times is empty: at least one time is needed.")
        given = read_only(given)
        if (np.diff(given) > 0).all():
            return cls(given, given, None)
        distinct, place = np.unique(given, return_inverse=True)
        return cls(given, read_only(distinct), place)

    def __repr__(self) -> str:
        return f"TimeGrid({self.times.size} times, {self.sorted[0]:g} to {self.last:g})"

    @property
    def last(self) -> float:
        """The largest time."""
        return float(self.sorted[-1])

    @property
    def from_zero(self) -> TimeGrid:
        """The sorted times, with time 0 before them: the grid itself where it starts there."""
        return self if self.sorted[0] == 0 else TimeGrid.of(np.concatenate(([0.0], self.sorted)))

    def cut(self, until: FloatArray) -> IntArray:
        """For each subject the number of sorted times before ``until``."""
        return lookup(self.sorted, until, "left")

    def restore(self, values: FloatArray) -> FloatArray:
        """``values`` by sorted time (in the last axis) in the order of the times given."""
        return values if self.place is None else values[..., self.place]

    def by_sorted(self, values: FloatArray) -> FloatArray:
        """``values`` in the order of the times given (in the last axis) by sorted time: what :meth:`restore` undoes."""
        return values if self.place is None else values[..., np.unique(self.place, return_index=True)[1]]
