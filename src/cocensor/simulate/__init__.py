"""Simulated data whose truth is known."""

from cocensor.simulate.simulated import SimulatedSurvival
from cocensor.simulate.synthetic import SyntheticDesign, SyntheticSample

__all__ = ["SimulatedSurvival", "SyntheticDesign", "SyntheticSample"]
