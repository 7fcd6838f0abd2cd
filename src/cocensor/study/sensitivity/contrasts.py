"""How two subjects differ in one covariate who are alike in the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray, IntArray
from cocensor.study.sensitivity.hidden import Contrasts

_BINS = 256
_PAIRS = 1 << 15


@dataclass(frozen=True, eq=False)
class Covariate:
    """A covariate: its columns, how it varies given the rest, and how much each subject adds to that (mean 1)."""

    name: str
    places: npt.NDArray[np.intp]
    contrasts: Contrasts
    spread: FloatArray


def covariates_of(Z: FloatArray, sources: Sequence[str]) -> list[Covariate]:
    """All covariates of independent standardised columns; ``sources`` has the covariate that each comes from."""
    n, p = Z.shape
    precision = np.linalg.inv(Z.T @ Z / n)
    found = []
    for name in dict.fromkeys(sources):
        own = np.flatnonzero([source == name for source in sources])
        # The residuals of the regression on all other columns.
        residuals = Z @ np.linalg.solve(precision[np.ix_(own, own)], precision[own]).T
        residuals *= np.sqrt(n / (n - 1 - p + own.size))
        steps = np.ptp(Z[:, own], axis=0)
        if _two_valued(Z[:, own]).all():
            contrasts = _of_levels(residuals, steps)
        else:
            contrasts = of_numbers(residuals[:, 0])
        spread = ((residuals / steps) ** 2).sum(axis=1)
        found.append(Covariate(name, own, contrasts, spread / spread.mean()))
    return found


def pair_differences(Z: FloatArray) -> tuple[Contrasts, tuple[IntArray, IntArray]]:
    """How pairs of subjects differ in all columns, and who they are: all pairs, or enough of them at random.

    Which pairs these are does not hang on the order of the rows.
    """
    n = len(Z)
    if n * (n - 1) // 2 <= _PAIRS:
        first, second = np.triu_indices(n, 1)
    else:
        order = np.lexsort(Z.T)[np.random.default_rng(0).permutation(n)]
        index = np.arange(_PAIRS)
        first, second = order[index % n], order[(index + 1 + index // n) % n]
    return Contrasts(Z[first] - Z[second], np.full(first.size, 1.0 / first.size)), (first, second)


def _two_valued(Z: FloatArray) -> npt.NDArray[np.bool_]:
    """Which columns take two values."""
    found: npt.NDArray[np.bool_] = ((Z.min(axis=0) == Z) | (Z.max(axis=0) == Z)).all(axis=0)
    return found


def _of_levels(residuals: FloatArray, steps: FloatArray) -> Contrasts:
    """From the covariances of the residuals of indicators, each of which steps by so much where it holds."""
    n, k = residuals.shape
    indicators = residuals / steps
    # The base level holds where no other does.
    levels = np.column_stack((-indicators.sum(axis=1), indicators))
    a, b = np.triu_indices(k + 1, 1)
    chances = np.maximum(-2.0 * (levels.T @ levels / n)[a, b], 0.0)
    at = np.vstack((np.zeros(k), np.diag(steps)))
    return Contrasts(at[b] - at[a], chances)


def of_numbers(residuals: FloatArray) -> Contrasts:
    """From the differences of all pairs, in bins, each by its root mean square: τ goes with squares."""
    n, centred = residuals.size, np.sort(residuals) - residuals.mean()
    nodes, weights = _binned(centred, np.full(n, 1.0 / n), centred**2)
    # What varies within bins is given back to all.
    nodes *= np.sqrt(np.mean(centred**2) / (weights @ nodes**2))
    a, b = np.triu_indices(nodes.size, 1)
    squares, pairs = (nodes[a] - nodes[b]) ** 2, weights[a] * weights[b] * (2.0 * n / (n - 1))
    order = np.argsort(squares)
    squares, pairs = squares[order], pairs[order]
    squares, pairs = _binned(squares, pairs, squares)
    return Contrasts(np.sqrt(squares)[:, None], pairs)


def _binned(ordered: FloatArray, weights: FloatArray, sizes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The means of bins and their weights; all values where there are few.

    A bin has at most twice its part of all weight, and of all size: what is large by itself is alone.
    """
    if ordered.size <= _BINS:
        return ordered, weights
    share = weights / weights.sum() + weights * sizes / (weights @ sizes)
    place = np.floor((np.cumsum(share) - 0.5 * share) * (0.5 * _BINS))
    first = np.flatnonzero(np.diff(place, prepend=-1.0))
    total = np.add.reduceat(weights, first)
    return np.add.reduceat(weights * ordered, first) / total, total
