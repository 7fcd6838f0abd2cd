"""How much an answer moves as the assumed dependence moves."""

from cocensor.sensitivity.after_dropout import RATIOS, AfterDropout, as_ratios
from cocensor.sensitivity.grid import FAMILIES, TAUS, sensitivity
from cocensor.sensitivity.margins import MarginCurves, margin_curves
from cocensor.sensitivity.result import Change, Sensitivity, Stretch

__all__ = [
    "FAMILIES",
    "RATIOS",
    "TAUS",
    "AfterDropout",
    "Change",
    "MarginCurves",
    "Sensitivity",
    "Stretch",
    "as_ratios",
    "margin_curves",
    "sensitivity",
]
