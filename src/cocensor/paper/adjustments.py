"""The adjustments of the experiments, with every setting stated: no later default moves their results."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import cocensor as cc
from cocensor.adjustments.imputation import Given
from cocensor.adjustments.samples import Samples
from cocensor.joint.margins import MarginForm
from cocensor.paper.base import Protocol
from cocensor.paper.real_covariates import SemiSyntheticSample
from cocensor.simulate import SimulatedSurvival

_KNOTS, _PENALTY = 3, 0.01
_STARTS = (-0.6, 0.3, 0.6, 0.9)
_FAMILIES = ("clayton", "frank")


def without_covariates(
    copula: cc.copulas.Copula, protocol: Protocol, suffix: str = ""
) -> dict[str, cc.adjustments.Adjustment]:
    """IPCW, the paper's scores and the other marginal ones; ``suffix`` says in their names where the copula is from.

    The published ones weigh by G(t_i), by nothing where G = 0, and take the polygon through the curve for margin times.
    """
    published = protocol == "published"
    ipcw: dict[str, Any] = {
        "convention": "scikit-survival" if published else "left_limit",
        "tail": "last",
    }
    margin: dict[str, Any] = {"interpolation": "linear" if published else "step", "tail": "last"}
    adjustments: dict[str, cc.adjustments.Adjustment] = {
        "IPCW (KM)": cc.IPCW("km", min_probability=None if published else 1e-3, **ipcw),
        "IPCW (Cox)": cc.IPCW("cox", min_probability=1e-3, **ipcw),
        "Dep (KM)": cc.adjustments.MarginTime(cc.Independence(), weighting="none", **margin),
    }
    if isinstance(copula, cc.copulas.ArchimedeanCopula):
        named: dict[str, cc.adjustments.Adjustment] = {
            "Dep (CG)": cc.adjustments.MarginTime(copula, weighting="none", **margin),
            "IBS-Dep": cc.adjustments.MarginTime(copula, weighting="uncertainty", **margin),
            "CG-Q": cc.Imputation((), copula, "event_free", tail="last"),
            "given the censoring": cc.Imputation((), copula, "dropout", tail="last"),
            "dependent IPCW": cc.DependentIPCW(copula, tail="last"),
        }
        adjustments |= {name + suffix: adjustment for name, adjustment in named.items()}
    return adjustments


def imputation(given: Given, copula: cc.copulas.Copula, margins: MarginForm) -> cc.Imputation:
    """Imputation by a joint model given covariates, or given the evaluated model's own prediction."""
    return cc.Imputation(
        given,
        copula,
        score_times=1,
        margins=margins,
        knots=_KNOTS,
        penalty=_PENALTY,
        time_kind="auto",
    )


def given_everything(copula: cc.copulas.Copula) -> cc.Imputation:
    """Imputation by one joint model for all learners, given their predictions and the covariates."""
    return cc.Imputation(
        "everything",
        copula,
        score_times="auto",
        score_df=3,
        time_varying=True,
        shrink=True,
        margins="spline",
        knots="auto",
        penalty=_PENALTY,
        time_kind="auto",
    )


def floor(sample: SemiSyntheticSample) -> cc.adjustments.TrueLaw:
    """Return imputation by the distribution that the times of a sample were drawn from, given all features."""
    return cc.adjustments.TrueLaw(
        sample.copula,
        sample.event_survival,
        lambda t: sample.own_survival("event", t),
        lambda t: sample.own_survival("dropout", t),
    )


def selected_copula(train: SimulatedSurvival, validation: SimulatedSurvival) -> cc.copulas.Copula:
    """The copula that the paper's procedure selects; where no joint model can be fitted, the cell fails and says so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.warnings.FitWarning)
        choice = cc.select_copula(
            train.X,
            train.y,
            validation.X,
            validation.y,
            _FAMILIES,
            margins="weibull",
            penalty=_PENALTY,
            penalised=True,
            min_gain=0.0,
            starts=_STARTS,
            knots=_KNOTS,
            time_kind="auto",
        )
    return choice.copula


def fitted_once(
    adjustment: cc.adjustments.Adjustment,
    train: SimulatedSurvival,
    test: SimulatedSurvival,
    predictions: Mapping[str, cc.Predictions],
) -> cc.adjustments.Adjustment | cc.adjustments.Fitted:
    """Fitted here, for all learners; one that cannot be says so when it is asked, and an imputation model at once.

    What needs the prediction of one model alone is fitted when that is scored.
    """
    if "prediction" in adjustment.needs:
        return adjustment
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.warnings.FitWarning)
        if "predictions" in adjustment.needs:
            return Samples.of(test.y, test.X, train.y, train.X).fit(adjustment, predictions)
        try:
            return adjustment.fit(train.y, train.X)
        except ValueError:
            return adjustment
