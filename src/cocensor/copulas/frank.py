"""The Frank copula."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial.polynomial import polyder

from cocensor._checks import FloatArray
from cocensor._jets import differentiable
from cocensor._late import special
from cocensor._namespaces import namespace, quiet
from cocensor._numerics import (
    as_numbers,
    log1mexp,
    log1p_over,
    log_softplus,
    running_logsumexp,
    series_where,
    softplus,
)
from cocensor.copulas.base import ArchimedeanCopula, log_cdf_by_symmetry, root_in_theta

_LOG_HALF = math.log(0.5)
# Bernoulli's numbers B_2, B_4, …, B_30.
_EVEN = np.arange(2, 31, 2)
_BERNOULLI = np.array([1, -1, 1, -1, 5, -691, 7, -3617, 43867, -174611, 854513, -236364091, 8553103])
_BERNOULLI = np.append(_BERNOULLI, [-23749461029, 8615841276005]) / (
    [6, 30, 42, 30, 66, 2730, 6, 510, 798, 330, 138, 2730, 6, 870, 14322]
)
_OVER_FACTORIAL = _BERNOULLI / np.cumprod(np.arange(1.0, 31.0))[1::2]
# log[(1 − e^{−z})/z] = −z/2 + Σ B_2k z^2k / (2k (2k)!), and its derivatives.
_SERIES = np.zeros(11)
_SERIES[1], _SERIES[2::2] = -0.5, (_OVER_FACTORIAL / _EVEN)[:5]
_LOG_G = [polyder(_SERIES, m).tolist() for m in range(3)]
# τ = Σ 4 B_2k θ^(2k−1) / ((2k+1)(2k)!): the series around independence.
_TAU_SERIES = 4.0 * _OVER_FACTORIAL / (_EVEN + 1)


@dataclass(frozen=True)
class Frank(ArchimedeanCopula):
    r"""The Frank copula, the only Archimedean family here that reaches negative τ.

    .. math:: C(u, v) = -\frac1\theta \log\left(1 + \frac{(e^{-\theta u}-1)(e^{-\theta v}-1)}{e^{-\theta}-1}\right)

    θ of either sign, 0 for independence; generator :math:`\varphi(s) = -\log\frac{e^{-\theta s}-1}{e^{-\theta}-1}`;
    :math:`\tau = 1 - \frac4\theta(1 - D_1(\theta))` with the Debye function :math:`D_1`. No tail dependence.

    Parameters
    ----------
    theta : float
        θ of either sign; 0 is independence.

    Examples
    --------
    >>> from cocensor import Frank
    >>> round(Frank.from_tau(0.5).theta, 6), round(Frank.from_tau(-0.5).theta, 6)
    (5.736283, -5.736283)

    References
    ----------
    Frank, M. J. (1979). On the simultaneous associativity of F(x, y) and x + y − F(x, y). *Aequationes Mathematicae*
    19, 194–226.
    """

    name = "frank"
    theta_range = (-np.inf, np.inf)
    independence_theta = 0.0
    tau_range = (-1.0, 1.0)

    def _log_cdf(self, x: FloatArray, y: FloatArray) -> FloatArray:
        return log_cdf_by_symmetry(self._log_cdf_below, x, y)

    def _log_cdf_below(self, x: FloatArray, y: FloatArray) -> FloatArray:
        xp = namespace(x, y)
        theta, u, v = self.theta, xp.exp(-x), xp.exp(-y)
        # C = −log(1 − θz)/θ with z = (1−e^{−θu})(1−e^{−θv}) / (θ (1−e^{−θ}))
        log_z = -x - y + _log_g(theta * u) + _log_g(theta * v) - _log_g(theta)
        if abs(theta) < 0.5:  # smooth through independence
            return log_z + xp.log(log1p_over(-theta * xp.exp(log_z)))
        log_size = namespace(theta).log(abs(theta))
        log_w = log_z + log_size
        if theta < 0:
            return log_softplus(log_w) - log_size
        far = log_w > _LOG_HALF
        near = log_z + xp.log(log1p_over(-xp.exp(xp.where(far, -1.0, log_w))))
        below, above = -theta * u + log1mexp(theta * v), -theta * v + log1mexp(theta * -xp.expm1(-y))
        log_1mw = xp.logaddexp(below, above) - log1mexp(theta)
        return xp.where(far, xp.log(xp.where(far, -log_1mw, 1.0)) - log_size, near)

    def _log_hfunc1(self, x: FloatArray, y: FloatArray) -> FloatArray:
        xp = namespace(x, y)
        theta, u, v = self.theta, xp.exp(-x), xp.exp(-y)
        log_odds = theta * (u - v) + y + log1mexp(y) + _log_g(theta * -xp.expm1(-y)) - _log_g(theta * v)
        return -softplus(log_odds)

    def _log_pdf(self, x: FloatArray, y: FloatArray) -> FloatArray:
        theta = self.theta
        density = self._log_hfunc1(x, y) + self._log_hfunc1(y, x) + x + y + _log_g(theta)
        return density - _log_g(theta * np.exp(-x)) - _log_g(theta * np.exp(-y))

    def _tau(self) -> float:
        size = abs(self.theta)
        if size < 1.0:
            return float(np.sum(_TAU_SERIES * self.theta ** (_EVEN - 1.0)))
        # ∫₀^θ t/(e^t − 1) dt, with Li₂(e^{−θ}) = spence(1 − e^{−θ})
        integral = np.pi**2 / 6.0 + size * log1mexp(size) - special.spence(-np.expm1(-size))
        return float(np.sign(self.theta) * (1.0 - 4.0 / size * (1.0 - integral / size)))

    @classmethod
    def _theta_from_tau(cls, tau: float) -> float:
        # θ/9 bounds τ from above; the upper end was checked over (0, 1)
        size = root_in_theta(cls, abs(tau), 8.99 * abs(tau), 9.01 * abs(tau) / (1.0 - abs(tau)) ** 2)
        return float(np.copysign(size, tau))

    def _conditional_hazard(self, x: FloatArray, z: FloatArray) -> FloatArray:
        theta = self.theta
        log_w, log_1mw = -z, log1mexp(z)
        shifted = log_1mw - theta * np.exp(-x)
        log_mass = np.logaddexp(log_w, shifted)
        # e^{−θv} = 1 + expm1(−θ) w / (w + (1−w) e^{−θu}); in logs where that loses v.
        log_change = log_w - log_mass + np.log(abs(theta)) + _log_g(theta)
        if theta < 0:
            return np.log(-theta) - log_softplus(log_change)
        change = -np.exp(log_change)
        far = change < -0.5
        log_sum = np.logaddexp(shifted, log_w - theta) - log_mass
        return -np.log(-np.where(far, log_sum, np.log1p(np.where(far, 0.0, change))) / theta)

    def _log_phi(self, x: FloatArray) -> FloatArray:
        theta, s = self.theta, np.exp(-x)
        return log_softplus(-theta * s + x + log1mexp(x) + _log_g(theta * -np.expm1(-x)) - _log_g(theta * s))

    def _hazard_from_log_phi(self, log_t: FloatArray) -> FloatArray:
        theta, t = self.theta, np.exp(log_t)
        if theta < 0:
            return np.log(-theta) - log_softplus(log1mexp(-theta) - theta - t)
        # θ S = −log(1 − (1 − e^{−θ}) e^{−t}); the argument as a sum where the difference nearly vanishes.
        scaled = np.asarray(np.expm1(-theta) * np.exp(-t))
        vanishing = scaled < -0.5
        scaled[~vanishing] = -np.log1p(scaled[~vanishing])
        t, log_t = t[vanishing], log_t[vanishing]
        log_gone = np.where(log_t < -37.0, log_t, log1mexp(t))
        scaled[vanishing] = -np.logaddexp(log_gone, -theta - t)
        with np.errstate(divide="ignore"):
            return np.log(theta) - np.log(scaled)

    def _log_elasticity(self, x: FloatArray) -> FloatArray:
        return -_log_g(-self.theta * np.exp(-x))

    def _log_phi_second(self, x: FloatArray) -> FloatArray:
        z = self.theta * np.exp(-x)
        return 2.0 * x - _log_g(z) - _log_g(-z)

    def _graphic_hazard(self, hazard: FloatArray, log_ratio: FloatArray) -> FloatArray:
        size = abs(self.theta)
        after = size * np.exp(-hazard - log_ratio)
        drop = size * (np.exp(-hazard) * -np.expm1(-log_ratio))
        lead = -after if self.theta > 0 else drop
        log_steps = log_softplus(lead + log1mexp(drop) - log1mexp(after))
        return self._hazard_from_log_phi(running_logsumexp(log_steps))


def _log_g_derivatives(z: FloatArray) -> tuple[FloatArray, FloatArray]:
    z = np.asarray(z)
    near = np.abs(z) < 0.1
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        inverse, reciprocal = 1.0 / np.expm1(z), 1.0 / z
        slope, curvature = inverse - reciprocal, reciprocal * reciprocal - inverse * (1.0 + inverse)
    return series_where(near, z, _LOG_G[1], slope), series_where(near, z, _LOG_G[2], curvature)


@differentiable(_log_g_derivatives)
@quiet
def _log_g(z: Any) -> Any:
    """log[(1 − e^{−z})/z], smooth through 0."""
    z = as_numbers(z)
    xp, size = namespace(z), abs(z)
    near = size < 0.1
    far = size if xp is np else xp.where(near, 1.0, size)  # of plain numbers 0/0 would raise
    return series_where(near, z, _LOG_G[0], 0.5 * (size - z) + xp.log(-xp.expm1(-far) / far))
