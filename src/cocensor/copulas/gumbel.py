"""The Gumbel copula."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cocensor._checks import FloatArray
from cocensor._namespaces import at_most, namespace
from cocensor._numerics import log1mexp, running_logsumexp, softplus
from cocensor.copulas.base import ArchimedeanCopula


@dataclass(frozen=True)
class Gumbel(ArchimedeanCopula):
    r"""The Gumbel copula, :math:`C(u, v) = \exp(-[(-\log u)^\theta + (-\log v)^\theta]^{1/\theta})`, θ ≥ 1.

    Kendall's :math:`\tau = 1 - 1/\theta`; generator :math:`\varphi(s) = (-\log s)^\theta`. Upper-tail
    dependent: as a survival copula it ties early events to early dropouts.

    Parameters
    ----------
    theta : float
        θ ≥ 1; 1 is independence.

    Examples
    --------
    >>> from cocensor import Gumbel
    >>> Gumbel.from_tau(0.5)
    Gumbel(theta=2.0)

    References
    ----------
    Gumbel, E. J. (1960). Bivariate exponential distributions. *Journal of the American Statistical Association* 55,
    698–707.
    """

    name = "gumbel"
    theta_range = (1.0, np.inf)
    independence_theta = 1.0
    tau_range = (0.0, 1.0)

    def _spread(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Log of (x^θ + y^θ)^(1/θ) / x."""
        xp = namespace(x, y)
        return softplus(self.theta * (xp.log(y) - xp.log(x))) / self.theta

    def _log_cdf(self, x: FloatArray, y: FloatArray) -> FloatArray:
        xp = namespace(x, y)
        high, low = xp.maximum(x, y), xp.minimum(x, y)
        return -high * xp.exp(self._spread(high, low))

    def _log_hfunc1(self, x: FloatArray, y: FloatArray) -> FloatArray:
        xp, s = namespace(x, y), self._spread(x, y)
        excess = xp.where(s > 1.0, xp.exp(xp.log(x) + s) - x, x * xp.expm1(at_most(s, 1.0)))
        return -excess - (self.theta - 1.0) * s

    def _log_pdf(self, x: FloatArray, y: FloatArray) -> FloatArray:
        high, low = np.maximum(x, y), np.minimum(x, y)
        s, log_high = self._spread(high, low), np.log(high)
        density = low - high * np.expm1(s) + (self.theta - 1.0) * (np.log(low) - log_high) - log_high
        return density - (2.0 * self.theta - 1.0) * s + np.log(high * np.exp(s) + (self.theta - 1.0))

    def _tau(self) -> float:
        return 1.0 - 1.0 / self.theta

    @classmethod
    def _theta_from_tau(cls, tau: float) -> float:
        return 1.0 / (1.0 - tau)

    def _log_phi(self, x: FloatArray) -> FloatArray:
        return self.theta * np.log(x)

    def _hazard_from_log_phi(self, log_t: FloatArray) -> FloatArray:
        return np.exp(log_t / self.theta)

    def _log_elasticity(self, x: FloatArray) -> FloatArray:
        return np.log(self.theta) + (self.theta - 1.0) * np.log(x)

    def _log_phi_second(self, x: FloatArray) -> FloatArray:
        return 2.0 * x + np.log(self.theta) + (self.theta - 2.0) * np.log(x) + np.log(self.theta - 1.0 + x)

    def _graphic_hazard(self, hazard: FloatArray, log_ratio: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore"):
            growth = np.log1p(log_ratio / hazard)  # infinite at the first time, where p⁻ = 1
        log_steps = self.theta * np.log(hazard + log_ratio) + log1mexp(self.theta * growth)
        return self._hazard_from_log_phi(running_logsumexp(log_steps))
