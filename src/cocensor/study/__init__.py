"""The main job: models scored under several assumptions about the censoring."""

from cocensor._notes import Note
from cocensor.study.checks import Check
from cocensor.study.evaluation import Evaluation
from cocensor.study.imputation_fit import ImputationFit
from cocensor.study.plan import Plan
from cocensor.study.run import FoldError, evaluate, survival_scorer

__all__ = ["Check", "Evaluation", "FoldError", "ImputationFit", "Note", "Plan", "evaluate", "survival_scorer"]
