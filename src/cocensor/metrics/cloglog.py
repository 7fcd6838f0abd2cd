r"""Regression of a status at one time with the complementary log-log link, and how it answers to the weights.

With the design :math:`B_i`, :math:`\eta_i = o_i + B_i'\gamma` and the chance :math:`c_i = 1 - e^{-e^{\eta_i}}` of an
event, the coefficients solve the score equation of the quasi-likelihood
:math:`\sum_i b_i \log c_i + a_i \log(1 - c_i)`: that of binomial data with :math:`a_i + b_i` cases, a share of
:math:`b_i/(a_i + b_i)` of which had the event. The score of subject i is linear in its weights,
:math:`(b_i g_i - a_i h_i) B_i` with :math:`h = e^\eta` and :math:`g = h/(e^h - 1)`, so that the derivatives of the
coefficients are :math:`\partial\gamma/\partial a_i = -h_i J^{-1} B_i` and
:math:`\partial\gamma/\partial b_i = g_i J^{-1} B_i`, with J the information.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cocensor._checks import FloatArray
from cocensor._newton import Derivatives, minimise
from cocensor._numerics import log1mexp

# Data that a direction of the design separates have no best fit: their information falls towards 0 along it, and a
# further step would move linear predictors by 1 for ever. Both limits are far from what rounding can reach: where a fit
# is next to none, with coefficients of thousands, it is not for rounding to say whether there is one.
_LEAST_INFORMATION = 1e-8
_STEP = 1e-3


@dataclass(frozen=True, eq=False)
class CloglogFit:
    r"""A fitted regression.

    Attributes
    ----------
    coefficients : array of shape (K,)
    design : array of shape (n, K)
    hazard : array of shape (n,)
        :math:`h = e^\eta`.
    inverse_information : array of shape (K, K)
    """

    coefficients: FloatArray
    design: FloatArray
    hazard: FloatArray
    inverse_information: FloatArray

    @property
    def chance(self) -> FloatArray:
        """The fitted chance of an event, of each subject."""
        return -np.expm1(-self.hazard)

    @property
    def chance_slope(self) -> FloatArray:
        """Its derivative by the linear predictor."""
        return self.hazard * np.exp(-self.hazard)

    def by_weights(self, direction: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The derivatives by a and by b of each subject of the combination ``direction`` of the coefficients."""
        moved = self.design @ (self.inverse_information @ direction)
        return -self.hazard * moved, _event_score(self.hazard) * moved


def fit_cloglog(
    design: FloatArray, event_free: FloatArray, event: FloatArray, offset: FloatArray | float = 0.0
) -> CloglogFit | None:
    """The regression; None where it has no solution, as where no subject, or every, had the event.

    The design must hold a constant in its span, or be 1.
    """
    a, b = event_free, event
    total = float(a.sum() + b.sum())
    share = float(b.sum()) / total if total > 0 else np.nan
    if not 0.0 < share < 1.0:
        return None

    def value(point: FloatArray) -> float:
        with np.errstate(all="ignore"):
            hazard = np.exp(design @ point + offset)
            found = float((a @ hazard - b @ np.where(b == 0, 0.0, log1mexp(hazard))) / total)
        return found if np.isfinite(found) else np.inf

    @np.errstate(over="ignore", invalid="ignore")  # what is not finite ends the search
    def derivatives(point: FloatArray) -> Derivatives:
        hazard = np.exp(design @ point + offset)
        of_event = _event_score(hazard)
        curvature = a * hazard - b * of_event * (1.0 - hazard - of_event)
        gradient = design.T @ (a * hazard - b * of_event) / total
        return Derivatives(value(point), gradient, design.T @ (curvature[:, None] * design) / total)

    constant = np.log(-np.log1p(-share)) - offset
    start = np.linalg.lstsq(design, np.broadcast_to(constant, a.shape), rcond=None)[0]
    found = minimise(
        derivatives, value, start, tolerance=1e-20, slack=1e-13, hopeless=_is_separated, max_iter=60
    )
    if not np.isfinite(found.at.hessian).all() or _is_separated(found.at):
        return None
    step = np.linalg.solve(found.at.hessian, found.at.gradient)
    if np.abs(design @ step).max() > _STEP:
        return None
    inverse: FloatArray = np.linalg.inv(found.at.hessian) / np.float64(total)
    return CloglogFit(found.point, design, np.exp(design @ found.point + offset), inverse)


def _event_score(hazard: FloatArray) -> FloatArray:
    """The derivative g of log c by the linear predictor."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        return np.where(hazard > 0, hazard / np.expm1(hazard), 1.0)


def _is_separated(at: Derivatives) -> bool:
    """Whether the information is next to none in some direction, with every coefficient in its own unit."""
    scale = np.sqrt(np.abs(np.diag(at.hessian)))
    if not scale.min() > 0:
        return True
    return bool(np.linalg.eigvalsh(at.hessian / np.outer(scale, scale))[0] < _LEAST_INFORMATION)
