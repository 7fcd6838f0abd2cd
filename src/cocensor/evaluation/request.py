"""What is asked of an evaluation: checked, and made ready to be scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy.typing as npt

from cocensor._namespaces import is_foreign, kind_of
from cocensor._notes import Note
from cocensor._validation import FitWarning, FloatArray, check_number, collected, column_names
from cocensor.adjustments import Adjustment, Fitted
from cocensor.adjustments.copula import assumed_copula
from cocensor.adjustments.samples import Samples
from cocensor.copulas import Copula, Independence
from cocensor.curves import Matching, Predictions, TimeGrid
from cocensor.evaluation.alarms import find_alarms
from cocensor.evaluation.asked_metrics import (
    DEFAULT_METRICS,
    as_metrics,
    as_scored_times,
    as_single_times,
    at_single_times,
    default_metrics,
    default_times,
    ranked_across_folds,
    scorable,
    unscored,
)
from cocensor.evaluation.between_times import read_as_steps
from cocensor.evaluation.data import AssumedCopula, EvaluationData, Horizon
from cocensor.evaluation.hint import CopulaHint, hinted
from cocensor.evaluation.judge import judge_among
from cocensor.evaluation.options import (
    SETS,
    AskedAdjustment,
    as_adjustments,
    check_copula,
    labelled_adjustments,
    made_adjustment,
    rest_on_given_copula,
    usable_covariates,
)
from cocensor.evaluation.result import Evaluation
from cocensor.evaluation.scores import AdjustmentScores, about_intervals
from cocensor.evaluation.times import (
    HorizonRule,
    met_by_steps,
    moved_by_times,
    outside_horizon,
    times_of_samples,
    within_predictions,
)
from cocensor.joint import CopulaChoice
from cocensor.metrics import Metric
from cocensor.outcomes import TimeAxis, ended_by_reason, unmarked_end


@dataclass(frozen=True, eq=False)
class Request:
    """What is asked of an evaluation, whatever its subjects are held in.

    Attributes
    ----------
    metrics, by_default
        Those asked for; whether they are the default ones.
    at, times, horizon
        Single times, times that scores are averaged over, and where these end, as far as they were asked for.
    adjustments, as_a_set
        By name; whether they were asked for as a set.
    copula, confidence_level, time_axis
    """

    metrics: tuple[Metric, ...]
    by_default: bool
    at: tuple[float, ...] | None
    times: FloatArray | None
    horizon: HorizonRule
    adjustments: Mapping[str, AskedAdjustment]
    as_a_set: bool
    copula: Any
    confidence_level: float | None
    time_axis: TimeAxis

    @classmethod
    def of(
        cls,
        adjustments: Any,
        metrics: str | Metric | Sequence[str | Metric],
        times: npt.ArrayLike | None,
        at: npt.ArrayLike | None,
        horizon: HorizonRule,
        copula: Any,
        confidence_level: float | None,
        time_axis: TimeAxis,
    ) -> Request:
        """The arguments of :func:`evaluate`, checked as far as that takes no data."""
        by_default = isinstance(metrics, str) and metrics == "default"
        asked = as_metrics(DEFAULT_METRICS if by_default else metrics)
        single = as_single_times(at, asked)
        scored = None if times is None else as_scored_times(times, asked)
        if confidence_level is not None:
            confidence_level = check_number(confidence_level, "confidence_level", lower=0.0, upper=1.0)
        if scored is not None and horizon is not None:
            raise ValueError("horizon must be None where times are given: they end where it lies.")
        check_copula(copula)
        return cls(
            asked,
            by_default,
            single,
            scored,
            horizon,
            as_adjustments(adjustments),
            isinstance(adjustments, str) and adjustments in SETS,
            copula,
            confidence_level,
            time_axis,
        )

    def samples(self, given: Samples, covariates: Any) -> tuple[Samples, list[Note]]:
        """The samples with what adjustments may be given of them, and what there is to say of them."""
        samples, notes = usable_covariates(given, covariates, self.adjustments)
        if isinstance(self.copula, Copula | CopulaChoice):
            # Refuses a copula that an adjustment cannot rest on.
            labelled_adjustments(self.adjustments, assumed_copula(self.copula), self.as_a_set)
        test, train = samples.y_test, samples.y_train
        other = {} if train is None or train.equals(test) else {"training sample": train}
        notes += unmarked_end({"test sample": test, **other}) + ended_by_reason(
            {"test sample": test, **other}
        )
        return samples, notes

    def times_of(self, samples: Samples) -> tuple[FloatArray, Horizon]:
        """The times to score at as far as the samples decide it, and why they end where they do."""
        return times_of_samples(samples, self.times, self.horizon)

    def data(
        self,
        samples: Samples,
        predictions: Mapping[str, Predictions],
        faults: dict[str, Exception],
        scored: tuple[FloatArray, Horizon],
        models: tuple[str, ...],
        covariates: Any,
        notes: list[Note],
    ) -> tuple[EvaluationData, Horizon]:
        """All that is scored, by the metrics that can do so, and until when; notes say what was decided.

        ``faults`` are why models have no predictions; ``scored`` what :meth:`times_of` has said.
        """
        grid, ends = scored
        if self.times is not None or self.horizon is not None:
            predictions, short = _reaching(
                predictions, ends.time, "horizon" if self.times is None else "times"
            )
            faults |= short
        if not predictions:
            raise next(iter(faults.values()))
        grid, ends = within_predictions(samples, predictions, grid, ends)
        faults |= outside_horizon(predictions, ends)
        predictions = {name: each for name, each in predictions.items() if name not in faults}
        if not predictions:
            raise next(iter(faults.values()))
        notes += [Note("missing", str(fault), model=name) for name, fault in faults.items()]
        if self.times is None:
            grid = met_by_steps(grid, predictions, ends)
        else:
            notes += moved_by_times(samples, predictions, ends)
        if samples.folds is not None:
            notes += ranked_across_folds(predictions)
        times, at, metrics = TimeGrid.of(grid), self.at, self.metrics
        if at is None and self.by_default:
            at, said = default_times(samples.y_test, grid, predictions, self.time_axis)
            notes += said
        if at and at[-1] > ends.time:
            raise ValueError(f"at must not pass {ends.time:g}, {ends.reason}, but has {at[-1]:g}.")
        if self.by_default:
            metrics = default_metrics(at or (), predictions)
        able, left_out = scorable(
            at_single_times(metrics, at or ()), predictions, times, self.by_default, faults
        )
        notes += [*left_out, *unscored(able, predictions, times)]
        data = EvaluationData(
            predictions,
            samples,
            times,
            tuple(each.in_unit(self.time_axis.unit) for each in able),
            models,
            covariates,
            self.confidence_level,
            self.time_axis,
        )
        if samples.y_train is None:
            text = (
                "There is no training sample: adjustments and the reference curve are estimated from "
                "the test sample."
            )
            notes.append(Note("decision", text))
        return data, ends

    def assumed(self, data: EvaluationData, notes: list[Note]) -> AssumedCopula:
        """The copula for adjustments that are given by name, and where it is from."""
        if not rest_on_given_copula(self.adjustments):
            if self.copula is not None:
                text = "The copula is not used: no adjustment given by name depends on one."
                notes.append(Note("caution", text))
            return AssumedCopula(Independence(), "unused")
        if self.copula is None:
            return AssumedCopula(Independence(), "independence")
        if isinstance(self.copula, CopulaChoice):
            found = AssumedCopula(self.copula.copula, "selected", CopulaHint(self.copula, "own"))
        elif isinstance(self.copula, Copula):
            found = AssumedCopula(self.copula, "given")
        else:
            hint = hinted(data.samples, self._fitted_judge(data))
            if hint.choice is None:
                text = f"No copula could be selected, and independence is assumed: {hint.notes[0]}"
                notes.append(Note("decision", text))
                return AssumedCopula(Independence(), "independence")
            notes += hint.notes
            found = AssumedCopula(hint.choice.copula, "selected", hint)
        if not found.copula.is_independence:
            named = f"a {found.copula.name.capitalize()} copula with τ = {found.copula.tau:.2g}"
            why = "The data cannot check this, and the answer may differ at independence."
            notes.append(Note("caution", f"The answer assumes {named}, as {found.origin}. {why}"))
        return found

    def made(self, assumed: AssumedCopula, notes: list[Note]) -> dict[str, tuple[str, Adjustment | Fitted]]:
        """By name what each adjustment is called, and the adjustment under the assumed copula."""
        made, left_out = labelled_adjustments(self.adjustments, assumed.copula, self.as_a_set)
        notes += left_out
        return made

    def _fitted_judge(self, data: EvaluationData) -> Fitted | None:
        """The judge at independence, before anything is scored; None where there is none, or it cannot be fitted."""
        judge = judge_among(made_adjustment(each, Independence()) for each in self.adjustments.values())
        if judge is None or isinstance(judge, Fitted):
            return judge
        try:
            with collected(FitWarning):  # noted when it scores
                return data.samples.fit(judge, data.predictions)
        except ValueError:
            return None


def concluded(
    data: EvaluationData,
    results: dict[str, AdjustmentScores],
    assumed: AssumedCopula,
    ends: Horizon,
    notes: Sequence[Note],
    covariates: Sequence[Any],
    truth: AdjustmentScores | None = None,
) -> Evaluation:
    """What comes back, with its alarms; tables are of the library of the first frame among the ``covariates``."""
    if not any(each.answered for each in results.values()):
        reason = next(note for each in results.values() for note in each.notes_of("missing"))
        raise ValueError(f"no adjustment can score any model: {reason}")
    template = next((x for x in covariates if x is not None and column_names(x) is not None), None)
    about = [] if data.confidence_level is None else [about_intervals(results)]
    found = Evaluation(data, results, assumed, ends, (*notes, *about), template, truth=truth)
    return replace(found, alarms=find_alarms(found), notes=(*found.notes, *read_as_steps(found)))


def brought_to_numpy(predicted: Any, model: str) -> list[Note]:
    """A note on predictions that are an array of another library, of which an evaluation takes a copy."""
    if isinstance(predicted, tuple) and len(predicted) == 2:
        predicted = predicted[1]
    if not is_foreign(predicted):
        return []
    text = f"The predictions are a {kind_of(predicted)}: they are brought to numpy, and scored there."
    return [Note("decision", text, model=model)]


def rounded(n_rounded: int, model: str) -> list[Note]:
    """That some probabilities of a model are off by rounding, where that is so."""
    if not n_rounded:
        return []
    text = f"{n_rounded} probabilities lie outside [0, 1] by less than 1e-6: they are read as 0 or 1."
    return [Note("decision", text, model=model)]


def matching_note(how: Matching | None, model: str | None = None) -> list[Note]:
    """How predictions were matched to the test subjects, where their labels leave room for doubt."""
    if how is None:
        return []
    texts = {
        "labels": "The predictions are put into the order of the test subjects by their labels.",
        "position": "The predictions are matched to the test subjects by position: the labels of the two differ, and "
        "one of them merely counts from 0.",
    }
    return [Note("decision", texts[how], model=model)]


def _reaching(
    predictions: Mapping[str, Predictions], end: float, asked: str
) -> tuple[dict[str, Predictions], dict[str, Exception]]:
    """The predictions that are known up to ``end``, which was asked for by ``asked``, and why others are left out."""
    says = "reach" if asked == "times" else "is"
    faults: dict[str, Exception] = {
        name: ValueError(
            f"{asked} must not pass {each.end:g}, the end of models[{name!r}], but {says} {end:g}."
        )
        for name, each in predictions.items()
        if each.only_at is None and each.end < end
    }
    return {name: each for name, each in predictions.items() if name not in faults}, faults
