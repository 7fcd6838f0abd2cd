"""The only place where input is coerced or refused.

Every refusal is one sentence that names the argument, the first offending row and its value.
Nothing is clipped, dropped, filled or reordered here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import narwhals as nw
import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
Side = Literal["left", "right"]
Seed = np.random.Generator | int | None

# Predictions computed in single precision may rise by rounding alone; a rise below this is not a rise.
RISE_TOLERANCE = 1e-6
_BLOCK_ELEMENTS = 1 << 18


def to_numpy(values: Any, name: str) -> npt.NDArray[Any]:
    """An array of ``values``: array-likes, data-frame columns (through narwhals) and torch tensors."""
    if nw.dependencies.is_into_series(values):
        series = nw.from_native(values, series_only=True)
        missing = series.is_null()
        if missing.any():
            raise ValueError(f"{name} is missing in row {int(missing.arg_true()[0])}.")
        return series.to_numpy()
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} must be a rectangular array of numbers: {error}.") from error


def as_floats(values: Any, name: str, *, copy: bool = False) -> FloatArray:
    """``values`` as float64 of any shape, free of NaN and infinities."""
    array = to_numpy(values, name)
    if array.dtype == object and any(value is None for value in array.flat):
        row = next(i for i, value in enumerate(array.flat) if value is None)
        raise ValueError(f"{name} is missing in row {row}.")
    if array.dtype.kind not in "biufO":
        raise ValueError(f"{name} must be numeric, but its type is {array.dtype}.")
    try:
        floats: FloatArray = np.array(array, dtype=np.float64, copy=True if copy else None)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numeric: {error}.") from error
    # One pass without temporaries decides; the offender is sought only when there is one.
    if floats.size and not (np.isfinite(floats.min()) and np.isfinite(floats.max())):
        refuse_first(~np.isfinite(floats), floats, f"{name} must be finite")
    return floats


def as_vector(values: Any, name: str, *, copy: bool = False) -> FloatArray:
    """``values`` as a finite float64 vector."""
    floats = as_floats(values, name, copy=copy)
    if floats.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, but its shape is {floats.shape}.")
    return floats


def as_times(values: Any, name: str) -> FloatArray:
    """``values`` as finite times of any shape, none of them negative; zero is a time."""
    times = as_floats(values, name)
    if times.size and times.min() < 0:
        refuse_first(times < 0, times, f"{name} must not be negative")
    return times


def as_flags(values: Any, name: str) -> BoolArray:
    """``values`` as a boolean vector: booleans, or numbers that are 0 or 1."""
    array = to_numpy(values, name)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, but its shape is {array.shape}.")
    if array.dtype == bool:
        return array.copy()
    if array.dtype.kind not in "iufO":
        raise ValueError(f"{name} must be boolean or 0/1, but its type is {array.dtype}.")
    neither = (array != 0) & (array != 1)
    if neither.any():
        refuse_first(neither, array, f"{name} must be 0 or 1")
    return array.astype(bool)


def as_probabilities(values: Any, name: str, *, interior: bool = False) -> FloatArray:
    """``values`` as probabilities of any shape; ``interior`` excludes 0 and 1 themselves."""
    floats = as_floats(values, name)
    if not floats.size:
        return floats
    if interior and (floats.min() <= 0 or floats.max() >= 1):
        outside = (floats <= 0) | (floats >= 1)
        refuse_first(outside, floats, f"{name} must lie strictly between 0 and 1")
    if floats.min() < 0 or floats.max() > 1:
        refuse_first((floats < 0) | (floats > 1), floats, f"{name} must lie in [0, 1]")
    return floats


def as_curves(values: Any, name: str, times: FloatArray) -> npt.NDArray[np.floating[Any]]:
    """``values`` as n × T survival probabilities at ``times``, falling along each row.

    Single and double precision are kept as they are, and nothing is copied: the array may be large.
    """
    array = to_numpy(values, name)
    if array.dtype not in (np.float32, np.float64):
        array = as_floats(array, name)
    if array.ndim != 2 or array.shape[1] != times.size:
        raise ValueError(
            f"{name} must have one row per subject and one column per time, (n, {times.size}), "
            f"but its shape is {array.shape}."
        )
    if not array.shape[0]:
        raise ValueError(f"{name} has no rows.")
    for rows in row_blocks(*array.shape):
        block = array[rows]
        if not (block.min() >= 0 and block.max() <= 1):  # NaN fails too
            row, column = np.argwhere(~((block >= 0) & (block <= 1)))[0]
            raise ValueError(
                f"{name} must lie in [0, 1], but row {rows.start + row} at time {times[column]:g} "
                f"is {block[row, column]}."
            )
        rises = block[:, 1:] > block[:, :-1] + RISE_TOLERANCE
        if rises.any():
            row, column = np.argwhere(rises)[0]
            raise ValueError(
                f"{name} must not increase over time, but row {rows.start + row} rises from "
                f"{block[row, column]} to {block[row, column + 1]} at time {times[column + 1]:g}."
            )
    return array


def check_length(values: npt.NDArray[Any], name: str, expected: int, expected_name: str) -> None:
    """Refuse ``values`` whose length is not the one of ``expected_name``."""
    if len(values) != expected:
        raise ValueError(f"{name} has length {len(values)}, but {expected_name} has length {expected}.")


def check_choice(value: Any, name: str, choices: tuple[str, ...]) -> None:
    """Refuse a ``value`` that is not one of ``choices``."""
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}, but is {value!r}.")


def check_number(value: Any, name: str, *, lower: float = -np.inf, upper: float = np.inf) -> float:
    """``value`` as a finite float, strictly inside (``lower``, ``upper``)."""
    number = as_floats(value, name)
    if number.ndim:
        raise ValueError(f"{name} must be a single number, but its shape is {number.shape}.")
    if not lower < number < upper:
        raise ValueError(f"{name} must lie strictly between {lower:g} and {upper:g}, but is {number:g}.")
    return float(number)


def refuse_first(bad: BoolArray, values: npt.NDArray[Any], rule: str) -> None:
    """Raise ``rule`` with the first place where ``bad`` holds and the value there."""
    place = tuple(int(i) for i in np.argwhere(bad)[0])
    value = values[place]
    if not place:
        raise ValueError(f"{rule}, but is {value}.")
    row = place[0] if len(place) == 1 else place
    raise ValueError(f"{rule}, but row {row} is {value}.")


def as_generator(rng: Seed) -> np.random.Generator:
    """A generator from a generator or a seed; the global state is never read."""
    return np.random.default_rng(rng)


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A view of ``array`` that refuses to be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def row_blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Slices of rows, each of about 2 MiB of float64, so that temporaries stay small and in cache."""
    step = max(1, _BLOCK_ELEMENTS // max(1, n_columns))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))
