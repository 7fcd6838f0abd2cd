"""What to write in place of outcomes in another form."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from cocensor._validation import as_frame, listed, to_numpy


def what_to_write(y: Any, name: str) -> str:
    """The end of a sentence that refuses ``y``: the call for a frame, or for an array of two columns, else nothing."""
    if nw.dependencies.is_into_dataframe(y):
        return _of_frame(as_frame(y, name), name)
    if getattr(y, "ndim", None) == 2 and y.shape[1] == 2:
        return _of_two_columns(to_numpy(y, name), name)
    return ""


def _of_frame(frame: nw.DataFrame[Any], name: str) -> str:
    numeric = [each for each in frame.iter_columns() if each.dtype.is_numeric() or each.dtype == nw.Boolean]
    flags = [each.name for each in numeric if _are_flags(each.drop_nulls().to_numpy())]
    times = [each.name for each in numeric if each.name not in flags]
    time, event = (repr(found[0]) if len(found) == 1 else "…" for found in (times, flags))
    unsure = frame.columns and "…" in (time, event)
    rest = f", where its columns are {listed(frame.columns)}" if unsure else ""
    return f": write Survival.from_frame({name}, time={time}, event={event}){rest}"


def _of_two_columns(table: Any, name: str) -> str:
    first, second = _are_flags(table[:, 0]), _are_flags(table[:, 1])
    time, event = (1, 0) if first and not second else (0, 1)
    rest = " if its first column holds the times" if first == second else ""
    return f": write Survival({name}[:, {time}], {name}[:, {event}]){rest}"


def _are_flags(values: Any) -> bool:
    return bool(np.isin(values, (0, 1)).all())
