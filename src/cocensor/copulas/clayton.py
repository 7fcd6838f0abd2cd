"""The Clayton copula."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cocensor._checks import FloatArray
from cocensor._namespaces import namespace
from cocensor._numerics import expm1_over, log1p_over, log_expm1, running_logsumexp, softplus
from cocensor.copulas.base import ArchimedeanCopula


@dataclass(frozen=True)
class Clayton(ArchimedeanCopula):
    r"""The Clayton copula, :math:`C(u, v) = (u^{-\theta} + v^{-\theta} - 1)^{-1/\theta}`, θ ≥ 0.

    Kendall's :math:`\tau = \theta/(\theta+2)`; generator :math:`\varphi(s) = (s^{-\theta} - 1)/\theta`. Lower-tail
    dependent: as a survival copula it ties late events to late dropouts.

    Parameters
    ----------
    theta : float
        θ ≥ 0; 0 is independence.

    Examples
    --------
    >>> from cocensor import Clayton
    >>> Clayton.from_tau(0.5)
    Clayton(theta=2.0)
    >>> round(Clayton(2.0).cdf(0.5, 0.4), 6)
    0.328798

    References
    ----------
    Clayton, D. G. (1978). A model for association in bivariate life tables and its application in
    epidemiological studies of familial tendency in chronic disease incidence. *Biometrika* 65, 141–151.
    """

    name = "clayton"
    theta_range = (0.0, np.inf)
    independence_theta = 0.0
    tau_range = (0.0, 1.0)

    def _excess(self, x: FloatArray, y: FloatArray, factor: Any = 1.0) -> FloatArray:
        """A factor times log of u / C."""
        theta = self.theta
        if theta > 0.01:
            return (factor / theta) * softplus(log_expm1(theta * y) - theta * x)
        # The same, smooth through independence.
        xp = namespace(x, y)
        far = theta * y > 1.0
        close = xp.where(far, 1.0, y)
        growth = close * xp.exp(-theta * x) * expm1_over(theta * close)
        near = growth * log1p_over(theta * growth)
        if xp is np and not far.any():
            return factor * near
        late = softplus(log_expm1(theta * xp.where(far, y, 1.0)) - theta * x) / theta
        return factor * xp.where(far, late, near)

    def _log_cdf(self, x: FloatArray, y: FloatArray) -> FloatArray:
        return -x - self._excess(x, y)

    def _log_hfunc1(self, x: FloatArray, y: FloatArray) -> FloatArray:
        return self._excess(x, y, -(1.0 + self.theta))

    def _log_pdf(self, x: FloatArray, y: FloatArray) -> FloatArray:
        high, low = np.maximum(x, y), np.minimum(x, y)
        excess = self._excess(high, low, 1.0 + 2.0 * self.theta)
        return np.log1p(self.theta) + low - self.theta * (high - low) - excess

    def _tau(self) -> float:
        return self.theta / (self.theta + 2.0)

    @classmethod
    def _theta_from_tau(cls, tau: float) -> float:
        return 2.0 * tau / (1.0 - tau)

    def _conditional_hazard(self, x: FloatArray, z: FloatArray) -> FloatArray:
        growth = self.theta / (1.0 + self.theta) * z
        return softplus(self.theta * x + log_expm1(growth)) / self.theta

    def _log_phi(self, x: FloatArray) -> FloatArray:
        return log_expm1(self.theta * x) - np.log(self.theta)

    def _hazard_from_log_phi(self, log_t: FloatArray) -> FloatArray:
        return softplus(np.log(self.theta) + log_t) / self.theta

    def _log_elasticity(self, x: FloatArray) -> FloatArray:
        return self.theta * x

    def _log_phi_second(self, x: FloatArray) -> FloatArray:
        return np.log1p(self.theta) + (self.theta + 2.0) * x

    def _graphic_hazard(self, hazard: FloatArray, log_ratio: FloatArray) -> FloatArray:
        log_steps = self.theta * hazard + log_expm1(self.theta * log_ratio)
        return softplus(running_logsumexp(log_steps)) / self.theta
