"""Scores: each reads a status, and nothing else, about the censoring."""

from cocensor.metrics.absolute_error import RestrictedAbsoluteError, restricted_absolute_error
from cocensor.metrics.adjusted_loss import AdjustedLoss
from cocensor.metrics.auc import CumulativeDynamicAUC, cumulative_dynamic_auc
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
from cocensor.metrics.calibration_curve import CalibrationCurve, CalibrationGroups, survival_calibration_curve
from cocensor.metrics.concordance import Concordance, concordance_index
from cocensor.metrics.d_calibration import DCalibration, DCalibrationResult, d_calibration
from cocensor.metrics.decision_curve import DecisionCurve, decision_curve
from cocensor.metrics.decomposition import (
    BrierDecomposition,
    Discrimination,
    Miscalibration,
    brier_decomposition,
)
from cocensor.metrics.harrell import harrell_concordance
from cocensor.metrics.horizon import time_grid
from cocensor.metrics.kernel import Loss as Loss
from cocensor.metrics.log import IntegratedLogScore, integrated_log_score, log_score
from cocensor.metrics.mean_calibration import MeanCalibration, mean_calibration
from cocensor.metrics.net_benefit import NetBenefit, net_benefit
from cocensor.metrics.pointwise import PointwiseMetric
from cocensor.metrics.registry import metric, metric_names, register_metric, unregister_metric
from cocensor.metrics.roc_curve import RocCurve, survival_roc_curve
from cocensor.metrics.sections import Linear as Linear
from cocensor.metrics.sections import Section as Section
from cocensor.metrics.sections import SectionMetric as SectionMetric

__all__ = [
    "AdjustedLoss",
    "BrierDecomposition",
    "BrierScore",
    "CalibrationCurve",
    "CalibrationGroups",
    "Concordance",
    "CumulativeDynamicAUC",
    "DCalibration",
    "DCalibrationResult",
    "DecisionCurve",
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
    "NetBenefit",
    "PointwiseMetric",
    "RestrictedAbsoluteError",
    "RocCurve",
    "brier_decomposition",
    "brier_score",
    "brier_skill_score",
    "concordance_index",
    "cumulative_dynamic_auc",
    "d_calibration",
    "decision_curve",
    "harrell_concordance",
    "integrated_brier_score",
    "integrated_calibration_index",
    "integrated_log_score",
    "log_score",
    "mean_calibration",
    "metric",
    "metric_names",
    "net_benefit",
    "register_metric",
    "restricted_absolute_error",
    "survival_calibration_curve",
    "survival_roc_curve",
    "time_grid",
    "unregister_metric",
]
