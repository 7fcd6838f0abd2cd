"""Values of a metric along time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Self

import numpy as np

from cocensor._validation import FloatArray, escaped
from cocensor.copulas import Copula
from cocensor.evaluation import Evaluation
from cocensor.plots.panels import draw_panels
from cocensor.plots.style import line_styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False)
class ScoreCurveDisplay:
    """The values of a metric along time, a panel per adjustment, and those of the reference curve in grey.

    The reference predicts one Kaplan–Meier curve for everybody: a model that is not better has nothing to tell at that
    time.

    Attributes
    ----------
    times : array
        In ascending order.
    models : tuple of str
        All models of the evaluation: a model has the same line in every panel.
    curves, reference : dict
        By the title of the panel: the values by model, and those of the reference, where the adjustment gives any.
    label : str
        What the values are called.
    bottom : float or None
        Where the axis starts: at the metric's smallest value if that is 0.

    Examples
    --------
    >>> import cocensor as cc
    >>> y = cc.Survival([1, 2, 3, 4], [1, 1, 1, 1])
    >>> half = [[0.5, 0.5]] * 4
    >>> evaluation = cc.evaluate({"half": half}, y, adjustments="ipcw", times=[1.0, 2.0])
    >>> display = ScoreCurveDisplay.from_evaluation(evaluation)
    >>> display.curves["IPCW"]["half"], display.reference["IPCW"]
    (array([0.25, 0.25]), array([0.1875, 0.25  ]))
    """

    times: FloatArray
    models: tuple[str, ...]
    curves: dict[str, dict[str, FloatArray]]
    reference: dict[str, FloatArray]
    label: str
    bottom: float | None = 0.0

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Evaluation,
        adjustment: str | Sequence[str] | None = None,
        metric: str | None = None,
    ) -> Self:
        """From what :func:`cocensor.evaluate` returns.

        Parameters
        ----------
        evaluation : Evaluation
        adjustment : str or sequence of str, optional
            By default the evaluation's ``primary``.
        metric : str, optional
            One that has values over time; by default the evaluation's first.
        """
        by = evaluation.metric(metric)
        if by.curve_label is None:
            raise ValueError(f"metric must have values over time, but {by.name!r} has none.")
        if adjustment is None:
            adjustment = evaluation.primary
        asked = [adjustment] if isinstance(adjustment, str) else list(adjustment)
        if not asked:
            raise ValueError("adjustment is empty: at least one is needed.")
        order = np.argsort(evaluation.times, kind="stable")
        curves, reference = {}, {}
        for name in asked:
            scores = evaluation.under(name)
            values = scores.values[by.name]
            if not values:
                why = "".join(f": {note.text}" for note in scores.notes_of("missing")[:1])
                raise ValueError(f"adjustment must give scores, but {name!r} gives none{why}")
            copula = getattr(scores.adjustment, "copula", None)
            on = f"\n{copula.name}, τ = {copula.tau:.2g}" if isinstance(copula, Copula) else ""
            title = f"{scores.label}{on}"
            curves[title] = {
                model: found.curve[order] for model, found in values.items() if found.curve is not None
            }
            base = scores.reference.get(by.name)
            if base is not None and base.curve is not None:
                reference[title] = base.curve[order]
        bottom = 0.0 if by.range[0] == 0 else None
        return cls(evaluation.times[order], evaluation.models, curves, reference, by.curve_label, bottom)

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
        ax.set(xlabel="time", ylabel=self.label, title=title, xlim=(self.times[0], self.times[-1]))
        if self.bottom is not None:
            ax.set_ylim(bottom=self.bottom)
