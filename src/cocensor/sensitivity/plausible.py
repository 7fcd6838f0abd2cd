"""Which τ is held plausible, and what is certain all over it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from cocensor._validation import as_vector, check_number
from cocensor.evaluation import Evaluation
from cocensor.inference import Uncertainty
from cocensor.sensitivity.benchmark_result import PlausibleTau

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
    """

    low: float
    high: float
    origin: Literal["asked", "covariates", "default"]
    why: str | None = None

    @classmethod
    def asked(cls, ends: Any) -> PlausibleRange:
        """The two ends that a user gives."""
        values = as_vector(ends, "plausible")
        if values.size != 2:
            raise ValueError(f"plausible must have two ends, low and high, but has {values.size} values.")
        low, high = (check_number(float(end), "plausible", lower=-1.0, upper=1.0) for end in values)
        if low > high:
            raise ValueError(f"plausible must have its lower end first, but is {low:g}, {high:g}.")
        return cls(low, high, "asked")

    @classmethod
    def of(cls, benchmarks: PlausibleTau | ValueError) -> PlausibleRange:
        """By measured covariates, or by default."""
        if isinstance(benchmarks, ValueError):
            return cls(-USUAL, USUAL, "default", str(benchmarks))
        low, high = benchmarks.range
        return cls(low, high, "covariates" if high > USUAL else "default")

    @property
    def holds_independence(self) -> bool:
        """Whether τ = 0 is in it."""
        return self.low <= 0 <= self.high


def benchmarks_of(evaluation: Evaluation) -> PlausibleTau | ValueError:
    """Measured covariates as benchmarks, or why there are none."""
    try:
        return evaluation.plausible_tau()
    except ValueError as error:
        return error


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
