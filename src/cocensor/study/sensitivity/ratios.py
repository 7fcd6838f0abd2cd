"""Whose hazard ratio after dropout moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cocensor._checks import BoolArray, FloatArray, check_length, refuse_at, spelled, to_numpy
from cocensor._notes import Note, noted
from cocensor.adjustments.samples import Samples
from cocensor.data.covariates import column_names
from cocensor.study.plan import as_ratios
from cocensor.study.sensitivity.grid import ALL

_MOST_GROUPS = 12


@dataclass(frozen=True, eq=False)
class RatioLines:
    """Whose ratio moves on each line: everybody's, or that of one reason or group.

    ``unnamed`` says why reasons that there are have no lines.
    """

    ratios: FloatArray
    reasons: tuple[str, ...] = ()
    groups: Mapping[str, BoolArray] = field(default_factory=dict)
    unnamed: tuple[Note, ...] = ()

    @classmethod
    def of(cls, ratios: Any, by: Any, samples: Samples) -> RatioLines:
        """As asked for by ``hazard_ratios`` and ``hazard_ratio_by``."""
        grid = as_ratios(ratios)
        if by is None or (isinstance(by, str) and by == "reason"):
            return cls._by_reason(grid, samples, asked=by is not None)
        labels = _labels(by, samples)
        groups = check_groups(labels, "hazard_ratio_by")
        array = np.array(labels)
        return cls(grid, groups={name: array == name for name in groups} if len(groups) > 1 else {})

    @classmethod
    def _by_reason(cls, grid: FloatArray, samples: Samples, asked: bool) -> RatioLines:
        reasons = samples.y_test.reasons
        if asked and not reasons:
            raise ValueError("hazard_ratio_by must not be 'reason' where y_test names no reasons of dropout.")
        if len(reasons) > _MOST_GROUPS:
            why = f"at most {_MOST_GROUPS} reasons for a line each, but has {len(reasons)}: put some of them together."
            if asked:
                raise ValueError(f"y_test must have {why}")
            return cls(grid, unnamed=(noted("too_many_reasons", most=_MOST_GROUPS, n=len(reasons)),))
        _refuse_all(reasons, "y_test")
        return cls(grid, reasons if len(reasons) > 1 else ())

    @property
    def names(self) -> tuple[str, ...]:
        """The lines."""
        return (ALL, *self.reasons, *self.groups)

    def ratio(self, line: str, ratio: float) -> Any:
        """What the adjustments are given at a point of a line."""
        if line == ALL:
            return ratio
        if line in self.groups:
            return np.where(self.groups[line], ratio, 1.0)
        return {line: ratio}


def _labels(by: Any, samples: Samples) -> list[str]:
    n = len(samples.y_test)
    if isinstance(by, str):
        names = column_names(samples.x_test) or []
        if by not in names:
            raise ValueError(
                f"hazard_ratio_by must be a column of numbers in x_test, or a label per test subject, but is {by!r}."
            )
        by = np.asarray(samples.x_test)[:, names.index(by)]
    check_length(by, "hazard_ratio_by", n, "y_test")
    values = to_numpy(by, "hazard_ratio_by")
    if values.ndim != 1:
        raise ValueError(
            f"hazard_ratio_by must have one label per test subject, but its shape is {values.shape}."
        )
    return as_labels(values.tolist(), "hazard_ratio_by")


def as_labels(values: Sequence[Any], argument: str) -> list[str]:
    """A text per test subject."""
    found = []
    for row, value in enumerate(values):
        text = "" if value is None else spelled(value).strip()
        if not text:
            refuse_at((row,), value, f"{argument} must have a label for each test subject")
        found.append(text)
    return found


def check_groups(labels: Sequence[str], argument: str) -> list[str]:
    """The different labels, in their order, if they are few."""
    names = sorted(set(labels))
    if len(names) > _MOST_GROUPS:
        raise ValueError(
            f"{argument} must have at most {_MOST_GROUPS} groups, but has {len(names)}: put some of them together."
        )
    _refuse_all(names, argument)
    return names


def _refuse_all(names: Sequence[str], argument: str) -> None:
    if ALL in names:
        raise ValueError(f"{argument} must not call a group {ALL!r}: that is everybody's hazard ratio.")
