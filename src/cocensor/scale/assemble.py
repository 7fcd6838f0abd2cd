"""From sums over all subjects to an evaluation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Self

import numpy as np

from cocensor._checks import IntArray
from cocensor._notes import Note, noted
from cocensor.adjustments import EventWeights, Fitted
from cocensor.adjustments.gradient import Linearised
from cocensor.adjustments.samples import Samples
from cocensor.adjustments.whole import WholeSample
from cocensor.data.predictions import Predicted
from cocensor.data.times import TimeGrid
from cocensor.inference.influence import Subsample
from cocensor.metrics import Metric, MetricValue
from cocensor.metrics.base import Accumulator
from cocensor.scale.passes import Plan, Stage, Sums, Task
from cocensor.scale.scan import Scan
from cocensor.study.data import EvaluationData, Streamed
from cocensor.study.scores import AdjustmentScores, Scoring, Served, scores_of


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
    marks = [t for start in (0.0, float(data.grid.sorted[0])) for t in data.time_axis.marks(start, end)]
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


def kept_data(
    plan: Plan, sums: Sums, learning: EvaluationData, rows: IntArray, reasons: Counter[str]
) -> EvaluationData:
    """The subjects that were kept of those drawn, with the numbers ``rows``, and what is known of all."""
    kept, samples = sums.kept.result(), learning.samples
    x = None if samples.x_test is None else kept.x
    table = sums.risk_table(plan.counted, kept.y.administrative is not None)
    added_up = {name for (_, _, name), each in sums.by_metric.items() if each is not None}
    streamed = Streamed(
        plan.whole,
        learning,
        np.searchsorted(rows, kept.rows),
        frozenset(added_up),
        table,
        dict(sorted(reasons.most_common(), key=lambda each: (-each[1], each[0]))),
    )
    return replace(
        learning,
        predictions={name: kept.predictions[name] for name in learning.predictions},
        samples=Samples.of(kept.y, x, samples.y_train, samples.x_train),
        streamed=streamed,
    )


def assembled(data: EvaluationData, plan: Plan, sums: Sums, fits: AdjustmentScores) -> AdjustmentScores:
    """The scores of all subjects under one adjustment, with errors that the subjects kept tell."""
    return scores_of(data, fits, _StreamedScoring(data, fits.name, plan, sums))


class _StreamedScoring(Scoring):
    """Scores whose values are known, of all subjects."""

    def __init__(self, data: EvaluationData, adjustment: str, plan: Plan, sums: Sums) -> None:
        super().__init__(data, adjustment)
        self.plan, self.sums = plan, sums
        #: The places of the fits under this adjustment, and of the one that answers.
        self.tasks = [t for t, task in enumerate(plan.tasks) if task.adjustment == adjustment]
        self.task = -1
        self._stages = {stage.grid.times.tobytes(): s for s, stage in enumerate(plan.stages)}

    def answered_by(self, served: Iterable[Served]) -> Self:
        """All models scored by the fits that serve them, each of which has its place among all."""
        for task, (fitted, models) in zip(self.tasks, served, strict=True):
            self.task = task
            self.answer(models, fitted)
        return self

    def make_status(self, fitted: Fitted, grid: TimeGrid) -> EventWeights:
        """Of the subjects kept, up to when there is an answer for all."""
        place = self.task, self._stages[grid.times.tobytes()]
        if (*place, "") in self.sums.failures:
            raise ValueError(self.sums.failures[*place, ""][1] + self._fitted_to_some)
        status = super().make_status(fitted, grid)
        return fitted.settled(status, self.plan.whole, self.sums.loads[place])

    def evaluate(
        self, fitted: Fitted, metric: Metric, status: EventWeights, read: Mapping[str, Predicted]
    ) -> tuple[dict[str, MetricValue], Linearised | None]:
        """The values of all subjects, where they could be added up."""
        key = (self.task, self._stages[status.grid.times.tobytes()], metric.name)
        if key in self.sums.failures:
            raise ValueError(self.sums.failures[key][1])
        added = self._added(metric)
        if added is None:
            return super().evaluate(fitted, metric, status, read)
        found = added.result(status.valid_until)
        others = {name: each for name, each in read.items() if name not in found}
        if others:
            found |= metric.evaluate(status, others)
        return {name: found[name] for name in read}, None

    def subsample_for(self, metric: Metric, models: Sequence[str]) -> Subsample | None:
        """How the subjects kept stand for all."""
        added, streamed = self._added(metric), self.data.streamed
        if streamed is None or metric.name not in streamed.metrics:
            return None
        # Also that of a reference whose value needs no sums: errors of one metric are made of the same parts.
        found = streamed.subsample(self.plan.whole.n)
        if added is None or (covariance := added.covariance) is None:
            return found
        at = [added.models.index(name) for name in models]
        return replace(found, covariance=covariance[np.ix_(at, at)])

    @property
    def _fitted_to_some(self) -> str:
        """What may lie behind a failure, as a further sentence: with more subjects to fit to there may be none."""
        samples, n = self.data.learning.samples, self.plan.whole.n
        if samples.y_train is not None or len(samples.y_test) == n:
            return ""
        return (
            f" The adjustment is fitted to {len(samples.y_test):,} of the {n:,} test subjects, as n_fit asks."
        )

    def _added(self, metric: Metric) -> Accumulator | None:
        grid = self.data.grid_of(metric)
        return self.sums.by_metric.get((self.task, self._stages[grid.times.tobytes()], metric.name))


def about_subjects(data: EvaluationData) -> list[Note]:
    """How many subjects there are, were fitted to, and were kept, and what is computed from those."""
    streamed = data.streamed
    assert streamed is not None
    n_fitted, n_kept = len(streamed.learning.samples.y_test), len(data.samples.y_test)
    others = [metric.label for metric in data.metrics if metric.name not in streamed.metrics]
    notes = [noted("read_in_parts", n=streamed.whole.n, n_fitted=n_fitted, n_kept=n_kept)]
    if others:
        notes.append(noted("from_kept_rows", n=n_kept, metrics=others))
    return notes
