"""Observed outcomes at a glance."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cocensor._checks import FloatArray, check_whole
from cocensor.data import Survival, TimeAxis
from cocensor.estimators import KaplanMeier
from cocensor.views.plots.over_time import BelowCurves
from cocensor.views.plots.panels import LINE
from cocensor.views.plots.style import line_styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False)
class OutcomesDisplay:
    """A Kaplan–Meier curve over histograms of the times of events and censorings.

    Attributes
    ----------
    edges : array
        The ends of the bins of the histograms.
    events, censored : array
        How many of each bin.
    times, survival : array
        The Kaplan–Meier curve.
    title : str
        Above the axes.
    below : BelowCurves
        What time is called, and how many are at risk.

    Examples
    --------
    >>> from cocensor.views.plots import OutcomesDisplay
    >>> display = OutcomesDisplay.from_outcomes(([1, 2, 3, 4], [1, 0, 1, 1]), n_bins=2)
    >>> display.events, display.censored
    (array([1, 2]), array([0, 1]))
    """

    edges: FloatArray
    events: Any
    censored: Any
    times: FloatArray
    survival: FloatArray
    title: str = ""
    below: BelowCurves = field(default_factory=BelowCurves)

    @classmethod
    def from_outcomes(
        cls,
        y: Any,
        *,
        n_bins: int = 20,
        title: str = "",
        time_name: str | None = None,
        time_unit: str | None = None,
    ) -> Self:
        """From outcomes: a :class:`Survival`, or what it can be coerced from.

        Parameters
        ----------
        y : Survival, structured array or tuple
            The outcomes.
        n_bins : int
            How many bins the histograms have.
        title : str
            Above the axes.
        time_name, time_unit : str, optional
            What the axis of time says.
        """
        outcomes = Survival.coerce(y)
        check_whole(n_bins, "n_bins")
        edges = np.linspace(0.0, outcomes.t_max or 1.0, n_bins + 1)
        counts = [np.histogram(outcomes.time[mask], edges)[0] for mask in (outcomes.event, ~outcomes.event)]
        curve = KaplanMeier().fit(outcomes).survival_
        times = np.concatenate(([0.0], curve.times, [outcomes.t_max]))
        survival = np.concatenate(([1.0], curve.values, curve.values[-1:] if curve.values.size else [1.0]))
        shown = title or f"n = {len(outcomes):,}, {1 - outcomes.n_events / len(outcomes):.0%} censored"
        below = BelowCurves.of(TimeAxis(time_name, time_unit), outcomes.risk_table)
        return cls(edges, counts[0], counts[1], times, survival, shown, below)

    def plot(self, ax: Axes | None = None, *, at_risk: bool = True) -> Axes:
        """Draw into ``ax``, or into a new figure; returns the axes of the curve.

        Below the axis stands how many are at risk, unless ``at_risk`` is False.
        """
        if ax is None:
            import matplotlib.pyplot as plt

            height = 4.0 + LINE * self.below.n_lines(at_risk)
            _, ax = plt.subplots(figsize=(6.0, height), layout="constrained")
        bars = ax.twinx()
        width, styles = np.diff(self.edges), line_styles()
        curve, event, censored = (next(styles)["color"] for _ in range(3))
        bars.bar(self.edges[:-1], self.events, width, align="edge", color=event, alpha=0.55, label="events")
        bars.bar(
            self.edges[:-1],
            self.censored,
            width,
            bottom=self.events,
            align="edge",
            color=censored,
            alpha=0.55,
            label="censored",
        )
        bars.set(ylabel="subjects", ylim=(0.0, 2.2 * max(1, int((self.events + self.censored).max()))))
        ax.step(self.times, self.survival, where="post", color=curve, label="Kaplan–Meier")
        ax.set(ylabel="survival probability", ylim=(0.0, 1.02), title=self.title)
        self.below.draw(ax, 0.0, self.edges[-1], at_risk)
        ax.set_zorder(bars.get_zorder() + 1)  # the curve over the bars
        ax.patch.set_visible(False)
        for each in (ax, bars):
            each.spines["top"].set_visible(False)
        handles = [*ax.get_legend_handles_labels()[0], *bars.get_legend_handles_labels()[0]]
        ax.legend(handles=handles, frameon=False, fontsize="small", loc="upper right")
        return ax
