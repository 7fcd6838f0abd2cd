"""Panels of curves that belong to one time: calibration, decision and ROC curves."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

import numpy as np

from cocensor.metrics import CalibrationCurve, DecisionCurve
from cocensor.study.scores import Score
from cocensor.views.plots.curve_panels import GROUP, CurvePanel, Guide, Line
from cocensor.views.plots.panels import wrapped
from cocensor.views.plots.style import THICK, THIN, BandKind
from cocensor.views.text.digits import decimals, number

# How far the axis reaches above the largest net benefit, and below 0 as a share of that: much is at stake at high
# thresholds, where "treat all" falls without end and intervals widen.
_ABOVE, _BELOW = 1.15, 0.2


def area_in_words(score: Score, level: float | None) -> str:
    """The area under a ROC curve with its interval."""
    places = decimals(score.standard_error)
    if level is None or not isfinite(score.standard_error):
        return number(score.value, places)
    low, high = (number(end, places) for end in score.confidence_interval(level))
    return f"{number(score.value, places)} ({low} to {high})"


def calibration_panels(
    curves: Mapping[str, CalibrationCurve], time: str, adjustment: str, band: BandKind
) -> dict[str, CurvePanel]:
    """A panel per model, all with one scale: above all risks, though not above all intervals."""
    risks = [
        risk
        for curve in curves.values()
        for risk in (curve.predicted, curve.observed, curve.groups.predicted, curve.groups.observed)
    ]
    top = min(1.02, 1.12 * float(np.nanmax(np.concatenate(risks))))
    guides = [
        Guide("as predicted", (0.0, top), (0.0, top), THIN),
        Guide("smooth curve", (), (), {"color": "0.2"}),
        Guide("groups of subjects", (), (), {"color": "0.2"} | GROUP),
        Guide("", (0.0, top), (0.0, 0.0), {"color": "black", "linewidth": 0.6, "zorder": 1}),
    ]
    panels = {}
    for model, curve in curves.items():
        groups, whole = curve.groups, band == "simultaneous"
        limits = (curve.band_low, curve.band_high) if whole else (curve.low, curve.high)
        ratio, slope = (number(estimate.value, 2) for estimate in (curve.observed_expected, curve.slope))
        panels[model] = CurvePanel(
            {model: Line(curve.predicted, curve.observed, limits if band else None)},
            guides,
            f"{wrapped(model)}\nICI {number(curve.ici.value, 3)}, O/E {ratio}, slope {slope}",
            xlabel=f"predicted risk by {time}",
            ylabel=f"observed risk\n{adjustment}",
            groups={
                model: Line(groups.predicted, groups.observed, (groups.low, groups.high) if band else None)
            },
            histogram=(curve.counts, curve.edges),
            xlim=(0.0, top),
            ylim=(0.0, top),
        )
    return panels


def decision_panel(
    curves: Mapping[str, DecisionCurve], time: str, adjustment: str, *, limits: bool = True
) -> CurvePanel:
    """Net benefit over thresholds, up to just above the last one from which any model still treats anybody."""
    lines, values, treated = {}, [], [0.0]
    for model, curve in curves.items():
        x, net = curve.thresholds, curve.net_benefit
        lines[model] = Line(x, net.values, (net.low, net.high) if limits else None)
        values += [net.values, curve.treat_all.values]
        treated.append(x[net.values != 0].max(initial=0.0))
    # Above all net benefits, though not above all intervals.
    top = _ABOVE * max(float(np.nanmax(np.concatenate(values))), 0.01)
    first = next(iter(curves.values()))
    return CurvePanel(
        lines,
        [
            Guide("treat all", first.thresholds, first.treat_all.values, THICK),
            Guide("treat none", (0.0, 1.0), (0.0, 0.0), {"color": "black", "linewidth": 1.0, "zorder": 2}),
        ],
        f"event by {time}",
        xlabel="threshold of the predicted risk",
        ylabel=f"net benefit\n{adjustment}",
        xlim=(0.0, min(1.0, 1.1 * max(treated)) or 1.0),
        ylim=(-_BELOW * top, top),
    )
