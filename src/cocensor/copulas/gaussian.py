"""The Gaussian copula."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cocensor._checks import FloatArray, row_blocks
from cocensor._jets import Jet, compose, value_of
from cocensor._late import special
from cocensor.copulas.base import Copula, log_cdf_by_symmetry

# Gauss–Legendre quadrature on (−1, 1), and by how much an exponent may exceed its least value to be counted:
# every integral is then good to 1e-12.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(56)
_DEPTH = 30.0


@dataclass(frozen=True)
class Gaussian(Copula):
    r"""The Gaussian copula, :math:`C(u, v) = \Phi_2(\Phi^{-1}(u), \Phi^{-1}(v); \rho)`, θ = ρ in (−1, 1).

    Kendall's :math:`\tau = \frac2\pi \arcsin\rho`. Not Archimedean, so it has no
    Copula-Graphic form; the joint model and the simulators use it.

    Parameters
    ----------
    theta : float
        The correlation ρ, strictly between −1 and 1; 0 is independence.

    Examples
    --------
    >>> from cocensor import Gaussian
    >>> round(Gaussian.from_tau(0.5).theta, 6)
    0.707107
    >>> round(Gaussian(0.5).cdf(0.5, 0.5), 6)
    0.333333

    References
    ----------
    Nelsen, R. B. (2006). *An Introduction to Copulas*, 2nd edition. Springer.
    """

    name = "gaussian"
    theta_range = (-1.0, 1.0)
    independence_theta = 0.0
    tau_range = (-1.0, 1.0)
    numpy_alone = True

    def _log_cdf(self, x: FloatArray, y: FloatArray) -> FloatArray:
        if any(isinstance(argument, Jet) for argument in (x, y, self.theta)):
            return self._log_cdf_jet(x, y)
        return log_cdf_by_symmetry(self._log_cdf_below, x, y)

    def _log_cdf_jet(self, x: Any, y: Any) -> Any:
        """With derivatives that need no quadrature: those of C are −u h₁, −v h₂ and the normal density."""
        arguments = [x, y, self.theta]
        plain = [value_of(argument) for argument in arguments]
        value = Gaussian.formulas_at(plain[2])._log_cdf(plain[0], plain[1])
        a, b, rho = (Jet.variable(number, i, 3) for i, number in enumerate(plain))
        lifted: Any = Gaussian.formulas_at(rho)  # whose formulas take jets as well
        logs = (lifted._log_hfunc1(a, b) - a, lifted._log_hfunc1(b, a) - b, lifted._log_normal_density(a, b))
        slopes = [sign * np.exp(log.value - value) for sign, log in zip((-1.0, -1.0, 1.0), logs, strict=True)]
        curvatures = [slopes[i] * (logs[i].first[j] - slopes[j]) for i in range(3) for j in range(i, 3)]
        return compose(value, slopes, curvatures, arguments)

    def _log_cdf_below(self, x: FloatArray, y: FloatArray) -> FloatArray:
        x, y = np.broadcast_arrays(x, y)
        result, flat_x, flat_y = np.empty(x.size), x.ravel(), y.ravel()
        for rows in row_blocks(x.size, 8 * _NODES.size):  # about eight temporaries live at a time
            result[rows] = self._log_cdf_block(flat_x[rows], flat_y[rows])
        return result.reshape(x.shape)

    def _log_cdf_block(self, x: FloatArray, y: FloatArray) -> FloatArray:
        r"""The copula at a smaller ρ plus the integral of :math:`\partial\Phi_2/\partial\rho`, the normal density.

        For ρ > 0 that is independence. In :math:`w = \sqrt{(1 - \rho)/(1 + \rho)}`, which is 1 there,

        .. math:: C = uv + \frac1\pi \int_{w(\rho)}^1 e^{-(1 + w^2)(a^2/w^2 + b^2)/8} \frac{dw}{1 + w^2}

        with :math:`a = |h - k|` and :math:`b = |h + k|` for the quantiles h, k. For ρ < 0 it is max(0, u + v − 1),
        at ρ = −1; in 1/w the integral is the same with a and b exchanged, from 0 to w(|ρ|). Every term is
        positive, so tails keep their relative accuracy.
        """
        h, k = special.ndtri_exp(-x), special.ndtri_exp(-y)
        a, b = np.abs(h - k), np.abs(h + k)
        size, larger = abs(self.theta), np.maximum(x, y)
        end = float(np.sqrt((1.0 - size) / (1.0 + size)))
        if self.theta > 0:
            log_below, log_integral = -(x + y), _log_integral(a, b, end, 1.0)
        else:
            # u + v − 1, without cancellation where one of them is small
            below = np.exp(-larger) + np.expm1(-np.minimum(x, y))
            with np.errstate(divide="ignore"):
                log_below, log_integral = np.log(np.maximum(below, 0.0)), _log_integral(b, a, 0.0, end)
        return np.minimum(np.logaddexp(log_below, log_integral - np.log(np.pi)), -larger)

    def _log_hfunc1(self, x: FloatArray, y: FloatArray) -> FloatArray:
        rho = self.theta
        z_u, z_v = special.ndtri_exp(-x), special.ndtri_exp(-y)
        # z_v − ρ z_u, without cancellation where ρ is near ±1
        gap = (z_v - z_u) + (1.0 - rho) * z_u if rho > 0 else (z_v + z_u) - (1.0 + rho) * z_u
        return special.log_ndtr(gap / self._scale())

    def _log_pdf(self, x: FloatArray, y: FloatArray) -> FloatArray:
        rho, sign = self.theta, np.sign(self.theta)
        z_u, z_v = special.ndtri_exp(-x), sign * special.ndtri_exp(-y)
        size = abs(rho)
        squared = size * (z_u - z_v) ** 2 / (1.0 - size) - 2.0 * z_u * z_v
        return -np.log(self._scale()) - size / (2.0 * (1.0 + size)) * squared

    def _log_normal_density(self, x: Any, y: Any) -> Any:
        """Log of the bivariate normal density at the quantiles, in the form that does not cancel for the sign of ρ."""
        rho, h, k = self.theta, special.ndtri_exp(-x), special.ndtri_exp(-y)
        square = (1.0 - rho) * (1.0 + rho)
        if rho > 0:
            exponent = (h - k) * (h - k) / (2.0 * square) + h * k / (1.0 + rho)
        else:
            exponent = (h + k) * (h + k) / (2.0 * square) - h * k / (1.0 - rho)
        return -exponent - 0.5 * np.log(square) - np.log(2.0 * np.pi)

    def _tau(self) -> float:
        return float(2.0 / np.pi * np.arcsin(self.theta))

    @classmethod
    def _theta_from_tau(cls, tau: float) -> float:
        return float(np.sin(0.5 * np.pi * tau))

    def _conditional_hazard(self, x: FloatArray, z: FloatArray) -> FloatArray:
        return -special.log_ndtr(self.theta * special.ndtri_exp(-x) + self._scale() * special.ndtri_exp(-z))

    def _scale(self) -> Any:
        return np.sqrt((1.0 - self.theta) * (1.0 + self.theta))


def _log_integral(a: FloatArray, b: FloatArray, lower: float, upper: float) -> FloatArray:
    r"""Log :math:`\int e^{-(1 + w^2)(a^2/w^2 + b^2)/8} \, dw/(1 + w^2)` from ``lower`` to ``upper`` ≤ 1.

    The exponent is least at w² = a/b and exceeds that by a given amount at the roots of a quadratic in w², where the
    integral is cut. In :math:`z = w^{1/8}` the layer :math:`e^{-a^2/(8w^2)}` is resolved however close to 0 it is.
    """
    lower = max(lower, 1e-16 * upper)  # what is below counts for nothing
    b = np.maximum(b, 1e-30)
    peak = np.clip(a / b, lower**2, upper**2)
    left, right = a**2 / (8.0 * peak), b**2 / 8.0
    rise = 4.0 * _DEPTH + (a - b * peak) ** 2 / (2.0 * peak)
    root = rise + a * b + np.sqrt(rise) * np.sqrt(rise + 2.0 * a * b)
    start = np.maximum((a**2 / root) ** 0.0625, lower**0.125)
    half = 0.5 * (np.minimum((np.sqrt(root) / b) ** 0.125, upper**0.125) - start)
    z = start + half * (1.0 + _NODES[:, None])
    w = np.square(np.square(np.square(z)))
    square = w * w
    # Both bounds matter only to exponents above 1e13, of which the differences are rounding errors.
    drop = np.minimum((peak - square) * (right - left / square), 0.0)
    total = half * (_WEIGHTS @ (np.exp(drop) * w / (z * (1.0 + square))))
    return np.log(8.0 * np.maximum(total, 1e-300)) - (1.0 + peak) * (left + right)
