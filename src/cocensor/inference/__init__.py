"""Sampling error: influence functions, intervals, comparisons."""

from cocensor.inference.estimates import ConfidenceInterval, Estimates
from cocensor.inference.influence import Influence, as_estimates, influence

__all__ = ["ConfidenceInterval", "Estimates", "Influence", "as_estimates", "influence"]
