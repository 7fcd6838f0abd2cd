"""From sums over all subjects to an evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from cocensor._validation import FitWarning, HorizonWarning, collected
from cocensor.adjustments import Fitted, Linearised, Status
from cocensor.adjustments.samples import Samples
from cocensor.adjustments.whole import WholeSample
from cocensor.curves import Predictions, TimeGrid
from cocensor.evaluation.data import EvaluationData, Streamed
from cocensor.evaluation.scores import AdjustmentScores, with_scores
from cocensor.evaluation.scoring import Scoring
from cocensor.inference.influence import Subsample
from cocensor.metrics import Metric, MetricValue
from cocensor.stream.accumulators import Accumulator
from cocensor.stream.passes import Plan, Stage, Sums, Task, covariates_of
from cocensor.stream.source import Batch, Scan


def planned(
    scan: Scan,
    data: EvaluationData,
    fits: Mapping[str, AdjustmentScores],
    whole: WholeSample,
    n_kept: int,
) -> Plan:
    """What is to be computed of all subjects, with these fits."""
    stages = Stage.of(data)
    tasks = [
        Task(name, fitted.for_others(), tuple(models))
        for name, each in fits.items()
        for fitted, models in each.served
    ]
    end = data.grid.last
    marks = data.time_axis.marks(0.0, end)
    return Plan(
        scan,
        stages,
        tuple(tasks),
        whole,
        tuple(data.reference_curve(stage.grid) for stage in stages),
        data.grid,
        np.unique(np.concatenate(([0.0, end, np.nextafter(end, np.inf)], marks, data.grid.sorted))),
        n_kept,
        data.confidence_level is not None,
        tuple(data.predictions),
    )


def kept_data(plan: Plan, sums: Sums, learning: EvaluationData, drawn: Batch) -> EvaluationData:
    """The subjects that were kept, and what is known of all."""
    kept, samples = sums.kept.result(), learning.samples
    x = None if samples.x_test is None else covariates_of(plan.scan, kept)
    table = sums.risk_table(plan.counted, kept.y.administrative is not None)
    added_up = {name for (_, _, name), each in sums.by_metric.items() if each is not None}
    streamed = Streamed(
        plan.whole, learning, np.searchsorted(drawn.rows, kept.rows), frozenset(added_up), table
    )
    return replace(
        learning,
        predictions={name: kept.predictions[name] for name in learning.predictions},
        samples=Samples(kept.y, x, samples.y_train, samples.x_train),
        streamed=streamed,
    )


def assembled(data: EvaluationData, plan: Plan, sums: Sums, fits: AdjustmentScores) -> AdjustmentScores:
    """The scores of all subjects under one adjustment, with errors that the subjects kept tell."""
    scoring = _StreamedScoring(data, fits.name, plan, sums)
    with collected(HorizonWarning, FitWarning) as warned:
        for task, (fitted, models) in zip(scoring.tasks, fits.served, strict=True):
            scoring.task = task
            scoring.answer(models, fitted)
    return with_scores(data, fits, scoring, warned)


class _StreamedScoring(Scoring):
    """Scores whose values are known, of all subjects."""

    def __init__(self, data: EvaluationData, adjustment: str, plan: Plan, sums: Sums) -> None:
        super().__init__(data, adjustment)
        self.plan, self.sums = plan, sums
        #: The places of the fits under this adjustment, and of the one that answers.
        self.tasks = [t for t, task in enumerate(plan.tasks) if task.adjustment == adjustment]
        self.task = -1
        self._stages = {stage.grid.times.tobytes(): s for s, stage in enumerate(plan.stages)}

    def make_status(self, fitted: Fitted, grid: TimeGrid) -> Status:
        """Of the subjects kept, up to when there is an answer for all."""
        place = self.task, self._stages[grid.times.tobytes()]
        if (*place, "") in self.sums.failures:
            raise ValueError(self.sums.failures[*place, ""][1])
        status = super().make_status(fitted, grid)
        load, whole = self.sums.loads[place], self.plan.whole
        status.until = min(status.until, fitted.until(load, grid, whole))
        status.notes += fitted.notes_of(load, whole)
        return status

    def evaluate(
        self, fitted: Fitted, metric: Metric, status: Status, read: Mapping[str, Predictions]
    ) -> tuple[dict[str, MetricValue], Linearised | None]:
        """The values of all subjects, where they could be added up."""
        key = (self.task, self._stages[status.grid.times.tobytes()], metric.name)
        if key in self.sums.failures:
            raise ValueError(self.sums.failures[key][1])
        added = self._added(metric)
        if added is None:
            return super().evaluate(fitted, metric, status, read)
        found = added.result(status.until)
        return {name: found[name] for name in read}, None

    def subsample_for(self, fitted: Fitted, metric: Metric, models: Sequence[str]) -> Subsample | None:
        """How the subjects kept stand for all, or for themselves where the values are theirs."""
        added, streamed = self._added(metric), self.data.streamed
        if added is None or streamed is None:
            return self.data.subsample
        found, covariance = streamed.subsample(self.plan.whole.n), added.covariance
        if covariance is None:
            return found
        at = [added.models.index(name) for name in models]
        return replace(found, covariance=covariance[np.ix_(at, at)])

    def _added(self, metric: Metric) -> Accumulator | None:
        grid = self.data.grid_of(metric)
        return self.sums.by_metric.get((self.task, self._stages[grid.times.tobytes()], metric.name))
