"""How good is a survival model when people drop out for reasons related to the outcome?"""

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
from cocensor.estimators import CopulaGraphic, KaplanMeier
from cocensor.outcomes import RiskTable, Survival

__version__ = "0.1.0"

__all__ = [
    "ArchimedeanCopula",
    "Clayton",
    "Copula",
    "CopulaGraphic",
    "Frank",
    "Gaussian",
    "Gumbel",
    "Independence",
    "Joe",
    "KaplanMeier",
    "RiskTable",
    "StepFunction",
    "Survival",
    "SurvivalCurves",
    "copula",
    "copulas",
]
