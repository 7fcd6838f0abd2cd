"""Plots: data computed apart from drawing; matplotlib is imported only when something is drawn."""

from cocensor.plots.dependence_profile import DependenceProfileDisplay
from cocensor.plots.survival_curve import SurvivalCurveDisplay

__all__ = ["DependenceProfileDisplay", "SurvivalCurveDisplay"]
