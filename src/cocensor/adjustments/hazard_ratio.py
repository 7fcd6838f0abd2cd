"""The hazard ratio after dropout that an adjustment assumes: checked, resolved by subject, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cocensor._validation import FloatArray, as_vector, check_length, check_number, refuse_first
from cocensor.joint.after_dropout import HazardRatio
from cocensor.outcomes import Survival

#: One number for all, one for each reason of a dropout (1 for those not named), or one for each test subject.
Ratio = float | dict[str, float] | FloatArray


def as_hazard_ratio(value: Any) -> Ratio | None:
    """``value``, checked: positive and finite, all of it."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        if not value:
            raise ValueError("hazard_ratio must name at least one reason, but is empty.")
        return {
            str(reason): check_number(each, f"hazard_ratio[{reason!r}]", lower=0.0)
            for reason, each in value.items()
        }
    if np.ndim(value) == 0:
        return check_number(value, "hazard_ratio", lower=0.0)
    ratios = as_vector(value, "hazard_ratio", copy=True)
    bad = ~((ratios > 0) & np.isfinite(ratios))
    if bad.any():
        refuse_first(bad, ratios, "hazard_ratio must be positive and finite")
    ratios.flags.writeable = False
    return ratios


def check_reasons(ratio: Ratio | None, y: Survival, name: str) -> None:
    """Refuse reasons that no dropout of ``y``, called ``name``, has."""
    if not isinstance(ratio, dict):
        return
    if y.reason is None:
        raise ValueError(f"{name} must give the reason for each dropout where hazard_ratio is by reason.")
    for reason in ratio:
        if reason not in y.reasons:
            known = ", ".join(map(repr, y.reasons)) or "none"
            raise ValueError(f"hazard_ratio must name reasons of {name} ({known}), but has {reason!r}.")


def resolve(ratio: Ratio | None, y: Survival, sample: Survival) -> HazardRatio | None:
    """The ratios of the subjects ``y``; None where all are 1, which is independence.

    By reason, what is not known yet of who is still under observation is as among the dropouts of the ``sample``.
    """
    if isinstance(ratio, dict):
        found = _by_reason(ratio, y, sample)
    elif isinstance(ratio, np.ndarray):
        check_length(ratio, "hazard_ratio", len(y), "y_test")
        found = HazardRatio(ratio, ratio[:, None], np.ones(1))
    else:
        value = 1.0 if ratio is None else ratio
        found = HazardRatio(np.full(len(y), value), np.full((1, 1), value), np.ones(1))
    if (found.own == 1.0).all() and (found.later == 1.0).all():
        return None
    return found


def _by_reason(ratio: dict[str, float], y: Survival, sample: Survival) -> HazardRatio:
    if y.reason is None or sample.reason is None:
        raise ValueError("y_test must give the reason for each dropout where hazard_ratio is by reason.")
    own, others = (np.array([ratio.get(why, 1.0) for why in each]) for each in (y.reason, sample.reason))
    dropped = sample.dropout & (sample.time > 0)
    if not dropped.any():
        return HazardRatio(own, np.ones((1, 1)), np.ones(1))
    later, which, counts = np.unique(others[dropped], return_inverse=True, return_counts=True)
    among = np.full(len(sample), -1)
    among[dropped] = which
    return HazardRatio(own, later[None], counts / counts.sum(), among)


def in_words(ratio: Ratio) -> str:
    """How many times the hazard is, for people."""
    if isinstance(ratio, dict):
        named = ", ".join(f"{value:g} times ({reason})" for reason, value in ratio.items())
        return f"{named} or once (other reasons)"
    if isinstance(ratio, np.ndarray):
        return f"{ratio.min():g} to {ratio.max():g} times"
    return f"{ratio:g} times"


def geometric_mean(log_ratio: FloatArray) -> float | None:
    """Of the ratios that are known; None where none is."""
    known = log_ratio[np.isfinite(log_ratio)]
    return float(np.exp(known.mean())) if known.size else None
