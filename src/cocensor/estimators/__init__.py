"""Nonparametric estimators of the margins."""

from cocensor.estimators.cox import CoxPH
from cocensor.estimators.margin import CopulaGraphic, KaplanMeier

__all__ = ["CopulaGraphic", "CoxPH", "KaplanMeier"]
