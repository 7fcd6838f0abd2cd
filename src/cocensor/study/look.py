"""A cheap look at one model: whether its predictions are nonsense, and what mends them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cocensor._cached import cached_property
from cocensor._checks import FloatArray
from cocensor.data import Predicted, RiskScores, Survival
from cocensor.inference import Estimate
from cocensor.study.probe import Probe, TimeScale, time_scale

if TYPE_CHECKING:
    from cocensor.study.evaluation import Evaluation

#: Of the interval that a skill, or a concordance, must lie below a limit with.
LEVEL = 0.95
_WORST_SKILL = -0.1
# A skill that is rounded to 0 % is told as no worse than 0.
_LEAST_WORSE = 0.005
#: Fewer events tell next to nothing.
FEW_EVENTS = 10
# What mends a model has about no negative skill, and is better by so much.
_MENDED, _MENDS_BY = -0.05, 0.1
# A concordance of ties is ½ but for this.
_ROUNDING = 1e-6


#: The values of a check that say what a mistake likely comes from: under "cause" its code, and what that tells.
Cause = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Look:
    """A cheap look at one model.

    Attributes
    ----------
    evaluation : Evaluation
    probe : Probe
    model : str
    risk : array
        What orders the probed subjects.
    order : float
        The concordance of the risk, whose error is asked for where it matters alone.
    """

    evaluation: Evaluation
    probe: Probe
    model: str
    risk: FloatArray
    order: float

    @property
    def predictions(self) -> Predicted:
        """What the model predicts."""
        return self.evaluation.data.predictions[self.model]

    @cached_property
    def skill(self) -> Estimate:
        """By the first proper score that the model has, or by the integrated Brier score; NaN of risk scores."""
        if isinstance(self.predictions, RiskScores):
            return Estimate(np.nan, np.nan)
        proper = [by.name for by in self.evaluation.data.metrics if by.has_skill and by.needs_curves]
        skills = (self.evaluation.score(self.model, name).skill for name in proper)
        found = next((skill for skill in skills if skill is not None and np.isfinite(skill.value)), None)
        if found is not None and np.isfinite(found.standard_error):
            return found
        times = self.probe.grid(self.predictions)
        cheap = self.probe.skill(self.probe.read(self.predictions, times), times)
        return cheap if found is None else Estimate(found.value, cheap.standard_error)

    @cached_property
    def by_chance(self) -> float:
        """What the reference curve may gain by being fitted to the subjects that it is held against."""
        return self.probe.gain_by_chance if self.evaluation.data.samples.y_train is None else 0.0

    @cached_property
    def scale(self) -> TimeScale | None:
        """The factor by which the times of the model are off."""
        return time_scale(self.probe, self.predictions)

    @cached_property
    def constant(self) -> bool:
        """Whether all subjects are predicted the same."""
        if len(self.predictions) < 2:
            return False
        if isinstance(self.predictions, RiskScores):
            return bool(np.ptp(self.predictions.risk) == 0)
        values = self.probe.read(self.predictions, self.probe.grid(self.predictions))
        return bool((values == values[:1]).all())

    @cached_property
    def concordance(self) -> Estimate:
        """With its error."""
        return self.probe.concordance(self.risk)

    @property
    def is_negative(self) -> bool:
        """Whether the skill is strongly negative."""
        if self.n_events < FEW_EVENTS:
            return False
        high = self.skill.confidence_interval(LEVEL).high
        by_chance = self.by_chance
        return self.skill.value + by_chance < _WORST_SKILL and not high + by_chance >= 0

    @property
    def is_better(self) -> bool:
        """Whether the skill is above 0 by its interval, or says nothing: of a risk score, or of few events."""
        value, low = self.skill.value, self.skill.confidence_interval(LEVEL).low
        if self.n_events < FEW_EVENTS or np.isnan(value):
            return True
        return value > 0 and not low <= 0

    @property
    def is_worse(self) -> bool:
        """Whether the skill is below 0 by its interval, by half a percent or more."""
        value, high = self.skill.value + self.by_chance, self.skill.confidence_interval(LEVEL).high
        return self.n_events >= FEW_EVENTS and value < -_LEAST_WORSE and high + self.by_chance < 0

    @property
    def is_against(self) -> bool:
        """Whether the risk is the opposite of the outcome, beyond chance."""
        if self.n_events < FEW_EVENTS or not self.order < 0.5:
            return False
        return self.highest_concordance < 0.5 - _ROUNDING

    @property
    def highest_concordance(self) -> float:
        """The upper limit of the concordance, for all models at once."""
        n_models = len(self.evaluation.data.predictions)
        return self.concordance.confidence_interval(1.0 - (1.0 - LEVEL) / n_models).high

    @cached_property
    def n_events(self) -> int:
        """Up to the horizon, of those that are looked at."""
        y = self.probe.outcomes
        return int(np.count_nonzero(y.event & (y.time <= self.probe.times[-1])))

    @property
    def is_off(self) -> bool:
        """Whether the model is nonsense."""
        return self.is_negative or self.is_against or self.scale is not None

    def _unit(self, scale: TimeScale) -> Cause:
        """That times may be in two units."""
        return {"cause": "unit", **scale.units(self.evaluation.data.time_axis.unit)}

    def cause(self) -> Cause:
        """What mends it, by trying; else what such a model mostly comes from.

        A code, with what its sentence is filled with: "risks" (given for survival), "flag" (of the event, inverted),
        "unit" (of time), "rows" (of other subjects), "negative" (of a risk score), "opposite" (coding of a covariate)
        or "level" (of the probabilities).
        """
        if isinstance(self.predictions, RiskScores):
            return {"cause": "negative"}
        if self.scale is not None and not (self.is_negative or self.is_against):
            return self._unit(self.scale)
        times = self.probe.grid(self.predictions)
        curves, y = self.probe.read(self.predictions, times), self.probe.outcomes
        turned = Survival(y.time, ~y.event)  # if the flag of the event means the opposite
        tried = [
            (self._try(1.0 - curves, times), {"cause": "risks"}),
            (self._try(curves, times, turned), {"cause": "flag"}),
        ]
        scale = self.scale or time_scale(self.probe, self.predictions, nearest=True)
        if scale is not None:
            scaled = self.probe.read(self.predictions, scale.scaled(self.predictions))
            tried.append((self._try(scaled, scale.times), self._unit(scale)))
        now = self._try(curves, times)
        skill, best = max(tried, key=lambda each: each[0])
        if skill > max(_MENDED, now + _MENDS_BY):
            return best
        if self.scale is not None:
            return self._unit(self.scale)
        if self.is_against:
            return {"cause": "opposite"}
        low, high = self.concordance.confidence_interval(LEVEL)
        if low > 0.5 or self.constant or not high >= 0.5:
            return self._off_level(curves, times)
        return {"cause": "rows"}

    def _off_level(self, curves: FloatArray, times: FloatArray) -> Cause:
        """That the order is right and the probabilities are not."""
        observed = float(self.probe.kaplan_meier.predict(times[-1], tail="last"))
        when, mean = self.evaluation.data.time_axis.said(times[-1]), float(curves[:, -1].mean())
        told = {"time": when, "predicted": mean, "observed": observed, "constant": self.constant}
        return {"cause": "level", **told}

    def _try(self, curves: FloatArray, times: FloatArray, y: Survival | None = None) -> float:
        """The skill of other curves, or by other outcomes; the least there is where it is unknown."""
        found = self.probe.skill(curves, times, y).value
        return found if np.isfinite(found) else -np.inf
