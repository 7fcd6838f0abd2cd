"""Ways through a family of copulas, away from independence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from cocensor._checks import FloatArray, as_vector
from cocensor.copulas.base import Copula


def as_taus(taus: Any, name: str = "taus") -> FloatArray:
    """Different values of Kendall's τ, in their order."""
    grid = np.unique(as_vector(taus, name, single=True))
    beyond = grid[np.abs(grid) >= 1]
    if beyond.size:
        raise ValueError(f"{name} must lie strictly between -1 and 1, but one is {beyond[0]:g}.")
    return grid


def walks_from_independence(family: type[Copula], taus: Iterable[float]) -> list[list[float]]:
    """The τ other than 0 that a family reaches, outwards from 0: first those above, then those below; no empty walk."""
    low, high = family.tau_range
    reached = sorted((float(tau) for tau in taus if tau != 0 and low < tau < high), key=abs)
    walks = ([tau for tau in reached if tau > 0], [tau for tau in reached if tau < 0])
    return [walk for walk in walks if walk]
