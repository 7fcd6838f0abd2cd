"""Sampling error: influence functions, intervals, comparisons."""

from cocensor.inference.along_axis import AxisCurve, Lead, lead
from cocensor.inference.bands import Band, simultaneous_quantile
from cocensor.inference.comparisons import (
    Comparison,
    compare,
    indistinguishable_from_best,
    may_be_best,
    pairwise,
)
from cocensor.inference.estimates import ConfidenceInterval, Estimate, Estimates
from cocensor.inference.ignorance import Uncertainty, imbens_manski_constant, uncertainty
from cocensor.inference.influence import Influence, as_estimates, influence
from cocensor.inference.tipping import SignChange, Stretch, tipping_points, undecided

__all__ = [
    "AxisCurve",
    "Band",
    "Comparison",
    "ConfidenceInterval",
    "Estimate",
    "Estimates",
    "Influence",
    "Lead",
    "SignChange",
    "Stretch",
    "Uncertainty",
    "as_estimates",
    "compare",
    "imbens_manski_constant",
    "indistinguishable_from_best",
    "influence",
    "lead",
    "may_be_best",
    "pairwise",
    "simultaneous_quantile",
    "tipping_points",
    "uncertainty",
    "undecided",
]
