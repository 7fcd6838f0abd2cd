"""Covariates of every kind as numbers, for adjustments that are given them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

from cocensor._validation.arrays import as_floats, as_table
from cocensor._validation.frames import Covariates, as_frame, column_names
from cocensor._validation.refusals import as_tuple, refuse_column
from cocensor._validation.types import FloatArray

_GO_ON = "correct it, choose other columns (covariates=[...]), or use no covariates (covariates=None)."


def coded(asked: Any, parts: Sequence[tuple[Any, str]]) -> tuple[list[Any], dict[str, tuple[str, ...]]]:
    """The chosen columns of every part as numbers, and the levels of those that are categories, by column.

    Parameters
    ----------
    asked : "all", or a name or number of a column, or several
    parts : sequence of pairs
        Arrays or frames of the same columns, each with what refusals call it.

    Returns
    -------
    list of Covariates, or of arrays where columns have no names
    dict
        A column of texts or categories becomes indicators of its levels in all parts together, in alphabetical order
        and without the first; such an indicator is named "column=level".
    """
    columns = [_columns(x, name) for x, name in parts]
    named = next((own for x, _ in parts if (own := column_names(x)) is not None), None)
    for (x, name), found in zip(parts, columns, strict=True):
        if len(found) != len(columns[-1]) or column_names(x) not in (None, named):
            raise ValueError(
                f"{parts[0][1]} must have the columns of {parts[-1][1]}, {_shown(parts[-1][0], columns[-1])}, but "
                f"{name} has {_shown(x, found)}."
            )
    chosen = _chosen(asked, named, len(columns[0]), parts[0][1])
    labels = named or [f"x{k}" for k in range(len(columns[0]))]
    levels: dict[str, tuple[str, ...]] = {}
    blocks: list[list[FloatArray]] = [[] for _ in parts]
    names: list[str] = []
    for k in chosen:
        label = labels[k]
        read = [
            _values(found[k], name, label if named else k)
            for (_, name), found in zip(parts, columns, strict=True)
        ]
        if any(values.dtype.kind == "U" for values in read):
            if any(values.dtype.kind != "U" for values in read):
                raise ValueError(
                    f"column {label!r} must have categories in every sample, but has numbers in one; {_GO_ON}"
                )
            every = tuple(sorted(set().union(*(np.unique(values).tolist() for values in read))))
            levels[label] = every
            names += [f"{label}={level}" for level in every[1:]]
            read = [(values[:, None] == np.array(every[1:])).astype(np.float64) for values in read]
        else:
            names.append(label)
            read = [values[:, None] for values in read]
        for block, values in zip(blocks, read, strict=True):
            block.append(values)
    if not names:
        raise ValueError(f"{parts[0][1]} must have at least one column that varies; {_GO_ON}")
    matrices = [np.hstack(block) for block in blocks]
    if named is None and len(chosen) == len(labels) and not levels:
        return list(matrices), levels
    return [Covariates(matrix, tuple(names)) for matrix in matrices], levels


def spelled(value: Any) -> str:
    """A level as text, the same whatever type it came in; empty for NaN."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, float | np.floating):
        if np.isnan(value):
            return ""
        return str(int(value)) if float(value).is_integer() else repr(float(value))
    return str(value)


def _columns(x: Any, name: str) -> list[Any]:
    """The columns of covariates, one by one."""
    if isinstance(x, Covariates):
        return list(x.values.T)
    if nw.dependencies.is_into_dataframe(x):
        return list(as_frame(x, name).iter_columns())
    try:
        table = np.asarray(x) if isinstance(x, np.ndarray) else as_table(x, name)
    except ValueError as error:
        raise ValueError(f"{str(error).removesuffix('.')}; {_GO_ON}") from error
    if table.ndim != 2 or not table.shape[1]:
        raise ValueError(
            f"{name} must have one row per subject, (n, p), but its shape is {table.shape}; {_GO_ON}"
        )
    return list(table.T)


def _shown(x: Any, columns: list[Any]) -> Any:
    return column_names(x) or len(columns)


def _chosen(asked: Any, named: list[str] | None, n: int, name: str) -> list[int]:
    """The places of the columns that were asked for."""
    if isinstance(asked, str) and asked == "all":
        return list(range(n))
    places = []
    for each in as_tuple(asked, "covariates", str, int):
        if isinstance(each, str) and named is not None:
            if each not in named:
                refuse_column(each, named, name)
            places.append(named.index(each))
        elif isinstance(each, int | np.integer) and not isinstance(each, bool) and 0 <= each < n:
            places.append(int(each))
        else:
            raise ValueError(f"covariates must name columns of {name}, which has {n}, but one is {each!r}.")
    if not places:
        raise ValueError("covariates is empty: give None to use no covariates.")
    if len(set(places)) < len(places):
        raise ValueError(f"covariates must differ, but are {asked!r}.")
    return places


def _values(column: Any, name: str, label: str | int) -> Any:
    """A column as finite numbers, or as texts where it has categories."""
    where = f"column {label!r}"
    if isinstance(column, nw.Series):
        kind = column.dtype
        missing = column.is_null()
        if missing.any():
            _refuse_missing(name, where, int(missing.arg_true()[0]))
        if kind in (nw.String, nw.Categorical, nw.Enum):
            return _texts(column.to_list(), name, where)
        if not (kind.is_numeric() or kind in (nw.Boolean, nw.Object)):
            raise ValueError(f"{name} must have numbers or categories, but {where} is {kind}; {_GO_ON}")
        column = column.to_numpy()
    if column.dtype.kind in "OUS":
        values = column.tolist()
        if any(isinstance(value, str) for value in values):
            return _texts(values, name, where)
    if column.dtype.kind == "f" or column.dtype == object:
        gone = (
            np.array([value is None or value != value for value in column])
            if column.dtype == object
            else np.isnan(column)
        )
        if gone.any():
            _refuse_missing(name, where, int(np.argmax(gone)))
    try:
        return as_floats(column, f"{name}, {where},")
    except ValueError as error:
        raise ValueError(f"{str(error).removesuffix('.')}; {_GO_ON}") from error


def _texts(values: list[Any], name: str, where: str) -> Any:
    texts = np.array(["" if value is None else spelled(value) for value in values], dtype=np.str_)
    gone = texts == ""
    if gone.any():
        _refuse_missing(name, where, int(np.argmax(gone)))
    return texts


def _refuse_missing(name: str, where: str, row: int) -> None:
    raise ValueError(f"{name} has no value in {where}, row {row}; {_GO_ON}")
