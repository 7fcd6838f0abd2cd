"""Plots: data computed apart from drawing; matplotlib is imported only when something is drawn."""

from cocensor.views.plots.benchmarks import BenchmarkDisplay
from cocensor.views.plots.bound_curves import BoundCurvesDisplay
from cocensor.views.plots.bounds import BoundsDisplay
from cocensor.views.plots.calibration import CalibrationDisplay
from cocensor.views.plots.comparison import ComparisonDisplay
from cocensor.views.plots.d_calibration import DCalibrationDisplay
from cocensor.views.plots.decision_curve import DecisionCurveDisplay
from cocensor.views.plots.differences import DifferenceDisplay
from cocensor.views.plots.imputation_fit import ImputationFitDisplay
from cocensor.views.plots.latent_times import LatentTimesDisplay
from cocensor.views.plots.metrics import MetricsDisplay
from cocensor.views.plots.outcomes import OutcomesDisplay
from cocensor.views.plots.profile_likelihood import ProfileLikelihoodDisplay
from cocensor.views.plots.roc import RocDisplay
from cocensor.views.plots.score_curve import ScoreCurveDisplay
from cocensor.views.plots.sensitivity import SensitivityDisplay
from cocensor.views.plots.survival_curve import SurvivalCurveDisplay

__all__ = [
    "BenchmarkDisplay",
    "BoundCurvesDisplay",
    "BoundsDisplay",
    "CalibrationDisplay",
    "ComparisonDisplay",
    "DCalibrationDisplay",
    "DecisionCurveDisplay",
    "DifferenceDisplay",
    "ImputationFitDisplay",
    "LatentTimesDisplay",
    "MetricsDisplay",
    "OutcomesDisplay",
    "ProfileLikelihoodDisplay",
    "RocDisplay",
    "ScoreCurveDisplay",
    "SensitivityDisplay",
    "SurvivalCurveDisplay",
]
