"""The dependence that leaving out measured covariates would induce."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cocensor._checks import check_whole
from cocensor.inference import ConfidenceInterval
from cocensor.study.sensitivity import PlausibleTau, induced_tau
from cocensor.views.plots.grid_axes import PLAUSIBLE
from cocensor.views.plots.panels import draw_panels, draw_second_axis, wrapped
from cocensor.views.text.digits import level_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# What leaves no room for those behind it is left out, so the more telling come first.
_HIDDEN = (2.0, 1.5, 3.0, 5.0, 1.2, 10.0)
_COVARIATE, _TOGETHER, _TIMES = "#0072B2", "#D55E00", "0.25"


@dataclass(frozen=True)
class BenchmarkRow:
    """A τ with its interval, None where there is none, and the τ at shrunken effects, NaN where there is none."""

    name: str
    tau: float
    interval: ConfidenceInterval | None = None
    shrunken: float = float("nan")


@dataclass(eq=False)
class BenchmarkDisplay:
    """The τ that leaving out measured covariates would induce, the strongest on top.

    Below them that of all together, and of a factor with 1, 2 and 3 times the log hazard ratios of the strongest. The
    plausible range is shaded. The axis on top says how strong a hidden normal factor would have to be to induce τ: its
    hazard ratio per standard deviation, alike on event and dropout; for negative τ, one on dropout turned over
    (:func:`cocensor.hidden_hazard_ratio`).

    Attributes
    ----------
    covariates : tuple of BenchmarkRow
    n_left_out : int
        How many weaker covariates are not shown.
    together : BenchmarkRow
    multiples : tuple of BenchmarkRow
    plausible : pair of float
    confidence_level : float

    Examples
    --------
    >>> import numpy as np
    >>> import cocensor as cc
    >>> from cocensor.views.plots import BenchmarkDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 2))
    >>> event, dropout = rng.exponential(np.exp(-X @ [1.0, 0.5])), rng.exponential(np.exp(-X @ [0.7, -0.2]))
    >>> found = cc.plausible_tau(X, cc.Survival.from_latent(event, dropout), n_resamples=20)
    >>> display = BenchmarkDisplay.from_plausible_tau(found)
    >>> [row.name for row in display.covariates]  # and display.plot()
    ['x0', 'x1']
    """

    covariates: tuple[BenchmarkRow, ...]
    n_left_out: int
    together: BenchmarkRow
    multiples: tuple[BenchmarkRow, ...]
    plausible: tuple[float, float]
    confidence_level: float

    @classmethod
    def from_plausible_tau(cls, found: PlausibleTau, most: int = 15) -> Self:
        """From what :func:`cocensor.plausible_tau` returns, with at most so many covariates."""
        check_whole(most, "most", 1)
        shown = found.benchmarks[:most]
        name = found.strongest.name
        return cls(
            tuple(BenchmarkRow(each.name, each.tau, each.interval, each.shrunken_tau) for each in shown),
            len(found.benchmarks) - len(shown),
            BenchmarkRow("all together", found.together, found.together_interval),
            tuple(BenchmarkRow(f"{times} × {name}", tau) for times, tau in found.multiples.items()),
            found.range,
            found.confidence_level,
        )

    def plot(self, ax: Axes | None = None) -> Any:
        """Draw into ``ax``, or into a new figure; returns the axes."""
        return draw_panels([self._draw], ax, size=(7.0, 2.2 + 0.25 * len(self._rows)))

    @property
    def _rows(self) -> list[tuple[BenchmarkRow | None, str]]:
        """Rows and their colours, from top to bottom; None says how many are left out."""
        rows: list[tuple[BenchmarkRow | None, str]] = [(each, _COVARIATE) for each in self.covariates]
        if self.n_left_out:
            rows.append((None, _COVARIATE))
        return [*rows, (self.together, _TOGETHER), *((each, _TIMES) for each in self.multiples)]

    def _draw(self, ax: Axes) -> None:
        ax.axvspan(*self.plausible, label="plausible range of τ", **PLAUSIBLE)
        ax.axvline(0.0, color="0.3", linewidth=1.0, zorder=1)
        names = []
        for k, (row, colour) in enumerate(self._rows):
            if row is None:
                names.append(f"and {self.n_left_out} weaker")
                continue
            names.append(wrapped(row.name, 30))
            marker = "D" if colour == _TIMES else "o"
            ax.plot(row.tau, k, marker=marker, markersize=6.0, color=colour, zorder=3)
            if row.interval is not None:
                ax.plot(row.interval, [k, k], color=colour, linewidth=2.0, zorder=2)
            if np.isfinite(row.shrunken):
                ax.plot(row.shrunken, k, marker="|", markersize=11.0, color="black", zorder=4)
        level = level_in_words(self.confidence_level)
        ax.plot([], [], marker="o", color="0.4", linewidth=2.0, label=f"τ if left out, {level} interval")
        ax.plot(
            [], [], marker="|", markersize=11.0, linestyle="none", color="black", label="shrunk for noise"
        )
        ax.plot(
            [],
            [],
            marker="D",
            linestyle="none",
            color=_TIMES,
            label="multiples of the strongest",
        )
        ax.set_yticks(range(len(names)), names)
        ax.set_ylim(len(names) - 0.5, -0.5)
        ax.set_xlabel("induced Kendall's τ of event and dropout")
        ax.set_xlim(*ax.get_xlim())
        induced = [(f"{ratio:g}", induced_tau(ratio, ratio)) for ratio in _HIDDEN]
        places = [("1", 0.0), *((text, sign * tau) for text, tau in induced for sign in (1, -1))]
        draw_second_axis(
            ax, "hazard ratio per SD of a hidden factor (left of 1: inverted on dropout)", places
        )
