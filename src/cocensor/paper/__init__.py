"""The paper's figures and tables, one experiment each, and what runs them."""

from cocensor.paper.base import Config, Experiment
from cocensor.paper.copula_scatter import CopulaScatter
from cocensor.paper.fit_cost import FitCost, FitCostConfig
from cocensor.paper.floor import Floor
from cocensor.paper.real_covariates import SemiSynthetic, SemiSyntheticSample
from cocensor.paper.runner import Outcome, run
from cocensor.paper.semi_synthetic import (
    SemiSyntheticConfig,
    SemiSyntheticCopula,
    SemiSyntheticExperiment,
)
from cocensor.paper.synthetic import (
    Censoring,
    ConditionalCounterpart,
    Dependence,
    IntervalEnd,
    Misspecification,
    SyntheticConfig,
)

__all__ = [
    "Config",
    "Experiment",
    "FitCostConfig",
    "Outcome",
    "SemiSynthetic",
    "SemiSyntheticConfig",
    "SemiSyntheticSample",
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
    IntervalEnd,
    SemiSyntheticExperiment,
    SemiSyntheticCopula,
    Floor,
    FitCost,
)


def experiments() -> dict[str, type[Experiment]]:
    """The experiments by name.

    Returns
    -------
    dict of class
        By name, in the order of the paper.

    Examples
    --------
    >>> from cocensor.paper import experiments
    >>> list(experiments())
    ['copula-scatter', 'dependence', 'censoring', 'misspecification', 'cg-q', 'horizon', ...]
    """
    return {experiment.name: experiment for experiment in _EXPERIMENTS}
