"""Tables of predictions: which columns are times, whether a row is a subject or a time, and what makes no curve."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

import narwhals as nw
import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray, as_times, as_vector, refuse_column, spelled
from cocensor._notes import Note, noted
from cocensor.data.ids import Ids, count_from, is_numbered, rows_by_file_label, rows_by_id
from cocensor.data.interpolation import Tail
from cocensor.data.predictions import Interpolation, Predicted, RiskScores, on_times
from cocensor.data.probabilities import count_rounded
from cocensor.data.steps import check_increasing
from cocensor.data.tables import NUMBER, Table, is_number

# What R's data.frame() makes of a column name that starts with a digit.
_R_NAME = re.compile(r"X\d.*")


def is_risk(columns: Sequence[Any]) -> bool:
    """Whether the columns of predictions are a single one, a risk score."""
    return [spelled(name).strip().lower() for name in columns] == ["risk"]


def times_of(columns: Sequence[Any], decimal: str = ".", option: str | None = None) -> FloatArray:
    """Return the times that columns are named after, also with R's X before each.

    ``option`` is how a user would name the column of ids, where there is none yet.

    Examples
    --------
    >>> times_of(["0.5", "1", "1e1"])
    array([ 0.5,  1. , 10. ])
    """
    spelt = _spelt(columns, decimal)
    for name, text in zip(columns, spelt, strict=True):
        if not NUMBER.fullmatch(text):
            hint = f": did you mean {option.format(name)}?" if option is not None and name else "."
            raise ValueError(f"column names must be times, but one is {name!r}{hint}")
    if not spelt:
        raise ValueError("no column name is a time.")
    times = as_vector([float(text) for text in spelt], "times")
    if times.min() < 0:
        raise ValueError(f"times must not be negative, but column {columns[int(times.argmin())]!r} is.")
    for fall in np.flatnonzero(np.diff(times) <= 0)[:1]:
        order = f"column {columns[fall + 1]!r} comes after {columns[fall]!r}"
        raise ValueError(f"times must increase strictly, but {order}.")
    if times[-1] == 0:
        raise ValueError("no column name is a time after 0.")
    return times


def _spelt(columns: Sequence[Any], decimal: str) -> list[str]:
    """Return the names of columns as numbers are spelt, where they may be numbers."""
    spelt = [spelled(name).strip().replace(decimal, ".") for name in columns]
    is_of_r = bool(spelt) and all(_R_NAME.fullmatch(name) for name in spelt)
    return [name[1:] for name in spelt] if is_of_r else spelt


def after_start(times: FloatArray, table: npt.NDArray[Any]) -> tuple[FloatArray, npt.NDArray[Any]]:
    """Return times and probabilities without a time 0 beside a single other: S(0) = 1 makes no curve of the latter."""
    starts = times.size == 2 and times[0] == 0 and bool((table[:, 0] == 1).all())
    return (times[1:], table[:, 1:]) if starts else (times, table)


class CurveTable(NamedTuple):
    """Predictions as a table has them, a row per subject in the table's order."""

    times: FloatArray | None  # of the columns; None of a risk score
    values: npt.NDArray[Any]
    labels: Any  # what the table calls each subject; None where nothing does
    what: str  # whether a subject has a "row" or a "column" in the table
    whose: Callable[[int], str]  # what refusals call a subject, by its number

    def after_start(self) -> CurveTable:
        """Return the table without a time 0 that makes no curve of one other time."""
        if self.times is None:
            return self
        times, values = after_start(self.times, self.values)
        return self._replace(times=times, values=values)

    def predictions(self, interpolation: Interpolation | None, tail: Tail | None, source: str) -> Predicted:
        """Return the checked predictions."""
        if self.times is None:
            return RiskScores(self.values, source)
        rounded = count_rounded(self.values, "probabilities", self.times, self.whose)
        return on_times(self.times, self.values, interpolation, tail, source, rounded)


def read_curves(
    table: Table,
    n: int,
    *,
    id: str | None = None,
    id_option: str | None = None,
    time: str | None = None,
    times: FloatArray | None = None,
) -> CurveTable:
    """Return what a table predicts for ``n`` subjects, by the rules of :meth:`Predictions.from_frame`.

    With a column ``id``, or the index of pandas in its place, there may be any number of rows; ``id_option`` is how a
    user would name it, where none is named. ``times`` are those of the evaluation, by which columns may be numbered.
    """
    id_option = id_option if id is None else None
    columns = [column for column in table.columns if column not in (id, table.index)]
    has_ids = id is not None and table.has(id)
    turned = None if has_ids else _times_in_rows(table, columns, n, time)
    if turned is not None:
        if time is not None or not (len(table) == n and _are_times(columns, table.decimal)):
            return _by_time(table, *turned, n)
        counted_from = (0,) if table.index is None else (0, 1)
        if not count_from(table.labels, *counted_from) or count_from(columns, 0):
            instead = "give a pair (times, array) with a row per subject instead"
            named = "name its first column, time or, with --id, the column of ids"
            raise ValueError(
                f"{table.name} has {n} rows and {n} columns for {n} test subjects, and can be read both ways: "
                f"{instead if table.index is None else named}."
            )
    if not has_ids:
        if len(table) != n and (table.labels is None or id is None or abs(len(columns) - n) < 2):
            _refuse_shape(table, columns, n, id_option)
        if id is not None and table.labels is None:
            refuse_column(id, table.columns, table.name)
    labels = table.ids(id) if has_ids and id is not None else table.labels
    if is_risk(columns):
        return CurveTable(None, table.numbers(columns[0]), labels, "row", table.row)
    with table.naming():
        grid = times_of(columns, table.decimal, id_option)
        # Numbers from 0 on say nothing, but for the times of the evaluation. Texts were written by somebody: they are
        # doubted only where an array would do.
        wanted = None if times is None or times.shape != grid.shape else times
        doubtful = wanted is not None or not all(isinstance(name, str) for name in columns)
        if is_numbered(grid) and doubtful and (wanted is None or not np.allclose(grid, wanted)):
            raise ValueError(
                "columns that are numbered 0, 1, 2, ... do not say their times: name the columns by their times, or "
                "give the array itself."
            )
    return CurveTable(grid, np.ascontiguousarray(table.matrix(columns)), labels, "row", table.row)


def predictions_of(
    table: Table,
    test: Table,
    id: str | None,
    interpolation: Interpolation | None,
    tail: Tail | None,
    source: str,
    how: str,
) -> tuple[Predicted, list[Note]]:
    """Return the predictions in a file, in the order of the subjects of the test file, and what was decided.

    The column ``id`` says whose each is, or, without it, the index that pandas wrote. ``source`` is what predictions
    call the file, and ``how`` they are read between and beyond their times.
    """
    curves = read_curves(table, len(test), id=id, id_option="--id {}").after_start()
    if curves.times is None:
        how = "a risk score"
    elif curves.times.size == 1:  # nothing is told of what holds between times and beyond
        interpolation, tail, how = None, None, f"at time {curves.times[0]:g} alone"
    with table.naming():
        predictions = curves.predictions(interpolation, tail, f"{source}, {how}")
    notes, by_row = [*table.notes], curves.what == "row"
    if table.index is not None and by_row and id is not None:
        of_index = noted("index_as_id", file=table.name, id=id)
        notes.append(noted("index_left_out", file=table.name) if table.has(id) else of_index)
    if curves.labels is None:
        return predictions, notes
    own = Ids(table.name, curves.labels, table.is_typed and by_row, curves.what, table.is_of_lines)
    if id is not None:
        rows, matched = rows_by_id(
            Ids(test.name, test.ids(id), test.is_typed, is_of_lines=test.is_of_lines), own, id
        )
    else:
        rows, matched = rows_by_file_label(own, test.labels, test.name)
    return predictions if rows is None else predictions[rows], [*notes, *matched]


def _times_in_rows(
    table: Table, columns: list[Any], n: int, time: str | None
) -> tuple[FloatArray, list[Any]] | None:
    """Return the times of a table with a row per time, and the columns of subjects, if it can be one."""
    if len(columns) == n and time is None:
        index = np.asarray([] if table.labels is None else table.labels)
        return (index.astype(np.float64), columns) if index.dtype.kind in "iuf" and index.size else None
    if time is None:
        time = columns[0] if len(columns) == n + 1 else None
        if not isinstance(time, str) or NUMBER.fullmatch(time.strip()) or not is_number(table.kind(time)):
            return None
        if len(table) == n and _are_times(columns[1:], table.decimal):
            return None
    return table.times(time), [column for column in columns if column != time]


def _by_time(table: Table, times: FloatArray, columns: list[Any], n: int) -> CurveTable:
    """Return what a table with a row per time predicts."""
    if len(columns) != n:
        _refuse_shape(table, columns, n)
    with table.naming():
        check_increasing(as_times(times, "times"))
    values = np.ascontiguousarray(table.matrix(columns).T)
    native: Any = table.data.to_native() if len(columns) == len(table.columns) else None
    # An index of pandas tells whether its numbers are labels.
    labels = native.columns if nw.dependencies.is_pandas_like_dataframe(native) else columns
    return CurveTable(times, values, labels, "column", lambda k: f"column {columns[k]!r}")


def _are_times(columns: Sequence[Any], decimal: str) -> bool:
    return all(NUMBER.fullmatch(text) for text in _spelt(columns, decimal))


def _refuse_shape(table: Table, columns: list[Any], n: int, id_option: str | None = None) -> NoReturn:
    turned = "transposed? " if abs(len(columns) - n) < 2 else ""
    by_id = "" if id_option is None else f"; {id_option.format('COLUMN')} matches rows by an id"
    raise ValueError(
        f"{table.name} has {len(table)} rows and {len(columns)} columns for {n} test subjects: {turned}it must have a "
        "row per subject and columns named after times, or a row per time, with the times as its index or in its first "
        f"column, and a column per subject{by_id}."
    )
