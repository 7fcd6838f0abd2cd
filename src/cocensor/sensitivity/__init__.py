"""How much an answer moves as the assumed dependence moves."""

from cocensor.sensitivity.after_dropout import HAZARD_RATIO, RATIOS, AfterDropout, as_ratios
from cocensor.sensitivity.benchmark_result import Benchmark, PlausibleTau
from cocensor.sensitivity.benchmarks import plausible_tau
from cocensor.sensitivity.bounding import find_bounds
from cocensor.sensitivity.bounds import Bound, BoundCurve, Bounds
from cocensor.sensitivity.changes import Change, Stretch
from cocensor.sensitivity.grid import FAMILIES, default_taus, sensitivity
from cocensor.sensitivity.hidden import hidden_hazard_ratio, induced_tau
from cocensor.sensitivity.margins import MarginCurves, margin_curves
from cocensor.sensitivity.plausible import PlausibleRange, WithinPlausible
from cocensor.sensitivity.result import Sensitivity
from cocensor.sensitivity.tips import Tip

__all__ = [
    "FAMILIES",
    "HAZARD_RATIO",
    "RATIOS",
    "AfterDropout",
    "Benchmark",
    "Bound",
    "BoundCurve",
    "Bounds",
    "Change",
    "MarginCurves",
    "PlausibleRange",
    "PlausibleTau",
    "Sensitivity",
    "Stretch",
    "Tip",
    "WithinPlausible",
    "as_ratios",
    "default_taus",
    "find_bounds",
    "hidden_hazard_ratio",
    "induced_tau",
    "margin_curves",
    "plausible_tau",
    "sensitivity",
]
