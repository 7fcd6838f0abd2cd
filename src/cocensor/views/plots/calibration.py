"""Calibration at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from cocensor.data import TimeAxis
from cocensor.metrics import CalibrationCurve
from cocensor.study.evaluation import Evaluation, results_of
from cocensor.views.plots.asked import asked_times, with_curves
from cocensor.views.plots.panels import draw_panels, wrapped
from cocensor.views.plots.style import BandKind, check_band, colours, explain_area, shade, shaded_area
from cocensor.views.text.digits import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The histogram of the predictions lies below 0, between these shares of the height above.
_STRIP = (-0.24, -0.04)
_GROUP: dict[str, Any] = {
    "marker": "o",
    "markersize": 5.0,
    "markerfacecolor": "white",
    "linestyle": "none",
    "zorder": 4,
}
_BARS: dict[str, Any] = {
    "color": "0.75",
    "edgecolor": "0.5",
    "linewidth": 0.5,
    "align": "edge",
    "label": "number of predictions",
}


@dataclass(eq=False)
class CalibrationDisplay:
    """Observed against predicted risks of an event by a time: a panel per model and time.

    Of subjects for whom a calibrated model predicts a risk of 20 %, 20 % have the event: its curve is the diagonal.
    Above it risks are underrated, below it overrated. Dots are groups of subjects of similar predicted risk, with an
    interval each; they need no smoothing. Bars below say for how many subjects a risk was predicted: where there are
    few, the curve is uncertain, as the shaded area says. In the title are the mean distance from the diagonal (ICI),
    the ratio of observed and expected events (O/E), and the slope, which is below 1 where predictions are too extreme.

    Attributes
    ----------
    models : tuple of str
        All models of the evaluation: a model has the same colour in every display.
    panels : dict of CalibrationCurve
        By model and time.
    adjustment : str
        What the observed risks are adjusted by.
    band : "pointwise", "simultaneous" or None
        What is shaded.
    time_axis : TimeAxis
        What time is called, and its unit.

    Examples
    --------
    >>> import cocensor as cc
    >>> from cocensor.views.plots import CalibrationDisplay
    >>> from cocensor.simulate import SyntheticDesign
    >>> data = SyntheticDesign(n=300, n_features=2).draw(0)
    >>> model = cc.CoxPH().fit(data.X, data.y).predict_survival_function(data.X)
    >>> result = cc.evaluate({"cox": model}, data.y, adjustments="ipcw", metrics="ici", at=15.0)
    >>> display = CalibrationDisplay.from_evaluation(result)
    >>> list(display.panels)  # and display.plot()
    [('cox', 15.0)]
    """

    models: tuple[str, ...]
    panels: dict[tuple[str, float], CalibrationCurve]
    adjustment: str
    band: BandKind = "pointwise"
    time_axis: TimeAxis = field(default_factory=TimeAxis)

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Evaluation,
        at: npt.ArrayLike | None = None,
        models: str | Sequence[str] | None = None,
        adjustment: str | None = None,
        *,
        band: BandKind = "pointwise",
    ) -> Self:
        """From what :func:`cocensor.evaluate` returns.

        Parameters
        ----------
        evaluation : Evaluation
        at : float or array-like, optional
            Up to the horizon; by default all single times of the evaluation.
        models : str or sequence of str, optional
            By default all that predict a chance for the time.
        adjustment : str, optional
            By default the evaluation's ``primary``.
        band : "pointwise", "simultaneous" or None
            What is shaded: an interval at each prediction, a band that holds a whole curve, or nothing.
        """
        check_band(band)
        level, scores = evaluation.data.confidence_level, results_of(evaluation, adjustment)
        panels = {
            (model, t): evaluation.calibration_curve(model, t, scores.name)
            for t in asked_times(evaluation, at)
            for model in with_curves(evaluation, models, at=t)
        }
        shaded = None if level is None else band
        return cls(evaluation.models, panels, scores.label, shaded, evaluation.data.time_axis)

    def plot(self, ax: Axes | Sequence[Axes] | None = None) -> Axes | list[Axes]:
        """Draw into ``ax``, one axes per model and time, or into a new figure; returns the axes, several as a list."""
        size = (5.2, 5.2) if len(self.panels) == 1 else (3.4, 3.9)
        return draw_panels(
            [partial(self._draw, model, t) for model, t in self.panels], ax, size=size, share_y=False
        )

    def _draw(self, model: str, t: float, ax: Axes) -> None:
        curve, colour, top = self.panels[model, t], colours(self.models)[model], self._top(t)
        ax.plot([0.0, top], [0.0, top], color="0.6", linewidth=1.0, zorder=1, label="as predicted")
        ax.plot(curve.predicted, curve.observed, color=colour, zorder=3)
        groups = curve.groups
        ax.plot(groups.predicted, groups.observed, color=colour, **_GROUP)
        if self.band is not None:
            whole = self.band == "simultaneous"
            limits = (curve.band_low, curve.band_high) if whole else (curve.low, curve.high)
            shade(ax, curve.predicted, limits, colour)
            ax.vlines(groups.predicted, groups.low, groups.high, color=colour, linewidth=1.0, zorder=2)
        bottom, ceiling = (top * share for share in _STRIP)
        heights = (ceiling - bottom) * curve.counts / max(curve.counts.max(), 1)
        ax.bar(curve.edges[:-1], heights, np.diff(curve.edges), bottom, **_BARS)
        ax.axhline(0.0, color="black", linewidth=0.6, zorder=1)
        self._explain(ax, curve.confidence_level)
        ax.set(
            xlabel=f"predicted risk by {self.time_axis.named(t)}", ylabel=f"observed risk\n{self.adjustment}"
        )
        ax.set(xlim=(0.0, top), ylim=(bottom, top))
        ax.set_yticks([tick for tick in ax.get_xticks() if 0.0 <= tick <= top])
        ax.set_title(f"{wrapped(model)}\n{_summary(curve)}", fontsize="medium")

    def _explain(self, ax: Axes, level: float) -> None:
        """What a legend tells of all models, in grey."""
        ax.plot([], [], color="0.2", label="smooth curve")
        ax.plot([], [], color="0.2", label="groups of subjects", **_GROUP)
        if self.band is not None:
            explain_area(ax, shaded_area(self.band, level))

    def _top(self, t: float) -> float:
        """Where the axes of all panels of a time end: above all risks, though not above all intervals."""
        risks = [
            each
            for (_, time), curve in self.panels.items()
            for each in (curve.predicted, curve.observed, curve.groups.predicted, curve.groups.observed)
            if time == t
        ]
        return min(1.02, 1.12 * float(np.nanmax(np.concatenate(risks))))


def _summary(curve: CalibrationCurve) -> str:
    ratio, slope = (number(each.value, 2) for each in (curve.observed_expected, curve.slope))
    return f"ICI {number(curve.ici.value, 3)}, O/E {ratio}, slope {slope}"
