"""Outcomes and predictions in Parquet files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cocensor._checks import FloatArray, as_tuple, check_choice
from cocensor._notes import Note, noted
from cocensor.data import Survival
from cocensor.data.covariates import Covariates, read_covariates
from cocensor.data.ids import join
from cocensor.data.interpolation import TAILS, Tail
from cocensor.data.predictions import Interpolation, Predicted
from cocensor.data.tables import FLAGS, is_number, is_text
from cocensor.data.tables import Columns as TestColumns
from cocensor.scale.draw import hashed
from cocensor.scale.files import Cursor, Files, Paths
from cocensor.scale.ids import MOST_HELD, all_keys, check_ids, compare, keys_of, refuse_lengths, refuse_order
from cocensor.scale.models import Model
from cocensor.scale.source import Batch, Columns, Part, Scan, batch_rows

_TIMES = "numbers (dates are not read in a stream: make times of them first)"
# Predictions in another order than the test subjects are held up to so many bytes.
_MOST_BYTES = 2**29
# A part has at most so many rows, unless a row group has more; and so few where that gives many parts.
_PART_ROWS, _SMALL_PART, _N_PARTS = 2**20, 2**16, 32


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
        column is a prediction at that time alone, or, named "risk", a risk score, the greater the riskier. Files need
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
        subjects ids are compared here and now; predictions in another order are then put into that of the test subjects
        if they take no more than 512 MiB, and a note says so. Beyond, ids are compared as they are read, and must be in
        the same order: sort both. Without ids, rows must be in the same order.
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
    subjects = Files.found(test, "test")
    _check_types(subjects, columns)
    models = {
        name: Model.found(Files.found(paths, f"predictions[{name!r}]"), id, interpolation, tail)
        for name, paths in predictions.items()
    }
    if id is not None:
        check_ids(subjects, [model.files for model in models.values()], id)
        if subjects.n <= MOST_HELD:
            models, notes = _matched(models, subjects, id)
            return ParquetScan(subjects, columns, models, tuple(notes), compared=False)
    for name, model in models.items():
        _check_rows(name, model.files, subjects, id)
    notes = [] if id is not None else _order_notes(subjects, models)
    return ParquetScan(subjects, columns, models, tuple(notes), compared=id is not None)


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
            files.check(name, _is_number_or_text, rule)
    for name in columns.covariates:
        kinds = [is_text(types[name]) for types in files.types]
        if len(set(kinds)) > 1:
            other = kinds.index(not kinds[0])
            raise ValueError(
                f"{files.paths[other]}: column {name!r} must have {'categories' if kinds[0] else 'numbers'}, as in "
                f"{files.paths[0]}, but has type {files.types[other][name]}."
            )


def _is_number_or_text(kind: Any) -> bool:
    return is_number(kind) or is_text(kind)


def _matched(models: Mapping[str, Model], test: Files, identity: str) -> tuple[dict[str, Model], list[Note]]:
    """Return models whose predictions are in the order of the test subjects, or are put into it, and notes."""
    keys, matched, notes = all_keys(test, identity), dict[str, Model](), list[Note]()
    for name, model in models.items():
        rows = join(test, keys, model.files, all_keys(model.files, identity), identity)
        if rows is not None:
            if model.n_bytes > _MOST_BYTES:
                size = f"{model.n_bytes / 2**20:.0f} MiB are too many to be held"
                first = int(np.flatnonzero(rows != np.arange(rows.size))[0])
                refuse_order(test, model.files, first, identity, size)
            notes.append(noted("put_in_order", model=name, id=identity, predictions=name))
        matched[name] = replace(model, rows=rows)
    return matched, notes


def _check_rows(name: str, files: Files, test: Files, identity: str | None) -> None:
    """Refuse predictions that cannot be those of the test subjects, by their numbers."""
    if files.n != test.n:
        if identity is not None:
            refuse_lengths(test, files, identity)
        raise ValueError(
            f"predictions[{name!r}] must have a row for each of the {test.n:,} rows of {test.given}, but {files.given} "
            f"has {files.n:,}."
        )
    if identity is None:
        as_listed = [[each.sizes[k] for k in each.listed] for each in (test, files)]
        if as_listed[0] == as_listed[1] and test.sizes != files.sizes:
            raise ValueError(
                f"predictions[{name!r}] has as many rows as test file by file in the order of the lists, but not in "
                "that of their names, by which rows are numbered: name files alike, or give an id."
            )


def _order_notes(test: Files, models: Mapping[str, Model]) -> list[Note]:
    """What was decided about files that were not listed in the order of their names."""
    tables = {"test": test} | {f"predictions[{name!r}]": model.files for name, model in models.items()}
    return [
        noted("files_sorted", of=name, first=files.paths[0])
        for name, files in tables.items()
        if list(files.listed) != sorted(files.listed)
    ]


class ParquetScan(Scan):
    """Parquet files of test subjects and of predictions."""

    def __init__(
        self,
        test: Files,
        columns: TestColumns,
        models: Mapping[str, Model],
        notes: tuple[Note, ...],
        compared: bool,
    ) -> None:
        self._test, self._columns, self._models = test, columns, dict(models)
        # Whether ids are compared batch by batch, because they are too many to be compared beforehand.
        self._compared = compared
        self.n, self.models, self.covariates = test.n, tuple(models), columns.covariates
        self.notes = notes
        self.parts = tuple(_parts(test, [model.files for model in models.values() if model.rows is None]))

    def grid(self, model: str) -> FloatArray | None:
        """The times of a model's columns; None of a risk score."""
        return self._models[model].times

    def batches(self, part: Part, columns: Mapping[str, Columns] | None = None) -> Iterator[Batch]:
        """The batches of a part with all predictions, or with those of some models at some columns of their grid."""
        self._check(part)
        asked = dict.fromkeys(self.models, slice(None)) if columns is None else columns
        size = batch_rows(max((self._models[name].width(where) for name, where in asked.items()), default=1))
        test = Cursor(self._test.read(self._columns.names, part.start, part.stop, size))
        identity = self._columns.id if self._compared else None
        readers = {
            name: self._models[name].read(part.start, part.stop, where, size, identity)
            for name, where in asked.items()
        }
        for start in range(part.start, part.stop, size):
            pieces = test.take(min(size, part.stop - start))
            rows = np.arange(start, min(start + size, part.stop))
            key = hashed(rows) if self._columns.id is None else keys_of(pieces, self._columns.id)
            predictions = dict[str, Predicted]()
            for name, reader in readers.items():
                predictions[name], own = next(reader)
                if identity is not None:
                    files = self._models[name].files
                    compare(self._test, files, start, key, keys_of(own, identity), identity)
            tables = [piece.table for piece in pieces]
            y = Survival.joined([self._columns.read(table) for table in tables])
            x = None
            if self.covariates:
                x = Covariates.joined([read_covariates(table, self.covariates) for table in tables])
            yield Batch(rows, y, x, predictions, key)

    @property
    def _pieces(self) -> str:
        return f"{len(self._test.paths):,} file{'s' if len(self._test.paths) > 1 else ''}"


def _parts(test: Files, others: Sequence[Files]) -> Iterator[Part]:
    """Parts that end where row groups end: in all files alike, or else in those with the largest row groups."""
    tables = [test, *others]
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
            yield Part(start, last, _named(test, start, last))
            start = last
        last = end


def _named(test: Files, start: int, stop: int) -> str:
    (first, row), (last, end) = test.place(start), test.place(stop - 1)
    return (
        f"rows {row:,} to {end:,} of {first}"
        if first == last
        else f"{first}, row {row:,}, to {last}, row {end:,}"
    )
