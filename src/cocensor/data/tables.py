"""Tables of every library and every kind of file, read by one set of rules.

Which values a column may have, what counts as missing, and how a refusal names them: by the table, the column, the row
as the table counts it, and the value.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, NoReturn

import narwhals as nw
import numpy as np
import numpy.typing as npt

from cocensor._cached import cached_property
from cocensor._checks import (
    NO_COMPETING_EVENTS,
    BoolArray,
    FloatArray,
    as_frame,
    check_choice,
    floats_of_objects,
    is_missing,
    line_of_file,
    naming,
    refuse_column,
    spelled,
)
from cocensor._notes import Note, noted
from cocensor.data.dates import UNITS, as_date, check_date_format, from_dates, from_follow_up
from cocensor.data.ids import row_labels
from cocensor.data.survival import Survival, as_reasons
from cocensor.data.times import TimeAxis

#: A number as files spell it, with a decimal point.
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
FLAGS = "TRUE and FALSE or 1 and 0"  # what a column that says yes or no may have
IDS = "whole numbers or texts"  # what a column of ids may have
#: What pandas calls the column of an index without a name, in CSV and in Parquet.
INDEX = ("", "__index_level_0__")
_STILL = ": for subjects still under observation, give the data lock"


def is_text(kind: Any) -> bool:
    """Whether a column of this narwhals type has texts, or categories."""
    return bool(kind == nw.String or is_category(kind))


def is_category(kind: Any) -> bool:
    """Whether a column of this narwhals type has categories."""
    return bool(kind == nw.Categorical or kind == nw.Enum)


def is_number(kind: Any) -> bool:
    """Whether a column of this narwhals type has numbers, or TRUE and FALSE."""
    return bool(kind.is_numeric() or kind == nw.Boolean)


def may_be_id(kind: Any) -> bool:
    """Whether a column of this narwhals type may have ids: of floats, the values tell whether they are whole."""
    return bool(is_text(kind) or kind.is_integer() or kind.is_float())


def repeated(names: Iterable[Any]) -> list[Any]:
    """Return the names that come more than once."""
    return [name for name, n in Counter(names).items() if n > 1]


def categories(values: Sequence[Any]) -> tuple[FloatArray, tuple[str, ...]]:
    """Return the place of each value among the levels, and these levels as texts."""
    place: dict[Any, int] = {}
    codes = np.array([place.setdefault(value, len(place)) for value in values], dtype=np.float64)
    return codes, tuple(spelled(value) for value in place)


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of a frame, of a file or of a part of it, or of an array, whose columns are known by number."""

    name: str  # what refusals call it: a file, or an argument
    data: Any  # a narwhals.DataFrame, or an array of shape (n, p)
    first: int = 0  # the number of its first row in the table that it is a part of
    index: str | None = None  # the column of row labels that pandas has written into its file
    decimal: str = "."  # the decimal mark of its file
    is_typed: bool = True  # whether texts are texts; those of a CSV file may be meant as whole numbers
    doubts: Mapping[str, str] = field(default_factory=dict)  # by column, why it cannot be read
    notes: Sequence[Note] = ()  # what was decided in reading its file
    is_of_lines: bool = False  # whether it is a file with a line for each row, below a header
    go_on: str = ""  # ends a refusal of values: what else can be done

    @classmethod
    def of(cls, frame: Any, name: str, first: int = 0) -> Table:
        """Return the table of a pandas, polars or pyarrow frame."""
        return cls(name, as_frame(frame, name), first)

    def __len__(self) -> int:
        return len(self.data)

    @cached_property
    def columns(self) -> list[Any]:
        """The names of the columns, or their numbers in an array."""
        return list(range(self.data.shape[1])) if isinstance(self.data, np.ndarray) else self.data.columns

    @property
    def labels(self) -> Any:
        """The labels of the rows: the index of pandas, or the column that pandas wrote for it; None without either."""
        if self.index is not None:
            return self.values(self.index).tolist()
        return None if isinstance(self.data, np.ndarray) else row_labels(self.data.to_native())

    @cached_property
    def _by_name(self) -> dict[Any, Any]:
        columns = self.data.T if isinstance(self.data, np.ndarray) else self.data.iter_columns()
        return dict(zip(self.columns, columns, strict=True))

    def has(self, column: Any) -> bool:
        """Whether there is such a column."""
        return column in self._by_name

    def kind(self, column: Any) -> Any:
        """Return the type of a column: of narwhals in a frame, of numpy in an array."""
        if column not in self._by_name:
            refuse_column(column, self.columns, self.name)
        return self._by_name[column].dtype

    def sparse(self, column: Any) -> npt.NDArray[Any]:
        """Return a column as numpy has it, of which values may be missing."""
        kind, values = self.kind(column), self._by_name[column]
        if column in self.doubts:
            raise ValueError(f"{self.name}: column {column!r} {self.doubts[column]}")
        if isinstance(values, np.ndarray):
            return values
        if is_category(kind):
            return np.array(values.to_list(), dtype=object)
        return (values.cast(nw.Float64) if kind.is_decimal() else values).to_numpy()

    def values(self, column: Any) -> npt.NDArray[Any]:
        """Return a column as numpy has it, without missing values."""
        values = self.sparse(column)
        for row in _missing_rows(values)[:1]:
            self._refuse(column, f"has no value in {self.row(row)}")
        return values

    def texts(self, column: Any) -> list[str]:
        """Return the values of a column as texts, none of them missing."""
        return [spelled(value) for value in self.values(column).tolist()]

    def numbers(self, column: Any) -> npt.NDArray[Any]:
        """Return a column of finite numbers in its own precision; a text among them is pointed at."""
        values = self.values(column)
        if values.dtype.kind in "OUS":
            objects = values
            values, bad = floats_of_objects(values)
            if bad is not None:
                texts = [row for row, value in enumerate(objects) if isinstance(value, str | bytes)]
                # A text that is no number at all says more than one that is.
                row = min(texts, key=lambda row: self._spells_number(str(objects[row])), default=bad[0])
                self._refuse_row(column, row, objects[row], "must have numbers")
        if values.dtype.kind not in "biuf":
            self._refuse(column, f"must have numbers, but has type {self.kind(column)}")
        self.refuse_first(column, np.isinf(values), values, "must be finite")
        return values

    def times(self, column: Any) -> FloatArray:
        """Return a column of times, none of them negative."""
        times = np.array(self.numbers(column), dtype=np.float64) + 0.0  # -0.0 becomes 0.0
        self.refuse_first(column, times < 0, times, "must not be negative")
        return times

    def flags(self, column: Any, limit: str = "") -> BoolArray:
        """Return a column of TRUE and FALSE or 1 and 0; a refusal of another number adds the ``limit``."""
        values = self.values(column)
        if values.dtype.kind in "biuf":
            flags, bad = values.astype(bool), (values != 0) & (values != 1)
        else:
            texts = [spelled(value).lower() for value in values.tolist()]
            flags, bad = np.isin(texts, ("true", "1")), ~np.isin(texts, ("true", "false", "1", "0"))
        for row in np.flatnonzero(bad)[:1]:
            of_number = limit if self._spells_number(spelled(values[row])) else ""
            self._refuse_row(column, row, values[row], f"must have {FLAGS}{of_number}")
        return flags

    def covariate(self, column: Any) -> tuple[npt.NDArray[Any], tuple[str, ...] | None]:
        """Return finite numbers and None, or the places of categories among their levels, and these levels."""
        values = self.values(column)
        if isinstance(self.data, np.ndarray) or not is_category(self.kind(column)):
            if values.dtype.kind not in "biufOUS":
                self._refuse(column, f"must have numbers or categories, but has type {self.kind(column)}")
            if values.dtype.kind in "biuf" or not any(isinstance(value, str) for value in values.tolist()):
                return np.asarray(self.numbers(column), dtype=np.float64), None
            self._check_levels(column, *categories(values.tolist()))
        return categories(values.tolist())

    def ids(self, column: str) -> list[Any]:
        """Return a column of ids, whole numbers or texts."""
        if not may_be_id(self.kind(column)):
            self._refuse(column, f"must have {IDS}, but has type {self.kind(column)}")
        values = self.values(column)
        if values.dtype.kind == "f":
            self.refuse_first(column, values != np.floor(values), values, f"must have {IDS}")
            return [int(value) for value in values]
        return values.tolist()

    def matrix(self, columns: Sequence[Any]) -> npt.NDArray[Any]:
        """Return columns of finite numbers side by side, in single precision where all of them are."""
        if not isinstance(self.data, np.ndarray) and not set(columns) & set(self.doubts):
            schema = self.data.schema
            if {schema[column] for column in columns} in ({nw.Float32()}, {nw.Float64()}):
                others = set(self.columns) - set(columns)
                values = (self.data.drop(*others) if others else self.data).to_numpy()
                if values.dtype.kind == "f" and np.isfinite(values.min()) and np.isfinite(values.max()):
                    return values
        return np.column_stack([self.numbers(column) for column in columns])

    def select(self, columns: Sequence[str]) -> Any:
        """Return some columns as a frame of the table's own library."""
        return self.data.select(*columns).to_native()

    def has_all_different_texts(self, column: str) -> bool:
        """Whether a column has another text in each row, none of which is a number: it is likely an id."""
        values = self.sparse(column).tolist() if is_text(self.kind(column)) else []
        return 1 < len(values) == len(set(values)) and not any(map(self._spells_number, filter(None, values)))

    def row(self, row: int) -> str:
        """Return what refusals call a row."""
        return line_of_file(self.first + row) if self.is_of_lines else f"row {self.first + row}"

    def naming(self) -> AbstractContextManager[None]:
        """Put the name of the table before what is refused, with rows as it counts them."""
        return naming(self.name, self.is_of_lines)

    def refuse_first(self, column: Any, bad: BoolArray, values: npt.NDArray[Any], rule: str) -> None:
        """Refuse the first row where a column breaks a ``rule``, if any."""
        for row in np.flatnonzero(bad)[:1]:
            self._refuse_row(column, row, values[row], rule)

    def _refuse_row(self, column: Any, row: int, value: Any, rule: str) -> NoReturn:
        shown = value.item() if isinstance(value, np.generic) else value
        self._refuse(column, f"{rule}, but {self.row(row)} is {shown!r}")

    def _refuse(self, column: Any, why: str) -> NoReturn:
        raise ValueError(f"{self.name}: column {column!r} {why}{self.go_on}.")

    def _check_levels(self, column: Any, codes: FloatArray, levels: Sequence[str]) -> None:
        """Refuse texts of which most are meant as numbers, whatever marks they have."""
        others = [code for code, level in enumerate(levels) if not self._spells_number(level)]
        meant = [code for code, level in enumerate(levels) if NUMBER.fullmatch(re.sub("[.,]", "", level))]
        if others and 2 * np.count_nonzero(np.isin(codes, meant)) > codes.size:
            row = int(np.argmax(np.isin(codes, others)))
            raise ValueError(
                f"{self.name}: column {column!r} has mostly numbers, but {self.row(row)} is "
                f"{levels[int(codes[row])]!r} (a number is like 1{self.decimal}5 here): correct it, or write all "
                "levels as text or as categories."
            )

    def _spells_number(self, text: str) -> bool:
        return bool(NUMBER.fullmatch(text.replace(self.decimal, ".")))


def _missing_rows(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the rows of a column that have no value: null, not a number, or a blank text."""
    if values.dtype.kind not in "OUS":
        return np.flatnonzero(values != values)  # NaN and NaT
    objects = values.tolist()
    with suppress(TypeError):  # lists have no hash
        if not any(map(_is_blank, set(objects))):  # there are few levels in many rows
            return np.empty(0, dtype=int)
    return np.flatnonzero([_is_blank(value) for value in objects])


def _is_blank(value: Any) -> bool:
    return not value.strip() if isinstance(value, str) else is_missing(value)


@dataclass(frozen=True)
class Columns:
    """Which columns of a table are what, as of :class:`Survival` and its ``from_follow_up`` and ``from_dates``."""

    event: str
    time: str | None = None
    administrative: str | None = None
    follow_up: str | None = None
    entry: str | None = None
    exit: str | None = None
    data_lock: str | None = None  # a column, or a date
    #: The unit that dates give times in; without dates, the one that times are measured in.
    time_unit: str | None = None
    reason: str | None = None
    date_format: str | None = None
    id: str | None = None
    covariates: tuple[str, ...] = ()
    are_options: bool = False  # whether refusals name arguments as options of the command line

    def __post_init__(self) -> None:
        time, entry, end, lock, form = map(
            self._called, ("time", "entry", "exit", "data_lock", "date_format")
        )
        dates, all_dates = self._given("entry", "exit", "data_lock"), f"{entry}, {end} and {lock}"
        if self.time is None and not dates:
            raise ValueError(f"{time} COLUMN is needed, or dates: {all_dates}.")
        if self.time is not None and dates:
            delayed = " (delayed entry is not supported yet)" if dates == [entry] else ""
            raise ValueError(f"{time} and {dates[0]} are two ways to give times: use one of them{delayed}.")
        if dates and len(dates) < 3:
            raise ValueError(f"{all_dates} must be given together, but only {' and '.join(dates)} came.")
        if self.date_format is not None and not dates:
            raise ValueError(f"{form} must come with {all_dates}, but is {self.date_format!r}.")
        check_date_format(self.date_format, form)
        ends = self._given("data_lock", "follow_up", "administrative")
        if len(ends) > 1:
            ways = "are two ways to mark the end of the study: use one of them"
            raise ValueError(f"{ends[0]} and {ends[1]} {ways}.")
        if self.time_unit is not None and dates:
            check_choice(self.time_unit, self._called("time_unit"), tuple(UNITS))
        elif self.time_unit is not None and not self.time_unit.strip():
            raise ValueError(f"{self._called('time_unit')} must not be empty.")
        others = {column: f"the column of {self._called(name)}" for name, column in self.by_argument.items()}
        for column in [*repeated(self.covariates), *(name for name in self.covariates if name in others)][:1]:
            of = others.get(column, "a column twice")
            raise ValueError(f"{self._called('covariates')} must not name {of}, but has {column!r}.")

    @property
    def by_argument(self) -> dict[str, str]:
        """The columns that are given, by argument, without the covariates."""
        names = ("time", "event", "administrative", "follow_up", "entry", "exit", "data_lock", "reason", "id")
        columns = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        if self._single_lock:
            del columns["data_lock"]
        return columns

    @property
    def names(self) -> list[str]:
        """All columns that are read."""
        return list(dict.fromkeys([*self.by_argument.values(), *self.covariates]))

    @property
    def time_axis(self) -> TimeAxis:
        """The name and the unit of time; a column that is called as a unit is in it unless another is named."""
        if self.time is None:
            return TimeAxis(unit=self.time_unit or "days")
        name = self.time.strip().lower()
        return TimeAxis(self.time, self.time_unit or (name if name in UNITS else None))

    @property
    def notes(self) -> list[Note]:
        """A caution where a column is called as one unit, and said to be in another."""
        unit, name = self.time_unit or "", (self.time or "").strip().lower()
        doubtful = unit and name in UNITS and unit.lower() != name
        return [noted("unit_in_name", unit=unit, column=self.time)] if doubtful else []

    def read(self, table: Table, *, training: bool = False) -> Survival:
        """Return the outcomes in a table; a training sample may do without reasons."""
        if not len(table):
            raise ValueError(f"{table.name} has no rows.")
        event = table.flags(self.event, NO_COMPETING_EVENTS)
        ended: BoolArray | None = None
        if self.entry is not None and self.exit is not None:
            entry, left = table.values(self.entry), replace(table, go_on=_STILL).values(self.exit)
            lock: Any = self.data_lock
            if lock is not None and not self._single_lock:
                if not table.has(lock):
                    day = f"{date(2021, 12, 31):{self.date_format or '%Y-%m-%d'}}"
                    rule = f"{self._called('data_lock')} must be a date such as {day}, or a column of {table.name}"
                    raise ValueError(f"{rule}, but is {lock!r}.")
                lock = table.values(lock)
            how = self.time_unit or "days", self.date_format, self._column, table.first
            with table.naming():
                time, event, ended = from_dates(entry, left, event, lock, *how)
        else:
            time = table.times(self.time)
        if self.follow_up is not None:
            planned = table.times(self.follow_up)
            with table.naming():
                time, event, ended = from_follow_up(time, event, planned, self._column, table.first)
        if self.administrative is not None:
            ended = table.flags(self.administrative)
            rule = "(administrative) must be false where event is true"
            table.refuse_first(self.administrative, ended & event, ended, rule)
        reason, labels = None, table.labels if table.index is None else None
        if self.reason is not None and (table.has(self.reason) or not training):
            values, dropout = table.sparse(self.reason), Survival.trusted(time, event, ended).dropout
            with table.naming():
                reason = as_reasons(values, dropout, self._column("reason"), table.first)
        return Survival.trusted(time, event, ended, reason, labels)

    @property
    def _single_lock(self) -> bool:
        return self.data_lock is not None and as_date(self.data_lock, self.date_format) is not None

    def _column(self, argument: str) -> str:
        """Return what refusals call the values of an argument."""
        column = self.by_argument.get(argument)
        return argument if column is None else f"column {column!r} ({argument})"

    def _given(self, *names: str) -> list[str]:
        """Return what refusals call those of these arguments that are given."""
        return [self._called(name) for name in names if getattr(self, name) is not None]

    def _called(self, argument: str) -> str:
        return f"--{argument.replace('_', '-')}" if self.are_options else argument
