"""Names of types."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.signedinteger[Any]]
Side = Literal["left", "right"]
Seed = np.random.Generator | int | None
