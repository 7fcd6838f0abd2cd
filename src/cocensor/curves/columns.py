"""Columns of tables that are named after times."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from cocensor._validation import FloatArray, as_vector

NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
# What R's data.frame() makes of a column name that starts with a digit.
_R_NAME = re.compile(r"X\d.*")


def repeated(names: Sequence[str]) -> list[str]:
    """Those that come more than once."""
    return [name for name, n in Counter(names).items() if n > 1]


def is_risk(columns: Sequence[str]) -> bool:
    """Whether the columns of predictions are a single one, a risk score."""
    return [name.strip().lower() for name in columns] == ["risk"]


def times_of(columns: Sequence[str], decimal: str = ".", option: str | None = None) -> FloatArray:
    """The times that columns are named after, also with R's X before each.

    ``option`` is how a user would name the column of ids, where there is none yet.

    Examples
    --------
    >>> times_of(["0.5", "1", "1e1"])
    array([ 0.5,  1. , 10. ])
    """
    spelt = [name.strip().replace(decimal, ".") for name in columns]
    if spelt and all(_R_NAME.fullmatch(name) for name in spelt):
        spelt = [name[1:] for name in spelt]
    other = [name for name, text in zip(columns, spelt, strict=True) if not NUMBER.fullmatch(text)]
    if other:
        hint = "." if option is None or not other[0] else f": did you mean {option.format(other[0])}?"
        raise ValueError(f"column names must be times, but one is {other[0]!r}{hint}")
    if not spelt:
        raise ValueError("no column name is a time.")
    times = as_vector([float(text) for text in spelt], "times")
    if times.min() < 0:
        raise ValueError(f"times must not be negative, but column {columns[int(times.argmin())]!r} is.")
    falls = np.flatnonzero(np.diff(times) <= 0)
    if falls.size:
        before, after = columns[falls[0] : falls[0] + 2]
        raise ValueError(f"times must increase strictly, but column {after!r} comes after {before!r}.")
    if times[-1] == 0:
        raise ValueError("no column name is a time after 0.")
    return times
