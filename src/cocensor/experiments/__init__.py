"""The paper's figures and tables, one experiment each, and what runs them."""

from cocensor.experiments.base import Config, Experiment
from cocensor.experiments.copula_scatter import CopulaScatter
from cocensor.experiments.runner import Outcome, run
from cocensor.experiments.synthetic import (
    Censoring,
    ConditionalCounterpart,
    Dependence,
    Misspecification,
    SyntheticConfig,
)

__all__ = ["Config", "Experiment", "Outcome", "SyntheticConfig", "experiments", "run"]

_EXPERIMENTS: tuple[type[Experiment], ...] = (
    CopulaScatter,
    Dependence,
    Censoring,
    Misspecification,
    ConditionalCounterpart,
)


def experiments() -> dict[str, type[Experiment]]:
    """The experiments by name.

    Examples
    --------
    >>> list(experiments())
    ['copula-scatter', 'dependence', 'censoring', 'misspecification', 'cg-q']
    """
    return {each.name: each for each in _EXPERIMENTS}
