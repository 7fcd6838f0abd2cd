"""Which τ is held plausible, and what is certain all over it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cocensor.inference import Uncertainty
from cocensor.study.evaluation import Evaluation, metric_of
from cocensor.study.sensitivity.benchmark_result import PlausibleTau
from cocensor.study.standing import rankable

if TYPE_CHECKING:
    from cocensor.study.sensitivity.result import Sensitivity

#: Without covariates that induce more, τ is held plausible up to here, on either side of 0.
USUAL = 0.2


@dataclass(frozen=True)
class PlausibleRange:
    r"""From which to which Kendall's τ the dependence that is left is held plausible.

    By default :math:`|\tau| \le \max(0.2, 3 |\tau_x|)`, where :math:`\tau_x` is what leaving out all measured
    covariates together would induce (:func:`cocensor.plausible_tau`). It is a convention, and no bound.

    Attributes
    ----------
    low, high : float
    origin : {"asked", "covariates", "default"}
        Who decided it: the user; measured covariates, where three times what they induce is more than 0.2; or nobody.
    why : str or None
        Why covariates did not tell, where none could.
    lacking : {"covariates", "dropouts", "benchmarks"} or None
        What there is none of, where covariates did not tell.
    together : float or None
        The τ that leaving out all measured covariates would induce.
    """

    low: float
    high: float
    origin: Literal["asked", "covariates", "default"]
    why: str | None = None
    lacking: Literal["covariates", "dropouts", "benchmarks"] | None = None
    together: float | None = None

    @classmethod
    def of(
        cls, evaluation: Evaluation, benchmarks: PlausibleTau | ValueError, asked: tuple[float, float] | None
    ) -> PlausibleRange:
        """As asked for, by measured covariates, or by default; either way, why covariates do not tell."""
        if not isinstance(benchmarks, ValueError):
            low, high = asked or benchmarks.range
            wide: Literal["covariates", "default"] = "covariates" if high > USUAL else "default"
            return cls(low, high, "asked" if asked else wide, together=benchmarks.together)
        samples = evaluation.data.samples
        lacking: Literal["covariates", "dropouts", "benchmarks"] = "benchmarks"
        if samples.x_test is None:
            lacking = "covariates"
        elif not samples.y_test.dropout.any():
            lacking = "dropouts"
        low, high = asked or (-USUAL, USUAL)
        return cls(low, high, "asked" if asked else "default", str(benchmarks), lacking)

    @property
    def holds_independence(self) -> bool:
        """Whether τ = 0 is in it."""
        return self.low <= 0 <= self.high


@dataclass(frozen=True)
class WithinPlausible:
    """What is certain of two models wherever in the plausible range τ lies, under every family.

    Attributes
    ----------
    low, high : float
        The part of the plausible range that the grid covers.
    whole : bool
        Whether that is all of it.
    winner : str or None
        The model that is better at every τ in it: all intervals of the difference lie on one side of 0,
        which needs no correction for their number. None where no model is, or where there is a τ without an answer.
    uncertainty : Uncertainty
        Of the difference score(a) − score(b) over the range.
    """

    low: float
    high: float
    whole: bool
    winner: str | None
    uncertainty: Uncertainty


def within_plausible(
    sensitivity: Sensitivity, a: str, b: str, metric: str | None = None, adjustment: str | None = None
) -> WithinPlausible:
    """Whether one of two models is better beyond chance over the plausible range.

    A range that the grid does not reach at all is refused.
    """
    grid, plausible = sensitivity.over_tau, sensitivity.plausible
    name, by = grid.adjustment(adjustment), metric_of(sensitivity.evaluation, metric)
    reached = [tau for line in grid.answers[name].values() for tau in line]
    low, high = max(plausible.low, min(reached)), min(plausible.high, max(reached))
    if low > high:
        raise ValueError(
            f"taus must reach the plausible range, from {plausible.low:g} to {plausible.high:g}, but run from "
            f"{min(reached):g} to {max(reached):g}."
        )
    spread = grid.uncertainty(low, high, a, b, None, by.name, name)
    winner = None
    if not spread.missing and (spread.strong.low > 0 or spread.strong.high < 0):
        winner = a if (spread.strong.high < 0) == (by.direction == "smaller") else b
    if winner not in rankable(sensitivity.evaluation):
        winner = None
    whole = (low, high) == (plausible.low, plausible.high)
    return WithinPlausible(low, high, whole, winner, spread)
