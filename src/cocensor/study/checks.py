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
    found = score_with_metric(others, replace(scores, served=served), metric)
    return {name: each.value for name, each in found.values[metric.name].items()}


# As many subjects, and as many times, are looked at.
_MOST_SUBJECTS, _MOST_TIMES = 20_000, 20
_NONE, _ALONE = Estimate(np.nan, np.nan), "model"
#: Units of time by how many of one make up one of the other.
UNITS = {
    7.0: ("days", "weeks"),
    12.0: ("months", "years"),
    24.0: ("hours", "days"),
    30.4375: ("days", "months"),
    52.1786: ("weeks", "years"),
    365.25: ("days", "years"),
}
# As many events tell; between so many times curves are held against each other.
_EVENTS, _TIMES = 10, 20
_AT_RISK = 0.05
# On the scale of log cumulative hazards: how near a scaled curve must be, how far the unscaled one, at least and times
# as far; and the deviance of the number of events (4 standard errors).
_SELDOM = 0.1
_NEAR, _FAR, _TIMES_AS_FAR, _DEVIANCE = 0.3, np.log(4.0), 4.0, 16.0
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
class Probe:
    """Test subjects, of many every k-th, held against predictions under marginal IPCW.

    Attributes
    ----------
    y : Survival
        The outcomes of all test subjects.
    times : array
        Those of the evaluation.
    folds : array or None
        The fold that the prediction of each subject is from.
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
        found = self._errors(on_times(times, curves, "linear"), times, by, y)
        if found is None or not {_ALONE, REFERENCE} <= set(found.names):
            return _NONE
        return found.skills([_ALONE], REFERENCE, 0.0).estimate(_ALONE)

    def risk(self, predictions: Predicted) -> FloatArray:
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

    def concordances(self, risks: Mapping[str, FloatArray]) -> dict[str, float]:
        """Of risks with who has the event first; ½ where all are the same, and NaN where no two can be compared."""
        models = {name: RiskScores(risk) for name, risk in risks.items()}
        found = self._scores(models, self._times_of_events, Concordance(), None)
        return {name: found.value(Concordance.name, name) for name in risks}

    def concordance(self, risk: FloatArray) -> Estimate:
        """The same of one risk, with its error."""
        found = self._errors(RiskScores(risk), self._times_of_events, Concordance())
        return _NONE if found is None or _ALONE not in found.names else found.estimate(_ALONE)

    @cached_property
    def _times_of_events(self) -> FloatArray:
        """Times of events, as far as the evaluation goes: between two of them nobody is first."""
        y, end = self.outcomes, float(self.times.max())
        seen = np.unique(y.time[y.event & (y.time <= end)])
        return np.unique(np.append(_some(seen), end))

    def _errors(
        self, predicted: Predicted, times: FloatArray, metric: Metric, y: Survival | None = None
    ) -> Estimates | None:
        """The value of one model with its error, beside that of the reference; None where there is none."""
        return self._scores({_ALONE: predicted}, times, metric, 0.95, y).errors.get(metric.name)

    def _scores(
        self,
        predictions: Mapping[str, Predicted],
        times: FloatArray,
        metric: Metric,
        level: float | None,
        y: Survival | None = None,
    ) -> AdjustmentScores:
        samples, grid = Samples.of(self.outcomes if y is None else y), TimeGrid.of(times)
        until = Horizon(grid.last, "times", "the times of the evaluation")
        data = EvaluationData(predictions, samples, grid, (metric,), tuple(predictions), until, level)
        return scores_under(data, "probe", "IPCW", IPCW())


def _some(times: FloatArray) -> FloatArray:
    """A few of sorted times, first and last among them."""
    return times[np.linspace(0, times.size - 1, min(times.size, _MOST_TIMES)).round().astype(int)]


# --- units of time ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TimeScale:
    """The times of a model taken to be ``factor`` times those of the outcomes, held against Kaplan–Meier's curve.

    Attributes
    ----------
    factor : float
    times : array
        Times of the outcomes at which the scaled curves are known.
    gap : float
        How far the mean curve at scaled times is from that of Kaplan–Meier.
    n_events : int
        The events up to the last of the times.
    expected : float
        How many of them the mean curve expects.
    """

    factor: float
    times: FloatArray = field(repr=False)
    gap: float
    n_events: int
    expected: float

    @classmethod
    def of(cls, probe: Probe, predictions: Predicted, factor: float) -> TimeScale | None:
        """Of predictions, by a factor; None where there is no time to hold them against."""
        y = probe.outcomes
        times = _times(y, predictions, factor)
        if times is None:
            return None
        mean = probe.read(predictions, _scaled(times, factor, predictions)).mean(axis=0)
        predicted = -np.log(np.clip(mean, 1e-12, 1.0))
        observed = -np.log(np.clip(np.asarray(probe.kaplan_meier.predict(times, tail="last")), 1e-12, 1.0))
        floor = 0.5 / len(y)  # half an event
        n_events = int(np.count_nonzero(y.event & (y.time <= times[-1])))
        gaps = np.abs(np.log(np.maximum(predicted, floor)) - np.log(np.maximum(observed, floor)))
        ratio = max(predicted[-1], floor) / max(observed[-1], floor)
        return cls(factor, times, float(gaps.mean()), n_events, max(n_events, 0.5) * ratio)

    @property
    def place(self) -> float:
        """The smaller, the likelier: units that are seldom mixed up come after others that fit about as well."""
        seldom = round(max(self.factor, 1 / self.factor)) in (24, 52)
        return self.gap + (_SELDOM if seldom else 0.0)

    @property
    def deviance(self) -> float:
        """Of the number of events, as of a Poisson count."""
        observed = max(self.n_events, 0.5)
        return 2.0 * (observed * np.log(observed / self.expected) - (observed - self.expected))

    def scaled(self, predictions: Predicted) -> FloatArray:
        """The times of the model."""
        return _scaled(self.times, self.factor, predictions)

    def units(self, unit: str | None) -> dict[str, str]:
        """Which units the predictions and the outcomes may be in; empty where the unit of the latter is another."""
        few = self.factor > 1
        fine, coarse = UNITS[self.factor if few else min(UNITS, key=lambda each: abs(each - 1 / self.factor))]
        model, outcomes = (fine, coarse) if few else (coarse, fine)
        return {"predictions": model, "outcomes": outcomes} if unit in (None, outcomes) else {}


def time_scale(probe: Probe, predictions: Predicted, *, nearest: bool = False) -> TimeScale | None:
    r"""The factor by which the times of a model are off; None where the unscaled ones fit, or no factor mends them.

    The mean predicted curve at scaled times is held against the Kaplan–Meier curve by
    :math:`L(f) = \overline{|\log \bar H(f t) - \log H_{KM}(t)|}`, in which a wrong unit is a shift, and a baseline
    hazard that is off by r is one of log r. A factor is told where L(f) is at most 0.3 and a quarter of L(1), L(1) at
    least log 4, and the number of events 4 standard errors off what the unscaled curves expect: hazards that are off by
    less than 4 are not taken for another unit. The ``nearest`` is one that at least halves a distance of log 4.
    """
    if isinstance(predictions, RiskScores) or np.count_nonzero(probe.outcomes.event) < _EVENTS:
        return None
    factors = [factor for each in UNITS for factor in (each, 1 / each)]
    scales = [scale for each in factors if (scale := TimeScale.of(probe, predictions, each)) is not None]
    unscaled = TimeScale.of(probe, predictions, 1.0)
    best = min(
        (each for each in scales if each.n_events >= _EVENTS), key=lambda each: each.place, default=None
    )
    if unscaled is None or best is None or unscaled.gap < _FAR:
        return None
    if nearest:
        return best if best.gap <= unscaled.gap / 2.0 else None
    mends = best.gap <= min(_NEAR, unscaled.gap / _TIMES_AS_FAR)
    return best if mends and unscaled.deviance >= _DEVIANCE else None


def _scaled(times: FloatArray, factor: float, predictions: Predicted) -> FloatArray:
    """The times of a model whose times are ``factor`` times those of the outcomes."""
    if isinstance(predictions, PredictionsAt):  # which rounding must not miss
        return predictions.times
    return np.minimum(times * factor, predictions.end)  # which rounding may pass


def _times(y: Survival, predictions: Predicted, factor: float) -> FloatArray | None:
    """Times of the outcomes at which scaled curves are known; scaled ones where a few events have happened."""
    end = float(np.quantile(y.time, 1.0 - _AT_RISK, method="lower"))
    if isinstance(predictions, PredictionsAt):
        time = predictions.times / factor
        return time if time <= end else None
    end = min(end, predictions.end / factor)
    if end <= 0:
        return None
    times = np.linspace(0.0, end, _TIMES + 1)[1:]
    if factor == 1:
        return times
    seen = np.sort(y.time[y.event])
    kept = times[np.searchsorted(seen, times, side="right") >= _EVENTS // 2]
    return kept if kept.size else None


# --- the look at a model ---------------------------------------------------------------------------------


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
