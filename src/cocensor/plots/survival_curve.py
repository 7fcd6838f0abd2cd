"""Survival curves with their bands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cocensor._validation import FloatArray, escaped
from cocensor.estimators.margin import MarginEstimator
from cocensor.plots.style import line_styles

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

    Examples
    --------
    >>> from cocensor import KaplanMeier, Survival
    >>> km = KaplanMeier().fit(Survival([1, 3, 4, 7], [1, 0, 1, 1]))
    >>> display = SurvivalCurveDisplay.from_estimators({"Kaplan–Meier": km})
    >>> display.curves["Kaplan–Meier"].survival
    array([1.   , 0.75 , 0.375, 0.   ])
    """

    curves: dict[str, CurveData]
    truth: Callable[[FloatArray], FloatArray] | None = None

    @classmethod
    def from_estimators(
        cls,
        estimators: Mapping[str, MarginEstimator],
        *,
        level: float = 0.95,
        truth: Callable[[FloatArray], FloatArray] | None = None,
    ) -> Self:
        """Curves of fitted estimators by label, with bands at ``level``.

        ``truth`` is a function of time, drawn as a thin black line: in simulations the truth is known.
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
        return cls(curves, truth)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw into ``ax``, or into a new figure; returns the axes."""
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots(figsize=(7.0, 4.5), layout="constrained")
        end = max(curve.times[-1] for curve in self.curves.values())
        if self.truth is not None:
            grid = np.linspace(0.0, end, 401)
            ax.plot(grid, self.truth(grid), color="black", linewidth=1.0, label="truth", zorder=3)
        for (label, curve), style in zip(self.curves.items(), line_styles(), strict=False):
            ax.step(curve.times, curve.survival, where="post", label=escaped(label), **style)
            band: dict[str, Any] = {"step": "post", "color": style["color"], "alpha": 0.15, "linewidth": 0}
            ax.fill_between(curve.times, curve.lower, curve.upper, **band)
        ax.set(xlabel="time", ylabel="survival probability", xlim=(0.0, end), ylim=(0.0, 1.02))
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False)
        return ax
