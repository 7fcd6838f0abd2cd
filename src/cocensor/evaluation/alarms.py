"""Nonsense among predictions and outcomes: what was found, what the likely cause is, and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from cocensor._validation import Covariates, FloatArray
from cocensor.adjustments.samples import Samples
from cocensor.evaluation.look import FEW_EVENTS, FLAG, LEVEL, Look
from cocensor.evaluation.probe import Probe

if TYPE_CHECKING:
    from cocensor.evaluation.findings import Findings

Kind = Literal[
    "negative_skill",
    "against_outcome",
    "time_scale",
    "no_better",
    "constant",
    "all_censored",
    "refused",
    "same_sample",
    "training_censored",
    "few_events",
]
# Two independent samples with so many different times have the same ones less often than once in 1,000.
_MANY_TIMES = 10
_RANKS = (
    "It ranks them better than chance, but they are too few to tell whether its probabilities are better."
)
_MAY_RANK_NOTHING = (
    "Either it has learned nothing that holds for these subjects (does each row belong to its subject?), or they are "
    "too few to tell."
)
_DISQUALIFYING = frozenset({"negative_skill", "against_outcome", "time_scale", "all_censored"})


@dataclass(frozen=True)
class Alarm:
    """Something that makes a result nonsense, or says next to nothing of it.

    Attributes
    ----------
    kind : str
        "negative_skill", "against_outcome" and "time_scale" disqualify a model: it cannot be called best.
        "all_censored", a test sample without an event up to the horizon, disqualifies all. A "refused" model has no
        predictions to score. "no_better", of a model that is worse than the Kaplan–Meier curve or may be no better,
        "constant", "same_sample", "training_censored" and "few_events" are remarks.
    found : str
        What was found.
    cause : str
        The likely cause, and what to do.
    model : str or None
        None where it is about all models.

    Examples
    --------
    >>> from cocensor import Alarm
    >>> alarm = Alarm("negative_skill", "Its skill is -52 %.", "Are these risks? Give 1 − risk.", "cox")
    >>> print(alarm.text)
    Its skill is -52 %. Are these risks? Give 1 − risk.
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
    standard error is that of the integrated Brier score under marginal IPCW. Without a training sample the reference
    curve is that of the test subjects themselves, and the skill is allowed for what this curve gains by chance. A skill
    that is not above 0 by its interval is a remark: that the model is worse than the reference curve, where all of the
    interval lies below 0, or may be no better. A model runs against the outcome where the upper 95 % limit of its
    concordance lies below ½, of k models the upper limit at 1 − 0.05/k; that of out-of-fold predictions is taken within
    folds. With fewer than ten events up to the horizon neither is told. Of more than 20,000 test subjects, every k-th
    is looked at.
    """
    data = evaluation.data
    probe = Probe(data.samples.y_test, data.grid.sorted, data.samples.folds)
    risks = {name: probe.risk(each) for name, each in data.predictions.items()}
    order = probe.concordances(risks)
    looks = [
        Look.at(evaluation, probe, name, each, risks[name], order[name])
        for name, each in data.predictions.items()
    ]
    with_interval = evaluation.confidence_level is not None
    return (*_of_models(looks, with_interval), *_refused(evaluation), *_of_samples(evaluation))


def _refused(evaluation: Findings) -> Iterator[Alarm]:
    """Models whose predictions could not be used."""
    for note in evaluation.notes:
        if note.model is not None and note.model not in evaluation.data.predictions:
            yield Alarm("refused", "It has no score:", note.text, note.model)


def _of_models(looks: list[Look], with_interval: bool) -> Iterator[Alarm]:
    """By model; that the flag of the event is inverted is said once for all."""
    causes = {look.model: look.cause() for look in looks if look.is_off}
    flagged = [look for look in looks if causes.get(look.model) == FLAG]
    scored = [look for look in looks if look.predictions.risk is None]
    if flagged and len(flagged) == len(scored) and all(look.is_negative for look in flagged):
        yield _all_flagged(flagged)
        causes = {}
    for look in looks:
        if look.model in causes:
            yield from _of_model(look, causes[look.model])
    for look in looks:
        if look.is_off:
            continue
        if look.is_worse or not (look.is_better or look.constant):
            yield _no_better(look, with_interval)
        if look.constant:
            text = "Up to the horizon, it predicts the same for every subject."
            than = "" if look.is_better or look.is_worse else " It may be no better than Kaplan–Meier."
            yield Alarm("constant", text, f"It cannot rank subjects; its concordance is ½.{than}", look.model)


def _of_model(look: Look, cause: str) -> Iterator[Alarm]:
    if look.scale is not None and cause == look.unit(look.scale):
        factor = look.scale.factor
        off = f"{factor:.4g} times" if factor > 1 else f"1/{1 / factor:.4g} of"
        yield Alarm("time_scale", f"Its times look like {off} those of the outcomes.", cause, look.model)
    if look.is_negative:
        found = (
            f"Its skill is {_percent(look.skill.value)}: one Kaplan–Meier curve for everybody does better."
        )
        yield Alarm("negative_skill", found, cause, look.model)
    if look.is_against:
        found = (
            "It runs against the outcome: its concordance is "
            f"{look.concordance.value:.2f} (upper limit {look.highest_concordance:.2f}), and ½ is chance."
        )
        yield Alarm("against_outcome", found, cause, look.model)


def _no_better(look: Look, with_interval: bool) -> Alarm:
    """That the model is worse than the reference curve, or may be no better."""
    is_worse = look.is_worse
    than = f"{'is worse' if is_worse else 'may be no better'} than Kaplan–Meier, one curve for all subjects"
    low, high = look.skill.confidence_interval(LEVEL)
    interval = ""
    if with_interval and np.isfinite(low):
        interval = f" (95 % interval {_percent(low).removesuffix(' %')} to {_percent(high)})"
    found = f"It {than}: its skill is {_percent(look.skill.value)}{interval}."
    ranks = look.concordance.confidence_interval(LEVEL).low > 0.5
    cause = look.cause() if is_worse else _RANKS if ranks else _MAY_RANK_NOTHING
    return Alarm("no_better", found, cause, look.model)


def _all_flagged(looks: list[Look]) -> Alarm:
    skills = sorted(look.skill.value for look in looks)
    span = _percent(skills[0])
    if _percent(skills[-1]) != span:
        span = f"{span} to {_percent(skills[-1])}"
    whose = "The skill of every model is negative" if len(looks) > 1 else "The skill of the model is negative"
    found = f"{whose} ({span}): one Kaplan–Meier curve for everybody does better."
    return Alarm("negative_skill", f"{found} With the opposite event flag it would not be.", FLAG)


def _percent(skill: float) -> str:
    """In percent, with as many digits as show whether it is above or below 0."""
    return f"{100 * skill:z.0f} %" if abs(skill) >= 0.01 else f"{100 * skill:z.1f} %"


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
    said = evaluation.time_axis.said(horizon)
    n_events = evaluation.data.n_events_by(horizon)
    streamed = evaluation.data.streamed
    any_event = test.n_events if streamed is None else streamed.whole.n_events
    if not n_events:
        who = "Everybody in the test sample is censored: there is no event."
        yield Alarm(
            "all_censored",
            f"The test sample has no event up to the horizon, {said}." if any_event else who,
            "There is nothing to score or to adjust by. Is the event column the right one?",
        )
    elif n_events < FEW_EVENTS:
        yield Alarm(
            "few_events",
            f"The test sample has {n_events} event{'s' * (n_events > 1)} up to the horizon, {said}.",
            "Scores are too uncertain to be of use. Add subjects, or choose a later horizon.",
        )
    if train is not None and not train.n_events:
        yield Alarm(
            "training_censored",
            "Everybody in the training sample is censored: there is no event.",
            "What is estimated from it, such as the reference curve, is nonsense. Is the event column the right one?",
        )


def _is_same(samples: Samples) -> bool:
    """Whether training and test sample are one, by outcomes and, where both have them, by covariates.

    Samples in another order are one where they have so many different times that this is no coincidence.
    """
    train, test = samples.y_train, samples.y_test
    if train is None or len(train) != len(test):
        return False
    one, other = (np.column_stack((y.time, 1.0 * y.event, 1.0 * y.dropout)) for y in (train, test))
    if not np.array_equal(_sorted_rows(one), _sorted_rows(other)):
        return False
    if samples.x_train is not None and samples.x_test is not None:
        x = Covariates.joined((samples.x_train, samples.x_test)).values
        one, other = np.hstack((one, x[: len(one)])), np.hstack((other, x[len(one) :]))
    if np.array_equal(one, other):
        return True
    many = np.unique(test.time).size >= _MANY_TIMES
    return many and np.array_equal(_sorted_rows(one), _sorted_rows(other))


def _sorted_rows(rows: FloatArray) -> FloatArray:
    return rows[np.lexsort(rows.T)]
