"""How a survival curve goes on beyond its end."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray

Tail = Literal["last", "zero", "linear", "exponential"]
TAILS: tuple[str, ...] = ("last", "zero", "linear", "exponential")


def tail_values(tail: Tail, last: FloatArray | float, end: float, t: FloatArray | float) -> FloatArray:
    r"""A survival curve beyond its end; ``last`` and ``t`` broadcast.

    A curve known up to ``end``, where it is ``last``, goes on as: ``"last"`` constant; ``"zero"`` zero;
    ``"linear"`` the line from (0, 1) through (end, last) down to zero; ``"exponential"``
    :math:`last^{t/end}`, the constant hazard that leads from (0, 1) to (end, last).
    """
    level, time = _broadcast(last, t)
    if tail == "last":
        return level
    if tail == "zero":
        return np.zeros_like(level)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if tail == "linear":
            values = np.maximum(1.0 - (1.0 - level) * (time / end), 0.0)
        else:
            values = np.power(level, time / end)
    return np.where(_falls_at_once(level, end), 0.0, np.where(level == 1, 1.0, values))


def tail_area(
    tail: Tail,
    last: FloatArray | float,
    end: float,
    lower: FloatArray | float,
    upper: FloatArray | float,
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
    if tail == "zero":
        return np.full(top.shape, end)
    if tail == "last":
        return np.full(top.shape, np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        if tail == "linear":
            reached = (1.0 - level) * end / (1.0 - top)
        else:
            reached = end * np.log(level) / np.log(top)
    return np.where(top == 1, np.inf, reached)


def _falls_at_once(level: FloatArray, end: float, tail: Tail = "linear") -> npt.NDArray[np.bool_]:
    """Where nothing is left beyond ``end``: the curve is 0, or fell at time 0, from where no slope is finite."""
    return (level == 0) | ((end == 0) & (level < 1) & (tail != "last"))


def _broadcast(*values: FloatArray | float) -> list[FloatArray]:
    return list(np.broadcast_arrays(*(np.asarray(value, dtype=np.float64) for value in values)))
