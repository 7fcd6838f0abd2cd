"""Whether an array holds survival probabilities: asked once, when predictions are made."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray, as_floats, row_blocks, to_numpy

ROUNDING = 1e-6  # single precision makes probabilities leave [0, 1], and curves rise, by less than this
_LARGEST_HAZARD = 20.0  # larger cumulative hazards leave nobody event-free, by 1e-9


def as_probability_table(
    values: Any, times: FloatArray, column: bool = False
) -> npt.NDArray[np.floating[Any]]:
    """Return ``values``, not copied, as an array of n subjects and one column per time; no value is looked at yet.

    With ``column`` one number per subject is the only column. Single precision is kept.
    """
    array = to_numpy(values, "probabilities")
    if array.dtype not in (np.float32, np.float64):
        array = as_floats(array, "probabilities")
    array = array[:, None] if column and array.ndim == 1 else array
    if array.ndim != 2 or array.shape[1] != times.size:
        turned = array.ndim == 2 and array.shape[0] == times.size
        rule = f"probabilities must have one row per subject and one column per time, (n, {times.size})"
        end = ": transposed? give a row per subject." if turned else "."
        raise ValueError(f"{rule}, but its shape is {array.shape}{end}")
    if not len(array):
        raise ValueError("probabilities has no rows.")
    return array


def count_rounded(
    array: npt.NDArray[Any], name: str, times: FloatArray, whose: Callable[[int], str] = "row {}".format
) -> int:
    """Return how many values leave [0, 1] by rounding; what is no falling curve is refused, by ``whose`` it is."""
    n_rounded = 0
    by_columns = array.flags.f_contiguous and not array.flags.c_contiguous
    for rows in () if by_columns and fall(array) else row_blocks(*array.shape):
        block = array[rows]
        if _fall(block):
            continue
        for row, column in np.argwhere(~((block >= -ROUNDING) & (block <= 1 + ROUNDING)))[:1]:
            where = f"{whose(rows.start + int(row))} at time {times[column]:g}"
            value = f"{block[row, column]}{_hint_outside(block)}"
            raise ValueError(f"{name} must lie in [0, 1], but {where} is {value}")
        lowest = np.minimum.accumulate(block, axis=1)
        for row, column in np.argwhere(block > lowest + ROUNDING)[:1]:
            risks = ": are these risks? give 1 − risk; cumulative hazards H? give exp(−H)."
            hint = risks if _rises(block) else "."
            raise ValueError(
                f"{name} must not increase over time, but {whose(rows.start + int(row))} rises from "
                f"{lowest[row, column]} to {block[row, column]} at time {times[column]:g}{hint}"
            )
        n_rounded += int(((block < 0) | (block > 1)).sum())
    return n_rounded


def fall(array: npt.NDArray[Any]) -> bool:
    """Whether all rows fall, from at most 1 to at least 0: one pass along the memory."""
    if array.flags.f_contiguous and not array.flags.c_contiguous:
        within = array[:, 0].max() <= 1 and array[:, -1].min() >= 0
        return bool(within) and all((later <= earlier).all() for earlier, later in pairwise(array.T))
    return all(_fall(array[rows]) for rows in row_blocks(*array.shape))


def _fall(block: npt.NDArray[Any]) -> bool:
    # A NaN fails every comparison. One flat comparison is three times as fast as one by rows; what it says of the step
    # from row to row is ignored.
    flat = block.ravel()
    falls = flat[1:] <= flat[:-1]
    falls[block.shape[1] - 1 :: block.shape[1]] = True
    return bool(falls.all() and block[:, 0].max() <= 1 and block[:, -1].min() >= 0)


def _hint_outside(block: npt.NDArray[Any]) -> str:
    """Return the end of a refusal: what numbers outside of [0, 1] may be."""
    if block.min() >= 0 and _rises(block) and block.max() <= _LARGEST_HAZARD:
        return ": they look like cumulative hazards H, which rise: give S = exp(−H)."
    if block.min() >= 0 and 1.5 < block.max() <= 100:
        return ": in percent? divide by 100."
    return "."


def _rises(block: npt.NDArray[Any]) -> bool:
    """Whether no row falls, and some rise."""
    steps = np.diff(block, axis=1)
    return bool(steps.size and (steps >= -ROUNDING).all() and (steps > ROUNDING).any())
