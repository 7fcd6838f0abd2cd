"""Data frames of any library, behind narwhals."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from cocensor._validation.refusals import refuse_column
from cocensor._validation.types import FloatArray


@dataclass(frozen=True, eq=False)
class Covariates:
    """Covariates as numbers, one row per subject, with the names of their columns."""

    values: FloatArray
    columns: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> Covariates:
        return Covariates(self.values[rows], self.columns)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.values, dtype=dtype, copy=copy)


def as_frame(frame: Any, name: str) -> nw.DataFrame[Any]:
    """``frame`` behind narwhals."""
    try:
        return nw.from_native(frame, eager_only=True)
    except TypeError:
        kind = type(frame).__name__
        raise TypeError(f"{name} must be a pandas, polars or pyarrow frame, but is of type {kind}.") from None
    except nw.exceptions.DuplicateError:
        raise ValueError(f"{name} must not have two columns of the same name.") from None


def column_names(values: Any) -> list[str] | None:
    """The names of the columns of covariates or of a data frame; None for arrays."""
    if isinstance(values, Covariates):
        return list(values.columns)
    if not nw.dependencies.is_into_dataframe(values):
        return None
    return as_frame(values, "X").columns


def row_labels(values: Any) -> Any:
    """The labels of the rows of a frame or column of pandas, or of a library like it; None for all that has none."""
    is_labelled = nw.dependencies.is_pandas_like_dataframe(values) or nw.dependencies.is_pandas_like_series(
        values
    )
    return values.index if is_labelled else None


def frame_column(frame: nw.DataFrame[Any], column: str, name: str) -> Any:
    """A column by name, as the native series of its library."""
    if column not in frame.columns:
        refuse_column(column, frame.columns, name)
    return frame.get_column(column).to_native()


def make_frame(columns: dict[str, list[Any]], template: Any = None) -> Any:
    """A data frame of the same library as ``template``; without one, of pandas if that is installed, else pyarrow."""
    if template is not None:
        backend: Any = nw.get_native_namespace(template)
    else:
        backend = "pandas" if find_spec("pandas") else "pyarrow"
    return nw.from_dict(columns, backend=backend).to_native()
