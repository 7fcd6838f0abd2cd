"""How much an answer moves as the assumed dependence moves."""

from cocensor.sensitivity.bounding import find_bounds
from cocensor.sensitivity.bounds import Bound, BoundCurve, Bounds
from cocensor.sensitivity.grid import FAMILIES, TAUS, sensitivity
from cocensor.sensitivity.margins import MarginCurves, margin_curves
from cocensor.sensitivity.result import Change, Sensitivity, Stretch

__all__ = [
    "FAMILIES",
    "TAUS",
    "Bound",
    "BoundCurve",
    "Bounds",
    "Change",
    "MarginCurves",
    "Sensitivity",
    "Stretch",
    "find_bounds",
    "margin_curves",
    "sensitivity",
]
