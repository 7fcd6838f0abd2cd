"""The main job: models scored under several assumptions about the censoring."""

from cocensor.evaluation.alarms import Alarm
from cocensor.evaluation.evaluate import evaluate
from cocensor.evaluation.judge_fit import JudgeFit
from cocensor.evaluation.result import Evaluation
from cocensor.evaluation.scorer import FoldError, survival_scorer

__all__ = ["Alarm", "Evaluation", "FoldError", "JudgeFit", "evaluate", "survival_scorer"]
