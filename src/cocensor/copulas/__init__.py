"""Copulas: the dependence between event and censoring, apart from their margins."""

from cocensor.copulas.base import ArchimedeanCopula, Copula
from cocensor.copulas.clayton import Clayton
from cocensor.copulas.frank import Frank
from cocensor.copulas.gaussian import Gaussian
from cocensor.copulas.gumbel import Gumbel
from cocensor.copulas.independence import Independence
from cocensor.copulas.joe import Joe
from cocensor.copulas.registry import copula, copula_families

__all__ = [
    "ArchimedeanCopula",
    "Clayton",
    "Copula",
    "Frank",
    "Gaussian",
    "Gumbel",
    "Independence",
    "Joe",
    "copula",
    "copula_families",
]
