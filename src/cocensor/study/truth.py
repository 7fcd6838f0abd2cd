"""The true event times of simulated test subjects."""

from __future__ import annotations

from typing import Any

import numpy as np

from cocensor._checks import FloatArray, as_times, as_vector, check_length
from cocensor.data import Survival

#: What scores by the true event times are called.
TRUTH = "truth"
# Files may write one and the same time with other last digits.
_ROUNDING = 1e-9


def as_true_times(values: Any, y: Survival, name: str = "true_times") -> FloatArray:
    """The event times of all subjects, which agree with what was observed of them."""
    times = as_times(as_vector(values, name), name)
    check_length(times, name, len(y), "y_test")
    off = times - y.time
    slack = _ROUNDING * y.time
    other, earlier = y.event & (np.abs(off) > slack), ~y.event & (off < -slack)
    for bad, seen, rule in ((other, "event", "be the time of"), (earlier, "censoring", "not lie before")):
        if bad.any():
            row = int(np.argmax(bad))
            raise ValueError(
                f"{name} must {rule} an observed {seen}, but row {row} is {times[row]:.9g}, and its {seen} was at "
                f"{y.time[row]:.9g}."
            )
    return times
