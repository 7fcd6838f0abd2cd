"""Sampling error: influence functions, intervals, comparisons."""

from cocensor.inference.estimates import ConfidenceInterval, Estimates
from cocensor.inference.influence import Influence, influence

__all__ = ["ConfidenceInterval", "Estimates", "Influence", "influence"]
