"""The paper's synthetic experiments: how far each score is from the truth as the censoring changes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

import cocensor as cc
from cocensor._validation import FloatArray
from cocensor.experiments.base import Cell, Config, Experiment, Protocol, Row
from cocensor.simulate import SyntheticDesign, SyntheticSample

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TRAIN_SHARE = 0.7
_N_TIMES = {"matched": 50, "published": 10}
_N_CUT = 200
_AT_RISK = 0.05
_TAUS = tuple(round(0.1 * k, 1) for k in range(9))


@dataclass(frozen=True)
class SyntheticConfig(Config):
    """The number of subjects. The published protocol has the published margins (:meth:`SyntheticDesign.preset`)."""

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
    refit: ClassVar[bool] = False
    #: What changes from cell to cell, for the figure.
    along: ClassVar[str]
    label: ClassVar[str]
    panel: ClassVar[str] = "copula"

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
        design = SyntheticDesign.preset(
            self.config.preset, n=self.config.n, copula=truth, censoring_rate=cell["censoring_rate"]
        )
        data = design.draw(cell["seed"])
        split = round(_TRAIN_SHARE * self.config.n)
        train, test = data[:split], data[split:]
        everyone = np.ones(len(train), dtype=bool)
        seen = train.y if self.refit else cc.Survival(train.event_time, everyone)
        curves = self._predicted(cc.CoxPH().fit(train.X, seen), test)
        matched = _matched_horizon(train)
        oracle_end = matched if self.config.protocol == "matched" else float(test.event_time.max())
        end = matched if self.config.protocol == "matched" else test.y.t_max
        oracle = self._score(cc.Oracle(test.event_time), train, test, curves, oracle_end)
        rows = []
        for name, adjustment in _adjustments(assumed, self.config.protocol).items():
            estimate, note = None, ""
            try:
                estimate = self._score(adjustment, train, test, curves, end)
            except ValueError as error:
                note = str(error)
            rows.append(
                {
                    "realised_rate": data.censoring_rate,
                    "adjustment": name,
                    "horizon": end,
                    "oracle": oracle,
                    "estimate": estimate,
                    "note": note,
                }
            )
        return rows

    def _predicted(self, model: cc.CoxPH, test: SyntheticSample) -> cc.SurvivalCurves:
        """The evaluated curves; the published ones were cut at the 90th percentile of the true test times."""
        if self.config.protocol == "matched":
            return model.predict_survival_function(test.X)
        times = np.linspace(0.0, float(np.quantile(test.event_time, 0.9)), _N_CUT)
        return cc.SurvivalCurves(times, model.survival(times, test.X), interpolation="linear", tail="last")

    def _score(
        self,
        adjustment: cc.Adjustment,
        train: SyntheticSample,
        test: SyntheticSample,
        curves: cc.SurvivalCurves,
        end: float,
    ) -> float:
        times = np.linspace(0.0, end, _N_TIMES[self.config.protocol])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cc.HorizonWarning)
            score = cc.integrated_brier_score(
                train.y, test.y, curves, times, adjustment=adjustment, x_train=train.X, x_test=test.X
            )
        return float(score)

    def summarise(self, rows: list[Row]) -> dict[str, list[Row]]:
        """Mean |error| and bias by censoring and adjustment, with standard errors over seeds."""
        keys = [name for name in self.cells()[0] if name not in ("seed", "experiment")]
        groups: dict[tuple[Any, ...], list[float]] = {}
        for row in rows:
            error = np.nan if row["estimate"] is None else row["estimate"] - row["oracle"]
            groups.setdefault((*(row[k] for k in keys), row["adjustment"]), []).append(error)
        table = []
        for group, found in groups.items():
            errors = np.array(found)
            known = errors[np.isfinite(errors)]
            table.append(
                dict(zip((*keys, "adjustment"), group, strict=True))
                | {
                    "abs_error": float(np.mean(np.abs(known))) if known.size else float("nan"),
                    "abs_error_se": _standard_error(np.abs(known)),
                    "bias": float(np.mean(known)) if known.size else float("nan"),
                    "answered": f"{known.size} of {errors.size}",
                }
            )
        return {self.name: table}

    def plot(self, rows: list[Row]) -> dict[str, Figure]:
        """Mean |error| along what changes, a panel for each copula and a line for each adjustment."""
        from matplotlib.figure import Figure

        from cocensor.plots.style import line_styles, markers

        table = self.summarise(rows)[self.name]
        panels = list(dict.fromkeys(row[self.panel] for row in table))
        columns = min(len(panels), 3)
        n_rows = -(-len(panels) // columns)
        figure = Figure(figsize=(4.4 * columns + 2.4, 3.9 * n_rows), layout="constrained")
        axes = figure.subplots(n_rows, columns, sharey=True, squeeze=False)
        for ax, panel in zip(axes.flat, panels, strict=True):
            names = list(dict.fromkeys(r["adjustment"] for r in table))
            for name, style, marker in zip(names, line_styles(), markers(), strict=False):
                mine = [r for r in table if r[self.panel] == panel and r["adjustment"] == name]
                x = [row[self.along] for row in mine]
                y, se = (np.array([row[k] for row in mine]) for k in ("abs_error", "abs_error_se"))
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
    """Error against the share of censored subjects at τ = 0.5."""

    name = "censoring"
    about = "error of the scores against the censoring rate, τ = 0.5 (figure 2b)"
    along, label = "censoring_rate", "censoring rate"
    refit = True

    def cells(self) -> list[Cell]:
        """Two families, the middle of ten bins, all seeds."""
        return [
            self._cell(seed, copula, 0.5, censoring_rate=round(0.05 + 0.1 * k, 2))
            for copula in ("clayton", "frank")
            for k in range(10)
            for seed in self.config.seeds
        ]


class Misspecification(SyntheticExperiment):
    """Error where the assumed copula is not the one of the data."""

    name = "misspecification"
    about = "wrong family, wrong τ, and Gaussian data (figure 3)"
    along, label, panel = "along", "Kendall's τ (assumed, for a wrong τ)", "setting"

    def cells(self) -> list[Cell]:
        """The wrong family at the right τ, wrong τ at 0.5, and Gaussian data."""
        other = {"clayton": "frank", "frank": "clayton"}
        taus = (0.0, 0.25, 0.5, 0.75)
        cells = []
        for seed in self.config.seeds:
            for family in other:
                for tau in taus:
                    wrong = {"setting": f"{family} data, {other[family]} assumed", "along": tau}
                    cells.append(self._cell(seed, family, tau, assumed_copula=other[family], **wrong))
                    wrong = {"setting": f"{family} data at τ = 0.5", "along": tau}
                    cells.append(self._cell(seed, family, 0.5, assumed_tau=tau, **wrong))
                    wrong = {"setting": f"gaussian data, {family} assumed", "along": tau}
                    cells.append(self._cell(seed, "gaussian", tau, assumed_copula=family, **wrong))
        return cells


class ConditionalCounterpart(Dependence):
    """IBS-Dep against its conditional counterpart CG-Q: the cells of ``dependence``, of which two lines are shown."""

    name = "cg-q"
    about = "IBS-Dep against CG-Q under the right copula (figure 4)"

    def summarise(self, rows: list[Row]) -> dict[str, list[Row]]:
        """As in ``dependence``, for IPCW, IBS-Dep and CG-Q."""
        table = super().summarise(rows)[self.name]
        return {self.name: [row for row in table if row["adjustment"] in ("IPCW (KM)", "IBS-Dep", "CG-Q")]}


def _adjustments(assumed: Any, protocol: Protocol) -> dict[str, cc.Adjustment]:
    """All of them; the published ones weigh by G(t_i), and take the polygon through the curve for margin times."""
    ipcw: dict[str, Any] = {"beyond": "last", "min_probability": 1e-3}
    margin: dict[str, Any] = {"beyond": "last"}
    if protocol == "published":
        ipcw["convention"], margin["curve"] = "scikit-survival", "linear"
    return {
        "IPCW (KM)": cc.IPCW(**ipcw),
        "IPCW (Cox)": cc.IPCW("cox", **ipcw),
        "Dep (KM)": cc.MarginTime(**margin),
        "Dep (CG)": cc.MarginTime(assumed, **margin),
        "IBS-Dep": cc.MarginTime(assumed, weighting="uncertainty", **margin),
        "CG-Q": cc.ConditionalStatus(assumed, given="event_free", beyond="last"),
        "given the censoring": cc.ConditionalStatus(assumed, beyond="last"),
        "dependent IPCW": cc.DependentIPCW(assumed, beyond="last"),
        "given covariates, Weibull": cc.JointConditional("covariates", assumed, "weibull"),
        "given covariates, spline": cc.JointConditional("covariates", assumed),
        "given the prediction": cc.JointConditional("prediction", assumed),
    }


def _matched_horizon(train: SyntheticSample) -> float:
    """The largest training time at which at least 5 % are at risk."""
    return float(cc.time_grid(train.y, n=2, horizon={"at_risk": _AT_RISK})[-1])


def _standard_error(values: FloatArray) -> float:
    return float(np.std(values, ddof=1) / np.sqrt(values.size)) if values.size > 1 else float("nan")
