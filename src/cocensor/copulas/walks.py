"""Ways through a family of copulas, away from independence."""

from __future__ import annotations

from collections.abc import Iterable

from cocensor.copulas.base import Copula


def walks_from_independence(family: type[Copula], taus: Iterable[float]) -> list[list[float]]:
    """The τ other than 0 that a family reaches, outwards from 0: first those above, then those below; no empty walk."""
    low, high = family.tau_range
    reached = sorted((float(tau) for tau in taus if tau != 0 and low < tau < high), key=abs)
    walks = ([tau for tau in reached if tau > 0], [tau for tau in reached if tau < 0])
    return [walk for walk in walks if walk]
