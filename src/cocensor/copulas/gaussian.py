"""The Gaussian copula."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from cocensor._validation import FloatArray
from cocensor.copulas.base import Copula, log_cdf_by_symmetry

# Nodes and log-weights of double-exponential quadrature on (0, 1), which resolves a boundary layer of
# any width: halving the step changes no result by more than 1e-12.
_STEP = 0.03125
_T = np.arange(-3.3, 3.3 + _STEP / 2, _STEP)
_NODES = 1.0 / (1.0 + np.exp(-np.pi * np.sinh(_T)))
_LOG_WEIGHTS = np.log(0.25 * np.pi * _STEP * np.cosh(_T)) - 2.0 * np.log(np.cosh(0.5 * np.pi * np.sinh(_T)))


@dataclass(frozen=True)
class Gaussian(Copula):
    r""":math:`C(u, v) = \Phi_2(\Phi^{-1}(u), \Phi^{-1}(v); \rho)`, θ = ρ in (−1, 1).

    Kendall's :math:`\tau = \frac2\pi \arcsin\rho`. Not Archimedean, so it has no
    Copula-Graphic form; the joint model and the simulators use it.

    Examples
    --------
    >>> round(Gaussian.from_tau(0.5).theta, 6)
    0.707107
    >>> round(Gaussian(0.5).cdf(0.5, 0.5), 6)
    0.333333
    """

    name = "gaussian"
    theta_range = (-1.0, 1.0)
    independence_theta = 0.0
    tau_range = (-1.0, 1.0)

    def _log_cdf(self, x: FloatArray, y: FloatArray) -> FloatArray:
        return log_cdf_by_symmetry(self._log_cdf_below, x, y)

    def _log_cdf_below(self, x: FloatArray, y: FloatArray) -> FloatArray:
        r"""The lower bound max(0, u + v − 1) plus the integral of the density over all smaller ρ.

        :math:`\partial\Phi_2/\partial\rho` is the bivariate normal density, so every term is positive and
        tails keep their relative accuracy. In :math:`\rho = \sin\phi` the density's exponent has one
        minimum, at ρ = the ratio of the smaller to the larger quantile.
        """
        h, k = ndtri_exp(-x), ndtri_exp(-y)
        top = np.arcsin(self.theta)
        far, near = np.where(np.abs(h) > np.abs(k), h, k), np.where(np.abs(h) > np.abs(k), k, h)
        ratio = np.divide(near, far, out=np.zeros_like(h), where=far != 0)
        peak = np.minimum(np.arcsin(np.clip(ratio, -1.0, 1.0)), top)
        lowest = _exponent(h, k, peak)
        total = np.zeros_like(h)
        for node, log_weight in zip(_NODES, _LOG_WEIGHTS, strict=True):
            for width in (-(peak + np.pi / 2.0), top - peak):
                value = np.exp(lowest - _exponent(h, k, peak + node * width) + log_weight)
                total += np.abs(width) * value
        with np.errstate(divide="ignore"):
            log_integral = np.log(total) - lowest - np.log(2.0 * np.pi)
            bound = np.log(np.maximum(np.exp(-y) + np.expm1(-x), 0.0))
        return np.minimum(np.logaddexp(log_integral, bound), -np.maximum(x, y))

    def _log_hfunc1(self, x: FloatArray, y: FloatArray) -> FloatArray:
        rho = self.theta
        z_u, z_v = ndtri_exp(-x), ndtri_exp(-y)
        # z_v − ρ z_u, without cancellation where ρ is near ±1
        gap = (z_v - z_u) + (1.0 - rho) * z_u if rho > 0 else (z_v + z_u) - (1.0 + rho) * z_u
        return log_ndtr(gap / self._scale())

    def _log_pdf(self, x: FloatArray, y: FloatArray) -> FloatArray:
        rho, sign = self.theta, np.sign(self.theta)
        z_u, z_v = ndtri_exp(-x), sign * ndtri_exp(-y)
        size = abs(rho)
        squared = size * (z_u - z_v) ** 2 / (1.0 - size) - 2.0 * z_u * z_v
        return -np.log(self._scale()) - size / (2.0 * (1.0 + size)) * squared

    def _tau(self) -> float:
        return float(2.0 / np.pi * np.arcsin(self.theta))

    @classmethod
    def _theta_from_tau(cls, tau: float) -> float:
        return float(np.sin(0.5 * np.pi * tau))

    def _conditional_hazard(self, x: FloatArray, z: FloatArray) -> FloatArray:
        return -log_ndtr(self.theta * ndtri_exp(-x) + self._scale() * ndtri_exp(-z))

    def _scale(self) -> float:
        return float(np.sqrt((1.0 - self.theta) * (1.0 + self.theta)))


def _exponent(h: FloatArray, k: FloatArray, phi: FloatArray) -> FloatArray:
    """(h² + k² − 2hk sin φ) / (2 cos² φ), in the form that does not cancel for the sign of φ."""
    sine, sign = np.sin(np.abs(phi)), np.where(phi < 0, -1.0, 1.0)
    return (h - sign * k) ** 2 / (2.0 * np.cos(phi) ** 2) + sign * h * k / (1.0 + sine)
