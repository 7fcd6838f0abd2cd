"""A data set: features, outcome, and what must be said about them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from importlib.util import find_spec
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from cocensor._cached import cached_property
from cocensor._checks import (
    BoolArray,
    FloatArray,
    as_flags,
    as_frame,
    as_times,
    check_length,
    refuse_at,
    refuse_first,
    spelled,
)
from cocensor.data import Survival
from cocensor.paper.datasets._sources import DataHome, Recipe, locate


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Features and outcome of one data set, with its licence, citation and source.

    Attributes
    ----------
    name : str
    X : data frame
        The features, of pandas if that is installed, else of pyarrow. Numeric columns are float64, categorical
        ones have sorted text levels. Missing values are left missing.
    y : Survival
        The outcome, one entry per row of ``X``.
    categorical, numeric : tuple of str
        Which columns of ``X`` are of which kind; together they are all.
    licence : str
        As stated by those who distribute the data.
    citation : str
        What to cite.
    source : str
        Where this very copy came from: a file, a package with its version, or an address.
    dropped : tuple of str
        What the loader left out, with counts.

    Examples
    --------
    >>> from cocensor.paper.datasets import load_whas
    >>> data = load_whas()
    >>> data
    Dataset('whas', 500 rows, 14 features, 57.0% censored)
    >>> data.y
    Survival(n=500, events=215, censored=57.0%, times 1 to 2358)
    >>> data.X["bmi"].mean().round(1)
    np.float64(26.6)
    """

    name: str
    X: Any
    y: Survival
    categorical: tuple[str, ...]
    numeric: tuple[str, ...]
    licence: str
    citation: str
    source: str
    dropped: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        frame = as_frame(self.X, "X")
        check_length(self.y, "y", len(frame), "X")
        named = [*self.categorical, *self.numeric]
        if sorted(named) != sorted(frame.columns):
            wrong = sorted(set(named) ^ set(frame.columns)) or sorted(
                {c for c in named if named.count(c) > 1}
            )
            raise ValueError(
                "categorical and numeric must name each column of X once, but do not for "
                f"{', '.join(map(repr, wrong))}."
            )

    def __len__(self) -> int:
        return len(self.y)

    def __repr__(self) -> str:
        return (
            f"Dataset({self.name!r}, {len(self)} rows, {self.n_features} features, "
            f"{self.percent_censored:.1f}% censored)"
        )

    @property
    def n_features(self) -> int:
        """The number of columns of ``X``."""
        return len(self.categorical) + len(self.numeric)

    @cached_property
    def n_encoded(self) -> int:
        """The number of columns of ``X`` after one-hot encoding with the first level dropped; missing is no level."""
        frame = as_frame(self.X, "X")
        levels = (int(frame.get_column(name).drop_nulls().n_unique()) for name in self.categorical)
        return len(self.numeric) + sum(max(n - 1, 0) for n in levels)

    @property
    def percent_censored(self) -> float:
        """The percentage of censored subjects."""
        return 100.0 * (1.0 - self.y.n_events / len(self))

    def summary(self) -> str:
        """One line: rows, features before and (after) one-hot encoding, share of the censored.

        Examples
        --------
        >>> from cocensor.paper.datasets import load_flchain
        >>> load_flchain().summary()
        'flchain: 7,871 rows, 8 (16) features, 72.5% censored'
        """
        return (
            f"{self.name}: {len(self):,} rows, {self.n_features} ({self.n_encoded}) features, "
            f"{self.percent_censored:.1f}% censored"
        )


Texts = npt.NDArray[np.object_]


@dataclass(frozen=True, eq=False)
class CheckedRows:
    """The checked columns of one copy: floats, NaN where missing, and texts, None where missing."""

    recipe: Recipe
    source: str
    columns: dict[str, npt.NDArray[Any]]
    time: FloatArray
    event: BoolArray
    dropped: tuple[str, ...] = ()

    def drop(self, unwanted: BoolArray, why: str) -> CheckedRows:
        """Return the other rows; how many went, and ``why``, is noted."""
        n = int(np.count_nonzero(unwanted))
        if not n:
            return self
        if n == unwanted.size:
            raise ValueError(f"{self.source} has no row left: all are {why}.")
        note = f"{n:,} {'row' if n == 1 else 'rows'} {why}"
        return replace(self._take(np.flatnonzero(~unwanted)), dropped=(*self.dropped, note))

    def repeats(self) -> BoolArray:
        """Return where a row repeats an earlier one, outcome included."""
        digests = self._digests()
        first = {digest: row for row, digest in reversed(list(enumerate(digests)))}
        return np.array([first[digest] != row for row, digest in enumerate(digests)])

    def in_common_order(self) -> CheckedRows:
        """Return the rows in the order of a hash of their values: as if shuffled, the same from every source."""
        digests = self._digests()
        return self._take(np.array(sorted(range(len(digests)), key=digests.__getitem__)))

    def dataset(self) -> Dataset:
        """Return the data set of these rows."""
        import pyarrow as pa

        names = tuple(self.columns)
        categorical = tuple(name for name in names if self.columns[name].dtype == object)
        table = pa.table(
            {
                name: _dictionary(column) if name in categorical else pa.array(column, from_pandas=True)
                for name, column in self.columns.items()
            }
        )
        return Dataset(
            name=self.recipe.name,
            X=table.to_pandas() if find_spec("pandas") else table,
            y=Survival(self.time, self.event),
            categorical=categorical,
            numeric=tuple(name for name in names if name not in categorical),
            licence=self.recipe.licence,
            citation=self.recipe.citation,
            source=self.source,
            dropped=self.dropped,
        )

    def _take(self, index: npt.NDArray[np.intp]) -> CheckedRows:
        columns = {name: column[index] for name, column in self.columns.items()}
        return replace(self, columns=columns, time=self.time[index], event=self.event[index])

    def _digests(self) -> list[bytes]:
        """Return a hash per row."""
        columns = [*self.columns.values(), self.time, self.event.astype(np.float64)]
        numbers = np.column_stack([c for c in columns if c.dtype != object]).astype("<f8") + 0.0
        numbers[np.isnan(numbers)] = np.nan  # NaNs may differ in their bits
        texts = zip(*(c for c in columns if c.dtype == object), strict=True)
        rows = list(texts) or [()] * len(numbers)
        return [
            hashlib.sha256(row.tobytes() + repr(text).encode()).digest()
            for row, text in zip(numbers, rows, strict=True)
        ]


def read_rows(recipe: Recipe, data_home: DataHome) -> CheckedRows:
    """Return the rows of the first copy that is found, none of them dropped."""
    copy = locate(recipe, data_home)
    table = copy.read()
    names = table.column_names
    _check_names(names, recipe, copy.source)
    if not table.num_rows:
        raise ValueError(f"{copy.source} has no rows.")

    def title(name: str) -> str:
        return f"column {name!r} of {copy.source}"

    def numbers(name: str) -> FloatArray:
        floats = _numbers(table.column(name), title(name))
        if not recipe.single_precision:
            return floats
        with np.errstate(over="ignore"):
            single = floats.astype(np.float32).astype(np.float64)
        if np.isinf(single).any():
            refuse_first(np.isinf(single), floats, f"{title(name)} must be a number of single precision")
        return single

    features = recipe.features
    if features is None:
        features = tuple(name for name in names if name not in (recipe.time, recipe.event))
    if not features:
        raise ValueError(f"{copy.source} has no feature: all its columns are the outcome's.")
    columns = {
        name: _texts(table.column(name)) if name in recipe.categorical else numbers(name) for name in features
    }
    time, event = (_complete(numbers(name), title(name)) for name in (recipe.time, recipe.event))
    if not recipe.negative_times:
        as_times(time, title(recipe.time))
    extra = [name for name in names if name not in (*features, recipe.time, recipe.event)]
    return CheckedRows(
        recipe=recipe,
        source=copy.source,
        columns=columns,
        time=time,
        event=as_flags(event, title(recipe.event)),
        dropped=tuple(f"column {name}, which is not a feature" for name in extra),
    )


def _check_names(names: list[str], recipe: Recipe, source: str) -> None:
    lacking = [name for name in recipe.required if name not in names]
    if lacking:
        columns = "column" if len(lacking) == 1 else "columns"
        raise ValueError(f"{source} lacks the {columns} {', '.join(map(repr, lacking))}.")
    for place, name in enumerate(names):
        if not name.strip():
            raise ValueError(f"{source} must name all its columns, but column {place} has no name.")
        if name in names[:place]:
            raise ValueError(f"{source} must not have two columns of the same name, but has {name!r} twice.")


def _numbers(column: Any, title: str) -> FloatArray:
    """Return a column as float64, NaN where missing."""
    import pyarrow as pa
    from pyarrow import compute

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = compute.utf8_trim_whitespace(column)
        if set(compute.utf8_lower(column.drop_null()).unique().to_pylist()) <= {"true", "false"}:
            column = compute.equal(compute.utf8_lower(column), "true")
    try:
        numbers = column.cast(pa.float64())
    except pa.ArrowInvalid:
        for row, value in enumerate(column):
            try:
                value.cast(pa.float64())
            except pa.ArrowInvalid:
                refuse_at((row,), value.as_py(), f"{title} must be numeric")
        raise
    floats: FloatArray = np.array(numbers.to_numpy(), dtype=np.float64)
    if np.isinf(floats).any():
        refuse_first(np.isinf(floats), floats, f"{title} must be finite")
    return floats


def _complete(floats: FloatArray, title: str) -> FloatArray:
    missing = np.isnan(floats)
    if missing.any():
        raise ValueError(f"{title} is missing in row {int(np.argmax(missing))}.")
    return floats


def _texts(column: Any) -> Texts:
    """Return a column as text, None where missing; where all levels are numbers, 2, 2.0 and "2" are one level."""
    import pyarrow as pa

    values = [None if v is None or not v.strip() else v.strip() for v in column.cast(pa.string()).to_pylist()]
    levels = {value for value in values if value is not None}
    if all(map(_is_number, levels)):
        spelling: dict[str | None, str] = {level: spelled(float(level)) for level in levels}
        values = [spelling.get(value) for value in values]
    texts: Texts = np.empty(len(values), dtype=object)
    texts[:] = values
    return texts


def _dictionary(texts: Texts) -> Any:
    """Return texts as a dictionary array with sorted levels, numbers by value."""
    import pyarrow as pa

    distinct = {text for text in texts if text is not None}
    levels = sorted(distinct, key=float if all(map(_is_number, distinct)) else None)
    codes = {level: code for code, level in enumerate(levels)}
    return pa.DictionaryArray.from_arrays(
        pa.array([codes.get(text) for text in texts], type=pa.int8() if len(levels) < 128 else pa.int32()),
        pa.array(levels, type=pa.string()),
    )


def _is_number(text: str) -> bool:
    try:
        return isfinite(float(text))
    except ValueError:
        return False
