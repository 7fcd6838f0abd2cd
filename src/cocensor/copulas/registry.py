"""Copulas by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from cocensor._checks import FloatArray, as_vector
from cocensor.copulas.base import Copula
from cocensor.copulas.clayton import Clayton
from cocensor.copulas.frank import Frank
from cocensor.copulas.gaussian import Gaussian
from cocensor.copulas.gumbel import Gumbel
from cocensor.copulas.independence import Independence
from cocensor.copulas.joe import Joe

_FAMILIES: dict[str, type[Copula]] = {
    family.name: family for family in (Independence, Clayton, Frank, Gumbel, Joe, Gaussian)
}


def copula_families() -> dict[str, type[Copula]]:
    """The copula families by name.

    Returns
    -------
    dict of class
        By name.

    Examples
    --------
    >>> from cocensor.copulas import copula_families
    >>> list(copula_families())
    ['independence', 'clayton', 'frank', 'gumbel', 'joe', 'gaussian']
    """
    return dict(_FAMILIES)


def copula(name: str, *, tau: float | None = None, theta: float | None = None) -> Copula:
    """The copula of a named family, by Kendall's τ or by its textbook parameter.

    Parameters
    ----------
    name : str
        One of :func:`copula_families`.
    tau : float, optional
        Kendall's τ. Give this or ``theta``; independence needs neither.
    theta : float, optional
        The family's textbook parameter.

    Returns
    -------
    Copula

    Examples
    --------
    >>> from cocensor import copula
    >>> copula("clayton", tau=0.5)
    Clayton(theta=2.0)
    >>> copula("gumbel", tau=-0.3)
    Traceback (most recent call last):
    ValueError: tau of the gumbel copula must lie in [0, 1), but is -0.3.
    """
    family = _FAMILIES.get(name.lower()) if isinstance(name, str) else None
    if family is None:
        raise ValueError(f"name must be one of {', '.join(_FAMILIES)}, but is {name!r}.")
    if tau is not None and theta is not None:
        raise ValueError("tau and theta exclude each other: give one of them.")
    if tau is not None:
        return family.from_tau(tau)
    if theta is not None:
        return family(theta)
    if family is Independence:
        return Independence()
    raise ValueError(f"tau or theta is needed for the {name} copula.")


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
