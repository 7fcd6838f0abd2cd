"""What a finished evaluation should be told of: nonsense among predictions and outcomes, as codes and values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from cocensor._cached import cached_property
from cocensor._checks import FloatArray, check_choice
from cocensor._notes import Note, noted
from cocensor._views import view
from cocensor.adjustments import IPCW
from cocensor.adjustments.samples import Samples
from cocensor.data import Predictions, Survival
from cocensor.data.covariates import Covariates
from cocensor.data.predictions import Predicted, PredictionsAt, RiskScores, on_times
from cocensor.data.times import TimeGrid
from cocensor.estimators import KaplanMeier
from cocensor.inference.estimates import Estimate, Estimates
from cocensor.metrics import BrierScore, Concordance, IntegratedBrierScore, Metric
from cocensor.study.data import REFERENCE, EvaluationData, Horizon
from cocensor.study.scores import AdjustmentScores, score_with_metric, scores_under

if TYPE_CHECKING:
    from cocensor.study.evaluation import Evaluation

Code = Literal[
    "negative_skill",
    "against_outcome",
    "no_better",
    "constant",
    "all_censored",
    "refused",
    "same_sample",
    "training_censored",
    "few_events",
]
_DISQUALIFYING = frozenset({"negative_skill", "against_outcome", "all_censored"})
# Two independent samples with so many different times have the same ones less often than once in 1,000.
_MANY_TIMES = 10
# Other scores are told from this share of a standard error on, or of the score itself where there is none.
_OF_ERROR, _OF_SCORE = 0.1, 0.01
# As many subjects, and as many times, are looked at.
_MOST_SUBJECTS, _MOST_TIMES = 20_000, 20
# Of the interval that a skill, or a concordance, must lie below a limit with.
_LEVEL = 0.95
_WORST_SKILL = -0.1
# A skill that is rounded to 0 % is told as no worse than 0.
_LEAST_WORSE = 0.005
# Fewer events tell next to nothing.
_FEW_EVENTS = 10
# What mends a model has about no negative skill, and is better by so much.
_MENDED, _MENDS_BY = -0.05, 0.1
# A concordance of ties is ½ but for this.
_ROUNDING = 1e-6
_NONE, _ALONE = Estimate(np.nan, np.nan), "model"


@dataclass(frozen=True)
class Check:
    """Something that makes a result nonsense, or says next to nothing of it.

    Code decides by ``code``, ``model`` and ``values``; its sentences are made by a view.

    Attributes
    ----------
    code : str
        "negative_skill" and "against_outcome" disqualify a model: it cannot be called best.
        "all_censored", a test sample without an event up to the horizon, disqualifies all. A "refused" model has no
        predictions to score. "no_better", of a model that is worse than the Kaplan–Meier curve or may be no better,
        "constant", "same_sample", "training_censored" and "few_events" are remarks.
    model : str or None
        None where it is about all models.
    values : dict
        What was found. ``cause`` is the likely cause, a code too, where there is one.

    Examples
    --------
    >>> from cocensor.study import Check
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
        return str(view("text.checks.check_in_words")(self))

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


#: The values of a check that say what a mistake likely comes from: under "cause" its code, and what that tells.
Cause = dict[str, Any]


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
    concordances = probe.concordances(data.predictions)
    diagnoses = [_Diagnosis(evaluation, probe, model, concordances[model]) for model in data.predictions]
    refused = [note for note in evaluation.notes if note.code == "refused"]
    return (
        *_of_models(diagnoses, probe.n_events >= _FEW_EVENTS),
        *(Check("refused", note.about.model, note.values) for note in refused),
        *_of_samples(evaluation),
    )


def _of_models(diagnoses: list[_Diagnosis], enough_events: bool) -> Iterator[Check]:
    """By model; that the flag of the event is inverted is said once for all."""
    off = [look for look in diagnoses if enough_events and (look.is_negative or look.is_against)]
    causes = {look.model: look.cause() for look in off}
    flagged = [look for look in off if look.is_negative and causes[look.model]["cause"] == "flag"]
    if flagged and len(flagged) == sum(not isinstance(look.predictions, RiskScores) for look in diagnoses):
        skills = sorted(look.skill.value for look in flagged)
        yield Check("negative_skill", None, {"skills": skills, "cause": "flag"})
    else:
        for look in off:
            yield from look.disqualified_by(causes[look.model])
    for look in diagnoses:
        if look in off:
            continue
        unproven = enough_events and not look.is_better
        if unproven and (look.is_worse or not look.constant):
            yield look.no_better()
        if look.constant:
            yield Check("constant", look.model, {"may_be_no_better": unproven and not look.is_worse})


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
    elif n_events < _FEW_EVENTS:
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
        name: curves.changed(interpolation="step")
        for name, curves in data.predictions.items()
        if name in scores.values[metric.name]
        and isinstance(curves, Predictions)
        and curves.interpolation is None
        and not np.isin(grid, curves.times).all()
    }
    if not steps:
        return []
    as_steps = _values(evaluation, scores, steps)
    own = {name: scores.value(metric.name, name) for name in steps}
    # Of a stream the subjects at hand are not all: what they say is the difference.
    as_lines = own
    if data.streamed is not None:
        as_lines = _values(evaluation, scores, {name: data.predictions[name] for name in steps})
    others = {}
    for name, value in as_steps.items():
        moved = value - as_lines[name]
        error = evaluation.score(name, metric.name, scores.name).standard_error
        if abs(moved) > (_OF_ERROR * error if np.isfinite(error) else _OF_SCORE * abs(own[name])):
            others[name] = {"as_steps": float(own[name] + moved), "as_lines": float(own[name])}
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
    values = score_with_metric(others, replace(scores, served=served), metric).values[metric.name]
    return {name: value.value for name, value in values.items()}


# --- the look at a model ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Probe:
    """Test subjects, of many every k-th, held against predictions under marginal IPCW.

    ``times`` are those of the evaluation, ``folds`` the fold that the prediction of each subject is from.
    """

    y: Survival
    times: FloatArray
    folds: npt.NDArray[Any] | None = field(default=None, repr=False)

    @cached_property
    def rows(self) -> slice:
        """The subjects that are looked at."""
        return slice(None, None, -(-len(self.y) // _MOST_SUBJECTS))

    @cached_property
    def outcomes(self) -> Survival:
        """Outcomes of the probed subjects."""
        return self.y[self.rows]

    @cached_property
    def n_events(self) -> int:
        """Events of the probed subjects up to the horizon."""
        return int(np.count_nonzero(self.outcomes.event & (self.outcomes.time <= self.times[-1])))

    @cached_property
    def kaplan_meier(self) -> KaplanMeier:
        """The curve of these subjects."""
        return KaplanMeier().fit(self.outcomes)

    @cached_property
    def gain_by_chance(self) -> float:
        r"""The share of its Brier score that a curve gains by being fitted to the subjects that it is held against.

        With another curve as good as the truth, :math:`(\hat S - S)^2`, on average Var Ŝ(t); four times that is gained
        once in twenty samples. Of :math:`\hat S (1 - \hat S)`, both averaged over time.
        """
        times = np.unique(self.times)
        times = times[times <= self.outcomes.t_max]
        curve = np.asarray(self.kaplan_meier.predict(times, tail="last"))
        spread = np.asarray(self.kaplan_meier.variance(times))
        known = np.isfinite(spread)
        size = float(np.sum(curve[known] * (1.0 - curve[known])))
        return 4.0 * float(np.sum(spread[known])) / size if size > 0 else 0.0

    def grid(self, predictions: Predicted) -> FloatArray:
        """A few of the times of the evaluation, the last among them; of a prediction at one time that time."""
        if isinstance(predictions, PredictionsAt):
            return predictions.times
        known = np.unique(self.times[self.times > 0])
        return _some(known) if known.size else np.unique(self.times)

    def read(self, predictions: Predicted, times: FloatArray) -> FloatArray:
        """The survival probabilities of these subjects."""
        return predictions.read(times, self.rows)

    def skill(self, curves: FloatArray, times: FloatArray, y: Survival | None = None) -> Estimate:
        """Of the integrated Brier score against the Kaplan–Meier curve of the same subjects; NaN where unknown."""
        by = BrierScore().at_time(float(times[0])) if times.size == 1 else IntegratedBrierScore()
        errors = self._errors({_ALONE: on_times(times, curves, "linear")}, times, by, y)
        if errors is None or not {_ALONE, REFERENCE} <= set(errors.names):
            return _NONE
        return errors.skills([_ALONE], REFERENCE, 0.0).estimate(_ALONE)

    def concordances(self, predictions: Mapping[str, Predicted]) -> dict[str, Estimate]:
        """By model, of its risk with who has the event first; ½ where all are the same."""
        y, end = self.outcomes, float(self.times.max())
        # Between two events nobody is first.
        seen = _some(np.unique(y.time[y.event & (y.time <= end)]))
        risks = {name: RiskScores(self._risk(each)) for name, each in predictions.items()}
        errors = self._errors(risks, np.unique(np.append(seen, end)), Concordance())
        known = set() if errors is None else set(errors.names)
        return {name: errors.estimate(name) if errors and name in known else _NONE for name in risks}

    def _risk(self, predictions: Predicted) -> FloatArray:
        """What orders these subjects, the greater the riskier; within folds, as risks of two folds may differ."""
        times = self.grid(predictions)
        if isinstance(predictions, RiskScores):
            risk = predictions.risk[self.rows]
        else:
            # Equal curves must tie: a product of matrices adds up rows in different ways.
            widths = np.diff(times, prepend=0.0)
            risk = -np.multiply(self.read(predictions, times), widths, order="C").sum(axis=1)
        if self.folds is not None:
            _, fold = np.unique(self.folds[self.rows], return_inverse=True)
            risk = risk - (np.bincount(fold, risk) / np.bincount(fold))[fold]
            risk = risk.round(12)  # what is alike within folds must tie
        return risk

    def _errors(
        self,
        predictions: Mapping[str, Predicted],
        times: FloatArray,
        metric: Metric,
        y: Survival | None = None,
    ) -> Estimates | None:
        """The values of models with their errors, beside that of the reference; None where there are none."""
        samples, grid = Samples.of(self.outcomes if y is None else y), TimeGrid.of(times)
        until = Horizon(grid.last, "times", "the times of the evaluation")
        data = EvaluationData(predictions, samples, grid, (metric,), tuple(predictions), until, _LEVEL)
        return scores_under(data, "probe", "IPCW", IPCW()).errors.get(metric.name)


def _some(times: FloatArray) -> FloatArray:
    """A few of sorted times, first and last among them."""
    return times[np.linspace(0, times.size - 1, min(times.size, _MOST_TIMES)).round().astype(int)]


@dataclass(frozen=True, eq=False)
class _Diagnosis:
    """A cheap look at one model."""

    evaluation: Evaluation
    probe: Probe
    model: str
    concordance: Estimate

    @property
    def predictions(self) -> Predicted:
        return self.evaluation.data.predictions[self.model]

    @cached_property
    def skill(self) -> Estimate:
        """By the first proper score that the model has, or by the integrated Brier score; NaN of risk scores."""
        if isinstance(self.predictions, RiskScores):
            return _NONE
        proper = [by.name for by in self.evaluation.data.metrics if by.has_skill and by.needs_curves]
        skills = (self.evaluation.score(self.model, name).skill for name in proper)
        skill = next((each for each in skills if each is not None and np.isfinite(each.value)), None)
        if skill is not None and np.isfinite(skill.standard_error):
            return skill
        times = self.probe.grid(self.predictions)
        cheap = self.probe.skill(self.probe.read(self.predictions, times), times)
        return cheap if skill is None else Estimate(skill.value, cheap.standard_error)

    @cached_property
    def by_chance(self) -> float:
        """What the reference curve may gain by being fitted to the subjects that it is held against."""
        return self.probe.gain_by_chance if self.evaluation.data.samples.y_train is None else 0.0

    @cached_property
    def constant(self) -> bool:
        """Whether all subjects are predicted the same."""
        if len(self.predictions) < 2:
            return False
        if isinstance(self.predictions, RiskScores):
            return bool(np.ptp(self.predictions.risk) == 0)
        values = self.probe.read(self.predictions, self.probe.grid(self.predictions))
        return bool((values == values[:1]).all())

    @property
    def is_negative(self) -> bool:
        """Whether the skill is strongly negative."""
        high = self.skill.confidence_interval(_LEVEL).high
        return self.skill.value + self.by_chance < _WORST_SKILL and not high + self.by_chance >= 0

    @property
    def is_better(self) -> bool:
        """Whether the skill is above 0 by its interval, or there is none, as of a risk score."""
        value = self.skill.value
        return np.isnan(value) or (value > 0 and not self.skill.confidence_interval(_LEVEL).low <= 0)

    @property
    def is_worse(self) -> bool:
        """Whether the skill is below 0 by its interval, by half a percent or more."""
        high = self.skill.confidence_interval(_LEVEL).high
        return self.skill.value + self.by_chance < -_LEAST_WORSE and high + self.by_chance < 0

    @property
    def is_against(self) -> bool:
        """Whether the risk is the opposite of the outcome, beyond chance."""
        return self.highest_concordance < 0.5 - _ROUNDING

    @property
    def highest_concordance(self) -> float:
        """The upper limit of the concordance, for all models at once."""
        n_models = len(self.evaluation.data.predictions)
        return self.concordance.confidence_interval(1.0 - (1.0 - _LEVEL) / n_models).high

    def disqualified_by(self, cause: Cause) -> Iterator[Check]:
        """What makes the model nonsense."""
        if self.is_negative:
            yield Check("negative_skill", self.model, {"skill": self.skill.value, **cause})
        if self.is_against:
            order = {"concordance": self.concordance.value, "upper_limit": self.highest_concordance}
            yield Check("against_outcome", self.model, {**order, **cause})

    def no_better(self) -> Check:
        """That the model is worse than the reference curve, or may be no better."""
        low, high = self.skill.confidence_interval(_LEVEL)
        values: dict[str, Any] = {"skill": self.skill.value, "is_worse": self.is_worse}
        if self.evaluation.data.confidence_level is not None and np.isfinite(low):
            values["interval"] = [low, high]
        ranks = self.concordance.confidence_interval(_LEVEL).low > 0.5
        cause = self.cause() if self.is_worse else {"cause": "ranks" if ranks else "may_rank_nothing"}
        return Check("no_better", self.model, {**values, **cause})

    def cause(self) -> Cause:
        """What mends it, by trying; else what such a model mostly comes from.

        A code, with what its sentence is filled with: "risks" (given for survival), "flag" (of the event, inverted),
        "rows" (of other subjects), "negative" (of a risk score), "opposite" (coding of a covariate) or "level" (of the
        probabilities, or another unit of time).
        """
        if isinstance(self.predictions, RiskScores):
            return {"cause": "negative"}
        times = self.probe.grid(self.predictions)
        curves, y = self.probe.read(self.predictions, times), self.probe.outcomes
        skills = {
            "": self.probe.skill(curves, times),
            "risks": self.probe.skill(1.0 - curves, times),
            "flag": self.probe.skill(curves, times, Survival(y.time, ~y.event)),
        }
        tried = {name: each.value if np.isfinite(each.value) else -np.inf for name, each in skills.items()}
        now = tried.pop("")
        best = max(tried, key=lambda name: tried[name])
        if tried[best] > max(_MENDED, now + _MENDS_BY):
            return {"cause": best}
        if self.is_against:
            return {"cause": "opposite"}
        low, high = self.concordance.confidence_interval(_LEVEL)
        if low > 0.5 or self.constant or not high >= 0.5:
            observed = float(self.probe.kaplan_meier.predict(times[-1], tail="last"))
            when, mean = self.evaluation.data.time_axis.said(times[-1]), float(curves[:, -1].mean())
            level = {"time": when, "predicted": mean, "observed": observed, "constant": self.constant}
            return {"cause": "level", **level}
        return {"cause": "rows"}
