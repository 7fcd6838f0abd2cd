"""Scores, or differences of scores, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cocensor._checks import FloatArray, check_choice, escaped
from cocensor.inference import Comparison
from cocensor.study.evaluation import Evaluation, metric_of, results_of
from cocensor.study.scores import Score
from cocensor.study.standing import standing
from cocensor.views.plots.panels import draw_panels
from cocensor.views.plots.style import MARKERS, line_styles
from cocensor.views.text.digits import level_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Rows:
    """For each model a value with its interval, NaN where there is none, and whether it is marked."""

    values: FloatArray
    low: FloatArray
    high: FloatArray
    marked: tuple[bool, ...]


@dataclass(eq=False)
class ComparisonDisplay:
    """A row per model with its score and the interval of that, a panel per adjustment.

    Filled markers are the models that cannot be distinguished from the best. Two models may
    differ although their intervals overlap, as they are scored on the same subjects: with ``minus`` the rows are
    differences from one model, and one that reaches 0 cannot be distinguished from it.

    Attributes
    ----------
    models : tuple of str
    panels : dict of Rows
        By the label of the adjustment.
    label : str
        What the values are.
    mark : str
        What filled markers are; empty where all are.
    zero : bool
        Whether there is a line at 0.

    Examples
    --------
    >>> import cocensor as cc
    >>> from cocensor.views.plots import ComparisonDisplay
    >>> y = cc.Survival([1, 2, 3, 4], [1, 1, 1, 1])
    >>> models = {"half": [[0.5, 0.5]] * 4, "sure": [[0.9, 0.1]] * 4}
    >>> evaluation = cc.evaluate(models, y, adjustments="ipcw", times=[1.0, 2.0])
    >>> display = ComparisonDisplay.from_evaluation(evaluation, minus="half")
    >>> display.models, display.panels["IPCW"].values.round(3)
    (('half', 'sure'), array([0.  , 0.06]))
    """

    models: tuple[str, ...]
    panels: dict[str, Rows]
    label: str
    mark: str
    zero: bool = False

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Evaluation,
        adjustment: str | Sequence[str] | None = None,
        metric: str | None = None,
        *,
        minus: str | None = None,
    ) -> Self:
        """From what :func:`cocensor.evaluate` returns.

        Parameters
        ----------
        evaluation : Evaluation
        adjustment : str or sequence of str, optional
            By default all that have scores.
        metric : str, optional
            By default the evaluation's first.
        minus : str, optional
            A model: all scores less that of this one.
        """
        by, level = metric_of(evaluation, metric), evaluation.data.confidence_level
        if minus is not None:
            check_choice(minus, "minus", evaluation.models)
        scored = [name for name, each in evaluation.results.items() if each.values[by.name]]
        asked = scored if adjustment is None else [adjustment] if isinstance(adjustment, str) else adjustment
        if not asked:
            raise ValueError("adjustment is empty: at least one is needed.")
        panels = {}
        for name in asked:
            label = results_of(evaluation, name).label
            best = standing(evaluation, by.name, name).best
            found: list[Score | Comparison] = [
                evaluation.score(model, by.name, name)
                if minus is None
                else evaluation.compare(model, minus, by.name, name)
                for model in evaluation.models
            ]
            values = [each.value if isinstance(each, Score) else each.difference for each in found]
            ends = [(np.nan, np.nan) if level is None else each.confidence_interval(level) for each in found]
            low, high = np.array(ends).T
            marked = tuple(model in best for model in evaluation.models)
            panels[label] = Rows(np.array(values), low, high, marked)
        filled = "best" if level is None else f"not distinguishable from the best ({level_in_words(level)})"
        label = by.label if minus is None else f"{by.label} less that of {escaped(minus)}"
        return cls(evaluation.models, panels, label, filled, minus is not None)

    def plot(self, ax: Axes | Sequence[Axes] | None = None) -> Axes | list[Axes]:
        """Draw into ``ax``, one axes per adjustment, or into a new figure; returns the axes, several as a list."""
        return draw_panels([partial(self._draw, title) for title in self.panels], ax)

    def _draw(self, title: str, ax: Axes) -> None:
        panel = self.panels[title]
        if self.zero:
            ax.axvline(0.0, color="0.3", linewidth=1.0, zorder=1)
        for k, style in zip(range(len(self.models)), line_styles(), strict=False):
            value, reach = panel.values[k], (panel.low[k], panel.high[k])
            look: dict[str, Any] = {"color": style["color"], "zorder": 3}
            if np.isfinite(reach).all():
                ax.plot(reach, [k, k], linewidth=2.0, **look)
            face = style["color"] if panel.marked[k] else "white"
            ax.plot(value, k, marker=MARKERS[k % len(MARKERS)], markersize=8.0, markerfacecolor=face, **look)
        ax.plot([], [], marker="o", linestyle="none", color="0.4", label=self.mark)
        ax.set(xlabel=self.label, title=title)
        ax.locator_params(axis="x", nbins=4)
        ax.set_yticks(range(len(self.models)), [escaped(model) for model in self.models])
        ax.set_ylim(len(self.models) - 0.5, -0.5)
