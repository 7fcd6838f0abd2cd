"""How many knots the margins need."""

from __future__ import annotations

import numpy as np

from cocensor._newton import Derivatives, minimise
from cocensor._validation import BoolArray, FloatArray
from cocensor.copulas import Independence
from cocensor.joint.likelihood import Likelihood
from cocensor.joint.margins import Basis
from cocensor.outcomes import Survival

#: How many inner knots are tried.
CANDIDATES = (0, 1, 2, 3, 4, 6, 8, 12, 16)
# Each knot needs so many events of its margin.
_EVENTS_PER_KNOT = 10


def chosen_knots(y: Survival, happened: BoolArray, ends: FloatArray | None, most: int, barrier: float) -> int:
    """The number of inner knots with the smallest AIC of the margin alone, without covariates.

    For that, whatever else ended the observation counts as an end of study. Two candidates in a row that do not lower
    the AIC end the search.
    """
    alone = Survival(y.time, happened, administrative=~happened)
    log_t = np.log(y.time)
    best, lowest, worse = 0, np.inf, 0
    for inner in CANDIDATES:
        if inner > min(most, int(happened.sum()) // _EVENTS_PER_KNOT):
            break
        basis = Basis.at_quantiles(log_t[happened], inner).orthonormal(log_t)
        aic = 2.0 * (_negative_loglik(alone, basis, ends, barrier) + basis.size)
        if aic < lowest:
            best, lowest, worse = inner, aic, 0
        else:
            worse += 1
            if worse == 2:
                break
    return best


def constant_hazard(basis: Basis, n_happened: int, exposure: float) -> FloatArray:
    """The coefficients of a constant hazard: log H = log rate + log t."""
    raw = np.zeros(basis.size)
    raw[:2] = np.log(max(n_happened, 1) / exposure), 1.0
    return np.asarray(np.linalg.solve(basis.matrix, raw))


def _negative_loglik(y: Survival, basis: Basis, ends: FloatArray | None, barrier: float) -> float:
    """At the best fit of one margin, all that is left being administrative."""
    never = Basis(np.empty(0), present=False)
    likelihood = Likelihood(y, np.empty((len(y), 0)), (basis, never), ends, barrier)
    independence = Independence()

    def value(point: FloatArray) -> float:
        return -likelihood.value(point, independence)

    def derivatives(point: FloatArray) -> Derivatives:
        at = likelihood.derivatives(point, Independence, 0.0, fixed=True)
        return Derivatives(-at.value, -at.gradient, -at.hessian)

    start = constant_hazard(basis, y.n_events, float(y.time.sum()))
    return minimise(derivatives, value, start, tolerance=1e-3).value
