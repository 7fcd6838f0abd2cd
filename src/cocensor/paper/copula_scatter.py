"""Figure 1c: pairs of latent times under several copulas."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import cocensor as cc
from cocensor._checks import FloatArray
from cocensor.paper.base import Cell, Config, Experiment, Row, grouped, panels
from cocensor.simulate import SyntheticDesign

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_N = 1_000
_FAMILIES = ("independence", "clayton", "frank", "gumbel", "gaussian")


class CopulaScatter(Experiment):
    """Event and dropout times of one draw per copula, at the same τ."""

    name = "copula-scatter"
    about = "pairs of event and dropout time under several copulas (figure 1c)"

    @classmethod
    def default_config(cls) -> Config:
        """One draw."""
        return Config(seeds=(0,))

    def cells(self) -> list[Cell]:
        """A cell per copula and seed."""
        return [
            {"copula": name, "tau": 0.0 if name == "independence" else 0.6, "seed": seed}
            for name in _FAMILIES
            for seed in self.config.seeds
        ]

    def run_cell(self, cell: Cell) -> list[Row]:
        """The pairs."""
        data = SyntheticDesign(n=_N, copula=cc.copula(cell["copula"], tau=cell["tau"])).draw(cell["seed"])
        return [
            {"event_time": float(e), "dropout_time": float(c)}
            for e, c in zip(data.event_time, data.dropout_time, strict=True)
        ]

    def summarise(self, rows: list[Row]) -> dict[str, list[Row]]:
        """The empirical τ of the pairs, which covariates that drive both times make differ from that given them."""
        from scipy.stats import kendalltau

        table = []
        for (name,), own in grouped(rows, "copula").items():
            pairs = [[row[k] for row in own] for k in ("event_time", "dropout_time")]
            tau = float(kendalltau(*pairs).statistic)
            table.append({"copula": name, "tau_given_covariates": own[0]["tau"], "tau_of_the_pairs": tau})
        return {self.name: table}

    def plot(self, rows: list[Row]) -> dict[str, Figure]:
        """A panel per copula."""
        by_copula = grouped([row for row in rows if row["seed"] == self.config.seeds[0]], "copula")
        figure, axes = panels(len(by_copula), len(by_copula), 3.6, 3.9)
        for ax, ((name,), own) in zip(axes.flat, by_copula.items(), strict=True):
            e, c = (np.array([row[k] for row in own]) for k in ("event_time", "dropout_time"))
            end = float(np.quantile(np.concatenate((e, c)), 0.995))
            _scatter(ax, e, c, end)
            ax.set_title(f"{name}, τ = {own[0]['tau']:g}")
        return {self.name: figure}


def _scatter(ax: Axes, e: FloatArray, c: FloatArray, end: float) -> None:
    """The pairs of event and dropout times by what a study sees: events above the diagonal."""
    from cocensor.views.plots.style import line_styles

    size = float(np.clip(12_000.0 / e.size, 2.0, 16.0))
    for label, seen, style in zip(("event seen", "censored"), (e <= c, e > c), line_styles(), strict=False):
        look = {"s": size, "color": style["color"], "alpha": 0.5, "linewidths": 0}
        ax.scatter(e[seen], c[seen], label=f"{label} ({np.mean(seen):.0%})", **look)
    ax.plot([0.0, end], [0.0, end], color="0.3", linewidth=1.0)
    ax.set(xlabel="event time e", ylabel="dropout time c", xlim=(0.0, end), ylim=(0.0, end))
    ax.set_aspect("equal")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="upper left", markerscale=2.0, fontsize="small")
