"""Names of types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.signedinteger[Any]]
#: How many subjects: whole numbers, or sums of their case weights.
Counts = npt.NDArray[Any]
#: Which subjects, by their places.
Rows = npt.NDArray[np.intp]
Side = Literal["left", "right"]
Seed = np.random.Generator | int | None
#: Called with how much is done, and with how much there is to do.
Progress = Callable[[int, int], None]
