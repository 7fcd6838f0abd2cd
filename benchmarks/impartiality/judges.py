"""The judges that are compared: by the name that a user would give them, or a recipe of one's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import cocensor as cc
from benchmarks.impartiality.models import Curves
from benchmarks.impartiality.truths import Sample
from cocensor._checks import FloatArray


@dataclass(frozen=True)
class Judge:
    """An adjustment, the copula that it is told, and whether it sees the training sample.

    With the training sample IPCW and imputation given covariates learn from it, as ``evaluate`` has it.
    """

    asked: str | Callable[[Any], cc.adjustments.Adjustment]
    copula: Literal["true", "independence", "selected"] = "true"
    sees_training: bool = True

    def told(self, truth: cc.copulas.Copula) -> cc.copulas.Copula | str:
        """What ``evaluate`` is given as copula."""
        if self.copula == "selected":
            return "select"
        return truth if self.copula == "true" else cc.Independence()


#: IPCW whose Kaplan–Meier curve is the test sample's, as that of imputation is, errs less than the training sample's.
IPCW, IPCW_TRAINING = "IPCW (KM)", "IPCW (KM), training fit"
PRIMARY, DEFAULT, SELECTED = "imputed", "imputed, independence", "imputed, selected"

#: Sets of judges by the name that ``--judges`` takes. A further recipe is one more line.
JUDGES: dict[str, dict[str, Judge]] = {
    "main": {
        IPCW: Judge("ipcw", sees_training=False),
        IPCW_TRAINING: Judge("ipcw"),
        "IPCW (Cox)": Judge("ipcw_cox", sees_training=False),
        "IPCW (Cox), training fit": Judge("ipcw_cox"),
        "given covariates, training fit": Judge("imputation_covariates"),
        "given each model's prediction": Judge("imputation_prediction"),
        PRIMARY: Judge("imputation"),
        DEFAULT: Judge("imputation", "independence"),
    },
    "default": {
        IPCW: Judge("ipcw", sees_training=False),
        IPCW_TRAINING: Judge("ipcw"),
        DEFAULT: Judge("imputation", "independence"),
    },
    "selected": {SELECTED: Judge("imputation", "selected")},
    "plainer": {
        "linear scores": Judge(lambda copula: cc.Imputation("predictions", copula)),
        "linear scores and covariates": Judge(
            lambda copula: cc.Imputation(("covariates", "predictions"), copula)
        ),
        "imputed, without covariates": Judge(
            lambda copula: cc.Imputation(
                "predictions", copula, score_times="auto", score_df=3, time_varying=True, shrink=True
            )
        ),
        "imputed, proportional hazards": Judge(
            lambda copula: cc.Imputation("everything", copula, time_varying=False)
        ),
        "imputed, straight lines": Judge(lambda copula: cc.Imputation("everything", copula, score_df=1)),
        "imputed, scores at one time": Judge(
            lambda copula: cc.Imputation("everything", copula, score_times=1)
        ),
        "imputed, without ridges": Judge(lambda copula: cc.Imputation("everything", copula, shrink=False)),
        "imputed, three knots": Judge(lambda copula: cc.Imputation("everything", copula, knots=3)),
    },
}


@dataclass(frozen=True)
class Verdict:
    """The integrated Brier score of every model, NaN where there is none, and the copula that it rests on."""

    scores: dict[str, float]
    copula: str


def verdict(
    judge: Judge, truth: cc.copulas.Copula, curves: Curves, times: FloatArray, train: Sample, test: Sample
) -> Verdict:
    told = judge.told(truth)
    adjustment = judge.asked(told) if callable(judge.asked) else judge.asked
    try:
        result = cc.evaluate(
            curves,
            test.y,
            test.x,
            y_train=train.y if judge.sees_training else None,
            x_train=train.x if judge.sees_training else None,
            adjustments={"judge": adjustment},
            times=times,
            copula=told,
            confidence_level=None,
            metrics="ibs",
        )
    except ValueError as error:
        if "no adjustment can score" not in str(error):
            raise
        return Verdict(dict.fromkeys(curves, float("nan")), "")
    return Verdict(
        {name: float(result.score(name, adjustment="judge")) for name in curves},
        repr(result.data.assumed.copula),
    )


def oracle(curves: Curves, times: FloatArray, test: Sample) -> dict[str, float]:
    """The scores of the same test subjects on the same interval, had nobody dropped out."""
    adjustments = {"oracle": cc.Oracle(test.event_time)}
    result = cc.evaluate(
        curves, test.y, adjustments=adjustments, times=times, confidence_level=None, metrics="ibs"
    )
    return {name: float(result.score(name, adjustment="oracle")) for name in curves}
