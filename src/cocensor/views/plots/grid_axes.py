"""The axes along which scores of a sensitivity analysis are drawn: Kendall's τ, and the hazard ratio after dropout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from cocensor._checks import FloatArray, check_choice, escaped
from cocensor.study.plan import HAZARD_RATIO
from cocensor.study.sensitivity import CovariateBenchmarks, Sensitivity
from cocensor.study.sensitivity.grid import ALL, Grid
from cocensor.views.plots.choices import at_least_one
from cocensor.views.plots.panels import draw_second_axis, ticks_with_room

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# What leaves no room for those behind it is left out, so the more telling come first.
_RATIOS = (1.0, 2.0, 5.0, 10.0, 0.5, 3.0, 1.5, 20.0, 0.2, 1.2, 0.8)
_ROUNDING = 1e-6
PLAUSIBLE: dict[str, Any] = {"color": "#F0E442", "alpha": 0.2, "linewidth": 0, "zorder": 0}
_MARK: dict[str, Any] = {"marker": "^", "linestyle": "none", "color": "0.25", "zorder": 5}
_OTHER: dict[str, Any] = {"markersize": 4.0, "markerfacecolor": "white", "markeredgewidth": 0.7}


@dataclass(frozen=True, eq=False)
class TauAxis:
    """Kendall's τ of one family, with what helps to judge which τ is plausible.

    ``ratios`` has by hazard ratio right after leaving the τ that stands for it, and is empty where that is not known;
    ``plausible`` is from which to which τ dependence is held plausible.
    """

    title: str
    limits: tuple[float, float]
    ratios: dict[float, float]
    plausible: tuple[float, float]
    benchmarks: CovariateBenchmarks | None = None
    independence: ClassVar[float] = 0.0

    @classmethod
    def of(
        cls, sensitivity: Sensitivity, family: str, adjustment: str, limits: tuple[float, float]
    ) -> TauAxis:
        """Of a family under an adjustment."""
        taus = np.union1d(list(sensitivity.over_tau.answers[adjustment].get(family, {})), [0.0])
        ratios = np.array([sensitivity.over_tau.hazard_ratio(family, tau, adjustment) for tau in taus])
        within = sensitivity.plausible.low, sensitivity.plausible.high
        return cls(family, limits, _places(taus, np.log(ratios)), within, sensitivity.benchmarks)

    def draw(self, ax: Axes) -> None:
        """Name the axis, and draw what lies along it."""
        ax.axvspan(*self.plausible, label="plausible range of τ", **PLAUSIBLE)
        ax.set_xlabel("Kendall's τ of event and dropout")
        ax.set_xlim(*self.limits)
        if self.benchmarks is not None:
            _draw_covariates(ax, self.benchmarks)
        if len(self.ratios) > 1:
            places = [(f"{ratio:g}", at) for ratio, at in self.ratios.items()]
            draw_second_axis(ax, "hazard ratio right after dropout", places)


@dataclass(frozen=True, eq=False)
class RatioAxis:
    """The hazard ratio after dropout, of everybody or of one reason or group, on the log scale."""

    line: str
    ratios: tuple[float, ...]
    independence: ClassVar[float] = 1.0

    @property
    def title(self) -> str:
        """What its panel shows."""
        return f"after dropout: {self.line}"

    def draw(self, ax: Axes) -> None:
        """Name the axis."""
        from matplotlib.ticker import NullLocator

        ax.axvline(1.0, color="0.7", linewidth=1.0, linestyle=":", zorder=0)
        ax.set_xscale("log")
        ax.xaxis.set_minor_locator(NullLocator())
        ax.set_xlim(0.9 * min(*self.ratios, 1.0), max(*self.ratios, 1.0) / 0.9)
        roundest = sorted(self.ratios, key=lambda ratio: len(f"{ratio:g}"))
        order = dict.fromkeys((1.0, self.ratios[0], self.ratios[-1], *roundest))
        kept = ticks_with_room(ax, [(f"{ratio:g}", ratio) for ratio in order])
        ax.set_xticks([at for _, at in kept], [text for text, _ in kept])
        ax.set_xlabel("hazard ratio after dropout")


class GridLine(NamedTuple):
    """A line of a grid, and the axis that it is drawn along."""

    grid: Grid
    line: str
    axis: TauAxis | RatioAxis


def lines_of(
    sensitivity: Sensitivity,
    metric: str,
    adjustment: str,
    family: str | None,
    line: str | Sequence[str] | None,
) -> dict[str, GridLine]:
    """By family; the last is "hazard_ratio", after dropout, of everybody, if there are scores over it.

    With ``line``, by whose hazard ratio moves.
    """
    grid, after = sensitivity.over_tau, sensitivity.over_ratio
    by_tau, over_ratios = grid.leaders(metric, adjustment), dict[str, GridLine]()
    if after is not None and adjustment in after.answers:
        for name in after.leaders(metric, adjustment):
            over_ratios[name] = GridLine(after, name, RatioAxis(name, after.points))
    if not (by_tau if line is None else over_ratios):
        raise ValueError(
            f"metric must have scores over the grid, but {metric!r} has none under {adjustment!r}."
        )
    if line is not None:
        names = at_least_one(line, "line")
        for name in names:
            check_choice(name, "line", tuple(over_ratios))
        return {name: over_ratios[name] for name in names}
    families = (*by_tau, *([HAZARD_RATIO] if ALL in over_ratios else []))
    if family is not None:
        check_choice(family, "family", families)
    taus = [0.0, *(tau for points in by_tau.values() for tau in points)]
    limits = min(taus) - 0.05, max(taus) + 0.05
    return {
        name: over_ratios[ALL]
        if name == HAZARD_RATIO
        else GridLine(grid, name, TauAxis.of(sensitivity, name, adjustment, limits))
        for name in families
        if family in (None, name)
    }


def _draw_covariates(ax: Axes, benchmarks: CovariateBenchmarks) -> None:
    """Triangles at the bottom: the τ that leaving out covariates would induce, at effects shrunk for their noise."""
    strongest, *others = benchmarks.benchmarks
    looks: list[tuple[list[float], str, dict[str, Any]]] = [
        ([row.shrunken_tau for row in others], "other covariates", _OTHER),
        ([benchmarks.together], "all covariates together", {"markersize": 8.0, "markerfacecolor": "0.75"}),
        ([strongest.shrunken_tau], f"strongest covariate: {escaped(strongest.name)}", {"markersize": 6.0}),
    ]
    for taus, label, look in looks:
        if taus:
            heights, across = np.full(len(taus), 0.025), ax.get_xaxis_transform()
            ax.plot(taus, heights, transform=across, label=label, **(_MARK | look))


def _places(taus: FloatArray, logs: FloatArray) -> dict[float, float]:
    """By round ratio its τ, outward from τ = 0 as far as the ratio is known and grows with τ."""
    first = last = int(np.searchsorted(taus, 0.0))
    while first > 0 and logs[first - 1] < logs[first]:
        first -= 1
    while last < len(taus) - 1 and logs[last + 1] > logs[last]:
        last += 1
    taus, logs, wanted = taus[first : last + 1], logs[first : last + 1], np.log(_RATIOS)
    within = (wanted >= logs[0] - _ROUNDING) & (wanted <= logs[-1] + _ROUNDING)
    at = np.interp(wanted, logs, taus)
    return {ratio: float(at[k]) for k, ratio in enumerate(_RATIOS) if within[k]}
