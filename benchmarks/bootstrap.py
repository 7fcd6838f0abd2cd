"""Do analytic standard errors agree with the bootstrap, which refits everything?

400 test subjects and as many for training, Cox models of three covariates and of one, event and dropout tied by
Clayton's copula with τ = 0.4. The bootstrap's standard error over the analytic one, which 400 resamples know to 3.5 %:
of the integrated Brier score of either model, of their difference, and of the Brier scores at the last time.

Run: OPENBLAS_NUM_THREADS=1 python -m benchmarks.bootstrap
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import cocensor as cc
from benchmarks.tables import printed_table
from cocensor._checks import FloatArray
from cocensor.simulate import SyntheticDesign
from cocensor.study import Evaluation

N, RESAMPLES = 400, 400
COPULA = cc.Clayton.from_tau(0.4)
MODELS = {"three": 3, "one": 1}
#: Of each, whether it is fitted to the training sample.
ADJUSTMENTS: dict[str, tuple[cc.adjustments.Adjustment, bool]] = {
    "IPCW (KM), training sample": (cc.IPCW(), True),
    "IPCW (KM), test sample": (cc.IPCW(), False),
    "IPCW (Cox), training sample": (cc.IPCW("cox"), True),
    "IPCW (Cox), test sample": (cc.IPCW("cox"), False),
    "imputed given nothing, training sample": (cc.Imputation((), COPULA), True),
    "imputed given nothing, test sample": (cc.Imputation((), COPULA), False),
    "imputed given covariates, training sample": (cc.Imputation("covariates", COPULA), True),
    "imputed given covariates, test sample": (cc.Imputation("covariates", COPULA), False),
    "imputed given the own prediction": (cc.Imputation("prediction", COPULA), False),
    "imputed given all predictions": (cc.Imputation("predictions", COPULA), False),
    "imputation, independence": (cc.Imputation(("covariates", "predictions")), False),
    "imputation, Clayton": (cc.Imputation(("covariates", "predictions"), COPULA), False),
}


def ratios(adjustment: cc.adjustments.Adjustment, by_training: bool) -> list[str]:
    """Scores and difference of the integrated Brier score, then of the Brier score at the last time."""
    data = SyntheticDesign(n=3 * N, n_features=3, copula=COPULA).draw(0)
    past, train, test = data[:N], data[N : 2 * N], data[2 * N :]
    times = np.linspace(0.0, float(np.quantile(test.y.time, 0.8)), 30)
    models = {
        name: cc.CoxPH().fit(past.X[:, :k], past.y).predict_survival_function(test.X[:, :k])(times)
        for name, k in MODELS.items()
    }
    metrics = [cc.metric("ibs"), cc.metric("brier", at=float(times[-1]))]
    given: dict[str, Any] = {"y_train": train.y, "x_train": train.X} if by_training else {}
    result = cc.evaluate(
        models, test.y, test.X, times=times, adjustments=adjustment, metrics=metrics, **given
    )
    again = result.bootstrap(RESAMPLES, seed=1)
    cells = []
    for metric in result.metrics:
        errors, analytic = (_errors(each, metric) for each in (again, result))
        three, one, difference = (f"{ratio:.2f}" for ratio in errors / analytic)
        cells += [f"{three}, {one}", difference]
    return cells


def _errors(result: Evaluation, metric: str) -> FloatArray:
    """Standard errors of both models' scores, and of their difference."""
    errors = [result.score(name, metric=metric).standard_error for name in MODELS]
    return np.array([*errors, result.compare("three", "one", metric=metric).standard_error])


def main() -> None:
    head = ["adjustment, fitted to", "scores", "difference", "scores at the last time", "difference there"]
    with printed_table("ratios", head) as row:
        for name, (adjustment, by_training) in ADJUSTMENTS.items():
            row(name, *ratios(adjustment, by_training))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
