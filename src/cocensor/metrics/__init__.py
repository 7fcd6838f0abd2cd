"""Scores: each reads a status, and nothing else, about the censoring."""

from cocensor.metrics.auc import CumulativeDynamicAUC, cumulative_dynamic_auc
from cocensor.metrics.base import Metric, MetricValue
from cocensor.metrics.brier import (
    BrierScore,
    IntegratedBrierScore,
    brier_score,
    brier_skill_score,
    integrated_brier_score,
)
from cocensor.metrics.horizon import time_grid
from cocensor.metrics.log import IntegratedLogScore, integrated_log_score, log_score
from cocensor.metrics.pointwise import PointwiseMetric
from cocensor.metrics.registry import metric, metric_names, register_metric, unregister_metric
from cocensor.metrics.roc_curve import RocCurve, survival_roc_curve

__all__ = [
    "BrierScore",
    "CumulativeDynamicAUC",
    "IntegratedBrierScore",
    "IntegratedLogScore",
    "Metric",
    "MetricValue",
    "PointwiseMetric",
    "RocCurve",
    "brier_score",
    "brier_skill_score",
    "cumulative_dynamic_auc",
    "integrated_brier_score",
    "integrated_log_score",
    "log_score",
    "metric",
    "metric_names",
    "register_metric",
    "survival_roc_curve",
    "time_grid",
    "unregister_metric",
]
