"""The only place where input is coerced or refused.

Every refusal is one sentence that names the argument, the first offending row and its value.
Nothing is clipped, dropped, filled or reordered here.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sized
from contextlib import contextmanager
from importlib.util import find_spec
from threading import RLock
from typing import Any, Literal, NoReturn

import narwhals as nw
import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.signedinteger[Any]]
Side = Literal["left", "right"]
Seed = np.random.Generator | int | None

_BLOCK_ELEMENTS = 1 << 17
_BLOCK_ROWS = 1 << 12
_COLLECTING = RLock()
_MOST_LISTED = 12


class HorizonWarning(UserWarning):
    """Scores are asked for where next to nobody is left to tell: at these times, or with these weights."""


class PredictionWarning(UserWarning):
    """Predictions were read otherwise than they are written."""


class ConvergenceWarning(UserWarning):
    """An optimiser stopped before it had converged; its result is not the optimum."""


@contextmanager
def collected(*categories: type[Warning]) -> Iterator[list[str]]:
    """What is warned of in these categories, each message once; other warnings go their way.

    The warnings machinery belongs to the whole process: one caller at a time.
    """
    messages: list[str] = []
    with _COLLECTING:
        with warnings.catch_warnings(record=True) as caught:
            for category in categories:
                warnings.simplefilter("always", category)
            yield messages
        messages += dict.fromkeys(
            str(each.message) for each in caught if issubclass(each.category, categories)
        )
        for each in caught:
            if not issubclass(each.category, categories):
                warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)


def to_numpy(values: Any, name: str) -> npt.NDArray[Any]:
    """An array of ``values``: array-likes, data-frame columns (through narwhals) and torch tensors."""
    if nw.dependencies.is_into_series(values):
        series = nw.from_native(values, series_only=True)
        missing = series.is_null()
        if missing.any():
            raise ValueError(f"{name} is missing in row {int(missing.arg_true()[0])}.")
        return series.to_numpy()
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(f"{name} is missing in row {int(np.argwhere(np.ma.getmaskarray(values))[0][0])}.")
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        values = values if values.dtype.itemsize > 2 or not values.is_floating_point() else values.double()
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} must be a rectangular array of numbers: {error}.") from error


def as_floats(values: Any, name: str, *, copy: bool = False) -> FloatArray:
    """``values`` as float64 of any shape, free of NaN and infinities."""
    array = _numbers(values, name)
    floats: FloatArray = np.array(array, dtype=np.float64, copy=True if copy else None)
    # One pass without temporaries decides; the offender is sought only when there is one.
    if floats.size and not (np.isfinite(floats.min()) and np.isfinite(floats.max())):
        refuse_first(~np.isfinite(floats), floats, f"{name} must be finite")
    return floats


def _numbers(values: Any, name: str, kind: str = "numeric") -> npt.NDArray[Any]:
    """An array of booleans, integers or floats; objects are converted one by one."""
    array = to_numpy(values, name)
    if array.dtype == object:
        floats = np.empty(array.shape)
        for place, value in np.ndenumerate(array):
            try:
                if isinstance(value, str | bytes) or np.iscomplexobj(value):
                    raise TypeError  # "0" is a text, and numpy's 1 + 2j no 1, even where float() would take them
                floats[place] = float(value)
            except (TypeError, ValueError, OverflowError):
                refuse_at(place, value, f"{name} must be {kind}")
        return floats
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be {kind}, but its type is {array.dtype}.")
    return array


def as_vector(values: Any, name: str, *, copy: bool = False) -> FloatArray:
    """``values`` as a finite float64 vector."""
    floats = as_floats(values, name, copy=copy)
    if floats.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, but its shape is {floats.shape}.")
    return floats


def as_table(values: Any, name: str) -> npt.NDArray[Any]:
    """``values`` as an array of numbers of any kind and shape, also from a data frame."""
    if not nw.dependencies.is_into_dataframe(values):
        return _numbers(values, name)
    frame = as_frame(values, name)
    columns = [_numbers(each.to_native(), f"{name}[{each.name!r}]") for each in frame.iter_columns()]
    return np.column_stack(columns) if columns else np.empty((len(frame), 0))


def as_matrix(values: Any, name: str) -> FloatArray:
    """``values`` as finite covariates, one row per subject: an array or an all-numeric data frame."""
    floats = as_floats(as_table(values, name), name)
    if floats.ndim != 2 or not floats.shape[1]:
        raise ValueError(f"{name} must have one row per subject, (n, p), but its shape is {floats.shape}.")
    return floats


def column_names(values: Any) -> list[str] | None:
    """The names of a data frame's columns; None for arrays."""
    if not nw.dependencies.is_into_dataframe(values):
        return None
    return as_frame(values, "X").columns


def as_times(values: Any, name: str) -> FloatArray:
    """``values`` as finite times of any shape, none of them negative; zero is a time."""
    times = as_floats(values, name)
    if times.size and times.min() < 0:
        refuse_first(times < 0, times, f"{name} must not be negative")
    return times


def as_flags(values: Any, name: str) -> BoolArray:
    """``values`` as a boolean vector: booleans, or numbers that are 0 or 1."""
    array = _numbers(values, name, "boolean or 0/1")
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, but its shape is {array.shape}.")
    if array.dtype == bool:
        return array.copy()
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


def check_length(values: Sized, name: str, expected: int, expected_name: str) -> None:
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


def check_whole(value: Any, name: str, smallest: int = 1, *, otherwise: str = "") -> int:
    """``value`` as a whole number from ``smallest`` on; ``otherwise`` ends the sentence on what is also allowed."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < smallest:
        raise ValueError(f"{name} must be a whole number from {smallest} on{otherwise}, but is {value!r}.")
    return int(value)


def refuse_first(bad: BoolArray, values: npt.NDArray[Any], rule: str) -> NoReturn:
    """Raise ``rule`` with the first place where ``bad`` holds and the value there."""
    place = tuple(int(i) for i in np.argwhere(bad)[0])
    refuse_at(place, values[place], rule)


def refuse_at(place: tuple[int, ...], value: Any, rule: str) -> NoReturn:
    """Raise ``rule`` with a place in an array and the value there."""
    shown = repr(value.item() if isinstance(value, np.generic) else value)
    if not place:
        raise ValueError(f"{rule}, but is {shown}.")
    row = place[0] if len(place) == 1 else place
    raise ValueError(f"{rule}, but row {row} is {shown}.")


def broadcast(**arrays: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    """The named arrays at their common shape."""
    try:
        return list(np.broadcast_arrays(*arrays.values()))
    except ValueError:
        shapes = " and ".join(str(array.shape) for array in arrays.values())
        raise ValueError(f"{' and '.join(arrays)} must have matching shapes, but have {shapes}.") from None


def as_frame(frame: Any, name: str) -> nw.DataFrame[Any]:
    """``frame`` behind narwhals."""
    try:
        return nw.from_native(frame, eager_only=True)
    except TypeError:
        kind = type(frame).__name__
        raise TypeError(f"{name} must be a pandas, polars or pyarrow frame, but is of type {kind}.") from None
    except nw.exceptions.DuplicateError:
        raise ValueError(f"{name} must not have two columns of the same name.") from None


def frame_column(frame: nw.DataFrame[Any], column: str, name: str) -> Any:
    """A column by name, as the native series of its library."""
    if column not in frame.columns:
        refuse_column(column, frame.columns, name)
    return frame.get_column(column).to_native()


def refuse_column(column: str, columns: list[str], name: str) -> NoReturn:
    """Raise that a table has no such column, with the ones that it has."""
    shown = ", ".join(map(repr, columns[:_MOST_LISTED]))
    more = len(columns) - _MOST_LISTED
    rest = f" and {more} more" if more > 0 else ""
    raise ValueError(f"{name} has no column {column!r}; its columns are {shown}{rest}.")


def make_frame(columns: dict[str, list[Any]], like: Any = None) -> Any:
    """A data frame of the same library as ``like``; without one, of pandas if that is installed, else pyarrow."""
    if like is not None:
        backend: Any = nw.get_native_namespace(like)
    else:
        backend = "pandas" if find_spec("pandas") else "pyarrow"
    return nw.from_dict(columns, backend=backend).to_native()


def as_generator(rng: Seed) -> np.random.Generator:
    """A generator from a generator or a seed; the global state is never read."""
    return np.random.default_rng(rng)


def escaped(text: str) -> str:
    """``text`` as UTF-8 can hold it: a lone surrogate, which stands for a broken byte in a name, as its number."""
    return text.encode(errors="backslashreplace").decode()


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A view of ``array`` that refuses to be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def take_rows(X: Any, rows: npt.NDArray[np.intp]) -> Any:
    if X is None:
        return None
    return as_frame(X, "X")[rows].to_native() if column_names(X) is not None else as_matrix(X, "X")[rows]


def row_blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Slices of rows, each of at most about 1 MiB of float64, so that temporaries stay small and in cache."""
    step = min(max(1, _BLOCK_ELEMENTS // max(1, n_columns)), _BLOCK_ROWS)
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))
