"""The main job: models scored under several assumptions about the censoring."""

from cocensor.study.checks import Check
from cocensor.study.evaluation import Evaluation
from cocensor.study.judge_fit import JudgeFit
from cocensor.study.plan import Plan, SensitivityPlan
from cocensor.study.run import evaluate, run
from cocensor.study.scorer import FoldError, survival_scorer

__all__ = [
    "Check",
    "Evaluation",
    "FoldError",
    "JudgeFit",
    "Plan",
    "SensitivityPlan",
    "evaluate",
    "run",
    "survival_scorer",
]
