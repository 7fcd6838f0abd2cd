"""Predictions that order subjects, and say no more."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cocensor._validation import FloatArray, as_vector, read_only
from cocensor.curves.predictions import Predictions


class RiskScores(Predictions):
    """One number for each subject, the greater the riskier: enough for discrimination, and for nothing else.

    Examples
    --------
    >>> scores = RiskScores([0.3, -1.2, 0.8])
    >>> scores
    RiskScores(n=3)
    >>> scores.marker(np.array([1.0, 2.0]), slice(0, 2))
    array([[ 0.3,  0.3],
           [-1.2, -1.2]])
    """

    def __init__(self, scores: npt.ArrayLike, source: str = "risk score", name: str = "scores") -> None:
        values = read_only(as_vector(scores, name, copy=True))
        object.__setattr__(self, "risk", values)
        fields = {
            "times": np.empty(0),
            "interpolation": "step",
            "tail": "last",
            "source": source,
            "n_rounded": 0,
        }
        self.__dict__.update(fields)

    @property
    def probabilities(self) -> npt.NDArray[np.floating[Any]]:
        """There are none."""
        raise ValueError("a risk score orders subjects; it is not a survival curve.")

    def __len__(self) -> int:
        return int(self.risk.size)

    def __getitem__(self, rows: Any) -> Predictions:
        return RiskScores(np.atleast_1d(self.risk[rows]), self.source)

    def __repr__(self) -> str:
        return f"RiskScores(n={len(self)})"

    @property
    def limit(self) -> str | None:
        """Why there are no survival curves."""
        return "is a risk score"

    def known_at(self, times: FloatArray) -> bool:
        """There are no probabilities at any time."""
        return False

    def read(self, times: FloatArray, rows: Any) -> FloatArray:
        """There are no probabilities."""
        return np.asarray(self.probabilities, dtype=np.float64)

    def on(self, times: FloatArray, room: FloatArray | None = None) -> Predictions:
        """The same: it holds at all times."""
        return self

    def marker(self, times: FloatArray, rows: Any) -> FloatArray:
        """The score at every time."""
        return np.repeat(self.risk[rows][:, None], times.size, axis=1)
