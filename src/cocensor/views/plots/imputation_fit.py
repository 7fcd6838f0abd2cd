"""Observed against expected events and dropouts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from typing import TYPE_CHECKING, Self

import numpy as np

from cocensor._checks import FloatArray, check_choice, escaped
from cocensor.data.times import TimeAxis
from cocensor.study.imputation_fit import ImputationFit, Kind
from cocensor.views.plots.panels import draw_panels
from cocensor.views.plots.style import MARKERS, line_styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HIGHEST = 3.0


@dataclass(eq=False)
class ImputationFitDisplay:
    """Observed over expected numbers by decile of a model's score, a line per period, a panel for events and dropouts.

    Where the joint model fits, they scatter around 1. Cells with less than 1 expected are left out.

    Attributes
    ----------
    model : str
        Whose score the deciles are of.
    panels : dict of array
        By kind, "event" and "dropout", if it has a cell: the ratio, and both ends of its 95 % interval, by
        decile and period; NaN where less than 1 is expected.
    periods : array
        The ends of the periods.
    time_axis : TimeAxis
        What time is called, and its unit.

    Examples
    --------
    >>> import cocensor as cc
    >>> from cocensor.views.plots import ImputationFitDisplay
    >>> from cocensor.simulate import SyntheticDesign
    >>> data = SyntheticDesign(n=600, n_features=2).draw(0)
    >>> train, test = data[:300], data[300:]
    >>> cox = cc.CoxPH().fit(train.X, train.y).predict_survival_function(test.X)
    >>> result = cc.evaluate({"cox": cox}, test.y, adjustments="imputation", metrics="ibs", confidence_level=None)
    >>> display = ImputationFitDisplay.from_imputation_fit(result.results["imputation"].imputation_fit)
    >>> display.model, list(display.panels)  # and display.plot()
    ('cox', ['event', 'dropout'])
    """

    model: str
    panels: dict[Kind, FloatArray]
    periods: FloatArray
    time_axis: TimeAxis

    @classmethod
    def from_imputation_fit(cls, fit: ImputationFit, model: str | None = None) -> Self:
        """From a :class:`cocensor.study.ImputationFit`; by default for the model whose score shows most misfit."""
        model = fit.worst if model is None else model
        check_choice(model, "model", tuple(fit.cells))
        panels = {}
        for kind, cells in fit.cells[model].items():
            if cells.shown.any():
                values = cells.ratio, *cells.interval()
                panels[kind] = np.where(cells.shown, values, np.nan)
        if not panels:
            raise ValueError(
                "fit must have a cell with at least one expected event or dropout, but has none."
            )
        return cls(model, panels, fit.periods, fit.time_axis)

    def plot(self, ax: Axes | Sequence[Axes] | None = None) -> Axes | list[Axes]:
        """Draw into ``ax``, one axes per kind, or into a new figure; returns the axes, several as a list."""
        return draw_panels([partial(self._draw, kind) for kind in self.panels], ax)

    def _draw(self, kind: Kind, ax: Axes) -> None:
        panel = self.panels[kind]
        _, n_groups, n_periods = panel.shape
        starts = [0.0, *self.periods[:-1]]
        unit = "" if self.time_axis.unit is None else f" {escaped(self.time_axis.unit)}"
        for k, style, marker in zip(range(n_periods), line_styles(), cycle(MARKERS), strict=False):
            x = np.arange(1, n_groups + 1) + 0.15 * (k - 0.5 * (n_periods - 1))
            ratio, lower, upper = np.minimum(panel[:, :, k], _HIGHEST)
            bars = np.stack((ratio - lower, upper - ratio))
            label = f"{starts[k]:.3g} < t ≤ {self.periods[k]:.3g}{unit}"
            look = {"color": style["color"], "marker": marker, "markersize": 4.0, "linewidth": 1.0}
            ax.errorbar(x, ratio, bars, label=label, linestyle="none", clip_on=False, **look)
        ax.axhline(1.0, color="0.4", linewidth=1.0, zorder=0)
        cut = f", cut at {_HIGHEST:g}" if (np.nan_to_num(panel[2]) > _HIGHEST).any() else ""
        ax.set(xlabel=f"decile of the score of {escaped(self.model)}", ylabel=f"observed / expected{cut}")
        ax.set_title(f"{kind}s")
        ax.set_xticks(range(1, n_groups + 1))
        ax.set_ylim(0.0, _HIGHEST)
