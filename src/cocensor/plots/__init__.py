"""Plots: data computed apart from drawing; matplotlib is imported only when something is drawn."""

from cocensor.plots.brier_curve import BrierCurveDisplay
from cocensor.plots.latent_times import LatentTimesDisplay
from cocensor.plots.outcomes import OutcomesDisplay
from cocensor.plots.profile_likelihood import ProfileLikelihoodDisplay
from cocensor.plots.sensitivity import SensitivityDisplay
from cocensor.plots.survival_curve import SurvivalCurveDisplay

__all__ = [
    "BrierCurveDisplay",
    "LatentTimesDisplay",
    "OutcomesDisplay",
    "ProfileLikelihoodDisplay",
    "SensitivityDisplay",
    "SurvivalCurveDisplay",
]
