"""Scores: each reads a status, and nothing else, about the censoring."""

from cocensor.metrics.absolute_error import RestrictedAbsoluteError, restricted_absolute_error
from cocensor.metrics.base import Metric, MetricValue
from cocensor.metrics.brier import (
    BrierScore,
    IntegratedBrierScore,
    brier_score,
    brier_skill_score,
    integrated_brier_score,
)
from cocensor.metrics.d_calibration import DCalibration, DCalibrationResult, d_calibration
from cocensor.metrics.decision_curve import DecisionCurve, decision_curve
from cocensor.metrics.horizon import time_grid
from cocensor.metrics.log import IntegratedLogScore, integrated_log_score, log_score
from cocensor.metrics.net_benefit import NetBenefit, net_benefit
from cocensor.metrics.pointwise import PointwiseMetric
from cocensor.metrics.registry import metric, metric_names, register_metric, unregister_metric

__all__ = [
    "BrierScore",
    "DCalibration",
    "DCalibrationResult",
    "DecisionCurve",
    "IntegratedBrierScore",
    "IntegratedLogScore",
    "Metric",
    "MetricValue",
    "NetBenefit",
    "PointwiseMetric",
    "RestrictedAbsoluteError",
    "brier_score",
    "brier_skill_score",
    "d_calibration",
    "decision_curve",
    "integrated_brier_score",
    "integrated_log_score",
    "log_score",
    "metric",
    "metric_names",
    "net_benefit",
    "register_metric",
    "restricted_absolute_error",
    "time_grid",
    "unregister_metric",
]
