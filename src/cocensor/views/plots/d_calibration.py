"""D-calibration: how predicted survival at the time of the event spreads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cocensor.metrics import DCalibrationResult
from cocensor.study.evaluation import Evaluation
from cocensor.study.lookup import results_of
from cocensor.views.plots.choices import models_with_curves
from cocensor.views.plots.panels import draw_panels, wrapped
from cocensor.views.plots.style import colours, shaded_area

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# On the axis of levels, which end at 1: where the cell of those event-free at the horizon stands.
_APART, _WIDTH = 1.06, 0.14
_BAR: dict[str, Any] = {"edgecolor": "0.3", "linewidth": 0.6, "alpha": 0.5, "zorder": 1}
_ERROR: dict[str, Any] = {"color": "0.2", "linestyle": "none", "linewidth": 1.2, "capsize": 2.5, "zorder": 2}


@dataclass(eq=False)
class DCalibrationDisplay:
    """Observed against expected shares of subjects, by the survival that was predicted for the time of their event.

    If a model is right, the survival that it predicts for the time of the event is spread evenly: each bar reaches its
    black line. Those event-free at the horizon have a cell of their own, on the right, which is hatched. Error bars are
    intervals of each share for itself; p is that of the test of all cells at once.

    Attributes
    ----------
    models : tuple of str
        All models of the evaluation: a model has the same colour in every display.
    panels : dict of DCalibrationResult
        By model.
    adjustment : str
        What the observed shares are adjusted by.
    shown : str
        What the error bars are; empty where there are none.

    Examples
    --------
    >>> import cocensor as cc
    >>> from cocensor.views.plots import DCalibrationDisplay
    >>> from cocensor.simulate import SyntheticDesign
    >>> data = SyntheticDesign(n=300, n_features=2).draw(0)
    >>> model = cc.CoxPH().fit(data.X, data.y).predict_survival_function(data.X)
    >>> result = cc.evaluate({"cox": model}, data.y, adjustments="ipcw")
    >>> display = DCalibrationDisplay.from_evaluation(result)
    >>> display.panels["cox"].observed.size  # ten levels, and event-free at the horizon
    11
    """

    models: tuple[str, ...]
    panels: dict[str, DCalibrationResult]
    adjustment: str
    shown: str

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Evaluation,
        model: str | Sequence[str] | None = None,
        adjustment: str | None = None,
    ) -> Self:
        """From what :func:`cocensor.evaluate` returns.

        Parameters
        ----------
        evaluation : Evaluation
        model : str or sequence of str, optional
            By default all that predict survival curves, a panel each.
        adjustment : str, optional
            By default the evaluation's ``primary``.
        """
        scores = results_of(evaluation, adjustment)
        names = models_with_curves(evaluation, model, "model")
        panels = {name: evaluation.d_calibration(name, scores.name) for name in names}
        return cls(
            evaluation.models,
            panels,
            scores.label,
            shaded_area("pointwise", evaluation.data.confidence_level),
        )

    def plot(self, ax: Axes | Sequence[Axes] | None = None) -> Axes | list[Axes]:
        """Draw into ``ax``, one axes per model, or into a new figure; returns the axes, several as a list."""
        return draw_panels([partial(self._draw, model) for model in self.panels], ax)

    def _draw(self, model: str, ax: Axes) -> None:
        panel = self.panels[model]
        edges = np.append(0.0, panel.levels)
        left, width = np.append(edges[:-1], _APART), np.append(np.diff(edges), _WIDTH)
        bars = ax.bar(left, panel.observed, width, align="edge", color=colours(self.models)[model], **_BAR)
        bars[-1].set_hatch("///")
        ax.hlines(
            panel.expected, left, left + width, color="black", linewidth=2.0, zorder=3, label="expected"
        )
        reach = np.stack((panel.observed - panel.low, panel.high - panel.observed))
        if self.shown and np.isfinite(reach).any():
            ax.errorbar(left + 0.5 * width, panel.observed, reach, label=self.shown, **_ERROR)
        ax.bar([0.0], [0.0], color="0.6", label="observed", **_BAR)
        ax.set(xlabel="predicted survival at the event", ylabel=f"share of subjects\n{self.adjustment}")
        levels = np.linspace(0.0, 1.0, 6)
        ax.set_xticks([*levels, _APART + 0.5 * _WIDTH], [*(f"{level:g}" for level in levels), "no\nevent"])
        ax.set(xlim=(-0.02, _APART + _WIDTH + 0.02))
        ax.set_ylim(bottom=0.0)
        ax.set_title(f"{wrapped(model)}\n{_test(panel)}", fontsize="medium")


def _test(panel: DCalibrationResult) -> str:
    if not np.isfinite(panel.pvalue):
        return "no test"
    p = f"p = {panel.pvalue:.2g}" if panel.pvalue >= 1e-4 else "p < 0.0001"
    return f"χ² = {panel.statistic:.3g}, df = {panel.df}, {p}"
