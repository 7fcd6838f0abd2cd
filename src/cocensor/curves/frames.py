"""Data frames of predicted survival curves: times in the columns, or in the index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from cocensor._validation import (
    FloatArray,
    as_frame,
    as_table,
    as_times,
    as_vector,
    frame_column,
    is_numbered,
    row_labels,
)


def read_frame(
    frame: Any, n: int, time: str | None, times: FloatArray | None
) -> tuple[FloatArray, npt.NDArray[Any], Any]:
    """The times of a frame, its curves with a row for each of ``n`` subjects, and the labels of these, if any."""
    table = as_frame(frame, "frame")
    by_time = _times_in_rows(table, n, time)
    by_subject = _times_in_columns(table, n) if time is None else None
    if by_time is not None and by_subject is not None:
        raise ValueError(
            f"a frame of {n} rows and {n} columns for {n} subjects can be read both ways: give a pair (times, array) "
            "with a row per subject instead."
        )
    if by_time is not None:
        columns = table.drop(time) if time is not None else table
        native = columns.to_native()
        is_pandas = nw.dependencies.is_pandas_like_dataframe(native)
        return by_time, columns.to_numpy().T, native.columns if is_pandas else columns.columns
    if by_subject is not None:
        _refuse_numbered(table.columns, by_subject, times)
        return by_subject, as_table(frame, "frame"), row_labels(frame)
    size = f"{len(table)} rows and {len(table.columns)} columns"
    if len(table.columns) == n:
        raise ValueError(
            f"a frame of {size} for {n} test subjects: transposed? it must have a row per subject and times as names "
            "of the columns, or times as its index."
        )
    raise ValueError(
        f"a frame must have a row for each of the {n} subjects and times as names of the columns, or a column for each "
        f"and times as its index, but has {size}."
    )


def _times_in_rows(table: nw.DataFrame[Any], n: int, time: str | None) -> FloatArray | None:
    """The times of a frame with a row per time, if it can be one."""
    if time is not None:
        return as_times(as_vector(frame_column(table, time, "frame"), f"frame[{time!r}]"), "times")
    index = nw.maybe_get_index(table)
    if index is None or len(table.columns) != n:
        return None
    found = np.asarray(index)
    if found.dtype.kind not in "iuf":
        return None
    # Rows that are merely numbered are subjects, unless columns are so as well.
    subjects = len(table) == n and is_numbered(found) and not is_numbered(table.columns)
    return None if subjects else found.astype(np.float64)


def _times_in_columns(table: nw.DataFrame[Any], n: int) -> FloatArray | None:
    """The times of a frame with a row per subject, if it can be one."""
    if len(table) != n:
        return None
    try:
        return np.array([float(name) for name in table.columns])
    except (TypeError, ValueError):
        return None


def _refuse_numbered(names: Sequence[Any], found: FloatArray, times: FloatArray | None) -> None:
    """Refuse names that say nothing: numbers from 0 on, but for those that are the times of the evaluation."""
    alike = times is not None and found.shape == times.shape
    if not is_numbered(found) or (times is not None and alike and np.allclose(found, times)):
        return
    # Texts were written by somebody; they are doubted only where an array would do.
    if alike or not all(isinstance(name, str) for name in names):
        raise ValueError(
            "a frame whose columns are numbered 0, 1, 2, ... does not say its times: name the columns by their times, "
            "or give the array itself."
        )
