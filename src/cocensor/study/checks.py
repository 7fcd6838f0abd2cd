"""Nonsense among predictions and outcomes of a finished evaluation, as codes and values."""

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
from cocensor.study.scores import Scoring, fits_under, score_with_metric, scores_of

if TYPE_CHECKING:
    from cocensor.study.evaluation import Evaluation

Disqualifying = Literal["negative_skill", "against_outcome", "worse", "all_censored"]
Remark = Literal["no_better", "constant", "refused", "same_sample", "training_censored", "few_events"]
Code = Literal[Disqualifying, Remark]
# Two independent samples with so many different times have the same ones less often than once in 1,000.
_MANY_TIMES = 10
# Scores of steps are noted from this share of a standard error on, or of the score itself where there is none.
_OF_ERROR, _OF_SCORE = 0.1, 0.01
# The largest numbers of subjects and of times that are examined.
_MOST_SUBJECTS, _MOST_TIMES = 20_000, 20
# The level of the interval that must lie below a limit.
_LEVEL = 0.95
_WORST_SKILL = -0.1
# A skill that is rounded to 0 % is no worse than 0.
_LEAST_WORSE = 0.005
# Fewer events say next to nothing.
_FEW_EVENTS = 10
# A cause explains a negative skill where the skill without it is about 0 or more, and higher by so much.
_MENDED, _MENDS_BY = -0.05, 0.1
# A concordance of ties is ½ but for this.
_ROUNDING = 1e-6
_NONE = Estimate(np.nan, np.nan)


@dataclass(frozen=True)
class Check:
    """Something that makes a result nonsense, or says next to nothing of it.

    Code decides by ``code``, ``model`` and ``values``; its sentences are made by a view.

    Attributes
    ----------
    code : str
        "negative_skill", "against_outcome" and "worse" (than the Kaplan–Meier curve) disqualify a model: it cannot be
        called best.
        "all_censored", a test sample without an event up to the horizon, disqualifies all. A "refused" model has no
        predictions to score. "no_better", of a model that may be no better than the Kaplan–Meier curve, "constant",
        "same_sample", "training_censored" and "few_events" are remarks.
    model : str or None
        None where it is about all models.
    values : dict
        What was found. ``cause`` is the likely cause, a code too, where there is one.

    Examples
    --------
    >>> from cocensor.study import Check
    >>> check = Check("negative_skill", "cox", {"skill": -0.52, "cause": "risks"})
    >>> print(check)
    Its skill is −52%: one Kaplan–Meier curve for everybody does better. Are these risks? Give 1 − risk.
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
        """The finding, the likely cause, and what to do."""
        return str(view("text.checks.check_in_words")(self))

    @property
    def disqualifies(self) -> bool:
        """Whether the model cannot be called best."""
        return self.code in get_args(Disqualifying)

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        derived = {"disqualifies": self.disqualifies, "text": self.text}
        return {**vars(self), "values": dict(self.values), **derived}


def find_checks(evaluation: Evaluation) -> tuple[Check, ...]:
    """Return all that look like a mistake: checks of the models first, then of the samples.

    A skill is negative where that of the first proper score of the evaluation, or else of the integrated Brier score,
    lies below −10 % under the primary adjustment, with its 95 % interval below 0. Where no interval was wanted, the
    standard error is that of the integrated Brier score under marginal IPCW. Without a training sample the reference
    curve is that of the test subjects themselves, and the skill is allowed for what this curve gains by chance. A skill
    whose interval lies below 0 disqualifies too; one whose interval holds 0 is a remark: the model may be no better
    than the reference curve. A model runs against the outcome where the upper 95 % limit of its
    concordance lies below ½, of k models the upper limit at 1 − 0.05/k; that of out-of-fold predictions is taken within
    folds. With fewer than ten events up to the horizon neither is checked. Of more than 20,000 test subjects, every
    k-th is examined.
    """
    data = evaluation.data
    probe = Probe(data.samples.y_test, data.grid.sorted, data.samples.folds)
    events = probe.outcomes.time[probe.outcomes.event]
    enough_events = np.count_nonzero(events <= probe.times[-1]) >= _FEW_EVENTS
    concordances = probe.concordances(data.predictions) if enough_events else {}
    diagnoses = [_Diagnosis(evaluation, probe, model, concordances.get(model)) for model in data.predictions]
    refused = [note for note in evaluation.notes if note.code == "refused"]
    return (
        *_checks_of_models(diagnoses),
        *(Check("refused", note.about.model, note.values) for note in refused),
        *_checks_of_samples(data),
    )


def _checks_of_models(diagnoses: list[_Diagnosis]) -> Iterator[Check]:
    """By model; that the flag of the event is inverted is said once for all."""
    off = [model for model in diagnoses if model.is_negative or model.is_against]
    causes = {model.name: model.cause() for model in off}
    flagged = [model for model in off if model.is_negative and causes[model.name]["cause"] == "flag"]
    if flagged and len(flagged) == sum(not model.is_risk for model in diagnoses):
        skills = sorted(model.skill.value for model in flagged)
        yield Check("negative_skill", None, {"skills": skills, "cause": "flag"})
    else:
        for model in off:
            cause = causes[model.name]
            if model.is_negative:
                yield Check("negative_skill", model.name, {"skill": model.skill.value, **cause})
            if model.is_against:
                order = {"concordance": model.concordance.value, "upper_limit": model.highest_concordance}
                yield Check("against_outcome", model.name, {**order, **cause})
    for model in diagnoses:
        if model in off:
            continue
        if not model.is_better and (model.is_worse or not model.constant):
            yield model.no_better()
        if model.constant:
            unproven = not model.is_better and not model.is_worse
            yield Check("constant", model.name, {"may_be_no_better": unproven})


def _checks_of_samples(data: EvaluationData) -> Iterator[Check]:
    train = data.samples.y_train
    if data.samples.folds is None and _is_same(data.samples):
        yield Check("same_sample")
    when = {"horizon": data.time_axis.said(data.horizon.time)}
    n_events = data.n_events_by(data.horizon.time)
    if not n_events:
        yield Check("all_censored", None, {**when, "later": data.whole.n_events > 0})
    elif n_events < _FEW_EVENTS:
        yield Check("few_events", None, {**when, "n": n_events})
    if train is not None and not train.n_events:
        yield Check("training_censored")


def _is_same(samples: Samples) -> bool:
    """Whether training and test sample are one, in any order if many different times make that no coincidence."""
    train, test = samples.y_train, samples.y_test
    if train is None or len(train) != len(test):
        return False
    of_train, of_test = (np.column_stack((y.time, 1.0 * y.event, 1.0 * y.dropout)) for y in (train, test))
    if not np.array_equal(_sorted_rows(of_train), _sorted_rows(of_test)):
        return False
    if samples.x_train is not None and samples.x_test is not None:
        x = Covariates.joined((samples.x_train, samples.x_test)).values
        of_train, of_test = np.hstack((of_train, x[: len(train)])), np.hstack((of_test, x[len(train) :]))
    if np.unique(test.time).size >= _MANY_TIMES:
        of_train, of_test = _sorted_rows(of_train), _sorted_rows(of_test)
    return np.array_equal(of_train, of_test)


def _sorted_rows(rows: FloatArray) -> FloatArray:
    return rows[np.lexsort(rows.T)]


def read_as_steps(evaluation: Evaluation) -> list[Note]:
    """Return a note on how the first metric would move if curves were steps where nothing states what they are.

    A move counts from a tenth of the standard error on, or from 1 % where there is none.
    """
    data, metric = evaluation.data, evaluation.data.metrics[0]
    scores, grid = evaluation.results[evaluation.primary], metric.grid(data.grid).sorted
    steps = {
        name: curves.changed(interpolation="step")
        for name, curves in data.predictions.items()
        if name in scores.values[metric.name]
        and isinstance(curves, Predictions)
        and curves.interpolation is None
        and not np.isin(grid, curves.times).all()
    }

    def values(predictions: Mapping[str, Predicted]) -> dict[str, float]:
        others = replace(data, predictions=predictions, confidence_level=None)
        served = tuple((fit, tuple(name for name in names if name in steps)) for fit, names in scores.served)
        again = score_with_metric(others, replace(scores, served=served), metric).values[metric.name]
        return {name: value.value for name, value in again.items()}

    own = {name: scores.value(metric.name, name) for name in steps}
    # The subjects at hand are not all of a stream: they give the difference.
    as_lines = own if data.streamed is None else values({name: data.predictions[name] for name in steps})
    moved = {}
    for name, value in values(steps).items():
        change = value - as_lines[name]
        error = evaluation.score(name, metric.name, scores.name).standard_error
        if abs(change) > (_OF_ERROR * error if np.isfinite(error) else _OF_SCORE * abs(own[name])):
            moved[name] = {"as_steps": float(own[name] + change), "as_lines": float(own[name])}
    if not moved:
        return []
    alone = next(iter(moved)) if len(moved) == 1 else None
    return [noted("steps_instead", model=alone, metric=metric.label, under=scores.label, scores=moved)]


class Probe:
    """Test subjects, of many every k-th, that predictions are scored on by marginal IPCW, at the evaluation's times."""

    def __init__(self, y: Survival, times: FloatArray, folds: npt.NDArray[Any] | None = None) -> None:
        self.rows = slice(None, None, -(-len(y) // _MOST_SUBJECTS))
        self.outcomes, self.times = y[self.rows], times
        self.folds = None if folds is None else folds[self.rows]

    @cached_property
    def kaplan_meier(self) -> KaplanMeier:
        """The Kaplan–Meier curve of the probed subjects."""
        return KaplanMeier().fit(self.outcomes)

    @cached_property
    def gain_by_chance(self) -> float:
        r"""The share of its Brier score that a curve gains by being fitted to the subjects that it is scored on.

        Against another curve as good as the truth, :math:`(\hat S - S)^2`, on average Var Ŝ(t); four times that is
        gained once in twenty samples. It is a share of :math:`\hat S (1 - \hat S)`, both averaged over time.
        """
        times = np.unique(self.times)
        times = times[times <= self.outcomes.t_max]
        curve = np.asarray(self.kaplan_meier.predict(times, tail="last"))
        spread = np.asarray(self.kaplan_meier.variance(times))
        has_spread = np.isfinite(spread)
        size = float(np.sum(curve[has_spread] * (1.0 - curve[has_spread])))
        return 4.0 * float(np.sum(spread[has_spread])) / size if size > 0 else 0.0

    def grid(self, predictions: Predicted) -> FloatArray:
        """A few of the times of the evaluation, the last among them; of a prediction at one time that time."""
        if isinstance(predictions, PredictionsAt):
            return predictions.times
        after_0 = np.unique(self.times[self.times > 0])
        return _some(after_0) if after_0.size else np.unique(self.times)

    def skill(self, curves: FloatArray, times: FloatArray, y: Survival | None = None) -> Estimate:
        """The integrated Brier skill against the Kaplan–Meier curve of the same subjects; NaN where unknown."""
        by = BrierScore().at_time(float(times[0])) if times.size == 1 else IntegratedBrierScore()
        errors = self._errors({"model": on_times(times, curves, "linear")}, times, by, y)
        if not {"model", REFERENCE} <= set(errors.names):
            return _NONE
        return errors.skills(["model"], REFERENCE, 0.0).estimate("model")

    def concordances(self, predictions: Mapping[str, Predicted]) -> dict[str, Estimate]:
        """By model the concordance of its risk with who has the event first; ½ where all risks are the same."""
        y, end = self.outcomes, float(self.times.max())
        # Between two events nobody is first.
        event_times = _some(np.unique(y.time[y.event & (y.time <= end)]))
        risks = {name: RiskScores(self._risk(model)) for name, model in predictions.items()}
        errors = self._errors(risks, np.unique(np.append(event_times, end)), Concordance())
        return {name: errors.estimate(name) if name in errors.names else _NONE for name in risks}

    def _risk(self, predictions: Predicted) -> FloatArray:
        """Return a risk score of these subjects; within folds, as risks of two folds may differ."""
        if isinstance(predictions, RiskScores):
            risk = predictions.risk[self.rows]
        else:
            times = self.grid(predictions)
            # Equal curves must tie: a product of matrices adds up rows in different ways.
            widths = np.diff(times, prepend=0.0)
            risk = -np.multiply(predictions.read(times, self.rows), widths, order="C").sum(axis=1)
        if self.folds is not None:
            _, fold = np.unique(self.folds, return_inverse=True)
            risk = risk - (np.bincount(fold, risk) / np.bincount(fold))[fold]
            risk = risk.round(12)  # what is alike within folds must tie
        return risk

    def _errors(
        self,
        predictions: Mapping[str, Predicted],
        times: FloatArray,
        metric: Metric,
        y: Survival | None = None,
    ) -> Estimates:
        """Return the values of the models and of the reference that have one, with their errors."""
        samples, grid = Samples.of(self.outcomes if y is None else y), TimeGrid.of(times)
        until = Horizon(grid.last, "times", "the times of the evaluation")
        data = EvaluationData(predictions, samples, grid, (metric,), tuple(predictions), until, _LEVEL)
        fitted, _ = fits_under(data, "probe", "IPCW", IPCW())
        return scores_of(Scoring(data, "probe"), fitted).errors[metric.name]


def _some(times: FloatArray) -> FloatArray:
    """A few of sorted times, first and last among them."""
    return times[np.linspace(0, times.size - 1, min(times.size, _MOST_TIMES)).round().astype(int)]


class _Diagnosis:
    """A quick examination of one model: of its predictions alone where it has no concordance, as of few events."""

    def __init__(self, evaluation: Evaluation, probe: Probe, name: str, concordance: Estimate | None) -> None:
        self.data, self.probe, self.name = evaluation.data, probe, name
        self.predictions = predictions = self.data.predictions[name]
        self.is_risk = isinstance(predictions, RiskScores)
        values = predictions.risk if isinstance(predictions, RiskScores) else self._curves()
        self.constant = len(values) > 1 and bool((values == values[:1]).all())
        self.skill, self.concordance = _NONE, concordance or _NONE
        if concordance is not None and not self.is_risk:
            self.skill = self._skill(evaluation, values)
        value, (low, high) = self.skill.value, self.skill.confidence_interval(_LEVEL)
        # The reference curve may gain by being fitted to the subjects that it is scored on.
        fitted_to_test = self.data.samples.y_train is None and not np.isnan(value)
        by_chance = probe.gain_by_chance if fitted_to_test else 0.0
        self.is_negative = value + by_chance < _WORST_SKILL and not high + by_chance >= 0
        self.is_worse = value + by_chance < -_LEAST_WORSE and high + by_chance < 0
        self.is_better = np.isnan(value) or (value > 0 and not low <= 0)
        # The upper limit of the concordance, for all models at once.
        level = 1.0 - (1.0 - _LEVEL) / len(self.data.predictions)
        self.highest_concordance = self.concordance.confidence_interval(level).high
        self.is_against = self.highest_concordance < 0.5 - _ROUNDING

    def _curves(self) -> FloatArray:
        return self.predictions.read(self.probe.grid(self.predictions), self.probe.rows)

    def _skill(self, evaluation: Evaluation, curves: FloatArray) -> Estimate:
        """The skill by the first proper score of the model, or by the integrated Brier score."""
        proper = [by.name for by in self.data.metrics if by.has_skill and by.needs_curves]
        skills = (evaluation.score(self.name, metric).skill for metric in proper)
        skill = next((skill for skill in skills if skill is not None and np.isfinite(skill.value)), None)
        if skill is not None and np.isfinite(skill.standard_error):
            return skill
        by_ipcw = self.probe.skill(curves, self.probe.grid(self.predictions))
        return by_ipcw if skill is None else Estimate(skill.value, by_ipcw.standard_error)

    def no_better(self) -> Check:
        """Return that the model is worse than the reference curve, or may be no better."""
        low, high = self.skill.confidence_interval(_LEVEL)
        values: dict[str, Any] = {"skill": self.skill.value}
        if self.data.confidence_level is not None and np.isfinite(low):
            values["interval"] = [low, high]
        ranks = self.concordance.confidence_interval(_LEVEL).low > 0.5
        cause = self.cause() if self.is_worse else {"cause": "ranks" if ranks else "may_rank_nothing"}
        return Check("worse" if self.is_worse else "no_better", self.name, {**values, **cause})

    def cause(self) -> dict[str, Any]:
        """Return the likely cause: what mends the model, by trying, else what such a model mostly comes from.

        The code is "risks" (given for survival), "flag" (of the event, inverted), "rows" (of other subjects),
        "negative" (of a risk score), "opposite" (coding of a covariate) or "level" (of the probabilities, or another
        unit of time); other values fill its sentence.
        """
        if self.is_risk:
            return {"cause": "negative"}
        times, curves, y = self.probe.grid(self.predictions), self._curves(), self.probe.outcomes
        skills = {
            "": self.probe.skill(curves, times),
            "risks": self.probe.skill(1.0 - curves, times),
            "flag": self.probe.skill(curves, times, Survival(y.time, ~y.event)),
        }
        values = {name: s.value if np.isfinite(s.value) else -np.inf for name, s in skills.items()}
        as_given = values.pop("")
        best = max(values, key=values.__getitem__)
        if values[best] > max(_MENDED, as_given + _MENDS_BY):
            return {"cause": best}
        if self.is_against:
            return {"cause": "opposite"}
        low, high = self.concordance.confidence_interval(_LEVEL)
        if low > 0.5 or self.constant or not high >= 0.5:
            observed = float(self.probe.kaplan_meier.predict(times[-1], tail="last"))
            when, mean = self.data.time_axis.said(times[-1]), float(curves[:, -1].mean())
            level = {"time": when, "predicted": mean, "observed": observed, "constant": self.constant}
            return {"cause": "level", **level}
        return {"cause": "rows"}
