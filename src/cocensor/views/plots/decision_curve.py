"""Net benefit over thresholds."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt

from cocensor.data import TimeAxis
from cocensor.metrics import DecisionCurve
from cocensor.study.evaluation import Evaluation, results_of
from cocensor.views.plots.asked import asked_times, with_curves
from cocensor.views.plots.panels import draw_panels
from cocensor.views.plots.style import Line, draw_lines, shaded_area

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# How far the axis reaches above the largest net benefit, and below 0 as a share of that: much is at stake at high
# thresholds, where "treat all" falls without end and intervals widen.
_ABOVE, _BELOW = 1.15, 0.2


@dataclass(eq=False)
class DecisionCurveDisplay:
    """The net benefit of treating those whom a model gives a risk above a threshold, over thresholds, a panel per time.

    Whoever treats from a risk of 20 % on takes four needless treatments for one that is needed. At that threshold a
    model is of use if its net benefit is above that of treating everybody, and above 0, that of treating nobody. Far
    below 0 the axis is cut.

    Attributes
    ----------
    models : tuple of str
        All models of the evaluation: a model has the same line in every display.
    panels : dict of dict of DecisionCurve
        By time and model.
    adjustment : str
        What the net benefit is adjusted by.
    shaded : str
        What the shaded areas are; empty where nothing is shaded.
    time_axis : TimeAxis
        What time is called, and its unit.

    Examples
    --------
    >>> import cocensor as cc
    >>> from cocensor.views.plots import DecisionCurveDisplay
    >>> from cocensor.simulate import SyntheticDesign
    >>> data = SyntheticDesign(n=300, n_features=2).draw(0)
    >>> model = cc.CoxPH().fit(data.X, data.y).predict_survival_function(data.X)
    >>> result = cc.evaluate({"cox": model}, data.y, adjustments="ipcw")
    >>> display = DecisionCurveDisplay.from_evaluation(result, at=15.0)
    >>> curve = display.panels[15.0]["cox"]  # and display.plot()
    >>> bool(curve.net_benefit.values[49] > curve.treat_all.values[49])
    True
    """

    models: tuple[str, ...]
    panels: dict[float, dict[str, DecisionCurve]]
    adjustment: str
    shaded: str = ""
    time_axis: TimeAxis = field(default_factory=TimeAxis)

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Evaluation,
        at: npt.ArrayLike | None = None,
        models: str | Sequence[str] | None = None,
        adjustment: str | None = None,
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
        """
        scores = results_of(evaluation, adjustment)
        panels = {}
        for t in asked_times(evaluation, at):
            curves = evaluation.decision_curve(t, scores.name)
            panels[t] = {model: curves[model] for model in with_curves(evaluation, models, at=t)}
        shaded = shaded_area("pointwise", evaluation.data.confidence_level)
        return cls(evaluation.models, panels, scores.label, shaded, evaluation.data.time_axis)

    def plot(self, ax: Axes | Sequence[Axes] | None = None) -> Axes | list[Axes]:
        """Draw into ``ax``, one axes per time, or into a new figure; returns the axes, several as a list."""
        return draw_panels([partial(self._draw, t) for t in self.panels], ax, share_y=False)

    def _draw(self, t: float, ax: Axes) -> None:
        curves = self.panels[t]
        first = next(iter(curves.values()))
        ax.plot(
            first.thresholds, first.treat_all.values, color="0.6", linewidth=2.5, zorder=2, label="treat all"
        )
        ax.axhline(0.0, color="black", linewidth=1.0, zorder=2, label="treat none")
        draw_lines(
            ax, self.models, {model: self._line(curve) for model, curve in curves.items()}, self.shaded
        )
        ax.set(xlabel="threshold of the predicted risk", ylabel=f"net benefit\n{self.adjustment}")
        ax.set(
            xlim=(0.0, _last(curves.values())),
            ylim=_limits(curves.values()),
            title=f"event by {self.time_axis.named(t)}",
        )

    def _line(self, curve: DecisionCurve) -> Line:
        found = curve.net_benefit
        limits = (found.low, found.high) if self.shaded else np.full((2, found.values.size), np.nan)
        return Line(curve.thresholds, found.values, *limits)


def _last(curves: Collection[DecisionCurve]) -> float:
    """Just above the last threshold from which any model still treats anybody."""
    reached = [curve.thresholds[curve.net_benefit.values != 0].max(initial=0.0) for curve in curves]
    return min(1.0, 1.1 * max(reached)) or 1.0


def _limits(curves: Collection[DecisionCurve]) -> tuple[float, float]:
    """From below 0 to above all net benefits, though not above all intervals."""
    values = [each.values for curve in curves for each in (curve.net_benefit, curve.treat_all)]
    top = _ABOVE * max(float(np.nanmax(np.concatenate(values))), 0.01)
    return -_BELOW * top, top
