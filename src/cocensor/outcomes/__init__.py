"""Observed survival outcomes: who had the event, who dropped out and why, who reached the end of the study."""

from cocensor.outcomes.risk_table import MarginSteps, RiskTable, WhichMargin
from cocensor.outcomes.survival import Survival, structured

__all__ = ["MarginSteps", "RiskTable", "Survival", "WhichMargin", "structured"]
