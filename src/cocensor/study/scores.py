"""Scores under one adjustment: fits, values, and their sampling errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event
from typing import Any, Self

import numpy as np

from cocensor._checks import FloatArray, Progress
from cocensor._notes import Note, noted
from cocensor._parallel import ProgressCount, in_threads
from cocensor.adjustments import Adjustment, EventWeights, Fitted
from cocensor.adjustments.gradient import Linearised
from cocensor.adjustments.samples import Resample
from cocensor.data.predictions import Predicted
from cocensor.data.times import TimeGrid
from cocensor.inference import Influence
from cocensor.inference.estimates import ConfidenceInterval, Estimate, Estimates, Method
from cocensor.inference.influence import Subsample, as_estimates, influence
from cocensor.metrics import Metric, MetricValue
from cocensor.study.data import REFERENCE, EvaluationData, ResampledData, Resampling
from cocensor.study.imputation_fit import ImputationFit, imputation_fit
from cocensor.warnings import FitWarning, HorizonWarning, collected

#: A fit, and the models that it serves.
Served = tuple[Fitted, tuple[str, ...]]


@dataclass(frozen=True, eq=False, kw_only=True)
class Score(Estimate):
    """One score, or a skill: of a model, by a metric, under an adjustment, with its sampling error.

    ``value`` is NaN where there is none, and ``notes`` say why; ``missing`` says why there is no interval. ``at`` is
    the time of a score at one time, and ``range`` what its interval is cut to. ``skill`` is the share of the way from
    the score of the reference curve to the best there is, NaN where it is not defined: the reference curve is taken as
    it is, like a model, and its error as an estimate is not in the interval.

    Examples
    --------
    >>> score = Score(model="cox", metric="ibs", adjustment="ipcw", value=0.17, standard_error=0.01)
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
        found = super().confidence_interval(confidence_level, method)
        if not self.range[0] <= self.value <= self.range[1]:  # weights that stand for too many subjects
            return found
        return ConfidenceInterval(*np.clip(found, *self.range).tolist())

    def __float__(self) -> float:
        return self.value


@dataclass(frozen=True, eq=False)
class AdjustmentScores:
    """All scores under one adjustment, and what they rest on.

    Attributes
    ----------
    name, label : str
        By which the adjustment is asked for, and what it is called in tables.
    adjustment : Adjustment
    served : tuple of pairs
        Each fit, and the models that it serves, the reference curve (named "") among them: one for all unless the
        adjustment is given each model's own prediction.
    values : dict of dict of MetricValue
        By metric and model. A model that the adjustment cannot score is missing, and ``notes`` say why.
    reference : dict of MetricValue
        The values of the reference curve by metric.
    errors : dict of Estimates
        By metric, the values of the models and of the reference (named "") with their sampling errors; empty where no
        intervals were asked for.
    batches : dict of array
        Over the grid of a sensitivity analysis, by metric the rows of the errors by batches of subjects.
    notes : tuple of Note
    given_fitted : bool
        Whether the adjustment was fitted elsewhere, and given so.
    resampling : Resampling or None
        Of the bootstrap that the errors are from; None where they are analytic.
    imputation_fit : ImputationFit or None
        How well the joint models of the test outcomes fit, where the adjustment has such.
    hazard_ratio : float or None
        The mean hazard ratio of dropouts right after leaving (``EventWeights.hazard_ratio``), where each model has a
        fit of its own the geometric mean of theirs; None where it is not known.
    """

    name: str
    label: str
    adjustment: Adjustment
    served: tuple[Served, ...] = field(repr=False)
    values: dict[str, dict[str, MetricValue]]
    reference: dict[str, MetricValue]
    errors: dict[str, Estimates] = field(default_factory=dict, repr=False)
    batches: dict[str, FloatArray] = field(default_factory=dict, repr=False)
    notes: tuple[Note, ...] = ()
    given_fitted: bool = False
    resampling: Resampling | None = None
    imputation_fit: ImputationFit | None = field(default=None, repr=False)
    hazard_ratio: float | None = None

    @property
    def fits(self) -> dict[str, Fitted]:
        """The fit that serves each model."""
        return {name: fitted for fitted, names in self.served for name in names}

    @property
    def fitted(self) -> Fitted | None:
        """The one fit that serves all models; None where there is none, or each has its own.

        Given as an adjustment of another evaluation of the same test subjects, it scores models that were added later
        by the same standard: ``adjustments={"imputation": result.results["imputation"].fitted}``.
        """
        return self.served[0][0] if len(self.served) == 1 else None

    @property
    def answered(self) -> bool:
        """Whether any model has a score."""
        return any(self.values.values())

    @property
    def varies_with_copula(self) -> bool:
        """Whether another copula would change the scores."""
        return self.adjustment.rests_on_copula

    def value(self, metric: str, model: str) -> float:
        """The score of a model; NaN where there is none."""
        found = self.values[metric].get(model)
        return np.nan if found is None else found.value

    def notes_of(self, kind: str) -> tuple[Note, ...]:
        """The notes of one kind."""
        return tuple(note for note in self.notes if note.kind == kind)


def missing_notes(scores: AdjustmentScores, notes: Sequence[Note], model: str) -> tuple[Note, ...]:
    """Why a model has no score, among the notes of an adjustment and those of the evaluation."""
    return tuple(
        note
        for note in (*scores.notes, *notes)
        if note.kind == "missing" and note.about.model in (None, model)
    )


def about_intervals(results: Mapping[str, AdjustmentScores]) -> Note:
    """Return what intervals are for, and that they take the copula as given where one of them rests on it."""
    with_copula = any(
        each.varies_with_copula
        and any(np.isfinite(errors.standard_errors).any() for errors in each.errors.values())
        for each in results.values()
    )
    return noted("intervals_are_about", copula=with_copula)


# --- fits -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Fitting:
    """An adjustment fitted to serve all models, without scores yet, and what a fit under another copula may start from.

    ``start`` is the fit that serves all models, where it rests on a copula and raised no warning.
    """

    scores: AdjustmentScores
    start: Fitted | None = None


def fits_under(
    data: EvaluationData,
    name: str,
    label: str,
    adjustment: Adjustment | Fitted,
    start: Fitted | None = None,
) -> Fitting:
    """An adjustment fitted, if that is to be done, to serve all models and the reference curve.

    From ``start``, an earlier fit to the same samples and predictions, it is moved where the two adjustments differ by
    their copula alone.
    """
    predictions = {**data.predictions, REFERENCE: data.reference}
    served, notes = list[Served](), list[Note]()
    with collected(HorizonWarning, FitWarning) as warned:
        if isinstance(adjustment, Fitted):
            served.append((adjustment, tuple(predictions)))
        else:
            for models in data.samples.groups(adjustment, predictions):
                # The reference has no say in what all models are scored by.
                given = {each: of for each, of in models.items() if each != REFERENCE} or models
                try:
                    if start is not None and _differs_by_copula(start.adjustment, adjustment):
                        fitted = start.with_copula(getattr(adjustment, "copula", None))
                    else:
                        fitted = data.samples.fit(adjustment, given)
                    served.append((fitted, tuple(models)))
                except ValueError as error:
                    notes += missing(data, name, models, noted("no_score", why=str(error)))
    notes += [noted("warned", adjustment=name, why=text) for text in warned]
    fits = AdjustmentScores(
        name=name,
        label=label,
        adjustment=adjustment.adjustment if isinstance(adjustment, Fitted) else adjustment,
        served=tuple(served),
        values={metric.name: {} for metric in data.metrics},
        reference={},
        notes=tuple(notes),
        given_fitted=isinstance(adjustment, Fitted),
    )
    can_start = fits.varies_with_copula and not (warned or fits.given_fitted) and len(served) == 1
    return Fitting(fits, served[0][0] if can_start else start)


def _differs_by_copula(one: Adjustment, other: Adjustment) -> bool:
    """Whether two adjustments that rest on copulas are the same but for these."""
    if type(one) is not type(other) or not (one.rests_on_copula and other.rests_on_copula):
        return False
    return one.with_copula(getattr(other, "copula", None)) == other


# --- scores -----------------------------------------------------------------------------------------------


def scores_under(
    data: EvaluationData, name: str, label: str, adjustment: Adjustment | Fitted
) -> AdjustmentScores:
    """Fit an adjustment, if that is to be done, and score all models and the reference curve under it."""
    return scores_of(data, fits_under(data, name, label, adjustment).scores)


def scores_of(data: EvaluationData, fits: AdjustmentScores) -> AdjustmentScores:
    """The scores of all models and of the reference curve by fits."""
    with collected(HorizonWarning, FitWarning) as warned:
        scoring = Scoring(data, fits.name).answered_by(fits.served)
    return with_scores(data, fits, scoring, warned)


def with_scores(
    data: EvaluationData, fits: AdjustmentScores, scoring: Scoring, warned: list[str]
) -> AdjustmentScores:
    """Scores by fits, with the fit of the imputation model."""
    scored = {name for found in scoring.values.values() for name in found}
    # Of an imputation model that was fitted elsewhere, what its subjects were given is not known here.
    own = () if data.streamed is not None and fits.given_fitted else fits.served
    fit = imputation_fit(data.learning, own, scored)
    misfit = []
    if fit is not None and fit.failed:
        misfit = [noted("imputation_misfit", adjustment=fits.name, worst=fit.misfits)]
    told = [note for note in fits.notes if note.kind != "caution"]
    cautions = [note for note in fits.notes if note.kind == "caution"]
    cautions += [*(noted("warned", adjustment=fits.name, why=text) for text in warned), *misfit]
    scoring.notes = [*merged([*told, *scoring.notes], tuple(data.predictions)), *cautions]
    return scoring.onto(fits, imputation_fit=fit, hazard_ratio=scoring.hazard_ratio)


def score_with_metric(data: EvaluationData, before: AdjustmentScores, metric: Metric) -> AdjustmentScores:
    """The scores of all models, and of the reference, by another metric, under fits that there are."""
    with collected(HorizonWarning, FitWarning):  # the evaluation has noted them
        return Scoring(replace(data, metrics=(metric,)), before.name).answered_by(before.served).onto(before)


def refit(before: AdjustmentScores, move: Callable[[Fitted], Fitted]) -> AdjustmentScores:
    """The same models served by other fits, such as those under another copula, to be scored again."""
    served = [(fitted, tuple(name for name in names if name != REFERENCE)) for fitted, names in before.served]
    if not any(names for _, names in served):
        raise ValueError(before.notes_of("missing")[0].text)  # why nothing could be fitted
    fits = tuple((move(fitted), names) for fitted, names in served if names)
    return replace(before, adjustment=fits[0][0].adjustment, served=fits)


def score_refit(data: EvaluationData, before: AdjustmentScores) -> AdjustmentScores:
    """The scores of the models by the fits that serve them now, which are not kept; without the reference."""
    scoring = Scoring(data, before.name).answered_by(before.served)
    # There may be many copulas, and a fit can be as large as the sample.
    bare = replace(before, served=(), resampling=None, imputation_fit=None, hazard_ratio=scoring.hazard_ratio)
    return scoring.onto(bare, with_batches=True)


def scores_in_resample(data: ResampledData, before: AdjustmentScores) -> AdjustmentScores:
    """The scores of subjects drawn with replacement, with everything fitted to them; without errors."""
    scoring = Scoring(data, before.name)
    predictions = {**data.predictions, REFERENCE: data.reference}
    for fitted, names in before.served:
        # The reference has no say in what all models are scored by.
        given = {name: predictions[name] for name in names if name != REFERENCE or len(names) == 1}
        try:
            scoring.answer(names, fitted.resampled(data.resample, given))
        except ValueError as error:
            scoring.notes += missing(data, before.name, names, noted("no_score", why=str(error)))
    return scoring.onto(before, served=(), imputation_fit=None)


def merged(notes: list[Note], models: tuple[str, ...]) -> list[Note]:
    """The notes, where what holds of every model for the same reason is said once."""
    about: dict[Note, set[str | None]] = {}
    for note in notes:
        about.setdefault(_about_all(note), set()).add(note.about.model)
    return list(
        dict.fromkeys(_about_all(note) if about[_about_all(note)] >= set(models) else note for note in notes)
    )


def _about_all(note: Note) -> Note:
    return replace(note, about=note.about._replace(model=None))


@dataclass(eq=False)
class Scoring:
    """Scores under one adjustment as they come in, with the reasons for those that do not."""

    data: EvaluationData
    adjustment: str
    reference: dict[str, MetricValue] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.values: dict[str, dict[str, MetricValue]] = {metric.name: {} for metric in self.data.metrics}
        self._influences: dict[str, dict[str, Influence]] = {metric.name: {} for metric in self.data.metrics}
        self._unknown: dict[str, dict[str, str]] = {metric.name: {} for metric in self.data.metrics}
        #: Of each fit, the hazard ratio of dropouts at the latest time that was asked for.
        self._hazard_ratios: list[float | None] = []

    def onto(
        self, before: AdjustmentScores, *, with_batches: bool = False, **changes: Any
    ) -> AdjustmentScores:
        """The scores, with what they rest on; rows of their errors by batches of subjects where asked for."""
        errors = self.errors()
        return replace(
            before,
            values=self.values,
            reference=self.reference,
            errors={metric: each for metric, (each, _) in errors.items()},
            batches={metric: each for metric, (_, each) in errors.items()} if with_batches else {},
            notes=tuple(dict.fromkeys(self.notes)),
            **changes,
        )

    def errors(self) -> dict[str, tuple[Estimates, FloatArray]]:
        """The values by metric with their sampling errors and rows of these, where these were asked for."""
        if self.data.confidence_level is None:
            return {}
        found = {}
        for metric, values in self.values.items():
            known = dict(values)
            if metric in self.reference:
                known[REFERENCE] = self.reference[metric]
            found[metric] = as_estimates(
                {name: each.value for name, each in known.items()},
                self._influences[metric],
                self._unknown[metric],
            )
        return found

    @property
    def hazard_ratio(self) -> float | None:
        """The geometric mean over the fits; None where one of them does not tell it."""
        ratios = [ratio for ratio in self._hazard_ratios if ratio is not None]
        if not ratios or len(ratios) < len(self._hazard_ratios):
            return None
        with np.errstate(divide="ignore"):  # 0 where a ratio is below double precision
            return float(np.exp(np.mean(np.log(ratios))))

    def answered_by(self, served: Iterable[Served]) -> Self:
        """All models scored by the fits that serve them."""
        for fitted, models in served:
            self.answer(models, fitted)
        return self

    def answer(self, models: Sequence[str], fitted: Fitted) -> None:
        """Score some models by a fit; metrics at the same times share a status."""
        status: EventWeights | None = None
        latest, ratio = -np.inf, None
        for metric in self.data.in_order:
            scored = {REFERENCE, *self.data.scored_by(metric)}
            able = [name for name in models if name in scored]
            if not able:
                continue
            grid = self.data.grid_of(metric)
            if status is None or status.grid != grid:
                try:
                    status = self.make_status(fitted, grid)
                except ValueError as error:
                    status = None
                    self._missing(able, noted("no_score", why=str(error)))
                    continue
                if grid.last > latest:  # about as many dropouts as there are
                    latest, ratio = grid.last, status.hazard_ratio
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
        """How the subjects at hand stand for those whose values these are; None where these are their own."""
        return None

    def make_status(self, fitted: Fitted, grid: TimeGrid) -> EventWeights:
        """Who is event-free at some times."""
        return self.data.status(fitted, grid)

    def _evaluate(self, metric: Metric, fitted: Fitted, models: Sequence[str], status: EventWeights) -> None:
        if status.valid_until <= status.grid.last:
            when = self.data.time_axis.named(status.valid_until)
            self._missing(models, noted("no_score_from", time=status.valid_until, when=when))
            return
        if set(models) != {REFERENCE}:
            self.notes += [note.on(adjustment=self.adjustment) for note in status.notes]
        at_the_times = self.data.read_at(status.grid)
        read = {name: at_the_times[name] for name in models}
        try:
            found, linearised = self.evaluate(fitted, metric, status, read)
        except ValueError as error:
            self._missing(models, noted("metric_failed", metric=metric.label, why=str(error)))
            return
        undefined = [name for name, value in found.items() if not np.isfinite(value.value)]
        if undefined:
            why = noted("metric_undefined", metric=metric.label, why=metric.undefined)
            self._missing(undefined, why)
            found = {name: value for name, value in found.items() if name not in undefined}
            linearised = None
        if self.data.confidence_level is not None and found:
            subsample = self.subsample_for(metric, list(found))
            self._err(metric, status, {name: read[name] for name in found}, linearised, subsample)
        if REFERENCE in found:
            self.reference[metric.name] = found.pop(REFERENCE)
        self.values[metric.name] |= found

    def _err(
        self,
        metric: Metric,
        status: EventWeights,
        read: Mapping[str, Predicted],
        linearised: Linearised | None,
        subsample: Subsample | None,
    ) -> None:
        """How far the values of some models may be off, or why that is not known."""
        try:
            if status.n < 2:
                raise ValueError("a single subject gives no standard error.")
            known = linearised or metric.functionals(status, read)
            found = influence(status, known, self.data.samples.y_test, subsample)
        except ValueError as error:
            self._unknown[metric.name] |= dict.fromkeys(read, str(error))
            why = noted("no_interval", adjustment=self.adjustment, why=str(error))
            self.notes += [why.on(model=name) for name in read if name != REFERENCE]
            return
        self.notes += [note.on(adjustment=self.adjustment) for note in status.interval_caveats]
        singles = [found[m] for m in range(len(read))]
        self._influences[metric.name] |= dict(zip(read, singles, strict=True))

    def _missing(self, models: Sequence[str], why: Note) -> None:
        self.notes += missing(self.data, self.adjustment, models, why)


def missing(data: EvaluationData, adjustment: str, models: Iterable[str], why: Note) -> list[Note]:
    """Why models have no score, once for all if all have none for one reason."""
    named, note = [name for name in models if name != REFERENCE], why.on(adjustment=adjustment)
    return [note] if set(named) == set(data.predictions) else [note.on(model=name) for name in named]


# Of the resamples, how many without a score lead to a caution, and how many leave no interval.
_MANY_FAILED, _TOO_MANY_FAILED = 0.05, 0.5
_GIVEN_FITTED = "the adjustment was given fitted, and cannot be fitted again."


def bootstrapped(
    data: EvaluationData,
    results: Mapping[str, AdjustmentScores],
    how: Resampling,
    progress: Progress | None = None,
    n_jobs: int | None = None,
) -> dict[str, AdjustmentScores]:
    """The same scores with the errors of a bootstrap, for every adjustment from the same resamples.

    Each resample has a generator of its own: what is drawn does not depend on the number of threads.
    """
    found = {
        name: _Replicates(each, how)
        for name, each in results.items()
        if each.answered and not _cannot_be_refitted(each)
    }
    data.at_the_times  # noqa: B018 - computed once, before threads ask for it
    resamples = ProgressCount(how.n_resamples, progress)

    def score(number: int, seed: np.random.SeedSequence, stopped: Event) -> None:
        if stopped.is_set():
            return
        drawn = ResampledData.of(data, Resample.draw(data.samples, np.random.default_rng(seed)))
        for name, replicates in found.items():
            if stopped.is_set():
                return
            replicates.keep(number, scores_in_resample(drawn, results[name]))
        resamples.count()

    seeds = np.random.SeedSequence(how.seed).spawn(how.n_resamples)
    # The evaluation itself has noted what there is to warn of.
    with collected(HorizonWarning, FitWarning):
        in_threads([partial(score, *each) for each in enumerate(seeds)], n_jobs)
    return {
        name: found[name].scores(tuple(data.predictions)) if name in found else _without(each, how)
        for name, each in results.items()
    }


def _cannot_be_refitted(scores: AdjustmentScores) -> bool:
    """Whether it came fitted, and not to the test subjects."""
    return scores.given_fitted and any(fitted.design is None for fitted, _ in scores.served)


def _without(scores: AdjustmentScores, how: Resampling) -> AdjustmentScores:
    """Scores that a bootstrap cannot give errors."""
    errors = {
        metric: Estimates(
            tuple(values), np.array(list(values.values())), np.empty((0, len(values))), missing=missing
        )
        for metric, values in _values(scores).items()
        for missing in [dict.fromkeys(values, _GIVEN_FITTED)]
    }
    return replace(scores, errors=errors, batches={}, resampling=how)


def _values(scores: AdjustmentScores) -> dict[str, dict[str, float]]:
    """By metric, those of the models and of the reference."""
    found = {}
    for metric, values in scores.values.items():
        found[metric] = {name: each.value for name, each in values.items()}
        if metric in scores.reference:
            found[metric][REFERENCE] = scores.reference[metric].value
    return found


class _Replicates:
    """The scores under one adjustment in all resamples, by metric (resamples, models and the reference)."""

    def __init__(self, scores: AdjustmentScores, how: Resampling) -> None:
        self.of_all, self.how, self.own = scores, how, _values(scores)
        self.values = {
            metric: np.full((how.n_resamples, len(own)), np.nan) for metric, own in self.own.items()
        }
        #: By resample, why there was none.
        self.reasons: dict[int, tuple[Note, ...]] = {}

    def keep(self, number: int, scores: AdjustmentScores) -> None:
        """Those of one resample."""
        for metric, values in _values(scores).items():
            self.values[metric][number] = [values.get(name, np.nan) for name in self.own[metric]]
        self.reasons[number] = tuple(dict.fromkeys(scores.notes_of("missing")))

    def scores(self, models: tuple[str, ...]) -> AdjustmentScores:
        """The scores of all subjects with the standard errors of the resamples."""
        before, n = self.of_all, self.how.n_resamples
        reasons = Counter(note for number in sorted(self.reasons) for note in self.reasons[number])
        why = str(reasons.most_common(1)[0][0]) if reasons else None
        errors, cautions = {}, list[Note]()
        for metric, own in self.own.items():
            failed = dict(zip(own, np.isnan(self.values[metric]).sum(axis=0), strict=True))
            missing = {
                name: f"only {n - count} of {n} resamples have a score{'.' if why is None else f': {why}'}"
                for name, count in failed.items()
                if count > _TOO_MANY_FAILED * n
            }
            known = np.array(list(own.values()))
            errors[metric] = Estimates(
                tuple(own), known, np.empty((0, known.size)), None, self.values[metric], missing
            )
            cautions += [
                noted("resamples_failed", adjustment=before.name, model=name, share=count / n, why=why)
                for name, count in failed.items()
                if count > _MANY_FAILED * n and name != REFERENCE
            ]
        notes = (
            noted("resampled", adjustment=before.name, n=n, seed=self.how.seed),
            *merged(cautions, models),
        )
        of_resamples = () if before.resampling is None else before.resampling.notes
        kept = [note for note in before.notes if note not in of_resamples and note.code != "no_interval"]
        return replace(
            before,
            errors=errors,
            batches={},
            resampling=replace(self.how, notes=notes),
            notes=(*kept, *notes),
        )
