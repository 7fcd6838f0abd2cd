"""How good is a survival model when people drop out for reasons related to the outcome?"""

# First: what follows takes a moment, in which the command may be interrupted.
from cocensor import _interrupt as _interrupt

# isort: split
from importlib import import_module
from typing import TYPE_CHECKING, Any

from cocensor._notes import Note
from cocensor._warnings import (
    CensoringWarning,
    FitWarning,
    HorizonWarning,
    PredictionWarning,
    TiedTimesWarning,
)
from cocensor.adjustments import (
    AIPCW,
    IPCW,
    Adjustment,
    DependentIPCW,
    EventWeights,
    Fitted,
    Imputation,
    MarginTime,
    Oracle,
    TrueLaw,
    adjustment,
    adjustment_names,
    register_adjustment,
    unregister_adjustment,
)
from cocensor.copulas import (
    ArchimedeanCopula,
    Clayton,
    Copula,
    Frank,
    Gaussian,
    Gumbel,
    Independence,
    Joe,
    copula,
    copula_families,
)
from cocensor.data import Predictions, RiskTable, StepFunction, Survival
from cocensor.estimators import CopulaGraphic, CoxPH, KaplanMeier
from cocensor.inference import Influence
from cocensor.joint import CopulaChoice, DependenceProfile, JointModel, fit_joint, select_copula
from cocensor.metrics import (
    AdjustedLoss,
    BrierDecomposition,
    BrierScore,
    CalibrationCurve,
    CalibrationGroups,
    Concordance,
    CumulativeDynamicAUC,
    DCalibration,
    DCalibrationResult,
    DecisionCurve,
    Discrimination,
    HighCalibrationError,
    IntegratedBrierScore,
    IntegratedCalibrationIndex,
    IntegratedLogScore,
    MeanCalibration,
    MedianCalibrationError,
    Metric,
    MetricValue,
    Miscalibration,
    NetBenefit,
    PointwiseMetric,
    RestrictedAbsoluteError,
    RocCurve,
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
    metric_names,
    net_benefit,
    register_metric,
    restricted_absolute_error,
    survival_calibration_curve,
    survival_roc_curve,
    time_grid,
    unregister_metric,
)
from cocensor.study import Check, Evaluation, FoldError, ImputationFit, Plan, evaluate, survival_scorer
from cocensor.study.sensitivity import (
    Benchmark,
    Bound,
    Bounds,
    CovariateBenchmarks,
    Sensitivity,
    hidden_hazard_ratio,
    induced_tau,
    plausible_tau,
)

if TYPE_CHECKING:
    from cocensor import simulate
    from cocensor.scale import Scan, scan_chunks, scan_parquet
    from cocensor.views import plots

__version__ = "0.2.0"

__all__ = [
    "AIPCW",
    "IPCW",
    "AdjustedLoss",
    "Adjustment",
    "ArchimedeanCopula",
    "Benchmark",
    "Bound",
    "Bounds",
    "BrierDecomposition",
    "BrierScore",
    "CalibrationCurve",
    "CalibrationGroups",
    "CensoringWarning",
    "Check",
    "Clayton",
    "Concordance",
    "Copula",
    "CopulaChoice",
    "CopulaGraphic",
    "CovariateBenchmarks",
    "CoxPH",
    "CumulativeDynamicAUC",
    "DCalibration",
    "DCalibrationResult",
    "DecisionCurve",
    "DependenceProfile",
    "DependentIPCW",
    "Discrimination",
    "Evaluation",
    "EventWeights",
    "FitWarning",
    "Fitted",
    "FoldError",
    "Frank",
    "Gaussian",
    "Gumbel",
    "HighCalibrationError",
    "HorizonWarning",
    "Imputation",
    "ImputationFit",
    "Independence",
    "Influence",
    "IntegratedBrierScore",
    "IntegratedCalibrationIndex",
    "IntegratedLogScore",
    "Joe",
    "JointModel",
    "KaplanMeier",
    "MarginTime",
    "MeanCalibration",
    "MedianCalibrationError",
    "Metric",
    "MetricValue",
    "Miscalibration",
    "NetBenefit",
    "Note",
    "Oracle",
    "Plan",
    "PointwiseMetric",
    "PredictionWarning",
    "Predictions",
    "RestrictedAbsoluteError",
    "RiskTable",
    "RocCurve",
    "Scan",
    "Sensitivity",
    "StepFunction",
    "Survival",
    "TiedTimesWarning",
    "TrueLaw",
    "adjustment",
    "adjustment_names",
    "brier_decomposition",
    "brier_score",
    "brier_skill_score",
    "concordance_index",
    "copula",
    "copula_families",
    "cumulative_dynamic_auc",
    "d_calibration",
    "decision_curve",
    "evaluate",
    "fit_joint",
    "harrell_concordance",
    "hidden_hazard_ratio",
    "induced_tau",
    "integrated_brier_score",
    "integrated_calibration_index",
    "integrated_log_score",
    "log_score",
    "mean_calibration",
    "metric",
    "metric_names",
    "net_benefit",
    "plausible_tau",
    "plots",
    "register_adjustment",
    "register_metric",
    "restricted_absolute_error",
    "scan_chunks",
    "scan_parquet",
    "select_copula",
    "simulate",
    "survival_calibration_curve",
    "survival_roc_curve",
    "survival_scorer",
    "time_grid",
    "unregister_adjustment",
    "unregister_metric",
]

# Packages beyond the core, and names of one, imported when they are first asked for.
_LATE = {
    "plots": "cocensor.views.plots",
    "simulate": "cocensor.simulate",
}
_STREAMED = ("Scan", "scan_chunks", "scan_parquet")

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in _LATE:
            return import_module(_LATE[name])
        if name in _STREAMED:
            return getattr(import_module("cocensor.scale"), name)
        raise AttributeError(f"module 'cocensor' has no attribute {name!r}")
