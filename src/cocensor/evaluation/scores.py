"""Scores under one adjustment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from cocensor._notes import Note
from cocensor._validation import FitWarning, FloatArray, HorizonWarning, collected
from cocensor.adjustments import Adjustment, Fitted, Linearised, Status
from cocensor.curves import Predictions
from cocensor.evaluation.data import REFERENCE, EvaluationData, ResampledData, Resampling
from cocensor.evaluation.judge_fit import JudgeFit, judge_fit
from cocensor.inference import ConfidenceInterval, Estimate, Estimates, Influence, as_estimates, influence
from cocensor.inference.estimates import Method
from cocensor.metrics import Metric, MetricValue

#: How a note begins that says why scores have no analytic interval.
NO_INTERVAL = "There is no interval: "


@dataclass(frozen=True, eq=False, kw_only=True)
class Score(Estimate):
    """One score, or a skill: of a model, by a metric, under an adjustment, with its sampling error.

    ``value`` is NaN where there is none, and ``notes`` say why; ``missing`` says why there is no interval. ``at`` is
    the time of a score at one time, and ``range`` what its interval is cut to.

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

    def notes_of(self, kind: str) -> tuple[Note, ...]:
        """The notes of one kind."""
        return tuple(note for note in self.notes if note.kind == kind)


def scores_under(
    data: EvaluationData, name: str, label: str, adjustment: Adjustment | Fitted
) -> AdjustmentScores:
    """Fit an adjustment, if that is to be done, and score all models and the reference curve under it."""
    scoring = _Scoring(data, name)
    predictions = {**data.predictions, REFERENCE: data.reference}
    with collected(HorizonWarning, FitWarning) as warned:
        if isinstance(adjustment, Fitted):
            scoring.answer(predictions, adjustment)
        else:
            for models in data.samples.groups(adjustment, predictions):
                scoring.fit(models, partial(data.samples.fit, adjustment))
    value = adjustment.adjustment if isinstance(adjustment, Fitted) else adjustment
    scored = {name for found in scoring.values.values() for name in found}
    fit = judge_fit(data, {name: each for name, each in scoring.fits.items() if name in scored})
    misfit = [] if fit is None or not fit.failed else [fit.statement]
    cautions = [Note("caution", text, adjustment=name) for text in [*warned, *misfit]]
    notes = tuple(dict.fromkeys([*merged(scoring.notes, tuple(data.predictions)), *cautions]))
    return AdjustmentScores(
        name=name,
        label=label,
        adjustment=value,
        fits=scoring.fits,
        values=scoring.values,
        reference=scoring.reference,
        errors={metric: errors for metric, (errors, _) in scoring.errors().items()},
        notes=notes,
        given_fitted=isinstance(adjustment, Fitted),
        judge_fit=fit,
        hazard_ratio=scoring.hazard_ratio,
    )


def scores_by(data: EvaluationData, before: AdjustmentScores, metric: Metric) -> AdjustmentScores:
    """The scores of all models, and of the reference, by another metric, under fits that there are."""
    scoring = _Scoring(replace(data, metrics=(metric,)), before.name)
    for fitted, names in before.served:
        served = {name: data.read_at(data.grid)[name] for name in names}
        with collected(HorizonWarning, FitWarning):  # the evaluation has noted them
            scoring.answer(served, fitted)
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
    scoring = _Scoring(data, before.name)
    for fitted, names in before.served:
        scoring.answer({name: data.predictions[name] for name in names}, fitted)
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
    scoring = _Scoring(data, before.name)
    predictions = {**data.predictions, REFERENCE: data.reference}
    for fitted, names in before.served:
        served = {name: predictions[name] for name in names}
        scoring.fit(served, partial(fitted.resampled, data.resample))
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


@dataclass(eq=False)
class _Scoring:
    """Scores as they come in, with the reasons for those that do not."""

    data: EvaluationData
    adjustment: str
    fits: dict[str, Fitted] = field(default_factory=dict)
    reference: dict[str, MetricValue] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    _last: tuple[Fitted, Status] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.values: dict[str, dict[str, MetricValue]] = {metric.name: {} for metric in self.data.metrics}
        self._influences: dict[str, dict[str, Influence]] = {metric.name: {} for metric in self.data.metrics}
        self._unknown: dict[str, dict[str, str]] = {metric.name: {} for metric in self.data.metrics}
        self._hazard_ratios: dict[int, tuple[float, float | None]] = {}

    def errors(self) -> dict[str, tuple[Estimates, FloatArray]]:
        """The values by metric with their sampling errors and rows of these, where these were asked for."""
        if self.data.confidence_level is None:
            return {}
        found = {}
        for metric, values in self.values.items():
            known = {name: each.value for name, each in values.items()}
            if metric in self.reference:
                known[REFERENCE] = self.reference[metric].value
            found[metric] = as_estimates(known, self._influences[metric], self._unknown[metric])
        return found

    @property
    def hazard_ratio(self) -> float | None:
        """The geometric mean over the fits; None where one of them does not tell it."""
        ratios = [ratio for _, ratio in self._hazard_ratios.values() if ratio is not None]
        if not ratios or len(ratios) < len(self._hazard_ratios):
            return None
        return float(np.exp(np.mean(np.log(ratios))))

    def fit(
        self, models: Mapping[str, Predictions], fit: Callable[[Mapping[str, Predictions]], Fitted]
    ) -> None:
        """Score some models by a fit of their own."""
        try:
            # The reference has no say in what all models are judged by.
            fitted = fit({name: each for name, each in models.items() if name != REFERENCE} or models)
        except ValueError as error:
            self._missing(models, str(error))
            return
        self.answer(models, fitted)

    def answer(self, models: Mapping[str, Predictions], fitted: Fitted) -> None:
        """Score some models by a fit."""
        self.fits |= dict.fromkeys(models, fitted)
        for metric in self.data.in_order:
            scored = {REFERENCE, *self.data.scored_by(metric)}
            able = {name: each for name, each in models.items() if name in scored}
            if able:
                self._evaluate(metric, fitted, able)

    def _status(self, fitted: Fitted, metric: Metric) -> Status:
        """Who is event-free at the times of a metric; metrics at the same times share it."""
        grid = self.data.grid_of(metric)
        if self._last is None or self._last[0] is not fitted or self._last[1].grid is not grid:
            status = self.data.samples.status(fitted, grid)
            self._last = fitted, status
            last, _ = self._hazard_ratios.get(id(fitted), (-np.inf, None))
            if grid.last > last:  # about as many dropouts as there are
                self._hazard_ratios[id(fitted)] = grid.last, status.hazard_ratio
        return self._last[1]

    def _evaluate(self, metric: Metric, fitted: Fitted, models: Mapping[str, Predictions]) -> None:
        try:
            status = self._status(fitted, metric)
        except ValueError as error:
            self._missing(models, str(error))
            return
        if status.until <= status.grid.last:
            self._missing(models, f"there is no score from {self.data.time_axis.named(status.until)} on.")
            return
        if set(models) != {REFERENCE}:
            self.notes += [replace(note, adjustment=self.adjustment) for note in status.notes]
        at_the_times = self.data.read_at(status.grid)
        read = {name: at_the_times[name] for name in models}
        with_errors = self.data.confidence_level is not None
        try:
            if with_errors:
                found, linearised = metric.evaluate_linearised(status, read)
            else:
                found, linearised = metric.evaluate(status, read), None
        except ValueError as error:
            self._missing(models, f"no {metric.label}: {error}")
            return
        undefined = [name for name, value in found.items() if not np.isfinite(value.value)]
        if undefined:
            why = f"the {metric.label} is not defined: {metric.undefined}."
            self._missing({name: models[name] for name in undefined}, why)
            found = {name: value for name, value in found.items() if name not in undefined}
            linearised = None
        if with_errors and found:
            self._err(metric, status, {name: read[name] for name in found}, linearised)
        if REFERENCE in found:
            self.reference[metric.name] = found.pop(REFERENCE)
        self.values[metric.name] |= found

    def _err(
        self,
        metric: Metric,
        status: Status,
        read: Mapping[str, Predictions],
        linearised: Linearised | None,
    ) -> None:
        """How far the values of some models may be off, or why that is not known."""
        try:
            if status.n < 2:
                raise ValueError("a single subject gives no standard error.")
            known = linearised or metric.functionals(status, read)
            found = influence(status, known, self.data.samples.y_test)
        except ValueError as error:
            self._unknown[metric.name] |= dict.fromkeys(read, str(error))
            text = f"{NO_INTERVAL}{error}"
            about = [name for name in read if name != REFERENCE]
            self.notes += [Note("caution", text, adjustment=self.adjustment, model=name) for name in about]
            return
        self.notes += [Note("decision", text, adjustment=self.adjustment) for text in status.doubts]
        singles = [found[m] for m in range(len(read))]
        self._influences[metric.name] |= dict(zip(read, singles, strict=True))

    def _missing(self, models: Mapping[str, Predictions], text: str) -> None:
        """Note why models have no score, once for all if all have none for one reason."""
        named = [name for name in models if name != REFERENCE]
        whole = set(named) == set(self.data.predictions)
        self.notes += [
            Note("missing", text, adjustment=self.adjustment, model=None if whole else name)
            for name in (named[:1] if whole else named)
        ]
