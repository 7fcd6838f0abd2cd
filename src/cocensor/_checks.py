"""Where input is coerced or refused: nothing is clipped, dropped, filled or reordered.

A refusal is one sentence that names the argument, the first offending row and its value.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, NoReturn

import narwhals as nw
import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.signedinteger[Any]]
Counts = npt.NDArray[Any]  # how many subjects: whole numbers, or sums of their case weights
Rows = npt.NDArray[np.intp]  # which subjects, by their places
Side = Literal["left", "right"]
Seed = np.random.Generator | int | None
Progress = Callable[[int, int], None]  # called with how much is done, and with how much there is to do

_MOST_LISTED = 12
_LIGHTEST, _HEAVIEST = 1e-100, 1e100  # beyond these, products of two sums of weights leave double precision
# What most values are; narwhals takes long to say that these are no series.
_NO_SERIES = (np.ndarray, np.generic, float, int, list, tuple)
_BLOCK_ELEMENTS = 1 << 17
_BLOCK_ROWS = 1 << 12


def refuse_first(bad: BoolArray, values: npt.NDArray[Any], rule: str) -> None:
    """Raise ``rule`` with the first place where ``bad`` holds, if any, and the value there."""
    if bad.any():
        place = tuple(int(i) for i in np.argwhere(bad)[0])
        refuse_at(place, values[place], rule)


def refuse_at(place: tuple[int, ...], value: Any, rule: str) -> NoReturn:
    """Raise ``rule`` with a place in an array and the value there."""
    shown = _in_a_line(value.item() if isinstance(value, np.generic) else value)
    if not place:
        raise ValueError(f"{rule}, but is {shown}.")
    row = place[0] if len(place) == 1 else place
    raise ValueError(f"{rule}, but row {row} is {shown}.")


def check_length(values: Any, name: str, expected: int, expected_name: str) -> None:
    """Refuse ``values`` whose length is not the one of ``expected_name``."""
    try:
        length = len(values)
    except TypeError:
        message = f"{name} must be as long as {expected_name}, {expected}, but is {_in_a_line(values)}."
        raise TypeError(message) from None
    if length != expected:
        raise ValueError(f"{name} has length {length}, but {expected_name} has length {expected}.")


def check_choice(value: Any, name: str, choices: tuple[str, ...]) -> None:
    """Refuse a ``value`` that is not one of ``choices``."""
    if value not in choices:
        names = ", ".join(map(repr, choices))
        raise ValueError(
            f"{name} must be one of {names}, but is {_in_a_line(value)}{near_miss(value, choices)}."
        )


def near_miss(value: Any, choices: Sequence[Any]) -> str:
    """Words that ask whether one of some names was meant, where one is like it; else empty."""
    from difflib import get_close_matches  # late: it takes a moment

    close = get_close_matches(str(value), [str(choice) for choice in choices], n=1, cutoff=0.75)
    return f" (did you mean {close[0]!r}?)" if close and close[0] != str(value) else ""


def as_choice(value: Any, name: str, labels: Mapping[str, str]) -> str:
    """The one of ``labels``, by name, whose name or label is ``value``; labels in any case."""
    if isinstance(value, str) and value not in labels:
        value = next((key for key, label in labels.items() if label.casefold() == value.casefold()), value)
    check_choice(value, name, tuple(labels))
    return str(value)


def as_tuple(values: Any, name: str, *single: type[Any]) -> tuple[Any, ...]:
    """Several things; one of the types in ``single`` stands for itself."""
    if isinstance(values, single):
        return (values,)
    try:
        return tuple(values)
    except TypeError:
        names = ["text" if kind is str else kind.__name__ for kind in single]
        kinds = " or ".join(f"{'an' if name[0] in 'AEIOU' else 'a'} {name}" for name in names)
        message = f"{name} must be {kinds}, or several of these, but is {_in_a_line(values)}."
        raise TypeError(message) from None


def check_whole(value: Any, name: str, smallest: int = 1, *, otherwise: str = "") -> int:
    """``value`` as a whole number from ``smallest`` on; ``otherwise`` ends the sentence on what is also allowed."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not smallest <= value <= sys.maxsize:
        rule = f"{name} must be a whole number from {smallest} on{otherwise}"
        raise ValueError(f"{rule}, but is {_in_a_line(value)}.")
    return int(value)


def refuse_column(column: str, columns: list[str], name: str) -> NoReturn:
    """Raise that a table has no such column, with the ones that it has."""
    meant = near_miss(column, columns)
    raise ValueError(f"{name} has no column {column!r}{meant}; its columns are {listed(columns)}.")


def listed(columns: list[str]) -> str:
    """The first columns by name, and how many more there are."""
    shown = ", ".join(map(repr, columns[:_MOST_LISTED]))
    more = len(columns) - _MOST_LISTED
    return f"{shown} and {more} more" if more > 0 else shown


def escaped(text: str) -> str:
    """``text`` as UTF-8 can hold it: a lone surrogate, which stands for a broken byte in a name, as its number."""
    return text.encode(errors="backslashreplace").decode()


def spelled(value: Any) -> str:
    """A label or level as text, the same whatever type it came in: 2, 2.0 and "2" are one; empty for NaN."""
    if isinstance(value, float | np.floating):
        if np.isnan(value):
            return ""
        return str(int(value)) if float(value).is_integer() else repr(float(value))
    return str(value)


def line_of_file(row: int) -> str:
    """What refusals call a row of a file with one line for each, below its header."""
    return f"line {row + 2}"


@contextmanager
def naming(name: str, as_lines: bool = False) -> Iterator[None]:
    """Put a name before what is refused; ``as_lines``, rows are counted as lines of a file below its header."""
    try:
        yield
    except (TypeError, ValueError) as error:
        sentence = str(error).strip()
        if as_lines:
            sentence = re.sub(
                r"\brow \((\d+), (\d+)\)", lambda at: f"row {at[1]}, value {int(at[2]) + 1}", sentence
            )
            sentence = re.sub(r"\brow (\d+)", lambda row: line_of_file(int(row[1])), sentence)
        end = "" if sentence.endswith((".", "!", "?")) else "."
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name}: {sentence}{end}") from error


def _in_a_line(value: Any) -> str:
    return re.sub(r"\s*\n\s*", " ", repr(value))


def to_numpy(values: Any, name: str) -> npt.NDArray[Any]:
    """An array of ``values``: array-likes, data-frame columns (through narwhals), torch tensors and CuPy arrays."""
    if not isinstance(values, _NO_SERIES) and nw.dependencies.is_into_series(values):
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
    elif hasattr(values, "__cuda_array_interface__"):
        on_device: Any = values
        values = on_device.get()
    try:
        return np.asarray(values)
    except ValueError:
        message = f"{name} must be a rectangular array of numbers, but its parts differ in shape."
        raise ValueError(message) from None


def column_values(values: Any, name: str) -> list[Any]:
    """The values of a column one by one, as they are; a missing one is None."""
    column: Any = values
    if nw.dependencies.is_into_series(values):
        column = nw.from_native(values, series_only=True).to_list()
    elif isinstance(values, np.ndarray):
        if values.ndim != 1:
            _refuse_shape(values, name)
        # Of nanoseconds tolist() would make numbers.
        of_nanoseconds = values.dtype.kind == "M" and np.datetime_data(values.dtype)[0] == "ns"
        column = (values.astype("M8[us]") if of_nanoseconds else values).tolist()
    elif hasattr(values, "tolist"):
        column = values.tolist()
    if not isinstance(column, Sequence) or isinstance(column, str | bytes):
        kind = type(values).__name__
        raise TypeError(f"{name} must be a list, an array or a column, but is of type {kind}.")
    return [None if is_missing(value) else value for value in column]


def is_missing(value: Any) -> bool:
    """Whether a value stands for none: None, NaN, NaT, or pandas' NA."""
    if isinstance(value, float | date | np.generic):
        return bool(value != value)  # NaN and NaT
    return value is None or repr(value) == "<NA>"


def as_table(values: Any, name: str, kind: str = "numeric") -> npt.NDArray[Any]:
    """``values`` as booleans, integers or floats of any shape, also from a data frame; objects one by one."""
    if not isinstance(values, _NO_SERIES) and nw.dependencies.is_into_dataframe(values):
        frame = as_frame(values, name)
        columns = [as_table(own.to_native(), f"{name}[{own.name!r}]", kind) for own in frame.iter_columns()]
        return np.column_stack(columns) if columns else np.empty((len(frame), 0))
    array = to_numpy(values, name)
    if array.dtype == object:
        floats, bad = floats_of_objects(array)
        if bad is not None:
            refuse_at(bad, array[bad], f"{name} must be {kind}")
        return floats
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be {kind}, but its type is {array.dtype}.")
    return array


def as_floats(values: Any, name: str, *, copy: bool = False) -> FloatArray:
    """``values`` as float64 of any shape, free of NaN and infinities."""
    floats: FloatArray = np.array(as_table(values, name), dtype=np.float64, copy=True if copy else None)
    # One pass without temporaries decides; the offender is sought only when there is one.
    if floats.size and not (np.isfinite(floats.min()) and np.isfinite(floats.max())):
        refuse_first(~np.isfinite(floats), floats, f"{name} must be finite")
    return floats


def floats_of_objects(array: npt.NDArray[Any]) -> tuple[FloatArray, tuple[int, ...] | None]:
    """Objects as numbers, and the place of the first that is none."""
    floats = np.empty(array.shape)
    for place, value in np.ndenumerate(array):
        try:
            if isinstance(value, str | bytes) or np.iscomplexobj(value):
                raise TypeError  # "0" is a text, and numpy's 1 + 2j no 1, even where float() would take them
            floats[place] = float(value)
        except (TypeError, ValueError, OverflowError):
            return floats, place
    return floats, None


def as_vector(
    values: Any, name: str, *, copy: bool = False, single: bool = False, negative: bool = True
) -> FloatArray:
    """``values`` as a finite float64 vector; with ``single``, one number is one too; no time is ``negative``."""
    floats = as_floats(values, name, copy=copy)
    floats = floats.reshape(1) if single and not floats.ndim else floats
    if floats.ndim != 1:
        _refuse_shape(floats, name)
    if not negative and floats.min(initial=0.0) < 0:
        refuse_first(floats < 0, floats, f"{name} must not be negative")
    return floats


def _refuse_shape(array: npt.NDArray[Any], name: str) -> NoReturn:
    raise ValueError(f"{name} must be one-dimensional, but its shape is {array.shape}.")


def as_matrix(values: Any, name: str) -> FloatArray:
    """``values`` as finite covariates, one row per subject: an array or an all-numeric data frame."""
    floats = as_floats(values, name)
    if floats.ndim != 2 or not floats.shape[1]:
        raise ValueError(f"{name} must have one row per subject, (n, p), but its shape is {floats.shape}.")
    return floats


def as_times(values: Any, name: str) -> FloatArray:
    """``values`` as finite times of any shape, none of them negative; zero is a time."""
    times = as_floats(values, name)
    if times.min(initial=0.0) < 0:
        refuse_first(times < 0, times, f"{name} must not be negative")
    return times


#: What is added where an event has another code than 0 and 1.
NO_COMPETING_EVENTS = " (competing events are not supported)"


def as_flags(values: Any, name: str, limit: str = "") -> BoolArray:
    """``values`` as a boolean vector: booleans, or 0 and 1; a refusal of another number adds the ``limit``."""
    array = as_table(values, name, "boolean or 0/1")
    if array.ndim != 1:
        _refuse_shape(array, name)
    neither = (array != 0) & (array != 1)
    if neither.any():
        limit = limit if np.isfinite(array[neither][0]) else ""
        refuse_first(neither, array, f"{name} must be 0 or 1{limit}")
    return array.astype(bool)


def as_probabilities(values: Any, name: str, *, interior: bool = False) -> FloatArray:
    """``values`` as probabilities of any shape; ``interior`` excludes 0 and 1 themselves."""
    floats = as_floats(values, name)
    if interior:
        refuse_first((floats <= 0) | (floats >= 1), floats, f"{name} must lie strictly between 0 and 1")
    refuse_first((floats < 0) | (floats > 1), floats, f"{name} must lie in [0, 1]")
    return floats


def as_weights(values: Any, n: int) -> FloatArray:
    """``values`` as the case weights of ``n`` subjects: none of them negative, and not all of them 0."""
    name = "sample_weight"
    weights = as_vector(values, name)
    check_length(weights, name, n, "y")
    refuse_first(weights < 0, weights, f"{name} must not be negative")
    if not weights.any():
        raise ValueError(f"{name} must be above 0 for at least one subject, but is 0 for all, from row 0 on.")
    extreme = (weights > _HEAVIEST) | ((weights > 0) & (weights < _LIGHTEST))
    refuse_first(extreme, weights, f"{name} must be 0 or lie between {_LIGHTEST:g} and {_HEAVIEST:g}")
    return weights


def check_number(value: Any, name: str, *, lower: float = -np.inf, upper: float = np.inf) -> float:
    """``value`` as a finite float, strictly inside (``lower``, ``upper``)."""
    if type(value) is float and lower < value < upper:
        return value
    number = as_floats(value, name)
    if number.ndim:
        raise ValueError(f"{name} must be a single number, but its shape is {number.shape}.")
    if not lower < number < upper:
        raise ValueError(f"{name} must lie strictly between {lower:g} and {upper:g}, but is {number:g}.")
    return float(number)


def broadcast(**arrays: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    """The named arrays at their common shape."""
    try:
        return list(np.broadcast_arrays(*arrays.values()))
    except ValueError:
        shapes = " and ".join(str(array.shape) for array in arrays.values())
        raise ValueError(f"{' and '.join(arrays)} must have matching shapes, but have {shapes}.") from None


def as_generator(rng: Seed) -> np.random.Generator:
    """A generator from a generator or a seed; the global state is never read."""
    return np.random.default_rng(rng)


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A view of ``array`` that refuses to be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def row_blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Slices of rows, each of at most about 1 MiB of float64, so that temporaries stay small and in cache."""
    step = min(max(1, _BLOCK_ELEMENTS // max(1, n_columns)), _BLOCK_ROWS)
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


def as_frame(frame: Any, name: str) -> nw.DataFrame[Any]:
    """``frame`` behind narwhals."""
    try:
        return nw.from_native(frame, eager_only=True)
    except TypeError:
        kind = type(frame).__name__
        raise TypeError(f"{name} must be a pandas, polars or pyarrow frame, but is of type {kind}.") from None
    except nw.exceptions.DuplicateError:
        raise ValueError(f"{name} must not have two columns of the same name.") from None


def library_of(values: Any) -> Any:
    """The library of a data frame, for :func:`make_frame`; None for what is none."""
    is_frame = nw.dependencies.is_into_dataframe(values)
    return nw.from_native(values, eager_only=True).implementation if is_frame else None


def make_frame(columns: Mapping[str, Sequence[Any]], library: Any = None) -> Any:
    """A data frame of a ``library``; without one, of pandas if that is installed, else pyarrow."""
    backend: Any = library or ("pandas" if find_spec("pandas") else "pyarrow")
    return nw.from_dict(columns, backend=backend).to_native()


def frame_of_rows(columns: Sequence[str], rows: Sequence[Sequence[Any]], library: Any = None) -> Any:
    """A data frame of rows, of which there may be none."""
    return make_frame({name: [row[k] for row in rows] for k, name in enumerate(columns)}, library)


def need(module: str, who: str, package: str, extra: str) -> Any:
    """Import what an extra brings, or say in one sentence how to get it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != module.split(".")[0]:
            raise
        message = f"{who} needs {package}: pip install 'cocensor[{extra}]'."
        raise ModuleNotFoundError(message, name=error.name) from None
