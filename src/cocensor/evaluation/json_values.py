"""Numbers as JSON can hold them."""

from __future__ import annotations

import numpy as np

from cocensor._validation import FloatArray


def finite_values(values: FloatArray) -> list[float | None]:
    """What JSON can hold of an array; null for what is not finite."""
    return [finite(value) for value in values]


def finite(value: float | None) -> float | None:
    """What JSON can hold; null for what is not finite."""
    return None if value is None or not np.isfinite(value) else float(value)
