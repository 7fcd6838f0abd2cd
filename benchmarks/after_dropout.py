"""Is imputation at the true hazard ratio after dropout as good as at the true copula, and do its intervals cover?

The paper's synthetic design with 10 covariates: half of the subjects drop out before their event, and the study ends
for each at a time between 5 and 25. From a dropout on the hazard is multiplied by ρ; beside it, a design with a Frank
copula that has the same Kendall's τ of event and dropout given the covariates. 1,000 subjects train two Cox models, on
2 and on all covariates, and 1,000 test them. Errors are those of the integrated Brier score against the oracle's on the
same test subjects, over 50 times up to the 90th percentile of the observed training times.

Coverage: test samples of 500 from one law, models fixed, held against the oracle's score of 100,000 subjects.

Run:
    python -m benchmarks.after_dropout
    python -m benchmarks.studies --only after-dropout-errors after-dropout-coverage    (what is missing of the rows)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import kendalltau

import cocensor as cc
from benchmarks.impartiality.measures import Estimate
from benchmarks.reproduction.collect import RESULTS
from benchmarks.tables import markdown, section
from cocensor._checks import FloatArray
from cocensor.simulate import SyntheticDesign
from cocensor.simulate.synthetic import SyntheticSample

RATIOS = (0.5, 2.0, 4.0)
N_TRAIN, N_TEST, N_TIMES = 1_000, 1_000, 50
N_COVERED, N_POPULATION, N_SAMPLES = 500, 100_000, 400
MODELS = {"cox-2": 2, "cox-10": 10}
DESIGN = SyntheticDesign(n=N_TRAIN + N_TEST, study_end=(5.0, 25.0))
Row = dict[str, Any]


@cache
def frank(ratio: float) -> cc.copulas.Copula:
    """With the Kendall's τ that a hazard ratio after dropout makes, given the covariates."""
    data = replace(DESIGN, n=20_000, hazard_ratio=ratio).draw(0)
    shapes = data.design.event[0], data.design.dropout[0]
    hazards = [
        time**shape * np.exp(data.X @ coef)
        for time, shape, coef in zip(
            (data.event_time, data.dropout_time), shapes, (data.event_coef, data.dropout_coef), strict=True
        )
    ]
    return cc.Frank.from_tau(round(float(kendalltau(*hazards).statistic), 2))


def learned(train: SyntheticSample) -> tuple[FloatArray, Callable[[FloatArray], dict[str, FloatArray]]]:
    """The times, and the curves of both models."""
    times = np.linspace(0.0, float(np.quantile(train.y.time, 0.9)), N_TIMES + 1)[1:]
    fits = {name: cc.CoxPH().fit(train.X[:, :k], train.y) for name, k in MODELS.items()}
    return times, lambda X: {name: fits[name].survival(times, X[:, :k]) for name, k in MODELS.items()}


def error_rows(ratio: float, seed: int) -> Iterator[Row]:
    """The error of each adjustment for each model, under a hazard ratio and under the copula."""
    true: dict[str, Any] = {"hazard ratio": {"hazard_ratio": ratio}, "copula": {"copula": frank(ratio)}}
    for truth, law in true.items():
        data = replace(DESIGN, **law).draw(seed)
        train, test = data[:N_TRAIN], data[N_TRAIN:]
        times, curves = learned(train)
        result = cc.evaluate(
            curves(test.X),
            test.y,
            test.X,
            y_train=train.y,
            x_train=train.X,
            times=times,
            metrics="ibs",
            adjustments={
                "oracle": cc.Oracle(test.event_time),
                "IPCW (KM)": cc.IPCW(tail="last"),
                "imputed, independence": cc.Imputation("everything"),
                "imputed, truth": cc.Imputation("everything", **law),
            },
        )
        for name in ("IPCW (KM)", "imputed, independence", "imputed, truth"):
            for model in MODELS:
                error = (
                    result.score(model, adjustment=name).value
                    - result.score(model, adjustment="oracle").value
                )
                yield {
                    "truth": truth,
                    "ratio": ratio,
                    "repeat": seed,
                    "judge": name,
                    "model": model,
                    "error": error,
                }


@cache
def law(ratio: float) -> tuple[SyntheticSample, FloatArray, Any, dict[str, float]]:
    """Samples of one law, the models, and their scores in the population."""
    data = replace(DESIGN, n=N_TRAIN + N_POPULATION + N_SAMPLES * N_COVERED, hazard_ratio=ratio).draw(1)
    train, people = data[:N_TRAIN], data[N_TRAIN : N_TRAIN + N_POPULATION]
    times, curves = learned(train)
    scores = {
        name: float(
            cc.integrated_brier_score(train.y, people.y, each, times, adjustment=cc.Oracle(people.event_time))
        )
        for name, each in curves(people.X).items()
    }
    return data[N_TRAIN + N_POPULATION :], times, curves, scores


def coverage_rows(ratio: float, repeat: int) -> Iterator[Row]:
    """The scores of a test sample and their difference with standard errors, and what they should be."""
    samples, times, curves, scores = law(ratio)
    test = samples[repeat * N_COVERED : (repeat + 1) * N_COVERED]
    judges = {
        "imputed, independence": cc.Imputation("everything"),
        "imputed, truth": cc.Imputation("everything", hazard_ratio=ratio),
    }
    result = cc.evaluate(curves(test.X), test.y, test.X, times=times, metrics="ibs", adjustments=judges)
    a, b = MODELS
    for judge in judges:
        found = {model: result.score(model, adjustment=judge) for model in MODELS}
        difference = result.compare(a, b, adjustment=judge)
        for what, value, error, truth in (
            *((name, each.value, each.standard_error, scores[name]) for name, each in found.items()),
            ("difference", difference.difference, difference.standard_error, scores[a] - scores[b]),
        ):
            yield {
                "ratio": ratio, "repeat": repeat, "judge": judge, "what": what,
                "value": value, "error": error, "truth": truth,
            }  # fmt: skip


PARTS: dict[str, Callable[[float, int], Iterable[Row]]] = {"errors": error_rows, "coverage": coverage_rows}


def tables() -> Iterator[str]:
    """Of what is kept."""
    errors, found = (pd.read_csv(RESULTS / f"after-dropout-{part}.csv.gz") for part in PARTS)
    errors["error"] *= 1000
    rows = []
    for (truth, judge), mine in errors.groupby(["truth", "judge"], sort=False):
        cells = []
        for ratio in RATIOS:
            wide = (
                mine[mine["ratio"] == ratio].pivot(index="repeat", columns="model", values="error").to_numpy()
            )
            size, bias = Estimate.of(np.abs(wide).mean(axis=1)), wide.mean()
            cells.append(f"{size.value:.2f} ± {size.error:.2f} ({bias:+.2f})")
        rows.append([truth, judge, *cells])
    heads = [f"ρ = {ratio:g}, τ = {frank(ratio).tau:.2f}" for ratio in RATIOS]
    yield section(
        "Mean |error| ± standard error (bias), in units of 0.001",
        "errors",
        markdown(["truth", "adjustment", *heads], rows, left=2),
    )
    found["held"] = np.abs(found["value"] - found["truth"]) <= 1.959964 * found["error"]
    rows = []
    for (judge, what), mine in found.groupby(["judge", "what"], sort=False):
        cells = []
        for ratio in RATIOS:
            each = mine[mine["ratio"] == ratio]
            spread = each["error"].mean() / each["value"].std()
            cells.append(f"{100 * each['held'].mean():.1f} % of {len(each)} ({spread:.2f})")
        rows.append([judge, what, *cells])
    yield section(
        "Intervals that hold the truth (mean standard error over standard deviation)",
        "coverage",
        markdown(["adjustment", "of", *(f"ρ = {ratio:g}" for ratio in RATIOS)], rows, left=2),
    )


def main() -> None:
    print("\n\n".join(tables()))


if __name__ == "__main__":
    main()
