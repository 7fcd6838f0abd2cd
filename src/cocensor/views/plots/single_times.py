"""Panels of what is behind a score: calibration and decision curves, levels of survival, the fit of imputation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle

import numpy as np

from cocensor._checks import escaped
from cocensor.metrics import CalibrationCurve, DCalibrationResult, DecisionCurve
from cocensor.study.imputation_fit import FitCells
from cocensor.views.plots.curve_panels import GROUP, CurvePanel, Guide, Line, Marks
from cocensor.views.plots.panels import wrapped
from cocensor.views.plots.style import MARKERS, THICK, THIN, BandKind
from cocensor.views.text.digits import number

# How far the axis reaches above the largest net benefit, and below 0 as a share of that: much is at stake at high
# thresholds, where "treat all" falls without end and intervals widen.
_ABOVE, _BELOW = 1.15, 0.2
# On the axis of levels of survival, which end at 1: where the cell of those event-free at the horizon stands.
_APART, _WIDTH = 1.06, 0.14
# The highest ratio of observed and expected that is drawn to scale.
_HIGHEST = 3.0


def calibration_panels(
    curves: Mapping[str, CalibrationCurve], time: str, adjustment: str, band: BandKind
) -> dict[str, CurvePanel]:
    """A panel per model, all with one scale: above all risks, though not above all intervals."""
    drawn = [part for curve in curves.values() for part in (curve, curve.groups)]
    risks = [np.nanmax(np.concatenate((part.predicted, part.observed))) for part in drawn]
    top = min(1.02, 1.12 * float(max(risks)))
    guides = [
        Guide("as predicted", (0.0, top), (0.0, top), THIN),
        Guide("", None, 0.0, {"color": "black", "linewidth": 0.6, "zorder": 1}),
    ]
    panels = {}
    for model, curve in curves.items():
        groups, whole = curve.groups, band == "simultaneous"
        limits = (curve.band_low, curve.band_high) if whole else (curve.low, curve.high)
        within = (groups.low, groups.high) if band else None
        ratio, slope = (number(estimate.value, 2) for estimate in (curve.observed_expected, curve.slope))
        panels[model] = CurvePanel(
            {model: Line(curve.predicted, curve.observed, limits if band else None, look={"linestyle": "-"})},
            guides,
            f"{wrapped(model)}\nICI {number(curve.ici.value, 3)}, O/E {ratio}, slope {slope}",
            xlabel=f"predicted risk by {time}",
            ylabel=f"observed risk\n{adjustment}",
            marks=[Marks(model, groups.predicted, groups.observed, GROUP, within)],
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
        f"Net benefit at {time}",
        xlabel="threshold of the predicted risk",
        ylabel=f"net benefit\n{adjustment}",
        xlim=(0.0, min(1.0, 1.1 * max(treated)) or 1.0),
        ylim=(-_BELOW * top, top),
    )


def d_calibration_panel(model: str, test: DCalibrationResult, adjustment: str, *, limits: bool) -> CurvePanel:
    """Observed against expected shares of subjects, by the survival that was predicted for the time of their event."""
    edges = np.append(0.0, test.levels)
    left, width = np.append(edges[:-1], _APART), np.append(np.diff(edges), _WIDTH)
    middle, levels = left + 0.5 * width, np.linspace(0.0, 1.0, 6)
    # One line, with a gap after each cell.
    across = np.stack((left, left + width, np.full(left.shape, np.nan)), axis=1).ravel()
    result = "no test"
    if np.isfinite(test.pvalue):
        p = f"p = {test.pvalue:.2g}" if test.pvalue >= 1e-4 else "p < 0.0001"
        result = f"χ² = {test.statistic:.3g}, df = {test.df}, {p}"
    reach = (test.low, test.high) if limits and np.isfinite(test.low).any() else None
    black = {"color": "black", "linewidth": 2.0, "zorder": 3}
    return CurvePanel(
        {},
        [Guide("expected", across, np.repeat(test.expected, 3), black)],
        f"{wrapped(model)}\n{result}",
        xlabel="predicted survival at the event",
        ylabel=f"share of subjects\n{adjustment}",
        marks=[Marks(model, middle, test.observed, {"color": "0.2", "linestyle": "none"}, reach)],
        bars={model: (left, test.observed, width)},
        xlim=(-0.02, _APART + _WIDTH + 0.02),
        ylim=(0.0, None),
        xticks=[*((f"{level:g}", level) for level in levels), ("no\nevent", _APART + 0.5 * _WIDTH)],
    )


def fit_panel(kind: str, cells: FitCells, periods: Sequence[str], model: str) -> CurvePanel:
    """Observed over expected numbers by decile of a model's score, by period; where the model fits, around 1."""
    ratio, low, high = (np.where(cells.shown, part, np.nan) for part in (cells.ratio, *cells.interval()))
    lines, marks = dict[str, Line](), list[Marks]()
    for k, (period, marker) in enumerate(zip(periods, cycle(MARKERS), strict=False)):
        x = np.arange(1.0, len(ratio) + 1) + 0.15 * (k - 0.5 * (len(periods) - 1))
        y, lower, upper = (np.minimum(values[:, k], _HIGHEST) for values in (ratio, low, high))
        look = {"marker": marker, "markersize": 4.0, "linestyle": "none", "clip_on": False}
        lines[period] = Line(x, y, look=look)
        marks.append(Marks(period, x, y, {"linestyle": "none"}, (lower, upper)))
    cut = f", cut at {_HIGHEST:g}" if (np.nan_to_num(high) > _HIGHEST).any() else ""
    return CurvePanel(
        lines,
        [Guide("", None, 1.0, {"color": "0.4", "linewidth": 1.0, "zorder": 0})],
        f"{kind}s",
        xlabel=f"decile of the score of {escaped(model)}",
        ylabel=f"observed / expected{cut}",
        marks=marks,
        ylim=(0.0, _HIGHEST),
        xticks=[(f"{decile}", decile) for decile in range(1, len(ratio) + 1)],
    )
