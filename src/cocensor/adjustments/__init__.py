"""Who is still event-free at t? One answer a file, each under a stated assumption about the censoring."""

from cocensor.adjustments.aipcw import AIPCW
from cocensor.adjustments.base import Adjustment, Fitted
from cocensor.adjustments.dependent_ipcw import DependentIPCW
from cocensor.adjustments.gradient import DenseGradient, Functionals, Gradient, Linearised, Part
from cocensor.adjustments.imputation import Imputation
from cocensor.adjustments.ipcw import IPCW
from cocensor.adjustments.margin_time import MarginTime
from cocensor.adjustments.oracle import Oracle
from cocensor.adjustments.registry import (
    adjustment,
    adjustment_label,
    adjustment_name,
    adjustment_names,
    needs_copula,
    register_adjustment,
    unregister_adjustment,
)
from cocensor.adjustments.status import EventWeights, Group
from cocensor.adjustments.tile import Tile
from cocensor.adjustments.true_law import TrueLaw
from cocensor.adjustments.weights import EVENT, EVENT_FREE, NOTHING, Imputed, Observed, Terms

__all__ = [
    "AIPCW",
    "EVENT",
    "EVENT_FREE",
    "IPCW",
    "NOTHING",
    "Adjustment",
    "DenseGradient",
    "DependentIPCW",
    "EventWeights",
    "Fitted",
    "Functionals",
    "Gradient",
    "Group",
    "Imputation",
    "Imputed",
    "Linearised",
    "MarginTime",
    "Observed",
    "Oracle",
    "Part",
    "Terms",
    "Tile",
    "TrueLaw",
    "adjustment",
    "adjustment_label",
    "adjustment_name",
    "adjustment_names",
    "needs_copula",
    "register_adjustment",
    "unregister_adjustment",
]
