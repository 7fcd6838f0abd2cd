"""Refusals: one sentence that names the argument, the first offending row and its value."""

from __future__ import annotations

import re
import sys
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from cocensor._validation.types import BoolArray

_MOST_LISTED = 12


def refuse_first(bad: BoolArray, values: npt.NDArray[Any], rule: str) -> NoReturn:
    """Raise ``rule`` with the first place where ``bad`` holds and the value there."""
    place = tuple(int(i) for i in np.argwhere(bad)[0])
    refuse_at(place, values[place], rule)


def refuse_at(place: tuple[int, ...], value: Any, rule: str) -> NoReturn:
    """Raise ``rule`` with a place in an array and the value there."""
    shown = _in_a_line(value.item() if isinstance(value, np.generic) else value)
    if not place:
        raise ValueError(f"{rule}, but is {shown}.")
    row = place[0] if len(place) == 1 else place
    raise ValueError(f"{rule}, but row {row} is {shown}.")


def check_length(values: Any, name: str, expected: int, expected_name: str) -> None:
    """Refuse ``values`` whose length is not the one of ``expected_name``."""
    try:
        length = len(values)
    except TypeError:
        raise TypeError(
            f"{name} must be as long as {expected_name}, {expected}, but is {_in_a_line(values)}."
        ) from None
    if length != expected:
        raise ValueError(f"{name} has length {length}, but {expected_name} has length {expected}.")


def check_choice(value: Any, name: str, choices: tuple[str, ...]) -> None:
    """Refuse a ``value`` that is not one of ``choices``."""
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}, but is {_in_a_line(value)}.")


def as_tuple(values: Any, name: str, *single: type[Any]) -> tuple[Any, ...]:
    """Several things; one of the types in ``single`` stands for itself."""
    if isinstance(values, single):
        return (values,)
    try:
        return tuple(values)
    except TypeError:
        kinds = " or ".join(_a_kind(kind) for kind in single)
        raise TypeError(
            f"{name} must be {kinds}, or several of these, but is {_in_a_line(values)}."
        ) from None


def check_whole(value: Any, name: str, smallest: int = 1, *, otherwise: str = "") -> int:
    """``value`` as a whole number from ``smallest`` on; ``otherwise`` ends the sentence on what is also allowed."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not smallest <= value <= sys.maxsize:
        raise ValueError(
            f"{name} must be a whole number from {smallest} on{otherwise}, but is {_in_a_line(value)}."
        )
    return int(value)


def refuse_column(column: str, columns: list[str], name: str) -> NoReturn:
    """Raise that a table has no such column, with the ones that it has."""
    raise ValueError(f"{name} has no column {column!r}; its columns are {listed(columns)}.")


def listed(columns: list[str]) -> str:
    """The first columns by name, and how many more there are."""
    shown = ", ".join(map(repr, columns[:_MOST_LISTED]))
    more = len(columns) - _MOST_LISTED
    return f"{shown} and {more} more" if more > 0 else shown


def escaped(text: str) -> str:
    """``text`` as UTF-8 can hold it: a lone surrogate, which stands for a broken byte in a name, as its number."""
    return text.encode(errors="backslashreplace").decode()


def _a_kind(kind: type[Any]) -> str:
    name = "text" if kind is str else kind.__name__
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"


def _in_a_line(value: Any) -> str:
    return re.sub(r"\s*\n\s*", " ", repr(value))
