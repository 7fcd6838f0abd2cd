"""Scores of predictions that are arrays of another library than numpy, computed where they are."""

from cocensor.arrays.kernel import Losses, mean_losses
from cocensor.arrays.status import PlacedStatus
from cocensor.arrays.tables import ArrayTable, are_foreign, refuse_foreign

__all__ = ["ArrayTable", "Losses", "PlacedStatus", "are_foreign", "mean_losses", "refuse_foreign"]
