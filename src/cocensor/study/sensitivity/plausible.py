"""Which dependence measured covariates would induce, had they not been measured, and which is held plausible."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cocensor._cached import cached_property
from cocensor._checks import FloatArray, check_number, escaped, frame_of_rows
from cocensor._json import finite
from cocensor._notes import Note
from cocensor._views import view
from cocensor.inference import ConfidenceInterval
from cocensor.study.sensitivity.hidden import Contrasts, hidden_hazard_ratio

if TYPE_CHECKING:
    from cocensor.study.evaluation import Evaluation

#: Without covariates that induce more, τ is held plausible up to here, on either side of 0.
USUAL = 0.2
_MULTIPLES = (1, 2, 3)
# The plausible range: at least to here, to so many times what all covariates induce, and never beyond.
_LEAST_RANGE, _TIMES_TOGETHER, _MOST_RANGE = 0.2, 3.0, 0.9
_MOST_TIMES = 100.0


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


@dataclass(frozen=True)
class Benchmark:
    """The dependence of event and dropout that leaving out one covariate would induce.

    Attributes
    ----------
    name : str
        The covariate; for a categorical one, the column that its indicators come from.
    columns : tuple of str
        Its columns: the indicators of a categorical one, else itself.
    hazard_ratio_event, hazard_ratio_dropout : float
        Per standard deviation of the covariate in the sample, given all others, by Cox models. Of several indicators:
        per standard deviation of what they add to the log hazard, and then never below 1.
    tau : float
        Kendall's τ that leaving it out induces, at the estimated effects: hardly biased, but its size is, upwards.
    interval : ConfidenceInterval
        Of τ, by the bootstrap.
    shrunken_tau : float
        τ at effects that are drawn to 0 by as much as their noise makes them stick out among all covariates.

    See Also
    --------
    plausible_tau : Makes these, and shows some in its example.
    """

    name: str
    columns: tuple[str, ...]
    hazard_ratio_event: float
    hazard_ratio_dropout: float
    tau: float
    interval: ConfidenceInterval
    shrunken_tau: float


@dataclass(frozen=True, eq=False, repr=False)
class PlausibleTau:
    """What :func:`plausible_tau` found.

    Attributes
    ----------
    benchmarks : tuple of Benchmark
        One for each covariate, that of the largest ``shrunken_tau`` first.
    together, together_interval : float, ConfidenceInterval
        τ that leaving all covariates out would induce; their effects can cancel.
    aligned : float
        What all together would induce if both linear predictors ranked every pair of subjects alike; with Wald's χ² of
        its p effects, the spread of each is multiplied by √(1 − p/χ²), as the rest of it is noise.
    n, n_events, n_dropouts : int
    confidence_level : float
    notes : tuple of Note
        What was left out, and what makes the benchmarks doubtful.

    See Also
    --------
    plausible_tau : Makes it, with an example.
    """

    benchmarks: tuple[Benchmark, ...]
    together: float
    together_interval: ConfidenceInterval
    aligned: float
    n: int
    n_events: int
    n_dropouts: int
    confidence_level: float
    notes: tuple[Note, ...]
    #: Of the strongest: how subjects differ in it, and its shrunken effects on event and dropout.
    contrasts: Contrasts = field(repr=False)
    effects: tuple[FloatArray, FloatArray] = field(repr=False)
    library: Any = field(default=None, repr=False)

    @property
    def strongest(self) -> Benchmark:
        """The covariate that would induce most."""
        return self.benchmarks[0]

    @property
    def multiples(self) -> dict[int, float]:
        """τ that a factor like the strongest covariate would induce, with 1, 2 and 3 times its log hazard ratios."""
        return {times: self._multiple(times) for times in _MULTIPLES}

    def multiple_for(self, tau: float) -> float:
        """By how much the log hazard ratios of the strongest covariate must be multiplied to induce a τ of this size.

        Infinite where no multiple up to 100 does: the covariate has no effect beyond noise, or says too
        few subjects apart.
        """
        from scipy.optimize import brentq  # late: it takes a moment

        size = abs(check_number(tau, "tau"))
        if size >= 1.0:
            raise ValueError(f"tau must lie strictly between -1 and 1, but is {tau}.")
        if size == 0.0:
            return 0.0
        grid, sizes = self._sizes
        enough = sizes >= size
        if not enough.any():
            return inf
        first = int(np.argmax(enough))
        low = grid[first - 1] if first else 0.0
        return float(brentq(lambda times: abs(self._multiple(times)) - size, low, grid[first]))

    def hidden(self, taus: Iterable[float]) -> dict[float, float]:
        """By τ the hazard ratio per standard deviation of a hidden factor that induces it: `hidden_hazard_ratio`."""
        return {float(tau): hidden_hazard_ratio(tau) for tau in taus}

    @property
    def range(self) -> tuple[float, float]:
        """±τ up to the larger of 0.2 and three times what all covariates together induce, and at most 0.9."""
        end = min(max(_LEAST_RANGE, _TIMES_TOGETHER * abs(self.together)), _MOST_RANGE)
        return -end, end

    @property
    def statement(self) -> str:
        """How strong a hidden factor would have to be, beside the strongest measured one, and what that leaves open."""
        return view("text.plausible_tau_in_words")(self)

    def table(self) -> Any:
        """One row per covariate, as the kind of frame that the covariates came in; all together in the last."""
        unknown = float("nan")
        columns = (
            "covariate",
            "hazard_ratio_event",
            "hazard_ratio_dropout",
            "tau",
            "low",
            "high",
            "shrunken_tau",
        )
        rows = [
            (
                *(each.name, each.hazard_ratio_event, each.hazard_ratio_dropout),
                *(each.tau, *each.interval, each.shrunken_tau),
            )
            for each in self.benchmarks
        ]
        rows.append(("all together", unknown, unknown, self.together, *self.together_interval, unknown))
        return frame_of_rows(columns, rows, self.library)

    def plot(self, ax: Any = None) -> Any:
        """The τ of covariates with intervals; returns the axes (a :class:`~cocensor.views.plots.ForestDisplay`)."""
        return view("plots.ForestDisplay").from_benchmarks(self).plot(ax=ax)

    def to_dict(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        return {
            "n": self.n,
            "events": self.n_events,
            "dropouts": self.n_dropouts,
            "confidence_level": self.confidence_level,
            "benchmarks": [
                vars(each) | {"columns": list(each.columns), "interval": list(each.interval)}
                for each in self.benchmarks
            ],
            "together": self.together,
            "together_interval": list(self.together_interval),
            "aligned": self.aligned,
            "multiples": {str(times): tau for times, tau in self.multiples.items()},
            "hidden": [
                {"tau": tau, "hazard_ratio": ratio, "multiple": finite(times)}
                for tau, ratio in self.hidden(np.arange(1, 10) / 10).items()
                for times in [self.multiple_for(tau)]
            ],
            "range": list(self.range),
            "statement": self.statement,
            "notes": [note.to_dict() for note in self.notes],
        }

    def __repr__(self) -> str:
        return escaped(view("text.plausible_tau_as_text")(self))

    @cached_property
    def _sizes(self) -> tuple[FloatArray, FloatArray]:
        """Multiples, and |τ| that they induce."""
        grid = np.geomspace(1e-3, _MOST_TIMES, 200)
        return grid, np.abs([self._multiple(times) for times in grid])

    def _multiple(self, times: float) -> float:
        on_event, on_dropout = self.effects
        return self.contrasts.tau(times * on_event, times * on_dropout)
