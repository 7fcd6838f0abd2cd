"""Sampling error: influence functions, intervals, comparisons."""

from cocensor.inference.influence import Influence

__all__ = ["Influence"]
