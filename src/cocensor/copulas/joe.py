"""The Joe copula."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cocensor._checks import FloatArray
from cocensor._late import special
from cocensor._namespaces import at_most, namespace
from cocensor._numerics import log1mexp, log_softplus, running_logsumexp, softplus
from cocensor.copulas.base import ArchimedeanCopula, root_in_theta


@dataclass(frozen=True)
class Joe(ArchimedeanCopula):
    r"""The Joe copula, more strongly upper-tail dependent than Gumbel's.

    .. math:: C(u, v) = 1 - [\bar u^\theta + \bar v^\theta - \bar u^\theta \bar v^\theta]^{1/\theta}

    θ ≥ 1. Here :math:`\bar u = 1 - u`; generator :math:`\varphi(s) = -\log(1 - (1-s)^\theta)`;
    :math:`\tau = 1 + \frac{2}{2-\theta}[\psi(2) - \psi(2/\theta + 1)]`. As a survival copula
    it ties early events to early dropouts.

    Parameters
    ----------
    theta : float
        θ ≥ 1; 1 is independence.

    Examples
    --------
    >>> from cocensor import Joe
    >>> round(Joe.from_tau(0.5).theta, 6)
    2.856257

    References
    ----------
    Joe, H. (1993). Parametric families of multivariate distributions with given margins. *Journal of Multivariate
    Analysis* 46, 262–282.
    """

    name = "joe"
    theta_range = (1.0, np.inf)
    independence_theta = 1.0
    tau_range = (0.0, 1.0)

    @property
    def _log_theta(self) -> Any:
        """The logarithm of θ, which may be a jet."""
        return namespace(self.theta).log(self.theta)

    def _log_1m_power(self, x: FloatArray) -> FloatArray:
        """log(1 − (1−u)^θ) at u = e^{−x}."""
        # For tiny u, where 1 − u is 1 in double precision, it is log(θ u).
        inner = log1mexp(-self.theta * log1mexp(at_most(x, 45.0)))
        return namespace(x).where(x > 45.0, self._log_theta - x, inner)

    def _log_cdf(self, x: FloatArray, y: FloatArray) -> FloatArray:
        a, b = log1mexp(x), log1mexp(y)
        l_u, l_v = self._log_1m_power(x), self._log_1m_power(y)
        both = l_u + l_v
        # log K with K = ū^θ + v̄^θ − ū^θ v̄^θ, from 1 − K where that is small and from K else.
        xp, direct = namespace(x, y), self.theta * a + softplus(self.theta * (b - a) + l_u)
        log_k = xp.where(both > -0.7, direct, xp.log1p(-xp.exp(at_most(both, -0.6))))
        tiny = both < -30.0
        inner = log1mexp(xp.where(tiny, 1.0, -log_k / self.theta))
        return xp.where(tiny, both - self._log_theta, inner)

    def _log_hfunc1(self, x: FloatArray, y: FloatArray) -> FloatArray:
        a, b = log1mexp(x), log1mexp(y)
        lift = softplus(self.theta * (b - a) + self._log_1m_power(x))
        return self._log_1m_power(y) - (1.0 - 1.0 / self.theta) * lift

    def _log_pdf(self, x: FloatArray, y: FloatArray) -> FloatArray:
        high, low = np.maximum(x, y), np.minimum(x, y)
        a, b = log1mexp(high), log1mexp(low)
        lift = softplus(self.theta * (b - a) + self._log_1m_power(high))
        density = (self.theta - 1.0) * (b - a) - a - (2.0 - 1.0 / self.theta) * lift
        return density + np.log(self.theta - 1.0 + np.exp(self.theta * a + lift))

    def _tau(self) -> float:
        # 1 − z·(ψ(z+1) − ψ(2))/(z − 1) with z = 2/θ; near z = 1 the quotient is a power series.
        z = 2.0 / self.theta
        delta = z - 1.0
        if abs(delta) > 0.25:
            return float(1.0 - z * (special.psi(z + 1.0) - special.psi(2.0)) / delta)
        k = np.arange(1, 31)
        return float(1.0 - z * np.sum(special.zeta(k + 1.0, 2.0) * (-delta) ** (k - 1)))

    @classmethod
    def _theta_from_tau(cls, tau: float) -> float:
        return root_in_theta(cls, tau, 1.0, 3.0 / (1.0 - tau))

    def _log_phi(self, x: FloatArray) -> FloatArray:
        log_power = self.theta * log1mexp(x)
        with np.errstate(divide="ignore"):
            return np.where(log_power < -37.0, log_power, np.log(-self._log_1m_power(x)))

    def _hazard_from_log_phi(self, log_t: FloatArray) -> FloatArray:
        log_power = np.where(log_t < -37.0, log_t, log1mexp(np.exp(np.maximum(log_t, -37.0))))
        return -log1mexp(-log_power / self.theta)

    def _log_elasticity(self, x: FloatArray) -> FloatArray:
        return np.log(self.theta) - x + (self.theta - 1.0) * log1mexp(x) - self._log_1m_power(x)

    def _log_phi_second(self, x: FloatArray) -> FloatArray:
        a = log1mexp(x)
        log_slope = np.log(self.theta) + (self.theta - 2.0) * a
        log_slope += np.log(self.theta - 1.0 + np.exp(self.theta * a))
        return log_slope - 2.0 * self._log_1m_power(x)

    def _graphic_hazard(self, hazard: FloatArray, log_ratio: FloatArray) -> FloatArray:
        after = hazard + log_ratio
        drop = np.exp(-hazard) * -np.expm1(-log_ratio)
        with np.errstate(divide="ignore"):
            # log[(1−p⁻)/(1−p⁺)], −∞ at the first time, where p⁻ = 1
            log_quotient = np.log1p(-np.minimum(drop / -np.expm1(-after), 1.0))
        log_gain = self.theta * log1mexp(after) + log1mexp(-self.theta * log_quotient)
        log_steps = log_softplus(log_gain - self._log_1m_power(after))
        return self._hazard_from_log_phi(running_logsumexp(log_steps))
