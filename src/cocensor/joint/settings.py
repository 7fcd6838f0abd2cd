"""The settings of a joint model: a family, margins, a penalty, a kind of times."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal, get_args

import numpy as np

from cocensor._checks import check_choice, check_number, check_whole
from cocensor.copulas import Copula, Independence, copula_families
from cocensor.data import Survival
from cocensor.joint.margins import MARGIN_FORMS, MarginForm

#: What a recorded time is: a point, or the end of a group such as a month.
TimeKind = Literal["continuous", "grouped"]
AskedTimeKind = Literal["auto", "continuous", "grouped"]
Family = str | type[Copula] | Copula
Knots = int | Literal["auto"]
#: The form of margins, wherever none is asked for: splines take the form of the data, others pass for dependence.
DEFAULT_MARGINS: MarginForm = "spline"
# Times count as grouped when at least half of the subjects share theirs with this part of the sample.
_SHARED = 0.01


def resolve_family(
    copula: Any, theta: float | None = None, name: str = "copula"
) -> tuple[type[Copula], float | None]:
    """The family, and its θ if that is given."""
    if isinstance(copula, Copula):
        if theta is not None:
            raise ValueError(f"theta must be None where copula has its own, but is {theta}.")
        return type(copula), copula.theta
    if isinstance(copula, str):
        check_choice(copula.lower(), name, tuple(copula_families()))
        copula = copula_families()[copula.lower()]
    if not (isinstance(copula, type) and issubclass(copula, Copula) and hasattr(copula, "name")):
        kind = type(copula).__name__
        raise TypeError(f"copula must be a copula, a family or its name, but is of type {kind}.")
    if copula is Independence:
        return Independence, Independence(0.0 if theta is None else theta).theta
    return copula, None if theta is None else copula(theta).theta


def check_settings(margins: Any, penalty: Any, knots: Any, time_kind: Any) -> None:
    """Refuse what no joint model can be fitted with, before there are data."""
    check_choice(margins, "margins", MARGIN_FORMS)
    check_choice(time_kind, "time_kind", get_args(AskedTimeKind))
    if penalty is not None and check_number(penalty, "penalty") < 0:
        raise ValueError(f"penalty must not be negative, but is {penalty:g}.")
    if not (isinstance(knots, str) and knots == "auto"):
        check_whole(knots, "knots")


def as_time_kind(y: Survival, time_kind: AskedTimeKind) -> tuple[TimeKind, str]:
    """The kind of times that is set or that events and dropouts show, and why; ends of study may be in another unit."""
    if time_kind != "auto":
        return time_kind, "as asked"
    time = y.time if y.administrative is None else y.time[~y.administrative]
    # A common end of study is no grouping: whoever reached the last time does not count.
    early = time[time < y.t_max]
    _, place, counts = np.unique(early, return_inverse=True, return_counts=True)
    n_times = np.unique(time).size
    reason = f"{time.size:,} subjects at {n_times:,} different times"
    shared = float(np.median(counts[place])) if early.size else 1.0
    if shared > 1 and shared >= _SHARED * time.size:
        return "grouped", f"{reason}, half of them at one shared by {shared:.0f} or more"
    return "continuous", reason


LARGEST_TAU = 0.99
# θ − θ₀ by η, and the inverse.
_LINKS = {"half-line": (np.expm1, np.log1p), "line": (np.sinh, np.arcsinh), "interval": (np.tanh, np.arctanh)}


class Link:
    """The scale on which θ is optimised, 0 at independence: θ − θ₀ = expm1(η), sinh(η) or tanh(η) by θ's range."""

    def __init__(self, family: type[Copula]) -> None:
        lower, upper = family.theta_range
        self.origin = origin = family.independence_theta
        self.kind = "half-line" if lower == origin else "line" if upper == np.inf else "interval"
        # θ is kept to |τ| ≤ 0.99.
        high = self.eta(family.from_tau(LARGEST_TAU).theta) if upper > origin else 0.0
        self.bounds = 0.0 if self.kind == "half-line" else -high, high

    @classmethod
    @cache
    def of(cls, family: type[Copula]) -> Link:
        """The link of a family, made once."""
        return cls(family)

    def theta(self, eta: float) -> float:
        """θ at η."""
        return float(self.origin + _LINKS[self.kind][0](eta))

    def eta(self, theta: float) -> float:
        """The inverse."""
        return float(_LINKS[self.kind][1](theta - self.origin))

    def derivatives(self, eta: float) -> tuple[float, float]:
        """The slope and curvature of θ in η."""
        if self.kind == "half-line":
            return float(np.exp(eta)), float(np.exp(eta))
        if self.kind == "line":
            return float(np.cosh(eta)), float(np.sinh(eta))
        slope = 1.0 / np.cosh(eta) ** 2
        return float(slope), float(-2.0 * np.tanh(eta) * slope)


def tau_slope(copula: Copula) -> float:
    """dτ/dθ, by a central difference that stays inside the family."""
    family, theta = type(copula), copula.theta
    step = 1e-5 * max(abs(theta), 1e-3)
    lower, upper = family.theta_range
    low = max(theta - step, lower) if lower == family.independence_theta else theta - step
    high = min(theta + step, 0.5 * (theta + upper))
    return (family(high).tau - family(low).tau) / (high - low)
