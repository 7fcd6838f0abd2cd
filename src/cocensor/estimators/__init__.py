"""Nonparametric estimators of the margins."""

from cocensor.estimators.copula_graphic import CopulaGraphic
from cocensor.estimators.cox import CoxPH
from cocensor.estimators.kaplan_meier import KaplanMeier

__all__ = ["CopulaGraphic", "CoxPH", "KaplanMeier"]
