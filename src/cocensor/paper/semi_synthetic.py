"""The paper's semi-synthetic experiments: real covariates, drawn times, five learners, every adjustment."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

import cocensor as cc
from cocensor._checks import check_choice
from cocensor.adjustments.imputation import Given
from cocensor.adjustments.models.design import Recipe, imputation_design
from cocensor.data import Sample
from cocensor.joint.margins import MARGIN_FORMS
from cocensor.paper import datasets
from cocensor.paper.adjustments import fitted_once, floor, imputation, selected_copula, without_covariates
from cocensor.paper.base import Cell, Config, Experiment, Protocol, Row, errors_of, grouped, panels
from cocensor.paper.datasets import Dataset, UnseenLevelWarning, subsample
from cocensor.paper.learners import learner, learners
from cocensor.paper.real_covariates import SemiSynthetic, SemiSyntheticSample
from cocensor.paper.scoring import Scoring, published_curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DATASETS = ("whas", "gbsg", "metabric", "churn", "flchain", "support", "employee")
STRATEGIES = ("original", "top_5", "top_10", "random_25")
_GIVEN: tuple[Given, ...] = ("covariates", "prediction")


@dataclass(frozen=True)
class SemiSyntheticConfig(Config):
    """Configuration of the semi-synthetic experiments.

    Parameters
    ----------
    protocol, seeds
        As in :class:`Config`.
    datasets, strategies, learners : tuple of str
        Which data sets, feature strategies and learners.
    max_rows : int
        Data with more subjects are thinned out.

    Examples
    --------
    >>> from cocensor.paper import SemiSyntheticConfig
    >>> SemiSyntheticConfig(seeds=(0,), datasets=("whas",)).learners
    ('coxph', 'gbsa', 'rsf', 'deepsurv', 'mtlr')
    """

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
    #: What else than the data set and the seed changes from cell to cell.
    detail: ClassVar[tuple[str, ...]] = ("strategy",)
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
        train, validation, test = parts_of(cell, self.config.protocol, self.config.max_rows)
        design = test.design
        true_copula = None if design.dependence == "omitted" else design.dependence
        chosen = selected_copula(train, validation) if true_copula is None else true_copula
        models = {name: self._predicted(name, train, validation, test) for name in self.config.learners}
        adjustments = {
            name: fitted_once(each, train, test, models)
            for name, each in self._adjustments(chosen, "selected" if true_copula is None else "true").items()
        }
        adjustments["floor"] = floor(test)
        scoring = Scoring(self.config.protocol, train, test)
        same = {"selected": repr(chosen), "censored": test.censoring_rate}
        rows = []
        for name, curves in models.items():
            informed = {} if true_copula is None else self._informed(true_copula, test, curves)
            rows += scoring.rows(curves, adjustments | informed, learner=name, **same)
        return rows

    def _predicted(
        self,
        name: str,
        train: SemiSyntheticSample,
        validation: SemiSyntheticSample,
        test: SemiSyntheticSample,
    ) -> cc.Predictions:
        """The curves of a learner; the published ones at quantiles of the training events."""
        if self.config.protocol == "matched":
            return learner(name).fit(train.X, train.y, validation.X, validation.y).predict(test.X)
        model = learner(name, preset="published").fit(train.X, train.y, validation.X, validation.y)
        return published_curves(model.predict(test.X), train.y.time[train.y.event])

    def _adjustments(self, copula: cc.copulas.Copula, where: str) -> dict[str, cc.adjustments.Adjustment]:
        """Return the adjustments of the paper and ours; ``where`` says in their names where the copula is from."""
        adjustments = without_covariates(copula, self.config.protocol, f", {where}")
        at: dict[str, cc.copulas.Copula] = {where: copula, "independence": cc.Independence()}
        for label, assumed in at.items():
            for margins in MARGIN_FORMS:
                for given in _GIVEN:
                    adjustments[f"given {given}, {margins}, {label}"] = imputation(given, assumed, margins)
        return adjustments

    def _informed(
        self, true_copula: cc.copulas.Copula, test: SemiSyntheticSample, curves: cc.Predictions
    ) -> dict[str, cc.adjustments.Adjustment]:
        """Adjustments for one learner that know more of the truth than the copula."""
        return _at_tau_given_the_score(true_copula, test, curves)

    def summarise(self, rows: list[Row]) -> dict[str, list[Row]]:
        """Return mean |error| by data set; mean and SD by data set and strategy (or copula); and the ranking table.

        The last says how often an adjustment finds two of the oracle's top three.
        """
        return {
            f"{self.name}-error": _error_table(rows, ("dataset",)),
            f"{self.name}-error-sd": _error_table(rows, ("dataset", *self.detail)),
            f"{self.name}-ranking": _ranking_table(rows),
        }

    def plot(self, rows: list[Row]) -> dict[str, Figure]:
        """Error by adjustment relative to IPCW's; and the drawn outcomes of each data set, as in the appendix."""
        return {
            f"{self.name}-error": _error_figure(_error_table(rows, ("dataset",))),
            f"{self.name}-outcomes": self._outcomes_figure(rows),
        }

    def _outcomes_figure(self, rows: list[Row]) -> Figure:
        """One draw of each data set."""
        first = {row["dataset"]: row for row in reversed(rows)}
        names = [name for name in self.config.datasets if name in first]
        figure, axes = panels(len(names), 4, 4.2, 3.6)
        for ax, name in zip(axes.flat, names, strict=False):
            published = self.config.protocol == "published"
            sample = _design(first[name], published).draw(0 if published else first[name]["seed"])
            _draw_outcomes(ax, sample.y)
            ax.set_title(f"{name}, {100 * sample.censoring_rate:.0f} % censored", loc="left")
        return figure


class SemiSyntheticCopula(SemiSyntheticExperiment):
    """A known dependence injected on top of all features: what the paper does not have."""

    name = "semi-synthetic-copula"
    about = "the same with a known copula injected, adjustments at the true one (not in the paper)"
    detail = ("copula", "tau")

    @classmethod
    def default_config(cls) -> SemiSyntheticConfig:
        """A reduced grid: three seeds, all features, Cox and forest."""
        return SemiSyntheticConfig(seeds=(0, 1, 2), strategies=("original",), learners=("coxph", "rsf"))

    def cells(self) -> list[Cell]:
        """τ = 0 once, then each family at three τ."""
        copulas = [("independence", 0.0)]
        copulas += [
            (name, tau) for name in ("clayton", "frank", "gumbel", "gaussian") for tau in (0.25, 0.5, 0.75)
        ]
        return [
            {"dataset": dataset, "strategy": strategy, "copula": copula, "tau": tau, "seed": seed}
            for dataset in self.config.datasets
            for strategy in self.config.strategies
            for copula, tau in copulas
            for seed in self.config.seeds
        ]


def _at_tau_given_the_score(
    copula: cc.copulas.Copula, test: SemiSyntheticSample, curves: cc.Predictions
) -> dict[str, cc.adjustments.Adjustment]:
    """Given the prediction, at the τ that event and dropout of the test part have given the prediction's score.

    Given less than all features, they depend on each other otherwise than given all.
    """
    design, _ = imputation_design(Sample(test.y), {"": curves}, Recipe())
    reached = test.tau_given(design.matrix[:, 0]) if design.n_columns else 0.0
    low, high = type(copula).tau_range
    of_score = type(copula).from_tau(min(max(reached, low), high))
    return {
        f"given prediction, {margins}, true given the score": imputation("prediction", of_score, margins)
        for margins in MARGIN_FORMS
    }


def parts_of(cell: Cell, protocol: Protocol, max_rows: int) -> tuple[SemiSyntheticSample, ...]:
    """Training, validation and test part of a cell: one draw and one split."""
    published = protocol == "published"
    sample = _design(cell, published).draw(0 if published else cell["seed"])
    sample = sample[subsample(sample.y, max_rows, seed=cell["seed"])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenLevelWarning)
        parts = sample.parts(cell["seed"])
    # A level of the whole data that the training part happens to lack carries no information.
    varies = np.ptp(parts[0].X, axis=0) > 0
    return tuple(replace(part, X=part.X[:, varies]) for part in parts)


def _design(cell: Cell, published: bool) -> SemiSynthetic:
    dataset = _load(cell["dataset"], published)
    omitted = cell["copula"] == "omitted"
    dependence: Any = "omitted" if omitted else cc.copula(cell["copula"], tau=cell["tau"])
    chosen: dict[str, Any] = {"features": cell["strategy"], "dependence": dependence}
    if published:
        return SemiSynthetic.published(dataset, **chosen)
    return SemiSynthetic(dataset, tail="administrative", **chosen)


@cache
def _load(name: str, published: bool) -> Dataset:
    options = {"flchain": {"chapter": published}, "employee": {"duplicates": published}}
    dataset: Dataset = getattr(datasets, f"load_{name}")(**options.get(name, {}))
    return dataset


def _error_table(rows: list[Row], by: tuple[str, ...]) -> list[Row]:
    """Mean and SD of |error| by adjustment and ``by``, also in units of IPCW's, and how many gave no answer."""
    errors_by = {key: np.abs(errors_of(own)) for key, own in grouped(rows, *by, "adjustment").items()}
    finite = {key: errors[np.isfinite(errors)] for key, errors in errors_by.items()}
    mean = {key: float(np.mean(errors)) if errors.size else np.nan for key, errors in finite.items()}
    return [
        dict(zip((*by, "adjustment"), key, strict=True))
        | {
            "abs_error": mean[key],
            "abs_error_sd": float(np.std(errors, ddof=1)) if errors.size > 1 else np.nan,
            "of_ipcw": mean[key] / mean[*key[:-1], "IPCW (KM)"],
            "n": errors.size,
            "without_answer": errors_by[key].size - errors.size,
        }
        for key, errors in finite.items()
    ]


def _draw_outcomes(ax: Axes, y: cc.Survival, n_bins: int = 20) -> None:
    """A Kaplan–Meier curve over histograms of the times of events and censorings."""
    from cocensor.views.plots.style import line_styles

    curve, *bars = (style["color"] for style in islice(line_styles(), 3))
    below, bottom = ax.twinx(), np.zeros(n_bins)
    for label, mask, colour in zip(("events", "censored"), (y.event, ~y.event), bars, strict=True):
        counts, edges = np.histogram(y.time[mask], n_bins, (0.0, y.t_max))
        look = {"align": "edge", "color": colour, "alpha": 0.55, "label": label}
        below.bar(edges[:-1], counts, np.diff(edges), bottom=bottom, **look)
        bottom = bottom + counts
    below.set(ylabel="subjects", ylim=(0.0, 2.2 * bottom.max()))
    times = np.union1d([0.0, y.t_max], y.time)
    ax.step(times, cc.KaplanMeier().fit(y).predict(times), where="post", color=curve, label="Kaplan–Meier")
    ax.set(xlabel="time", ylabel="survival probability", xlim=(0.0, y.t_max), ylim=(0.0, 1.02))
    ax.set_zorder(below.get_zorder() + 1)  # the curve over the bars
    ax.patch.set_visible(False)
    for axes in (ax, below):
        axes.spines["top"].set_visible(False)
    handles = [*ax.get_legend_handles_labels()[0], *below.get_legend_handles_labels()[0]]
    ax.legend(handles=handles, frameon=False, fontsize="small", loc="upper right")


def _error_figure(table: list[Row]) -> Figure:
    """A point per data set and adjustment, of IPCW's error, and their mean."""
    from matplotlib.figure import Figure

    from cocensor.views.plots.style import line_styles, markers

    names = list(dict.fromkeys(row["adjustment"] for row in table))
    place = {name: len(names) - k for k, name in enumerate(names)}
    figure = Figure(figsize=(7.6, 0.3 * len(names) + 1.4), layout="constrained")
    ax = figure.subplots()
    by_dataset = grouped(table, "dataset").items()
    for ((dataset,), own), style, marker in zip(by_dataset, line_styles(), markers(), strict=False):
        y = [place[row["adjustment"]] for row in own]
        ax.scatter(
            [row["of_ipcw"] for row in own], y, s=22, marker=marker, color=style["color"], label=dataset
        )
    ax.axvline(1.0, color="0.6", linewidth=1, zorder=0)
    ax.set(xscale="log", xlabel="mean |error| of the IBS, in units of IPCW's")
    ax.set_yticks(list(place.values()), list(place))
    ax.grid(axis="y", color="0.92")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def _ranking_table(rows: list[Row]) -> list[Row]:
    """The share of cells in which at least two of the oracle's best three learners are among the estimate's."""
    answered = [row for row in rows if row["estimate"] is not None]
    cells = grouped(answered, "dataset", "strategy", "copula", "tau", "seed", "adjustment")
    top_3_kept: dict[tuple[str, str], list[bool]] = {}
    for (dataset, *_, adjustment), own in cells.items():
        best = [
            {row["learner"] for row in sorted(own, key=itemgetter(by))[:3]} for by in ("oracle", "estimate")
        ]
        top_3_kept.setdefault((dataset, adjustment), []).append(len(best[0] & best[1]) >= min(2, len(own)))
    return [
        {"dataset": dataset, "adjustment": adjustment, "top_3_kept": float(np.mean(kept)), "n": len(kept)}
        for (dataset, adjustment), kept in top_3_kept.items()
    ]
