"""How good is a survival model when people drop out for reasons related to the outcome?"""

from cocensor._validation import ConvergenceWarning, HorizonWarning
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
from cocensor.joint import CopulaChoice, DependenceProfile, JointModel, fit_joint, select_copula
from cocensor.metrics import (
    brier_score,
    brier_skill_score,
    integrated_brier_score,
    integrated_log_score,
    log_score,
    time_grid,
)
from cocensor.outcomes import RiskTable, Survival

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
    "Oracle",
    "RiskTable",
    "Status",
    "StepFunction",
    "Survival",
    "SurvivalCurves",
    "adjustment",
    "adjustments",
    "brier_score",
    "brier_skill_score",
    "copula",
    "copulas",
    "fit_joint",
    "integrated_brier_score",
    "integrated_log_score",
    "log_score",
    "select_copula",
    "time_grid",
]
