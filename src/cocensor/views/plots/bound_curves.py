"""Bounds of scores over time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Self

import numpy as np

from cocensor._checks import FloatArray, check_choice, escaped
from cocensor.study.evaluation import Evaluation, metric_of
from cocensor.study.sensitivity import BoundCurve, Bounds
from cocensor.views.plots.over_time import BelowCurves
from cocensor.views.plots.panels import draw_panels, wrapped
from cocensor.views.plots.style import colours, line_styles, shade

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class BoundsOverTime:
    """Of one model, or of one less another: the bounds in the order of time, and by adjustment the values under it."""

    bounds: BoundCurve
    curves: dict[str, FloatArray]


@dataclass(eq=False)
class BoundCurvesDisplay:
    """How low and how high a score can be at each time whatever the dependence, a panel per model.

    Lines are the values under each adjustment, which assumes some dependence. Bounds are sharp for each time alone.

    Attributes
    ----------
    models : tuple of str
        All models: a model has the same colour in every display.
    panels : dict of BoundsOverTime
        By model.
    label : str
        What the values are called.
    minus : str or None
        The model whose values are taken off.
    below : BelowCurves
        What time is called, and how many of the test sample are at risk.

    Examples
    --------
    >>> import cocensor as cc
    >>> from cocensor.views.plots import BoundCurvesDisplay
    >>> y = cc.Survival([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 1])
    >>> curves = {"good": [[0.6, 0.2], [0.9, 0.2], [0.8, 0.4], [0.9, 0.7]], "flat": [[0.7, 0.4]] * 4}
    >>> result = cc.evaluate(curves, y, times=[1.5, 3.5], adjustments="ipcw", metrics="ibs")
    >>> display = BoundCurvesDisplay.from_evaluation(result)
    >>> list(display.panels), display.label  # and display.plot()
    (['good', 'flat'], 'Brier score')
    """

    models: tuple[str, ...]
    panels: dict[str, BoundsOverTime]
    label: str
    minus: str | None
    below: BelowCurves = field(default_factory=BelowCurves)

    @classmethod
    def from_bounds(cls, bounds: Bounds, minus: str | None = None) -> Self:
        """From what :meth:`Evaluation.bounds` returns; of all models, or of all others less ``minus``."""
        return cls._of(bounds, minus, lambda _: {})

    @classmethod
    def from_evaluation(
        cls, evaluation: Evaluation, metric: str | None = None, minus: str | None = None
    ) -> Self:
        """From what :func:`cocensor.evaluate` returns, with values under adjustments.

        Parameters
        ----------
        evaluation : Evaluation
        metric : str, optional
            One with values over time; by default the evaluation's first.
        minus : str, optional
            A model: the values of all others less those of this one.
        """
        by = metric_of(evaluation, metric).name
        found: dict[str, dict[str, FloatArray]] = {
            each.label: {
                model: value.curve for model, value in each.values[by].items() if value.curve is not None
            }
            for each in evaluation.results.values()
        }

        def curves(model: str) -> Mapping[str, FloatArray]:
            return {
                label: known[model] - (0.0 if minus is None else known[minus])
                for label, known in found.items()
                if {model, minus} - {None} <= set(known)
            }

        return cls._of(evaluation.bounds(by), minus, curves)

    @classmethod
    def _of(
        cls, bounds: Bounds, minus: str | None, curves: Callable[[str], Mapping[str, FloatArray]]
    ) -> Self:
        if minus is not None:
            check_choice(minus, "minus", bounds.models)
        panels = {}
        for model in bounds.models:
            if model == minus or np.isnan(bounds[model].low):
                continue
            found = bounds.over_time(model, minus)
            order = np.argsort(found.times, kind="stable")
            along = BoundCurve(*(each[order] for each in found))
            panels[model] = BoundsOverTime(
                along, {label: curve[order] for label, curve in curves(model).items()}
            )
        if not panels:
            raise ValueError("bounds must have a model to be drawn, but have none.")
        label = bounds.metric.curve_label or bounds.metric.label
        below = BelowCurves.of(bounds.time_axis, bounds.risk_table)
        return cls(bounds.models, panels, label, minus, below)

    def plot(self, ax: Axes | Sequence[Axes] | None = None, *, at_risk: bool = True) -> Axes | list[Axes]:
        """Draw into ``ax``, one axes per model, or into a new figure; returns the axes, several as a list.

        Below the axis stands how many are at risk, where that is known, unless ``at_risk`` is False.
        """
        panels = [partial(self._draw, model, at_risk) for model in self.panels]
        return draw_panels(panels, ax, lines_below=self.below.n_lines(at_risk))

    def _draw(self, model: str, at_risk: bool, ax: Axes) -> None:
        panel = self.panels[model]
        times, *limits = panel.bounds
        shade(ax, times, (limits[0], limits[1]), colours(self.models)[model], 0.35)
        for (label, curve), style in zip(panel.curves.items(), line_styles(), strict=False):
            ax.plot(times, curve, color="0.15", linestyle=style["linestyle"], label=escaped(label))
        ax.fill_between([], [], color="0.5", alpha=0.35, linewidth=0, label="whatever the dependence")
        if self.minus is not None:
            ax.axhline(0.0, color="0.3", linewidth=1.0, zorder=1)
        less = "" if self.minus is None else f" less that of {escaped(self.minus)}"
        ax.set_title(wrapped(model), fontsize="medium")
        ax.set_ylabel(f"{self.label}{less}")
        self.below.draw(ax, times[0], times[-1], at_risk)
