"""Covariates of every kind as numbers: one encoder, with the levels of the sample that is fitted to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from cocensor._checks import (
    BoolArray,
    FloatArray,
    as_frame,
    as_matrix,
    as_table,
    as_tuple,
    listed,
    refuse_column,
    to_numpy,
)
from cocensor._late import narwhals as nw
from cocensor._notes import Note, noted
from cocensor.data.tables import Table


@dataclass(frozen=True, eq=False)
class Covariates:
    """A table of covariates, one row per subject."""

    values: FloatArray  # numbers, NaN where one is missing; a category is its place among its levels
    columns: tuple[str, ...] | None = None  # the names of the columns; None for those of an array
    #: The levels of each category, by the number of its column. Some may have no subject; "" is that of no value.
    levels: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def joined(cls, tables: Sequence[Covariates]) -> Covariates:
        """Return the rows of several tables with the same columns."""
        values, levels = np.concatenate([table.values for table in tables]), {}
        for k in tables[0].levels:
            levels[k] = tuple(dict.fromkeys(level for table in tables for level in table.levels[k]))
            values[:, k] = np.concatenate([table.places_among(levels[k], k) for table in tables])
        return cls(values, tables[0].columns, levels)

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the columns, with numbers for those of an array."""
        return self.columns or tuple(f"x{k}" for k in range(self.values.shape[1]))

    def codes(self, k: int) -> npt.NDArray[np.intp]:
        """The places of each subject's category among the levels of column ``k``."""
        return self.values[:, k].astype(np.intp)

    def places_among(self, levels: Sequence[str], k: int) -> npt.NDArray[np.intp]:
        """The place of each subject's category of column ``k`` among ``levels``; −1 where it is none of them."""
        place = {level: i for i, level in enumerate(levels)}
        return np.array([place.get(level, -1) for level in self.levels[k]], dtype=np.intp)[self.codes(k)]

    def levels_seen(self, k: int) -> tuple[str, ...]:
        """The levels that subjects have in column ``k``, in alphabetical order; that of no value comes last."""
        seen = {self.levels[k][code] for code in np.unique(self.codes(k))}
        return tuple(sorted(seen, key=lambda level: (not level, level)))

    def missing(self, k: int) -> BoolArray:
        """Who has no value in column ``k``."""
        if k not in self.levels:
            return np.isnan(self.values[:, k])
        return self.places_among([""], k) == 0 if "" in self.levels[k] else np.zeros(len(self), dtype=bool)

    def of_columns(self, columns: Sequence[int]) -> Covariates:
        """Return some of the columns, by number."""
        levels = {j: self.levels[k] for j, k in enumerate(columns) if k in self.levels}
        names = None if self.columns is None else tuple(self.columns[k] for k in columns)
        return Covariates(self.values[:, columns], names, levels)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> Covariates:
        return Covariates(self.values[rows], self.columns, self.levels)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if not self.levels:
            return np.array(self.values, dtype=dtype, copy=copy)
        values = self.values.astype(object)
        for k, levels in self.levels.items():
            values[:, k] = np.array(levels, dtype=object)[self.codes(k)]
        return values if dtype is None else values.astype(dtype)


def column_names(values: Any) -> list[str] | None:
    """The names of the columns of covariates or of a data frame; None for arrays."""
    if isinstance(values, Covariates):
        return None if values.columns is None else list(values.columns)
    return as_frame(values, "X").columns if nw.dependencies.is_into_dataframe(values) else None


_GO_ON = "; correct it, choose other columns (covariates=[...]), or use no covariates (covariates=None)"
_MOST_COLUMNS = 5000  # a fit holds several squares of so many columns
_LARGEST = 1e50  # products of such a value with weights and hazard ratios stay within double precision


@dataclass(frozen=True, eq=False)
class Encoding:
    """The columns of a model that covariates become, learned from the sample that the model is fitted to.

    A number stays as it is. A category becomes indicators of its levels in that sample, in alphabetical order and
    without the first; such an indicator is named "column=level". What does not vary in the sample is left out. Levels
    are compared as texts: 2, 2.0 and "2" are one. Where covariates may be incomplete, a missing number becomes the
    mean, and a missing category a level, with the indicator "column missing".

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

    columns: tuple[str, ...]  # the names of the covariates; x0, x1, ... where they have none
    is_named: bool
    #: All levels of each category in the sample, by the number of its column.
    levels: Mapping[int, tuple[str, ...]]
    #: For each column of the model the number of the covariate, and the level that it indicates ("" for no value);
    #: None of a number.
    sources: tuple[tuple[int, str | None], ...]
    #: Where covariates may be incomplete, the means of the numbers, and how many subjects lack a value, by column.
    means: FloatArray | None = None
    n_missing: Mapping[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, x: Any, name: str, *, incomplete: bool = False) -> Encoding:
        """Return the encoding learned from covariates, which refusals call ``name``."""
        table = as_covariates(x, name, incomplete=incomplete)
        check_width(table.values.shape[1], name)
        _check_size(table, name)
        levels = {k: table.levels_seen(k) for k in table.levels}
        lowest, largest = _extremes(table.values)
        if not incomplete:
            check_complete(table, name)
        n_missing = {k: int(table.missing(k).sum()) for k in range(lowest.size)}
        n_missing = {k: n for k, n in n_missing.items() if n}
        sources = list[tuple[int, str | None]]()
        for k in range(lowest.size):
            if k in levels:
                sources += [(k, level) for level in levels[k][1:]]
                continue
            sources += [(k, None)] * bool(lowest[k] < largest[k])
            sources += [(k, "")] * (0 < n_missing.get(k, 0) < len(table))
        check_width(len(sources), name)
        means = None
        if incomplete:
            known = ~np.isnan(table.values)
            total = np.where(known, table.values, 0.0).sum(axis=0)
            means = total / np.maximum(known.sum(axis=0), 1)
        return cls(table.labels, table.columns is not None, levels, tuple(sources), means, n_missing)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns of the model."""
        columns = [self.columns[k] for k, _ in self.sources]
        levels = [level for _, level in self.sources]
        indicates = ["" if level is None else f"={level}" if level else " missing" for level in levels]
        return tuple(column + level for column, level in zip(columns, indicates, strict=True))

    @property
    def notes(self) -> list[Note]:
        """By column that lacks values, how it enters."""
        return [noted("incomplete", covariate=self.columns[k], n=n) for k, n in self.n_missing.items()]

    @property
    def left_out(self) -> tuple[str, ...]:
        """The covariates that do not vary in the sample."""
        used = {k for k, _ in self.sources}
        return tuple(label for k, label in enumerate(self.columns) if k not in used)

    def matrix(self, x: Any, name: str) -> FloatArray:
        """Return the columns of the model, for any subjects with the same covariates."""
        table = as_covariates(x, name, incomplete=self.means is not None)
        _check_size(table, name)
        if self.means is None:
            check_complete(table, name)

        def refuse(wanted: str, has: Any) -> NoReturn:
            raise ValueError(f"{name} must have {wanted}, as in the fit, but has {has}.")

        if self.is_named and table.columns not in (None, self.columns):
            refuse(f"the columns {list(self.columns)}", column_names(table))
        if table.values.shape[1] != len(self.columns):
            refuse(f"{len(self.columns)} columns", table.values.shape[1])
        for k in self.levels.keys() ^ table.levels.keys():
            wanted, has = _kinds(k in self.levels)
            refuse(f"{wanted} in column {self.columns[k]!r}", has)
        if not self.levels and len(self.sources) == len(self.columns) and self.means is None:
            return table.values
        place = {k: table.places_among(levels, k) for k, levels in self.levels.items()}
        for k, places in place.items():
            for row in np.flatnonzero(places < 0)[:1]:
                level = table.levels[k][table.codes(k)[row]]
                fitted = f"{self.columns[k]!r} that were fitted to ({listed(list(self.levels[k]))})"
                instead = "join it with another level, or leave out the column or the subject"
                raise ValueError(f"{name} must have levels in column {fitted}, but has {level!r}: {instead}.")
        matrix = np.empty((len(table), len(self.sources)))
        for j, (k, level) in enumerate(self.sources):
            if level is not None:
                matrix[:, j] = place[k] == self.levels[k].index(level) if k in place else table.missing(k)
            elif self.means is None:
                matrix[:, j] = table.values[:, k]
            else:
                matrix[:, j] = np.where(table.missing(k), self.means[k], table.values[:, k])
        return matrix


def check_width(n_columns: int, name: str) -> None:
    """Refuse more columns than a model can be fitted to."""
    if n_columns > _MOST_COLUMNS:
        most = f"at most {_MOST_COLUMNS} columns, with one for each level of a category but the first"
        raise ValueError(f"{name} must have {most}, but has {n_columns}: choose some of them.")


def _check_size(table: Covariates, name: str) -> None:
    """Refuse values that products of a model would take out of double precision."""
    lowest, largest = _extremes(table.values)
    reached = np.maximum(-lowest, largest)
    if reached.max(initial=0.0) > _LARGEST:
        k = int(np.argmax(reached > _LARGEST))
        has = f"column {table.labels[k]!r} reaches {reached[k]:g}"
        raise ValueError(f"{name} must have values of moderate size, but {has}: use another unit.")


def check_complete(table: Covariates, name: str, go_on: str = "") -> None:
    """Refuse covariates that lack a value."""
    for k, label in enumerate(table.labels):
        for row in np.flatnonzero(table.missing(k))[:1]:
            raise ValueError(f"{name}: column {label!r} has no value in row {row}{go_on}.")


def _extremes(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The smallest and the largest value of each column, of those that are there."""
    return np.fmin.reduce(values, initial=np.inf), np.fmax.reduce(values, initial=-np.inf)


def as_covariates(x: Any, name: str, *, incomplete: bool = False) -> Covariates:
    """Return the table of covariates of an array or a data frame."""
    if isinstance(x, Covariates):
        return x
    if not nw.dependencies.is_into_dataframe(x):
        x = to_numpy(x, name)
        if not incomplete and (
            x.dtype.kind not in "OUS" or not any(isinstance(value, str) for value in x.ravel())
        ):
            return Covariates(as_matrix(x, name))
    table = _as_table(x, name)
    return read_covariates(table, table.columns, incomplete=incomplete)


def read_covariates(table: Table, columns: Sequence[Any], *, incomplete: bool = False) -> Covariates:
    """Return some columns of a table as covariates."""
    read = [table.covariate(column, incomplete=incomplete) for column in columns]
    levels = {k: own for k, (_, own) in enumerate(read) if own is not None}
    names = None if isinstance(table.data, np.ndarray) else tuple(columns)
    return Covariates(np.column_stack([values for values, _ in read]), names, levels)


def check_alike(tables: Sequence[Covariates], names: Sequence[str], go_on: str = "") -> None:
    """Refuse samples, by name, one of which has categories where the first has numbers, or the reverse."""
    first = tables[0]
    for table, name in zip(tables[1:], names[1:], strict=True):
        for k in sorted(table.levels.keys() ^ first.levels.keys()):
            own, other = _kinds(k in table.levels)
            has = f"column {first.labels[k]!r} has {own}, but {other} in {names[0]}"
            raise ValueError(f"{name}: {has}{go_on}.")


def _kinds(has_categories: bool) -> tuple[str, str]:
    """Return what a column has, and what another has that differs."""
    return ("categories", "numbers") if has_categories else ("numbers", "categories")


def chosen_covariates(
    choice: Any, parts: Sequence[tuple[Any, str]], *, incomplete: bool = False
) -> list[Covariates]:
    """Return the chosen columns, "all" or by name or number, of every part: an array or frame, with its name."""
    tables = [x if isinstance(x, Covariates) else _as_table(x, name, _GO_ON) for x, name in parts]
    widths = [len(table.labels if isinstance(table, Covariates) else table.columns) for table in tables]
    own_names = [column_names(x) for x, _ in parts]
    named = next((names for names in own_names if names is not None), None)
    for (_, name), names, width in zip(parts, own_names, widths, strict=True):
        if width != widths[-1] or names not in (None, named):
            wanted = f"the columns of {parts[-1][1]}, {own_names[-1] or widths[-1]}"
            raise ValueError(f"{parts[0][1]} must have {wanted}, but {name} has {names or width}.")
    chosen = _chosen(choice, named, widths[0], parts[0][1])
    read = [
        own.of_columns(chosen)
        if isinstance(own, Covariates)
        else read_covariates(own, [own.columns[k] for k in chosen], incomplete=incomplete)
        for own in tables
    ]
    names = [name for _, name in parts]
    check_alike(read[::-1], names[::-1], _GO_ON)
    for table, name in zip(() if incomplete else read, names, strict=False):
        check_complete(table, name, _GO_ON)
    if named is None and len(chosen) == widths[0]:
        return read
    labels = tuple(named[k] if named else f"x{k}" for k in chosen)
    return [replace(table, columns=labels) for table in read]


def _as_table(x: Any, name: str, go_on: str = "") -> Table:
    if nw.dependencies.is_into_dataframe(x):
        table = Table(name, as_frame(x, name), go_on=go_on)
        if not table.columns:
            raise ValueError(f"{name} must have at least one column, but has none{go_on}.")
        return table
    try:
        array = np.asarray(x) if isinstance(x, np.ndarray) else as_table(x, name)
    except ValueError as error:
        raise ValueError(f"{str(error).removesuffix('.')}{go_on}.") from error
    if array.ndim != 2 or not array.shape[1]:
        shape = f"(n, p), but its shape is {array.shape}"
        raise ValueError(f"{name} must have one row per subject, {shape}{go_on}.")
    return Table(name, array, go_on=go_on)


def _chosen(choice: Any, named: list[str] | None, n: int, name: str) -> list[int]:
    if isinstance(choice, str) and choice == "all":
        return list(range(n))
    places = []
    for column in as_tuple(choice, "covariates", str, int):
        if isinstance(column, str) and named is not None:
            if column not in named:
                refuse_column(column, named, name)
            places.append(named.index(column))
        elif isinstance(column, int | np.integer) and not isinstance(column, bool) and 0 <= column < n:
            places.append(int(column))
        else:
            raise ValueError(f"covariates must name columns of {name}, which has {n}, but one is {column!r}.")
    if not places:
        raise ValueError("covariates is empty: give None to use no covariates.")
    if len(set(places)) < len(places):
        raise ValueError(f"covariates must differ, but are {choice!r}.")
    return places
