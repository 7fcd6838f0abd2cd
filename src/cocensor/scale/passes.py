"""The passes over all subjects: outcomes, the predictions of those drawn, and everything, added up by batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from math import sqrt
from typing import Any, TypeVar

import numpy as np

from cocensor._checks import FloatArray, IntArray
from cocensor.adjustments import EventWeights, Fitted
from cocensor.adjustments.whole import WeightLoad, WholeSample
from cocensor.data import Predictions, RiskTable
from cocensor.data.predictions import Predicted, Probabilities
from cocensor.data.times import TimeGrid
from cocensor.inference.influence import own_parts
from cocensor.metrics import Metric, MetricValue, PointwiseMetric
from cocensor.metrics.base import Accumulator, Profile
from cocensor.metrics.kernel import warn_above_largest
from cocensor.scale.scan import Batch, Columns, Part, Scan
from cocensor.study.data import REFERENCE
from cocensor.warnings import HorizonWarning, collected

V = TypeVar("V")
#: Makes one state of those of all parts, given what to do with a part.
Reduce = Callable[[Callable[[Part], Any]], Any]
#: An adjustment by name, and which of its fits.
FitKey = tuple[str, int]


def merged(one: Any, other: Any) -> Any:
    """Return the first of two states, with what the other has taken up."""
    one.merge(other)
    return one


@dataclass
class Drawn:
    r"""At most ``k`` of ``n`` subjects: those with the smallest keys, and all where there are no more than ``k``.

    Keys are uniform, so that this is a simple random sample, and the same one whatever the batches, their order and the
    workers that saw them. Of :math:`n > k` subjects only those with a key below
    :math:`2^{64} (k + 10\sqrt{k} + 50)/n` are ever held: fewer than k of these would be a chance of about
    :math:`10^{-22}`, and would only make the sample a little smaller.
    """

    k: int
    n: int
    _held: list[Batch] = field(default_factory=list, init=False, repr=False)

    def update(self, batch: Batch) -> None:
        """Take up what may be drawn of a batch."""
        share = 1.0 if self.n <= self.k else (self.k + 10 * sqrt(self.k) + 50) / self.n
        low = batch.key <= np.uint64(min(int(share * 2.0**64), 2**64 - 1))
        if low.any():
            self._held.append(batch if low.all() else batch[low])

    def merge(self, other: Drawn) -> None:
        """Take up what another worker held."""
        self._held += other._held

    def result(self) -> Batch:
        """Return the subjects drawn, in the order of their numbers; none are held any more."""
        if not self._held:
            raise ValueError(f"no subject was drawn out of {self.n}: the scan has no rows.")
        held = Batch.joined(self._held)
        self._held = []
        order = np.lexsort((held.rows, held.key))[: self.k]
        return held[order[np.argsort(held.rows[order], kind="stable")]]


def read_drawn(scan: Scan, k: int, columns: Mapping[str, Columns], reduce_all: Reduce) -> Batch:
    """Return the predictions of at most ``k`` subjects at some of the columns."""
    return reduce_all(partial(_drawn, scan, k, columns)).result()


def _drawn(scan: Scan, k: int, columns: Mapping[str, Columns], part: Part) -> Drawn:
    drawn = Drawn(k, scan.n)
    for batch in scan.batches(part, columns):
        drawn.update(batch)
    return drawn


@dataclass(eq=False)
class Outcomes:
    """The subjects drawn, and the size of the whole sample with the reasons of its dropouts."""

    drawn: Drawn
    whole: WholeSample
    reasons: Counter[str]

    def merge(self, other: Outcomes) -> None:
        """Take up another part."""
        self.drawn.merge(other.drawn)
        self.whole = self.whole.merge(other.whole)
        self.reasons += other.reasons


def read_outcomes(scan: Scan, k: int, reduce_all: Reduce) -> Outcomes:
    """Return the outcomes and covariates of at most ``k`` subjects, and what there is to know of all."""
    return reduce_all(partial(_outcomes, scan, k))


def _outcomes(scan: Scan, k: int, part: Part) -> Outcomes:
    def of_batch(batch: Batch) -> Outcomes:
        drawn, y = Drawn(k, scan.n), batch.y
        drawn.update(batch)
        reasons = () if y.reason is None else y.reason[y.dropout].tolist()
        return Outcomes(drawn, WholeSample.of(y), Counter[str](reasons))

    return reduce(merged, map(of_batch, scan.batches(part, {})))


@dataclass(frozen=True, eq=False)
class Stage:
    """Times, the reference curve at them, and the metrics that need weights there with the models that each scores."""

    grid: TimeGrid
    reference: FloatArray
    metrics: tuple[tuple[Metric, frozenset[str]], ...]


@dataclass(frozen=True, eq=False)
class ScoringPass:
    """The sums of a part of a scan, whatever part it is called with."""

    scan: Scan
    stages: tuple[Stage, ...]
    #: Fits that answer for any subjects, and the models that each serves.
    fits: Mapping[FitKey, tuple[Fitted, tuple[str, ...]]]
    whole: WholeSample
    #: The times that scores are averaged over.
    main: TimeGrid
    #: Sorted times, at which subjects at risk are counted.
    counted: FloatArray
    #: How many subjects are kept with all of their predictions.
    n_kept: int
    with_errors: bool
    #: Those that have predictions to score.
    models: tuple[str, ...]

    def __call__(self, part: Part) -> Sums:
        """Return the sums of a part."""
        sums = Sums(Drawn(self.n_kept, self.scan.n), np.zeros((3, self.counted.size + 1), dtype=np.int64))
        rooms = dict[str, FloatArray]()
        for batch in self.scan.batches(part, dict.fromkeys(self.models, slice(None))):
            sums.kept.update(batch)
            sums.count(batch, self.counted)
            for stage in self.stages:
                self._score(sums, batch, stage, self._read(batch, stage, rooms))
        return sums

    def _score(self, sums: Sums, batch: Batch, stage: Stage, read: Mapping[str, Predicted]) -> None:
        """Add the scores of a batch at the times of a stage."""
        first, grid = int(batch.rows[0]), stage.grid
        given = {**batch.predictions, REFERENCE: read[REFERENCE]}
        for key, (fitted, served) in self.fits.items():
            try:
                status = fitted.weights(batch.y, grid, batch.x, given, self.whole)
            except ValueError as error:
                add(sums.failures, {(key, grid): (first, str(error))}, min)
                continue
            if status.load is not None:
                add(sums.loads, {(key, grid): status.load}, WeightLoad.merge)
            for metric, scored in stage.metrics:
                models, place = [name for name in served if name in scored], (key, metric.name)
                total = sums.by_metric.get(place)
                if total is None and models:
                    total = accumulator_of(metric, grid, models, self.scan.n, self.with_errors)
                if total is None:
                    continue
                sums.by_metric[place] = total
                try:
                    total.update(status, {name: read[name] for name in models})
                except ValueError as error:
                    add(sums.failures, {place: (first, str(error))}, min)

    def _read(self, batch: Batch, stage: Stage, rooms: dict[str, FloatArray]) -> dict[str, Predicted]:
        """Return the predictions of a batch as they are scored at the times of a stage, the reference among them."""
        times, read = stage.grid.sorted, dict[str, Predicted]()
        for name in self.models:
            predictions = batch.predictions[name]
            if stage.grid is self.main:
                # Batches share rooms: memory that is asked for anew costs as much as what is done.
                if name not in rooms or rooms[name].shape[1] < len(batch):
                    rooms[name] = np.empty((times.size, len(batch)))
                predictions = predictions.on(times, rooms[name])
            read[name] = predictions
        everybody = np.broadcast_to(stage.reference, (len(batch), times.size))
        return read | {REFERENCE: Predictions.trusted(times, everybody, source="reference curve")}


@dataclass(eq=False)
class Sums:
    """Sums over all subjects that have been read."""

    kept: Drawn
    #: Events, dropouts and administrative censorings between the times at which subjects at risk are counted.
    counts: IntArray
    #: By fit, and by metric where its values can be added up.
    by_metric: dict[tuple[FitKey, str], Accumulator] = field(default_factory=dict)
    #: What the weights come to, by fit and times.
    loads: dict[tuple[FitKey, TimeGrid], WeightLoad] = field(default_factory=dict)
    #: By fit, and times or metric, the first subject of the first batch that could not be scored, and why.
    failures: dict[tuple[FitKey, TimeGrid | str], tuple[int, str]] = field(default_factory=dict)
    #: By model, how many probabilities are off by rounding.
    n_rounded: Counter[str] = field(default_factory=Counter)

    def count(self, batch: Batch, times: FloatArray) -> None:
        """Count who leaves when, and the probabilities that are off by rounding."""
        y, at = batch.y, np.searchsorted(times, batch.y.time, side="right")
        ended = np.zeros(len(y), dtype=bool) if y.administrative is None else y.administrative
        for k, kind in enumerate((y.event, y.dropout, ended)):
            self.counts[k] += np.bincount(at[kind], minlength=self.counts.shape[1])
        self.n_rounded += Counter({name: n_outside(table) for name, table in batch.predictions.items()})

    def merge(self, other: Sums) -> None:
        """Take up another part."""
        self.kept.merge(other.kept)
        self.counts += other.counts
        add(self.by_metric, other.by_metric, merged)
        add(self.loads, other.loads, WeightLoad.merge)
        add(self.failures, other.failures, min)
        self.n_rounded += other.n_rounded

    def risk_table(self, times: FloatArray, administrative: bool) -> RiskTable:
        """Return how many are at risk at each of some times, the first of them 0, and who leaves before the next."""
        at_risk = self.counts.sum(axis=0)[::-1].cumsum()[-2::-1]
        some = at_risk > 0
        events, dropouts, ended = self.counts[:, 1:][:, some]
        return RiskTable(times[some], at_risk[some], events, dropouts, ended if administrative else None)


def add(totals: dict[Any, V], more: Mapping[Any, V], merge: Callable[[V, V], V]) -> None:
    """Merge ``more`` into ``totals`` by key."""
    for key, value in more.items():
        totals[key] = merge(totals[key], value) if key in totals else value


def n_outside(predictions: Predicted) -> int:
    """Return how many probabilities are off by rounding."""
    if not predictions.n_rounded or not isinstance(predictions, Probabilities):
        return 0
    table = predictions.probabilities
    return int(np.count_nonzero((table < 0) | (table > 1)))


def read_everything(scoring: ScoringPass, reduce_all: Reduce) -> Sums:
    """Return the sums over all subjects."""
    with collected(HorizonWarning):  # about batches, and not about all
        return reduce_all(scoring)


def accumulator_of(
    metric: Metric, grid: TimeGrid, models: Sequence[str], n: int, with_errors: bool = True
) -> Accumulator | None:
    """Return what adds up a metric over batches of n subjects in all; None where it takes all of them at once."""
    if metric.mean_of_losses:
        return MeanOfLosses(metric, metric.grid(grid), models, with_errors)
    return metric.accumulator(metric.grid(grid), models, n)


class Moments:
    """Number, mean and products of deviations from it of rows of numbers, in one pass (Chan, Golub & LeVeque 1979)."""

    def __init__(self, rows: FloatArray) -> None:
        self.n = len(rows)
        self.mean = rows.sum(axis=0) / max(self.n, 1)
        centred = rows - self.mean
        self.products = centred.T @ centred

    def merge(self, other: Moments) -> None:
        """Take up the rows of another."""
        n, gap = self.n + other.n, other.mean - self.mean
        self.products = self.products + other.products + np.multiply.outer(gap, gap) * (self.n * other.n / n)
        self.mean = self.mean + gap * (other.n / n)
        self.n = n

    @property
    def covariance(self) -> FloatArray:
        """The covariance of the columns; NaN of a single row."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.products / np.float64(self.n - 1))


class MeanOfLosses:
    """A metric that is a mean over subjects: that of all is the mean over batches, weighed by their normalisers."""

    def __init__(self, metric: Metric, grid: TimeGrid, models: Sequence[str], with_errors: bool) -> None:
        self.metric, self.grid, self.models, self.with_errors = metric, grid, tuple(models), with_errors
        self.normaliser = 0.0
        self.values: dict[str, MetricValue] = {}
        self.moments = Moments(np.empty((0, len(models))))

    def update(self, status: EventWeights, predictions: Mapping[str, Predicted]) -> None:
        """Take up the subjects of a batch."""
        own = np.zeros((status.n, len(self.models)))
        if status.normaliser:  # else nobody of them counts
            read = {name: predictions[name] for name in self.models}
            if self.with_errors:
                values, linearised = self.metric.evaluate_linearised(status, read)
                linearised = linearised or self.metric.functionals(status, read)
                own = own_parts(status, linearised) * (status.normaliser / status.n)
            else:
                values = self.metric.evaluate(status, read)
            self._add(status.normaliser, values)
        if self.with_errors:
            self.moments.merge(Moments(own))

    def merge(self, other: MeanOfLosses) -> None:
        """Take up what another has taken up."""
        if other.normaliser:
            self._add(other.normaliser, other.values)
        if self.with_errors:
            self.moments.merge(other.moments)

    def result(self, until: float) -> dict[str, MetricValue]:
        """Return the values by model; warn of those that are larger than any loss."""
        if isinstance(self.metric, PointwiseMetric):
            values = self.values.values()
            curves = [[value.value] if value.curve is None else value.curve for value in values]
            warn_above_largest(self.grid.by_sorted(np.array(curves)), self.grid.sorted, self.metric.loss)
        return dict(self.values)

    @property
    def covariance(self) -> FloatArray | None:
        """The covariance of the own parts of all subjects, by model."""
        if not self.with_errors:
            return None
        return self.moments.covariance * (self.moments.n / self.normaliser) ** 2

    def _add(self, normaliser: float, values: Mapping[str, MetricValue]) -> None:
        self.normaliser += normaliser
        for name, value in values.items():
            share = normaliser / self.normaliser
            self.values[name] = _mean(self.values[name], value, share) if name in self.values else value


def _mean(one: MetricValue, other: MetricValue, share: float) -> MetricValue:
    """Return the mean of two values with curves alike, where the other has a share."""

    def mean(a: Any, b: Any) -> Any:
        return None if a is None or b is None else (1.0 - share) * a + share * b

    profile = None
    if one.profile is not None and other.profile is not None:
        profile = Profile(one.profile.x, mean(one.profile.y, other.profile.y))
    return MetricValue(mean(one.value, other.value), mean(one.curve, other.curve), profile)
