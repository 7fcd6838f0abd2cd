"""How much an answer moves as the assumed dependence moves."""

from cocensor.sensitivity.grid import FAMILIES, TAUS, sensitivity
from cocensor.sensitivity.margins import MarginCurves, margin_curves
from cocensor.sensitivity.result import Change, Sensitivity, Stretch

__all__ = [
    "FAMILIES",
    "TAUS",
    "Change",
    "MarginCurves",
    "Sensitivity",
    "Stretch",
    "margin_curves",
    "sensitivity",
]
