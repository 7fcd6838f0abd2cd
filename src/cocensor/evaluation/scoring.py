"""Models scored under one adjustment, metric by metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from cocensor._notes import Note
from cocensor._validation import FloatArray
from cocensor.adjustments import Fitted, Linearised, Status
from cocensor.curves import Predictions, TimeGrid
from cocensor.evaluation.data import REFERENCE, EvaluationData
from cocensor.inference import Estimates, Influence, as_estimates, influence
from cocensor.inference.influence import Subsample
from cocensor.metrics import Metric, MetricValue

#: How a note begins that says why scores have no analytic interval.
NO_INTERVAL = "There is no interval: "


@dataclass(eq=False)
class Scoring:
    """Scores under one adjustment as they come in, with the reasons for those that do not."""

    data: EvaluationData
    adjustment: str
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
            known = dict(values)
            if metric in self.reference:
                known[REFERENCE] = self.reference[metric]
            found[metric] = as_estimates(
                {name: each.value for name, each in known.items()},
                self._influences[metric],
                self._unknown[metric],
                np.array([each.bound for each in known.values()]),
            )
        return found

    @property
    def hazard_ratio(self) -> float | None:
        """The geometric mean over the fits; None where one of them does not tell it."""
        ratios = [ratio for _, ratio in self._hazard_ratios.values() if ratio is not None]
        if not ratios or len(ratios) < len(self._hazard_ratios):
            return None
        with np.errstate(divide="ignore"):  # 0 where a ratio is below double precision
            return float(np.exp(np.mean(np.log(ratios))))

    def answer(self, models: Sequence[str], fitted: Fitted) -> None:
        """Score some models by a fit."""
        for metric in self.data.in_order:
            scored = {REFERENCE, *self.data.scored_by(metric)}
            able = [name for name in models if name in scored]
            if able:
                self._evaluate(metric, fitted, able)

    def evaluate(
        self, fitted: Fitted, metric: Metric, status: Status, read: Mapping[str, Predictions]
    ) -> tuple[dict[str, MetricValue], Linearised | None]:
        """The values of some models, and what they are as functions of the weights where that comes on the way."""
        if self.data.confidence_level is not None:
            return metric.evaluate_linearised(status, read)
        return metric.evaluate(status, read), None

    def subsample_for(self, metric: Metric, models: Sequence[str]) -> Subsample | None:
        """How the subjects at hand stand for those whose values these are; None where these are their own."""
        return None

    def make_status(self, fitted: Fitted, grid: TimeGrid) -> Status:
        """Who is event-free at some times."""
        return self.data.status(fitted, grid)

    def _status(self, fitted: Fitted, metric: Metric) -> Status:
        """Who is event-free at the times of a metric; metrics at the same times share it."""
        grid = self.data.grid_of(metric)
        if self._last is None or self._last[0] is not fitted or self._last[1].grid is not grid:
            status = self.make_status(fitted, grid)
            self._last = fitted, status
            last, _ = self._hazard_ratios.get(id(fitted), (-np.inf, None))
            if grid.last > last:  # about as many dropouts as there are
                self._hazard_ratios[id(fitted)] = grid.last, status.hazard_ratio
        return self._last[1]

    def _evaluate(self, metric: Metric, fitted: Fitted, models: Sequence[str]) -> None:
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
        try:
            found, linearised = self.evaluate(fitted, metric, status, read)
        except ValueError as error:
            self._missing(models, f"no {metric.label}: {error}")
            return
        undefined = [name for name, value in found.items() if not np.isfinite(value.value)]
        if undefined:
            why = f"the {metric.label} is not defined: {metric.undefined}."
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
        status: Status,
        read: Mapping[str, Predictions],
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
            text = f"{NO_INTERVAL}{error}"
            about = [name for name in read if name != REFERENCE]
            self.notes += [Note("caution", text, adjustment=self.adjustment, model=name) for name in about]
            return
        self.notes += [Note("decision", text, adjustment=self.adjustment) for text in status.doubts]
        singles = [found[m] for m in range(len(read))]
        self._influences[metric.name] |= dict(zip(read, singles, strict=True))

    def _missing(self, models: Sequence[str], text: str) -> None:
        self.notes += missing(self.data, self.adjustment, models, text)


def missing(data: EvaluationData, adjustment: str, models: Iterable[str], text: str) -> list[Note]:
    """Why models have no score, once for all if all have none for one reason."""
    named = [name for name in models if name != REFERENCE]
    whole = set(named) == set(data.predictions)
    return [
        Note("missing", text, adjustment=adjustment, model=None if whole else name)
        for name in (named[:1] if whole else named)
    ]
