"""Scores: each reads a status, and nothing else, about the censoring."""

from cocensor.metrics.absolute_error import RestrictedAbsoluteError, restricted_absolute_error
from cocensor.metrics.adjusted_loss import AdjustedLoss
from cocensor.metrics.auc import CumulativeDynamicAUC, RocCurve, cumulative_dynamic_auc, survival_roc_curve
from cocensor.metrics.base import Linear as Linear
from cocensor.metrics.base import Metric, MetricValue
from cocensor.metrics.base import Section as Section
from cocensor.metrics.base import SectionMetric as SectionMetric
from cocensor.metrics.calibration import (
    HighCalibrationError,
    IntegratedCalibrationIndex,
    MedianCalibrationError,
    integrated_calibration_index,
)
from cocensor.metrics.calibration_curve import (
    CalibrationCurve,
    CalibrationGroups,
    MeanCalibration,
    mean_calibration,
    survival_calibration_curve,
)
from cocensor.metrics.concordance import Concordance, concordance_index, harrell_concordance
from cocensor.metrics.d_calibration import DCalibration, DCalibrationResult, d_calibration
from cocensor.metrics.kernel import Loss as Loss
from cocensor.metrics.kernel import PointwiseMetric
from cocensor.metrics.net_benefit import DecisionCurve, NetBenefit, decision_curve, net_benefit
from cocensor.metrics.proper import (
    BrierDecomposition,
    BrierScore,
    Discrimination,
    IntegratedBrierScore,
    IntegratedLogScore,
    Miscalibration,
    brier_decomposition,
    brier_score,
    brier_skill_score,
    integrated_brier_score,
    integrated_log_score,
    log_score,
)
from cocensor.metrics.registry import metric, metric_names, register_metric, unregister_metric
from cocensor.metrics.scoring import time_grid

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
