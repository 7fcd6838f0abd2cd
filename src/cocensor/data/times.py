"""Times: those that scores are asked for, and what time is called and measured in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray, IntArray, as_vector, read_only
from cocensor._numerics import lookup
from cocensor.data.dates import UNITS

_MOST_STEPS = 6  # marks on an axis have at most so many steps between them
_TINY = 1e-300
#: Months are counted in parts and multiples of years.
_STEPS_IN_MONTHS = (1.0, 2.0, 3.0, 6.0, 12.0, 24.0, 36.0, 60.0)


@dataclass(frozen=True, eq=False, repr=False)
class TimeGrid:
    """Times in the order given, which may repeat themselves, and sorted, each once."""

    times: FloatArray
    sorted: FloatArray
    place: npt.NDArray[np.intp] | None  # of each among the sorted ones; None where these are the same

    @classmethod
    def of(cls, times: npt.ArrayLike | TimeGrid) -> TimeGrid:
        """The grid of ``times``, of which there must be at least one."""
        if isinstance(times, TimeGrid):
            return times
        given = read_only(as_vector(times, "times", copy=True, single=True, negative=False))
        if not given.size:
            raise ValueError("times is empty: at least one time is needed.")
        if (np.diff(given) > 0).all():
            return cls(given, given, None)
        distinct, place = np.unique(given, return_inverse=True)
        return cls(given, read_only(distinct), place)

    def __repr__(self) -> str:
        return f"TimeGrid({self.times.size} times, {self.sorted[0]:g} to {self.last:g})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TimeGrid) and (self is other or np.array_equal(self.times, other.times))

    def __hash__(self) -> int:
        return hash(self.times.tobytes())

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

    def sorted_table(self, table: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
        """Return a table by sorted time; columns of one time that differ are refused."""
        by_time = self.by_sorted(table)
        if self.place is not None and not np.array_equal(self.restore(by_time), table, equal_nan=True):
            raise ValueError(f"{name} must have equal columns where times are repeated.")
        return by_time


@dataclass(frozen=True)
class TimeAxis:
    """The name and the unit of time, as tables, axes and sentences show them; either may be missing.

    Examples
    --------
    >>> TimeAxis("rfstime", "days").label, TimeAxis("months", "months").label, TimeAxis().label
    ('rfstime (days)', 'months', 'time')
    >>> TimeAxis(unit="months").said(12.0), TimeAxis().said(15.8289)
    ('12 months', '15.83')
    """

    name: str | None = None
    unit: str | None = None

    def __post_init__(self) -> None:
        for argument, text in (("time_name", self.name), ("time_unit", self.unit)):
            if text is not None and not isinstance(text, str):
                raise TypeError(f"{argument} must be a text, but is of type {type(text).__name__}.")
            if text is not None and not text.strip():
                raise ValueError(f"{argument} must not be empty, but is {text!r}.")

    @property
    def label(self) -> str:
        """The label of an axis of time."""
        if self.name is None or self.unit is None:
            return self.name or self.unit or "time"
        return self.name if self.name.lower() == self.unit.lower() else f"{self.name} ({self.unit})"

    def said(self, *times: float) -> str:
        """One time or several in a sentence, with the unit where it is known: "12 months", "3, 6 and 9 months"."""
        return with_unit([shown_time(t) for t in times], self.unit)

    def named(self, t: float) -> str:
        """A time in a sentence where a bare number could be anything: "12 months", "time 12"."""
        return f"time {self.said(t)}" if self.unit is None else self.said(t)

    def marks(self, start: float, end: float) -> list[float]:
        """A handful of round times from ``start`` to ``end``, as an axis is marked."""
        if not start < end:
            return [start]
        least = (end - start) / _MOST_STEPS
        steps: Sequence[float] = _STEPS_IN_MONTHS
        if self.unit != "months" or end - start < 2.0 or least > steps[-1]:
            power = 10.0 ** floor(log10(max(least, _TINY)))
            steps = [k * power for k in (1.0, 2.0, 5.0, 10.0)]
        step = next(step for step in steps if least <= step * (1 + 1e-9))
        first, last = ceil(start / step - 1e-9), floor(end / step + 1e-9)
        return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


def shown_time(t: float) -> str:
    """A time in four digits; whole numbers in full."""
    t = float(t)
    return f"{t:.15g}" if t.is_integer() else f"{t:.0f}" if abs(t) >= 1000 else f"{t:.4g}"


def with_unit(times: Sequence[str], unit: str | None) -> str:
    """Times that are written already, in a list, with their unit where it is known."""
    *others, last = times
    listed = f"{', '.join(others)} and {last}" if others else last
    singular = listed == "1" and unit in UNITS
    return listed if unit is None else f"{listed} {unit.removesuffix('s') if singular else unit}"
