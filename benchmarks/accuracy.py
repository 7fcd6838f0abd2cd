"""How far is each score from the truth in the paper's synthetic setting, where the event times are known?

10,000 subjects with 10 covariates, half of them censored; 7,000 train a Cox model on the first five covariates, 3,000
test it. Every integrated Brier score runs over the same 50 times up to the 90th percentile of the observed training
times, the oracle's too. Adjustments that take a copula are told the one that the data were made with, which is that
of event and dropout given all covariates. The last row is told instead Kendall's τ given the evaluated model's own
risk score, from the latent times: that is the dependence which conditioning on the prediction is about.

Run: python -m benchmarks.accuracy
"""

from __future__ import annotations

import warnings
from typing import Literal, cast

import numpy as np

import cocensor as cc
from benchmarks.tables import printed_table
from cocensor.simulate import SyntheticDesign

SEEDS = range(10)
TAUS = (0.0, 0.25, 0.5, 0.75)
FAMILIES = (cc.Clayton, cc.Frank)
N_TRAIN, N_TIMES, N_USED = 7_000, 50, 5

Adjustments = dict[str, cc.adjustments.Adjustment]
Preset = Literal["text", "published"]


def adjustments(
    copula: cc.copulas.ArchimedeanCopula, given_score: cc.copulas.ArchimedeanCopula
) -> Adjustments:
    return {
        "IPCW (KM)": cc.IPCW(),
        "IPCW (Cox)": cc.IPCW("cox"),
        "AIPCW (Cox)": cc.AIPCW("cox", "cox"),
        "margin time (KM)": cc.adjustments.MarginTime(),
        "margin time (CG)": cc.adjustments.MarginTime(copula),
        "IBS-Dep": cc.adjustments.MarginTime(copula, weighting="uncertainty"),
        "CG-Q": cc.Imputation((), copula, "event_free"),
        "given the censoring": cc.Imputation((), copula),
        "dependent IPCW": cc.DependentIPCW(copula),
        "dependent IPCW given covariates": cc.DependentIPCW(copula, given="covariates", margins="weibull"),
        "given covariates, Weibull": cc.Imputation("covariates", copula, margins="weibull"),
        "given covariates, spline": cc.Imputation("covariates", copula),
        "given the prediction": cc.Imputation("prediction", copula),
        "given the prediction, at its own τ": cc.Imputation("prediction", given_score),
    }


def errors(
    design: SyntheticDesign, seed: int, n_train: int = N_TRAIN, n_used: int = N_USED
) -> dict[str, float]:
    """The integrated Brier score under each adjustment less the oracle's; NaN where it gives no answer."""
    copula = cast(cc.copulas.ArchimedeanCopula, design.copula)
    family = type(copula)
    data = design.draw(seed)
    train, test = data[:n_train], data[n_train:]
    times = np.linspace(0.0, float(np.quantile(train.y.time, 0.9)), N_TIMES + 1)[1:]
    cox = cc.CoxPH().fit(train.X[:, :n_used], train.y)
    curves = cox.survival(times, test.X[:, :n_used])
    reached = data.tau_given(cox.predict(data.X[:, :n_used]))
    given_score = family.from_tau(reached if family.tau_range[0] < 0 else max(reached, 0.0))

    def score(adjustment: cc.adjustments.Adjustment) -> float:
        return float(
            cc.integrated_brier_score(
                train.y, test.y, curves, times, adjustment=adjustment, x_train=train.X, x_test=test.X
            )
        )

    truth = score(cc.Oracle(test.event_time))
    found = {}
    for name, adjustment in adjustments(copula, given_score).items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cc.warnings.HorizonWarning)
            try:
                found[name] = score(adjustment) - truth
            except ValueError as error:
                if "gives no score" not in str(error):
                    raise
                found[name] = np.nan
    return found


def table(preset: Preset) -> None:
    found = {
        tau: [
            errors(SyntheticDesign.preset(preset, copula=family.from_tau(tau)), seed)
            for family in FAMILIES
            for seed in SEEDS
        ]
        for tau in TAUS
    }
    print(f"\nCensoring as in the {preset}: mean |error| of the IBS (bias), in units of 0.001\n")
    reference = np.nan
    head = ["adjustment", *(f"τ = {tau:g}" for tau in TAUS), "all", "of IPCW's"]
    with printed_table(preset, head) as row:
        for name in found[TAUS[0]][0]:
            cells = []
            values = {tau: 1000 * np.array([each[name] for each in found[tau]]) for tau in TAUS}
            for tau in TAUS:
                answered = values[tau][np.isfinite(values[tau])]
                missing = values[tau].size - answered.size
                note = f", {missing} of {values[tau].size} without answer" if missing else ""
                cells.append(
                    f"{np.abs(answered).mean():.1f} ({answered.mean():+.1f}){note}"
                    if answered.size
                    else "none"
                )
            every = np.concatenate(list(values.values()))
            overall = float(np.abs(every).mean())
            if name == "IPCW (KM)":
                reference = overall
            cells += ["–", "–"] if np.isnan(overall) else [f"{overall:.2f}", f"{overall / reference:.2f}"]
            row(name, *cells)


def main() -> None:
    table("text")
    table("published")


if __name__ == "__main__":
    main()
