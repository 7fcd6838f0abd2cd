"""Who is still event-free at t? One answer a file, each under a stated assumption about the censoring."""

from cocensor.adjustments.aipcw import AIPCW
from cocensor.adjustments.base import Adjustment, Fitted
from cocensor.adjustments.dependent_ipcw import DependentIPCW
from cocensor.adjustments.imputation import Imputation
from cocensor.adjustments.ipcw import IPCW
from cocensor.adjustments.margin_time import MarginTime
from cocensor.adjustments.oracle import Oracle, TrueLaw
from cocensor.adjustments.registry import (
    adjustment,
    adjustment_names,
    register_adjustment,
    unregister_adjustment,
)
from cocensor.adjustments.weights import EventWeights, Modelled

__all__ = [
    "AIPCW",
    "IPCW",
    "Adjustment",
    "DependentIPCW",
    "EventWeights",
    "Fitted",
    "Imputation",
    "MarginTime",
    "Modelled",
    "Oracle",
    "TrueLaw",
    "adjustment",
    "adjustment_names",
    "register_adjustment",
    "unregister_adjustment",
]
