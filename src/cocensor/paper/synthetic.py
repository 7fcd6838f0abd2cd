"""The paper's synthetic experiments: how far each score is from the truth as the censoring changes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

import cocensor as cc
from cocensor._checks import FloatArray
from cocensor.paper.adjustments import imputation, without_covariates
from cocensor.paper.base import Cell, Config, Experiment, Row, errors_of, grouped, panels
from cocensor.paper.scoring import Probabilities, Scoring, published_curves
from cocensor.simulate import SyntheticDesign, SyntheticSample

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TRAIN_SHARE = 0.7
_SHARES = (0.05, 0.01, 0.0)
_TAUS = tuple(round(0.1 * k, 1) for k in range(9))
_WRONG_TAUS = (0.0, 0.25, 0.5, 0.8)
_ASSUMED_TAUS = (0.0, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
# By which the authors multiply the scale of the dropouts.
_SCALE_FACTORS = {
    "clayton": tuple(k / 19.5 for k in (30, 24, 21, 18.7, 17.1, 15.5, 13.9, 12.3, 10.3, 7.9)),
    "frank": tuple(k / 19.5 for k in (30, 24, 21, 18.7, 16.7, 15.1, 13.9, 12.3, 10.3, 7.9)),
}


@dataclass(frozen=True)
class SyntheticConfig(Config):
    """Configuration of the synthetic experiments.

    The published protocol has the published margins (:meth:`SyntheticDesign.preset`).

    Parameters
    ----------
    protocol, seeds
        As in :class:`Config`.
    n : int
        The number of subjects.

    Examples
    --------
    >>> from cocensor.paper import SyntheticConfig
    >>> SyntheticConfig("published", seeds=(0,), n=1000).preset
    'published'
    """

    n: int = 10_000

    @property
    def preset(self) -> Literal["text", "published"]:
        """Which margins."""
        return "published" if self.protocol == "published" else "text"


class SyntheticExperiment(Experiment):
    """Scores of a Cox model under every adjustment, less the oracle's; subclasses say under which censoring.

    The event times of a seed are the same in all its cells, and so is the evaluated model, which is fitted to the
    uncensored training times; ``refit`` fits it to what is observed instead.
    """

    config: SyntheticConfig
    refit: bool = False
    #: What makes a panel of the figure, and what changes along its axis; tables have a row for each pair.
    panel: ClassVar[str] = "copula"
    along: ClassVar[str]
    label: ClassVar[str]
    n_columns: ClassVar[int] = 3

    @classmethod
    def default_config(cls) -> SyntheticConfig:
        """Ten seeds of 10,000 subjects with the paper's margins."""
        return SyntheticConfig()

    @classmethod
    def quick(cls, config: Config) -> Self:
        """One seed of 2,000 subjects."""
        assert isinstance(config, SyntheticConfig)
        return cls(replace(config, seeds=config.seeds[:1], n=min(config.n, 2_000)))

    def run_cell(self, cell: Cell) -> list[Row]:
        """One row per adjustment."""
        truth = cc.copula(cell["copula"], tau=cell["tau"])
        assumed = cc.copula(cell["assumed_copula"], tau=cell["assumed_tau"])
        data = self._draw(cell, truth)
        split = round(_TRAIN_SHARE * self.config.n)
        train, test = data[:split], data[split:]
        everyone = np.ones(len(train), dtype=bool)
        seen = train.y if self.refit else cc.Survival(train.event_time, everyone)
        curves = self._predicted(cc.CoxPH().fit(train.X, seen), seen, train, test)
        same = {"dataset": "synthetic", "strategy": "original", "learner": "coxph"}
        rate = {"realised_rate": data.censoring_rate, "rate_bin": _middle_of_bin(data.censoring_rate)}
        scoring = Scoring(self.config.protocol, train, test, self._end(cell, train, test))
        return scoring.rows(curves, self._adjustments(assumed), **same, **rate)

    def _draw(self, cell: Cell, truth: cc.copulas.Copula) -> SyntheticSample:
        return self._design(cell, truth).draw(cell["seed"])

    def _design(self, cell: Cell, truth: cc.copulas.Copula) -> SyntheticDesign:
        return SyntheticDesign.preset(
            self.config.preset, n=self.config.n, copula=truth, censoring_rate=cell["censoring_rate"]
        )

    def _adjustments(self, assumed: cc.copulas.Copula) -> dict[str, cc.adjustments.Adjustment]:
        return without_covariates(assumed, self.config.protocol) | {
            "given covariates, Weibull": imputation("covariates", assumed, "weibull"),
            "given covariates, spline": imputation("covariates", assumed, "spline"),
            "given the prediction": imputation("prediction", assumed, "spline"),
        }

    def _end(self, cell: Cell, train: SyntheticSample, test: SyntheticSample) -> float | None:
        """An end of the interval that the cell asks for; else that of the protocol."""
        return None

    def _predicted(
        self, model: cc.CoxPH, seen: cc.Survival, train: SyntheticSample, test: SyntheticSample
    ) -> cc.Predictions:
        """The evaluated curves; the published ones are cut at the 90th percentile of the true test times.

        They are read off straight lines between the times that were ``seen``.
        """
        if self.config.protocol == "matched":
            return model.predict_survival_function(test.X)

        def between(grid: FloatArray) -> Probabilities:
            times = np.unique(seen.time)
            right = np.clip(np.searchsorted(times, grid), 1, times.size - 1)
            ends = np.unique(times[[right - 1, right]])
            return cc.Predictions(ends, model.survival(ends, test.X), tail="last")(grid)

        return published_curves(between, train.event_time, float(np.quantile(test.event_time, 0.9)))

    def summarise(self, rows: list[Row]) -> dict[str, list[Row]]:
        """Mean |error| and bias by censoring and adjustment, with standard errors over seeds."""
        names = (self.panel, self.along, "adjustment")
        table = []
        for group, own in sorted(grouped(rows, *names).items(), key=lambda item: item[0][1]):
            errors = errors_of(own)
            finite = errors[np.isfinite(errors)]
            table.append(
                dict(zip(names, group, strict=True))
                | {
                    "abs_error": float(np.mean(np.abs(finite))) if finite.size else float("nan"),
                    "abs_error_se": _standard_error(np.abs(finite)),
                    "bias": float(np.mean(finite)) if finite.size else float("nan"),
                    "answered": f"{finite.size} of {errors.size}",
                }
            )
        return {self.name: table}

    def plot(self, rows: list[Row]) -> dict[str, Figure]:
        """Mean |error| along what changes, a panel for each copula and a line for each adjustment."""
        from cocensor.views.plots.style import line_styles, markers

        table = self.summarise(rows)[self.name]
        names = list(dict.fromkeys(row["adjustment"] for row in table))
        by_panel = grouped(table, self.panel)
        figure, axes = panels(len(by_panel), self.n_columns, 4.4, 3.9, beside=2.4, sharey=True)
        for ax, ((panel,), own) in zip(axes.flat, by_panel.items(), strict=False):
            for name, style, marker in zip(names, line_styles(), markers(), strict=False):
                line = [row for row in own if row["adjustment"] == name]
                x = [row[self.along] for row in line]
                y, se = (np.array([row[k] for row in line]) for k in ("abs_error", "abs_error_se"))
                ax.plot(x, y, marker=marker, markersize=4, label=name, **style)
                ax.fill_between(x, y - se, y + se, color=style["color"], alpha=0.15, linewidth=0)
            ax.set(title=str(panel), xlabel=self.label, ylim=(0.0, None))
            ax.spines[["top", "right"]].set_visible(False)
        for ax in axes[:, 0]:
            ax.set_ylabel("mean |error| of the IBS")
        axes[0, -1].legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
        return {self.name: figure}

    def _cell(self, seed: int, copula: str, tau: float, **changes: Any) -> Cell:
        plain = {"assumed_copula": copula, "assumed_tau": tau, "censoring_rate": 0.5}
        return {"copula": copula, "tau": tau, **(plain | changes), "seed": seed}


class Dependence(SyntheticExperiment):
    """Error against Kendall's τ at half of the subjects censored."""

    name = "dependence"
    about = "error of the scores against Kendall's τ, 50 % censored (figure 2a)"
    along, label = "tau", "Kendall's τ"

    def cells(self) -> list[Cell]:
        """Two families, nine τ, all seeds."""
        return [
            self._cell(seed, copula, tau)
            for copula in ("clayton", "frank")
            for tau in _TAUS
            for seed in self.config.seeds
        ]


class Censoring(SyntheticExperiment):
    """Error against the share of censored subjects at τ = 0.5.

    Matched: each draw is calibrated to the middle of a bin. Published: ten factors of the dropouts' scale, the same for
    all seeds; the share that results differs from seed to seed, and draws are put into bins by it.
    """

    name = "censoring"
    about = "error of the scores against the censoring rate, τ = 0.5 (figure 2b)"
    along, label = "rate_bin", "censoring rate"
    refit = True

    def cells(self) -> list[Cell]:
        """Two families, ten bins or factors, all seeds."""
        return [
            self._cell(seed, copula, 0.5, **changes)
            for copula in ("clayton", "frank")
            for changes in self._levels(copula)
            for seed in self.config.seeds
        ]

    def _levels(self, copula: str) -> list[dict[str, Any]]:
        if self.config.protocol == "published":
            return [{"censoring_rate": None, "scale_factor": factor} for factor in _SCALE_FACTORS[copula]]
        return [{"censoring_rate": round(0.05 + 0.1 * k, 2)} for k in range(10)]

    def _design(self, cell: Cell, truth: cc.copulas.Copula) -> SyntheticDesign:
        design = super()._design(cell, truth)
        shape, scale = design.dropout
        return replace(design, dropout=(shape, scale * cell.get("scale_factor", 1.0)))


class Misspecification(SyntheticExperiment):
    """Error where the assumed copula is not the one of the data.

    Of the paper: the wrong family at the right τ, a wrong τ where the truth is 0.5, and Gaussian data. Beyond it, a
    wrong τ on a finer grid, and where the truth is another.
    """

    name = "misspecification"
    about = "wrong family, wrong τ, and Gaussian data (figure 3)"
    along, label, panel, n_columns = "along", "Kendall's τ (assumed, for a wrong τ)", "setting", 2

    def cells(self) -> list[Cell]:
        """Row by row of the figure, Clayton on the left and Frank on the right."""
        other = {"clayton": "frank", "frank": "clayton"}
        settings = []
        for family in other:
            name = f"{family} data, {other[family]} assumed"
            settings += [(name, tau, family, tau, other[family], tau) for tau in _WRONG_TAUS]
        for truth in _WRONG_TAUS:
            for family in other:
                name = f"{family} data at τ = {truth:g}"
                settings += [(name, tau, family, truth, family, tau) for tau in _ASSUMED_TAUS]
        for family in other:
            name = f"gaussian data, {family} assumed"
            settings += [(name, tau, "gaussian", tau, family, tau) for tau in _WRONG_TAUS]
        return [
            self._cell(
                seed, copula, tau, assumed_copula=family, assumed_tau=assumed, setting=name, along=along
            )
            for name, along, copula, tau, family, assumed in settings
            for seed in self.config.seeds
        ]


class ConditionalCounterpart(Dependence):
    """IBS-Dep against its conditional counterpart CG-Q: the cells of ``dependence``, of which two lines are shown."""

    name = "cg-q"
    about = "IBS-Dep against CG-Q under the right copula (figure 4)"

    def summarise(self, rows: list[Row]) -> dict[str, list[Row]]:
        """Return the table of ``dependence`` for IPCW, IBS-Dep and CG-Q."""
        table = super().summarise(rows)[self.name]
        return {self.name: [row for row in table if row["adjustment"] in ("IPCW (KM)", "IBS-Dep", "CG-Q")]}


class IntervalEnd(Dependence):
    """The settings of either protocol on one interval for all, as its end moves: what is the interval, what the rest?

    The end is the largest time with a share of the training sample at risk, or the last time of the test sample.
    """

    name = "horizon"
    about = "error on one interval for all, as its end moves (not in the paper)"
    along, label, panel, n_columns = "at_risk", "share at risk at the end", "setting", 2

    def cells(self) -> list[Cell]:
        """Three ends, two families, four τ, all seeds."""
        return [
            self._cell(seed, copula, tau, at_risk=share, setting=f"{copula}, τ = {tau:g}")
            for copula in ("clayton", "frank")
            for tau in _WRONG_TAUS
            for share in _SHARES
            for seed in self.config.seeds
        ]

    def _end(self, cell: Cell, train: SyntheticSample, test: SyntheticSample) -> float:
        if not cell["at_risk"]:
            return test.y.t_max
        return float(cc.time_grid(train.y, n=2, horizon={"at_risk": cell["at_risk"]})[-1])


def _middle_of_bin(rate: float) -> float:
    return round(min(int(10 * rate), 9) / 10 + 0.05, 2)


def _standard_error(values: FloatArray) -> float:
    return float(np.std(values, ddof=1) / np.sqrt(values.size)) if values.size > 1 else float("nan")
