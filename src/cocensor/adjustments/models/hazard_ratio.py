"""The hazard ratio after dropout that an adjustment assumes: checked, resolved by subject, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from cocensor._checks import FloatArray, as_vector, check_length, check_number, read_only, refuse_first
from cocensor.adjustments.whole import WholeSample, refuse_part
from cocensor.data import Sample, Survival
from cocensor.joint.after_dropout import HazardRatio, step_quantiles

#: One number for all, one for each reason of a dropout (1 for those not named), or one for each test subject.
Ratio = float | dict[str, float] | FloatArray


def as_hazard_ratio(value: Any) -> Ratio | None:
    """``value``, checked: positive and finite, all of it."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        if not value:
            raise ValueError("hazard_ratio must name at least one reason, but is empty.")
        names = {reason: f"hazard_ratio[{reason!r}]" for reason in value}
        return {str(reason): check_number(value[reason], name, lower=0.0) for reason, name in names.items()}
    if np.ndim(value) == 0:
        return check_number(value, "hazard_ratio", lower=0.0)
    ratios = as_vector(value, "hazard_ratio", copy=True)
    bad = ~((ratios > 0) & np.isfinite(ratios))
    if bad.any():
        refuse_first(bad, ratios, "hazard_ratio must be positive and finite")
    return read_only(ratios)


def check_reasons(ratio: Ratio | None, y: Survival, name: str) -> None:
    """Refuse reasons that no dropout of ``y``, called ``name``, has."""
    if not isinstance(ratio, dict):
        return
    if y.reason is None:
        raise ValueError(f"{name} must give the reason for each dropout where hazard_ratio is by reason.")
    for reason in ratio:
        if reason not in y.reasons:
            reasons = ", ".join(map(repr, y.reasons)) or "none"
            raise ValueError(f"hazard_ratio must name reasons of {name} ({reasons}), but has {reason!r}.")


def later_ratios(ratio: Ratio | None, sample: Sample) -> HazardRatio | None:
    """The ratios of who may drop out later, with their shares among the dropouts of a sample; None without a ratio."""
    if ratio is None:
        return None
    y = sample.y
    nobody, observed = np.empty(0), step_quantiles(y.time)
    dropped = y.dropout & (y.time > 0) & sample.counted
    if not isinstance(ratio, dict) or not dropped.any():
        later = ratio if isinstance(ratio, float) else 1.0
        return HazardRatio(nobody, np.full((1, 1), later), np.ones(1), observed=observed)
    ratios, which = np.unique(_own(ratio, y)[dropped], return_inverse=True)
    counts = np.bincount(which, None if sample.weight is None else sample.weight[dropped])
    among = np.full(len(sample), -1)
    among[dropped] = which
    return HazardRatio(nobody, ratios[None], counts / counts.sum(), among, observed, sample.weight)


def resolve(
    ratio: Ratio | None, y: Survival, later: HazardRatio | None, whole: WholeSample
) -> HazardRatio | None:
    """The ratios of the subjects ``y``, a part of the ``whole``; None where all are 1, which is independence."""
    if ratio is None or later is None:
        return None
    if isinstance(ratio, np.ndarray):
        refuse_part(y, whole, "hazard_ratio")
        check_length(ratio, "hazard_ratio", len(y), "y_test")
        resolved = replace(later, own=ratio, later=ratio[:, None])
    else:
        resolved = replace(later, own=_own(ratio, y) if isinstance(ratio, dict) else np.full(len(y), ratio))
    assumed = [*ratio.values()] if isinstance(ratio, dict) else ratio
    return None if np.all(np.asarray(assumed) == 1.0) else resolved


def _own(ratio: dict[str, float], y: Survival) -> FloatArray:
    """The ratio of each subject by the reason of its dropout, 1 where that is not named."""
    if y.reason is None:
        raise ValueError("y_test must give the reason for each dropout where hazard_ratio is by reason.")
    return np.array([ratio.get(why, 1.0) for why in y.reason])


def in_words(ratio: Ratio) -> str:
    """Return the multiple of the hazard in words."""
    if isinstance(ratio, dict):
        named = ", ".join(f"{value:g} times ({reason})" for reason, value in ratio.items())
        return f"{named} or once (other reasons)"
    if isinstance(ratio, np.ndarray):
        return f"{ratio.min():g} to {ratio.max():g} times"
    return f"{ratio:g} times"
