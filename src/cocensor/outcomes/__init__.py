"""Observed survival outcomes: who had the event, who dropped out and why, who reached the end of the study."""

from cocensor.outcomes.dates import UNITS, check_date_format, is_date
from cocensor.outcomes.end_of_study import ended_by_reason, unmarked_end
from cocensor.outcomes.risk_table import MarginSteps, RiskTable, WhichMargin
from cocensor.outcomes.survival import Survival, structured
from cocensor.outcomes.time_axis import TimeAxis, shown_time, with_unit

__all__ = [
    "UNITS",
    "MarginSteps",
    "RiskTable",
    "Survival",
    "TimeAxis",
    "WhichMargin",
    "check_date_format",
    "ended_by_reason",
    "is_date",
    "shown_time",
    "structured",
    "unmarked_end",
    "with_unit",
]
