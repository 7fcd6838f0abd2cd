"""How much an answer moves as the assumed dependence moves."""

from cocensor.sensitivity.grid import FAMILIES, TAUS, as_taus, sensitivity
from cocensor.sensitivity.margins import MarginCurves, margin_curves
from cocensor.sensitivity.result import Change, Sensitivity, Stretch

__all__ = [
    "FAMILIES",
    "TAUS",
    "Change",
    "MarginCurves",
    "Sensitivity",
    "Stretch",
    "as_taus",
    "margin_curves",
    "sensitivity",
]
