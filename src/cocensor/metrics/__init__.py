"""Scores: each reads a status, and nothing else, about the censoring."""

from cocensor.metrics.brier import brier_score, brier_skill_score, integrated_brier_score
from cocensor.metrics.horizon import time_grid
from cocensor.metrics.log import integrated_log_score, log_score

__all__ = [
    "brier_score",
    "brier_skill_score",
    "integrated_brier_score",
    "integrated_log_score",
    "log_score",
    "time_grid",
]
