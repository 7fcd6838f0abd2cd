r"""The influence of each subject on a cumulative hazard that was estimated from a sample.

Of a share ε of the sample given to subject j, with the rest shrunk by 1 − ε, let a dot be the derivative by ε. The
Kaplan–Meier curve of dropout has :math:`-\log G = -\sum_u \log(1 - m_u/y_u)` with m dropouts among y at risk, events
at u having left before, and Cox's model :math:`-\log G(s \mid x) = H_0(s)\,e^{(x - c)'\beta}` with Breslow's
:math:`H_0 = \sum_u m_u/S_u`, :math:`S_u = \sum_{l \text{ at risk}} e_l`, :math:`e_l = e^{(x_l - c)'\beta}`. Both have

.. math:: \dot H(s; j) = N\Bigl[ g_j\,1[\text{dropout of } j \text{ by } s]
    - e_j \sum_{u \le s,\ j \text{ at risk}} \gamma_u \Bigr] + h(s)'\dot\beta_j,

Kaplan–Meier with :math:`g = 1/(y - m)`, :math:`\gamma = m/(y(y - m))`, e = 1 and no coefficients; Breslow with
:math:`g = 1/S`, :math:`\gamma = m/S^2`, :math:`h(s) = -\sum_{u \le s} m_u \sum_l e_l (x_l - c)/S_u^2`. The centre c is
a constant here, because G does not depend on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cocensor._checks import FloatArray, IntArray, as_matrix
from cocensor._numerics import lookup
from cocensor.data import Survival
from cocensor.estimators.cox import CoxPH, RiskSets


@dataclass(frozen=True, eq=False)
class HazardInfluence:
    """The derivatives of a cumulative hazard of dropout by the shares of the N subjects of its sample.

    What is "at s" has U + 1 values: before the first of the U times of dropout, and from each on.
    """

    steps: FloatArray  # the times of dropout
    position: IntArray  # at how many of them each subject was at risk
    jump: FloatArray  # g, 0 for those who did not drop out
    exposure: FloatArray  # e
    cumulated: FloatArray  # the sum of γ at s
    hazard: FloatArray  # the hazard itself at s, where there are coefficients
    drift: FloatArray  # h at s, (U + 1, p)
    coefficients: FloatArray  # the derivative of the coefficients, (N, p)
    log_unit: float = 0.0  # the logarithm of the e that stands for 1


def of_kaplan_meier(y: Survival) -> HazardInfluence:
    """The influence on the Kaplan–Meier curve of dropout; a last step to 0, where no derivative is, has none."""
    table = y.risk_table
    rows = np.flatnonzero(table.dropouts)
    steps, dropouts = table.times[rows], table.dropouts[rows].astype(float)
    at_risk = (table.at_risk - table.events)[rows].astype(float)
    left = at_risk - dropouts
    jump = np.divide(1.0, left, out=np.zeros(left.size), where=left > 0)
    position = lookup(steps, y.time, "left")
    dropout = np.flatnonzero(y.dropout)
    own, cumulated = np.zeros(len(y)), _from_zero(dropouts / at_risk * jump)
    own[dropout] = jump[position[dropout]]
    position[dropout] += 1
    hazard, no_drift, none = np.zeros(cumulated.size), np.zeros((cumulated.size, 0)), np.zeros((len(y), 0))
    return HazardInfluence(steps, position, own, np.ones(len(y)), cumulated, hazard, no_drift, none)


def of_cox(model: CoxPH, X: Any, y: Survival) -> HazardInfluence:
    """The influence on a Cox model at its centre, fitted to ``X`` and ``y``."""
    sets = RiskSets(y, model.of, model.ties)
    Z = (as_matrix(X, "X") - model.centre_)[sets.order]
    relative = Z @ model.coef_
    log_unit = float(relative.max())
    exposure = np.exp(relative - log_unit)
    residuals = sets.score_residuals(Z, exposure)
    # Under a penalty their mean is not 0.
    coefficients = len(y) * (residuals - residuals.mean(axis=0)) @ model.covariance_

    steps, first, dropouts = np.unique(sets.times, return_index=True, return_counts=True)
    sums = sets.over_risk_sets(exposure)[first]
    moments = sets.over_risk_sets(Z * exposure[:, None])[first]
    jump = np.zeros(len(y))
    jump[sets.happens] = 1.0 / sums[np.searchsorted(steps, sets.times)]
    position = np.searchsorted(sets.start[first], np.arange(len(y)), side="right")
    back = np.empty_like(sets.order)
    back[sets.order] = np.arange(len(y))
    return HazardInfluence(
        steps,
        position[back],
        jump[back],
        exposure[back],
        _from_zero(dropouts / sums**2),
        _from_zero(dropouts / sums),
        _from_zero(-(dropouts / sums**2)[:, None] * moments),
        coefficients[back],
        log_unit,
    )


def _from_zero(increments: FloatArray) -> FloatArray:
    """Running sums that begin with 0."""
    first = np.zeros((1, *increments.shape[1:]))
    return np.concatenate((first, np.cumsum(increments, axis=0)))
