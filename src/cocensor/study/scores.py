"""Scores under one adjustment: fits, values, and their sampling errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event
from typing import Any, Self

import numpy as np

from cocensor._checks import FloatArray, Progress, escaped
from cocensor._notes import Note, noted
from cocensor._parallel import ProgressCount, in_threads
from cocensor._views import view
from cocensor.adjustments import Adjustment, EventWeights, Fitted
from cocensor.adjustments.gradient import Linearised
from cocensor.adjustments.samples import Resample
from cocensor.data.predictions import Predicted
from cocensor.data.times import TimeGrid
from cocensor.inference import Influence
from cocensor.inference.estimates import ConfidenceInterval, Estimate, Estimates, Method
from cocensor.inference.influence import Subsample, as_estimates, influence
from cocensor.metrics import Metric, MetricValue
from cocensor.study.data import REFERENCE, EvaluationData, Resampling
from cocensor.study.imputation_fit import ImputationFit, imputation_fit
from cocensor.warnings import FitWarning, HorizonWarning, collected

#: A fit, and the models that it serves.
Served = tuple[Fitted, tuple[str, ...]]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Score(Estimate):
    """One score, or a skill: of a model, by a metric, under an adjustment, with its sampling error.

    ``value`` is NaN where there is none, and ``notes`` say why; ``missing`` says why there is no interval. ``at`` is
    the time of a score at one time, and ``range`` what its interval is cut to. ``skill`` is the share of the way from
    the score of the reference curve to the best there is, NaN where it is not defined: the reference curve is taken as
    it is, like a model, and its error as an estimate is not in the interval.

    Examples
    --------
    >>> score = Score(model="cox", metric="ibs", adjustment="ipcw", value=0.17, standard_error=0.01)
    >>> score
    cox: ibs = 0.170 (95% CI 0.150 to 0.190), by ipcw
    >>> score.value, float(score)
    (0.17, 0.17)
    >>> score.confidence_interval(0.9)
    ConfidenceInterval(low=0.153..., high=0.186...)
    """

    model: str
    metric: str
    adjustment: str
    at: float | None = None
    range: tuple[float, float] = (-np.inf, np.inf)
    notes: tuple[Note, ...] = ()
    skill: Score | None = field(default=None, repr=False)

    def confidence_interval(
        self, confidence_level: float = 0.95, method: Method | None = None
    ) -> ConfidenceInterval:
        """Where the true value lies; see :meth:`Estimate.confidence_interval`."""
        interval = super().confidence_interval(confidence_level, method)
        within = self.range[0] <= self.value <= self.range[1]  # else weights stand for too many subjects
        return ConfidenceInterval(*np.clip(interval, *self.range).tolist()) if within else interval

    def __float__(self) -> float:
        return self.value

    def __round__(self, digits: int | None = None) -> float:
        return round(self.value, digits or 0)

    def __repr__(self) -> str:
        return escaped(str(view("text.digits.score_in_words")(self)))


@dataclass(frozen=True, eq=False)
class AdjustmentScores:
    """All scores under one adjustment, and what they rest on."""

    name: str
    label: str
    adjustment: Adjustment
    #: Each fit, and the models that it serves, the reference curve (named "") among them: one for all unless the
    #: adjustment is given each model's own prediction.
    served: tuple[Served, ...] = field(repr=False)
    #: By metric and model. A model that the adjustment cannot score is missing, and ``notes`` say why.
    values: dict[str, dict[str, MetricValue]] = field(default_factory=dict)
    #: The values of the reference curve by metric.
    reference: dict[str, MetricValue] = field(default_factory=dict)
    #: By metric, the values of the models and of the reference with their errors; empty where none were asked for.
    errors: dict[str, Estimates] = field(default_factory=dict, repr=False)
    #: Over the grid of a sensitivity analysis, by metric the rows of the errors by batches of subjects.
    batches: dict[str, FloatArray] = field(default_factory=dict, repr=False)
    notes: tuple[Note, ...] = ()
    given_fitted: bool = False
    #: The bootstrap that the errors are from; None where they are analytic.
    resampling: Resampling | None = None
    #: The fit of the joint models of the test outcomes, where the adjustment has such.
    imputation_fit: ImputationFit | None = field(default=None, repr=False)
    #: The mean hazard ratio of dropouts right after leaving, over several fits geometric; None where it is not known.
    hazard_ratio: float | None = None

    @property
    def fits(self) -> dict[str, Fitted]:
        """The fit that serves each model."""
        return {name: fitted for fitted, names in self.served for name in names}

    @property
    def fitted(self) -> Fitted | None:
        """The one fit that serves all models; None where there is none, or each has its own.

        As an adjustment of another evaluation of the same test subjects, it scores models added later alike:
        ``adjustments={"imputation": result.results["imputation"].fitted}``.
        """
        return self.served[0][0] if len(self.served) == 1 else None

    @property
    def answered(self) -> bool:
        """Whether any model has a score."""
        return any(self.values.values())

    def value(self, metric: str, model: str) -> float:
        """The score of a model; NaN where there is none."""
        value = self.values[metric].get(model)
        return np.nan if value is None else value.value

    def with_reference(self, metric: str) -> dict[str, MetricValue]:
        """The values of all models, and of the reference, that have one."""
        reference = {REFERENCE: self.reference[metric]} if metric in self.reference else {}
        return self.values[metric] | reference

    def notes_of(self, kind: str) -> tuple[Note, ...]:
        """The notes of one kind."""
        return tuple(note for note in self.notes if note.kind == kind)


def missing_notes(scores: AdjustmentScores, notes: Sequence[Note], model: str) -> tuple[Note, ...]:
    """Return why a model has no score, of the notes of an adjustment and those of the evaluation."""
    reasons = (note for note in (*scores.notes, *notes) if note.kind == "missing")
    return tuple(note for note in reasons if note.about.model in (None, model))


def about_intervals(results: Mapping[str, AdjustmentScores]) -> Note:
    """Return what intervals are for, and that they take the copula as given where one of them rests on it."""
    resting = [scores.errors.values() for scores in results.values() if scores.adjustment.rests_on_copula]
    errors = [estimates.standard_errors for by_metric in resting for estimates in by_metric]
    return noted("intervals_are_about", copula=any(np.isfinite(own).any() for own in errors))


def fits_under(
    data: EvaluationData, name: str, label: str, adjustment: Adjustment | Fitted, start: Fitted | None = None
) -> tuple[AdjustmentScores, Fitted | None]:
    """Fit an adjustment to serve all models and the reference curve; return it without scores, and the next start.

    An earlier fit to the same samples and predictions, ``start``, is moved where the two adjustments differ by their
    copula alone. The next may start at a fit that serves all models, rests on a copula and raised no warning.
    """
    predictions = data.with_reference(data.grid)
    if isinstance(adjustment, Fitted):
        served = ((adjustment, tuple(predictions)),)
        return AdjustmentScores(name, label, adjustment.adjustment, served, given_fitted=True), start
    fitted_to, scoring = list[Served](), Scoring(data, name)
    with collected(HorizonWarning, FitWarning) as warned:
        for models in data.samples.groups(adjustment, predictions):
            # The reference has no say in what all models are scored by.
            given = {model: curves for model, curves in models.items() if model != REFERENCE} or models
            try:
                if start is not None and _differs_by_copula(start.adjustment, adjustment):
                    fitted = start.with_copula(getattr(adjustment, "copula", None))
                else:
                    fitted = data.samples.fit(adjustment, given)
                fitted_to.append((fitted, tuple(models)))
            except ValueError as error:
                scoring.add_missing(models, noted("no_score", why=str(error)))
    notes = (*scoring.notes, *(noted("warned", adjustment=name, why=text) for text in warned))
    if adjustment.rests_on_copula and not warned and len(fitted_to) == 1:
        start = fitted_to[0][0]
    return AdjustmentScores(name, label, adjustment, tuple(fitted_to), notes=notes), start


def _differs_by_copula(one: Adjustment, other: Adjustment) -> bool:
    """Whether two adjustments that rest on copulas are the same but for these."""
    comparable = type(one) is type(other) and one.rests_on_copula and other.rests_on_copula
    return comparable and one.with_copula(getattr(other, "copula", None)) == other


def scores_of(scoring: Scoring, fits: AdjustmentScores) -> AdjustmentScores:
    """The scores of all models and of the reference curve by fits, and how well their imputation model fits."""
    data = scoring.data
    with collected(HorizonWarning, FitWarning) as warned:
        scoring.answered_by(fits.served)
    scored = {model for values in scoring.values.values() for model in values}
    # What the subjects of an imputation model that was fitted elsewhere were given is not known here.
    own = () if data.streamed is not None and fits.given_fitted else fits.served
    fit = imputation_fit(data.learning, own, scored)
    others = [note for note in fits.notes if note.kind != "caution"]
    cautions = [*fits.notes_of("caution"), *(noted("warned", adjustment=fits.name, why=t) for t in warned)]
    if fit is not None and fit.failed:
        cautions.append(noted("imputation_misfit", adjustment=fits.name, worst=fit.misfits))
    scoring.notes = [*merged([*others, *scoring.notes], tuple(data.predictions)), *cautions]
    return scoring.onto(fits, imputation_fit=fit)


def score_with_metric(data: EvaluationData, before: AdjustmentScores, metric: Metric) -> AdjustmentScores:
    """Return the scores of all models, and of the reference, by another metric, under the same fits."""
    with collected(HorizonWarning, FitWarning):  # the evaluation has noted them
        return Scoring(replace(data, metrics=(metric,)), before.name).answered_by(before.served).onto(before)


def refit(before: AdjustmentScores, move: Callable[[Fitted], Fitted]) -> AdjustmentScores:
    """Return the same models served by other fits, such as those under another copula, to be scored again."""
    fits = tuple((move(fitted), names) for fitted, names in before.served if set(names) != {REFERENCE})
    if not fits:
        raise ValueError(before.notes_of("missing")[0].text)  # why nothing could be fitted
    return replace(before, adjustment=fits[0][0].adjustment, served=fits)


def score_refit(data: EvaluationData, before: AdjustmentScores) -> AdjustmentScores:
    """The scores of the models by the fits that serve them now, which are not kept.

    The reference is scored by the first metric by which it can be beaten alone.
    """
    # There may be many copulas, and a fit can be as large as the sample.
    bare = replace(before, served=(), resampling=None, imputation_fit=None)
    beaten_by = next((metric.name for metric in data.metrics if metric.has_skill), "")
    return Scoring(data, before.name, (beaten_by,)).answered_by(before.served).onto(bare, batched=True)


def _refitted_to(data: EvaluationData, resample: Resample, before: AdjustmentScores) -> AdjustmentScores:
    """Return the scores of a resample, with everything fitted to it; without errors."""
    scoring = Scoring(data, before.name)
    predictions = data.with_reference(data.grid)
    for fitted, names in before.served:
        # The reference has no say in what all models are scored by.
        given = {name: predictions[name] for name in names if name != REFERENCE or len(names) == 1}
        try:
            scoring.answer(names, fitted.resampled(resample, given))
        except ValueError as error:
            scoring.add_missing(names, noted("no_score", why=str(error)))
    return scoring.onto(before, served=(), imputation_fit=None)


def merged(notes: list[Note], models: tuple[str, ...]) -> list[Note]:
    """Return the notes, where what holds of every model for the same reason is said once."""
    general = {note: replace(note, about=note.about._replace(model=None)) for note in notes}
    about: dict[Note, set[str | None]] = {}
    for note in notes:
        about.setdefault(general[note], set()).add(note.about.model)
    said = (general[note] if about[general[note]] >= set(models) else note for note in notes)
    return list(dict.fromkeys(said))


class Scoring:
    """Scores under one adjustment as they come in, with the reasons for those that do not."""

    def __init__(
        self, data: EvaluationData, adjustment: str, reference_by: Sequence[str] | None = None
    ) -> None:
        self.data, self.adjustment = data, adjustment
        #: The metrics that the reference is scored by; all of them by default.
        self._reference_by = (
            [metric.name for metric in data.metrics] if reference_by is None else reference_by
        )
        self.values: dict[str, dict[str, MetricValue]] = {metric.name: {} for metric in data.metrics}
        self.reference: dict[str, MetricValue] = {}
        self.notes: list[Note] = []
        self._influences: dict[str, dict[str, Influence]] = {metric.name: {} for metric in data.metrics}
        self._unknown: dict[str, dict[str, str]] = {metric.name: {} for metric in data.metrics}
        #: By fit, the hazard ratio of dropouts at the latest time that is scored; NaN where it is not known.
        self._hazard_ratios: list[float] = []

    def onto(self, before: AdjustmentScores, *, batched: bool = False, **changes: Any) -> AdjustmentScores:
        """Return the scores, with what they rest on; rows of their errors by batches of subjects if wanted."""
        with np.errstate(divide="ignore"):  # 0 where a ratio is below double precision
            ratio = np.exp(np.mean(np.log(self._hazard_ratios))) if self._hazard_ratios else np.nan
        changes |= {"values": self.values, "reference": self.reference, "errors": {}, "batches": {}}
        changes |= {"hazard_ratio": None if np.isnan(ratio) else float(ratio)}
        scores = replace(before, notes=tuple(dict.fromkeys(self.notes)), **changes)
        if self.data.confidence_level is not None:
            for metric, values in _numbers(scores).items():
                errors, batches = as_estimates(values, self._influences[metric], self._unknown[metric])
                scores.errors[metric] = errors
                if batched:
                    scores.batches[metric] = batches
        return scores

    def answered_by(self, served: Iterable[Served]) -> Self:
        """All models scored by the fits that serve them."""
        for fitted, models in served:
            self.answer(models, fitted)
        return self

    def answer(self, models: Sequence[str], fitted: Fitted) -> None:
        """Score some models by a fit; metrics at the same times share a status."""
        status: EventWeights | None = None
        latest, ratio = -np.inf, np.nan
        for metric in self.data.in_order:
            scored = {*self.data.scored_by(metric), *[REFERENCE] * (metric.name in self._reference_by)}
            able = [name for name in models if name in scored]
            if not able:
                continue
            grid = metric.grid(self.data.grid)
            if status is None or status.grid != grid:
                try:
                    status = self.make_status(fitted, grid)
                except ValueError as error:
                    status = None
                    self.add_missing(able, noted("no_score", why=str(error)))
                    continue
                if grid.last > latest:  # about as many dropouts as there are
                    latest = grid.last
                    ratio = np.nan if status.hazard_ratio is None else status.hazard_ratio
            self._evaluate(metric, fitted, able, status)
        if latest > -np.inf:
            self._hazard_ratios.append(ratio)

    def evaluate(
        self, fitted: Fitted, metric: Metric, status: EventWeights, read: Mapping[str, Predicted]
    ) -> tuple[dict[str, MetricValue], Linearised | None]:
        """The values of some models, and what they are as functions of the weights where that comes on the way."""
        if self.data.confidence_level is not None:
            return metric.evaluate_linearised(status, read)
        return metric.evaluate(status, read), None

    def subsample_for(self, metric: Metric, models: Sequence[str]) -> Subsample | None:
        """The subjects at hand as a subsample of those whose values these are; None where they are the same."""
        return None

    def make_status(self, fitted: Fitted, grid: TimeGrid) -> EventWeights:
        """Return the weights at some times."""
        return self.data.status(fitted, grid)

    def _evaluate(self, metric: Metric, fitted: Fitted, models: Sequence[str], status: EventWeights) -> None:
        if status.valid_until <= status.grid.last:
            when = self.data.time_axis.named(status.valid_until)
            self.add_missing(models, noted("no_score_from", time=status.valid_until, when=when))
            return
        if set(models) != {REFERENCE}:
            self.notes += [note.on(adjustment=self.adjustment) for note in status.notes]
        at_the_times = self.data.read_at(status.grid)
        read = {name: at_the_times[name] for name in models}
        try:
            values, linearised = self.evaluate(fitted, metric, status, read)
        except ValueError as error:
            self.add_missing(models, noted("metric_failed", metric=metric.label, why=str(error)))
            return
        undefined = [name for name, value in values.items() if not np.isfinite(value.value)]
        if undefined:
            self.add_missing(undefined, noted("metric_undefined", metric=metric.label, why=metric.undefined))
            values = {name: value for name, value in values.items() if name not in undefined}
            linearised = None
        if self.data.confidence_level is not None and values:
            self._add_errors(metric, status, {name: read[name] for name in values}, linearised)
        if REFERENCE in values:
            self.reference[metric.name] = values.pop(REFERENCE)
        self.values[metric.name] |= values

    def _add_errors(
        self, metric: Metric, status: EventWeights, read: Mapping[str, Predicted], how: Linearised | None
    ) -> None:
        """Add the errors of the values of some models, or why they are not known."""
        try:
            if status.n < 2:
                raise ValueError("a single subject gives no standard error.")
            how = how or metric.functionals(status, read)
            subsample = self.subsample_for(metric, list(read))
            influences = influence(status, how, self.data.samples.y_test, subsample)
        except ValueError as error:
            self._unknown[metric.name] |= dict.fromkeys(read, str(error))
            why = noted("no_interval", adjustment=self.adjustment, why=str(error))
            self.notes += [why.on(model=name) for name in read if name != REFERENCE]
            return
        self.notes += [note.on(adjustment=self.adjustment) for note in status.interval_caveats]
        self._influences[metric.name] |= {name: influences[m] for m, name in enumerate(read)}

    def add_missing(self, models: Iterable[str], why: Note) -> None:
        """Note why models have no score, once for all if all have none for one reason."""
        named, note = [name for name in models if name != REFERENCE], why.on(adjustment=self.adjustment)
        of_all = set(named) == set(self.data.predictions)
        self.notes += [note] if of_all else [note.on(model=name) for name in named]


# The shares of resamples without a score that lead to a caution, and that leave no interval.
_MANY_FAILED, _TOO_MANY_FAILED = 0.05, 0.5
_GIVEN_FITTED = "the adjustment was given fitted, and cannot be fitted again."
#: In one resample: by metric and model the score, and why there is none.
_Replicate = tuple[dict[str, dict[str, float]], tuple[Note, ...]]


def bootstrapped(
    data: EvaluationData,
    results: Mapping[str, AdjustmentScores],
    how: Resampling,
    progress: Progress | None = None,
    n_jobs: int | None = None,
) -> dict[str, AdjustmentScores]:
    """Return the scores with the errors of a bootstrap, for every adjustment from the same resamples.

    Each resample has a generator of its own: what is drawn does not depend on the number of threads.
    """
    refitted = []
    for name, scores in results.items():
        # Some came fitted, and not to the test subjects.
        elsewhere = scores.given_fitted and any(fit.design is None for fit, _ in scores.served)
        if scores.answered and not elsewhere:
            refitted.append(name)
    data.at_the_times  # noqa: B018 - computed once, before threads ask for it
    resamples = ProgressCount(how.n_resamples, progress)

    def score(seed: np.random.SeedSequence, stopped: Event) -> dict[str, _Replicate]:
        replicate: dict[str, _Replicate] = {}
        resample = Resample.draw(data.samples, np.random.default_rng(seed))
        drawn = data.resampled(resample)
        for name in refitted:
            if stopped.is_set():
                return replicate
            scores = _refitted_to(drawn, resample, results[name])
            replicate[name] = _numbers(scores), scores.notes_of("missing")
        resamples.count()
        return replicate

    seeds = np.random.SeedSequence(how.seed).spawn(how.n_resamples)
    # The evaluation itself has noted what there is to warn of.
    with collected(HorizonWarning, FitWarning):
        replicates = in_threads([partial(score, seed) for seed in seeds], n_jobs)
    models = tuple(data.predictions)
    return {
        name: _with_errors(scores, how, [by_name[name] for by_name in replicates if name in by_name], models)
        for name, scores in results.items()
    }


def _numbers(scores: AdjustmentScores) -> dict[str, dict[str, float]]:
    """By metric, the scores of the models and of the reference."""
    return {
        metric: {name: value.value for name, value in scores.with_reference(metric).items()}
        for metric in scores.values
    }


def _with_errors(
    scores: AdjustmentScores, how: Resampling, replicates: list[_Replicate], models: tuple[str, ...]
) -> AdjustmentScores:
    """Return the scores of all subjects with the standard errors of the resamples; without any, with none."""
    n, reasons = how.n_resamples, Counter(note for _, notes in replicates for note in notes)
    why = str(reasons.most_common(1)[0][0]) if reasons else None
    because = "." if why is None else f": {why}"
    errors, cautions = {}, list[Note]()
    for metric, own in _numbers(scores).items():
        values, none = np.array(list(own.values())), np.empty((0, len(own)))
        if not replicates:
            missing = dict.fromkeys(own, _GIVEN_FITTED)
            errors[metric] = Estimates(tuple(own), values, none, missing=missing)
            continue
        table = np.array([[numbers[metric].get(name, np.nan) for name in own] for numbers, _ in replicates])
        failed = dict(zip(own, np.isnan(table).sum(axis=0), strict=True))
        missing = {
            name: f"only {n - count} of {n} resamples have a score{because}"
            for name, count in failed.items()
            if count > _TOO_MANY_FAILED * n
        }
        errors[metric] = Estimates(tuple(own), values, none, table, missing)
        cautions += [
            noted("resamples_failed", adjustment=scores.name, model=name, share=count / n, why=why)
            for name, count in failed.items()
            if count > _MANY_FAILED * n and name != REFERENCE
        ]
    if not replicates:
        return replace(scores, errors=errors, batches={}, resampling=how)
    resampled = noted("resampled", adjustment=scores.name, n=n, seed=how.seed)
    notes = (resampled, *merged(cautions, models))
    of_resamples = () if scores.resampling is None else scores.resampling.notes
    kept = [note for note in scores.notes if note not in of_resamples and note.code != "no_interval"]
    resampling = replace(how, notes=notes)
    return replace(scores, errors=errors, batches={}, resampling=resampling, notes=(*kept, *notes))
