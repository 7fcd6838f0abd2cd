"""How much an answer moves as the assumed dependence moves."""

from cocensor.study.sensitivity.benchmarks import plausible_tau
from cocensor.study.sensitivity.bounds import Bound, BoundCurve, Bounds, find_bounds
from cocensor.study.sensitivity.grid import ALL, Grid, stretches
from cocensor.study.sensitivity.hidden import hidden_hazard_ratio, induced_tau
from cocensor.study.sensitivity.margins import MarginCurves, margin_curves
from cocensor.study.sensitivity.plausible import Benchmark, PlausibleRange, PlausibleTau
from cocensor.study.sensitivity.result import Sensitivity, Tip
from cocensor.study.sensitivity.walk import default_taus, sensitivity

__all__ = [
    "ALL",
    "Benchmark",
    "Bound",
    "BoundCurve",
    "Bounds",
    "Grid",
    "MarginCurves",
    "PlausibleRange",
    "PlausibleTau",
    "Sensitivity",
    "Tip",
    "default_taus",
    "find_bounds",
    "hidden_hazard_ratio",
    "induced_tau",
    "margin_curves",
    "plausible_tau",
    "sensitivity",
    "stretches",
]
