"""Plots: data computed apart from drawing; matplotlib is imported only when something is drawn."""

from cocensor.views.plots.curves import CurveDisplay
from cocensor.views.plots.forest import ForestDisplay

__all__ = ["CurveDisplay", "ForestDisplay"]
