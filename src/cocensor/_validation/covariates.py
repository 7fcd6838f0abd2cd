"""Covariates of every kind as numbers: one encoder, with the levels of the sample that is fitted to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from cocensor._validation.arrays import as_floats, as_matrix, as_table, to_numpy
from cocensor._validation.frames import Covariates, as_frame, column_names
from cocensor._validation.refusals import as_tuple, listed, refuse_column
from cocensor._validation.types import FloatArray

_GO_ON = "; correct it, choose other columns (covariates=[...]), or use no covariates (covariates=None)"
# A fit holds several squares of so many columns.
_MOST_COLUMNS = 5000
# Products of such a value with weights and hazard ratios stay within double precision.
_LARGEST = 1e50


@dataclass(frozen=True, eq=False)
class Encoding:
    """How covariates become the columns of a model, learned from the sample that the model is fitted to.

    A number stays as it is. A category becomes indicators of its levels in that sample, in alphabetical order and
    without the first; such an indicator is named "column=level". What does not vary in the sample is left out. Levels
    are compared as texts: 2, 2.0 and "2" are one.

    Attributes
    ----------
    columns : tuple of str
        What the columns of the covariates are called.
    is_named : bool
        Whether they have names of their own.
    levels : dict
        All levels of each category in the sample, by the number of its column.
    sources : tuple of pairs
        For each column of the model the number of the covariate, and the level that it indicates; None of a number.

    Examples
    --------
    >>> import pandas as pd
    >>> x_train = pd.DataFrame({"age": [40.0, 60.0, 50.0], "stage": ["I", "III", "II"], "site": "east"})
    >>> encoding = Encoding.of(x_train, "x_train")
    >>> encoding.names
    ('age', 'stage=II', 'stage=III')
    >>> encoding.left_out
    ('site',)
    >>> encoding.matrix(x_train[1:], "x_test")
    array([[60.,  0.,  1.],
           [50.,  1.,  0.]])
    >>> encoding.matrix(x_train.assign(stage="IV"), "x_test")
    Traceback (most recent call last):
    ...
    ValueError: x_test must have levels in column 'stage' that were fitted to ('I', 'II', 'III'), but has 'IV': ...
    """

    columns: tuple[str, ...]
    is_named: bool
    levels: Mapping[int, tuple[str, ...]]
    sources: tuple[tuple[int, str | None], ...]

    @classmethod
    def of(cls, x: Any, name: str) -> Encoding:
        """Learned from covariates, which refusals call ``name``."""
        table = as_covariates(x, name)
        check_width(table.values.shape[1], name)
        _check_size(table, name)
        levels = {k: table.levels_seen(k) for k in table.levels}
        varies = table.values.min(axis=0, initial=np.inf) < table.values.max(axis=0, initial=-np.inf)
        sources = tuple(
            (k, level)
            for k in range(len(varies))
            for level in (levels[k][1:] if k in levels else (None,) if varies[k] else ())
        )
        check_width(len(sources), name)
        return cls(table.labels, table.columns is not None, levels, sources)

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns of the model are called."""
        return tuple(
            self.columns[k] if level is None else f"{self.columns[k]}={level}" for k, level in self.sources
        )

    @property
    def left_out(self) -> tuple[str, ...]:
        """The covariates that do not vary in the sample."""
        used = {k for k, _ in self.sources}
        return tuple(label for k, label in enumerate(self.columns) if k not in used)

    def matrix(self, x: Any, name: str) -> FloatArray:
        """The columns of the model, for any subjects with the same covariates."""
        table = as_covariates(x, name)
        _check_size(table, name)
        if self.is_named and table.columns not in (None, self.columns):
            raise ValueError(
                f"{name} must have the columns {list(self.columns)}, as in the fit, but has {column_names(table)}."
            )
        if table.values.shape[1] != len(self.columns):
            raise ValueError(
                f"{name} must have {len(self.columns)} columns, as in the fit, but has {table.values.shape[1]}."
            )
        for k in self.levels.keys() ^ table.levels.keys():
            kinds = ("categories", "numbers") if k in self.levels else ("numbers", "categories")
            raise ValueError(
                f"{name} must have {kinds[0]} in column {self.columns[k]!r}, as in the fit, but has {kinds[1]}."
            )
        if not self.levels and len(self.sources) == len(self.columns):
            return table.values
        place = {k: self._places(table, k, name) for k in self.levels}
        matrix = np.empty((len(table), len(self.sources)))
        for j, (k, level) in enumerate(self.sources):
            matrix[:, j] = table.values[:, k] if level is None else place[k] == self.levels[k].index(level)
        return matrix

    def _places(self, table: Covariates, k: int, name: str) -> Any:
        """The place of each subject's level among those of the sample."""
        known = self.levels[k]
        place = {level: i for i, level in enumerate(known)}
        places = np.array([place.get(level, -1) for level in table.levels[k]], dtype=np.intp)[table.codes(k)]
        if places.min(initial=0) < 0:
            level = table.levels[k][table.codes(k)[np.argmax(places < 0)]]
            raise ValueError(
                f"{name} must have levels in column {self.columns[k]!r} that were fitted to "
                f"({listed(list(known))}), but has {level!r}: join it with another level, or leave out the column or "
                "the subject."
            )
        return places


def check_width(n_columns: int, name: str) -> None:
    """Refuse more columns than a model can be fitted to."""
    if n_columns > _MOST_COLUMNS:
        raise ValueError(
            f"{name} must have at most {_MOST_COLUMNS} columns, with one for each level of a category but the first, "
            f"but has {n_columns}: choose some of them."
        )


def _check_size(table: Covariates, name: str) -> None:
    """Refuse values that products of a model would take out of double precision."""
    if max(-table.values.min(initial=0.0), table.values.max(initial=0.0)) > _LARGEST:
        reached = np.abs(table.values).max(axis=0)
        k = int(np.argmax(reached > _LARGEST))
        raise ValueError(
            f"{name} must have values of moderate size, but column {table.labels[k]!r} reaches {reached[k]:g}: use "
            "another unit."
        )


def as_covariates(x: Any, name: str) -> Covariates:
    """A table of covariates from an array or a data frame."""
    if isinstance(x, Covariates):
        return x
    if not nw.dependencies.is_into_dataframe(x):
        x = to_numpy(x, name)
        if x.dtype.kind not in "OUS" or not any(isinstance(value, str) for value in x.ravel()):
            return Covariates(as_matrix(x, name))
    names = column_names(x)
    columns = _columns(x, name, "")
    return _table(columns, name, tuple(names or ()), list(range(len(columns))), "")


def chosen_covariates(asked: Any, parts: Sequence[tuple[Any, str]]) -> list[Covariates]:
    """The chosen columns of every part.

    Parameters
    ----------
    asked : "all", or a name or number of a column, or several
    parts : sequence of pairs
        Arrays or frames of the same columns, each with what refusals call it.
    """
    columns = [_columns(x, name, _GO_ON) for x, name in parts]
    named = next((own for x, _ in parts if (own := column_names(x)) is not None), None)
    for (x, name), found in zip(parts, columns, strict=True):
        if len(found) != len(columns[-1]) or column_names(x) not in (None, named):
            raise ValueError(
                f"{parts[0][1]} must have the columns of {parts[-1][1]}, {_shown(parts[-1][0], columns[-1])}, but "
                f"{name} has {_shown(x, found)}."
            )
    chosen = _chosen(asked, named, len(columns[0]), parts[0][1])
    tables = [
        _table(found, name, tuple(named or ()), chosen, _GO_ON)
        for (_, name), found in zip(parts, columns, strict=True)
    ]
    of_some = {k for table in tables for k in table.levels}
    for k in [k for k in of_some if any(k not in table.levels for table in tables)]:
        raise ValueError(
            f"column {tables[0].labels[k]!r} must have categories in every sample, but has numbers in one{_GO_ON}."
        )
    if named is None and len(chosen) < len(columns[0]):
        labels = tuple(f"x{k}" for k in chosen)
        tables = [replace(table, columns=labels) for table in tables]
    return tables


def spelled(value: Any) -> str:
    """A level as text, the same whatever type it came in; empty for NaN."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, float | np.floating):
        if np.isnan(value):
            return ""
        return str(int(value)) if float(value).is_integer() else repr(float(value))
    return str(value)


def categories(values: Sequence[Any]) -> tuple[FloatArray, tuple[str, ...], int | None]:
    """The places of all values among their levels, these levels, and the first row that has none."""
    place: dict[Any, int] = {}
    codes = np.array([place.setdefault(value, len(place)) for value in values], dtype=np.float64)
    levels = tuple("" if value is None else spelled(value) for value in place)
    gone = [k for k, level in enumerate(levels) if not level]
    return codes, levels, int(np.argmax(np.isin(codes, gone))) if gone else None


def _table(
    columns: Sequence[Any], name: str, labels: tuple[str, ...], chosen: Sequence[int], go_on: str
) -> Covariates:
    """The chosen columns of one part; ``labels`` is empty where they have no names."""
    read = [_values(columns[k], name, labels[k] if labels else k, go_on) for k in chosen]
    levels = {j: known for j, (_, known) in enumerate(read) if known is not None}
    values = np.column_stack([values for values, _ in read])
    return Covariates(values, tuple(labels[k] for k in chosen) if labels else None, levels)


def _columns(x: Any, name: str, go_on: str) -> list[Any]:
    """The columns of covariates, one by one."""
    if isinstance(x, Covariates):
        return [
            values if k not in x.levels else np.array(x.levels[k])[x.codes(k)]
            for k, values in enumerate(x.values.T)
        ]
    if nw.dependencies.is_into_dataframe(x):
        columns = list(as_frame(x, name).iter_columns())
        if not columns:
            raise ValueError(f"{name} must have at least one column, but has none{go_on}.")
        return columns
    try:
        table = np.asarray(x) if isinstance(x, np.ndarray) else as_table(x, name)
    except ValueError as error:
        raise ValueError(f"{str(error).removesuffix('.')}{go_on}.") from error
    if table.ndim != 2 or not table.shape[1]:
        raise ValueError(
            f"{name} must have one row per subject, (n, p), but its shape is {table.shape}{go_on}."
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


def _values(column: Any, name: str, label: str | int, go_on: str) -> tuple[Any, tuple[str, ...] | None]:
    """A column as finite numbers, or the places of its categories among their levels, and these levels."""
    where = f"column {label!r}"
    if isinstance(column, nw.Series):
        kind = column.dtype
        missing = column.is_null()
        if missing.any():
            _refuse_missing(name, where, int(missing.arg_true()[0]), go_on)
        if kind in (nw.String, nw.Categorical, nw.Enum):
            return _read_categories(column.to_list(), name, where, go_on)
        if not (kind.is_numeric() or kind in (nw.Boolean, nw.Object)):
            raise ValueError(f"{name} must have numbers or categories, but {where} is {kind}{go_on}.")
        column = column.to_numpy()
    if column.dtype.kind in "OUS":
        values = column.tolist()
        if any(isinstance(value, str) for value in values):
            return _read_categories(values, name, where, go_on)
    if column.dtype.kind == "f" or column.dtype == object:
        gone = (
            np.array([value is None or value != value for value in column])
            if column.dtype == object
            else np.isnan(column)
        )
        if gone.any():
            _refuse_missing(name, where, int(np.argmax(gone)), go_on)
    try:
        return as_floats(column, f"{name}, {where},"), None
    except ValueError as error:
        raise ValueError(f"{str(error).removesuffix('.')}{go_on}.") from error


def _read_categories(
    values: list[Any], name: str, where: str, go_on: str
) -> tuple[FloatArray, tuple[str, ...]]:
    codes, levels, missing = categories(values)
    if missing is not None:
        _refuse_missing(name, where, missing, go_on)
    return codes, levels


def _refuse_missing(name: str, where: str, row: int, go_on: str) -> None:
    raise ValueError(f"{name} has no value in {where}, row {row}{go_on}.")
