"""Curves over time: step functions, predicted survival curves, and the times that scores are asked for."""

from cocensor.curves.border import as_predictions, predict
from cocensor.curves.drawn import DrawnPredictions
from cocensor.curves.grid import TimeGrid
from cocensor.curves.labels import Matching, subject_labels
from cocensor.curves.predictions import Interpolation, Predictions
from cocensor.curves.risk_scores import RiskScores
from cocensor.curves.steps import StepFunction
from cocensor.curves.tails import TAILS, Tail

__all__ = [
    "TAILS",
    "DrawnPredictions",
    "Interpolation",
    "Matching",
    "Predictions",
    "RiskScores",
    "StepFunction",
    "Tail",
    "TimeGrid",
    "as_predictions",
    "predict",
    "subject_labels",
]
