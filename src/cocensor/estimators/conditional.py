"""The chance of being event-free, from two margins and their copula, given what a censoring tells."""

from __future__ import annotations

import numpy as np

from cocensor._checks import FloatArray
from cocensor._numerics import hazard_from_survival
from cocensor.copulas import Copula
from cocensor.copulas.steps import log_step


def given_dropout(
    copula: Copula, s_t: FloatArray, s_c: FloatArray, above: FloatArray, below: FloatArray
) -> FloatArray:
    """P(E > t given E > c, C = c): over the step of S_C at c, or its derivative between steps; broadcasts.

    ``s_t`` and ``s_c`` are S_E at t and after c; ``above`` and ``below`` are S_C before and after c.
    """
    x_t, x_c, upper, lower = (hazard_from_survival(each) for each in (s_t, s_c, above, below))
    step = (lower > upper) | (below == 0)

    def log_chance(x: FloatArray) -> FloatArray:
        if not step.any():
            return copula.log_hfunc2_hazard(x, lower)
        # Not even the smallest probability is left below 0.
        lost = np.where(
            below > 0,
            log_step(copula, upper, np.where(step, lower, 2.0 * upper), x),
            copula.log_cdf_hazard(x, upper),
        )
        return lost if step.all() else np.where(step, lost, copula.log_hfunc2_hazard(x, lower))

    # A difference may miss its bound by rounding.
    ratio = np.exp(np.minimum(log_chance(x_t) - log_chance(x_c), 0.0))
    return np.where(s_t > 0, ratio, 0.0)


def given_end(copula: Copula, s_t: FloatArray, s_c: FloatArray, v: FloatArray) -> FloatArray:
    """P(E > t given E > c, C > c) = C(s_t, v)/C(s_c, v), with v = S_C(c) > 0; broadcasts."""
    x_t, x_c, y = (hazard_from_survival(each) for each in (s_t, s_c, v))
    ratio = np.exp(copula.log_cdf_hazard(x_t, y) - copula.log_cdf_hazard(x_c, y))
    return np.where(s_t > 0, np.minimum(ratio, 1.0), 0.0)
