"""Log-hazards and their slopes, linear in the parameters of a margin: their designs, block by block.

A design has a column for each parameter of both margins, and takes several times as much memory as the covariates that
it is made of: it is kept while a fit reads it again and again, and can be made once more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from cocensor._cached import cached_property
from cocensor._checks import FloatArray, IntArray, Rows, row_blocks
from cocensor._numerics import LOG_SMALLEST_HAZARD
from cocensor.joint.margins import Basis

#: Subjects, what multiplies the parameters, and case weights.
Block = tuple[Rows, FloatArray, FloatArray | None]


class Table(Protocol):
    """Columns of numbers, of which rows are asked for: an array, or what makes rows of one."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of rows and columns."""

    def __getitem__(self, rows: Any) -> FloatArray:
        """Some of the rows."""


@dataclass(frozen=True, eq=False)
class Standardised:
    """A matrix in units of standard deviations."""

    matrix: FloatArray
    centre: FloatArray
    scale: FloatArray

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of rows and columns."""
        return self.matrix.shape

    def __getitem__(self, rows: Any) -> FloatArray:
        found = self.matrix[rows] - self.centre
        found /= self.scale
        return found


@dataclass(frozen=True)
class Drift:
    """Columns whose effect changes with log time: they act by (log t − centre) / scale."""

    varying: tuple[int, ...]
    centre: float = 0.0
    scale: float = 1.0

    def values(self, log_t: FloatArray, X: FloatArray) -> FloatArray:
        """The columns times log t."""
        return X[:, self.varying] * ((log_t - self.centre) / self.scale)[:, None]

    def slopes(self, X: FloatArray) -> FloatArray:
        """Their derivatives in log t."""
        return X[:, self.varying] / self.scale


@dataclass(frozen=True, eq=False)
class DriftSlopes:
    """The derivatives in log t of what changes with it, for all subjects."""

    X: Table
    drift: Drift

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of rows and columns."""
        return self.X.shape[0], len(self.drift.varying)

    def __getitem__(self, rows: Any) -> FloatArray:
        return self._kept[rows]

    def forget(self) -> None:
        """Give back memory."""
        self.__dict__.pop("_kept", None)

    @cached_property
    def _kept(self) -> FloatArray:
        values = np.empty(self.shape)
        for rows in row_blocks(*self.X.shape):
            values[rows] = self.drift.slopes(self.X[rows])
        return values


@dataclass(frozen=True, eq=False)
class Predictor:
    """A log-hazard that is linear in the parameters of one margin (0 the event, 1 the dropout), one for each subject.

    Where the margin has not begun, or what it is of never happens, the log-hazard is the smallest.
    """

    margin: int
    basis: Basis
    t: FloatArray
    drift: Drift | None

    def design(self, rows: slice, X: FloatArray) -> FloatArray:
        """What multiplies the parameters, for some subjects with covariates X."""
        if not self.basis.size:
            return np.empty((len(X), 0))
        t = self.t[rows]
        log_t = np.log(t if self._all_started else np.where(t > 0, t, 1.0))
        parts = [self.basis.values(log_t), X]
        matrix = np.hstack(parts if self.drift is None else [*parts, self.drift.values(log_t, X)])
        if not self._all_started:
            matrix[t <= 0] = 0.0
        return matrix

    def log_hazard(self, rows: slice, design: FloatArray, parameters: list[FloatArray]) -> FloatArray:
        """The log-hazards at the parameters of both margins."""
        if not self.basis.size:
            return np.full(len(design), LOG_SMALLEST_HAZARD)
        value = design @ parameters[self.margin]
        return value if self._all_started else np.where(self.t[rows] > 0, value, LOG_SMALLEST_HAZARD)

    @cached_property
    def _all_started(self) -> bool:
        return bool((self.t > 0).all())


@dataclass(frozen=True, eq=False)
class Slopes:
    """The terms log d/dlog t log H(t) of ``subjects``.

    The design multiplies the parameters ``at`` of the margin. Each of its rows counts by a ``weight`` (None for 1),
    which is that of all subjects where they ``share`` one row.
    """

    margin: int
    at: IntArray
    basis: Basis
    t: FloatArray
    X: Table
    drift: Drift | None
    weight: FloatArray | None
    subjects: Rows
    share: bool

    def forget(self) -> None:
        """Give back memory."""
        self.__dict__.pop("kept", None)

    @cached_property
    def kept(self) -> list[Block]:
        """The blocks, for a fit."""
        return list(self.blocks())

    def blocks(self, size: int = 0) -> Iterator[Block]:
        """Subjects with the rows of the design and their weights, where each has about ``size`` values beside."""
        if self.share:
            yield self.subjects, self.basis.slopes(np.log(self.t[:1])), self.weight
            return
        for rows in row_blocks(self.t.size, max(self.at.size, size)):
            subjects, design = self.subjects[rows], self.basis.slopes(np.log(self.t[rows]))
            if self.drift is not None:
                design = np.hstack((design, self.drift.slopes(self.X[subjects])))
            yield subjects, design, None if self.weight is None else self.weight[rows]
