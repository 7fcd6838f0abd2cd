"""How good is a survival model when people drop out for reasons related to the outcome?"""

# First: what follows takes a moment, in which the command may be interrupted.
from cocensor import _interrupt as _interrupt

# isort: split
from importlib import import_module
from typing import TYPE_CHECKING, Any

from cocensor import adjustments as adjustments
from cocensor import copulas as copulas
from cocensor import data as data
from cocensor import estimators as estimators
from cocensor import inference as inference
from cocensor import joint as joint
from cocensor import metrics as metrics
from cocensor import study as study
from cocensor import warnings as warnings
from cocensor.adjustments import AIPCW, IPCW, DependentIPCW, Imputation, Oracle, adjustment
from cocensor.copulas import Clayton, Frank, Gaussian, Gumbel, Independence, Joe, copula
from cocensor.data import Predictions, Survival
from cocensor.estimators import CopulaGraphic, CoxPH, KaplanMeier
from cocensor.joint import fit_joint, select_copula
from cocensor.metrics import (
    brier_decomposition,
    brier_score,
    brier_skill_score,
    concordance_index,
    cumulative_dynamic_auc,
    d_calibration,
    decision_curve,
    harrell_concordance,
    integrated_brier_score,
    integrated_calibration_index,
    integrated_log_score,
    log_score,
    mean_calibration,
    metric,
    net_benefit,
    restricted_absolute_error,
    survival_calibration_curve,
    survival_roc_curve,
    time_grid,
)
from cocensor.study import Evaluation, Plan, evaluate, survival_scorer
from cocensor.study.sensitivity import dropout_check, plausible_tau

if TYPE_CHECKING:
    from cocensor import scale as scale
    from cocensor import simulate
    from cocensor.scale import scan_parquet
    from cocensor.views import plots

__version__ = "0.2.0"

__all__ = [
    "AIPCW",
    "IPCW",
    "Clayton",
    "CopulaGraphic",
    "CoxPH",
    "DependentIPCW",
    "Evaluation",
    "Frank",
    "Gaussian",
    "Gumbel",
    "Imputation",
    "Independence",
    "Joe",
    "KaplanMeier",
    "Oracle",
    "Plan",
    "Predictions",
    "Survival",
    "adjustment",
    "brier_decomposition",
    "brier_score",
    "brier_skill_score",
    "concordance_index",
    "copula",
    "cumulative_dynamic_auc",
    "d_calibration",
    "decision_curve",
    "dropout_check",
    "evaluate",
    "fit_joint",
    "harrell_concordance",
    "integrated_brier_score",
    "integrated_calibration_index",
    "integrated_log_score",
    "log_score",
    "mean_calibration",
    "metric",
    "net_benefit",
    "plausible_tau",
    "plots",
    "restricted_absolute_error",
    "scan_parquet",
    "select_copula",
    "simulate",
    "survival_calibration_curve",
    "survival_roc_curve",
    "survival_scorer",
    "time_grid",
]

# Submodules beyond the core, imported when they are first used.
_LATE = {"plots": "cocensor.views.plots", "scale": "cocensor.scale", "simulate": "cocensor.simulate"}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in _LATE:
            return import_module(_LATE[name])
        if name == "scan_parquet":
            return import_module("cocensor.scale").scan_parquet
        raise AttributeError(f"module 'cocensor' has no attribute {name!r}")
