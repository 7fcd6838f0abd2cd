"""Scores along Kendall's τ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cocensor._validation import FloatArray, check_choice, escaped
from cocensor.plots.panels import draw_panels
from cocensor.plots.style import MARKERS, Limits, line_styles, shade
from cocensor.sensitivity import Sensitivity
from cocensor.words.digits import level_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BEST: dict[str, Any] = {"marker": "o", "linestyle": "none", "markersize": 6.5}
# Below the lines: a score under IPCW must not hide one at τ = 0.
_TICK: dict[str, Any] = {
    "marker": "_",
    "markersize": 16.0,
    "markeredgewidth": 2.5,
    "linestyle": "none",
    "zorder": 1,
}
_ON_TICK: dict[str, Any] = {"markersize": 8.0, "markerfacecolor": "white", "linestyle": "none", "zorder": 1}
_CHANGE: dict[str, Any] = {"color": "0.6", "linewidth": 1.0, "zorder": 0}


@dataclass(frozen=True, eq=False)
class FamilyScores:
    """By model the scores along ``taus``, NaN where there is none; who is best at each; the τ where the leader changes.

    ``best`` are the models that cannot be told from the best; without intervals, those with the best score. ``limits``
    has by model the ends of the intervals of its scores.
    """

    taus: FloatArray
    scores: dict[str, FloatArray]
    best: tuple[tuple[str, ...], ...]
    changes: tuple[float, ...]
    limits: dict[str, Limits]


@dataclass(eq=False)
class SensitivityDisplay:
    """The score of every model along Kendall's τ, a panel per copula family.

    Shaded are the intervals of the scores, each for its own τ. Large dots mark the models that cannot be told from the
    best at each τ; without intervals, the best one, all of them where several are equally good. Vertical lines are
    where the best score passes from one model to another. Ticks at τ = 0, with the marker of the model, are the scores
    under IPCW, if the evaluation has them: what is reported where nobody asks.

    Whether two models differ is seen in :class:`DifferenceDisplay`, and not from whether their intervals overlap: both
    are scored on the same subjects.

    Attributes
    ----------
    families : dict of FamilyScores
    ipcw : dict
        Scores under IPCW by model, of the marginal one if there is one; empty where there are none.
    label, adjustment : str
        What the scores are, and what they are adjusted by.
    confidence_level : float or None
        Of the intervals, if there are any.
    """

    families: dict[str, FamilyScores]
    ipcw: dict[str, float]
    label: str
    adjustment: str
    confidence_level: float | None = None

    @classmethod
    def from_sensitivity(
        cls,
        sensitivity: Sensitivity,
        metric: str | None = None,
        adjustment: str | None = None,
        family: str | None = None,
    ) -> Self:
        """From what :meth:`Evaluation.sensitivity` returns.

        Parameters
        ----------
        sensitivity : Sensitivity
        metric : str, optional
            By default the evaluation's first.
        adjustment : str, optional
            By default the analysis's ``primary``.
        family : str, optional
            By default all.
        """
        evaluation = sensitivity.evaluation
        by, name = evaluation.metric(metric), sensitivity.primary if adjustment is None else adjustment
        best, changes = sensitivity.best(by.name, name), sensitivity.changes(by.name, name)
        level = evaluation.confidence_level
        along = {} if level is None else _limits_along_tau(sensitivity, by.name, name)
        if not best:
            raise ValueError(
                f"metric must have scores over the grid, but {by.name!r} has none under {name!r}."
            )
        if family is not None:
            check_choice(family, "family", tuple(best))
        families = {}
        for each, winners in best.items():
            if family not in (None, each):
                continue
            values = [sensitivity.values(each, tau, by.name, name) for tau in winners]
            scores = {
                model: np.array([found.get(model, np.nan) for found in values]) for model in evaluation.models
            }
            at = tuple(change.at for change in changes if change.family == each)
            taus = np.array(list(winners))
            limits = {
                model: (low[np.isin(grid, taus)], high[np.isin(grid, taus)])
                for model, (grid, low, high) in along.get(each, {}).items()
            }
            families[each] = FamilyScores(taus, scores, tuple(winners.values()), at, limits)
        weighted = evaluation.under_ipcw(by.name)
        ipcw = {}
        if weighted is not None:
            ipcw = {model: found.value for model, found in weighted.values[by.name].items()}
        return cls(families, ipcw, by.label, evaluation.results[name].label, level)

    def plot(self, ax: Axes | Sequence[Axes] | None = None) -> Axes | list[Axes]:
        """Draw into ``ax``, one axes per family, or into a new figure; returns the axes, several as a list."""
        return draw_panels([partial(self._draw, family) for family in self.families], ax)

    def _draw(self, family: str, ax: Axes) -> None:
        panel = self.families[family]
        looks = zip(panel.scores.items(), line_styles(), cycle(MARKERS), strict=False)
        for (model, scores), style, marker in looks:
            ax.plot(panel.taus, scores, marker=marker, markersize=4.0, label=escaped(model), **style)
            won = np.array([model in winners for winners in panel.best])
            ax.plot(panel.taus[won], scores[won], color=style["color"], **_BEST)
            if model in panel.limits:
                shade(ax, panel.taus, panel.limits[model], style["color"], 0.12)
            if model in self.ipcw:
                ax.plot(0.0, self.ipcw[model], color=style["color"], **_TICK)
                ax.plot(0.0, self.ipcw[model], color=style["color"], marker=marker, **_ON_TICK)
        for at in panel.changes:
            ax.axvline(at, **_CHANGE)
        level = self.confidence_level
        best = (
            "best at this τ"
            if level is None
            else f"not told from the best at this τ ({level_in_words(level)})"
        )
        ax.plot([], [], color="0.4", label=best, **_BEST)
        if level is not None:
            ax.fill_between(
                [], [], color="0.5", alpha=0.3, linewidth=0, label=f"{level_in_words(level)} interval"
            )
        if panel.changes:
            ax.plot([], [], label="best score changes hands", **_CHANGE)
        if self.ipcw:
            ax.plot([], [], color="0.4", label="IPCW (takes τ for 0)", **_TICK)
        ax.set(xlabel="Kendall's τ of event and dropout", ylabel=self.label)
        ax.set_title(f"{self.adjustment}\n{family}")
        ax.set_xlim(*self._limits())

    def _limits(self) -> tuple[float, float]:
        """One range of τ for all panels, with room for the ticks at 0."""
        taus = np.concatenate([[0.0] if self.ipcw else [], *(each.taus for each in self.families.values())])
        return float(taus.min()) - 0.05, float(taus.max()) + 0.05


def _limits_along_tau(
    sensitivity: Sensitivity, metric: str, adjustment: str
) -> dict[str, dict[str, tuple[FloatArray, FloatArray, FloatArray]]]:
    """By family and model: τ, and the lower and the upper ends of the intervals there."""
    found: dict[str, dict[str, tuple[FloatArray, FloatArray, FloatArray]]] = {}
    for model in sensitivity.evaluation.models:
        for family, curve in sensitivity.along(model, None, metric, adjustment).items():
            found.setdefault(family, {})[model] = curve.positions, curve.low, curve.high
    return found
