"""Metrics at one time."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from cocensor._checks import as_times, check_number
from cocensor.data.times import TimeGrid, with_unit

#: Whether single times ask for a metric: never; it has values at such alone; or beside its value over all times.
SingleTimes = Literal["never", "only", "also"]


class SingleTime:
    """Of a metric: a field ``at``, the time of its value, or None for the last of an evaluation."""

    at: float | None
    unit: str | None
    name: ClassVar[str]
    label: ClassVar[str]
    curve_label: ClassVar[str | None]

    def __post_init__(self) -> None:
        kind = type(self)
        self._check_time(kind.name, kind.curve_label or kind.label)

    def _check_time(self, name: str, label: str) -> None:
        """Check the time, and take it into the name, which sets several apart."""
        if self.at is not None:
            at = float(as_times(np.asarray(check_number(self.at, "at")), "at"))
            said = time_in_name(at)
            in_label = f"{label} at {time_in_label(at, self.unit)}"
            for field, value in (("at", at), ("name", f"{name} at {said}"), ("label", in_label)):
                object.__setattr__(self, field, value)

    def grid(self, times: TimeGrid) -> TimeGrid:
        """The one time."""
        if self.at is not None and self.at > times.last:
            raise ValueError(
                f"at must not pass {times.last:g}, the last time of the evaluation, but is {self.at:g}."
            )
        return TimeGrid.of([times.last if self.at is None else self.at])

    def at_time(self, t: float) -> Self:
        """The same at another time."""
        made: Any = self
        moved: Self = replace(made, at=t)
        return moved

    def in_unit(self, unit: str | None) -> Self:
        """The same, whose label says the unit of its time."""
        if unit is None or self.at is None:
            return self
        made = copy(self)
        object.__setattr__(made, "unit", unit)
        made.__post_init__()
        return made


def time_in_name(at: float) -> str:
    """A time as it stands in the name of a metric."""
    return f"{at:.15g}" if at.is_integer() else f"{at:g}"


def label_without_time(metric: Any) -> str:
    """What a metric is called, less its time where the label ends by that."""
    label: str = metric.label
    return label if metric.at is None else label.removesuffix(f" at {time_in_label(metric.at, metric.unit)}")


def time_in_label(at: float, unit: str | None) -> str:
    """A time as it stands in the label of a metric."""
    return with_unit([time_in_name(at)], unit)
