"""Predictions of subjects that were drawn from others."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cocensor._validation import FloatArray, Rows
from cocensor.curves.predictions import Predictions


class DrawnPredictions(Predictions):
    """The predictions of some subjects, repeats allowed, read from those of all: no table is copied.

    Examples
    --------
    >>> curves = Predictions([1.0, 2.0], [[0.8, 0.4], [0.9, 0.7]])
    >>> DrawnPredictions(curves, np.array([1, 1, 0]))([1.5])[:, 0]
    array([0.8, 0.8, 0.6])
    """

    _everyone: Predictions
    _rows: Rows

    def __init__(self, everyone: Predictions, rows: Rows) -> None:
        self.__dict__.update(vars(everyone) | {"_everyone": everyone, "_rows": rows})
        self.__dict__.pop("risk", None)

    @property
    def probabilities(self) -> npt.NDArray[np.floating[Any]]:
        """The table, copied when it is asked for."""
        return self._everyone.probabilities[self._rows]

    @property
    def alike(self) -> bool:
        """Whether all subjects share one row of the table."""
        return self._everyone.alike

    def __len__(self) -> int:
        return int(self._rows.size)

    def __getitem__(self, rows: Any) -> Predictions:
        return self._everyone[self._rows[rows]]

    @property
    def risk(self) -> Any:
        """The risk scores of those drawn; None where there are curves."""
        return None if self._everyone.risk is None else self._everyone.risk[self._rows]

    def marker(self, times: FloatArray, rows: Any) -> FloatArray:
        """What orders some ``rows`` by their risk."""
        return self._everyone.marker(times, self._rows[rows])

    def read(self, times: FloatArray, rows: Any) -> FloatArray:
        """Probabilities of some ``rows`` at ``times``."""
        return self._everyone.read(times, self._rows[rows])
