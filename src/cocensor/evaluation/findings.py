"""What was found: scores with their errors, comparisons, ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cocensor._notes import Note
from cocensor._validation import check_choice, make_frame
from cocensor.adjustments import IPCW
from cocensor.evaluation.alarms import Alarm
from cocensor.evaluation.bootstrap import bootstrapped
from cocensor.evaluation.data import REFERENCE, AssumedCopula, EvaluationData, Horizon
from cocensor.evaluation.judge import preference
from cocensor.evaluation.scores import AdjustmentScores, Score, scores_by
from cocensor.inference import (
    Comparison,
    Estimates,
    as_estimates,
    compare,
    indistinguishable_from_best,
    may_be_best,
    pairwise,
)
from cocensor.metrics import Metric
from cocensor.metrics.single_time import time_in_name
from cocensor.outcomes import TimeAxis

# An error by rounding alone, as of the AUC of a constant.
_NO_ERROR = 1e-14
#: Of intervals that are asked for where the evaluation itself has none.
DEFAULT_LEVEL = 0.95
NOT_ASKED = "no interval was requested"


@dataclass(frozen=True, eq=False, repr=False)
class Findings:
    """Scores of models under several assumptions about the censoring, and what they say; see :class:`Evaluation`."""

    data: EvaluationData
    results: dict[str, AdjustmentScores]
    assumed: AssumedCopula
    horizon: Horizon
    notes: tuple[Note, ...]
    #: A frame of the library that tables are made with; None for pandas or pyarrow.
    template: Any = None
    truth: AdjustmentScores | None = None
    #: Nonsense among predictions and outcomes.
    alarms: tuple[Alarm, ...] = ()
    _analyses: dict[Any, Any] = field(default_factory=dict, init=False)

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models."""
        return self.data.models

    @property
    def contenders(self) -> tuple[str, ...]:
        """The models that may be called best: those that have predictions, and that no alarm disqualifies."""
        off = {alarm.model for alarm in self.alarms if alarm.disqualifies}
        return () if None in off else tuple(model for model in self.data.predictions if model not in off)

    @property
    def times(self) -> Any:
        """The times that every score is computed at."""
        return self.data.grid.times

    @property
    def time_axis(self) -> TimeAxis:
        """What time is called, and its unit."""
        return self.data.time_axis

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the metrics."""
        return tuple(metric.name for metric in self.data.metrics)

    @property
    def primary(self) -> str:
        """The adjustment that answers come from unless another is named.

        Imputation given as much as there is, else the first adjustment that rests on a copula; one that does not vote
        (:attr:`Adjustment.votes`) comes last.
        """
        return self._first_choice([each for each in self.results.values() if each.answered])

    @property
    def preferred(self) -> str:
        """The adjustment that would be primary if all of them had scores."""
        return self._first_choice(list(self.results.values()))

    def _first_choice(self, results: Sequence[AdjustmentScores]) -> str:
        """The name of the adjustment that answers should come from: that votes, and has scores by the first metric."""
        first = self.metrics[0]

        def place(each: AdjustmentScores) -> tuple[bool, ...]:
            return not each.adjustment.votes, each.answered and not each.values[first]

        return min(results, key=lambda each: (place(each), preference(each.adjustment))).name

    @property
    def voting(self) -> tuple[str, ...]:
        """The adjustments that ranks, statements and the headline count: those that vote, or all if none can."""
        able = [name for name, each in self.results.items() if each.adjustment.votes]
        return tuple(able if any(self.results[name].answered for name in able) else self.results)

    @property
    def at(self) -> tuple[float, ...]:
        """The single times that metrics are scored at."""
        return tuple(sorted({each.at for each in self.data.metrics if each.at is not None}))

    def metric(self, name: str | None = None, at: float | None = None) -> Metric:
        """A metric of the evaluation by name, by default its first; with ``at``, that whose value is at this time."""
        known = self.data.metrics
        named = [known[0]] if name is None else [each for each in known if each.name == name]
        named = named or [each for each in known if each.family == name]
        if not named:
            check_choice(name, "metric", self.metrics)
        if at is None:
            if len(named) > 1:
                times = ", ".join(time_in_name(each.at) for each in named if each.at is not None)
                raise ValueError(f"at is needed for the metric {name!r}, which is scored at {times}.")
            return named[0]
        single = named[0].at_time(at).in_unit(self.time_axis.unit)
        return next((each for each in known if each.name == single.name and each.at == single.at), single)

    def under(self, adjustment: str | None = None) -> AdjustmentScores:
        """All scores under an adjustment, by default the primary one."""
        if adjustment is None:
            return self.results[self.primary]
        check_choice(adjustment, "adjustment", tuple(self.results))
        return self.results[adjustment]

    def under_ipcw(self, metric: str | None = None) -> AdjustmentScores | None:
        """All scores under IPCW, the marginal one rather than one given covariates; None where it has no score."""
        by = self.metric(metric).name
        found = [
            each for each in self.results.values() if isinstance(each.adjustment, IPCW) and each.values[by]
        ]
        return min(found, key=lambda each: len(each.adjustment.needs), default=None)

    def score(
        self, model: str, metric: str | None = None, adjustment: str | None = None, *, at: float | None = None
    ) -> Score:
        """One score with its sampling error, by default by the first metric and under the primary adjustment.

        Its ``value`` is NaN where the adjustment gives none. ``at`` asks for the value at one time, any up to the
        horizon: of a metric at single times, or of one that is an average over time.
        """
        by, found = self._scored(model, metric, adjustment, at)
        missing = (*found.notes_of("missing"), *(note for note in self.notes if note.kind == "missing"))
        notes = tuple(note for note in missing if note.model in (None, model))
        value = found.value(by.name, model)
        error = self._error(found.errors.get(by.name), model)
        return Score(
            **(error | {"value": value, "bound": found.bound(by.name, model)}),
            model=model,
            metric=by.name,
            adjustment=found.name,
            at=by.at,
            range=by.range,
            notes=notes if np.isnan(value) else (),
        )

    def skill(
        self, model: str, metric: str | None = None, adjustment: str | None = None, *, at: float | None = None
    ) -> Score:
        """The share of the way from the reference curve's score to the best there is; NaN if unknown.

        The reference curve is taken as it is, like a model: its error as an estimate is not in the interval.
        """
        by, found = self._scored(model, metric, adjustment, at)
        base, errors = found.reference.get(by.name), found.errors.get(by.name)
        value = np.nan if base is None else by.skill(found.value(by.name, model), base.value)
        if errors is not None:
            known = by.has_skill and np.isfinite(by.best) and {model, REFERENCE} <= set(errors.names)
            errors = errors.skills([model], REFERENCE, by.best) if known else errors.only([])
        error = self._error(errors, model)
        if not by.has_skill:
            error["missing"] = f"skill is not defined for the {by.label}"
        return Score(
            **(error | {"value": value}),
            model=model,
            metric=by.name,
            adjustment=found.name,
            at=by.at,
            range=(-np.inf, 1.0),
        )

    def compare(
        self,
        a: str,
        b: str,
        metric: str | None = None,
        adjustment: str | None = None,
        *,
        at: float | None = None,
    ) -> Comparison:
        """The score of a less that of b, with its sampling error and the p-value of no difference.

        Both are scored on the same subjects, so that the error of the difference is mostly far smaller than that of
        either score. NaN where one of them has no score.
        """
        by, found = self._scored(a, metric, adjustment, at)
        check_choice(b, "model", self.models)
        errors = found.errors.get(by.name)
        if errors is not None and {a, b} <= set(errors.names):
            return compare(errors, a, b)
        difference = found.value(by.name, a) - found.value(by.name, b)
        bound = found.bound(by.name, a) + found.bound(by.name, b)
        why = self._error(errors, a)["missing"] or self._error(errors, b)["missing"]
        return Comparison(a, b, float(difference), np.nan, missing=why, bound=bound)

    def pairs(self, metric: str | None = None, adjustment: str | None = None) -> tuple[Comparison, ...]:
        """All pairs of models that have a score compared, with p-values adjusted for their number."""
        return pairwise(self._model_errors(metric, adjustment))

    def comparisons(self, metric: str | None = None, adjustment: str | None = None) -> Any:
        """:meth:`pairs` as a table: one row per pair."""
        level = self._level
        rows = [
            (
                *(pair.a, pair.b, pair.difference, pair.standard_error),
                *(*pair.confidence_interval(level), pair.pvalue, pair.adjusted_pvalue),
            )
            for pair in self.pairs(metric, adjustment)
        ]
        columns = ("a", "b", "difference", "standard_error", "low", "high", "pvalue", "adjusted_pvalue")
        return self._frame(columns, rows)

    def indistinguishable_from_best(
        self, metric: str | None = None, adjustment: str | None = None
    ) -> tuple[str, ...]:
        """The models that multiple comparisons with the best keep, which allow for the number of models.

        The truly best one is among them with a chance of at least the confidence level, in large samples. A model
        without an interval is kept, as nothing sets it apart from the best. One that is no contender is not among them.
        """
        errors = self._errors_of_contenders(metric, adjustment)
        return indistinguishable_from_best(errors, self.metric(metric).direction, self._level)

    def _errors_of_contenders(self, metric: str | None, adjustment: str | None) -> Estimates:
        errors = self._model_errors(metric, adjustment)
        return errors.only([name for name in errors.names if name in self.contenders])

    @property
    def confidence_level(self) -> float | None:
        """Of all intervals; None where none were asked for."""
        return self.data.confidence_level

    @property
    def _level(self) -> float:
        """Of intervals that are asked for in any case."""
        return self.confidence_level or DEFAULT_LEVEL

    def _scored(
        self, model: str, metric: str | None, adjustment: str | None, at: float | None
    ) -> tuple[Metric, AdjustmentScores]:
        """A metric, and the scores by it, of a model among others."""
        check_choice(model, "model", self.models)
        return self._answer(metric, adjustment, at)

    def _answer(
        self, metric: str | None, adjustment: str | None, at: float | None
    ) -> tuple[Metric, AdjustmentScores]:
        """A metric, and the scores by it: those that there are, or new ones at one time."""
        by, found = self.metric(metric, at), self.under(adjustment)
        if by in self.data.metrics:
            return by, found
        by.grid(self.data.grid)  # refuses a time past the horizon
        key = ("at", found.name, by.name, by.at)
        return by, self._computed_once(key, lambda: self._by(by, found))

    def _by(self, metric: Metric, found: AdjustmentScores) -> AdjustmentScores:
        """Scores by another metric, with errors of the same kind."""
        scored = scores_by(self.data, found, metric)
        if found.resampling is None:
            return scored
        data = replace(self.data, metrics=(metric,))
        return bootstrapped(data, {found.name: scored}, found.resampling)[found.name]

    def _model_errors(self, metric: str | None, adjustment: str | None) -> Estimates:
        """The scores of all models that have one, with their errors."""
        by, found = self.metric(metric), self.under(adjustment)
        errors = found.errors.get(by.name)
        values = {model: each.value for model, each in found.values[by.name].items()}
        if errors is None:
            bounds = np.array([found.bound(by.name, model) for model in values])
            return as_estimates(values, {}, dict.fromkeys(values, NOT_ASKED), bounds)[0]
        return errors.only([name for name in errors.names if name != REFERENCE])

    def _error(self, errors: Estimates | None, model: str) -> dict[str, Any]:
        """What is known of the error of a model's score."""
        if errors is not None and model in errors.names:
            known = errors.estimate(model)
            if known.standard_error <= _NO_ERROR:
                return {"standard_error": np.nan, "missing": "every subject has the same loss"}
            return {
                "standard_error": known.standard_error,
                "replicates": known.replicates,
                "missing": known.missing,
                "bound": known.bound,
            }
        why = NOT_ASKED if errors is None else "there is no score"
        return {"standard_error": np.nan, "missing": why}

    def best(self, metric: str | None = None, adjustment: str | None = None) -> tuple[str, ...]:
        """The model with the best score, and those that the interval of the difference does not tell from it.

        Without intervals, the best by their scores alone. :meth:`indistinguishable_from_best` allows for the number of
        models.
        Empty under an adjustment that does not vote where there is one that does, and where no model is a contender.
        """
        ranked = self.ranks(metric, adjustment)
        if self.confidence_level is None:
            return tuple(model for model, rank in ranked.items() if rank == 1)
        if not ranked:
            return ()
        errors = self._errors_of_contenders(metric, adjustment)
        kept = may_be_best(errors, self.metric(metric).direction, self._level)
        return tuple(sorted(kept, key=lambda model: ranked[model]))

    def ranks(self, metric: str | None = None, adjustment: str | None = None) -> dict[str, int]:
        """The rank of every contender that has a score; equal scores share the better rank.

        So do scores whose order is not known, where they are bounded.
        Nothing ranks by an adjustment that does not vote where there is one that does.
        """
        by, found = self.metric(metric), self.under(adjustment)
        if found.name not in self.voting:
            return {}
        values = {model: found.value(by.name, model) for model in self.contenders}
        return by.ranks(values, {model: found.bound(by.name, model) for model in self.contenders})

    def table(self) -> Any:
        """One row per metric, adjustment and model: score with its error and interval, skill and rank.

        ``best`` says whether the model cannot be distinguished from the best; without intervals, whether it is best.
        Where the true event times are known, ``truth`` is the score by them.
        """
        level = self.confidence_level
        rows = []
        for metric in self.metrics:
            for name in self.results:
                ranked, best = self.ranks(metric, name), self.best(metric, name)
                for model in self.models:
                    score = self.score(model, metric, name)
                    error = () if level is None else (score.standard_error, *score.confidence_interval(level))
                    skill = self.skill(model, metric, name).value
                    known = () if self.truth is None else (self.truth.value(metric, model),)
                    found = (score.value, *error, skill, ranked.get(model), model in best, *known)
                    rows.append((metric, name, model, *found))
        errors = () if level is None else ("standard_error", "low", "high")
        truth = () if self.truth is None else ("truth",)
        columns = ("metric", "adjustment", "model", "score", *errors, "skill", "rank", "best", *truth)
        return self._frame(columns, rows)

    def _computed_once(self, key: Any, compute: Callable[[], Any]) -> Any:
        """What is kept under ``key``; what was asked for last comes last."""
        self._analyses[key] = self._analyses.pop(key) if key in self._analyses else compute()
        return self._analyses[key]

    def _frame(self, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> Any:
        lists = map(list, zip(*rows, strict=True)) if rows else ([] for _ in columns)
        return make_frame(dict(zip(columns, lists, strict=True)), template=self.template)
