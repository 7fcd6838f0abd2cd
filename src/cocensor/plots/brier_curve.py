"""Brier scores along time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Self

import numpy as np

from cocensor._validation import FloatArray, check_choice, escaped
from cocensor.copulas import Copula
from cocensor.evaluation import Evaluation
from cocensor.evaluation.question import REFERENCE
from cocensor.plots.panels import draw_panels
from cocensor.plots.style import line_styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False)
class BrierCurveDisplay:
    """The Brier score of every model along time, a panel per adjustment, and that of the reference curve in grey.

    The reference predicts the Kaplan–Meier curve of the training sample for everybody: a model that is not below it
    has nothing to tell at that time.

    Attributes
    ----------
    times : array
        In ascending order.
    models : tuple of str
        All models of the evaluation: a model has the same line in every panel.
    curves, reference : dict
        By the title of the panel: the scores by model, and those of the reference, where the adjustment gives any.

    Examples
    --------
    >>> import cocensor as cc
    >>> y = cc.Survival([1, 2, 3, 4], [1, 1, 1, 1])
    >>> half = [[0.5, 0.5]] * 4
    >>> evaluation = cc.evaluate({"half": half}, y, y, adjustments="ipcw", copula=None, times=[1.0, 2.0])
    >>> display = BrierCurveDisplay.from_evaluation(evaluation)
    >>> display.curves["IPCW"]["half"], display.reference["IPCW"]
    (array([0.25, 0.25]), array([0.1875, 0.25  ]))
    """

    times: FloatArray
    models: tuple[str, ...]
    curves: dict[str, dict[str, FloatArray]]
    reference: dict[str, FloatArray]

    @classmethod
    def from_evaluation(cls, evaluation: Evaluation, adjustment: str | Sequence[str] | None = None) -> Self:
        """From what :func:`cocensor.evaluate` returns, under one adjustment or several, by default its ``primary``."""
        if "ibs" not in evaluation.metrics:
            raise ValueError(
                f"evaluation must have the metric 'ibs' for Brier curves, but has {', '.join(evaluation.metrics)}."
            )
        if adjustment is None:
            adjustment = evaluation.primary
        asked = [adjustment] if isinstance(adjustment, str) else list(adjustment)
        if not asked:
            raise ValueError("adjustment is empty: at least one is needed.")
        order = np.argsort(evaluation.times, kind="stable")
        curves, reference = {}, {}
        for name in asked:
            check_choice(name, "adjustment", tuple(evaluation.scored))
            scored = evaluation.scored[name]
            found = {model: values[order] for model, values in scored.curves["ibs"].items()}
            copula = getattr(scored.adjustment, "copula", None)
            on = f"\n{copula.name}, τ = {copula.tau:.2g}" if isinstance(copula, Copula) else ""
            title = f"{scored.label}{on}"
            if REFERENCE in found:
                reference[title] = found.pop(REFERENCE)
            if not found:
                raise ValueError(f"adjustment must give scores, but {name!r} gives none: {scored.notes[0]}")
            curves[title] = found
        return cls(evaluation.times[order], evaluation.models, curves, reference)

    def plot(self, ax: Axes | Sequence[Axes] | None = None) -> Axes | list[Axes]:
        """Draw into ``ax``, one axes per adjustment, or into a new figure; returns the axes, several as a list."""
        return draw_panels([partial(self._draw, title) for title in self.curves], ax)

    def _draw(self, title: str, ax: Axes) -> None:
        if title in self.reference:
            label = "Kaplan–Meier for everybody"
            ax.plot(self.times, self.reference[title], color="0.6", linewidth=2.5, label=label)
        for model, style in zip(self.models, line_styles(), strict=False):
            if model in self.curves[title]:
                ax.plot(self.times, self.curves[title][model], label=escaped(model), **style)
        ax.set(xlabel="time", ylabel="Brier score", title=title, xlim=(self.times[0], self.times[-1]))
        ax.set_ylim(bottom=0.0)
