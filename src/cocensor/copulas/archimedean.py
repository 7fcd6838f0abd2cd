"""Copulas with a generator, on which the Copula-Graphic estimator rests."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray, as_probabilities, as_table, refuse_first
from cocensor._numerics import log1mexp, scalar_like
from cocensor.copulas.base import Copula, exp_or_inf


@dataclass(frozen=True)
class ArchimedeanCopula(Copula):
    r"""A copula :math:`C(u, v) = \varphi^{-1}(\varphi(u) + \varphi(v))` with generator φ, :math:`\varphi(1) = 0`.

    Generators are defined up to a factor; each family states its own.

    Assumes, as a survival copula, :math:`P(E > t, C > c) = \varphi^{-1}(\varphi(S_E(t)) + \varphi(S_C(c)))`.

    Parameters
    ----------
    theta : float
        The family's textbook parameter; ``from_tau`` takes Kendall's τ instead.

    Examples
    --------
    >>> from cocensor import Clayton, Frank, Gumbel, Joe
    >>> from cocensor.copulas import ArchimedeanCopula
    >>> [issubclass(family, ArchimedeanCopula) for family in (Clayton, Frank, Gumbel, Joe)]
    [True, True, True, True]
    >>> copula = Gumbel.from_tau(0.5)
    >>> round(float(copula.phi_inv(copula.phi(0.5) + copula.phi(0.4))), 6) == round(float(copula.cdf(0.5, 0.4)), 6)
    True

    References
    ----------
    Genest, C., MacKay, J. (1986). The joy of copulas: bivariate distributions with uniform marginals. *The American
    Statistician* 40, 280–283.
    """

    def phi(self, s: npt.ArrayLike) -> Any:
        r"""The generator :math:`\varphi(s)`, for s in [0, 1]; infinite at 0."""
        return exp_or_inf(self.log_phi(s))

    def log_phi(self, s: npt.ArrayLike) -> Any:
        r""":math:`\log\varphi(s)`, finite where φ itself overflows."""
        s = as_probabilities(s, "s")
        with np.errstate(divide="ignore"):
            x = -np.log(s)
            inner = self.formulas._log_phi(np.where(s > 0, x, 1.0))
        return scalar_like(np.where(s > 0, inner, np.inf), s)

    def phi_inv(self, t: npt.ArrayLike) -> Any:
        r""":math:`\varphi^{-1}(t)` for t ≥ 0, one at 0."""
        t = np.asarray(as_table(t, "t"), dtype=np.float64)  # infinity is allowed
        if not (t >= 0).all():  # NaN fails too
            refuse_first(~(t >= 0), t, "t must not be negative")
        with np.errstate(divide="ignore"):
            hazard = self.formulas._hazard_from_log_phi(np.log(t))
        return scalar_like(np.exp(-hazard), t)

    def phi_prime(self, s: npt.ArrayLike) -> Any:
        r""":math:`\varphi'(s)`, for s in (0, 1]; negative."""
        s, x = _generator_argument(s)
        with np.errstate(over="ignore"):
            return scalar_like(-np.exp(self.log_elasticity(x) + x), s)

    def phi_second(self, s: npt.ArrayLike) -> Any:
        r""":math:`\varphi''(s)`, for s in (0, 1]; positive."""
        s, x = _generator_argument(s)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return scalar_like(np.exp(self.formulas._log_phi_second(x)), s)

    def log_elasticity(self, x: FloatArray) -> FloatArray:
        r""":math:`\log|s\varphi'(s)|` at :math:`s = e^{-x}`: the generator's slope on the log scale.

        It is 0 throughout at independence, which is what makes Greenwood's formula exact there.
        """
        with np.errstate(divide="ignore"):
            return self.formulas._log_elasticity(x)

    def log_curvature(self, x: FloatArray) -> FloatArray:
        r""":math:`\log(s\varphi''(s)/|\varphi'(s)|)` at :math:`s = e^{-x}`: how fast φ' falls on the log scale."""
        with np.errstate(divide="ignore"):
            return self.formulas._log_phi_second(x) - 2.0 * x - self.log_elasticity(x)

    def log_rise(self, start: FloatArray, end: FloatArray) -> FloatArray:
        r""":math:`\log[\varphi(e^{-end}) - \varphi(e^{-start})]` for hazards ``start`` < ``end``."""
        with np.errstate(divide="ignore"):
            after, before = (self.formulas._log_phi(x) for x in (end, start))
        return after + log1mexp(after - before)

    def graphic_survival(self, hazard: FloatArray, fraction: FloatArray) -> FloatArray:
        r"""The Copula-Graphic sum over steps, :math:`\varphi^{-1}(\sum_{i \le j} [\varphi(p_i^+) - \varphi(p_i^-)])`.

        Step i takes the joint survival probability from :math:`p_i^- = e^{-hazard_i}` to
        :math:`p_i^+ = p_i^-(1 - fraction_i)`. At independence this is the Kaplan–Meier product. Nothing
        overflows: the sum runs in logarithms.
        """
        if self.is_independence:
            return np.multiply.accumulate(1.0 - fraction)
        # The curve is 0 from where a step takes everyone: the last one, or one before next to no weight.
        everyone = fraction == 1.0
        kept = slice(0, int(np.argmax(everyone)) if everyone.any() else fraction.size)
        survival = np.zeros_like(fraction)
        log_ratio = -np.log1p(-fraction[kept])
        total = self._graphic_hazard(hazard[kept], log_ratio)
        if (total[1:] < total[:-1]).any():
            # Rounding may lift a curve by one unit in the last place; a survival curve does not rise.
            total = np.maximum.accumulate(total)
        survival[kept] = np.exp(-total)
        return survival

    def single_step(self, hazard: FloatArray, fraction: FloatArray) -> FloatArray:
        r"""The curve after one step alone, :math:`\varphi^{-1}(\varphi(p^+) - \varphi(p^-))`, for each of many."""
        risen = self.log_rise(hazard, hazard - np.log1p(-fraction))
        return np.exp(-self.formulas._hazard_from_log_phi(risen))

    # --- what a family writes (never called at the independence limit) -------------------------------

    @abstractmethod
    def _log_phi(self, x: FloatArray) -> FloatArray:
        """Log φ(e^{−x}), −∞ at x = 0."""

    @abstractmethod
    def _hazard_from_log_phi(self, log_t: FloatArray) -> FloatArray:
        """−log φ⁻¹(t) from log t; 0 at −∞ and ∞ at ∞."""

    @abstractmethod
    def _log_elasticity(self, x: FloatArray) -> FloatArray:
        """Log |s φ'(s)| at s = e^{−x}."""

    @abstractmethod
    def _log_phi_second(self, x: FloatArray) -> FloatArray:
        """Log φ''(s) at s = e^{−x}."""

    @abstractmethod
    def _graphic_hazard(self, hazard: FloatArray, log_ratio: FloatArray) -> FloatArray:
        """−log of the Copula-Graphic curve after each step; p⁻ = e^{−hazard}, p⁺ = p⁻ e^{−log_ratio}."""


def _generator_argument(s: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    s = as_probabilities(s, "s")
    if (s == 0).any():
        raise ValueError("s must be positive: the generator's slope is infinite at 0.")
    return s, -np.log(s)
