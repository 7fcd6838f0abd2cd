"""The paper's semi-synthetic experiments: real covariates, drawn times, five learners, every adjustment."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Self

import numpy as np

import cocensor as cc
from cocensor._validation import FloatArray, check_choice
from cocensor.adjustments.base import Adjustment, always_event_free
from cocensor.adjustments.status import EVENT, EVENT_FREE, Group, Imputed, Rows, Status, TimeGrid
from cocensor.datasets import (
    Dataset,
    UnseenLevelWarning,
    load_churn,
    load_employee,
    load_flchain,
    load_gbsg,
    load_metabric,
    load_support,
    load_whas,
    subsample,
)
from cocensor.estimators.margin import given_dropout, given_end
from cocensor.experiments.base import Cell, Config, Experiment, Row
from cocensor.learners import learner, learners
from cocensor.outcomes import Survival
from cocensor.simulate import SemiSynthetic, SemiSyntheticSample

DATASETS = ("whas", "gbsg", "metabric", "churn", "flchain", "support", "employee")
STRATEGIES = ("original", "top_5", "top_10", "random_25")
_FAMILIES = ("clayton", "frank")
_N_TIMES = {"matched": 50, "published": 10}
_AT_RISK = 0.05


@dataclass(frozen=True)
class SemiSyntheticConfig(Config):
    """Which data sets, feature strategies and learners; data with more than ``max_rows`` subjects are thinned out."""

    datasets: tuple[str, ...] = DATASETS
    strategies: tuple[str, ...] = STRATEGIES
    learners: tuple[str, ...] = ("coxph", "gbsa", "rsf", "deepsurv", "mtlr")
    max_rows: int = 10_000

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, choices in (
            ("datasets", DATASETS),
            ("strategies", STRATEGIES),
            ("learners", tuple(learners())),
        ):
            for value in getattr(self, name):
                check_choice(value, name, choices)


class SemiSyntheticExperiment(Experiment):
    """Omitted features as the source of dependence, as in the paper.

    A cell is one draw and split of one data set under one strategy: models and copulas are fitted once and shared by
    all adjustments. Under the published protocol one draw (seed 0) serves all splits, with the published data sets.
    """

    name = "semi-synthetic"
    about = "error and ranking tables on real covariates, features omitted (tables 2 and 3)"
    config: SemiSyntheticConfig

    @classmethod
    def default_config(cls) -> SemiSyntheticConfig:
        """All seven data sets that can be had."""
        return SemiSyntheticConfig()

    @classmethod
    def quick(cls, config: Config) -> Self:
        """One seed of the smallest data set, two strategies, two learners."""
        assert isinstance(config, SemiSyntheticConfig)
        small: dict[str, Any] = {
            "seeds": config.seeds[:1],
            "datasets": config.datasets[:1],
            "max_rows": 1_000,
        }
        small |= {"strategies": config.strategies[:2], "learners": config.learners[:2]}
        return cls(replace(config, **small))

    def cells(self) -> list[Cell]:
        """Data set × strategy × seed."""
        return [
            {"dataset": dataset, "strategy": strategy, "copula": "omitted", "tau": None, "seed": seed}
            for dataset in self.config.datasets
            for strategy in self.config.strategies
            for seed in self.config.seeds
        ]

    def run_cell(self, cell: Cell) -> list[Row]:
        """One row per learner and adjustment."""
        published = self.config.protocol == "published"
        train, validation, test = self._parts(cell)
        design = test.design
        known = None if design.dependence == "omitted" else design.dependence
        horizon = float(cc.time_grid(train.y, n=2, horizon={"at_risk": _AT_RISK})[-1])
        adjustments, chosen = _adjustments(train, validation, test, known)
        rows = []
        for name in self.config.learners:
            curves = _fitted(name, train, validation, published).predict(test.X)
            oracle_end = float(test.event_time.max()) if published else horizon
            end = test.y.t_max if published else horizon
            oracle = self._score(cc.Oracle(test.event_time), train, test, curves, oracle_end)
            for label, adjustment in adjustments.items():
                estimate, note = None, ""
                try:
                    estimate = self._score(adjustment, train, test, curves, end)
                except ValueError as error:
                    note = str(error)
                rows.append(
                    {
                        "learner": name,
                        "adjustment": label,
                        "selected": chosen,
                        "censored": test.censoring_rate,
                        "horizon": end,
                        "oracle": oracle,
                        "estimate": estimate,
                        "note": note,
                    }
                )
        return rows

    def _parts(self, cell: Cell) -> tuple[SemiSyntheticSample, ...]:
        """Training, validation and test part of a cell."""
        published = self.config.protocol == "published"
        dataset = _load(cell["dataset"], published)
        omitted = cell["copula"] == "omitted"
        dependence: Any = "omitted" if omitted else cc.copula(cell["copula"], tau=cell["tau"])
        if published:
            design = SemiSynthetic.published(dataset, features=cell["strategy"], dependence=dependence)
        else:
            design = SemiSynthetic(
                dataset, features=cell["strategy"], dependence=dependence, tail="administrative"
            )
        sample = design.draw(0 if published else cell["seed"])
        sample = sample[subsample(sample.y, self.config.max_rows, seed=cell["seed"])]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnseenLevelWarning)
            return sample.parts(cell["seed"])

    def _score(
        self,
        adjustment: Adjustment,
        train: SemiSyntheticSample,
        test: SemiSyntheticSample,
        curves: cc.SurvivalCurves,
        end: float,
    ) -> float:
        times = np.linspace(0.0, end, _N_TIMES[self.config.protocol])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cc.HorizonWarning)
            warnings.simplefilter("ignore", cc.ConvergenceWarning)
            return float(
                cc.integrated_brier_score(
                    train.y, test.y, curves, times, adjustment=adjustment, x_train=train.X, x_test=test.X
                )
            )

    def summarise(self, rows: list[Row]) -> dict[str, list[Row]]:
        """Mean |error| by data set and adjustment, and how often an adjustment finds two of the oracle's top three."""
        return {f"{self.name}-error": _error_table(rows), f"{self.name}-ranking": _ranking_table(rows)}


class SemiSyntheticCopula(SemiSyntheticExperiment):
    """A known dependence injected on top of all features: what the paper does not have."""

    name = "semi-synthetic-copula"
    about = "the same with a known copula injected, adjustments at the true one (not in the paper)"

    @classmethod
    def default_config(cls) -> SemiSyntheticConfig:
        """A reduced grid: three seeds, all features, Cox and forest."""
        return SemiSyntheticConfig(seeds=(0, 1, 2), strategies=("original",), learners=("coxph", "rsf"))

    def cells(self) -> list[Cell]:
        """τ = 0 once, then each family at three τ."""
        laws = [("independence", 0.0)]
        laws += [
            (name, tau) for name in ("clayton", "frank", "gumbel", "gaussian") for tau in (0.25, 0.5, 0.75)
        ]
        return [
            {"dataset": dataset, "strategy": strategy, "copula": copula, "tau": tau, "seed": seed}
            for dataset in self.config.datasets
            for strategy in self.config.strategies
            for copula, tau in laws
            for seed in self.config.seeds
        ]


class TrueLaw(Adjustment):
    """The floor: imputation by the law that the times were drawn from, given all features.

    What it is off by is chance in the unseen event times alone.
    """

    assumption = "The law of the simulation is known."

    def __init__(self, sample: SemiSyntheticSample) -> None:
        self.sample = sample

    def _fit(self, y: Survival, x: Any) -> None:
        """There is nothing to learn."""

    def _status(self, y: Survival, grid: TimeGrid, x: Any, estimate: Any) -> Status:
        sample, n, cut = self.sample, len(y), grid.cut(y.time)
        ended = np.zeros(n, dtype=bool) if y.administrative is None else y.administrative
        asked = ~y.event & (y.time < grid.last)
        s_c = sample.own_survival("event", y.time)
        below = sample.own_survival("censoring", y.time)
        above = sample.own_survival("censoring", np.nextafter(y.time, 0.0))
        s_t = sample.event_survival(grid.sorted)

        def dropped(rows: Rows, columns: slice) -> FloatArray:
            c = s_c[rows][:, None]
            s = np.minimum(s_t[rows, columns], c)
            return given_dropout(sample.copula, s, c, above[rows][:, None], below[rows][:, None])

        def outlasted(rows: Rows, columns: slice) -> FloatArray:
            c = s_c[rows][:, None]
            return given_end(sample.copula, np.minimum(s_t[rows, columns], c), c, below[rows][:, None])

        step = above > below
        groups = [
            Group.of(np.flatnonzero(y.event), cut, EVENT_FREE, EVENT),
            always_event_free(np.flatnonzero(~y.event & ~asked), y, grid),
        ]
        kinds = (
            (asked & ~ended & step, dropped),
            (asked & ~ended & ~step, dropped),
            (asked & ended, outlasted),
        )
        groups += [Group.of(np.flatnonzero(mask), cut, EVENT_FREE, Imputed(q)) for mask, q in kinds]
        return Status(grid, n, tuple(groups))


def _fitted(name: str, train: SemiSyntheticSample, validation: SemiSyntheticSample, published: bool) -> Any:
    model = learner(name, preset="published" if published else "text")
    return model.fit(train.X, train.y, validation.X, validation.y)


def _adjustments(
    train: SemiSyntheticSample,
    validation: SemiSyntheticSample,
    test: SemiSyntheticSample,
    known: cc.Copula | None,
) -> tuple[dict[str, Adjustment], str]:
    """Those of the paper and ours, at the true copula where it is known and at the selected one else."""
    chosen, label = (
        (_selected(train, validation) if known is None else known),
        "true" if known else "selected",
    )
    floored: dict[str, Any] = {"beyond": "last", "min_probability": 1e-3}
    found: dict[str, Adjustment] = {
        "IPCW (KM)": cc.IPCW(**floored),
        "IPCW (Cox)": cc.IPCW("cox", **floored),
        "Dep (KM)": cc.MarginTime(beyond="last"),
    }
    if isinstance(chosen, cc.ArchimedeanCopula):
        found |= {
            f"Dep (CG), {label}": cc.MarginTime(chosen, beyond="last"),
            f"IBS-Dep, {label}": cc.MarginTime(chosen, weighting="uncertainty", beyond="last"),
            f"CG-Q, {label}": cc.ConditionalStatus(chosen, given="event_free", beyond="last"),
            f"given the censoring, {label}": cc.ConditionalStatus(chosen, beyond="last"),
            f"dependent IPCW, {label}": cc.DependentIPCW(chosen, beyond="last"),
        }
    at: dict[str, cc.Copula] = {label: chosen, "independence": cc.Independence()}
    for where, copula in at.items():
        for margins in ("weibull", "spline"):
            for given in ("covariates", "prediction"):
                found[f"given {given}, {margins}, {where}"] = cc.JointConditional(given, copula, margins)
    found = {name: _once_fitted(each, train) for name, each in found.items()}
    return found | {"floor": TrueLaw(test).fit(train.y)}, repr(chosen)


def _once_fitted(adjustment: Adjustment, train: SemiSyntheticSample) -> Adjustment:
    """Fitted here, for all learners; one that cannot be says so when it is asked."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.ConvergenceWarning)
        try:
            return adjustment.fit(train.y, train.X)
        except ValueError:
            return adjustment


def _selected(train: SemiSyntheticSample, validation: SemiSyntheticSample) -> cc.Copula:
    """The copula that the paper's procedure selects; where no joint model can be fitted, the cell fails and says so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.ConvergenceWarning)
        choice = cc.select_copula(train.X, train.y, validation.X, validation.y, _FAMILIES, penalised=True)
    return choice.copula


@cache
def _load(name: str, published: bool) -> Dataset:
    loaders: dict[str, Callable[[], Dataset]] = {
        "whas": load_whas,
        "gbsg": load_gbsg,
        "metabric": load_metabric,
        "churn": load_churn,
        "flchain": lambda: load_flchain(chapter=published),
        "support": load_support,
        "employee": lambda: load_employee(duplicates=published),
    }
    return loaders[name]()


def _error_table(rows: list[Row]) -> list[Row]:
    """Mean |error| in units of IPCW's beside it."""
    groups: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        if row["estimate"] is not None:
            error = abs(row["estimate"] - row["oracle"])
            for dataset in (row["dataset"], "all"):
                groups.setdefault((dataset, row["adjustment"]), []).append(error)
    mean = {key: float(np.mean(errors)) for key, errors in groups.items()}
    return [
        {
            "dataset": dataset,
            "adjustment": adjustment,
            "abs_error": mean[dataset, adjustment],
            "abs_error_sd": float(np.std(errors, ddof=1)) if len(errors) > 1 else float("nan"),
            "of_ipcw": mean[dataset, adjustment] / mean[dataset, "IPCW (KM)"],
            "n": len(errors),
        }
        for (dataset, adjustment), errors in groups.items()
    ]


def _ranking_table(rows: list[Row]) -> list[Row]:
    """The share of cells in which at least two of the oracle's best three learners are among the estimate's."""
    cells: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        if row["estimate"] is not None:
            key = row["dataset"], row["strategy"], row["copula"], row["tau"], row["seed"], row["adjustment"]
            cells.setdefault(key, []).append(row)
    found: dict[tuple[str, str], list[bool]] = {}
    for (dataset, *_, adjustment), mine in cells.items():
        best = [
            {r["learner"] for r in sorted(mine, key=lambda r: r[by])[:3]} for by in ("oracle", "estimate")
        ]
        found.setdefault((dataset, adjustment), []).append(len(best[0] & best[1]) >= min(2, len(mine)))
    return [
        {"dataset": dataset, "adjustment": adjustment, "top_3_kept": float(np.mean(kept)), "n": len(kept)}
        for (dataset, adjustment), kept in found.items()
    ]
