"""Whether the order of events and dropouts at tied times matters to a curve.

At one time events come before dropouts. Where times were rounded they took turns, and the curve is biased by about half
of what the other order would change.
"""

from __future__ import annotations

import warnings

import numpy as np

from cocensor._checks import FloatArray
from cocensor._warnings import TiedTimesWarning

# In standard errors. Half of it is bias, and a bias of 0.65 standard errors takes a 95 % interval to 90 %.
_MOST_MOVED = 1.3


def warn_of_ties(t: FloatArray, moved: FloatArray, standard_error: FloatArray) -> None:
    """Warn where the order at tied times has ``moved`` the curve at ``t`` too far for its intervals."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.atleast_1d(np.abs(moved) / standard_error)
    share[~np.isfinite(share)] = 0.0  # before the first event, and where the curve has reached 0
    if share.size and share.max() > _MOST_MOVED:
        warnings.warn(
            "events and dropouts share many times. Which of them comes first moves the curve by "
            f"{share.max():.1f} standard errors at t = {np.ravel(t)[np.argmax(share)]:g}. Intervals "
            "are too narrow: use finer times, or spread each time at random over the interval that "
            "it stands for.",
            TiedTimesWarning,
            stacklevel=3,
        )
