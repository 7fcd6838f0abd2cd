"""Outcomes, predictions and covariates, and the one border where they are made."""

from cocensor.data.border import as_predictions, predict
from cocensor.data.ids import Matching, subject_labels
from cocensor.data.interpolation import TAILS, Tail
from cocensor.data.predictions import (
    Interpolation,
    Predicted,
    Predictions,
    PredictionsAt,
    Probabilities,
    RiskScores,
    on_times,
)
from cocensor.data.risk_table import RiskTable, WhichMargin
from cocensor.data.sample import Sample
from cocensor.data.steps import StepFunction
from cocensor.data.survival import Survival, ended_by_reason, structured, unmarked_end
from cocensor.data.times import TimeAxis, TimeGrid, shown_time, with_unit

__all__ = [
    "TAILS",
    "Interpolation",
    "Matching",
    "Predicted",
    "Predictions",
    "PredictionsAt",
    "Probabilities",
    "RiskScores",
    "RiskTable",
    "Sample",
    "StepFunction",
    "Survival",
    "Tail",
    "TimeAxis",
    "TimeGrid",
    "WhichMargin",
    "as_predictions",
    "ended_by_reason",
    "on_times",
    "predict",
    "shown_time",
    "structured",
    "subject_labels",
    "unmarked_end",
    "with_unit",
]
