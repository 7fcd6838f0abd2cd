"""The cost of selecting a copula: time and memory by data set."""

from __future__ import annotations

import time
import tracemalloc
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from cocensor._checks import check_choice
from cocensor.paper.adjustments import selected_copula
from cocensor.paper.base import Cell, Config, Experiment, Row, grouped
from cocensor.paper.semi_synthetic import DATASETS, parts_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Minutes, and MiB of GPU tensors, that the paper reports for the same selection, Clayton and Frank together.
_PAPER = {
    "whas": (10.61, 0.35),
    "gbsg": (5.22, 0.43),
    "metabric": (15.67, 1.12),
    "churn": (5.59, 1.32),
    "flchain": (55.98, 5.40),
    "support": (67.36, 5.90),
    "employee": (54.41, 6.08),
}


@dataclass(frozen=True)
class FitCostConfig(Config):
    """Configuration of the experiment on the cost of fits.

    Parameters
    ----------
    protocol, seeds
        As in :class:`Config`.
    datasets : tuple of str
        Which data sets.
    max_rows : int
        Those with more subjects are thinned out, as in the paper.

    Examples
    --------
    >>> from cocensor.paper import FitCostConfig
    >>> FitCostConfig(seeds=(0,), datasets=("whas",)).max_rows
    10000
    """

    seeds: tuple[int, ...] = (0, 1, 2)
    datasets: tuple[str, ...] = DATASETS
    max_rows: int = 10_000

    def __post_init__(self) -> None:
        super().__post_init__()
        for value in self.datasets:
            check_choice(value, "datasets", DATASETS)


class FitCost(Experiment):
    """Seconds of ``select_copula`` (Clayton and Frank, Weibull margins) with all features, and the memory it takes.

    Memory is the peak of what Python and numpy allocate beside the data, measured in a second run, as watching costs
    time. The paper's is that of its GPU tensors alone.
    """

    name = "fit-cost"
    about = "time and memory of copula fitting (table of the appendix)"
    config: FitCostConfig

    @classmethod
    def default_config(cls) -> FitCostConfig:
        """Three draws of each data set."""
        return FitCostConfig()

    @classmethod
    def quick(cls, config: Config) -> Self:
        """One draw of the smallest data set."""
        assert isinstance(config, FitCostConfig)
        return cls(replace(config, seeds=config.seeds[:1], datasets=config.datasets[:1], max_rows=1_000))

    def cells(self) -> list[Cell]:
        """Data set × seed, with all features."""
        return [
            {"dataset": dataset, "strategy": "original", "copula": "omitted", "tau": None, "seed": seed}
            for dataset in self.config.datasets
            for seed in self.config.seeds
        ]

    def run_cell(self, cell: Cell) -> list[Row]:
        """One row: what was selected, how long it took, what it took."""
        train, validation, _ = parts_of(cell, self.config.protocol, self.config.max_rows)
        begin = time.perf_counter()
        chosen = selected_copula(train, validation)
        seconds = time.perf_counter() - begin
        tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            selected_copula(train, validation)
            peak = tracemalloc.get_traced_memory()[1] - before
        finally:
            tracemalloc.stop()
        size = {"n_train": len(train), "n_validation": len(validation), "n_features": train.X.shape[1]}
        return [{**size, "selected": repr(chosen), "seconds": seconds, "peak_mib": peak / 2**20}]

    def summarise(self, rows: list[Row]) -> dict[str, list[Row]]:
        """Means over draws beside the paper's."""
        table = []
        for (dataset,), own in grouped(rows, "dataset").items():
            seconds, mib = (float(np.mean([row[name] for row in own])) for name in ("seconds", "peak_mib"))
            minutes, tensors = _PAPER[dataset]
            sizes = {name: own[0][name] for name in ("n_train", "n_features")}
            paper = {
                "paper_minutes": minutes,
                "paper_gpu_mib": tensors,
                "times_as_fast": 60 * minutes / seconds,
            }
            table.append({"dataset": dataset, **sizes, "seconds": seconds, "peak_mib": mib, **paper})
        return {self.name: table}

    def plot(self, rows: list[Row]) -> dict[str, Figure]:
        """Seconds by data set, ours and the paper's, on a logarithmic axis."""
        from matplotlib.figure import Figure

        table = self.summarise(rows)[self.name]
        figure = Figure(figsize=(6.4, 0.5 * len(table) + 1.4), layout="constrained")
        ax = figure.subplots()
        place = np.arange(len(table))[::-1]
        ours, paper = [r["seconds"] for r in table], [60 * r["paper_minutes"] for r in table]
        ax.hlines(place, ours, paper, color="0.75", zorder=1)
        ax.scatter(ours, place, label="cocensor, one core", zorder=2)
        ax.scatter(paper, place, marker="s", label="paper", zorder=2)
        ax.set(xscale="log", xlabel="seconds", yticks=place, yticklabels=[r["dataset"] for r in table])
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, 1.2), ncols=2)
        return {self.name: figure}
