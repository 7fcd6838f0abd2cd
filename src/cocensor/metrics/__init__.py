"""Scores: each reads a status, and nothing else, about the censoring."""

from cocensor.metrics.brier import brier_score, brier_skill_score, integrated_brier_score
from cocensor.metrics.horizon import time_grid
from cocensor.metrics.log import integrated_log_score, log_score
from cocensor.metrics.metric import Metric, metric

__all__ = [
    "Metric",
    "brier_score",
    "brier_skill_score",
    "integrated_brier_score",
    "integrated_log_score",
    "log_score",
    "metric",
    "time_grid",
]
