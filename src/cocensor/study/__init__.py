"""The main job: models scored under several assumptions about the censoring."""

from cocensor.study.checks import Check
from cocensor.study.evaluation import Evaluation
from cocensor.study.imputation_fit import ImputationFit
from cocensor.study.plan import Plan, SensitivityPlan
from cocensor.study.run import FoldError, evaluate, run, survival_scorer

__all__ = [
    "Check",
    "Evaluation",
    "FoldError",
    "ImputationFit",
    "Plan",
    "SensitivityPlan",
    "evaluate",
    "run",
    "survival_scorer",
]
