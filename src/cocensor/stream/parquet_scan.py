"""Parquet files of test subjects and of predictions, read side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cocensor._notes import Note
from cocensor._validation import FloatArray
from cocensor.curves import Predictions
from cocensor.stream.columns import Piece, checked
from cocensor.stream.draw import hashed
from cocensor.stream.files import Cursor, Files
from cocensor.stream.ids import compare, keys_of
from cocensor.stream.models import HeldModel, Model
from cocensor.stream.source import Batch, Columns, Part, Scan, batch_rows
from cocensor.stream.subjects import SubjectColumns

# A part has at most so many rows, unless a row group has more; and so few where that gives many parts.
_PART_ROWS, _SMALL_PART, _N_PARTS = 2**20, 2**16, 32


@dataclass(frozen=True)
class ParquetPart:
    """The rows from ``start`` to before ``stop``."""

    start: int
    stop: int
    name: str

    @property
    def n_rows(self) -> int:
        """The number of its subjects."""
        return self.stop - self.start


class ParquetScan(Scan):
    """Parquet files of test subjects and of predictions."""

    def __init__(
        self,
        test: Files,
        columns: SubjectColumns,
        models: Mapping[str, Model],
        notes: tuple[Note, ...],
        compared: bool,
    ) -> None:
        self._test, self._columns, self._models = test, columns, dict(models)
        # Whether ids are compared batch by batch, because they are too many to be compared beforehand.
        self._compared = compared
        self.n, self.models, self.covariates = test.n, tuple(models), columns.covariates
        self.notes = notes
        self.parts = tuple(
            _parts(test, [each for each in models.values() if not isinstance(each, HeldModel)])
        )

    def grid(self, model: str) -> FloatArray | None:
        """The times of a model's columns; None of a risk score."""
        return self._models[model].times

    def outcomes(self, part: Part) -> Iterator[Batch]:
        """The batches of a part, without predictions."""
        return self.batches(part, {})

    def batches(self, part: Part, columns: Mapping[str, Columns] | None = None) -> Iterator[Batch]:
        """The batches of a part with all predictions, or with those of some models at some columns of their grid."""
        if not isinstance(part, ParquetPart):
            raise TypeError(
                f"part must be one of the parts of this scan, but is of type {type(part).__name__}."
            )
        asked = dict.fromkeys(self.models, slice(None)) if columns is None else columns
        size = batch_rows(max((self._models[name].width(where) for name, where in asked.items()), default=1))
        test = Cursor(self._test.read(self._columns.names, part.start, part.stop, size))
        identity = self._columns.identity if self._compared else None
        readers = {
            name: self._models[name].read(part.start, part.stop, where, size, identity)
            for name, where in asked.items()
        }
        for start in range(part.start, part.stop, size):
            pieces = test.take(min(size, part.stop - start))
            predictions = dict[str, Predictions]()
            for name, reader in readers.items():
                predictions[name], own = next(reader)
                if identity is not None:
                    compare(pieces, own, identity)
            yield self._batch(start, pieces, predictions)

    def _batch(self, start: int, pieces: list[Piece], predictions: Mapping[str, Predictions]) -> Batch:
        y = checked(pieces, self._columns.outcomes)
        x = checked(pieces, self._columns.table) if self.covariates else None
        rows = np.arange(start, start + len(y))
        identity = self._columns.identity
        key = hashed(rows) if identity is None else checked(pieces, lambda some: keys_of(some, identity))
        return Batch(rows, y, x, predictions, key)

    @property
    def _pieces(self) -> str:
        return f"{len(self._test.paths):,} file{'s' if len(self._test.paths) > 1 else ''}"


def _parts(test: Files, models: Sequence[Model]) -> Iterator[ParquetPart]:
    """Parts that end where row groups end: in all files alike, or else in those with the largest row groups."""
    tables = [test, *(model.files for model in models)]
    most = min(max(test.n // _N_PARTS, _SMALL_PART), _PART_ROWS)
    ends = tables[0].ends
    for files in tables[1:]:
        ends = np.intersect1d(ends, files.ends)
    if np.diff(ends, prepend=0).max() > _PART_ROWS:
        # Then smaller row groups across an end are read twice: parts are large.
        ends, most = min((files.ends for files in tables), key=len), _PART_ROWS
    start, last = 0, 0
    for end in [*ends.tolist(), test.n + most + 1]:
        if end - start > most and last > start:
            yield ParquetPart(start, last, _named(test, start, last))
            start = last
        last = end


def _named(test: Files, start: int, stop: int) -> str:
    (first, row), (last, end) = test.place(start), test.place(stop - 1)
    return (
        f"rows {row:,} to {end:,} of {first}"
        if first == last
        else f"{first}, row {row:,}, to {last}, row {end:,}"
    )
