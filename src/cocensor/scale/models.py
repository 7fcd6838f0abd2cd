"""The predictions of one model in Parquet files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray, IntArray, naming, refuse_column
from cocensor.data import Predictions
from cocensor.data.curves import is_risk, times_of
from cocensor.data.interpolation import Tail
from cocensor.data.predictions import Interpolation, Predicted, PredictionsAt, RiskScores
from cocensor.data.probabilities import count_rounded, fall
from cocensor.data.tables import is_number
from cocensor.scale.files import Cursor, Files, Piece
from cocensor.scale.source import Columns, at_columns, stacked


@dataclass(frozen=True, eq=False)
class Model:
    """A model's predictions, a row per subject, with columns named after times.

    Those in another order than the test subjects are read when they are first asked for, and held.
    """

    files: Files
    #: The names of the columns, in the order of times.
    columns: tuple[str, ...]
    #: The times of the columns; None of a risk score.
    times: FloatArray | None
    interpolation: Interpolation | None
    tail: Tail | None
    #: The row of each test subject, where they are not in the same order.
    rows: IntArray | None = None
    _held: dict[str, Predicted] = field(default_factory=dict, init=False)
    _reading: Any = field(default_factory=Lock, init=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return Model, (self.files, self.columns, self.times, self.interpolation, self.tail, self.rows)

    @classmethod
    def found(
        cls, files: Files, identity: str | None, interpolation: Interpolation | None, tail: Tail | None
    ) -> Model:
        """Return the predictions in some files, whose columns are checked."""
        files.check_alike()
        if identity is not None and identity not in files.columns:
            refuse_column(identity, files.columns, files.paths[0])
        columns = tuple(name for name in files.columns if name != identity)
        times = None
        if not is_risk(columns):
            with naming(files.paths[0]):
                times = times_of(columns, option="id={!r}" if identity is None else None)
        for name in columns:
            files.check(name, is_number, "numbers")
        if times is not None and times.size == 2 and times[0] == 0 and _is_one(files, columns[0]):
            columns, times = columns[1:], times[1:]  # S(0) = 1 makes no curve of a prediction at one time
        if times is not None and times.size == 1:
            interpolation = tail = None
        return cls(files, columns, times, interpolation, tail)

    @property
    def dtype(self) -> npt.DTypeLike:
        """Single precision, where all columns of all files are in it."""
        kinds = {types[name] for types in self.files.types for name in self.columns}
        return np.float32 if kinds == {nw.Float32()} else np.float64

    @property
    def n_bytes(self) -> int:
        """How much memory all predictions would take."""
        return self.files.n * len(self.columns) * np.dtype(self.dtype).itemsize

    def width(self, columns: Columns) -> int:
        """How many columns are read."""
        return 1 if self.times is None else self.times[columns].size

    def read(
        self, start: int, stop: int, columns: Columns, size: int, identity: str | None = None
    ) -> Iterator[tuple[Predicted, Sequence[Piece]]]:
        """Yield the predictions of the subjects from ``start`` to before ``stop``, ``size`` at once, and their rows."""
        if self.rows is None:
            yield from self._read(start, stop, columns, size, identity)
            return
        with self._reading:
            if "all" not in self._held:
                parts = [part for part, _ in self._read(0, self.files.n, slice(None), 2**16)]
                self._held["all"] = stacked(parts)[self.rows]
        whole = at_columns(self._held["all"], columns)
        for first in range(start, stop, size):
            yield whole.taken(slice(first, min(first + size, stop))), ()

    def _read(
        self, start: int, stop: int, columns: Columns, size: int, identity: str | None = None
    ) -> Iterator[tuple[Predicted, Sequence[Piece]]]:
        """Yield the predictions in the rows of the files."""
        places = np.arange(len(self.columns))[columns if self.times is not None else slice(None)]
        names = [self.columns[k] for k in places]
        read = names if identity is None else [*names, identity]
        cursor = Cursor(self.files.read(read, start, stop, size))
        for first in range(start, stop, size):
            pieces = cursor.take(min(size, stop - first))
            yield self._checked(pieces, names, places), pieces

    def _checked(self, pieces: Sequence[Piece], names: Sequence[str], places: IntArray) -> Predicted:
        """Return the predictions of some rows in some columns; a refusal names the file, and the row in it."""
        if self.times is None:
            scores = [piece.table.numbers(names[0]) for piece in pieces]
            return RiskScores(np.concatenate(scores), self.source)
        times, table = self.times[places], _matrix(pieces, names, self.dtype)
        rounded, start = 0, 0
        for piece in () if fall(table) else pieces:
            stop, rows = start + piece.data.num_rows, piece.table
            rows.matrix(names)  # refuses what is no number
            with naming(piece.path):
                rounded += count_rounded(table[start:stop], "probabilities", times, rows.row)
            start = stop
        if self.times.size == 1 and self.tail is None:
            return PredictionsAt.trusted(float(times[0]), table, self.source, rounded)
        return Predictions.trusted(times, table, self.interpolation, self.tail, self.source, rounded)

    @property
    def source(self) -> str:
        """Where predictions are from, in words."""
        return self.files.given


def _matrix(pieces: Sequence[Piece], names: Sequence[str], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return columns of numbers side by side: in Fortran order, which is one plain copy for each column."""
    values = np.empty((len(names), sum(piece.data.num_rows for piece in pieces)), dtype=dtype)
    start = 0
    for piece in pieces:
        stop = start + piece.data.num_rows
        for k, name in enumerate(names):
            column = piece.data.column(name)
            is_plain = not column.null_count and column.type.bit_width in (32, 64)
            array = column.to_numpy(zero_copy_only=False) if is_plain else piece.table.numbers(name)
            values[k, start:stop] = array
        start = stop
    return values.T


def _is_one(files: Files, column: str) -> bool:
    """Whether a column is 1 in every row."""
    pieces = files.read([column], 0, files.n, 2**16)
    return all(bool((piece.table.numbers(column) == 1).all()) for piece in pieces)
