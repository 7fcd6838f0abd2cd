"""Means of a loss over subjects at each time, averaged over time, for many predictions in one pass over the weights."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from threading import Event
from typing import ClassVar, Literal

import numpy as np

from cocensor._cached import cached_property
from cocensor._checks import FloatArray, IntArray, Rows, check_choice, row_blocks
from cocensor._parallel import in_threads
from cocensor.adjustments import EventWeights
from cocensor.adjustments.gradient import Functionals
from cocensor.adjustments.weights import STRIP_ROWS
from cocensor.data.predictions import Predicted
from cocensor.data.times import TimeGrid, shown_time
from cocensor.inference.comparisons import Direction
from cocensor.metrics.base import Metric, MetricValue, Models, Scored, SingleTime
from cocensor.warnings import HorizonWarning

# Subjects that a thread takes at a time, and the fewest numbers for which there is a second thread.
_JOB_ROWS = 2 * STRIP_ROWS
_WORTH_THREADS = 2**22
# A table of so many times stays in the cache.
_MOST_TABULATED = 256

Integration = Literal["trapezoid", "step"]


@dataclass(frozen=True)
class Loss:
    """The two losses of a metric as functions of the predicted survival probability."""

    event_free: Callable[[FloatArray], FloatArray]
    event: Callable[[FloatArray], FloatArray]
    #: No prediction loses more.
    largest: float = np.inf
    #: Writes the one of both that counts, by who is event-free (1 or 0) and the probabilities, in few steps.
    known: Callable[[FloatArray, FloatArray, FloatArray], None] | None = None


class PointwiseMetric(Metric):
    r"""A mean of a loss over subjects, averaged over time: all that a subclass says is its ``loss``.

    .. math:: \frac{1}{t_2 - t_1} \int_{t_1}^{t_2} \frac1m \sum_i
        \left[ a_i(t)\,\ell_1(\hat S_i(t)) + b_i(t)\,\ell_0(\hat S_i(t)) \right] dt

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import cocensor as cc
    >>> from cocensor.metrics.kernel import Loss
    >>> @dataclass(frozen=True)
    ... class AbsoluteError(cc.metrics.PointwiseMetric):
    ...     name, label, range = "absolute", "mean absolute error of the status", (0.0, 1.0)
    ...     @property
    ...     def loss(self):
    ...         return Loss(event_free=lambda p: 1.0 - p, event=lambda p: p, largest=1.0)
    >>> y = cc.Survival([1.0, 2.0, 3.0, 4.0], [1, 1, 1, 1])
    >>> curves = {"flat": [[0.7, 0.4]] * 4}
    >>> result = cc.evaluate(curves, y, times=[1.5, 3.5], adjustments="ipcw", metrics=AbsoluteError())
    >>> round(float(result.score("flat")), 4)
    0.425
    """

    direction: ClassVar[Direction] = "lower"
    mean_of_losses: ClassVar[bool] = True

    @property
    @abstractmethod
    def loss(self) -> Loss:
        """The loss of a predicted probability, event-free and after the event."""

    def evaluate(
        self,
        status: EventWeights,
        predictions: Models,
        weights: FloatArray | None = None,
        by_subject: SumsBySubject | None = None,
    ) -> dict[str, MetricValue]:
        """The values of all models in one pass; ``weights`` of the sorted times are by default :meth:`time_weights`."""
        curves = mean_losses(status, self.loss, list(predictions.values()), by_subject)
        weights = self.time_weights(status.grid) if weights is None else weights
        for t in status.grid.sorted[np.isnan(curves).any(axis=0)][:1]:
            raise ValueError(f"times must not pass {t:g}, from where the adjustment gives no score.")
        means, as_given = [float(weights @ curve) for curve in curves], status.grid.restore(curves)
        return dict(zip(predictions, map(MetricValue, means, as_given), strict=True))

    def evaluate_linearised(self, status: EventWeights, predictions: Models) -> Scored:
        """The values of all models, and the part of each subject, in one pass over the weights."""
        by_subject = SumsBySubject(status, self.time_weights(status.grid), len(predictions))
        values = self.evaluate(status, predictions, by_subject=by_subject)
        return values, by_subject.known_of(self.functionals(status, predictions))

    def values_over_time(self, status: EventWeights, predictions: Models) -> dict[str, FloatArray]:
        """The mean loss of all models at each time, in one pass over the weights."""
        curves = mean_losses(status, self.loss, list(predictions.values()))
        return dict(zip(predictions, status.grid.restore(curves), strict=True))

    def at_time(self, t: float) -> Metric:
        """The mean loss at one time."""
        return ValueAt(self, t)

    def functionals(self, status: EventWeights, predictions: Models) -> Functionals:
        """The mean losses, summed over time."""
        return self.functionals_by_time(status, predictions, self.time_weights(status.grid)[:, None])

    def functionals_over_time(self, status: EventWeights, predictions: Models) -> Functionals:
        """The mean losses at each time, in the order given."""
        weights = status.grid.restore(np.eye(status.grid.sorted.size))
        return self.functionals_by_time(status, predictions, weights)

    def functionals_by_time(self, status: EventWeights, models: Models, weights: FloatArray) -> Functionals:
        """The mean losses, summed over time with weights (times, F)."""
        gradients = (LossGradient(status, self.loss, predicted) for predicted in models.values())
        return Functionals(tuple(gradients), weights)

    def time_weights(self, grid: TimeGrid) -> FloatArray:
        """Return the weights of the time average, for the mean losses at the sorted times."""
        return time_weights(grid.sorted)


class AtOneTime(SingleTime, PointwiseMetric):
    """A loss at one time, ``at``, or at the last of an evaluation where that is None."""

    def evaluate(
        self,
        status: EventWeights,
        predictions: Models,
        weights: FloatArray | None = None,
        by_subject: SumsBySubject | None = None,
    ) -> dict[str, MetricValue]:
        """The values of all models, NaN where the adjustment gives none."""
        losses = mean_losses(status, self.loss, list(predictions.values()), by_subject)[:, 0].tolist()
        return dict(zip(predictions, map(MetricValue, losses), strict=True))

    def time_weights(self, grid: TimeGrid) -> FloatArray:
        """Return 1 for the one time."""
        return np.ones(1)


@dataclass(frozen=True)
class ValueAt(AtOneTime):
    """The value at one time of a metric ``of`` which is an average over time."""

    of: PointwiseMetric
    at: float | None

    name = label = "value"
    range = (-np.inf, np.inf)

    def __post_init__(self) -> None:
        object.__setattr__(self, "range", self.of.range)
        self._check_time(self.of.name, self.of.curve_label or self.of.label)

    @property
    def loss(self) -> Loss:
        """The loss of the metric."""
        return self.of.loss


def time_weights(times: FloatArray, integration: Integration = "trapezoid") -> FloatArray:
    r"""The weights of sorted times in the mean :math:`\frac{1}{t_2 - t_1}\int_{t_1}^{t_2}`."""
    check_choice(integration, "integration", ("trapezoid", "step"))
    if times[-1] == times[0]:
        raise ValueError("times must span an interval to be averaged over, but hold a single time.")
    widths = np.diff(times) / (times[-1] - times[0])
    if integration == "step":
        return np.append(widths, 0.0)
    return 0.5 * (np.append(widths, 0.0) + np.append(0.0, widths))


class BlockLosses:
    """Losses of a block of predictions, times ``scale``; each of the two is computed when it is first needed."""

    def __init__(self, loss: Loss, block: FloatArray, scale: float) -> None:
        self._loss, self._block, self._scale = loss, block, scale

    @cached_property
    def event_free(self) -> FloatArray:
        """The losses of those who are event-free."""
        return self._loss.event_free(self._block) * self._scale

    @cached_property
    def event(self) -> FloatArray:
        """The losses of those who had the event."""
        return self._loss.event(self._block) * self._scale

    def part(self, columns: slice) -> BlockLosses:
        """Return the losses at some of the times."""
        return BlockLosses(self._loss, self._block[:, columns], self._scale)


@dataclass(frozen=True, eq=False)
class LossGradient:
    r"""The gradient of :math:`\frac1m \sum_i [a_i(t)\,\ell_1 + b_i(t)\,\ell_0]` by the weights at t."""

    weights: EventWeights
    loss: Loss
    predictions: Predicted

    def of_subjects(self, rows: Rows) -> BlockLosses:
        """Return α and β of some subjects."""
        values = self.predictions.read(self.weights.grid.sorted, rows)
        return BlockLosses(self.loss, values, 1.0 / self.weights.normaliser)


class SumsBySubject:
    """The weighted losses of each subject, summed over time with weights of their own: (subjects, predictions)."""

    def __init__(self, weights: EventWeights, time_weights: FloatArray, n_predictions: int) -> None:
        self.time_weights, self._scale = time_weights, weights.n / weights.normaliser
        self.sums = np.zeros((weights.n, n_predictions))

    def known_of(self, functionals: Functionals) -> Functionals:
        """Return functionals of which these sums are the part of each subject."""
        return replace(functionals, own=self.sums * self._scale)


@np.errstate(over="ignore")  # of sums from where on there is no score
def mean_losses(
    weights: EventWeights, loss: Loss, models: Sequence[Predicted], by_subject: SumsBySubject | None = None
) -> FloatArray:
    """Return mean losses, (models, sorted times); those of each subject are gathered ``by_subject``."""
    grid, sums = weights.grid, _Sums(weights, loss, models, by_subject)
    jobs = [partial(sums.of_rows, start) for start in range(0, weights.n, _JOB_ROWS)]
    # The same numbers however many threads there are.
    threads = weights.n * len(models) * grid.sorted.size >= _WORTH_THREADS
    total = np.add.reduce(in_threads(jobs) if threads else [job(Event()) for job in jobs])
    total /= weights.normaliser
    total[:, grid.sorted >= weights.valid_until] = np.nan
    warn_above_largest(total, grid.sorted, loss)
    return total


def warn_above_largest(values: FloatArray, times: FloatArray, loss: Loss) -> None:
    """Warn of mean losses, (predictions, times), that are larger than any loss."""
    above = (values > loss.largest * (1.0 + 1e-9)).any(axis=0)
    if above.any():
        warnings.warn(
            f"a score at time {shown_time(times[above][0])} is above {loss.largest:g}, the largest "
            "possible loss: the weights represent more subjects than there are.",
            HorizonWarning,
            stacklevel=5,
        )


class _Sums:
    """Weighted losses, summed over subjects strip by strip: by weights that are products, and by modelled ones."""

    def __init__(
        self, weights: EventWeights, loss: Loss, models: Sequence[Predicted], by_subject: SumsBySubject | None
    ) -> None:
        self.weights, self.loss, self.models, self.by_subject = weights, loss, models, by_subject
        self._n_times = n_times = weights.grid.sorted.size
        self._columns = np.arange(n_times, dtype=np.min_scalar_type(n_times))
        # For each cut, at which times a subject is event-free; None where that is beyond the cache.
        self._table = np.tri(n_times + 1, n_times, -1) if n_times <= _MOST_TABULATED else None
        ones = np.ones(weights.n)  # a product with them is several times as fast as a sum over rows
        #: The terms of a and of b, with factors of 1 where there are none.
        self._before, self._after = (
            [(ones if subject is None else subject, 1.0 if time is None else time) for subject, time in terms]
            for terms in (weights.event_free, weights.event)
        )

    def of_rows(self, start: int, stopped: Event) -> FloatArray:
        """Return the sums over the subjects of one job, strip by strip, (models, times)."""
        total, end = np.zeros((len(self.models), self._n_times)), min(start + _JOB_ROWS, self.weights.n)
        # Two arrays for one block after the other: new ones would be slow to come by.
        space = np.empty((2, next(row_blocks(end - start, self._n_times)).stop * self._n_times))
        for first in range(start, end, STRIP_ROWS):
            if stopped.is_set():
                break
            rows = slice(first, min(first + STRIP_ROWS, end))
            if self.weights.event_free or self.weights.event:
                self._add_products(rows, space, total)
            if self.weights.modelled:
                self._add_modelled(rows, total)
        return total

    def _add_products(self, strip: slice, space: FloatArray, total: FloatArray) -> None:
        times = self.weights.grid.sorted
        cut = self.weights.cut[strip].astype(self._columns.dtype)
        differ = []
        for m, predicted in enumerate(self.models):
            if predicted.alike:
                self._add_alike(strip, cut, m, total)
            else:
                differ.append((m, predicted))
        for part in row_blocks(cut.size, times.size) if differ else ():
            rows = slice(strip.start + part.start, strip.start + part.stop)
            before = [(subject[rows], time) for subject, time in self._before]
            after = [(subject[rows], time) for subject, time in self._after]
            for m, predicted in differ:
                values = predicted.read(times, rows)
                free, losses = self._event_free(cut[part], values, space)
                if self.loss.known is not None:
                    self.loss.known(free, values, losses)
                else:
                    losses[...] = np.where(free > 0, self.loss.event_free(values), self.loss.event(values))
                event_free = np.multiply(losses, free, out=free)
                for subject, time in before:
                    total[m] += time * (subject @ event_free)
                for subject, time in after:
                    total[m] += time * (subject @ losses - subject @ event_free)
                if self.by_subject is not None:
                    sums, over = self.by_subject.sums[rows, m], self.by_subject.time_weights
                    for subject, time in before:
                        sums += subject * (event_free @ (time * over))
                    for subject, time in after:
                        timed = time * over
                        sums += subject * (losses @ timed - event_free @ timed)

    def _event_free(
        self, cut: IntArray, values: FloatArray, space: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return two arrays in the memory order of ``values``: who is event-free at which time, 1 or 0, and room."""
        by_column = values.strides[0] < values.strides[1]
        shape = values.shape[::-1] if by_column else values.shape
        free, room = (own[: values.size].reshape(shape) for own in space)
        if by_column:
            np.copyto(free, cut > self._columns[:, None])
            return free.T, room.T
        if self._table is not None:
            # No cut is clipped: other modes copy once more.
            self._table.take(cut, axis=0, out=free, mode="clip")
        else:
            np.copyto(free, cut[:, None] > self._columns)
        return free, room

    def _add_alike(self, rows: slice, cut: IntArray, m: int, total: FloatArray) -> None:
        """Add the losses of a prediction that all share, those of one subject: sums of weights will do."""
        n_times = self._n_times
        one = self.models[m].read(self.weights.grid.sorted, slice(rows.start, rows.start + 1))
        event_free, event = self.loss.event_free(one)[0], self.loss.event(one)[0]
        for subject, time in self._before:
            by_cut = np.bincount(cut, subject[rows], n_times + 1)
            total[m] += time * (by_cut[::-1].cumsum()[::-1][1:] * event_free)
        for subject, time in self._after:
            by_cut = np.bincount(cut, subject[rows], n_times + 1)
            total[m] += time * (by_cut.cumsum()[:n_times] * event)
        if self.by_subject is None:
            return
        sums, over = self.by_subject.sums[rows, m], self.by_subject.time_weights
        for subject, time in self._before:
            sums += subject[rows] * np.append(0.0, (time * (event_free * over)).cumsum())[cut]
        for subject, time in self._after:
            sums += subject[rows] * np.append((time * (event * over))[::-1].cumsum()[::-1], 0.0)[cut]

    def _add_modelled(self, rows: slice, total: FloatArray) -> None:
        for piece in self.weights.pieces(rows, slice(0, self._n_times)):
            for m, predicted in enumerate(self.models):
                values = predicted.read(self.weights.grid.sorted, piece.rows)[:, piece.columns]
                weighed = self.loss.event_free(values)
                if not piece.observed:
                    weighed = weighed - self.loss.event(values)
                total[m, piece.columns] += np.einsum("ij,ij->j", piece.q, weighed)
                if self.by_subject is not None:
                    over = self.by_subject.time_weights[piece.columns]
                    self.by_subject.sums[piece.rows, m] += np.einsum("ij,ij->i", piece.q * over, weighed)
