"""Numbers as JSON can hold them."""

from __future__ import annotations

from math import isfinite

from cocensor._checks import FloatArray


def finite_values(values: FloatArray) -> list[float | None]:
    """Return an array as JSON can hold it; null for what is not finite."""
    return [finite(value) for value in values.tolist()]


def finite(value: float | None) -> float | None:
    """Return a number as JSON can hold it; null for what is not finite."""
    return None if value is None or not isfinite(value) else float(value)
