"""Numbers and decisions under keys of their own, which no change of a name in the library touches."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeGuard

import numpy as np

#: One number or decision.
Leaf = float | int | bool | str | None
#: What stands under a key: one of these, or several in their order.
Value = Leaf | list[Leaf]
#: Two ways to one number may differ by rounding.
_SAME = 1e-12


class Numbers:
    """Values by key, such as ``ties/ibs/full/imputation/value``; views of it write under a key of their own."""

    def __init__(self, values: dict[str, Value] | None = None, key: str = "") -> None:
        self.values = {} if values is None else values
        self.key = key

    def under(self, *parts: object) -> Numbers:
        """The same numbers, written below this key."""
        return Numbers(self.values, "/".join([*filter(None, [self.key]), *map(str, parts)]))

    def put(self, name: str, value: Any) -> None:
        """Keep a value; where it came another way before, both must agree."""
        key = f"{self.key}/{name}" if self.key else name
        plain = _plain(value)
        if key in self.values:
            if not _agree(self.values[key], plain):
                raise ValueError(
                    f"{key} must be one value by every way, but is {self.values[key]!r} and {plain!r}."
                )
            return
        self.values[key] = plain

    def put_all(self, values: Mapping[str, Any]) -> None:
        """Keep several values."""
        for name, value in values.items():
            self.put(name, value)


def leaves(key: str, value: Value) -> Iterator[tuple[str, Leaf]]:
    """All that stands under a key, with the place of each in a list as the last part of its key."""
    if not isinstance(value, list):
        yield key, value
        return
    for k, each in enumerate(value):
        yield f"{key}/{k}", each


def is_number(value: object) -> TypeGuard[float]:
    """Whether it is a number rather than a decision."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _plain(value: Any) -> Value:
    """What JSON can hold. Arrays are lists in the order of their entries."""
    if isinstance(value, np.ndarray):
        return [_leaf(each) for each in value.ravel().tolist()]
    if isinstance(value, str) or not isinstance(value, Iterable):
        return _leaf(value)
    return [_leaf(each) for each in value]


def _leaf(value: Any) -> Leaf:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(
        f"value must be a number, a text or a truth value, but is of type {type(value).__name__}."
    )


def _agree(one: Value, other: Value) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_agree, one, other))
    if isinstance(one, float | int) and isinstance(other, float | int):
        return one == other or (one != one and other != other) or math.isclose(one, other, rel_tol=_SAME)
    return one == other
