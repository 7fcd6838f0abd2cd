"""How far is imputation given covariates off where the margins are not of the form that is fitted?

The matched settings of ``cocensor reproduce horizon`` (10,000 subjects, half censored, one interval for all, the
right copula), in other designs than its Weibull one: log-normal and log-logistic times, which are not
proportional-hazards, and risks that the linear predictor does not see. Mean |error| over five seeds, in units of 0.001.

Run: python -m benchmarks.margins
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
from scipy.special import ndtri

import cocensor as cc
from benchmarks.tables import PrintRow, printed_table
from cocensor._checks import FloatArray
from cocensor.data.risk_table import WhichMargin
from cocensor.paper.base import Cell
from cocensor.paper.synthetic import IntervalEnd, SyntheticConfig
from cocensor.simulate import SyntheticDesign, SyntheticSample
from cocensor.simulate.synthetic import Risk

SHOWN = ("IPCW (KM)", "given covariates, Weibull", "given covariates, spline")
# The error of log T as a function of S(T), with about the spread of a Weibull of shape 4.
ERRORS = {
    "log-normal": lambda s: 0.3 * -ndtri(s),
    "log-logistic": lambda s: 0.18 * (np.log1p(-s) - np.log(s)),
}
RISKS = ("linear", "quadratic", "interactions")


class OtherDesign(IntervalEnd):
    """IntervalEnd's cells; the times of each subject moved so that the copula given covariates stays."""

    def __init__(self, design: str, seeds: tuple[int, ...] = tuple(range(5))) -> None:
        super().__init__(SyntheticConfig(seeds=seeds))
        self.design = design

    def _design(self, cell: Cell, truth: cc.copulas.Copula) -> SyntheticDesign:
        risk = self.design if self.design in RISKS else "linear"
        return replace(super()._design(cell, truth), risk=cast(Risk, risk))

    def _draw(self, cell: Cell, truth: cc.copulas.Copula) -> SyntheticSample:
        data = super()._draw(cell, truth)
        if self.design in RISKS:
            return data
        event, dropout = self._moved(data, "event"), self._moved(data, "dropout")
        dropout *= np.median(event / dropout)
        return replace(
            data, y=cc.Survival.from_latent(event, dropout), event_time=event, dropout_time=dropout
        )

    def _moved(self, data: SyntheticSample, of: WhichMargin) -> FloatArray:
        own = data.event_time if of == "event" else data.dropout_time
        coef = data.event_coef if of == "event" else data.dropout_coef
        shape, scale = data.design.event if of == "event" else (data.design.dropout[0], data.dropout_scale)
        risk = data.X @ coef
        log_survival = -((own / scale) ** shape) * np.exp(risk)
        s = np.clip(np.exp(log_survival), 1e-15, 1.0 - 1e-15)
        return np.exp(np.log(scale) - risk / shape + ERRORS[self.design](s))

    def _adjustments(self, assumed: cc.copulas.Copula) -> dict[str, cc.adjustments.Adjustment]:
        return {name: each for name, each in super()._adjustments(assumed).items() if name in SHOWN}


def main() -> None:
    with printed_table("margins", ["design", "setting", "end", *SHOWN], left=3) as row:
        _print_designs(row)


def _print_designs(row: PrintRow) -> None:
    for design in (*RISKS[1:], *ERRORS):
        experiment = OtherDesign(design)
        errors: dict[tuple[str, float], dict[str, list[float]]] = {}
        for cell in experiment.cells():
            found = errors.setdefault((cell["setting"], cell["at_risk"]), {name: [] for name in SHOWN})
            for each in experiment.run_cell(cell):
                found[each["adjustment"]].append(1000 * abs(each["estimate"] - each["oracle"]))
        for (setting, share), found in errors.items():
            end = f"{100 * share:g} % at risk" if share else "last time"
            row(design, setting, end, *(f"{np.mean(found[name]):.1f}" for name in SHOWN))


if __name__ == "__main__":
    main()
