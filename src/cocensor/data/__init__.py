"""Outcomes, predictions and covariates, and the one border where they are made."""

from cocensor.data.predictions import Predictions
from cocensor.data.risk_table import RiskTable
from cocensor.data.steps import StepFunction
from cocensor.data.survival import Sample, Survival

__all__ = ["Predictions", "RiskTable", "Sample", "StepFunction", "Survival"]
