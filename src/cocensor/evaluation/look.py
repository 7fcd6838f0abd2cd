"""A cheap look at one model: whether its predictions are nonsense, and what mends them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cocensor._cached import cached_property
from cocensor._validation import FloatArray
from cocensor.curves import Predictions
from cocensor.evaluation.probe import Probe
from cocensor.evaluation.time_scale import TimeScale, nearest_scale, time_scale
from cocensor.inference import Estimate
from cocensor.outcomes import Survival, TimeAxis

if TYPE_CHECKING:
    from cocensor.evaluation.findings import Findings

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

_RISKS = "Are these risks? Give 1 − risk."
FLAG = "Is the event flag inverted? It must be 1 for an event and 0 for a censoring."
_ROWS = (
    "Does each row belong to its subject? Match rows by an id (--id on the command line; in Python, put them in the "
    "order of the test sample). Is the event column the right one? If both are right, the model has learned nothing "
    "that holds for these subjects."
)
_NEGATIVE = "Is a larger number a smaller risk? Give the negative."
_OPPOSITE = "Are the predictions of other subjects, or was a covariate coded the other way round?"


@dataclass(frozen=True, eq=False)
class Look:
    """What a cheap look at one model found."""

    model: str
    predictions: Predictions
    probe: Probe
    skill: Estimate
    #: What the reference curve may gain by being fitted to the subjects that it is held against.
    by_chance: float
    risk: FloatArray
    #: The concordance, whose error is asked for where it matters alone.
    order: float
    scale: TimeScale | None
    constant: bool
    n_models: int
    time_axis: TimeAxis

    @classmethod
    def at(
        cls,
        evaluation: Findings,
        probe: Probe,
        model: str,
        predictions: Predictions,
        risk: FloatArray,
        order: float,
    ) -> Look:
        """At a model, whose risk and concordance are known."""
        constant = _is_constant(probe, predictions)
        return cls(
            model,
            predictions,
            probe,
            _skill(evaluation, probe, model, predictions),
            probe.gain_by_chance if evaluation.data.samples.y_train is None else 0.0,
            risk,
            order,
            time_scale(probe, predictions),
            constant,
            len(evaluation.data.predictions),
            evaluation.time_axis,
        )

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
        return self.concordance.confidence_interval(1.0 - (1.0 - LEVEL) / self.n_models).high

    @cached_property
    def n_events(self) -> int:
        """Up to the horizon, of those that are looked at."""
        y = self.probe.outcomes
        return int(np.count_nonzero(y.event & (y.time <= self.probe.times[-1])))

    @property
    def is_off(self) -> bool:
        """Whether the model is nonsense."""
        return self.is_negative or self.is_against or self.scale is not None

    def unit(self, scale: TimeScale) -> str:
        """That times may be in two units."""
        return scale.question(self.time_axis.unit)

    def cause(self) -> str:
        """What mends it, by trying; else what such a model mostly comes from."""
        if self.predictions.risk is not None:
            return _NEGATIVE
        if self.scale is not None and not (self.is_negative or self.is_against):
            return self.unit(self.scale)
        times = self.probe.grid(self.predictions)
        curves = self.probe.read(self.predictions, times)
        skill = {_RISKS: self._try(1.0 - curves, times), FLAG: self._try(curves, times, self.probe.turned)}
        scale = self.scale or nearest_scale(self.probe, self.predictions)
        if scale is not None:
            skill[self.unit(scale)] = self._try_scaled(scale)
        now = self._try(curves, times)
        best = max(skill, key=lambda each: skill[each])
        if skill[best] > max(_MENDED, now + _MENDS_BY):
            return best
        if self.scale is not None:
            return self.unit(self.scale)
        if self.is_against:
            return _OPPOSITE
        low, high = self.concordance.confidence_interval(LEVEL)
        if low > 0.5 or self.constant or not high >= 0.5:
            return self._off_level(curves, times)
        return _ROWS

    def _off_level(self, curves: FloatArray, times: FloatArray) -> str:
        """That the order is right and the probabilities are not."""
        observed = float(self.probe.kaplan_meier.predict(times[-1], tail="last"))
        when, mean = self.time_axis.said(times[-1]), curves[:, -1].mean()
        if self.constant:
            level = f"a survival of {mean:.2f} at {when}, where {observed:.2f} was observed"
            return f"It predicts the same for every subject: {level}. Are the file and the time column the right ones?"
        return (
            "It ranks subjects well, but the probabilities are off: the mean predicted survival at "
            f"{when} is {mean:.2f}, the observed {observed:.2f}. Was the model fitted to too few subjects, or to "
            "another population? Recalibrate it."
        )

    def _try(self, curves: FloatArray, times: FloatArray, y: Survival | None = None) -> float:
        """The skill of other curves, or by other outcomes; the least there is where it is unknown."""
        found = self.probe.skills({self.model: curves}, times, y)[self.model].value
        return found if np.isfinite(found) else -np.inf

    def _try_scaled(self, scale: TimeScale) -> float:
        """The skill at scaled times, as far as they are known."""
        return self._try(self.probe.read(self.predictions, scale.scaled(self.predictions)), scale.times)


def _skill(evaluation: Findings, probe: Probe, model: str, predictions: Predictions) -> Estimate:
    """By the first proper score that the model has, or by the integrated Brier score; NaN of risk scores."""
    if predictions.risk is not None:
        return Estimate(np.nan, np.nan)
    proper = [by for by in evaluation.data.metrics if by.has_skill and by.needs_curves]
    found = next(
        (skill for by in proper if np.isfinite((skill := evaluation.skill(model, by.name)).value)),
        None,
    )
    if found is not None and np.isfinite(found.standard_error):
        return found
    times = probe.grid(predictions)
    cheap = probe.skills({model: probe.read(predictions, times)}, times)[model]
    return cheap if found is None else Estimate(found.value, cheap.standard_error)


def _is_constant(probe: Probe, predictions: Predictions) -> bool:
    """Whether all subjects are predicted the same."""
    if len(predictions) < 2:
        return False
    if predictions.risk is not None:
        return bool(np.ptp(predictions.risk) == 0)
    values = probe.read(predictions, probe.grid(predictions))
    return bool((values == values[:1]).all())
