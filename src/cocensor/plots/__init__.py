"""Plots: data computed apart from drawing; matplotlib is imported only when something is drawn."""

from cocensor.plots.survival_curve import SurvivalCurveDisplay

__all__ = ["SurvivalCurveDisplay"]
