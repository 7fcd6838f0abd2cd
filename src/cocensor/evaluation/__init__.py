"""The main job: what models score under stated assumptions about the censoring."""

from cocensor.evaluation.evaluate import evaluate
from cocensor.evaluation.evaluation import Evaluation, Ranking
from cocensor.evaluation.scorer import FoldError, Scorer, make_scorer

__all__ = ["Evaluation", "FoldError", "Ranking", "Scorer", "evaluate", "make_scorer"]
