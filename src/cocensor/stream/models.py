"""The predictions of one model in Parquet files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from cocensor._validation import FloatArray, IntArray, refuse_column
from cocensor.curves import Interpolation, Predictions, RiskScores, Tail
from cocensor.curves.columns import is_risk, times_of
from cocensor.stream.columns import Piece, checked, is_number, matrix, named, numbers
from cocensor.stream.files import Cursor, Files
from cocensor.stream.source import Columns, at_columns, taken


@dataclass(frozen=True, eq=False)
class Model:
    """A model's predictions, a row per subject in the order of the test subjects, with columns named after times."""

    files: Files
    #: The names of the columns, in the order of times.
    columns: tuple[str, ...]
    #: The times of the columns; None of a risk score.
    times: FloatArray | None
    interpolation: Interpolation | None
    tail: Tail | None

    @classmethod
    def found(
        cls, files: Files, identity: str | None, interpolation: Interpolation | None, tail: Tail | None
    ) -> Model:
        """The predictions in some files, whose columns are checked."""
        files.check_alike()
        if identity is not None and identity not in files.columns:
            refuse_column(identity, files.columns, files.paths[0])
        columns = tuple(name for name in files.columns if name != identity)
        times = None
        if not is_risk(columns):
            with named(files.paths[0]):
                times = times_of(columns, option="id={!r}" if identity is None else None)
        for name in columns:
            files.check(name, is_number, "numbers")
        return cls(files, columns, times, interpolation, tail)

    @property
    def dtype(self) -> npt.DTypeLike:
        """Single precision, where all columns of all files are in it."""
        kinds = {str(types[name]) for types in self.files.types for name in self.columns}
        return np.float32 if kinds == {"float"} else np.float64

    @property
    def n_bytes(self) -> int:
        """How much memory all predictions would take."""
        return self.files.n * len(self.columns) * np.dtype(self.dtype).itemsize

    def width(self, columns: Columns) -> int:
        """How many columns are read."""
        return 1 if self.times is None else self.times[columns].size

    def read(
        self, start: int, stop: int, columns: Columns, size: int, identity: str | None = None
    ) -> Iterator[tuple[Predictions, Sequence[Piece]]]:
        """The predictions of the rows from ``start`` to before ``stop``, ``size`` at once; and where they are from."""
        places = np.arange(len(self.columns))[columns if self.times is not None else slice(None)]
        names = [self.columns[k] for k in places]
        read = names if identity is None else [*names, identity]
        cursor = Cursor(self.files.read(read, start, stop, size))
        for first in range(start, stop, size):
            pieces = cursor.take(min(size, stop - first))
            yield checked(pieces, lambda some: self.made(some, names, places)), pieces

    def made(self, pieces: Sequence[Piece], names: Sequence[str], places: IntArray) -> Predictions:
        """The predictions of some rows in some columns, checked."""
        if self.times is None:
            return RiskScores(numbers(pieces, names[0]), self.source, f"column {names[0]!r}")
        table = matrix(pieces, names, self.dtype)
        if self.times.size == 1:
            return Predictions(self.times, table, source=self.source)
        return Predictions(self.times[places], table, self.interpolation, self.tail, self.source)

    @property
    def source(self) -> str:
        """Where predictions are from, in words."""
        return self.files.given


@dataclass(frozen=True, eq=False)
class HeldModel(Model):
    """A model's predictions in another order than the test subjects: held in memory in the order of these.

    ``place`` is the test subject of each row of the files. They are read when they are first asked for.
    """

    place: IntArray
    _held: dict[str, Predictions] = field(default_factory=dict, init=False)
    _reading: Any = field(default_factory=Lock, init=False)

    @classmethod
    def of(cls, model: Model, place: IntArray) -> HeldModel:
        """The same model, with the test subject of each of its rows."""
        return cls(model.files, model.columns, model.times, model.interpolation, model.tail, place)

    def __reduce__(self) -> tuple[Any, ...]:
        return HeldModel, (self.files, self.columns, self.times, self.interpolation, self.tail, self.place)

    def read(
        self, start: int, stop: int, columns: Columns, size: int, identity: str | None = None
    ) -> Iterator[tuple[Predictions, Sequence[Piece]]]:
        """The predictions of the test subjects from ``start`` to before ``stop``, ``size`` at once."""
        whole = at_columns(self._whole(), columns)
        for first in range(start, stop, size):
            yield taken(whole, slice(first, min(first + size, stop))), ()

    def _whole(self) -> Predictions:
        with self._reading:
            if "all" not in self._held:
                self._held["all"] = self._gathered()
            return self._held["all"]

    def _gathered(self) -> Predictions:
        n, size = self.files.n, 2**16
        table = np.empty((n, len(self.columns)), dtype=self.dtype)
        rounded, row = 0, 0
        for part, _ in super().read(0, n, slice(None), size):
            rows = self.place[row : row + size]
            table[rows] = part.risk[:, None] if self.times is None else part.probabilities
            rounded += part.n_rounded
            row += size
        if self.times is None:
            return RiskScores(table[:, 0], self.source)
        return Predictions.trusted(
            part.times, table, part.interpolation, part.tail, part.source, n_rounded=rounded
        )
