"""Values of a metric along time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Self

import numpy as np

from cocensor._checks import FloatArray, check_choice, escaped
from cocensor.copulas import Copula
from cocensor.study.curves import curve_errors
from cocensor.study.evaluation import Evaluation, metric_of, results_of
from cocensor.study.scores import AdjustmentScores
from cocensor.views.plots.over_time import BelowCurves
from cocensor.views.plots.panels import draw_panels
from cocensor.views.plots.style import TRUTH, BandKind, Limits, check_band, line_styles, shade, shaded_area

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False)
class ScoreCurveDisplay:
    """The values of a metric along time, a panel per adjustment, and those of the reference curve in grey.

    The reference predicts one Kaplan–Meier curve for everybody: a model that is not better adds nothing at that
    time. Intervals are shaded: each for its own time, or as a band that holds a whole curve. Two models may differ
    although their intervals overlap, as both are scored on the same subjects: ``minus`` shows differences. Dotted
    lines are the true values, where data are simulated.

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
        Where the axis starts: at the metric's best value if that is 0.
    limits : dict
        By the title of the panel and by model, the lower and the upper limits of the values; empty without intervals.
    shaded : str
        What the shaded areas are.
    zero : bool
        Whether the values are differences, with a line at 0.
    truth : dict
        By model the values by the true event times (:attr:`Evaluation.truth`); empty where these are not known.
    below : BelowCurves
        What time is called, and how many of the test sample are at risk.

    Examples
    --------
    >>> import cocensor as cc
    >>> from cocensor.views.plots import ScoreCurveDisplay
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
    limits: dict[str, dict[str, Limits]] = field(default_factory=dict)
    shaded: str = ""
    zero: bool = False
    truth: dict[str, FloatArray] = field(default_factory=dict)
    below: BelowCurves = field(default_factory=BelowCurves)

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Evaluation,
        adjustment: str | Sequence[str] | None = None,
        metric: str | None = None,
        *,
        minus: str | None = None,
        band: BandKind = "pointwise",
    ) -> Self:
        """From what :func:`cocensor.evaluate` returns.

        Parameters
        ----------
        evaluation : Evaluation
        adjustment : str or sequence of str, optional
            By default the evaluation's ``primary``.
        metric : str, optional
            One that has values over time; by default the evaluation's first.
        minus : str, optional
            A model: the values of all others less those of this one.
        band : "pointwise", "simultaneous" or None
            What is shaded: an interval for each time, a band that holds a whole curve, or nothing. Errors over time are
            computed when first asked for; without a confidence level of the evaluation there are none.
        """
        by = metric_of(evaluation, metric)
        check_band(band)
        if by.curve_label is None:
            raise ValueError(f"metric must have values over time, but {by.name!r} has none.")
        if minus is not None:
            check_choice(minus, "minus", evaluation.models)
        if adjustment is None:
            adjustment = evaluation.primary
        asked = [adjustment] if isinstance(adjustment, str) else list(adjustment)
        if not asked:
            raise ValueError("adjustment is empty: at least one is needed.")
        level = evaluation.data.confidence_level
        order = np.argsort(evaluation.data.times, kind="stable")
        curves, reference = {}, {}
        limits: dict[str, dict[str, Limits]] = {}
        for name in asked:
            scores = results_of(evaluation, name)
            title = _title(scores)
            found = {
                model: each.curve for model, each in scores.values[by.name].items() if each.curve is not None
            }
            if not found or (minus is not None and minus not in found):
                why = "".join(f": {note.text}" for note in scores.notes_of("missing")[:1])
                of = "" if minus is None or not found else f" of {minus!r}"
                raise ValueError(f"adjustment must give scores{of}, but {name!r} gives none{why}")
            less = 0.0 if minus is None else found.pop(minus)
            curves[title] = {model: (curve - less)[order] for model, curve in found.items()}
            base = scores.reference.get(by.name)
            if base is not None and base.curve is not None:
                reference[title] = (base.curve - less)[order]
            if level is not None and band is not None:
                errors = curve_errors(evaluation, by.name, name)
                limits[title] = {}
                for model in found:
                    values = errors.of(model, minus)
                    ends = (
                        values.confidence_intervals(level) if band == "pointwise" else values.band(level)[:2]
                    )
                    limits[title][model] = ends[0][order], ends[1][order]
        better = f"{by.curve_label} (greater is better)" if by.direction == "greater" else by.curve_label
        label = better if minus is None else f"{by.curve_label} less that of {escaped(minus)}"
        return cls(
            evaluation.data.times[order],
            evaluation.models,
            curves,
            reference,
            label,
            0.0 if by.best == 0 and minus is None else None,
            limits,
            shaded_area(band, level),
            minus is not None,
            {model: curve[order] for model, curve in _true_curves(evaluation, by.name, minus).items()},
            BelowCurves.of(evaluation.data.time_axis, evaluation.data.risk_table),
        )

    def plot(self, ax: Axes | Sequence[Axes] | None = None, *, at_risk: bool = True) -> Axes | list[Axes]:
        """Draw into ``ax``, one axes per adjustment, or into a new figure; returns the axes, several as a list.

        Below the axis stands how many are at risk, unless ``at_risk`` is False.
        """
        panels = [partial(self._draw, title, at_risk) for title in self.curves]
        return draw_panels(panels, ax, lines_below=self.below.n_lines(at_risk))

    def _draw(self, title: str, at_risk: bool, ax: Axes) -> None:
        if title in self.reference:
            label = "Kaplan–Meier for everybody"
            ax.plot(self.times, self.reference[title], color="0.6", linewidth=2.5, label=label)
        if self.zero:
            ax.axhline(0.0, color="0.3", linewidth=1.0, zorder=1)
        limits = self.limits.get(title, {})
        for model, style in zip(self.models, line_styles(), strict=False):
            if model in self.curves[title]:
                ax.plot(self.times, self.curves[title][model], label=escaped(model), **style)
            if model in limits:
                shade(ax, self.times, limits[model], style["color"])
            if model in self.truth:
                ax.plot(self.times, self.truth[model], color=style["color"], **TRUTH)
        if any(np.isfinite(low).any() for low, _ in limits.values()):
            ax.fill_between([], [], color="0.5", alpha=0.3, linewidth=0, label=self.shaded)
        if self.truth:
            ax.plot([], [], color="0.4", label="truth", **TRUTH)
        ax.set(ylabel=self.label, title=title)
        if self.bottom is not None:
            ax.set_ylim(bottom=self.bottom)
        self.below.draw(ax, self.times[0], self.times[-1], at_risk)


def _true_curves(evaluation: Evaluation, metric: str, minus: str | None) -> dict[str, FloatArray]:
    """The true values over time by model, less those of one of them where there is one to subtract."""
    values = {} if evaluation.truth is None else evaluation.truth.values[metric]
    curves = {model: each.curve for model, each in values.items() if each.curve is not None}
    if minus is None:
        return curves
    less = curves.pop(minus, None)
    return {} if less is None else {model: curve - less for model, curve in curves.items()}


def _title(scores: AdjustmentScores) -> str:
    copula = getattr(scores.adjustment, "copula", None)
    on = f"\n{copula.name}, τ = {copula.tau:.2g}" if isinstance(copula, Copula) else ""
    return f"{scores.label}{on}"
