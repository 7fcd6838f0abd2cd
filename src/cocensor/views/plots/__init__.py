"""Plots: data computed apart from drawing; matplotlib is imported only when something is drawn."""

from cocensor.views.plots.curves import CurveDisplay
from cocensor.views.plots.d_calibration import DCalibrationDisplay
from cocensor.views.plots.forest import ForestDisplay
from cocensor.views.plots.imputation_fit import ImputationFitDisplay
from cocensor.views.plots.sensitivity import DifferenceDisplay, SensitivityDisplay

__all__ = [
    "CurveDisplay",
    "DCalibrationDisplay",
    "DifferenceDisplay",
    "ForestDisplay",
    "ImputationFitDisplay",
    "SensitivityDisplay",
]
