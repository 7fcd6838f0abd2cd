"""Numbers as JSON can hold them."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np


def finite(value: float | None) -> float | None:
    """Return a number as JSON can hold it; null for what is not finite."""
    return None if value is None or not isfinite(value) else float(value)


def plain(value: Any) -> Any:
    """Return mappings, sequences, arrays and numbers in them as JSON can hold them; null for what is not finite.

    Examples
    --------
    >>> plain({"values": np.array([0.5, np.inf]), "names": ("a", None)})
    {'values': [0.5, None], 'names': ['a', None]}
    """
    if isinstance(value, float):
        return finite(value)
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    return [plain(part) for part in value] if isinstance(value, list | tuple) else value
