"""Simulated data, where the truth behind dependent censoring is known."""

from cocensor.simulate.synthetic import SimulatedSurvival, SyntheticDesign

__all__ = ["SimulatedSurvival", "SyntheticDesign"]
