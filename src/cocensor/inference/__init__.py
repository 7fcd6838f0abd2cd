"""Sampling error: influence functions, intervals, comparisons."""

from cocensor.inference.bands import Band, simultaneous_quantile
from cocensor.inference.comparisons import Comparison, compare, not_told_from_best, pairwise
from cocensor.inference.estimates import ConfidenceInterval, Estimate, Estimates
from cocensor.inference.influence import Influence, influence

__all__ = [
    "Band",
    "Comparison",
    "ConfidenceInterval",
    "Estimate",
    "Estimates",
    "Influence",
    "compare",
    "influence",
    "not_told_from_best",
    "pairwise",
    "simultaneous_quantile",
]
