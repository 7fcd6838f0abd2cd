"""How good is a survival model when people drop out for reasons related to the outcome?"""

# First: what follows takes a moment, in which the command may be interrupted.
from cocensor import _interrupt as _interrupt

# isort: split
from importlib import import_module
from typing import TYPE_CHECKING, Any

from cocensor._validation import ConvergenceWarning, HorizonWarning, TiedTimesWarning
from cocensor.adjustments import (
    IPCW,
    Adjustment,
    ConditionalStatus,
    DependentIPCW,
    JointConditional,
    MarginTime,
    Oracle,
    Status,
    adjustment,
    adjustments,
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
    copulas,
)
from cocensor.curves import StepFunction, SurvivalCurves
from cocensor.estimators import CopulaGraphic, CoxPH, KaplanMeier
from cocensor.evaluation import Evaluation, FoldError, evaluate, make_scorer
from cocensor.joint import CopulaChoice, DependenceProfile, JointModel, fit_joint, select_copula
from cocensor.metrics import (
    Metric,
    brier_score,
    brier_skill_score,
    integrated_brier_score,
    integrated_log_score,
    log_score,
    metric,
    time_grid,
)
from cocensor.outcomes import RiskTable, Survival
from cocensor.sensitivity import Sensitivity

if TYPE_CHECKING:
    from cocensor import datasets, learners, plots, simulate

__version__ = "0.1.0"

__all__ = [
    "IPCW",
    "Adjustment",
    "ArchimedeanCopula",
    "Clayton",
    "ConditionalStatus",
    "ConvergenceWarning",
    "Copula",
    "CopulaChoice",
    "CopulaGraphic",
    "CoxPH",
    "DependenceProfile",
    "DependentIPCW",
    "Evaluation",
    "FoldError",
    "Frank",
    "Gaussian",
    "Gumbel",
    "HorizonWarning",
    "Independence",
    "Joe",
    "JointConditional",
    "JointModel",
    "KaplanMeier",
    "MarginTime",
    "Metric",
    "Oracle",
    "RiskTable",
    "Sensitivity",
    "Status",
    "StepFunction",
    "Survival",
    "SurvivalCurves",
    "TiedTimesWarning",
    "adjustment",
    "adjustments",
    "brier_score",
    "brier_skill_score",
    "copula",
    "copulas",
    "datasets",
    "evaluate",
    "fit_joint",
    "integrated_brier_score",
    "integrated_log_score",
    "learners",
    "log_score",
    "make_scorer",
    "metric",
    "plots",
    "select_copula",
    "simulate",
    "time_grid",
]

# Packages beyond the core, imported when they are first asked for.
_LATE = ("datasets", "learners", "plots", "simulate")

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in _LATE:
            return import_module(f"cocensor.{name}")
        raise AttributeError(f"module 'cocensor' has no attribute {name!r}")
