"""Scores under one adjustment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from cocensor._notes import Note
from cocensor._validation import FitWarning, FloatArray, HorizonWarning, collected
from cocensor.adjustments import Adjustment, Fitted
from cocensor.evaluation.data import REFERENCE, EvaluationData, ResampledData, Resampling
from cocensor.evaluation.judge_fit import JudgeFit, judge_fit
from cocensor.evaluation.scoring import Scoring, missing
from cocensor.inference import ConfidenceInterval, Estimate, Estimates
from cocensor.inference.estimates import Method
from cocensor.metrics import Metric, MetricValue


@dataclass(frozen=True, eq=False, kw_only=True)
class Score(Estimate):
    """One score, or a skill: of a model, by a metric, under an adjustment, with its sampling error.

    ``value`` is NaN where there is none, and ``notes`` say why; ``missing`` says why there is no interval. ``at`` is
    the time of a score at one time, and ``range`` what its interval is cut to. ``bound`` is how far the value may be
    from that of all subjects held at once, where they were not: the interval allows for it.

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
    fits : dict of Fitted
        The fitted adjustment by model; one and the same for all unless it is given each model's own prediction.
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
    judge_fit : JudgeFit or None
        How well the joint models of the test outcomes fit, where the adjustment has such.
    hazard_ratio : float or None
        The mean hazard ratio of dropouts right after leaving (``Status.hazard_ratio``), where each model has a fit of
        its own the geometric mean of theirs; None where it is not known.
    """

    name: str
    label: str
    adjustment: Adjustment
    fits: dict[str, Fitted] = field(repr=False)
    values: dict[str, dict[str, MetricValue]]
    reference: dict[str, MetricValue]
    errors: dict[str, Estimates] = field(default_factory=dict, repr=False)
    batches: dict[str, FloatArray] = field(default_factory=dict, repr=False)
    notes: tuple[Note, ...] = ()
    given_fitted: bool = False
    resampling: Resampling | None = None
    judge_fit: JudgeFit | None = field(default=None, repr=False)
    hazard_ratio: float | None = None

    @property
    def answered(self) -> bool:
        """Whether any model has a score."""
        return any(self.values.values())

    @property
    def served(self) -> list[tuple[Fitted, list[str]]]:
        """Every fit, and the models that it serves."""
        by_fit: dict[int, tuple[Fitted, list[str]]] = {}
        for name, fitted in self.fits.items():
            by_fit.setdefault(id(fitted), (fitted, []))[1].append(name)
        return list(by_fit.values())

    @property
    def varies_with_copula(self) -> bool:
        """Whether another copula would change the scores."""
        return self.adjustment.rests_on_copula

    def value(self, metric: str, model: str) -> float:
        """The score of a model; NaN where there is none."""
        found = self.values[metric].get(model)
        return np.nan if found is None else found.value

    def bound(self, metric: str, model: str) -> float:
        """How far it may be from that of all subjects held at once; 0 where they were, or where there is no score."""
        found = self.values[metric].get(model)
        return 0.0 if found is None else found.bound

    def notes_of(self, kind: str) -> tuple[Note, ...]:
        """The notes of one kind."""
        return tuple(note for note in self.notes if note.kind == kind)


def about_intervals(results: Mapping[str, AdjustmentScores]) -> Note:
    """Return what intervals are for, and that they take the copula as given where one of them rests on it."""
    said = "Intervals are for these trained models up to this horizon."
    if any(
        each.varies_with_copula
        and any(np.isfinite(errors.standard_errors).any() for errors in each.errors.values())
        for each in results.values()
    ):
        said += " They assume that the copula is correct."
    return Note("decision", said)


def scores_under(
    data: EvaluationData, name: str, label: str, adjustment: Adjustment | Fitted
) -> AdjustmentScores:
    """Fit an adjustment, if that is to be done, and score all models and the reference curve under it."""
    fits = fits_under(data, name, label, adjustment)
    with collected(HorizonWarning, FitWarning) as warned:
        scoring = Scoring(data, name)
        for fitted, models in fits.served:
            scoring.answer(models, fitted)
    return with_scores(data, fits, scoring, warned)


def fits_under(
    data: EvaluationData, name: str, label: str, adjustment: Adjustment | Fitted
) -> AdjustmentScores:
    """An adjustment fitted, if that is to be done, to serve all models and the reference curve, without scores yet."""
    predictions = {**data.predictions, REFERENCE: data.reference}
    fits, notes = dict[str, Fitted](), list[Note]()
    with collected(HorizonWarning, FitWarning) as warned:
        if isinstance(adjustment, Fitted):
            fits = dict.fromkeys(predictions, adjustment)
        else:
            for models in data.samples.groups(adjustment, predictions):
                # The reference has no say in what all models are judged by.
                given = {each: of for each, of in models.items() if each != REFERENCE} or models
                try:
                    fits |= dict.fromkeys(models, data.samples.fit(adjustment, given))
                except ValueError as error:
                    notes += missing(data, name, models, str(error))
    notes += [Note("caution", text, adjustment=name) for text in warned]
    return AdjustmentScores(
        name=name,
        label=label,
        adjustment=adjustment.adjustment if isinstance(adjustment, Fitted) else adjustment,
        fits=fits,
        values={metric.name: {} for metric in data.metrics},
        reference={},
        notes=tuple(notes),
        given_fitted=isinstance(adjustment, Fitted),
    )


def with_scores(
    data: EvaluationData, fits: AdjustmentScores, scoring: Scoring, warned: list[str]
) -> AdjustmentScores:
    """Scores by fits, with the fit of the judge."""
    scored = {name for found in scoring.values.values() for name in found}
    # Of a judge that was fitted elsewhere, what its subjects were given is not known here.
    own = {} if data.streamed is not None and fits.given_fitted else fits.fits
    fit = judge_fit(data.learning, {name: each for name, each in own.items() if name in scored})
    misfit = [] if fit is None or not fit.failed else [fit.statement]
    told = [note for note in fits.notes if note.kind != "caution"]
    cautions = [note for note in fits.notes if note.kind == "caution"]
    cautions += [Note("caution", text, adjustment=fits.name) for text in [*warned, *misfit]]
    notes = [*merged([*told, *scoring.notes], tuple(data.predictions)), *cautions]
    return replace(
        fits,
        values=scoring.values,
        reference=scoring.reference,
        errors={metric: errors for metric, (errors, _) in scoring.errors().items()},
        notes=tuple(dict.fromkeys(notes)),
        judge_fit=fit,
        hazard_ratio=scoring.hazard_ratio,
    )


def scores_by(data: EvaluationData, before: AdjustmentScores, metric: Metric) -> AdjustmentScores:
    """The scores of all models, and of the reference, by another metric, under fits that there are."""
    scoring = Scoring(replace(data, metrics=(metric,)), before.name)
    for fitted, names in before.served:
        with collected(HorizonWarning, FitWarning):  # the evaluation has noted them
            scoring.answer(names, fitted)
    return replace(
        before,
        values=scoring.values,
        reference=scoring.reference,
        errors={name: errors for name, (errors, _) in scoring.errors().items()},
        notes=tuple(dict.fromkeys(scoring.notes)),
    )


def moved(before: AdjustmentScores, move: Callable[[Fitted], Fitted]) -> AdjustmentScores:
    """The same models served by other fits, such as those under another copula, to be scored again."""
    if before.fits.keys() <= {REFERENCE}:
        raise ValueError(before.notes_of("missing")[0].text)  # why nothing could be fitted
    fits: dict[str, Fitted] = {}
    for fitted, names in before.served:
        served = [name for name in names if name != REFERENCE]
        if served:
            fits |= dict.fromkeys(served, move(fitted))
    return replace(before, adjustment=next(iter(fits.values())).adjustment, fits=fits)


def scores_again(data: EvaluationData, before: AdjustmentScores) -> AdjustmentScores:
    """The scores of the models by the fits that serve them now, which are not kept; without the reference."""
    scoring = Scoring(data, before.name)
    for fitted, names in before.served:
        scoring.answer(names, fitted)
    errors = scoring.errors()
    return replace(
        before,
        fits={},  # there may be many copulas, and a fit can be as large as the sample
        values=scoring.values,
        reference={},
        errors={metric: each for metric, (each, _) in errors.items()},
        batches={metric: each for metric, (_, each) in errors.items()},
        resampling=None,
        notes=tuple(dict.fromkeys(scoring.notes)),
        judge_fit=None,
        hazard_ratio=scoring.hazard_ratio,
    )


def scores_at_copula(data: EvaluationData, before: AdjustmentScores, copula: object) -> AdjustmentScores:
    """The scores of the models under another copula; without the reference."""
    return scores_again(data, moved(before, lambda fitted: fitted.with_copula(copula)))


def scores_in_resample(data: ResampledData, before: AdjustmentScores) -> AdjustmentScores:
    """The scores of subjects drawn with replacement, with everything fitted to them; without errors."""
    scoring = Scoring(data, before.name)
    predictions = {**data.predictions, REFERENCE: data.reference}
    for fitted, names in before.served:
        # The reference has no say in what all models are judged by.
        given = {name: predictions[name] for name in names if name != REFERENCE or len(names) == 1}
        try:
            scoring.answer(names, fitted.resampled(data.resample, given))
        except ValueError as error:
            scoring.notes += missing(data, before.name, names, str(error))
    return replace(
        before,
        fits={},
        values=scoring.values,
        reference=scoring.reference,
        errors={},
        notes=tuple(dict.fromkeys(scoring.notes)),
        judge_fit=None,
    )


def merged(notes: list[Note], models: tuple[str, ...]) -> list[Note]:
    """The notes, where what holds of every model for the same reason is said once."""
    about: dict[Note, set[str | None]] = {}
    for note in notes:
        about.setdefault(replace(note, model=None), set()).add(note.model)
    return list(
        dict.fromkeys(
            replace(note, model=None) if about[replace(note, model=None)] >= set(models) else note
            for note in notes
        )
    )
