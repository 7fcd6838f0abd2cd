"""Figure 1c: pairs of latent times under several copulas."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import cocensor as cc
from cocensor.paper.base import Cell, Config, Experiment, Row
from cocensor.simulate import SyntheticDesign

if TYPE_CHECKING:
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
        for name in dict.fromkeys(row["copula"] for row in rows):
            mine = [row for row in rows if row["copula"] == name]
            pairs = [[row[k] for row in mine] for k in ("event_time", "dropout_time")]
            found = float(kendalltau(*pairs).statistic)
            table.append({"copula": name, "tau_given_covariates": mine[0]["tau"], "tau_of_the_pairs": found})
        return {self.name: table}

    def plot(self, rows: list[Row]) -> dict[str, Figure]:
        """A panel per copula."""
        from matplotlib.figure import Figure

        from cocensor.views.plots import LatentTimesDisplay

        first = [row for row in rows if row["seed"] == self.config.seeds[0]]
        names = list(dict.fromkeys(row["copula"] for row in first))
        figure = Figure(figsize=(3.6 * len(names), 3.9), layout="constrained")
        for ax, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
            mine = [row for row in first if row["copula"] == name]
            e, c = (np.array([row[k] for row in mine]) for k in ("event_time", "dropout_time"))
            end = float(np.quantile(np.concatenate((e, c)), 0.995))
            LatentTimesDisplay(e, c, e <= c, end, f"{name}, τ = {mine[0]['tau']:g}").plot(ax)
        return {self.name: figure}
