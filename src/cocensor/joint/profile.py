"""The likelihood over Kendall's τ, family by family."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cocensor._cached import cached_property
from cocensor._checks import FloatArray, make_frame
from cocensor._notes import Note
from cocensor._views import view
from cocensor.copulas import copula_families

if TYPE_CHECKING:
    from cocensor.joint.choice import CopulaChoice

#: Half the 95 % quantile of χ² with one degree of freedom: τ within this of the maximum cannot be distinguished.
CUT = 1.9207


@dataclass(frozen=True, eq=False)
class DependenceProfile:
    """The profile likelihood over τ, family by family: how well each dependence fits the data.

    Made by :meth:`CopulaChoice.profile`. At each τ the margins are fitted anew. It rests on the form of the margins
    alone: read it as a hint.

    Attributes
    ----------
    curves : dict of pair of array
        By family the τ and the log-likelihood at each.
    independence : float
        The log-likelihood at independence.
    n : float
        The number of subjects, or the sum of their case weights.
    choice : CopulaChoice or None
        The choice that it belongs to, if any.
    notes : tuple of Note
        What was decided on the way.

    Examples
    --------
    >>> from cocensor import Clayton, select_copula
    >>> from cocensor.simulate import SyntheticDesign
    >>> data = SyntheticDesign(n=600, n_features=1, copula=Clayton.from_tau(0.6)).draw(1)
    >>> choice = select_copula(data.X, data.y, families=("clayton",), margins="weibull", folds=2)
    >>> profile = choice.profile([0.0, 0.3, 0.6])
    >>> profile.best[:2]
    ('clayton', 0.6)
    """

    #: For each family the τ and the log-likelihood, margins fitted at each.
    curves: dict[str, tuple[FloatArray, FloatArray]]
    independence: float
    n: float
    library: Any = None
    #: The choice that it belongs to, if any.
    choice: CopulaChoice | None = None
    notes: tuple[Note, ...] = ()

    @property
    def best(self) -> tuple[str, float, float]:
        """The family and τ of the largest log-likelihood, and that itself."""
        family = max(self.curves, key=lambda name: self.curves[name][1].max())
        taus, values = self.curves[family]
        at = int(np.argmax(values))
        return family, float(taus[at]), float(values[at])

    @cached_property
    def table(self) -> Any:
        """One row per family and τ; ``difference`` is the log-likelihood less the largest of all."""
        top = self.best[2]
        rows = [
            (
                name,
                float(tau),
                copula_families()[name].from_tau(float(tau)).theta,
                float(value),
                float(value) - top,
            )
            for name, curve in self.curves.items()
            for tau, value in zip(*curve, strict=True)
        ]
        names = ("family", "tau", "theta", "loglik", "difference")
        return make_frame(
            dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)), library=self.library
        )

    def supported(self, family: str) -> tuple[float, float]:
        """The smallest and largest τ that fit about as well as the best of a family (95 %)."""
        taus, values = self.curves[family]
        inside = taus[values >= values.max() - CUT]
        return float(inside.min()), float(inside.max())

    @property
    def statement(self) -> str:
        """What the profile says, and the choice beside it where they differ, in words."""
        return view("text.profile_in_words")(self)

    def to_dict(self) -> dict[str, Any]:
        """The profile as JSON can hold it; ``difference`` is the log-likelihood less the largest of all."""
        family, tau, top = self.best
        return {
            "n": self.n,
            "independence": self.independence,
            "best": {"family": family, "tau": tau, "loglik": top},
            "cut": CUT,
            "statement": self.statement,
            "families": {
                name: {
                    "taus": taus.tolist(),
                    "loglik": values.tolist(),
                    "difference": (values - top).tolist(),
                    "supported": list(self.supported(name)),
                }
                for name, (taus, values) in self.curves.items()
            },
            "notes": [note.to_dict() for note in self.notes],
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw the curves; returns the axes (a :class:`~cocensor.views.plots.CurveDisplay`)."""
        return view("plots.CurveDisplay").from_profile(self).plot(ax=ax)

    def __repr__(self) -> str:
        return f"DependenceProfile({', '.join(self.curves)})"
