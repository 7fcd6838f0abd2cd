r"""The kernel of pointwise scores: the weighted mean of a loss at each time,

.. math:: \frac1m \sum_i \left[ a_i(t)\,\ell_1(\hat S_i(t)) + b_i(t)\,\ell_0(\hat S_i(t)) \right],

for many predictions in one pass over the weights.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from threading import Event

import numpy as np

from cocensor._cached import cached_property
from cocensor._checks import BoolArray, FloatArray, Rows, row_blocks
from cocensor._parallel import in_threads
from cocensor.adjustments import EventWeights
from cocensor.adjustments.gradient import Functionals
from cocensor.adjustments.known import Known
from cocensor.data.predictions import Predicted
from cocensor.data.times import shown_time
from cocensor.warnings import HorizonWarning

# Strips of subjects that a thread takes at a time, and the fewest numbers for which there is a second thread.
_JOB_STRIPS = 2
_WORTH_THREADS = 2**22


@dataclass(frozen=True)
class Loss:
    """The two losses of a metric as functions of the predicted survival probability."""

    event_free: Callable[[FloatArray], FloatArray]
    event: Callable[[FloatArray], FloatArray]
    #: No prediction loses more.
    largest: float = np.inf
    #: Writes the one of both that counts, by who is event-free (1 or 0) and the probabilities, in few steps.
    known: Callable[[FloatArray, FloatArray, FloatArray], None] | None = None

    def write_known(self, event_free: FloatArray, p: FloatArray, out: FloatArray) -> None:
        """The one of both that counts, by who is event-free (1 or 0)."""
        if self.known is not None:
            self.known(event_free, p, out)
        else:
            out[...] = np.where(event_free > 0, self.event_free(p), self.event(p))


class BlockLosses:
    """Losses of a block of predictions, each computed when it is first needed; ``mask`` zeroes the others."""

    def __init__(
        self, loss: Loss, block: FloatArray, mask: BoolArray | None = None, scale: float | None = None
    ) -> None:
        self._loss, self._block, self._mask, self._scale = loss, block, mask, scale

    @cached_property
    def event_free(self) -> FloatArray:
        """The losses of those who are event-free."""
        return self._scaled(self._loss.event_free(self._block))

    @cached_property
    def event(self) -> FloatArray:
        """The losses of those who had the event."""
        return self._scaled(self._loss.event(self._block))

    def part(self, columns: slice, mask: BoolArray | None = None) -> BlockLosses:
        """Those at some of the times."""
        return BlockLosses(self._loss, self._block[:, columns], mask, self._scale)

    def _scaled(self, values: FloatArray) -> FloatArray:
        if self._scale is not None:
            values = values * self._scale
        return values if self._mask is None else values * self._mask


class SumsBySubject:
    """The weighted losses of each subject, summed over time with weights of their own: (subjects, predictions)."""

    def __init__(self, status: EventWeights, time_weights: FloatArray, n_predictions: int) -> None:
        self.time_weights, self._scale = time_weights, status.n / status.normaliser
        self.sums = np.zeros((status.n, n_predictions))

    def known_of(self, functionals: Functionals) -> Functionals:
        """Functionals, of which these are the part of each subject."""
        return replace(functionals, own=self.sums * self._scale)


@np.errstate(over="ignore")  # of sums from where on there is no score
def mean_losses(
    status: EventWeights,
    loss: Loss,
    predictions: Sequence[Predicted],
    by_subject: SumsBySubject | None = None,
) -> FloatArray:
    """The mean loss of each of the predictions at each time in the order given, (predictions, times).

    The losses of each subject, summed over time, are gathered ``by_subject`` on the way.
    """
    grid = status.grid
    total = _Sums(status, loss, predictions, by_subject).total()
    total /= status.normaliser
    total[:, grid.sorted >= status.valid_until] = np.nan
    warn_above_largest(total, grid.sorted, loss)
    return grid.restore(total)


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


class _Space:
    """Two arrays for one block after the other: new ones would be slow to come by."""

    def __init__(self) -> None:
        self._both: FloatArray = np.empty((2, 0))

    def two_like(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Of the shape and in the memory order of some values."""
        if self._both.shape[1] < values.size:
            self._both = np.empty((2, values.size))
        by_column = values.strides[0] < values.strides[1]
        shape = values.shape[::-1] if by_column else values.shape
        one, other = (each[: values.size].reshape(shape) for each in self._both)
        return (one.T, other.T) if by_column else (one, other)


class _Sums:
    """Weighted losses, summed over subjects strip by strip."""

    def __init__(
        self,
        status: EventWeights,
        loss: Loss,
        predictions: Sequence[Predicted],
        by_subject: SumsBySubject | None,
    ) -> None:
        self.status, self.loss, self.predictions, self.by_subject = status, loss, predictions, by_subject
        self.known, self.others = Known.of(status)

    def total(self) -> FloatArray:
        """Over all subjects, (predictions, times); the same numbers however many threads there are."""
        every = range(self.status.n_strips)
        jobs = [
            partial(self._of_strips, every[start : start + _JOB_STRIPS]) for start in every[::_JOB_STRIPS]
        ]
        if self.status.n * len(self.predictions) * self.status.grid.sorted.size < _WORTH_THREADS:
            return np.add.reduce([job(Event()) for job in jobs])
        return np.add.reduce(in_threads(jobs))

    def _of_strips(self, numbers: Sequence[int], stopped: Event) -> FloatArray:
        total = np.zeros((len(self.predictions), self.status.grid.sorted.size))
        space = _Space()
        for number in numbers:
            if stopped.is_set():
                break
            if self.known is not None:
                self._add_known(self.known, number, space, total)
            self._add_others(number, total)
        return total

    def _add_known(self, known: Known, number: int, space: _Space, total: FloatArray) -> None:
        strip, times = self.status.strip(number), self.status.grid.sorted
        differ = []
        for m, each in enumerate(self.predictions):
            if each.alike:
                self._add_alike(known, strip, m, total)
            else:
                differ.append((m, each))
        for part in row_blocks(strip.stop - strip.start, times.size) if differ else ():
            rows = slice(strip.start + part.start, strip.start + part.stop)
            weights = known.weights(rows)
            for m, each in differ:
                values = each.read(times, rows)
                free, losses = space.two_like(values)
                self.loss.write_known(known.event_free(rows, free), values, losses)
                event_free = np.multiply(losses, free, out=free)
                total[m] += weights.total(losses, event_free)
                if self.by_subject is not None:
                    over = self.by_subject.time_weights
                    self.by_subject.sums[rows, m] += weights.by_subject(losses, event_free, over)

    def _add_alike(self, known: Known, rows: slice, m: int, total: FloatArray) -> None:
        """The losses of a prediction that all share are those of one subject: sums of weights will do."""
        one = self.predictions[m].read(self.status.grid.sorted, slice(rows.start, rows.start + 1))
        losses = self.loss.event_free(one)[0], self.loss.event(one)[0]
        total[m] += known.total_alike(rows, *losses)
        if self.by_subject is not None:
            over = self.by_subject.time_weights
            self.by_subject.sums[rows, m] += known.by_subject_alike(rows, losses[0] * over, losses[1] * over)

    def _add_others(self, number: int, total: FloatArray) -> None:
        for strip in self.status.strips(number, groups=self.others):
            # One model after the other, so that its strip stays in the cache.
            for m, each in enumerate(self.predictions):
                values = each.read(self.status.grid.sorted, strip.rows)
                for block, place in strip:
                    losses = BlockLosses(self.loss, values[place])
                    for weights, columns, mask in block.stretches:
                        part = losses.part(columns, mask)
                        total[m, columns] += weights.total(part)
                        if self.by_subject is not None:
                            over_time = weights.by_subject(part, self.by_subject.time_weights[columns, None])
                            self.by_subject.sums[block.rows, m] += over_time[:, 0]


@dataclass(frozen=True, eq=False)
class LossGradient:
    r"""The gradient of :math:`\frac1m \sum_i [a_i(t)\,\ell_1 + b_i(t)\,\ell_0]` by the weights at t."""

    status: EventWeights
    loss: Loss
    predictions: Predicted

    def of_subjects(self, rows: Rows) -> BlockLosses:
        """α and β of some subjects."""
        values = self.predictions.read(self.status.grid.sorted, rows)
        return BlockLosses(self.loss, values, scale=1.0 / self.status.normaliser)
