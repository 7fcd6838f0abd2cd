"""The paper's figures and tables, one experiment each, and what runs them."""

from cocensor.experiments.base import Config, Experiment
from cocensor.experiments.copula_scatter import CopulaScatter
from cocensor.experiments.fit_cost import FitCost, FitCostConfig
from cocensor.experiments.runner import Outcome, run
from cocensor.experiments.semi_synthetic import (
    SemiSyntheticConfig,
    SemiSyntheticCopula,
    SemiSyntheticExperiment,
)
from cocensor.experiments.synthetic import (
    Censoring,
    ConditionalCounterpart,
    Dependence,
    Horizon,
    Misspecification,
    SyntheticConfig,
)

__all__ = [
    "Config",
    "Experiment",
    "FitCostConfig",
    "Outcome",
    "SemiSyntheticConfig",
    "SyntheticConfig",
    "experiments",
    "run",
]

_EXPERIMENTS: tuple[type[Experiment], ...] = (
    CopulaScatter,
    Dependence,
    Censoring,
    Misspecification,
    ConditionalCounterpart,
    Horizon,
    SemiSyntheticExperiment,
    SemiSyntheticCopula,
    FitCost,
)


def experiments() -> dict[str, type[Experiment]]:
    """The experiments by name.

    Examples
    --------
    >>> list(experiments())
    ['copula-scatter', 'dependence', 'censoring', 'misspecification', 'cg-q', 'horizon', ...]
    """
    return {each.name: each for each in _EXPERIMENTS}
