"""What a finished evaluation should be told of: nonsense among predictions and outcomes, as codes and values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from cocensor._checks import FloatArray, check_choice
from cocensor._notes import Note, noted
from cocensor._views import view
from cocensor.adjustments.samples import Samples
from cocensor.data import Predicted, Predictions, RiskScores
from cocensor.data.covariates import Covariates
from cocensor.study.look import FEW_EVENTS, LEVEL, Cause, Look, Probe
from cocensor.study.scores import AdjustmentScores, scores_by

if TYPE_CHECKING:
    from cocensor.study.evaluation import Evaluation

Code = Literal[
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
# Other scores are told from this share of a standard error on, or of the score itself where there is none.
_OF_ERROR, _OF_SCORE = 0.1, 0.01
_DISQUALIFYING = frozenset({"negative_skill", "against_outcome", "time_scale", "all_censored"})


@dataclass(frozen=True)
class Check:
    """Something that makes a result nonsense, or says next to nothing of it.

    Code decides by ``code``, ``model`` and ``values``; its sentences are made by a view.

    Attributes
    ----------
    code : str
        "negative_skill", "against_outcome" and "time_scale" disqualify a model: it cannot be called best.
        "all_censored", a test sample without an event up to the horizon, disqualifies all. A "refused" model has no
        predictions to score. "no_better", of a model that is worse than the Kaplan–Meier curve or may be no better,
        "constant", "same_sample", "training_censored" and "few_events" are remarks.
    model : str or None
        None where it is about all models.
    values : dict
        What was found. ``cause`` is the likely cause, a code too, where there is one.

    Examples
    --------
    >>> from cocensor import Check
    >>> check = Check("negative_skill", "cox", {"skill": -0.52, "cause": "risks"})
    >>> print(check)
    Its skill is -52 %: one Kaplan–Meier curve for everybody does better. Are these risks? Give 1 − risk.
    >>> check.disqualifies
    True
    """

    code: Code
    model: str | None = None
    values: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_choice(self.code, "code", get_args(Code))

    def __hash__(self) -> int:
        return hash((self.code, self.model))

    @property
    def text(self) -> str:
        """What was found, the likely cause, and what to do."""
        return str(view("text.check_in_words")(self))

    @property
    def disqualifies(self) -> bool:
        """Whether the model cannot be called best."""
        return self.code in _DISQUALIFYING

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        return {
            "code": self.code,
            "model": self.model,
            "values": dict(self.values),
            "disqualifies": self.disqualifies,
            "text": self.text,
        }


def find_checks(evaluation: Evaluation) -> tuple[Check, ...]:
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
    looks = [Look(evaluation, probe, name, risks[name], order[name]) for name in data.predictions]
    with_interval = data.confidence_level is not None
    return (*_of_models(looks, with_interval), *_refused(evaluation), *_of_samples(evaluation))


def _refused(evaluation: Evaluation) -> Iterator[Check]:
    """Models whose predictions could not be used."""
    for note in evaluation.notes:
        if note.code == "refused":
            yield Check("refused", note.about.model, note.values)


def _of_models(looks: list[Look], with_interval: bool) -> Iterator[Check]:
    """By model; that the flag of the event is inverted is said once for all."""
    causes = {look.model: look.cause() for look in looks if look.is_off}
    flagged = [look for look in looks if look.model in causes and causes[look.model]["cause"] == "flag"]
    scored = [look for look in looks if not isinstance(look.predictions, RiskScores)]
    if flagged and len(flagged) == len(scored) and all(look.is_negative for look in flagged):
        skills = sorted(look.skill.value for look in flagged)
        yield Check("negative_skill", None, {"skills": skills, "cause": "flag"})
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
            may_be_no_better = not (look.is_better or look.is_worse)
            yield Check("constant", look.model, {"may_be_no_better": may_be_no_better})


def _of_model(look: Look, cause: Cause) -> Iterator[Check]:
    if look.scale is not None and cause["cause"] == "unit":
        yield Check("time_scale", look.model, {"factor": look.scale.factor, **cause})
    if look.is_negative:
        yield Check("negative_skill", look.model, {"skill": look.skill.value, **cause})
    if look.is_against:
        order = {"concordance": look.concordance.value, "upper_limit": look.highest_concordance}
        yield Check("against_outcome", look.model, {**order, **cause})


def _no_better(look: Look, with_interval: bool) -> Check:
    """That the model is worse than the reference curve, or may be no better."""
    low, high = look.skill.confidence_interval(LEVEL)
    found: dict[str, Any] = {"skill": look.skill.value, "is_worse": look.is_worse}
    if with_interval and np.isfinite(low):
        found["interval"] = [low, high]
    ranks = look.concordance.confidence_interval(LEVEL).low > 0.5
    cause = look.cause() if look.is_worse else {"cause": "ranks" if ranks else "may_rank_nothing"}
    return Check("no_better", look.model, {**found, **cause})


def _of_samples(evaluation: Evaluation) -> Iterator[Check]:
    samples, horizon = evaluation.data.samples, evaluation.data.horizon.time
    test, train = samples.y_test, samples.y_train
    if train is not None and samples.folds is None and _is_same(samples):
        yield Check("same_sample")
    when = {"horizon": evaluation.data.time_axis.said(horizon)}
    n_events = evaluation.data.n_events_by(horizon)
    streamed = evaluation.data.streamed
    any_event = test.n_events if streamed is None else streamed.whole.n_events
    if not n_events:
        yield Check("all_censored", None, {**when, "later": bool(any_event)})
    elif n_events < FEW_EVENTS:
        yield Check("few_events", None, {**when, "n": n_events})
    if train is not None and not train.n_events:
        yield Check("training_censored")


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


# --- what steps would give -------------------------------------------------------------------------------


def read_as_steps(evaluation: Evaluation) -> list[Note]:
    """A note on what the first metric would be under the primary adjustment, as it is fitted, if curves were steps.

    Of models whose curves are lines because nothing else was stated, as far as they would move by more than a tenth of
    their standard error, or by 1 % where there is none.
    """
    data, metric = evaluation.data, evaluation.data.metrics[0]
    scores, grid = evaluation.results[evaluation.primary], data.grid_of(metric).sorted
    steps = {
        name: curves.stated(interpolation="step")
        for name, curves in data.predictions.items()
        if name in scores.values[metric.name]
        and isinstance(curves, Predictions)
        and curves.interpolation is None
        and not np.isin(grid, curves.times).all()
    }
    if not steps:
        return []
    as_steps = _values(evaluation, scores, steps)
    # Of a stream the subjects at hand are not all: what they say is the difference.
    as_lines = (
        as_steps
        if data.streamed is None
        else _values(evaluation, scores, {m: data.predictions[m] for m in steps})
    )
    others = {}
    for name, value in as_steps.items():
        own = scores.value(metric.name, name)
        other = value if data.streamed is None else own + value - as_lines[name]
        error = evaluation.score(name, metric.name, scores.name).standard_error
        margin = _OF_ERROR * error if np.isfinite(error) else _OF_SCORE * abs(own)
        if abs(other - own) > margin:
            others[name] = {"as_steps": float(other), "as_lines": float(own)}
    if not others:
        return []
    alone = next(iter(others)) if len(others) == 1 else None
    return [noted("steps_instead", model=alone, metric=metric.label, under=scores.label, scores=others)]


def _values(
    evaluation: Evaluation, scores: AdjustmentScores, predictions: Mapping[str, Predicted]
) -> dict[str, float]:
    """The first metric of some models with other predictions, under the fits that there are."""
    data, metric = evaluation.data, evaluation.data.metrics[0]
    others = replace(data, predictions=predictions, confidence_level=None)
    served = tuple((fitted, tuple(n for n in names if n in predictions)) for fitted, names in scores.served)
    found = scores_by(others, replace(scores, served=served), metric)
    return {name: each.value for name, each in found.values[metric.name].items()}
