r"""The base of all copulas.

A family writes its formulas once, in cumulative hazards ``x = −log u`` and ``y = −log v`` above 0, without checks:
there they stay accurate (u down to 1e-300, and near 1), and likelihoods use them. The methods in (u, v), the edges of
the unit square and the independence limit are handled here, for all families alike.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt

from cocensor._checks import (
    FloatArray,
    Seed,
    as_generator,
    as_probabilities,
    as_table,
    broadcast,
    check_number,
    check_whole,
    refuse_first,
)
from cocensor._jets import value_of
from cocensor._namespaces import namespace
from cocensor._numerics import log1mexp, open_uniform, root, scalar_like
from cocensor.data import StepFunction
from cocensor.data.risk_table import MarginSteps

# So near to independence, what is multiplied by θ is no longer a normal number of double precision.
_NO_DIGITS = 1e-290
# A difference of logarithms below this share of them has lost too many digits, and is integrated instead.
_CLOSE = 1e-6
# Gauss–Legendre quadrature on (0, 1).
_FLANK = 0.95
_POINTS = [
    (0.5 * (1.0 + node), 0.5 * weight)
    for node, weight in zip(*np.polynomial.legendre.leggauss(16), strict=True)
]


@dataclass(frozen=True)
class Copula(ABC):
    r"""An exchangeable copula :math:`C_\theta(u, v)` with one parameter.

    In this library u and v are *survival* probabilities, :math:`P(E > t, C > c) = C(S_E(t), S_C(c))`, so
    that lower-tail dependence ties late events to late dropouts.

    Parameters
    ----------
    theta : float
        The family's textbook parameter; ``from_tau`` takes Kendall's τ instead.

    Examples
    --------
    >>> from cocensor import Clayton
    >>> copula = Clayton.from_tau(0.5)
    >>> copula.theta, copula.tau
    (2.0, 0.5)
    >>> round(float(copula.cdf(0.5, 0.4)), 4), round(float(copula.hfunc1(0.5, 0.4)), 4)
    (0.3288, 0.2844)
    >>> copula.sample(3, rng=0).shape
    (3, 2)

    References
    ----------
    Nelsen, R. B. (2006). *An Introduction to Copulas*, 2nd edition. Springer.
    """

    theta: float

    name: ClassVar[str]
    #: Bounds of θ: the lower one is attained where it is the independence limit; the upper one never is.
    theta_range: ClassVar[tuple[float, float]]
    #: Where the family is the independence copula.
    independence_theta: ClassVar[float]
    #: What Kendall's τ can reach; 0 is attained, ±1 is not.
    tau_range: ClassVar[tuple[float, float]]
    #: Whether the formulas take arrays of numpy alone.
    numpy_alone: ClassVar[bool] = False

    def __post_init__(self) -> None:
        theta = check_number(self.theta, "theta")
        lower, upper = self.theta_range
        if theta != self.independence_theta and not lower < theta < upper:
            reach = _interval(lower, upper, self.independence_theta)
            raise ValueError(f"theta of the {self.name} copula must {reach}, but is {theta:g}.")
        near = abs(theta - self.independence_theta) < _NO_DIGITS
        object.__setattr__(self, "theta", self.independence_theta if near else theta)

    def cdf(self, u: npt.ArrayLike, v: npt.ArrayLike) -> Any:
        r""":math:`C(u, v)`; ``u`` and ``v`` in [0, 1] broadcast."""
        return exp_or_inf(self.log_cdf(u, v))

    def log_cdf(self, u: npt.ArrayLike, v: npt.ArrayLike) -> Any:
        r""":math:`\log C(u, v)`, −∞ where u or v is 0."""
        u, v, x, y = _hazards(u, v)
        inside = (u > 0) & (v > 0) & (u < 1) & (v < 1)
        # On the edges C(u, 1) = u, C(1, v) = v, C(u, 0) = C(0, v) = 0.
        edge = np.where((u == 0) | (v == 0), np.inf, np.where(u == 1, y, x))
        return _where_inside(inside, self.log_cdf_hazard, x, y, -edge)

    def hfunc1(self, u: npt.ArrayLike, v: npt.ArrayLike) -> Any:
        r""":math:`h_1 = \partial C/\partial u = P(V \le v \mid U = u)`, for u strictly inside (0, 1)."""
        return exp_or_inf(self.log_hfunc1(u, v))

    def log_hfunc1(self, u: npt.ArrayLike, v: npt.ArrayLike) -> Any:
        r""":math:`\log h_1(u, v)`."""
        as_probabilities(u, "u", interior=True)
        u, v, x, y = _hazards(u, v)
        edge = np.where(v == 0, -np.inf, 0.0)
        return _where_inside((v > 0) & (v < 1), self.log_hfunc1_hazard, x, y, edge)

    def hfunc2(self, u: npt.ArrayLike, v: npt.ArrayLike) -> Any:
        r""":math:`h_2 = \partial C/\partial v = P(U \le u \mid V = v)`, for v strictly inside (0, 1)."""
        return exp_or_inf(self.log_hfunc2(u, v))

    def log_hfunc2(self, u: npt.ArrayLike, v: npt.ArrayLike) -> Any:
        r""":math:`\log h_2(u, v)`."""
        as_probabilities(v, "v", interior=True)
        return self.log_hfunc1(v, u)

    def pdf(self, u: npt.ArrayLike, v: npt.ArrayLike) -> Any:
        r"""The density :math:`\partial^2 C/\partial u\,\partial v`, strictly inside the unit square."""
        return exp_or_inf(self.log_pdf(u, v))

    def log_pdf(self, u: npt.ArrayLike, v: npt.ArrayLike) -> Any:
        """The log-density, strictly inside the unit square."""
        as_probabilities(u, "u", interior=True)
        as_probabilities(v, "v", interior=True)
        u, v, x, y = _hazards(u, v)
        return scalar_like(self.log_pdf_hazard(x, y), u)

    def log_cdf_hazard(self, x: FloatArray, y: FloatArray) -> FloatArray:
        r""":math:`\log C(e^{-x}, e^{-y})` for cumulative hazards x, y > 0."""
        return self.formulas._log_cdf(x, y)

    def log_hfunc1_hazard(self, x: FloatArray, y: FloatArray) -> FloatArray:
        r""":math:`\log h_1(e^{-x}, e^{-y})` for cumulative hazards x, y > 0."""
        return self.formulas._log_hfunc1(x, y)

    def log_hfunc2_hazard(self, x: FloatArray, y: FloatArray) -> FloatArray:
        r""":math:`\log h_2(e^{-x}, e^{-y})`, by exchangeability."""
        return self.log_hfunc1_hazard(y, x)

    def log_pdf_hazard(self, x: FloatArray, y: FloatArray) -> FloatArray:
        r"""The log-density at :math:`(e^{-x}, e^{-y})` for cumulative hazards x, y > 0."""
        return self.formulas._log_pdf(x, y)

    def log_cross_ratio_hazard(self, x: FloatArray, y: FloatArray) -> FloatArray:
        r""":math:`\log[c\,C / (h_1 h_2)]`: of the hazard of E at its time, given C = c against given C > c.

        For Archimedean copulas it is :math:`-\pi\varphi''(\pi)/\varphi'(\pi)` at :math:`\pi = C(e^{-x}, e^{-y})`, for
        Clayton 1 + θ, at independence 1.
        """
        if self.is_independence:
            return np.zeros(np.broadcast(x, y).shape)
        joint = self.log_pdf_hazard(x, y) + self.log_cdf_hazard(x, y)
        return joint - self.log_hfunc1_hazard(x, y) - self.log_hfunc2_hazard(x, y)

    @property
    def is_independence(self) -> bool:
        """Whether θ is exactly at the independence limit."""
        return self.theta == self.independence_theta

    @property
    def formulas(self) -> Self:
        """Where the formulas come from: the family, or independence exactly at its limit."""
        if not self.is_independence or self.name == "independence":
            return self
        # Late, because Independence is a copula itself.
        from cocensor.copulas.independence import Independence

        return cast(Self, Independence())

    @classmethod
    def formulas_at(cls, theta: Any) -> Self:
        """The family's formulas in cumulative hazards at a θ that is not checked, and may be a jet.

        They are smooth through the independence limit, so that a likelihood can be followed up to it.
        """
        lifted = object.__new__(cls)
        object.__setattr__(lifted, "theta", theta)
        return lifted

    @property
    def tau(self) -> float:
        """Kendall's τ."""
        return self.formulas._tau()

    @classmethod
    def from_tau(cls, tau: float) -> Self:
        """The member of the family with Kendall's τ ``tau``."""
        tau = check_number(tau, "tau")
        if abs(tau) < _NO_DIGITS:
            return cls(cls.independence_theta)
        lower, upper = cls.tau_range
        if not lower < tau < upper:
            reach = _interval(lower, upper, 0.0)
            raise ValueError(f"tau of the {cls.name} copula must {reach}, but is {tau:g}.")
        return cls(cls._theta_from_tau(tau))

    def sample(self, n: int, rng: Seed = None) -> FloatArray:
        """``n`` draws of (U, V), as an (n, 2) array."""
        rng = as_generator(rng)
        u = open_uniform(rng, check_whole(n, "n", 0))
        return np.column_stack((u, self.sample_given(u, rng)))

    def sample_given(self, u: npt.ArrayLike, rng: Seed = None) -> Any:
        """A draw of V given U = ``u`` for each entry; by exchangeability also one of U given V.

        Equal ``u`` and equal random state give draws of different families and θ that are comparable:
        the event times of a simulation stay fixed while the dependence changes.
        """
        u = as_probabilities(u, "u", interior=True)
        w = open_uniform(as_generator(rng), u.shape)
        return scalar_like(np.exp(-self.formulas._conditional_hazard(-np.log(u), -np.log(w))), u)

    # --- what a family writes (never called at the independence limit) -------------------------------

    @abstractmethod
    def _log_cdf(self, x: FloatArray, y: FloatArray) -> FloatArray: ...

    @abstractmethod
    def _log_hfunc1(self, x: FloatArray, y: FloatArray) -> FloatArray: ...

    @abstractmethod
    def _log_pdf(self, x: FloatArray, y: FloatArray) -> FloatArray: ...

    @abstractmethod
    def _tau(self) -> float: ...

    @classmethod
    @abstractmethod
    def _theta_from_tau(cls, tau: float) -> float: ...

    def _conditional_hazard(self, x: FloatArray, z: FloatArray) -> FloatArray:
        r"""The y with :math:`\log h_1(e^{-x}, e^{-y}) = -z`; numerical where a family has no closed form."""
        from scipy.optimize.elementwise import find_root

        def gap(log_y: FloatArray, x: FloatArray, z: FloatArray) -> FloatArray:
            return self._log_hfunc1(x, np.exp(log_y)) + z

        # h₁ falls in y from 1 to 0: the bracket is all of the positive doubles e^{-y}, and some beyond the smallest.
        bracket = np.full(x.shape, -740.0), np.full(x.shape, 7.0)
        root = find_root(gap, bracket, args=(x, z), tolerances={"xatol": 1e-14, "xrtol": 1e-15})
        return np.asarray(np.exp(root.x))


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

    def graphic_curve(self, steps: MarginSteps) -> StepFunction:
        r"""The Copula-Graphic curve, :math:`\varphi^{-1}(\sum_{i \le j} [\varphi(p_i^+) - \varphi(p_i^-)])`.

        Step i takes the joint survival probability from :math:`p_i^- = e^{-hazard_i}` to
        :math:`p_i^+ = p_i^-(1 - fraction_i)`. At independence this is the Kaplan–Meier product. Nothing
        overflows: the sum runs in logarithms.
        """
        times, fraction, hazard = steps
        if self.is_independence:
            return StepFunction.trusted(times, np.multiply.accumulate(1.0 - fraction))
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
        return StepFunction.trusted(times, survival)

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


def exp_or_inf(value: Any) -> Any:
    """exp, infinite rather than a warning where it overflows; a float stays a float."""
    with np.errstate(over="ignore"):
        return scalar_like(np.exp(value), value)


def _interval(lower: float, upper: float, attained: float) -> str:
    if lower == upper:
        return f"be {lower:g}"
    return f"lie in {'[' if lower == attained else '('}{lower:g}, {upper:g})"


def _hazards(u: npt.ArrayLike, v: npt.ArrayLike) -> tuple[FloatArray, ...]:
    u, v = broadcast(u=as_probabilities(u, "u"), v=as_probabilities(v, "v"))
    with np.errstate(divide="ignore"):
        return u, v, -np.log(u), -np.log(v)


def _generator_argument(s: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    s = as_probabilities(s, "s")
    if (s == 0).any():
        raise ValueError("s must be positive: the generator's slope is infinite at 0.")
    return s, -np.log(s)


def _where_inside(
    inside: npt.NDArray[np.bool_], formula: Any, x: FloatArray, y: FloatArray, edge: FloatArray
) -> Any:
    """``formula(x, y)`` inside the unit square, ``edge`` on its border."""
    if inside.all():
        return scalar_like(formula(x, y), x)
    result = np.array(edge)  # not a scalar, also for a single point
    result[inside] = formula(x[inside], y[inside])
    return scalar_like(result, x)


def log_cdf_by_symmetry(
    formula: Callable[[FloatArray, FloatArray], FloatArray], x: FloatArray, y: FloatArray
) -> FloatArray:
    """Log C, radially symmetric, accurate near 0: near (1, 1) by C(u, v) = 1 − [(1−u) + (1−v) − C(1−u, 1−v)]."""
    xp, corner = namespace(x, y), (x < 0.3) & (y < 0.3)
    if xp is np and not corner.any():
        return formula(x, y)
    a, b = (xp.where(corner, -log1mexp(hazard), hazard) for hazard in (x, y))
    result = formula(a, b)
    missing = xp.where(corner, xp.exp(-a) + xp.exp(-b) - xp.exp(result), 0.0)
    return xp.where(corner, xp.log1p(-missing), result)


def root_in_theta(family: type[Copula], tau: float, lower: float, upper: float) -> float:
    """The θ between ``lower`` and ``upper`` at which a family without a closed form has Kendall's ``tau``."""
    return root(lambda theta: family(theta).tau - tau, lower, upper)


def log_step(copula: Copula, start: Any, end: Any, y: Any) -> Any:
    r"""Log of :math:`C(e^{-start}, e^{-y}) - C(e^{-end}, e^{-y})` for hazards ``start`` < ``end``; takes jets.

    Where the two are too close for their difference, it is :math:`\int e^{-x} h_1(e^{-x}, e^{-y})\,dx` over the step.
    """
    above = copula.log_cdf_hazard(start, y)
    gap = above - copula.log_cdf_hazard(end, y)
    close = ~(value_of(gap) > -_CLOSE * value_of(above))
    if not close.any():
        return above + log1mexp(gap)
    apart = above + log1mexp(np.where(close, 1.0, gap))
    return np.where(close, _log_integral(copula, start, end, y), apart)


def _log_integral(copula: Copula, start: Any, end: Any, y: Any) -> Any:
    """Log of the integral over the step, by quadrature in s with x = end · s^k.

    Near (1, 1) the integrand is a power of x: θ − 1 for Gumbel and Joe, about ρ²/(1 − ρ²) for the normal copula. The
    exponent k is such that the integral is that of s³ at the end of the step, and smooth at its start.
    """

    def log_density(x: Any) -> Any:
        return copula.log_hfunc1_hazard(x, y) - x

    last = value_of(end)
    rise = value_of(log_density(last)) - value_of(log_density(_FLANK * last))
    k = 4.0 / np.fmax(1.0 - rise / np.log(_FLANK), 0.5)
    width = (end - start) / end
    narrow = value_of(width) < 0.5
    log_ratio = np.where(narrow, -np.log1p(-np.where(narrow, width, 0.25)), np.log(end) - np.log(start))
    share = -np.expm1(-log_ratio / k)
    total: Any = None
    for node, weight in _POINTS:
        log_s = np.log1p(-share * (1.0 - node))
        log_x = np.log(end) + k * log_s
        term = np.log(weight) + log_x - log_s + log_density(np.exp(log_x))
        total = term if total is None else np.logaddexp(total, term)
    return total + log1mexp(log_ratio / k) + np.log(k)
