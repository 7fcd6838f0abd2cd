"""Data frames of any library, behind narwhals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from cocensor._validation.refusals import refuse_column
from cocensor._validation.types import FloatArray


@dataclass(frozen=True, eq=False)
class Covariates:
    """A table of covariates, one row per subject.

    Attributes
    ----------
    values : array of shape (n, p)
        Numbers; a category is its place among its levels.
    columns : tuple of str or None
        The names of the columns; None for those of an array.
    levels : dict
        The levels of each category, by the number of its column. Some may have no subject.
    """

    values: FloatArray
    columns: tuple[str, ...] | None = None
    levels: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def joined(cls, tables: Sequence[Covariates]) -> Covariates:
        """The rows of several tables with the same columns."""
        first = tables[0]
        if not first.levels:
            return cls(np.concatenate([table.values for table in tables]), first.columns)
        levels = {
            k: tuple(dict.fromkeys(level for table in tables for level in table.levels[k]))
            for k in first.levels
        }
        values = np.concatenate([table.values for table in tables])
        for k, known in levels.items():
            place = {level: i for i, level in enumerate(known)}
            values[:, k] = np.concatenate(
                [np.array([place[level] for level in table.levels[k]])[table.codes(k)] for table in tables]
            )
        return cls(values, first.columns, levels)

    @property
    def labels(self) -> tuple[str, ...]:
        """What the columns are called, with or without names."""
        return self.columns or tuple(f"x{k}" for k in range(self.values.shape[1]))

    def codes(self, k: int) -> npt.NDArray[np.intp]:
        """The places of each subject's category among the levels of column ``k``."""
        return self.values[:, k].astype(np.intp)

    def levels_seen(self, k: int) -> tuple[str, ...]:
        """The levels that subjects have in column ``k``, in alphabetical order."""
        return tuple(sorted({self.levels[k][code] for code in np.unique(self.codes(k))}))

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> Covariates:
        return Covariates(self.values[rows], self.columns, self.levels)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if not self.levels:
            return np.array(self.values, dtype=dtype, copy=copy)
        found = self.values.astype(object)
        for k, known in self.levels.items():
            found[:, k] = np.array(known, dtype=object)[self.codes(k)]
        return found if dtype is None else found.astype(dtype)


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
        return None if values.columns is None else list(values.columns)
    if not nw.dependencies.is_into_dataframe(values):
        return None
    return as_frame(values, "X").columns


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
