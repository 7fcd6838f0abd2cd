"""The independence copula."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cocensor._checks import FloatArray
from cocensor.copulas.base import ArchimedeanCopula


@dataclass(frozen=True)
class Independence(ArchimedeanCopula):
    r"""The copula of independence, :math:`C(u, v) = uv`, with generator :math:`\varphi(s) = -\log s`.

    The limit of every other family here, and what the usual scores assume of event and censoring. Every
    family uses these formulas exactly at its own limit.

    Parameters
    ----------
    theta : float
        0, the only value there is.

    Examples
    --------
    >>> from cocensor import Independence
    >>> Independence().cdf(0.5, 0.4)
    0.2
    """

    theta: float = 0.0

    name = "independence"
    theta_range = (0.0, 0.0)
    independence_theta = 0.0
    tau_range = (0.0, 0.0)

    def _log_cdf(self, x: FloatArray, y: FloatArray) -> FloatArray:
        return -(x + y)

    def _log_hfunc1(self, x: FloatArray, y: FloatArray) -> FloatArray:
        return -y - 0.0 * x

    def _log_pdf(self, x: FloatArray, y: FloatArray) -> FloatArray:
        return np.zeros(np.broadcast(x, y).shape)

    def _tau(self) -> float:
        return 0.0

    @classmethod
    def _theta_from_tau(cls, tau: float) -> float:
        return 0.0

    def _conditional_hazard(self, x: FloatArray, z: FloatArray) -> FloatArray:
        return z

    def _log_phi(self, x: FloatArray) -> FloatArray:
        return np.log(x)

    def _hazard_from_log_phi(self, log_t: FloatArray) -> FloatArray:
        return np.exp(log_t)

    def _log_elasticity(self, x: FloatArray) -> FloatArray:
        return np.zeros_like(x)

    def _log_phi_second(self, x: FloatArray) -> FloatArray:
        return 2.0 * x

    def _graphic_hazard(self, hazard: FloatArray, log_ratio: FloatArray) -> FloatArray:
        return np.cumsum(log_ratio)
