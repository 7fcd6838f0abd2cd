"""The passes over all subjects: outcomes, the scores of those drawn, and everything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from cocensor._checks import FloatArray, IntArray
from cocensor.adjustments import Fitted
from cocensor.adjustments.whole import WeightLoad, WholeSample
from cocensor.data import Predictions, RiskTable
from cocensor.data.predictions import Predicted, Probabilities
from cocensor.data.times import TimeGrid
from cocensor.metrics import Metric
from cocensor.metrics.base import Accumulator
from cocensor.scale.accumulators import accumulator_of
from cocensor.scale.draw import Drawn
from cocensor.scale.scan import Batch, Columns, Part, Scan
from cocensor.study.data import REFERENCE, EvaluationData
from cocensor.warnings import HorizonWarning, collected

#: Makes one state of those of all parts, given what to do with a part, such as :func:`reduce_parts`.
Reduce = Callable[[Callable[[Part], Any], Callable[[Any, Any], Any]], Any]


def merged(one: Any, other: Any) -> Any:
    """The first of two states, with what the other has taken up."""
    one.merge(other)
    return one


# --- outcomes ------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Outcomes:
    """What is known of all outcomes, and who is drawn."""

    drawn: Drawn
    whole: WholeSample
    reasons: Counter[str]

    def merge(self, other: Outcomes) -> None:
        """Take up another part."""
        self.drawn.merge(other.drawn)
        self.whole = self.whole.merge(other.whole)
        self.reasons += other.reasons


def read_outcomes(scan: Scan, k: int, reduce: Reduce) -> Outcomes:
    """The outcomes and covariates of at most ``k`` subjects, and what there is to know of all."""
    return reduce(partial(_outcomes, scan, k), merged)


def _outcomes(scan: Scan, k: int, part: Part) -> Outcomes:
    found: Outcomes | None = None
    for batch in scan.batches(part, {}):
        drawn = Drawn(k, scan.n)
        drawn.update(batch)
        y = batch.y
        reasons = Counter[str](() if y.reason is None else y.reason[y.dropout].tolist())
        each = Outcomes(drawn, WholeSample.of(y), reasons)
        found = each if found is None else merged(found, each)
    assert found is not None  # a part has subjects
    return found


# --- scores of those drawn -----------------------------------------------------------------------------------


def read_drawn(scan: Scan, k: int, columns: Mapping[str, Columns], reduce: Reduce) -> Batch:
    """The predictions of at most ``k`` subjects at some of the columns."""
    return reduce(partial(_drawn, scan, k, columns), merged).result()


def _drawn(scan: Scan, k: int, columns: Mapping[str, Columns] | None, part: Part) -> Drawn:
    drawn = Drawn(k, scan.n)
    for batch in scan.batches(part, columns):
        drawn.update(batch)
    return drawn


# --- everything ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Task:
    """A fit that answers for any subjects, and the models that it serves under an adjustment."""

    adjustment: str
    fitted: Fitted
    models: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Stage:
    """Times, the metrics that need a status at them, and the models that each can score, the reference included."""

    grid: TimeGrid
    metrics: tuple[Metric, ...]
    scored: tuple[frozenset[str], ...]

    @staticmethod
    def of(data: EvaluationData) -> tuple[Stage, ...]:
        """All times of an evaluation."""
        by: dict[TimeGrid, list[Metric]] = {}
        for metric in data.in_order:
            by.setdefault(data.grid_of(metric), []).append(metric)
        return tuple(
            Stage(
                grid,
                tuple(metrics),
                tuple(frozenset({REFERENCE, *data.scored_by(metric)}) for metric in metrics),
            )
            for grid, metrics in by.items()
        )


@dataclass(frozen=True, eq=False)
class Plan:
    """What is to be computed of every batch.

    Attributes
    ----------
    scan : Scan
    stages, tasks : tuple
    whole : WholeSample
    reference : array by stage
        The reference curve at the sorted times.
    main : TimeGrid
        The times that scores are averaged over.
    counted : array
        Sorted times, at which subjects at risk are counted.
    n_kept : int
        How many subjects are kept with all of their predictions.
    with_errors : bool
    models : tuple of str
        Those that have predictions to score.
    """

    scan: Scan
    stages: tuple[Stage, ...]
    tasks: tuple[Task, ...]
    whole: WholeSample
    reference: tuple[FloatArray, ...]
    main: TimeGrid
    counted: FloatArray
    n_kept: int
    with_errors: bool
    models: tuple[str, ...]

    def __call__(self, part: Part) -> Sums:
        """The sums of a part."""
        sums = Sums(Drawn(self.n_kept, self.scan.n), np.zeros((3, self.counted.size + 1), dtype=np.int64))
        rooms = dict[str, FloatArray]()
        for batch in self.scan.batches(part, dict.fromkeys(self.models, slice(None))):
            self._update(sums, batch, rooms)
        return sums

    def _update(self, sums: Sums, batch: Batch, rooms: dict[str, FloatArray]) -> None:
        sums.kept.update(batch)
        sums.count(batch, self.counted)
        x, first = batch.x, int(batch.rows[0])
        for s, stage in enumerate(self.stages):
            read = dict(self._read(batch, stage, self.reference[s], rooms))
            given = {**batch.predictions, REFERENCE: read[REFERENCE]}
            for t, task in enumerate(self.tasks):
                try:
                    status = task.fitted.weights(batch.y, stage.grid, x, given, self.whole)
                except ValueError as error:
                    sums.fail((t, s, ""), first, str(error))
                    continue
                sums.load((t, s), status.load)
                for metric, able in zip(stage.metrics, stage.scored, strict=True):
                    # Of order alone, a curve that is alike for all has one half of whatever subjects.
                    asked = able if metric.needs_curves else able - {REFERENCE}
                    models = [name for name in task.models if name in asked]
                    key = (t, s, metric.name)
                    if not models:
                        continue
                    if key not in sums.by_metric:
                        sums.by_metric[key] = accumulator_of(
                            metric, stage.grid, models, self.scan.n, self.with_errors
                        )
                    found = sums.by_metric[key]
                    try:
                        if found is not None:
                            found.update(status, {name: read[name] for name in models})
                    except ValueError as error:
                        sums.fail(key, first, str(error))

    def _read(
        self, batch: Batch, stage: Stage, reference: FloatArray, rooms: dict[str, FloatArray]
    ) -> Iterator[tuple[str, Predicted]]:
        """The predictions of a batch as they are scored at some times, the reference among them.

        They are kept in ``rooms``, which batches share: memory that is asked for anew costs as much as what is done.
        """
        times = stage.grid.sorted
        for name in self.models:
            each = batch.predictions[name]
            if stage.grid is self.main:
                if name not in rooms or rooms[name].shape[1] < len(batch):
                    rooms[name] = np.empty((times.size, len(batch)))
                each = each.on(times, rooms[name])
            yield name, each
        everybody = np.broadcast_to(reference, (len(batch), times.size))
        yield REFERENCE, Predictions.trusted(times, everybody, source="reference curve")


@dataclass(eq=False)
class Sums:
    """What all subjects add up to, as far as they have been read."""

    kept: Drawn
    #: Events, dropouts and administrative censorings between the times at which subjects at risk are counted.
    counts: IntArray
    by_metric: dict[tuple[int, int, str], Accumulator | None] = field(default_factory=dict)
    loads: dict[tuple[int, int], WeightLoad | None] = field(default_factory=dict)
    #: The first subject of the first batch that could not be scored, and why.
    failures: dict[tuple[int, int, str], tuple[int, str]] = field(default_factory=dict)
    n_rounded: dict[str, int] = field(default_factory=dict)

    def count(self, batch: Batch, times: FloatArray) -> None:
        """Who leaves when, and how many probabilities are off by rounding."""
        y, at = batch.y, np.searchsorted(times, batch.y.time, side="right")
        ended = np.zeros(len(y), dtype=bool) if y.administrative is None else y.administrative
        for k, kind in enumerate((y.event, y.dropout, ended)):
            self.counts[k] += np.bincount(at[kind], minlength=self.counts.shape[1])
        for name, each in batch.predictions.items():
            if each.n_rounded and isinstance(each, Probabilities):
                off = np.count_nonzero((each.probabilities < 0) | (each.probabilities > 1))
                self.n_rounded[name] = self.n_rounded.get(name, 0) + int(off)

    def load(self, key: tuple[int, int], found: WeightLoad | None) -> None:
        """What the weights of a batch come to."""
        known = self.loads.get(key)
        self.loads[key] = found if known is None or found is None else known.merge(found)

    def fail(self, key: tuple[int, int, str], row: int, why: str) -> None:
        """That a batch could not be scored."""
        self.failures[key] = min(self.failures.get(key, (row, why)), (row, why))

    def merge(self, other: Sums) -> None:
        """Take up another part."""
        self.kept.merge(other.kept)
        self.counts += other.counts
        for key, found in other.by_metric.items():
            mine = self.by_metric.get(key)
            if mine is None or found is None:
                self.by_metric[key] = found
            else:
                mine.merge(found)
        for place, load in other.loads.items():
            self.load(place, load)
        for key, (row, why) in other.failures.items():
            self.fail(key, row, why)
        for name, n in other.n_rounded.items():
            self.n_rounded[name] = self.n_rounded.get(name, 0) + n

    def risk_table(self, times: FloatArray, administrative: bool) -> RiskTable:
        """How many are at risk at each of some times, of which the first is 0, and who leaves before the next."""
        at_risk = self.counts.sum(axis=0)[::-1].cumsum()[-2::-1]
        some = at_risk > 0
        events, dropouts, ended = self.counts[:, 1:][:, some]
        return RiskTable(times[some], at_risk[some], events, dropouts, ended if administrative else None)


def read_everything(plan: Plan, reduce: Reduce) -> Sums:
    """All subjects, added up."""
    with collected(HorizonWarning):  # about batches, and not about all
        return reduce(plan, merged)
