"""Times to score at: the horizon is always visible, never implied."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from cocensor._checks import FloatArray, check_number, check_whole
from cocensor._numerics import settled
from cocensor.adjustments import EventWeights
from cocensor.data import Survival
from cocensor.data.times import TimeGrid, shown_time
from cocensor.warnings import HorizonWarning

_FEW = 0.01
_ENOUGH = 0.05


def time_grid(
    y_train: Any,
    y_test: Any = None,
    n: int = 100,
    horizon: str | float | Mapping[str, float] = "t_max",
) -> FloatArray:
    """``n`` equally spaced times from 0 to the horizon.

    One that meets an observed time up to rounding (1e-9 of itself) is exactly that time, so that scores do not depend
    on the unit of time.

    Parameters
    ----------
    y_train, y_test : Survival, structured array or tuple
        With test outcomes, the horizon is one that both samples reach.
    horizon : "t_max", number, or {"at_risk": share}
        The largest observed time; a time; or the largest observed time at which at least that share of the
        sample is still at risk.
    n : int
        How many times.

    Returns
    -------
    array of shape (n,)

    Notes
    -----
    A horizon at which fewer than 1 % are at risk gives a :class:`HorizonWarning` that names the largest time
    with 5 %: scores beyond rest on a handful of subjects.

    Examples
    --------
    >>> import numpy as np
    >>> from cocensor import time_grid
    >>> y = (np.arange(1.0, 101.0), np.ones(100, bool))
    >>> time_grid(y, n=5, horizon={"at_risk": 0.2})
    array([ 0.  , 20.25, 40.5 , 60.75, 81.  ])
    """
    samples = [Survival.coerce(y_train, "y_train")]
    if y_test is not None:
        samples.append(Survival.coerce(y_test, "y_test"))
    n = check_whole(n, "n", 2)
    if isinstance(horizon, str):
        if horizon != "t_max":
            raise ValueError(f"horizon must be 't_max', a time or {{'at_risk': share}}, but is {horizon!r}.")
        end = min(y.t_max for y in samples)
    elif isinstance(horizon, Mapping):
        if set(horizon) != {"at_risk"}:
            raise ValueError(f"horizon must be 't_max', a time or {{'at_risk': share}}, but is {horizon!r}.")
        share = check_number(horizon["at_risk"], "horizon['at_risk']", lower=0.0, upper=1.0)
        end = min(_last_with(y, share) for y in samples)
    else:
        end = check_number(horizon, "horizon", lower=0.0)
    if end == 0:
        raise ValueError("horizon must be positive, but the samples reach only time 0.")
    grid = settled(np.linspace(0.0, end, n), np.unique(np.concatenate([y.time for y in samples])))
    end = float(grid[-1])
    if any(_share_at_risk(y, end) < _FEW for y in samples):
        better = min(_last_with(y, _ENOUGH) for y in samples)
        warnings.warn(
            f"at the horizon {shown_time(end)} fewer than {_FEW:.0%} are at risk; until {shown_time(better)} "
            f"at least {_ENOUGH:.0%} are: horizon={{'at_risk': {_ENOUGH:g}}}.",
            HorizonWarning,
            stacklevel=2,
        )
    return grid


def refuse_unanswered(status: EventWeights) -> None:
    """Refuse a status that gives no answer at its last time."""
    refuse_until(status.valid_until, status.grid)


def refuse_until(until: float, grid: TimeGrid) -> None:
    """Refuse times that reach the one from which on an adjustment gives no answer."""
    if until <= grid.last:
        raise ValueError(f"times must not reach {until:g}, from where the adjustment gives no score.")


def _share_at_risk(y: Survival, t: float) -> float:
    return float(np.mean(y.time >= t))


def _last_with(y: Survival, share: float) -> float:
    """The largest observed time at which at least ``share`` are at risk."""
    table = y.risk_table
    enough = share * table.n * (1.0 - 1e-12)  # 0.07 · 100 is more than 7 in floating point
    return float(table.times[np.flatnonzero(table.at_risk >= enough)[-1]])
