"""Time and memory of the main job: five models, 100,000 subjects, 100 times, and the default sensitivity grid.

Without intervals and with them: the goal is at most twice the time. The default metrics against the integrated Brier
score alone, both with intervals. Hazard ratios after dropout against the grid of copulas:
the goal is a tenth. And the growth with the number of subjects: one model under IPCW, without intervals.

Run: python -m benchmarks.evaluation
"""

from __future__ import annotations

import time
from functools import partial

import numpy as np

import cocensor as cc
from benchmarks.tables import PrintRow, printed_table
from benchmarks.timing import best, peak_memory
from cocensor.study.plan import FAMILIES, HAZARD_RATIO
from cocensor.study.sensitivity.benchmarks import PlausibleRange
from cocensor.study.sensitivity.run import default_taus

N, T, MODELS = 100_000, 100, 5
SIZES = (10**4, 10**5, 10**6)
WITHOUT_JOINT = ("ipcw", "dep", "cg_q")


Data = tuple[dict[str, np.ndarray], cc.Survival, cc.Survival, np.ndarray, np.ndarray, np.ndarray]


def data(n: int = N, n_models: int = MODELS) -> Data:
    """Models that know more and more of five covariates, on data with a Clayton copula."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * n, 5))
    beta = np.array([0.5, -0.3, 0.2, 0.1, 0.4])
    u, v = cc.Clayton.from_tau(0.4).sample(2 * n, 1).T
    event = 10.0 * (-np.log(u) / np.exp(X @ beta)) ** (1 / 1.5)
    dropout = 12.0 * (-np.log(v) / np.exp(0.3 * X[:, 0])) ** (1 / 1.3)
    y = cc.Survival.from_latent(event, dropout)
    times = np.linspace(0.0, float(np.quantile(y.time[:n], 0.95)), T)
    models = {
        f"{k + 1} covariates": np.exp(
            -((times / 10.0) ** 1.5) * np.exp(X[n:] @ (beta * (np.arange(5) <= k)))[:, None]
        )
        for k in range(n_models)
    }
    return models, y[:n], y[n:], X[:n], X[n:], times


def job(of: Data, joint: bool, confidence_level: float | None) -> tuple[float, float]:
    """Seconds of the evaluation and of the sensitivity analysis."""
    models, y_train, y_test, x_train, x_test, times = of
    asked = "default" if joint else WITHOUT_JOINT
    begin = time.perf_counter()
    result = cc.evaluate(
        models,
        y_test,
        x_test,
        y_train=y_train,
        x_train=x_train,
        times=times,
        adjustments=asked,
        confidence_level=confidence_level,
        metrics="ibs",
    )
    middle = time.perf_counter()
    result.sensitivity()
    return middle - begin, time.perf_counter() - middle


def point(of: Data, metrics: str) -> tuple[float, float]:
    """Seconds of the processor for the evaluation under CG-Q, and for one further copula."""
    models, y_train, y_test, x_train, x_test, times = of
    begin = time.process_time()
    result = cc.evaluate(
        models,
        y_test,
        x_test,
        y_train=y_train,
        x_train=x_train,
        times=times,
        adjustments="cg_q",
        copula=cc.Clayton.from_tau(0.3),
        metrics=metrics,
    )
    middle = time.process_time()
    result.sensitivity(["clayton"], [0.4])
    return middle - begin, time.process_time() - middle


def default_metrics(held: Data, setup: str) -> None:
    """The default metrics: IBS, AUC, concordance and ICI, over time and at three times."""
    alone = 0.0
    head = ["metrics", "evaluate [s]", "one copula [s]", "ratio", "memory [MiB]"]
    with printed_table("metrics", head) as row:
        for metrics in ("ibs", "default"):
            evaluation, further = point(held, metrics)
            alone = alone or further
            before, after = peak_memory(setup, f"point(held, {metrics!r})")
            row(metrics, *(f"{x:.1f}" for x in (evaluation, further, further / alone)), str(after - before))


def hazard_ratios() -> None:
    """Seconds of the processor for the default hazard ratios after dropout, beside those for the copulas."""
    with printed_table("hazard-ratios", ["metrics", "copulas [s]", "hazard ratios [s]", "share"]) as row:
        _print_hazard_ratios(row)


def _print_hazard_ratios(row: PrintRow) -> None:
    models, y_train, y_test, x_train, x_test, times = data(20_000, 3)
    for metrics in ("ibs", "default"):
        result = cc.evaluate(
            models, y_test, x_test, y_train=y_train, x_train=x_train, times=times, metrics=metrics
        )

        def seconds(
            families: tuple[str, ...], taus: tuple[float, ...], result: cc.Evaluation = result
        ) -> float:
            begin = time.process_time()
            result.sensitivity(families, taus)
            return time.process_time() - begin

        copulas = seconds(
            tuple(family for family in FAMILIES if family != HAZARD_RATIO),
            default_taus(PlausibleRange.of(result, result.benchmarks(), None)),
        )
        further = seconds(("clayton", HAZARD_RATIO), (0.0,)) - seconds(("clayton",), (0.0,))
        row(metrics, f"{copulas:.1f}", f"{further:.1f}", f"{further / copulas:.0%}")


def growth() -> None:
    """One model under IPCW, by the number of subjects and by how the array of predictions lies in memory."""
    head = ["subjects", "evaluate [s]", "from the size before", "predictions by columns [s]"]
    with printed_table("growth", head) as row:
        _print_growth(row)


def _print_growth(row: PrintRow) -> None:
    before = None
    for n in SIZES:
        models, y_train, y_test, _, _, times = data(n, 1)
        by_rows, by_columns = (
            best(
                partial(
                    cc.evaluate,
                    laid,
                    y_test,
                    y_train=y_train,
                    times=times,
                    adjustments="ipcw",
                    confidence_level=None,
                    metrics="ibs",
                ),
                3,
            )
            for laid in (models, {name: np.asfortranarray(each) for name, each in models.items()})
        )
        factor = "" if before is None else f"{by_rows / before:.1f} ×"
        row(f"{n:,}", f"{by_rows:.3f}", factor, f"{by_columns:.3f}")
        before = by_rows


def main() -> None:
    growth()
    setup = "from benchmarks.evaluation import data, job, point\nheld = data()"
    held = data()
    default_metrics(held, setup)
    hazard_ratios()
    head = ["adjustments", "intervals", "evaluate [s]", "sensitivity [s]", "both, ratio", "memory [MiB]"]
    with printed_table("evaluation", head, left=2) as row:
        _print_job(row, held, setup)
    print(f"Memory is beside the inputs, of which {MODELS * N * T * 8 // 2**20} MiB are predictions.")


def _print_job(row: PrintRow, held: Data, setup: str) -> None:
    for joint, name in ((False, ", ".join(WITHOUT_JOINT)), (True, "by default, with a joint model")):
        plain = 0.0
        for level in (None, 0.95):
            evaluation, grid = job(held, joint, level)
            plain = plain or evaluation + grid
            before, after = peak_memory(setup, f"job(held, {joint}, {level})")
            ratio = "" if level is None else f"{(evaluation + grid) / plain:.2f}"
            said = "none" if level is None else f"{level:.0%}"
            row(name, said, f"{evaluation:.1f}", f"{grid:.1f}", ratio, str(after - before))


if __name__ == "__main__":
    main()
