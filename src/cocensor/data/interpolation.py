"""Survival curves read from a table: some of its rows, between its times, and beyond its end."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray, IntArray

Tail = Literal["last", "zero", "linear", "exponential"]
TAILS: tuple[str, ...] = ("last", "zero", "linear", "exponential")
_NEIGHBOURS = 8  # rows are neighbours if they are among so many times as many


def tail_values(tail: Tail, last: FloatArray | float, end: float, t: FloatArray | float) -> FloatArray:
    r"""A survival curve beyond its end; ``last`` and ``t`` broadcast.

    A curve known up to ``end``, where it is ``last``, goes on as: ``"last"`` constant; ``"zero"`` zero; ``"linear"``
    the line from (0, 1) through (end, last) down to zero; ``"exponential"`` :math:`last^{t/end}`, the constant hazard
    that leads from (0, 1) to (end, last).
    """
    level, time = _broadcast(last, t)
    if tail in ("last", "zero"):
        return level if tail == "last" else np.zeros_like(level)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if tail == "linear":
            values = np.maximum(1.0 - (1.0 - level) * (time / end), 0.0)
        else:
            values = np.power(level, time / end)
    return np.where(_falls_at_once(level, end), 0.0, np.where(level == 1, 1.0, values))


def tail_area(
    tail: Tail, last: FloatArray | float, end: float, lower: FloatArray | float, upper: FloatArray | float
) -> FloatArray:
    r""":math:`\int_{lower}^{upper}` of a curve beyond its end; ``upper`` may be infinite, arguments broadcast.

    A curve that has not fallen at all has an infinite mean under every rule but ``"zero"``.
    """
    level, start, stop = _broadcast(last, lower, upper)
    if tail == "zero":
        return np.zeros_like(level)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if tail == "last":
            area = level * (stop - start)
        elif tail == "linear":
            cross = end / (1.0 - level)
            left, right = np.minimum(start, cross), np.minimum(stop, cross)
            area = (1.0 - (1.0 - level) * (left + right) / (2.0 * end)) * (right - left)
        else:
            hazard = -np.log(level) / end
            area = np.exp(-hazard * start) * -np.expm1(-hazard * (stop - start)) / hazard
    return np.where(_falls_at_once(level, end, tail), 0.0, np.where(level == 1, stop - start, area))


def tail_quantile(tail: Tail, last: FloatArray | float, end: float, level: FloatArray | float) -> FloatArray:
    """When a curve that is still above ``level`` at ``end`` comes down to it; infinity if never."""
    top, level = _broadcast(last, level)
    if tail in ("last", "zero"):
        return np.full(top.shape, end if tail == "zero" else np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        linear = tail == "linear"
        reached = (1.0 - level) * end / (1.0 - top) if linear else end * np.log(level) / np.log(top)
    return np.where(top == 1, np.inf, reached)


def _falls_at_once(level: FloatArray, end: float, tail: Tail = "linear") -> npt.NDArray[np.bool_]:
    """Where nothing is left beyond ``end``: the curve is 0, or fell at time 0, from where no slope is finite."""
    return (level == 0) | ((end == 0) & (level < 1) & (tail != "last"))


def _broadcast(*values: FloatArray | float) -> list[FloatArray]:
    return list(np.broadcast_arrays(*(np.asarray(value, dtype=np.float64) for value in values)))


def is_by_columns(table: npt.NDArray[Any]) -> bool:
    """Whether the values of a column lie side by side in memory, and not those of a row."""
    return table.strides[0] == table.itemsize and table.strides[1] != table.itemsize


def on_lines(
    table: npt.NDArray[np.floating[Any]],
    left: IntArray,
    right: IntArray,
    weight: FloatArray,
    room: FloatArray | None = None,
) -> FloatArray:
    """Return columns between two of a table each, 1 to the left of the first, in double precision."""
    if not is_by_columns(table):
        result = table[:, np.maximum(left, 0)].astype(np.float64, copy=False)
        result[:, left < 0] = 1.0  # S(0) = 1 is implied
        if weight.any():
            result += weight * (table[:, right] - result)
        return result
    columns = np.empty((left.size, len(table))) if room is None else room[:, : len(table)]
    rise = np.empty(len(table))
    for column, before, after, share in zip(columns, left, right, weight, strict=True):
        column[:] = table[:, before] if before >= 0 else 1.0
        if share:
            np.subtract(table[:, after], column, out=rise)
            rise *= share
            column += rise
    return columns.T


def rows_of(table: npt.NDArray[np.floating[Any]], rows: Any) -> npt.NDArray[np.floating[Any]]:
    """Return some rows of a table, of one in Fortran order neighbours at once."""
    if not isinstance(rows, np.ndarray) or rows.dtype == bool or not rows.size:
        return table[rows]
    if table.strides[0] == 0:  # one curve for all
        return np.broadcast_to(table[0], (rows.size, table.shape[1]))
    if table.flags.c_contiguous and table.flags.aligned:  # take() would copy all of others for every block
        return table.take(rows, axis=0)
    first, last = int(rows.min()), int(rows.max())
    if last - first < _NEIGHBOURS * rows.size:
        by_column = np.ascontiguousarray(table[first : last + 1].T)  # each of which lies close together
        return by_column.take(rows - first, axis=1).T
    return table[rows]
