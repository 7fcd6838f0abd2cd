"""Nonsense among predictions and outcomes: what was found, what the likely cause is, and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cocensor._validation import FloatArray
from cocensor.curves import Predictions
from cocensor.evaluation.probe import Probe
from cocensor.evaluation.time_scale import TimeScale, time_scale
from cocensor.inference import Estimate
from cocensor.outcomes import Survival

if TYPE_CHECKING:
    from cocensor.evaluation.findings import Findings

Kind = Literal[
    "negative_skill",
    "against_outcome",
    "time_scale",
    "constant",
    "same_sample",
    "all_censored",
    "few_events",
]
_DISQUALIFYING = frozenset({"negative_skill", "against_outcome", "time_scale"})
#: Of the interval that a skill, or a concordance, must lie below a limit with.
_LEVEL = 0.95
_WORST_SKILL = -0.1
#: Fewer events tell next to nothing.
FEW_EVENTS = 10
# What mends a model has about no negative skill, and is better by so much.
_MENDED, _MENDS_BY = -0.05, 0.1

_RISKS = "Are these risks? Give 1 − risk."
_FLAG = "Is the event flag inverted? It must be 1 for an event and 0 for a censoring."
_ROWS = (
    "Are the rows in the order of the test sample? Match them by an id (--id on the command line, the index of a data "
    "frame in Python). If they are, the model has learned nothing that holds for these subjects."
)
_NEGATIVE = "Is a larger number a smaller risk? Give the negative."
_OPPOSITE = "Are the predictions of other subjects, or was a covariate coded the other way round?"


@dataclass(frozen=True)
class Alarm:
    """Something that makes a result nonsense, or says next to nothing of it.

    Attributes
    ----------
    kind : str
        "negative_skill", "against_outcome" and "time_scale" disqualify a model: it cannot be called best. "constant",
        "same_sample", "all_censored" and "few_events" are remarks.
    found : str
        What was found.
    cause : str
        The likely cause, and what to do.
    model : str or None
        None where it is about all models.

    Examples
    --------
    >>> alarm = Alarm("negative_skill", "Its skill is −52 %.", "Are these risks? Give 1 − risk.", "cox")
    >>> print(alarm.text)
    Its skill is −52 %. Are these risks? Give 1 − risk.
    >>> alarm.disqualifies
    True
    """

    kind: Kind
    found: str
    cause: str
    model: str | None = None

    @property
    def text(self) -> str:
        """All of it."""
        return f"{self.found} {self.cause}"

    @property
    def disqualifies(self) -> bool:
        """Whether the model cannot be called best."""
        return self.kind in _DISQUALIFYING


def find_alarms(evaluation: Findings) -> tuple[Alarm, ...]:
    """All that look like a mistake: of the models first, then of the samples.

    A skill is negative where that of the first proper score of the evaluation, or else of the integrated Brier score,
    lies below −10 % under the primary adjustment, with its 95 % interval below 0. Where no interval was asked for, the
    standard error is that of the integrated Brier score under marginal IPCW. A model runs against the outcome where the
    upper 95 % limit of its concordance lies below ½; that of out-of-fold predictions is taken within folds. Of more than
    20,000 test subjects, every k-th is looked at.
    """
    data = evaluation.data
    probe = Probe(data.samples.y_test, data.grid.sorted, data.samples.folds)
    looks = [_Look.at(evaluation, probe, name, each) for name, each in data.predictions.items()]
    return (*_of_models(looks), *_of_samples(evaluation))


@dataclass(frozen=True, eq=False)
class _Look:
    """What a cheap look at one model found."""

    model: str
    predictions: Predictions
    probe: Probe
    skill: Estimate
    concordance: Estimate
    scale: TimeScale | None
    constant: bool

    @classmethod
    def at(cls, evaluation: Findings, probe: Probe, model: str, predictions: Predictions) -> _Look:
        constant = _is_constant(probe, predictions)
        return cls(
            model,
            predictions,
            probe,
            _skill(evaluation, probe, model, predictions),
            probe.concordance(predictions),
            time_scale(probe, predictions),
            constant,
        )

    @property
    def is_negative(self) -> bool:
        """Whether the skill is strongly negative."""
        high = self.skill.confidence_interval(_LEVEL).high
        return self.skill.value < _WORST_SKILL and not high >= 0

    @property
    def is_against(self) -> bool:
        """Whether the risk is the opposite of the outcome, beyond chance."""
        return self.concordance.confidence_interval(_LEVEL).high < 0.5

    @property
    def is_off(self) -> bool:
        """Whether the model is nonsense."""
        return self.is_negative or self.is_against or self.scale is not None

    def cause(self) -> str:
        """What mends it, by trying; else what such a model mostly comes from."""
        if self.predictions.risk is not None:
            return _NEGATIVE
        times = self.probe.grid(self.predictions)
        curves = self.probe.read(self.predictions, times)
        skill = {_RISKS: self._try(1.0 - curves, times), _FLAG: self._try(curves, times, self.probe.turned)}
        if self.scale is not None:
            skill[_unit(self.scale)] = self._try_scaled(self.scale)
        now = self._try(curves, times)
        best = max(skill, key=lambda each: skill[each])
        if skill[best] > max(_MENDED, now + _MENDS_BY):
            return best
        if self.scale is not None:
            return _unit(self.scale)
        if self.is_against:
            return _OPPOSITE
        low, high = self.concordance.confidence_interval(_LEVEL)
        if low > 0.5 or self.constant or not high >= 0.5:
            return self._off_level(curves, times)
        return _ROWS

    def _off_level(self, curves: FloatArray, times: FloatArray) -> str:
        """That the order is right and the probabilities are not."""
        observed = float(self.probe.kaplan_meier.predict(times[-1], tail="last"))
        ranks = "" if self.constant else "It ranks subjects well, but the probabilities are off: "
        level = f"the mean predicted survival at {times[-1]:g} is {curves[:, -1].mean():.2f}, the observed {observed:.2f}"
        said = f"{ranks}{level}" if ranks else f"{level[0].upper()}{level[1:]}"
        return f"{said}. Was the model fitted to too few subjects, or to another population? Recalibrate it."

    def _try(self, curves: FloatArray, times: FloatArray, y: Survival | None = None) -> float:
        """The skill of other curves, or by other outcomes; the least there is where it is unknown."""
        found = self.probe.skills({self.model: curves}, times, y)[self.model].value
        return found if np.isfinite(found) else -np.inf

    def _try_scaled(self, scale: TimeScale) -> float:
        """The skill at scaled times, as far as they are known."""
        return self._try(self.probe.read(self.predictions, scale.scaled(self.predictions)), scale.times)


def _unit(scale: TimeScale) -> str:
    return f"Are {scale.in_words}? Give both in one unit."


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


def _of_models(looks: list[_Look]) -> Iterator[Alarm]:
    """By model; that the flag of the event is inverted is said once for all."""
    causes = {look.model: look.cause() for look in looks if look.is_off}
    flagged = [look for look in looks if causes.get(look.model) == _FLAG]
    scored = [look for look in looks if look.predictions.risk is None]
    if flagged and len(flagged) == len(scored):
        yield _all_flagged(flagged)
        causes = {}
    for look in looks:
        if look.model in causes:
            yield from _of_model(look, causes[look.model])
    for look in looks:
        if look.constant and not look.is_off:
            text = "It predicts the same for every subject."
            yield Alarm("constant", text, "It cannot rank subjects; its concordance is ½.", look.model)


def _of_model(look: _Look, cause: str) -> Iterator[Alarm]:
    if look.scale is not None and cause == _unit(look.scale):
        factor = look.scale.factor
        off = f"{factor:.4g} times" if factor > 1 else f"1/{1 / factor:.4g} of"
        yield Alarm("time_scale", f"Its times look like {off} those of the outcomes.", cause, look.model)
    if look.is_negative:
        found = f"It is worse than the same Kaplan–Meier curve for everybody: its skill is {_percent(look.skill.value)}."
        yield Alarm("negative_skill", found, cause, look.model)
    if look.is_against:
        high = look.concordance.confidence_interval(_LEVEL).high
        found = (
            "It runs against the outcome: its concordance is "
            f"{look.concordance.value:.2f} (95 % limit {high:.2f}), and ½ is chance."
        )
        yield Alarm("against_outcome", found, cause, look.model)


def _all_flagged(looks: list[_Look]) -> Alarm:
    skills = sorted(look.skill.value for look in looks)
    span = _percent(skills[0])
    if _percent(skills[-1]) != span:
        span = f"{span} to {_percent(skills[-1])}"
    who = "Every model is" if len(looks) > 1 else "The model is"
    found = f"{who} worse than the same Kaplan–Meier curve for everybody (skill {span})."
    return Alarm(
        "negative_skill",
        f"{found} With the opposite event flag {'they are' if len(looks) > 1 else 'it is'} not.",
        _FLAG,
    )


def _percent(skill: float) -> str:
    return f"{100 * skill:.0f} %".replace("-", "−")


def _of_samples(evaluation: Findings) -> Iterator[Alarm]:
    samples, horizon = evaluation.data.samples, evaluation.horizon.time
    test, train = samples.y_test, samples.y_train
    if train is not None and samples.folds is None and _is_same(samples):
        yield Alarm(
            "same_sample",
            "The training and the test sample are the same.",
            "Scores are too good unless the predictions are out-of-fold. Give the folds, or subjects that no model was "
            "fitted to.",
        )
    for name, y in (("test", test), ("training", train)):
        if y is not None and not y.n_events:
            yield Alarm(
                "all_censored",
                f"Everybody in the {name} sample is censored: there is no event.",
                "There is nothing to score or to adjust by. Is the event column the right one?",
            )
    n_events = int(np.count_nonzero(test.event & (test.time <= horizon)))
    if test.n_events and n_events < FEW_EVENTS:
        many = "no event" if not n_events else f"{n_events} event{'s' * (n_events > 1)}"
        yield Alarm(
            "few_events",
            f"The test sample has {many} up to the horizon, {horizon:g}.",
            "Scores tell next to nothing. More subjects, or a later horizon, would.",
        )


def _is_same(samples: Any) -> bool:
    """Whether training and test sample are one, by outcomes and covariates."""
    if not samples.y_train.equals(samples.y_test):
        return False
    if samples.x_train is None or samples.x_test is None:
        return samples.x_train is samples.x_test
    return np.array_equal(np.asarray(samples.x_train), np.asarray(samples.x_test))
