"""From columns of Parquet files to arrays; every refusal names the file, the row in it, and the column."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

T = TypeVar("T")
_ROW = re.compile(r"\brow (\d+)")


@dataclass(frozen=True, eq=False)
class Piece:
    """Some rows of one file: a record batch of pyarrow, and the row of the file that it starts with."""

    path: str
    first: int
    data: Any


def is_text(kind: Any) -> bool:
    """Whether a pyarrow type is one of texts."""
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def is_number(kind: Any) -> bool:
    """Whether a pyarrow type is one of numbers or of booleans."""
    from pyarrow import types

    return bool(
        types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_boolean(kind)
    )


def is_category(kind: Any) -> bool:
    """Whether a pyarrow type is one of categories: texts, or a dictionary of anything."""
    from pyarrow import types

    return bool(types.is_dictionary(kind) or is_text(kind))


def plain(values: Any) -> Any:
    """A column without its dictionary, if it has one."""
    from pyarrow import types

    return values.cast(values.type.value_type) if types.is_dictionary(values.type) else values


def plain_type(kind: Any) -> Any:
    """The type of a column's values."""
    from pyarrow import types

    return kind.value_type if types.is_dictionary(kind) else kind


def checked(pieces: Sequence[Piece], make: Callable[[Sequence[Piece]], T]) -> T:
    """What is made of some rows; a refusal is looked for piece by piece, so that it can name file and row."""
    try:
        return make(pieces)
    except ValueError:
        for piece in pieces:
            with named(piece.path, piece.first):
                make([piece])
        raise


@contextmanager
def named(path: str, first: int = 0) -> Iterator[None]:
    """Put the name of a file before what is refused, and count rows from ``first`` on."""
    try:
        yield
    except ValueError as error:
        said = _ROW.sub(lambda found: f"row {int(found[1]) + first}", str(error))
        raise ValueError(f"{path}: {said}") from None


def numbers(pieces: Sequence[Piece], name: str) -> npt.NDArray[Any]:
    """A column of numbers, in its own precision and without missing values."""
    return np.concatenate([_array(piece.data.column(name), name) for piece in pieces])


def matrix(pieces: Sequence[Piece], names: Sequence[str], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Columns of numbers side by side: in Fortran order, which is one plain copy for each column."""
    values = np.empty((len(names), sum(piece.data.num_rows for piece in pieces)), dtype=dtype)
    start = 0
    for piece in pieces:
        stop = start + piece.data.num_rows
        for k, name in enumerate(names):
            values[k, start:stop] = _array(piece.data.column(name), name)
        start = stop
    return values.T


def texts(pieces: Sequence[Piece], name: str) -> list[Any]:
    """A column of texts, of which some may be missing."""
    return [value for piece in pieces for value in plain(piece.data.column(name)).to_pylist()]


def refuse_missing(values: Any, name: str) -> None:
    """Refuse a column with a value missing."""
    if values.null_count:
        import pyarrow.compute as pc

        row = pc.index(pc.is_null(values), True).as_py()
        raise ValueError(f"column {name!r} has no value in row {row}.")


def _array(values: Any, name: str) -> npt.NDArray[Any]:
    refuse_missing(values, name)
    array = values.to_numpy(zero_copy_only=False)
    if array.dtype == object:  # decimals
        array = plain(values).cast("float64").to_numpy()
    return array
