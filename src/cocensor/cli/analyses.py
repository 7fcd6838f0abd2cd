"""What ``evaluate`` computes, phase by phase."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import cocensor as cc
from cocensor.adjustments import adjustment_label
from cocensor.cli.console import Phases
from cocensor.evaluation.options import as_adjustments

_CALIBRATION = ("ici", "e50", "e90", "d_calibration")


class Scoring:
    """What ``progress`` of :func:`cocensor.evaluate` tells, by name: first the adjustments, then resamples."""

    def __init__(self, phase: Phases, adjustments: Any) -> None:
        self._phase = phase
        self._names = [adjustment_label(name) for name in as_adjustments(adjustments)]
        self._scored = False
        self._resamples: Callable[[int, int], None] | None = None

    def __call__(self, done: int, total: int) -> None:
        """So many of all are done."""
        if self._scored:
            self._resamples = self._resamples or self._phase("Scoring bootstrap samples")
            self._resamples(done, total)
        elif done < total:
            self._phase(f"Scoring by {self._names[done]}", done, total)
        else:
            self._scored = True


def analyse(
    result: cc.Evaluation, grid: dict[str, Any], hint: bool, for_report: bool, phase: Phases
) -> cc.Sensitivity | None:
    """Compute what is shown beside the scores; the curves and the likelihood for the report alone."""
    sensitivity, chosen = None, None
    phase("Bounds without assumptions")
    with suppress(ValueError):  # some metrics have none
        result.bounds()
    if any(each.varies_with_copula and each.answered for each in result.results.values()):
        with suppress(ValueError):  # which the range tells
            result.plausible_tau(phase("Benchmarks from covariates"))
        sensitivity = result.sensitivity(**grid, progress=phase("Scoring under other dependence"))
        if hint:
            phase("Looking for the copula that fits best")
            chosen = result.copula_hint().choice
    if for_report and result.confidence_level is not None:
        _limits_of_curves(result, phase)
    if for_report:
        result.survival_curves(progress=phase("Survival curves"))
        if chosen is not None and chosen.profile_is_quick:
            result.dependence_profile(progress=phase("Likelihood over τ"))
    return sensitivity


def _limits_of_curves(result: cc.Evaluation, phase: Phases) -> None:
    """Compute how far the curves of the report may be off, under the primary adjustment."""
    with_curves, metrics = result.data.scored_by(cc.metric("d_calibration")), result.data.metrics
    for k, metric in enumerate(metrics):
        phase(f"Intervals of curves: {metric.label}", k, len(metrics))
        found = result.under().values[metric.name]
        time = result.horizon.time if metric.at is None else metric.at
        if any(each.curve is not None for each in found.values()):
            result.curve_errors(metric.name)
        if metric.family in _CALIBRATION:
            for model in found:
                result.calibration_curve(model, time)
                if model in with_curves:
                    result.d_calibration(model)
        elif metric.family == "net_benefit" and found:
            result.decision_curve(time)
        elif any(each.profile is not None for each in found.values()):
            result.profile_errors(metric.name)
