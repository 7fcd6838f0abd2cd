"""The page's numbers in few characters, which its script unpacks again (``scripts/numbers.js``).

Numbers that form an array, by models, lines and points, become one text: whole multiples of a power of ten, each less
what its neighbours let expect, in digits of Base64 as in source maps. Texts that repeat stand once. In what is left,
``"$3"`` is the fourth of the pool, and ``"$$"`` starts a text that starts with ``"$"``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from json import dumps
from math import ceil, log10
from typing import Any, NamedTuple

import numpy as np

from cocensor._checks import FloatArray

_BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"
_NONE = "."
_NUMBER_TYPES = {int, float, np.float64, type(None)}
# Of the largest number of an array: more of scores, which are ranked, fewer of what is drawn; and of one by itself.
_DIGITS, _SINGLE_DIGITS = 5, 6
_DIGITS_OF = {"scores": 8, "hazard_ratios": 8, "differences": 5, "errors": 6, "profiles": 3, "curves": 4}
# Times are looked up by their values.
_EXACT = ("at", "time")
_LIMITS = ("differences", "standard_errors", "low", "high", "band_low", "band_high", "x", "y")
_FEWEST_NUMBERS, _FEWEST_RECORDS, _SHORTEST_TEXT = 4, 3, 6


class _Array(NamedTuple):
    """Numbers along axes, each of names or so many; null where there is none, or for all of a list."""

    axes: tuple[tuple[str, ...] | int, ...]
    values: list[float | None]
    has_gaps: bool = False


def packed(numbers: Mapping[str, Any], models: Sequence[str], names: Collection[str]) -> dict[str, Any]:
    """The numbers, rounded, as ``{"numbers", "pool"}``; arrays run over models, other names, limits and lists."""
    return _Packing(numbers, models, names).packed


class _Packing:
    def __init__(self, numbers: Mapping[str, Any], models: Sequence[str], names: Collection[str]) -> None:
        self._repeated = {
            text
            for text, count in Counter(_texts(numbers)).items()
            if count > 1 and len(text) >= _SHORTEST_TEXT
        }
        self._axes = {*models, *names, *_LIMITS}
        width = 1 if len(models) <= len(_BASE36) else 2
        self._codes = {model: _base36(k, width) for k, model in enumerate(models)}
        self._pool: list[Any] = []
        self._places: dict[str, str] = {}
        content = self._pack(numbers)
        self.packed = {"numbers": content, "pool": self._pool, "width": width, "models": [*models]}

    def _pack(self, node: Any, key: str = "") -> Any:
        if isinstance(node, str):
            return self._text(node)
        if isinstance(node, float):
            return node if key in _EXACT else _rounded(node)
        array = _array(node, self._axes)
        if array is not None and len(array.values) >= _FEWEST_NUMBERS:
            return self._once(
                {
                    "axes": [each if isinstance(each, int) else self._names(each) for each in array.axes],
                    **_coded(array, _DIGITS_OF.get(key, _DIGITS)),
                }
                | ({"gaps": 1} if array.has_gaps else {})
            )
        if isinstance(node, Mapping):
            return {
                each: self._pack(below, key if key in _DIGITS_OF else each) for each, below in node.items()
            }
        if isinstance(node, list | tuple):
            if self._is_of_models(node):
                return self._once(
                    {"models": [";".join("".join(self._codes[name] for name in each) for each in node)]}
                )
            if _are_records(node):
                columns = [self._pack([each[name] for each in node], name) for name in node[0]]
                return self._once({"records": self._names(tuple(node[0])), "columns": columns})
            return [self._pack(each, key) for each in node]
        return node

    def _is_of_models(self, node: Sequence[Any]) -> bool:
        """Whether it is a list of lists of models."""
        return bool(node) and all(
            isinstance(each, list) and all(isinstance(name, str) and name in self._codes for name in each)
            for each in node
        )

    def _text(self, text: str) -> str:
        if text in self._repeated:
            return self._once(text)
        return f"${text}" if text.startswith("$") else text

    def _names(self, names: tuple[str, ...]) -> str:
        return self._once({"names": [*map(self._text, names)]})

    def _once(self, item: Any) -> str:
        """Where in the pool it is."""
        text = dumps(item)
        if text not in self._places:
            self._places[text] = f"${len(self._pool)}"
            self._pool.append(item)
        return self._places[text]


def _texts(node: Any) -> Iterator[str]:
    """All texts but the names of what is in a mapping."""
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if each is None or isinstance(each, float):  # most are
            continue
        if isinstance(each, str):
            yield each
        elif isinstance(each, list | tuple):
            waiting += each
        elif isinstance(each, Mapping):
            yield from each if len(each) > 1 else ()
            waiting += each.values()


def _array(node: Any, names: Collection[str]) -> _Array | None:
    """Numbers that form an array; None where they do not."""
    if isinstance(node, Mapping) and node and all(name in names for name in node):
        axis: tuple[str, ...] | int = tuple(node)
        below: Sequence[Any] = list(node.values())
    elif isinstance(node, list | tuple) and node:
        axis, below = len(node), node
    else:
        return None
    if set(map(type, below)) <= _NUMBER_TYPES:
        return _Array((axis,), list(below)) if any(each is not None for each in below) else None
    arrays = [_array(each, names) for each in below if each is not None]
    first, has_gaps = arrays[0], len(arrays) < len(below)
    if first is None or not all(each is not None and each.axes == first.axes for each in arrays):
        return None
    if has_gaps and (len(first.axes) > 1 or not isinstance(axis, int) or not isinstance(first.axes[0], int)):
        return None
    rest = iter(arrays)
    parts = [_Array((), [None] * len(first.values)) if each is None else next(rest) for each in below]
    return _Array(
        (axis, *first.axes),
        [value for part in parts if part is not None for value in part.values],
        has_gaps or any(each is not None and each.has_gaps for each in arrays),
    )


def _are_records(node: Sequence[Any]) -> bool:
    """Whether it is a list of mappings of the same names to single values."""
    return (
        len(node) >= _FEWEST_RECORDS
        and isinstance(node[0], Mapping)
        and all(
            isinstance(each, Mapping)
            and [*each] == [*node[0]]
            and not any(isinstance(value, Mapping | list | tuple) for value in each.values())
            for each in node
        )
    )


def _coded(array: _Array, digits: int) -> dict[str, Any]:
    """The numbers as multiples of 10 to the power of ``unit``."""
    known = [abs(value) for value in array.values if value is not None]
    most = max(known)
    whole = all(value == int(value) for value in known) and most < 10 ** _DIGITS_OF["scores"]
    unit = 0 if whole or not most else ceil(log10(most)) - digits
    steps = np.rint(np.array(array.values, dtype=np.float64) / 10.0**unit)
    last = array.axes[-1]
    length = last if isinstance(last, int) else len(last)
    return {"unit": unit, "values": "".join(_differences(steps.reshape(-1, length)))}


def _differences(steps: FloatArray) -> list[str]:
    """Each number less the one before it, and less what the one above it exceeds the one before that by."""
    absent = np.isnan(steps)
    whole = np.where(absent, 0.0, steps).astype(np.int64)
    less = np.diff(np.diff(whole, axis=0, prepend=0), axis=1, prepend=0)
    return [
        _NONE if nothing else _base64(value)
        for value, nothing in zip(less.ravel().tolist(), absent.ravel().tolist(), strict=True)
    ]


def _base64(value: int) -> str:
    """Five bits a digit, the lowest first; the lowest of all is the sign, and the highest of a digit says "more"."""
    rest, text = (-value << 1) | 1 if value < 0 else value << 1, ""
    while rest >= 32:
        text += _BASE64[32 | (rest & 31)]
        rest >>= 5
    return text + _BASE64[rest]


def _base36(k: int, width: int) -> str:
    return _BASE36[k // len(_BASE36)] + _BASE36[k % len(_BASE36)] if width > 1 else _BASE36[k]


def _rounded(value: float) -> float:
    return float(f"{value:.{_SINGLE_DIGITS}g}")
