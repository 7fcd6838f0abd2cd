"""How much an answer moves as the assumed dependence moves."""

from cocensor.study.sensitivity.benchmarks import Benchmark, CovariateBenchmarks, plausible_tau
from cocensor.study.sensitivity.bounds import Bound, Bounds
from cocensor.study.sensitivity.dropout_check import DropoutCheck, DropoutTest, dropout_check
from cocensor.study.sensitivity.hidden_factor import hidden_hazard_ratio, induced_tau
from cocensor.study.sensitivity.run import Sensitivity

__all__ = [
    "Benchmark",
    "Bound",
    "Bounds",
    "CovariateBenchmarks",
    "DropoutCheck",
    "DropoutTest",
    "Sensitivity",
    "dropout_check",
    "hidden_hazard_ratio",
    "induced_tau",
    "plausible_tau",
]
