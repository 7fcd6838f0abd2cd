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
from cocensor.plots.style import MARKERS, line_styles
from cocensor.sensitivity import Sensitivity

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
    """By model the scores along ``taus``, NaN where there is none; who is best at each; the τ where that changes.

    Several are best where they are equally good.
    """

    taus: FloatArray
    scores: dict[str, FloatArray]
    best: tuple[tuple[str, ...], ...]
    changes: tuple[float, ...]


@dataclass(eq=False)
class SensitivityDisplay:
    """The score of every model along Kendall's τ, a panel per copula family.

    Large dots mark the best model at each τ, all of them where several are equally good, and vertical lines where the
    best model changes. Ticks at τ = 0, with the marker of the model, are the scores under IPCW, if the evaluation has
    them: what is reported where nobody asks.

    Attributes
    ----------
    families : dict of FamilyScores
    ipcw : dict
        Scores under IPCW by model, of the marginal one if there is one; empty where there are none.
    label, adjustment : str
        What the scores are, and what they are adjusted by.
    """

    families: dict[str, FamilyScores]
    ipcw: dict[str, float]
    label: str
    adjustment: str

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
        best, changes = sensitivity.leaders(by.name, name), sensitivity.changes(by.name, name)
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
            families[each] = FamilyScores(np.array(list(winners)), scores, tuple(winners.values()), at)
        weighted = evaluation.under_ipcw(by.name)
        ipcw = {}
        if weighted is not None:
            ipcw = {model: found.value for model, found in weighted.values[by.name].items()}
        return cls(families, ipcw, by.label, evaluation.results[name].label)

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
            if model in self.ipcw:
                ax.plot(0.0, self.ipcw[model], color=style["color"], **_TICK)
                ax.plot(0.0, self.ipcw[model], color=style["color"], marker=marker, **_ON_TICK)
        for at in panel.changes:
            ax.axvline(at, **_CHANGE)
        ax.plot([], [], color="0.4", label="best at this τ", **_BEST)
        if panel.changes:
            ax.plot([], [], label="best model changes", **_CHANGE)
        if self.ipcw:
            ax.plot([], [], color="0.4", label="IPCW (takes τ for 0)", **_TICK)
        ax.set(xlabel="Kendall's τ of event and dropout", ylabel=self.label)
        ax.set_title(f"{self.adjustment}\n{family}")
        ax.set_xlim(*self._limits())

    def _limits(self) -> tuple[float, float]:
        """One range of τ for all panels, with room for the ticks at 0."""
        taus = np.concatenate([[0.0] if self.ipcw else [], *(each.taus for each in self.families.values())])
        return float(taus.min()) - 0.05, float(taus.max()) + 0.05
