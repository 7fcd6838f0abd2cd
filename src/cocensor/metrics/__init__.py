"""Scores: each reads a status, and nothing else, about the censoring."""

from cocensor.metrics.base import Metric, MetricValue
from cocensor.metrics.brier import (
    BrierScore,
    IntegratedBrierScore,
    brier_score,
    brier_skill_score,
    integrated_brier_score,
)
from cocensor.metrics.concordance import Concordance, concordance_index
from cocensor.metrics.harrell import harrell_concordance
from cocensor.metrics.horizon import time_grid
from cocensor.metrics.log import IntegratedLogScore, integrated_log_score, log_score
from cocensor.metrics.pointwise import PointwiseMetric
from cocensor.metrics.registry import metric, metric_names, register_metric, unregister_metric

__all__ = [
    "BrierScore",
    "Concordance",
    "IntegratedBrierScore",
    "IntegratedLogScore",
    "Metric",
    "MetricValue",
    "PointwiseMetric",
    "brier_score",
    "brier_skill_score",
    "concordance_index",
    "harrell_concordance",
    "integrated_brier_score",
    "integrated_log_score",
    "log_score",
    "metric",
    "metric_names",
    "register_metric",
    "time_grid",
    "unregister_metric",
]
