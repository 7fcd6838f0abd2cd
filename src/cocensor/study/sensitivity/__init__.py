"""How much an answer moves as the assumed dependence moves."""

from cocensor.study.sensitivity.benchmarks import (
    Benchmark,
    CovariateBenchmarks,
    PlausibleRange,
    plausible_tau,
)
from cocensor.study.sensitivity.bounds import Bound, BoundCurve, Bounds, find_bounds
from cocensor.study.sensitivity.grid import ALL, Grid, stretches
from cocensor.study.sensitivity.hidden_factor import hidden_hazard_ratio, induced_tau
from cocensor.study.sensitivity.result import Sensitivity, TippingPoint
from cocensor.study.sensitivity.run import default_taus, sensitivity

__all__ = [
    "ALL",
    "Benchmark",
    "Bound",
    "BoundCurve",
    "Bounds",
    "CovariateBenchmarks",
    "Grid",
    "PlausibleRange",
    "Sensitivity",
    "TippingPoint",
    "default_taus",
    "find_bounds",
    "hidden_hazard_ratio",
    "induced_tau",
    "plausible_tau",
    "sensitivity",
    "stretches",
]
