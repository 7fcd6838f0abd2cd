"""The true event times, where a simulation knows them."""

from __future__ import annotations

from typing import Any

import numpy as np

from cocensor._validation import as_times, as_vector, check_length
from cocensor.adjustments.base import Adjustment
from cocensor.adjustments.status import EVENT, EVENT_FREE, Group, Status, TimeGrid
from cocensor.outcomes import Survival


class Oracle(Adjustment):
    r"""Weights :math:`a = 1[e_i > t]`, :math:`b = 1[e_i \le t]` from the true event times of the test subjects.

    Needs no fit: the observed outcomes are ignored.

    Examples
    --------
    >>> Oracle([2.0, 5.0]).status(([1.0, 5.0], [0, 1]), [1.0, 3.0]).a
    array([[1., 0.],
           [1., 1.]])
    """

    assumption = "The true event times are known, as in a simulation."

    def __init__(self, event_times: Any) -> None:
        self.event_times = as_times(as_vector(event_times, "event_times"), "event_times")

    @property
    def is_fitted(self) -> bool:
        """Always: there is nothing to learn."""
        return True

    def _fit(self, y: Survival, x: Any) -> None:
        pass

    def _status(self, y: Survival, grid: TimeGrid, x: Any, estimate: Any) -> Status:
        check_length(self.event_times, "event_times", len(y), "y_test")
        rows = np.arange(len(y))
        group = Group.of(rows, grid.cut(self.event_times), EVENT_FREE, EVENT)
        return Status(grid, len(y), (group,))
