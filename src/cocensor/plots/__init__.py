"""Plots: data computed apart from drawing; matplotlib is imported only when something is drawn."""

from cocensor.plots.benchmarks import BenchmarkDisplay
from cocensor.plots.bound_curves import BoundCurvesDisplay
from cocensor.plots.bounds import BoundsDisplay
from cocensor.plots.calibration import CalibrationDisplay
from cocensor.plots.comparison import ComparisonDisplay
from cocensor.plots.d_calibration import DCalibrationDisplay
from cocensor.plots.decision_curve import DecisionCurveDisplay
from cocensor.plots.differences import DifferenceDisplay
from cocensor.plots.judge_fit import JudgeFitDisplay
from cocensor.plots.latent_times import LatentTimesDisplay
from cocensor.plots.metrics import MetricsDisplay
from cocensor.plots.outcomes import OutcomesDisplay
from cocensor.plots.profile_likelihood import ProfileLikelihoodDisplay
from cocensor.plots.roc import RocDisplay
from cocensor.plots.score_curve import ScoreCurveDisplay
from cocensor.plots.sensitivity import SensitivityDisplay
from cocensor.plots.survival_curve import SurvivalCurveDisplay

__all__ = [
    "BenchmarkDisplay",
    "BoundCurvesDisplay",
    "BoundsDisplay",
    "CalibrationDisplay",
    "ComparisonDisplay",
    "DCalibrationDisplay",
    "DecisionCurveDisplay",
    "DifferenceDisplay",
    "JudgeFitDisplay",
    "LatentTimesDisplay",
    "MetricsDisplay",
    "OutcomesDisplay",
    "ProfileLikelihoodDisplay",
    "RocDisplay",
    "ScoreCurveDisplay",
    "SensitivityDisplay",
    "SurvivalCurveDisplay",
]
