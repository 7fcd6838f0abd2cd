"""The metrics of the study, by the name that its rows have."""

from __future__ import annotations

from functools import cache

import numpy as np

import cocensor as cc
from benchmarks.impartiality.truths import Truth, draw

#: Single times are those by which these shares of the population have had the event.
SHARES = (0.25, 0.5)
_N_TIMES_FROM, _TIMES_SEED = 200_000, 20_000_000

#: By name: whether it is asked for over all times, at single times, and with which settings.
_OVER_TIME = ("auc", "concordance", "d_calibration", "absolute_error")
_AT_TIMES = ("auc", "brier", "ici", "net_benefit")
_SETTINGS: dict[str, dict[str, float]] = {"net_benefit": {}}


def metrics(truth: Truth) -> dict[str, cc.Metric]:
    """Those that there are: over all times, and at the single times of a law."""
    known = cc.metric_names()
    found = {name: cc.metric(name) for name in _OVER_TIME if name in known}
    for name in _AT_TIMES:
        if name in known:
            for share, t in zip(SHARES, single_times(truth), strict=True):
                found[f"{name} at {share:g}"] = cc.metric(name, at=t, **_SETTINGS.get(name, {}))
    return found


@cache
def single_times(truth: Truth) -> tuple[float, ...]:
    """In the population of a law, whatever its dropout."""
    sample = draw(truth, cc.Independence(), _N_TIMES_FROM, _TIMES_SEED)
    return tuple(float(t) for t in np.quantile(sample.event_time, SHARES))
