"""Panels of scores, and of differences of scores, along Kendall's τ and along the hazard ratio after dropout."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cocensor._checks import FloatArray, check_choice
from cocensor.metrics import Metric
from cocensor.study.plan import HAZARD_RATIO
from cocensor.study.sensitivity import Sensitivity
from cocensor.study.sensitivity.grid import ALL, Grid
from cocensor.views.plots.curve_panels import AT_ZERO, CurvePanel, Guide, Line, Marks
from cocensor.views.plots.panels import (
    at_least_one,
    draw_plausible,
    draw_second_axis,
    ticks_with_room,
    wrapped,
)
from cocensor.views.plots.style import BandKind, Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: What legends say of these.
BEST: Look = {"marker": "o", "linestyle": "none", "markersize": 6.5}
CHANGE: Look = {"color": "0.6", "linewidth": 1.0, "linestyle": "-", "zorder": 0}
TIPPING: Look = {"marker": "o", "markersize": 9.0, "markeredgecolor": "black", "linestyle": "none"}
# Below the lines: a score under IPCW must not hide one at independence.
TICK: Look = {"marker": "_", "markersize": 16.0, "markeredgewidth": 2.5, "linestyle": "none", "zorder": 1}
_INDEPENDENCE: dict[str, Any] = {
    "color": "0.6",
    "linewidth": 1.0,
    "linestyle": ":",
    "zorder": 0,
    "label": "independence",
}
_MAY_BE: Look = {"linewidth": 4.0, "alpha": 0.8, "zorder": 2}
# What leaves no room for those behind it is left out, so the more telling come first.
_RATIOS = (1.0, 2.0, 5.0, 10.0, 0.5, 3.0, 1.5, 20.0, 0.2, 1.2, 0.8)
_ROUNDING = 1e-6


class GridLine(NamedTuple):
    """A line of a grid, its title, where independence lies, and what draws the axis along it."""

    grid: Grid
    line: str
    title: str
    independence: float
    axis: Callable[[Axes], None]


def lines_of(
    sensitivity: Sensitivity,
    metric: str,
    adjustment: str,
    family: str | None,
    line: str | Sequence[str] | None,
) -> dict[str, GridLine]:
    """By family, the last of everybody's hazard ratio after dropout if scored; with ``line``, by whose ratio moves."""
    grid, after = sensitivity.over_tau, sensitivity.over_ratio
    by_tau, over_ratios = grid.leaders(metric, adjustment), dict[str, GridLine]()
    label = sensitivity.evaluation.results[adjustment].label
    if after is not None and adjustment in after.answers:
        for name in after.leaders(metric, adjustment):
            who = "all dropouts" if name == ALL else f"dropouts “{name}”"
            axis = partial(draw_ratio_axis, after.points)
            over_ratios[name] = GridLine(after, name, _title(label, who), 1.0, axis)
    if not (by_tau if line is None else over_ratios):
        raise ValueError(
            f"metric must have scores over the grid, but {metric!r} has none under {adjustment!r}."
        )
    if line is not None:
        names = at_least_one(line, "line")
        for name in names:
            check_choice(name, "line", tuple(over_ratios))
        return {name: over_ratios[name] for name in names}
    lines, taus = dict[str, GridLine](), [0.0, *(tau for points in by_tau.values() for tau in points)]
    limits = min(taus) - 0.02, max(taus) + 0.02
    for name in by_tau:
        axis = partial(_draw_tau_axis, sensitivity, name, adjustment, limits)
        lines[name] = GridLine(grid, name, _title(label, name.title()), 0.0, axis)
    if ALL in over_ratios:
        lines[HAZARD_RATIO] = over_ratios[ALL]
    if family is None:
        return lines
    check_choice(family, "family", tuple(lines))
    return {family: lines[family]}


def score_panel(
    along: GridLine, by: Metric, adjustment: str, ipcw: Mapping[str, float], truth: Mapping[str, float]
) -> CurvePanel:
    """Scores with their intervals; large dots are the best at each point, ticks at independence those by ``ipcw``."""
    (grid, line, title, independence, axis), metric = along, by.name
    points = list(grid.leaders(metric, adjustment)[line])
    at, values = np.array(points), [grid.values(line, point, metric, adjustment) for point in points]
    best = [grid.standing(line, point, metric, adjustment).best for point in points]
    answered = np.isin(list(grid.answers[adjustment][line]), points)
    lines, marks = dict[str, Line](), list[Marks]()
    for model in grid.evaluation.models:
        scores, limits = np.array([row.get(model, np.nan) for row in values]), None
        if grid.evaluation.data.confidence_level is not None:
            curve = grid.along(model, None, metric, adjustment)[line]
            limits = curve.low[answered], curve.high[answered]
        lines[model] = Line(at, scores, limits)
        won = np.array([model in winners for winners in best])
        marks.append(Marks(model, at[won], scores[won], BEST))
        if model in ipcw:
            marks.append(Marks(model, independence, ipcw[model], TICK))
    turns = grid.changes(metric, adjustment)
    guides = [Guide("", turn.at, None, CHANGE) for turn in turns if turn.family == line]
    return CurvePanel(lines, guides, title, ylabel=by.label, truth=truth, marks=marks, axis=axis)


def difference_panel(
    along: GridLine, reference: str, by: Metric, adjustment: str, band: BandKind
) -> CurvePanel:
    """Scores minus that of the reference, with intervals or bands; dots at 0 are where the order of two turns."""
    (grid, line, title, _, axis), metric = along, by.name
    points = np.array(list(grid.answers[adjustment][line]))
    lines, marks = dict[str, Line](), list[Marks]()
    for model in grid.evaluation.models:
        pair = grid.pair(model, reference, metric, adjustment)
        curve, limits = pair.curves[line], None
        if model == reference or not np.isfinite(curve.values).any():
            continue
        if grid.evaluation.data.confidence_level is not None and band == "simultaneous":
            limits = grid.bands(model, reference, metric, adjustment)[line][:2]
        elif grid.evaluation.data.confidence_level is not None and band == "pointwise":
            limits = curve.low, curve.high
        lines[model] = Line(points, curve.values, limits)
        for point in pair.tipping_points(line):
            marks.append(Marks(model, point.at, 0.0, TIPPING))
            if point.interval is not None:
                low, high = point.interval
                ends = [points[0] if low is None else low, points[-1] if high is None else high]
                marks.append(Marks(model, ends, [0.0, 0.0], _MAY_BE))
    side = "above" if by.direction == "lower" else "below"
    label = by.label, f"minus that of {reference}", f"({side} 0: {reference} is better)"
    ylabel = "\n".join(map(wrapped, label))
    return CurvePanel(lines, [AT_ZERO], title, ylabel=ylabel, marks=marks, axis=axis)


def _title(adjustment: str, line: str) -> str:
    return wrapped(f"{adjustment[0].upper()}{adjustment[1:]}, {line}")


def draw_ratio_axis(ratios: Sequence[float], ax: Axes) -> None:
    """The hazard ratio after dropout, on the log scale."""
    from matplotlib.ticker import NullLocator

    ax.axvline(1.0, **_INDEPENDENCE)
    ax.set_xscale("log")
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlim(0.9 * min(*ratios, 1.0), max(*ratios, 1.0) / 0.9)
    roundest = sorted(ratios, key=lambda ratio: len(f"{ratio:g}"))
    order = dict.fromkeys((1.0, ratios[0], ratios[-1], *roundest))
    kept = ticks_with_room(ax, [(f"{ratio:g}", ratio) for ratio in order])
    ax.set_xticks([at for _, at in kept], [text for text, _ in kept])
    ax.set_xlabel("hazard ratio after dropout")


def _draw_tau_axis(
    sensitivity: Sensitivity, family: str, adjustment: str, limits: tuple[float, float], ax: Axes
) -> None:
    """An axis of Kendall's τ, with the plausible range and hazard ratios."""
    ax.axvline(0.0, **_INDEPENDENCE)
    ax.set_xlabel("Kendall's τ of event and dropout")
    ax.set_xlim(*limits)
    draw_plausible(ax, *np.clip((sensitivity.plausible.low, sensitivity.plausible.high), *limits).tolist())
    grid = sensitivity.over_tau
    taus = np.union1d(list(grid.answers[adjustment].get(family, {})), [0.0])
    places = _places(taus, np.log([grid.hazard_ratio(family, tau, adjustment) for tau in taus]))
    if len(places) > 1:
        draw_second_axis(ax, "hazard ratio right after dropout", places)


def _places(taus: FloatArray, logs: FloatArray) -> list[tuple[str, float]]:
    """Round ratios with their τ, outward from τ = 0 as far as the ratio is known and grows with τ."""
    first = last = int(np.searchsorted(taus, 0.0))
    while first > 0 and logs[first - 1] < logs[first]:
        first -= 1
    while last < len(taus) - 1 and logs[last + 1] > logs[last]:
        last += 1
    known = slice(first, last + 1)
    low, high = logs[first] - _ROUNDING, logs[last] + _ROUNDING
    ratios = [ratio for ratio in _RATIOS if low <= np.log(ratio) <= high]
    return [(f"{ratio:g}", float(np.interp(np.log(ratio), logs[known], taus[known]))) for ratio in ratios]
