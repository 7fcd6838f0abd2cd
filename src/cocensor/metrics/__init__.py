"""Scores: each reads a status, and nothing else, about the censoring."""

from cocensor.metrics.base import Metric, MetricValue
from cocensor.metrics.brier import (
    BrierScore,
    IntegratedBrierScore,
    brier_score,
    brier_skill_score,
    integrated_brier_score,
)
from cocensor.metrics.calibration import (
    HighCalibrationError,
    IntegratedCalibrationIndex,
    MedianCalibrationError,
    integrated_calibration_index,
)
from cocensor.metrics.calibration_curve import (
    CalibrationCurve,
    CalibrationGroups,
    calibration_at,
    survival_calibration_curve,
)
from cocensor.metrics.concordance import Concordance, concordance_index
from cocensor.metrics.decomposition import (
    BrierDecomposition,
    Discrimination,
    Miscalibration,
    brier_decomposition,
)
from cocensor.metrics.harrell import harrell_concordance
from cocensor.metrics.horizon import time_grid
from cocensor.metrics.log import IntegratedLogScore, integrated_log_score, log_score
from cocensor.metrics.mean_calibration import MeanCalibration, mean_calibration
from cocensor.metrics.pointwise import PointwiseMetric
from cocensor.metrics.registry import metric, metric_names, register_metric, unregister_metric

__all__ = [
    "BrierDecomposition",
    "BrierScore",
    "CalibrationCurve",
    "CalibrationGroups",
    "Concordance",
    "Discrimination",
    "HighCalibrationError",
    "IntegratedBrierScore",
    "IntegratedCalibrationIndex",
    "IntegratedLogScore",
    "MeanCalibration",
    "MedianCalibrationError",
    "Metric",
    "MetricValue",
    "Miscalibration",
    "PointwiseMetric",
    "brier_decomposition",
    "brier_score",
    "brier_skill_score",
    "calibration_at",
    "concordance_index",
    "harrell_concordance",
    "integrated_brier_score",
    "integrated_calibration_index",
    "integrated_log_score",
    "log_score",
    "mean_calibration",
    "metric",
    "metric_names",
    "register_metric",
    "survival_calibration_curve",
    "time_grid",
    "unregister_metric",
]
