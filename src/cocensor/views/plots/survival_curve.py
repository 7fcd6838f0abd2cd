"""Survival curves with their bands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cocensor._checks import FloatArray, escaped
from cocensor.data import RiskTable, TimeAxis
from cocensor.estimators.margin import MarginEstimator
from cocensor.views.plots.over_time import INK, BelowCurves
from cocensor.views.plots.panels import LINE
from cocensor.views.plots.style import line_styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class CurveData:
    """One drawn curve: steps at ``times``, and its band where there is one."""

    times: FloatArray
    survival: FloatArray
    lower: FloatArray
    upper: FloatArray


@dataclass(eq=False)
class SurvivalCurveDisplay:
    """Estimated survival curves with pointwise bands, and the truth where it is known.

    Below the axis stands how many are at risk: of one sample in black, of several in the colour of the first curve of
    each.

    Attributes
    ----------
    curves : dict of CurveData
        By label: times, survival, and the limits of the band.
    truth : callable or None
        The true curve, where it is known.
    below : BelowCurves
        What time is called, and how many are at risk.

    Examples
    --------
    >>> from cocensor.views.plots import SurvivalCurveDisplay
    >>> from cocensor import KaplanMeier, Survival
    >>> km = KaplanMeier().fit(Survival([1, 3, 4, 7], [1, 0, 1, 1]))
    >>> display = SurvivalCurveDisplay.from_estimators({"Kaplan–Meier": km})
    >>> display.curves["Kaplan–Meier"].survival
    array([1.   , 0.75 , 0.375, 0.   ])
    """

    curves: dict[str, CurveData]
    truth: Callable[[FloatArray], FloatArray] | None = None
    below: BelowCurves = field(default_factory=BelowCurves)

    @classmethod
    def from_estimators(
        cls,
        estimators: Mapping[str, MarginEstimator],
        *,
        level: float = 0.95,
        truth: Callable[[FloatArray], FloatArray] | None = None,
        time_name: str | None = None,
        time_unit: str | None = None,
    ) -> Self:
        """Curves of fitted estimators by label, with bands at ``level``.

        ``truth`` is a function of time, drawn as a thin black line: in simulations the truth is known. ``time_name``
        and ``time_unit`` are what the axis of time says.
        """
        if not estimators:
            raise ValueError("estimators is empty: at least one is needed.")
        curves = {}
        for label, estimator in estimators.items():
            if not hasattr(estimator, "survival_"):
                raise ValueError(f"estimators must be fitted, but {label!r} is not: call fit(y) first.")
            times = np.unique(np.concatenate(([0.0], estimator.survival_.times, [estimator.t_max_])))
            lower, upper = estimator.confidence_interval(times, level)
            curves[label] = CurveData(times, estimator.predict(times), lower, upper)
        return cls(curves, truth, BelowCurves(TimeAxis(time_name, time_unit), _at_risk(estimators.values())))

    def plot(self, ax: Axes | None = None, *, at_risk: bool = True) -> Axes:
        """Draw into ``ax``, or into a new figure; returns the axes.

        Below the axis stands how many are at risk, unless ``at_risk`` is False.
        """
        if ax is None:
            import matplotlib.pyplot as plt

            height = 4.5 + LINE * self.below.n_lines(at_risk)
            _, ax = plt.subplots(figsize=(7.0, height), layout="constrained")
        end = max(curve.times[-1] for curve in self.curves.values())
        if self.truth is not None:
            grid = np.linspace(0.0, end, 401)
            ax.plot(grid, self.truth(grid), color="black", linewidth=1.0, label="truth", zorder=3)
        for (label, curve), style in zip(self.curves.items(), line_styles(), strict=False):
            ax.step(curve.times, curve.survival, where="post", label=escaped(label), **style)
            band: dict[str, Any] = {"step": "post", "color": style["color"], "alpha": 0.15, "linewidth": 0}
            ax.fill_between(curve.times, curve.lower, curve.upper, **band)
        ax.set(ylabel="survival probability", ylim=(0.0, 1.02))
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False)
        self.below.draw(ax, 0.0, end, at_risk)
        return ax


def _at_risk(estimators: Iterable[MarginEstimator]) -> dict[str, RiskTable]:
    """The samples that estimators were fitted to, each once, by the colour of the first of its curves."""
    found: dict[str, RiskTable] = {}
    for estimator, style in zip(estimators, line_styles(), strict=False):
        table = estimator.risk_table_
        if not any(_alike(table, known) for known in found.values()):
            found[style["color"]] = table
    return found if len(found) > 1 else dict(zip([INK], found.values(), strict=True))


def _alike(a: RiskTable, b: RiskTable) -> bool:
    return np.array_equal(a.times, b.times) and np.array_equal(a.at_risk, b.at_risk)
