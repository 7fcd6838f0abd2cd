"""Refusals: one sentence that names the argument, the first offending row and its value."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from cocensor._validation.types import BoolArray


def refuse_first(bad: BoolArray, values: npt.NDArray[Any], rule: str) -> NoReturn:
    """Raise ``rule`` with the first place where ``bad`` holds and the value there."""
    place = tuple(int(i) for i in np.argwhere(bad)[0])
    refuse_at(place, values[place], rule)


def refuse_at(place: tuple[int, ...], value: Any, rule: str) -> NoReturn:
    """Raise ``rule`` with a place in an array and the value there."""
    shown = repr(value.item() if isinstance(value, np.generic) else value)
    if not place:
        raise ValueError(f"{rule}, but is {shown}.")
    row = place[0] if len(place) == 1 else place
    raise ValueError(f"{rule}, but row {row} is {shown}.")


def check_length(values: Sized, name: str, expected: int, expected_name: str) -> None:
    """Refuse ``values`` whose length is not the one of ``expected_name``."""
    if len(values) != expected:
        raise ValueError(f"{name} has length {len(values)}, but {expected_name} has length {expected}.")


def check_choice(value: Any, name: str, choices: tuple[str, ...]) -> None:
    """Refuse a ``value`` that is not one of ``choices``."""
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}, but is {value!r}.")


def check_whole(value: Any, name: str, smallest: int = 1, *, otherwise: str = "") -> int:
    """``value`` as a whole number from ``smallest`` on; ``otherwise`` ends the sentence on what is also allowed."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < smallest:
        raise ValueError(f"{name} must be a whole number from {smallest} on{otherwise}, but is {value!r}.")
    return int(value)
