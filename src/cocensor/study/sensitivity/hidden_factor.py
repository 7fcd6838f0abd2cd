"""The dependence that a factor induces which acts on event and dropout and is left out of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, log, pi, sqrt

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray, IntArray, check_number
from cocensor._numerics import by_weight, root

# Nodes of the integral over a normal factor, in the logarithm of its distance from 0: on this scale the trapezoidal
# rule converges geometrically, however strong the factor.
_LOG_DISTANCE = np.arange(-40.0, 3.6, 0.1)
_MOST = log(np.finfo(np.float64).max)
# The most bins of differences within pairs of subjects, and the most pairs.
_BINS = 256
_PAIRS = 1 << 15


@dataclass(frozen=True, eq=False)
class Contrasts:
    r"""Differences in a factor between two subjects that are alike in the rest, and their chances.

    With proportional hazards, and event and dropout independent given all covariates, two subjects that differ by d are
    ranked by their event times with :math:`P(E_1 < E_2) - P(E_1 > E_2) = \tanh(d'\beta/2)`, by their dropout times
    likewise with γ: leaving the factor out induces :math:`\tau = \sum_d w_d \tanh(d'\beta/2) \tanh(d'\gamma/2)`.
    """

    differences: FloatArray  # (m, columns)
    weights: FloatArray  # (m,), the chance of each; what is missing to 1 is the chance of no difference

    def taus(self, on_event: FloatArray, on_dropout: FloatArray) -> FloatArray:
        """Kendall's τ by row of log hazard ratios, (rows, columns) each."""
        differences = self.differences.T
        ranked = np.tanh(0.5 * on_event @ differences)
        ranked *= np.tanh(0.5 * on_dropout @ differences)
        return ranked @ self.weights

    def tau(self, on_event: FloatArray, on_dropout: FloatArray) -> float:
        """Kendall's τ at log hazard ratios, one for each column."""
        return float(self.taus(on_event[None], on_dropout[None])[0])

    def aligned(self, on_event: FloatArray, on_dropout: FloatArray) -> float:
        """Return what τ would be if the effects had the same sign in every pair."""
        event, dropout = (np.abs(np.tanh(0.5 * self.differences @ on)) for on in (on_event, on_dropout))
        return float((event * dropout) @ self.weights)


def induced_tau(hazard_ratio_event: float, hazard_ratio_dropout: float) -> float:
    r"""Kendall's τ of event and dropout that a hidden standard normal factor induces.

    With hazard ratios :math:`e^\beta` on the event and :math:`e^\gamma` on dropout per standard deviation,
    :math:`\tau = E[\tanh(\beta\Delta/2) \tanh(\gamma\Delta/2)]`, Δ ~ N(0, 2): two subjects differ by Δ. Assumes
    proportional hazards, and that event and dropout are independent given the factor.

    Parameters
    ----------
    hazard_ratio_event, hazard_ratio_dropout : float
        Per standard deviation of the factor, above 0.

    Returns
    -------
    float

    Examples
    --------
    >>> from cocensor.study.sensitivity import induced_tau
    >>> round(induced_tau(1.5, 1.2), 3), round(induced_tau(1.5, 1 / 1.2), 3)
    (0.034, -0.034)
    """
    ratios = {"hazard_ratio_event": hazard_ratio_event, "hazard_ratio_dropout": hazard_ratio_dropout}
    for name, ratio in ratios.items():
        if check_number(ratio, name) <= 0:
            raise ValueError(f"{name} must be above 0, but is {ratio}.")
    return _normal_tau(*(log(ratio) for ratio in ratios.values()))


def hidden_hazard_ratio(tau: float) -> float:
    r"""How strong a hidden factor must be to induce τ: its hazard ratio per standard deviation, on event and dropout.

    The factor is standard normal and acts alike on both: the root h of :math:`|\tau| = E[\tanh^2(\log(h) \Delta/2)]`,
    Δ ~ N(0, 2). For negative τ it acts on dropout by 1/h. Infinite where h is beyond double precision.

    Parameters
    ----------
    tau : float
        Kendall's τ, strictly between −1 and 1.

    Returns
    -------
    float
        The hazard ratio h, at least 1.

    Examples
    --------
    >>> from cocensor.study.sensitivity import hidden_hazard_ratio
    >>> [round(hidden_hazard_ratio(tau), 2) for tau in (0.0, 0.1, 0.2, 0.4, 0.5, -0.5)]
    [1.0, 1.64, 2.19, 4.21, 6.63, 6.63]
    """
    size = abs(check_number(tau, "tau", lower=-1.0, upper=1.0))
    if size == 0.0:
        return 1.0
    if _normal_tau(_MOST, _MOST) <= size:
        return inf
    # tanh² is at most the square of its argument, so that τ is at most half the squared log hazard ratio.
    return exp(root(lambda effect: _normal_tau(effect, effect) - size, sqrt(2.0 * size) * 0.99, _MOST))


def _normal_tau(on_event: float, on_dropout: float) -> float:
    distance = np.exp(_LOG_DISTANCE)
    density = np.exp(-0.5 * distance**2) * distance * (2.0 * 0.1 / sqrt(2.0 * pi))
    half = distance / sqrt(2.0)
    return float((np.tanh(on_event * half) * np.tanh(on_dropout * half)) @ density)


@dataclass(frozen=True, eq=False)
class Covariate:
    """A covariate: its columns, how it varies given the rest, and how much each subject adds to that (mean 1)."""

    name: str
    places: npt.NDArray[np.intp]
    contrasts: Contrasts
    spread: FloatArray


def covariates_of(Z: FloatArray, sources: Sequence[str], share: FloatArray) -> list[Covariate]:
    """All covariates of independent standardised columns; ``sources`` has the covariate that each comes from.

    ``share`` is the share that each subject has of all weight.
    """
    n, p = Z.shape
    precision = np.linalg.inv(Z.T @ by_weight(Z, share))
    covariates = []
    for name in dict.fromkeys(sources):
        own = np.flatnonzero([source == name for source in sources])
        # The residuals of the regression on all other columns.
        residuals = Z @ np.linalg.solve(precision[np.ix_(own, own)], precision[own]).T
        residuals *= np.sqrt(n / (n - 1 - p + own.size))
        steps = np.ptp(Z[:, own], axis=0)
        is_end = (Z[:, own].min(axis=0) == Z[:, own]) | (Z[:, own].max(axis=0) == Z[:, own])
        # Columns of two values have levels, others numbers.
        contrasts = (
            _of_levels(residuals, steps, share) if is_end.all() else of_numbers(residuals[:, 0], share)
        )
        spread = share * ((residuals / steps) ** 2).sum(axis=1)
        covariates.append(Covariate(name, own, contrasts, spread / spread.mean()))
    return covariates


def pair_differences(Z: FloatArray, share: FloatArray) -> tuple[Contrasts, tuple[IntArray, IntArray]]:
    """Return the differences of pairs of subjects in all columns, and the pairs: all, or enough of them at random.

    The pairs do not depend on the order of the rows.
    """
    n = len(Z)
    if n * (n - 1) // 2 <= _PAIRS:
        first, second = np.triu_indices(n, 1)
    else:
        order = np.lexsort(Z.T)[np.random.default_rng(0).permutation(n)]
        index = np.arange(_PAIRS)
        first, second = order[index % n], order[(index + 1 + index // n) % n]
    weights = share[first] * share[second]
    return Contrasts(Z[first] - Z[second], weights / weights.sum()), (first, second)


def _of_levels(residuals: FloatArray, steps: FloatArray, share: FloatArray) -> Contrasts:
    """From the covariances of the residuals of indicators, each of which steps by so much where it holds."""
    k = residuals.shape[1]
    indicators = residuals / steps
    # The base level holds where no other does.
    levels = np.column_stack((-indicators.sum(axis=1), indicators))
    a, b = np.triu_indices(k + 1, 1)
    chances = np.maximum(-2.0 * (levels.T @ by_weight(levels, share))[a, b], 0.0)
    at = np.vstack((np.zeros(k), np.diag(steps)))
    return Contrasts(at[b] - at[a], chances)


def of_numbers(residuals: FloatArray, share: FloatArray) -> Contrasts:
    """From the differences of all pairs, in bins, each by its root mean square: τ goes with squares."""
    order = np.argsort(residuals, kind="stable")
    centred = residuals[order] - share @ residuals
    nodes, weights = _binned(centred, share[order], centred**2)
    # What varies within bins is given back to all.
    nodes *= np.sqrt((share[order] @ centred**2) / (weights @ nodes**2))
    a, b = np.triu_indices(nodes.size, 1)
    squares, pairs = (nodes[a] - nodes[b]) ** 2, weights[a] * weights[b] * (2.0 / (1.0 - share @ share))
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
