"""Scores of predictions that are arrays of another library than numpy, computed where they are."""

from cocensor.arrays.kernel import Losses, mean_losses
from cocensor.arrays.status import PlacedStatus
from cocensor.arrays.tables import ArrayTable, foreign_models

__all__ = ["ArrayTable", "Losses", "PlacedStatus", "foreign_models", "mean_losses"]
