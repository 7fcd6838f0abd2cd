"""The metrics of the study, by the name that its rows have."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import cocensor as cc
from benchmarks.impartiality.truths import Truth, draw

#: Single times are those by which these shares of the population have had the event.
SHARES = (0.25, 0.5)
_N_TIMES_FROM, _TIMES_SEED = 200_000, 20_000_000

#: By name in the rows: the metric, and its settings.
_OVER_TIME: dict[str, tuple[str, dict[str, Any]]] = {
    "auc": ("auc", {}),
    "concordance": ("concordance", {}),
    "concordance, time-dependent": ("concordance", {"time_dependent": True}),
    "d_calibration": ("d_calibration", {}),
    "absolute_error": ("absolute_error", {}),
}
_AT_TIMES: dict[str, tuple[str, dict[str, Any]]] = {
    "auc": ("auc", {}),
    "brier": ("brier", {}),
    "ici": ("ici", {}),
    "net_benefit": ("net_benefit", {"threshold": 0.3}),
}

#: All names, in the order of tables.
NAMES = (*_OVER_TIME, *(f"{label} at {share:g}" for label in _AT_TIMES for share in SHARES))


def metrics(truth: Truth) -> dict[str, cc.metrics.Metric]:
    """Those that there are: over all times, and at the single times of a law."""
    known = cc.metrics.metric_names()
    found = {
        label: cc.metric(name, **settings) for label, (name, settings) in _OVER_TIME.items() if name in known
    }
    for label, (name, settings) in _AT_TIMES.items():
        if name in known:
            for share, t in zip(SHARES, single_times(truth), strict=True):
                found[f"{label} at {share:g}"] = cc.metric(name, at=t, **settings)
    return found


@cache
def single_times(truth: Truth) -> tuple[float, ...]:
    """In the population of a law, whatever its dropout."""
    sample = draw(truth, cc.Independence(), _N_TIMES_FROM, _TIMES_SEED)
    return tuple(float(t) for t in np.quantile(sample.event_time, SHARES))
