r"""How the chance of being event-free after a censoring answers to the two margins, for Archimedean copulas.

With :math:`e(x) = |s\varphi'(s)|` at :math:`s = e^{-x}`, the hazard :math:`z = -\log C(e^{-x}, e^{-y})` has
:math:`e(z)\,dz = e(x)\,dx + e(y)\,dy`. So all chances move with :math:`\varphi(S_E) + \varphi(S_C)`:

- after an end of study :math:`C = e^{-z}`, and :math:`d\log C = -dz`;
- after a dropout between the steps of S_C, :math:`h_2 \propto 1/|\varphi'(C)| =: \rho(z)`, and
  :math:`d\log\rho = -m(z)\,dz` with :math:`m = s\varphi''/|\varphi'|`;
- over a step of S_C the loss is :math:`P = C^- - C^+ = \int \rho\,d\varphi`, and with :math:`\varphi(S_C)` at its two
  ends, :math:`dP = -\rho^-\,d\varphi^- + \rho^+\,d\varphi^+` plus :math:`-(\rho^- - \rho^+)\,d\varphi(S_E)`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cocensor._checks import FloatArray
from cocensor._numerics import log1mexp
from cocensor.copulas import ArchimedeanCopula

# Below such changes of log ρ and of z over a step, a difference has lost its digits, and the middle is exact.
_FLAT, _NARROW = 1e-7, 1e-4


class Chance(NamedTuple):
    """The log of a chance, and its derivatives by the hazards of S_E, and of S_C before and after the censoring.

    What is the same for all values of S_E is left out: it cancels in a ratio of chances. None is 0.
    """

    log: FloatArray
    by_event: FloatArray
    by_before: FloatArray | None = None
    by_after: FloatArray | None = None


#: The chance at the hazard x of S_E and the hazards of S_C before and after the censoring; all broadcast.
ChanceOf = Callable[[ArchimedeanCopula, FloatArray, FloatArray, FloatArray], Chance]


def of_survival(copula: ArchimedeanCopula, x: FloatArray, before: FloatArray, after: FloatArray) -> Chance:
    """S_E alone."""
    return Chance(-x, np.full_like(x, -1.0))


def of_end(copula: ArchimedeanCopula, x: FloatArray, before: FloatArray, after: FloatArray) -> Chance:
    """C(S_E, S_C) with S_C after the censoring, an end of study."""
    z = -copula.log_cdf_hazard(x, after)
    by_event, by_dropout = _by_both(copula, -copula.log_elasticity(z), x, after)
    return Chance(-z, by_event, None, by_dropout)


def of_last(copula: ArchimedeanCopula, x: FloatArray, before: FloatArray, after: FloatArray) -> Chance:
    """C(S_E, S_C) with S_C before the censoring: a step that takes everyone, or an end beyond it."""
    log, by_event, _, by_dropout = of_end(copula, x, after, before)
    return Chance(log, by_event, by_dropout)


def of_dropout(copula: ArchimedeanCopula, x: FloatArray, before: FloatArray, after: FloatArray) -> Chance:
    """h2(S_E, S_C): a dropout between the steps of S_C."""
    log, log_rate = _density(copula, x, after)
    by_event, by_dropout = _by_both(copula, log_rate, x, after)
    return Chance(log, by_event, None, by_dropout)


def of_step(copula: ArchimedeanCopula, x: FloatArray, before: FloatArray, after: FloatArray) -> Chance:
    r"""The loss P of C(S_E, S_C) over a step of S_C.

    With w the rise of φ(S_C) and :math:`\bar\rho = P/w`, the derivatives are :math:`-(\rho^-/\bar\rho - 1)/w` by φ(S_C)
    before the step and :math:`(\rho^+/\bar\rho - 1)/w` by that after it, less the 1/w that is the same for all S_E.
    """
    z, z_after = (-copula.log_cdf_hazard(x, y) for y in (before, after))
    log_e, log_e_after = copula.log_elasticity(z), copula.log_elasticity(z_after)
    # How far z rises and log ρ falls: never back, but for rounding.
    gap, fall = (
        np.maximum(rise, np.finfo(float).tiny) for rise in (z_after - z, z_after - z + log_e_after - log_e)
    )
    flat = (fall < _FLAT) & (gap < _NARROW)
    log_w = copula.log_rise(before, after)
    log_lost = log1mexp(gap) - log_w
    log, log_rate = log_lost - z, log1mexp(np.where(flat, 1.0, fall)) - log1mexp(gap) - log_e
    log_excess, log_excess_after = -log_e - log_lost, -log_e_after - log_lost - gap
    if flat.any():
        log_middle, log_rate_middle = _density(copula, x, 0.5 * (before + after))
        log, log_rate = np.where(flat, log_middle, log), np.where(flat, log_rate_middle, log_rate)
        half = 0.5 * np.exp(np.where(flat, log_w + log_rate, -np.inf))
        log_excess = np.where(flat, half, log_excess)
        log_excess_after = np.where(flat, -half, log_excess_after)
    unit, unit_after = copula.log_elasticity(before) - log_w, copula.log_elasticity(after) - log_w
    return Chance(
        log,
        -np.exp(copula.log_elasticity(x) + log_rate),
        np.exp(unit) - np.exp(unit + log_excess),
        np.exp(unit_after + log_excess_after) - np.exp(unit_after),
    )


def _density(copula: ArchimedeanCopula, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Log ρ, and the log of the rate at which it falls with φ(S_E) + φ(S_C)."""
    z = -copula.log_cdf_hazard(x, y)
    log_e = copula.log_elasticity(z)
    return -z - log_e, copula.log_curvature(z) - log_e


def _by_both(
    copula: ArchimedeanCopula, log_rate: FloatArray, x: FloatArray, y: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """By x and y, from the log of the rate at which the log of a chance falls with φ(S_E) + φ(S_C)."""
    return -np.exp(copula.log_elasticity(x) + log_rate), -np.exp(copula.log_elasticity(y) + log_rate)
