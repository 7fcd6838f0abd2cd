"""Adjustments for censoring: who is still event-free at t, under which assumption."""

from cocensor.adjustments.base import Adjustment
from cocensor.adjustments.conditional import ConditionalStatus
from cocensor.adjustments.dependent_ipcw import DependentIPCW
from cocensor.adjustments.ipcw import IPCW
from cocensor.adjustments.joint_conditional import JointConditional
from cocensor.adjustments.margin_time import MarginTime
from cocensor.adjustments.oracle import Oracle
from cocensor.adjustments.registry import adjustment, adjustments
from cocensor.adjustments.status import Status

__all__ = [
    "IPCW",
    "Adjustment",
    "ConditionalStatus",
    "DependentIPCW",
    "JointConditional",
    "MarginTime",
    "Oracle",
    "Status",
    "adjustment",
    "adjustments",
]
