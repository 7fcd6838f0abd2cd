"""A cheap look at one model: whether its predictions are nonsense, and what mends them.

At a few times, at most some thousand subjects, and with weights by the censoring alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cocensor._cached import cached_property
from cocensor._checks import FloatArray
from cocensor.adjustments import IPCW
from cocensor.adjustments.samples import Samples
from cocensor.data import Predicted, PredictionsAt, RiskScores, Survival, TimeGrid, on_times
from cocensor.estimators import KaplanMeier
from cocensor.inference import Estimate, Estimates
from cocensor.metrics import BrierScore, Concordance, IntegratedBrierScore, Metric
from cocensor.study.data import REFERENCE, EvaluationData, Horizon
from cocensor.study.scores import AdjustmentScores, scores_under

if TYPE_CHECKING:
    from cocensor.study.evaluation import Evaluation

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
