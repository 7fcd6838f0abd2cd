"""Outcomes and predictions in Parquet files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NoReturn

import narwhals as nw
import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray, IntArray, as_tuple, check_choice, naming, refuse_column
from cocensor._notes import Note, noted
from cocensor.data import Predictions, Survival
from cocensor.data.covariates import Covariates, read_covariates
from cocensor.data.curves import is_risk, times_of
from cocensor.data.ids import check_distinct, join, refuse_missing, refuse_unknown
from cocensor.data.interpolation import TAILS, Tail
from cocensor.data.predictions import Interpolation, Predicted, RiskScores, on_times
from cocensor.data.probabilities import count_rounded, fall
from cocensor.data.tables import FLAGS, IDS, is_number, is_text, may_be_id
from cocensor.data.tables import Columns as TestColumns
from cocensor.scale.files import Files, Paths, Piece
from cocensor.scale.scan import Batch, Columns, Keys, Part, Scan, at_columns, hashed

_TIMES = "numbers (dates are not read in a stream: make times of them first)"
# Predictions in another order than the test subjects are held up to so many bytes.
_MOST_BYTES = 2**29
# Up to this many subjects the hashes of all ids are held, to find ids that come twice or in another order.
_MOST_HELD = 10_000_000
# A part has at most so many rows, unless a row group has more; and so few where that gives many parts.
_PART_ROWS, _SMALL_PART, _N_PARTS = 2**20, 2**16, 32
# So many rows are read at once where all are read.
_ROWS = 2**16


def scan_parquet(
    test: Paths,
    predictions: Mapping[str, Paths],
    *,
    time: str,
    event: str,
    covariates: str | Sequence[str] | None = None,
    administrative: str | None = None,
    reason: str | None = None,
    id: str | None = None,
    interpolation: Interpolation | None = None,
    tail: Tail | None = None,
) -> Scan:
    """Outcomes and predictions in Parquet files of any size, to be read in batches.

    Files are found, and their footers read; a file that is broken, or whose columns do not fit, is refused before any
    work. Rows are numbered through in the natural order of the files' paths ("part-2" before "part-10"), whatever the
    order in which they are given or read, and a hash of the number, or of the id, says who is drawn.

    Parameters
    ----------
    test : path, folder, pattern such as ``"test/*.parquet"``, or list of these
        A row per subject. Of a folder all files named ``.parquet``, ``.parq`` or ``.pq`` are read, those of folders in
        it included.
    predictions : dict
        The same for each model by name: survival probabilities, a row per subject and columns named after times. One
        column is a prediction at that time alone, or, named "risk", a risk score, the higher the riskier. Files need
        not be cut like those of ``test``.
    time, event : str
        Columns of the test files: observed times, and TRUE or 1 where the event was observed, also as texts. Dates are
        not read.
    covariates : str or list of str, optional
        Columns of numbers, texts or categories in the test files, as of :func:`evaluate`. A level that is not among the
        subjects fitted to is refused.
    administrative, reason : str, optional
        Columns of the test files, as of :class:`Survival`.
    id : str, optional
        The column of ids, whole numbers or texts, in the test files and in all files of predictions. Up to 10,000,000
        subjects predictions in another order are put into that of the test subjects if they take no more than 512 MiB,
        and a note says so. Beyond, ids must be in the same order: sort both. Without ids, rows must be in the same
        order.
    interpolation, tail
        What holds between the times of a model and beyond them, as of :class:`Predictions`: lines by default.

    Returns
    -------
    Scan

    Notes
    -----
    Of each file a row group is held at once, or of a large one some rows and a page of each column. Parts, which
    several workers read at once, end where row groups do: those of about 100,000 rows, cut alike in all files, take
    least memory and occupy most workers.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pyarrow as pa
    >>> from pyarrow import parquet
    >>> import cocensor as cc
    >>> folder = tempfile.TemporaryDirectory()
    >>> at = Path(folder.name)
    >>> parquet.write_table(pa.table({"months": [3.0, 8.0], "died": [1, 0]}), at / "test-1.parquet")
    >>> parquet.write_table(pa.table({"months": [5.0], "died": [1]}), at / "test-2.parquet")
    >>> parquet.write_table(pa.table({"4": [0.4, 0.9, 0.6], "8": [0.1, 0.7, 0.2]}), at / "cox.parquet")
    >>> scan = cc.scan_parquet(at / "test-*.parquet", {"cox": at / "cox.parquet"}, time="months", event="died")
    >>> scan
    ParquetScan(n=3 in 2 files; cox (2 times, 4 to 8))
    >>> for part in scan.parts:
    ...     for batch in scan.batches(part):
    ...         print(batch.rows, batch.y, batch.predictions["cox"].probabilities[:, 0])
    [0 1 2] Survival(n=3, events=2, censored=33.3%, times 3 to 8) [0.4 0.9 0.6]
    >>> folder.cleanup()
    """
    if interpolation is not None:
        check_choice(interpolation, "interpolation", ("linear", "step"))
    if tail is not None:
        check_choice(tail, "tail", TAILS)
    if not isinstance(predictions, Mapping):
        raise TypeError(
            f"predictions must be a dict of files by model, but is of type {type(predictions).__name__}."
        )
    if not predictions:
        raise ValueError("predictions is empty: at least one model is needed.")
    given = () if covariates is None else as_tuple(covariates, "covariates", str)
    columns = TestColumns(event, time, administrative, reason=reason, id=id, covariates=given)
    subjects = Files.of(test, "test")
    _check_types(subjects, columns)
    models = {
        name: _Model.of(Files.of(paths, f"predictions[{name!r}]"), id, interpolation, tail)
        for name, paths in predictions.items()
    }
    if id is None:
        tables = {f"predictions[{name!r}]": model.table for name, model in models.items()}
        for name, table in tables.items():
            _check_rows(name, table, subjects)
        notes = [
            noted("files_sorted", of=name, first=table.files[0].path)
            for name, table in ({"test": subjects} | tables).items()
            if table.places != sorted(table.places)
        ]
        return ParquetScan(subjects, columns, models, notes)
    subjects.check(id, may_be_id, IDS)
    are_texts = is_text(subjects.files[0].types[id])
    alike = f"{'texts' if are_texts else 'whole numbers'}, like {subjects.files[0].path}"
    for files in (subjects, *(model.table for model in models.values())):
        files.check(id, lambda kind: may_be_id(kind) and is_text(kind) == are_texts, alike)
    keys = _all_keys(subjects, id) if subjects.n <= _MOST_HELD else None
    notes = []
    for name, model in models.items():
        models[name] = model.in_order(subjects, keys, id)
        if models[name].held is not None:
            notes.append(noted("put_in_order", model=name, id=id, predictions=name))
    return ParquetScan(subjects, columns, models, notes)


class ParquetScan(Scan):
    """Parquet files of test subjects and of predictions."""

    def __init__(
        self, test: Files, columns: TestColumns, models: Mapping[str, _Model], notes: Sequence[Note]
    ) -> None:
        self._test, self._columns, self._models = test, columns, models
        self.n, self.models, self.covariates = test.n, tuple(models), columns.covariates
        self.notes, self._pieces = tuple(notes), (len(test.files), "file")
        self.parts = tuple(_parts([test, *(model.table for model in models.values() if model.held is None)]))

    def grid(self, model: str) -> FloatArray | None:
        """The times of a model's columns; None of a risk score."""
        return self._models[model].times

    def batches(self, part: Part, columns: Mapping[str, Columns] | None = None) -> Iterator[Batch]:
        """The batches of a part with all predictions, or with those of some models at some columns of their grid."""
        chosen, size = self._opened(part, columns)
        start, stop = part.start, part.stop
        readers = {name: self._models[name].read(start, stop, where, size) for name, where in chosen.items()}
        rows = np.arange(start, stop)
        for pieces in self._test.read(self._columns.names, start, stop, size):
            numbers, rows = rows[:size], rows[size:]
            key = hashed(numbers) if self._columns.id is None else _keys(pieces, self._columns.id)
            tables = [piece.table for piece in pieces]
            y = Survival.joined([self._columns.read(table) for table in tables])
            x = [read_covariates(table, self.covariates) for table in tables if self.covariates]
            predictions = {name: next(reader) for name, reader in readers.items()}
            yield Batch(numbers, y, Covariates.joined(x) if x else None, predictions, key)


def _parts(tables: Sequence[Files]) -> Iterator[Part]:
    """Yield parts that end where the largest row groups do, and are large where others are read twice across an end."""
    test, n = tables[0], tables[0].n
    ends = min((files.ends for files in tables), key=len)
    are_alike = all(np.isin(ends, files.ends).all() for files in tables)
    most = min(max(n // _N_PARTS, _SMALL_PART), _PART_ROWS) if are_alike else _PART_ROWS
    start = 0
    for last, end in pairwise([*ends.tolist(), n + most + 1]):
        if end - start > most:
            path, row = test.place(start)
            yield Part(start, last, f"{last - start:,} rows from {row} of {path} on")
            start = last


@dataclass(frozen=True, eq=False)
class _Model:
    """A model's predictions, a row per subject, with columns named after times."""

    table: Files
    #: The names of the columns, in the order of times.
    columns: tuple[str, ...]
    #: The times of the columns; None of a risk score.
    times: FloatArray | None
    interpolation: Interpolation | None
    tail: Tail | None
    #: All predictions in the order of the test subjects, where they are in another one in the table.
    held: Predicted | None = None

    @classmethod
    def of(
        cls, table: Files, identity: str | None, interpolation: Interpolation | None, tail: Tail | None
    ) -> _Model:
        """Return the predictions in a table, whose columns are checked."""
        table.check_alike()
        if identity is not None and identity not in table.columns:
            refuse_column(identity, table.columns, table.files[0].path)
        columns = tuple(name for name in table.columns if name != identity)
        times = None
        if not is_risk(columns):
            with naming(table.files[0].path):
                times = times_of(columns, option="id={!r}" if identity is None else None)
        for name in columns:
            table.check(name, is_number, "numbers")
        if times is not None and times.size == 2 and times[0] == 0:
            pieces = (piece for lot in table.read(columns[:1], 0, table.n, _ROWS) for piece in lot)
            if all((piece.table.numbers(columns[0]) == 1).all() for piece in pieces):
                columns, times = columns[1:], times[1:]  # S(0) = 1 makes no curve of a prediction at one time
        if times is not None and times.size == 1:
            interpolation = tail = None
        return cls(table, columns, times, interpolation, tail)

    def in_order(self, test: Files, wanted: Keys | None, id: str) -> _Model:
        """Return the predictions in the order of the test subjects, by all of their keys where these can be held."""
        if wanted is None:
            _check_same_ids(test, self.table, id)
            return self
        rows = join(test, wanted, self.table, _all_keys(self.table, id), id)
        if rows is None:
            return self
        n_bytes = self.table.n * len(self.columns) * np.dtype(self._dtype).itemsize
        if n_bytes > _MOST_BYTES:
            first = int(np.flatnonzero(rows != np.arange(rows.size))[0])
            _refuse_order(test, self.table, first, id, f"{n_bytes / 2**20:.0f} MiB are too many to be held")
        everyone = list(self.read(0, self.table.n, slice(None), _ROWS))
        return replace(self, held=everyone[0].joined(everyone).taken(rows))

    def read(self, start: int, stop: int, columns: Columns, size: int) -> Iterator[Predicted]:
        """Yield the predictions of the subjects from ``start`` to before ``stop``, ``size`` at once."""
        if self.held is not None:
            held = at_columns(self.held, columns)
            yield from (held.taken(slice(k, min(k + size, stop))) for k in range(start, stop, size))
            return
        places = np.arange(len(self.columns))[columns if self.times is not None else slice(None)]
        names = [self.columns[k] for k in places]
        for pieces in self.table.read(names, start, stop, size):
            yield self._checked(pieces, names, places)

    def _checked(self, pieces: Sequence[Piece], names: Sequence[str], places: IntArray) -> Predicted:
        """Return the predictions of some rows in some columns; a refusal names the file, and the row in it."""
        source = self.table.given
        if self.times is None:
            return RiskScores(np.concatenate([piece.table.numbers(names[0]) for piece in pieces]), source)
        # In Fortran order, which is one plain copy for each column.
        values = np.empty((len(names), sum(piece.data.num_rows for piece in pieces)), self._dtype).T
        for own, name in zip(values.T, names, strict=True):
            np.concatenate([piece.numbers(name) for piece in pieces], out=own)
        times, rounded, start = self.times[places], 0, 0
        for piece in () if fall(values) else pieces:
            stop, rows = start + piece.data.num_rows, piece.table
            rows.matrix(names)  # refuses what is no number
            with naming(piece.path):
                rounded += count_rounded(values[start:stop], "probabilities", times, rows.row)
            start = stop
        make = on_times if self.times.size == 1 else Predictions.trusted
        return make(times, values, self.interpolation, self.tail, source, rounded)

    @property
    def _dtype(self) -> npt.DTypeLike:
        """Single precision, where all columns of all files are in it."""
        kinds = {file.types[name] for file in self.table.files for name in self.columns}
        return np.float32 if kinds == {nw.Float32()} else np.float64


def _check_types(files: Files, columns: TestColumns) -> None:
    """Refuse files that lack a column, or have one of a type that cannot be read."""
    rules: dict[str | None, str] = {
        columns.event: FLAGS,
        columns.administrative: FLAGS,
        columns.reason: "texts, or numbers that stand for them",
        **dict.fromkeys(columns.covariates, "numbers or texts, and no dates"),
    }
    files.check(str(columns.time), is_number, _TIMES)
    for name, rule in rules.items():
        if name is not None:
            files.check(name, lambda kind: is_number(kind) or is_text(kind), rule)
    for name in columns.covariates:
        are_texts = is_text(files.files[0].types[name])
        alike = f"{'categories' if are_texts else 'numbers'}, as in {files.files[0].path}"
        files.check(name, is_text if are_texts else is_number, alike)


def _check_rows(name: str, files: Files, test: Files) -> None:
    """Refuse predictions that cannot be those of the test subjects, by their numbers."""
    if files.n != test.n:
        raise ValueError(
            f"{name} must have a row for each of the {test.n:,} rows of {test.given}, but {files.given} has "
            f"{files.n:,}."
        )
    own, wanted = np.diff(files.starts), np.diff(test.starts)
    as_given = np.array_equal(own[np.argsort(files.places)], wanted[np.argsort(test.places)])
    if as_given and not np.array_equal(own, wanted):
        raise ValueError(
            f"{name} has as many rows as test file by file in the order of the lists, but not in that of their names, "
            "by which rows are numbered: name files alike, or give an id."
        )


def _keys(pieces: Sequence[Piece], id: str) -> Keys:
    return np.concatenate([piece.keys(id) for piece in pieces])


def _all_keys(files: Files, id: str) -> Keys:
    """Return the hashes of all ids, each of which comes once."""
    keys = np.concatenate([_keys(pieces, id) for pieces in files.read([id], 0, files.n, _ROWS)])
    check_distinct(files, keys, id)
    return keys


def _check_same_ids(test: Files, predicted: Files, id: str) -> None:
    """Refuse predictions whose ids are not those of the test subjects row by row, of which no more are held."""
    common = min(test.n, predicted.n)
    starts = range(0, common, _ROWS)
    lots = (files.read([id], 0, common, _ROWS) for files in (test, predicted))
    for start, *both in zip(starts, *lots, strict=True):
        keys = [_keys(pieces, id) for pieces in both]
        for files, own in zip((test, predicted), keys, strict=True):
            for again in np.flatnonzero(own[1:] == own[:-1])[:1]:
                path, row = files.place(number := start + int(again) + 1)
                raise ValueError(
                    f"{path}: {id} must differ between rows, but {row} has {files.value(id, number)!r} like the "
                    "row before."
                )
        for other in np.flatnonzero(keys[0] != keys[1])[:1]:
            many = f"more than {_MOST_HELD:,} are not put into another order"
            _refuse_order(test, predicted, start + int(other), id, many)
    if test.n > common:
        refuse_missing(test, predicted, id, common, test.n - common)
    if predicted.n > common:
        refuse_unknown(test, predicted, id, common, predicted.n - common)


def _refuse_order(test: Files, predicted: Files, number: int, id: str, why: str) -> NoReturn:
    """Raise that a prediction is another's than that of the test subject of the same number, and ``why`` it stays."""
    (path, own), (other, wanted) = predicted.place(number), test.place(number)
    raise ValueError(
        f"{path}: {id} must be in the order of the test subjects, but {own} has {predicted.value(id, number)!r} "
        f"where {wanted} of {other} has {test.value(id, number)!r}, and {why}: sort both by {id}."
    )
