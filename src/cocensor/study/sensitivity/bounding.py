"""Bounds of all models of an evaluation without any assumption about dropout."""

from __future__ import annotations

from itertools import combinations
from typing import TypeGuard

import numpy as np

from cocensor._checks import FloatArray
from cocensor._notes import noted
from cocensor._warnings import HorizonWarning, collected
from cocensor.data import Predicted
from cocensor.metrics import CumulativeDynamicAUC, Metric
from cocensor.study.evaluation import NOT_ASKED, Evaluation
from cocensor.study.sensitivity.bound_auc import NO_DIFFERENCE, extremes_of_auc
from cocensor.study.sensitivity.bound_means import extremes_of_mean
from cocensor.study.sensitivity.bounds import Bound, BoundCurve, Bounds
from cocensor.study.sensitivity.dropouts import Dropouts, Extremes
from cocensor.study.standing import rankable


def has_bounds(metric: Metric) -> bool:
    """Whether sharp bounds by a metric can be computed: a mean of losses, or the AUC at one time."""
    return metric.mean_of_losses or _is_auc_at_one_time(metric)


def find_bounds(evaluation: Evaluation, metric: Metric) -> Bounds:
    """Bounds of all models by a metric, and of all their differences; see :class:`Bounds`.

    Of a metric that is a mean of losses (the Brier and log scores, at one time or averaged, net benefit, the
    absolute error), and of the AUC at one time, of each model alone.
    """
    if not has_bounds(metric):
        raise ValueError(
            "metric must be a mean of losses, such as 'ibs' or 'brier', or the AUC at one time, but is "
            f"{metric.name!r}: others have no sharp bounds that can be computed."
        )
    data = evaluation.data
    grid = data.grid_of(metric)
    known, why = data.read_at(grid), None
    read: dict[str, Predicted] = {name: known[name] for name in data.scored_by(metric)}
    if data.confidence_level is None:
        why = NOT_ASKED
    elif len(data.samples.y_test) < 2:
        why = "a single subject gives no standard error"
    with collected(HorizonWarning) as warned:
        open_ = Dropouts.of(data.samples, grid)
        if _is_auc_at_one_time(metric):
            found = extremes_of_auc(metric, open_, read, why is None)
        else:
            found = extremes_of_mean(metric, open_, read, why is None)
    models: list[tuple[str, ...]] = [*((name,) for name in data.models), *combinations(data.models, 2)]
    no_curves = Bound(np.nan, np.nan, missing="it does not predict what is scored")
    keys: list[tuple[str, ...]] = [*((name,) for name in read), *combinations(read, 2)]
    return Bounds(
        metric,
        data.models,
        data.confidence_level,
        dict.fromkeys(models, no_curves) | _named(keys, found, metric, why),
        {} if found.curves is None else _curves(keys, found, grid.times),
        tuple(noted("warned", why=text) for text in warned),
        evaluation.data.library,
        tuple(name for name in data.models if name not in rankable(evaluation)),
        data.time_axis,
        data.samples.y_test.risk_table,
    )


def _named(
    keys: list[tuple[str, ...]], found: Extremes, metric: Metric, why: str | None
) -> dict[tuple[str, ...], Bound]:
    errors = np.full_like(found.values, np.nan) if found.errors is None else found.errors
    by = {}
    for key, low, high, low_error, high_error in zip(keys, *found.values, *errors, strict=True):
        reason = why
        if np.isnan(low):
            reason = NO_DIFFERENCE if len(key) == 2 else metric.undefined
        cut = metric.range if len(key) == 1 else (-np.inf, np.inf)
        by[key] = Bound(float(low), float(high), float(low_error), float(high_error), reason, cut)
    return by


def _curves(
    keys: list[tuple[str, ...]], found: Extremes, times: FloatArray
) -> dict[tuple[str, ...], BoundCurve]:
    assert found.curves is not None
    return {key: BoundCurve(times, low, high) for key, low, high in zip(keys, *found.curves, strict=True)}


def _is_auc_at_one_time(metric: Metric) -> TypeGuard[CumulativeDynamicAUC]:
    return isinstance(metric, CumulativeDynamicAUC) and metric.at is not None
