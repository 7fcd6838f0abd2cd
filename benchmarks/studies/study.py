"""A study: a set of units, each with a seed that its key fixes, and a file with the rows of those that are computed."""

from __future__ import annotations

import gzip
import io
import os
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cocensor._files import written_whole

RESULTS = Path(__file__).parent.parent / "results"
Unit = dict[str, Any]
Row = dict[str, Any]
Key = tuple[str, ...]
_NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")
#: Files that round keep fewer.
_MOST_DIGITS = 10
_SECONDS_BETWEEN_WRITES = 60.0


@dataclass(frozen=True, eq=False)
class Study:
    """What is computed unit by unit, and kept as ``results/NAME.csv.gz``."""

    name: str
    #: All units that are wanted.
    units: Callable[[], list[Unit]]
    #: The rows of a unit, its own entries included.
    compute: Callable[[Unit], Iterable[Row]]
    #: Columns that say which unit a row is of, and which row of it.
    keys: tuple[str, ...]
    within: tuple[str, ...]
    #: Of one unit, on one core.
    seconds: float
    #: The largest relative difference that counts as none.
    tolerance: float = 1e-6
    #: Columns that a second run cannot give again: seconds, memory.
    measured: tuple[str, ...] = ()
    #: The environment variable that names the folder of data that the study needs.
    needs: str | None = None

    @property
    def path(self) -> Path:
        """The file of rows."""
        return RESULTS / f"{self.name}.csv.gz"

    @property
    def lacks(self) -> str | None:
        """The environment variable without which nothing can be computed here."""
        return self.needs if self.needs and not os.environ.get(self.needs) else None

    @cached_property
    def wanted(self) -> dict[Key, Unit]:
        """The units by key."""
        return {key_of(unit, self.keys): unit for unit in self.units()}

    def rows(self) -> pd.DataFrame:
        """What the file holds."""
        if not self.path.exists():
            return pd.DataFrame(columns=[*self.keys, *self.within])
        return pd.read_csv(self.path, float_precision="round_trip")

    def done(self) -> set[Key]:
        """The keys of the units in the file."""
        return set(keys_of(self.rows(), self.keys))

    def missing(self) -> list[Unit]:
        """The units that the file has not."""
        done = self.done()
        return [unit for key, unit in self.wanted.items() if key not in done]

    @property
    def counts(self) -> list[str]:
        """How many units are wanted, and done; those beyond what is wanted count as done too."""
        wanted = f"needs {self.lacks}" if self.lacks else f"{len(self.wanted):,}"
        missing = 0 if self.lacks else len(self.missing())
        return [wanted, f"{len(self.done()):,}" + (f", {missing:,} missing" if missing else "")]

    def computed(self, unit: Unit) -> pd.DataFrame:
        """The rows of a unit, as they would be read from the file."""
        text = pd.DataFrame(list(self.compute(unit))).to_csv(index=False)
        return pd.read_csv(io.StringIO(text), float_precision="round_trip")

    @cached_property
    def _last_digits(self) -> dict[str, float]:
        """By column, what one more in the last digit that the file keeps adds; 0 where it keeps all digits."""
        return {name: _last_digit(column) for name, column in self.rows().head(1_000).items()}

    def run(self, say: Callable[[str], None]) -> int:
        """Compute what is missing and keep it, once a minute and when stopped; how many units that were."""
        missing = self.missing()
        found: list[pd.DataFrame] = []
        written = time.monotonic()
        try:
            for number, unit in enumerate(missing, start=1):
                found.append(self.computed(unit))
                say(f"{self.name}: unit {number} of {len(missing)}, {unit}")
                if time.monotonic() - written > _SECONDS_BETWEEN_WRITES:
                    self._add(found)
                    found, written = [], time.monotonic()
        finally:
            self._add(found)
        return len(missing)

    def _add(self, found: list[pd.DataFrame]) -> None:
        """Add rows of units, in the order of units; the same rows, the same bytes."""
        if not found:
            return
        every = pd.DataFrame([row for frame in (self.rows(), *found) for row in frame.to_dict("records")])
        places = {key: place for place, key in enumerate(self.wanted)}
        order = np.argsort([places.get(key, len(places)) for key in keys_of(every, self.keys)], kind="stable")
        text = every.iloc[order].to_csv(index=False).encode()
        with written_whole(self.path) as (place,):
            place.write_bytes(gzip.compress(text, mtime=0))

    def differences(self, unit: Unit) -> Differences:
        """How far the rows of a unit in the file are from those that are computed now."""
        held = self.rows()
        held = held[[key == key_of(unit, self.keys) for key in keys_of(held, self.keys)]]
        now = self.computed(unit)
        sides = [{key_of(row, self.within): row for row in side.to_dict("records")} for side in (held, now)]
        found = Differences(len(held), len(now))
        if len(sides[0]) < len(held) or len(sides[1]) < len(now):
            raise ValueError(f"{self.name}: the columns {self.within} do not tell all rows of a unit apart.")
        found.other_rows = len(sides[0].keys() ^ sides[1].keys())
        for key in sides[0].keys() & sides[1].keys():
            for column in held.columns:
                if column not in (*self.keys, *self.within, *self.measured):
                    cells = sides[0][key][column], sides[1][key].get(column)
                    found.add(column, *cells, self._last_digits[column])
        return found


@dataclass
class Differences:
    """Of the values of some units: how many there are, and the largest relative difference and where."""

    n_held: int = 0
    n_now: int = 0
    other_rows: int = 0
    n_values: int = 0
    n_other_words: int = 0
    n_failed: int = 0
    largest: float = 0.0
    where: str = ""

    def add(self, column: str, held: Any, now: Any, last_digit: float) -> None:
        """Compare two cells; what is within the last digit that is kept differs by rounding alone."""
        self.n_values += 1
        a, b = ([] if each is None or each != each else _numbers(each) for each in (held, now))
        words = [_NUMBER.sub("", each) if isinstance(each, str) else "" for each in (held, now)]
        if len(a) != len(b) or words[0] != words[1]:
            self.n_other_words += 1
            self.where = self.where or f"{column}: {held} is now {now}"
            return
        for x, y in zip(a, b, strict=True):
            off = max(abs(x - y) - 1.001 * last_digit, 0.0) / max(abs(x), abs(y), 1e-12)
            if off > self.largest:
                self.largest, self.where = off, f"{column}: {x:.8g} is now {y:.8g}"

    def joined(self, other: Differences) -> Differences:
        """Of the units of both."""
        worse = other if other.largest > self.largest or not self.where else self
        return Differences(
            self.n_held + other.n_held,
            self.n_now + other.n_now,
            self.other_rows + other.other_rows,
            self.n_values + other.n_values,
            self.n_other_words + other.n_other_words,
            self.n_failed + other.n_failed,
            max(self.largest, other.largest),
            worse.where,
        )

    def within(self, tolerance: float) -> bool:
        """Whether the file is what is computed now."""
        return self.largest <= tolerance and not (self.other_rows or self.n_other_words or self.n_failed)


def key_of(values: Any, names: Sequence[str]) -> Key:
    """Entries as text, the same for 1 and 1.0, and for None and NaN."""
    return tuple(_text(values[name]) for name in names)


def keys_of(rows: pd.DataFrame, names: Sequence[str]) -> list[Key]:
    """The key of every row."""
    return list(zip(*(map(_text, rows[name].to_list()) for name in names), strict=True))


def _last_digit(column: pd.Series) -> float:
    numbers = [each for each in column.to_list() if isinstance(each, float) and each == each]
    digits = max((-int(Decimal(repr(each)).normalize().as_tuple().exponent) for each in numbers), default=0)
    return 10.0**-digits if 0 < digits <= _MOST_DIGITS else 0.0


def _text(value: Any) -> str:
    if value is None or value != value:
        return ""
    return f"{value:.12g}" if isinstance(value, int | float | np.number) else str(value)


def _numbers(value: Any) -> list[float]:
    return [float(each) for each in _NUMBER.findall(value)] if isinstance(value, str) else [float(value)]
