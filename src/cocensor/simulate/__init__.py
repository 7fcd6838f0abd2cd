"""Simulated data whose truth is known."""

from cocensor.simulate.semi_synthetic import SemiSynthetic, SemiSyntheticSample
from cocensor.simulate.simulated import SimulatedSurvival
from cocensor.simulate.synthetic import SyntheticDesign, SyntheticSample

__all__ = ["SemiSynthetic", "SemiSyntheticSample", "SimulatedSurvival", "SyntheticDesign", "SyntheticSample"]
