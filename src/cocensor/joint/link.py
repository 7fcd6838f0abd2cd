"""The scale on which the dependence is optimised."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from cocensor.copulas import Copula

LARGEST_TAU = 0.99


@dataclass(frozen=True)
class Link:
    """The scale on which θ is optimised, 0 at independence: θ − θ₀ = expm1(η), sinh(η) or tanh(η) by θ's range."""

    kind: Literal["half-line", "line", "interval"]
    origin: float
    bounds: tuple[float, float]

    @classmethod
    @cache
    def of(cls, family: type[Copula]) -> Link:
        """The link of a family; θ is kept to |τ| ≤ 0.99."""
        lower, upper = family.theta_range
        origin = family.independence_theta
        kind: Literal["half-line", "line", "interval"]
        kind = "half-line" if lower == origin else "line" if upper == np.inf else "interval"
        if upper == origin:  # independence itself
            return cls(kind, origin, (0.0, 0.0))
        open_ended = cls(kind, origin, (0.0, 0.0))
        high = open_ended.eta(_largest_theta(family))
        return cls(kind, origin, (0.0 if kind == "half-line" else -high, high))

    def theta(self, eta: float) -> float:
        """θ at η."""
        function = {"half-line": np.expm1, "line": np.sinh, "interval": np.tanh}[self.kind]
        return float(self.origin + function(eta))

    def eta(self, theta: float) -> float:
        """The inverse."""
        function = {"half-line": np.log1p, "line": np.arcsinh, "interval": np.arctanh}[self.kind]
        return float(function(theta - self.origin))

    def derivatives(self, eta: float) -> tuple[float, float]:
        """The slope and curvature of θ in η."""
        if self.kind == "half-line":
            return float(np.exp(eta)), float(np.exp(eta))
        if self.kind == "line":
            return float(np.cosh(eta)), float(np.sinh(eta))
        slope = 1.0 / np.cosh(eta) ** 2
        return float(slope), float(-2.0 * np.tanh(eta) * slope)


def _largest_theta(family: type[Copula]) -> float:
    return family.from_tau(LARGEST_TAU).theta


def tau_slope(copula: Copula) -> float:
    """dτ/dθ, by a central difference that stays inside the family."""
    family, theta = type(copula), copula.theta
    step = 1e-5 * max(abs(theta), 1e-3)
    low, high = theta - step, theta + step
    lower, upper = family.theta_range
    low, high = (
        max(low, lower if lower == family.independence_theta else low),
        min(high, 0.5 * (theta + upper)),
    )
    return (family(high).tau - family(low).tau) / (high - low)
