r"""Who is still event-free at t? The answer that every metric reads.

For subject i and time t a status holds two weights, :math:`a_i(t)` for "event-free at t" and :math:`b_i(t)` for
"event by t", and a normaliser m. A score with the losses :math:`\ell_1` (event-free) and :math:`\ell_0` (event) is

.. math:: \frac1m \sum_i \left[ a_i(t)\,\ell_1(\hat S_i(t)) + b_i(t)\,\ell_0(\hat S_i(t)) \right].

Weights are never held as n × T arrays. Up to a subject's observed time they have one form, from then on another:
with the times sorted, each subject has a *cut*, and within a block of subjects of similar cut nearly all columns lie
on one side. There the sum is a product of a vector with a block of losses that fits into the cache.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from cocensor._numerics import lookup
from cocensor._validation import (
    BoolArray,
    FloatArray,
    HorizonWarning,
    IntArray,
    as_times,
    as_vector,
    row_blocks,
)
from cocensor.adjustments.estimate import Estimate

Rows = npt.NDArray[np.intp]
Term = tuple[FloatArray | None, FloatArray | None]


@dataclass(frozen=True)
class Loss:
    """The two losses of a metric as functions of the predicted survival probability."""

    event_free: Callable[[FloatArray], FloatArray]
    event: Callable[[FloatArray], FloatArray]
    #: No prediction loses more.
    largest: float = np.inf


class Losses:
    """Losses of a block of predictions, each computed when it is first needed; ``mask`` zeroes the others."""

    def __init__(self, loss: Loss, block: FloatArray, mask: BoolArray | None = None) -> None:
        self._loss, self._block, self._mask = loss, block, mask

    @cached_property
    def event_free(self) -> FloatArray:
        """The loss if event-free."""
        return self._masked(self._loss.event_free(self._block))

    @cached_property
    def event(self) -> FloatArray:
        """The loss if the event has happened."""
        return self._masked(self._loss.event(self._block))

    def _masked(self, values: FloatArray) -> FloatArray:
        return values if self._mask is None else values * self._mask


class Weights(Protocol):
    """The weights of a group of subjects on one side of their cuts."""

    def total(self, rows: Rows, columns: slice, losses: Losses) -> FloatArray:
        """Σ over ``rows`` of a ℓ₁ + b ℓ₀, for each of the sorted ``columns``."""

    def dense(self, rows: Rows, columns: slice) -> tuple[FloatArray, FloatArray]:
        """A and b themselves, (rows, columns)."""


@dataclass(frozen=True, eq=False)
class Terms:
    """Weights that are sums of products of a factor per subject and a factor per time; None stands for 1."""

    event_free: tuple[Term, ...] = ()
    event: tuple[Term, ...] = ()

    def total(self, rows: Rows, columns: slice, losses: Losses) -> FloatArray:
        """Σ over ``rows`` of a ℓ₁ + b ℓ₀, for each of the sorted ``columns``."""
        result = np.zeros(columns.stop - columns.start)
        for name, terms in (("event_free", self.event_free), ("event", self.event)):
            for subject, time in terms:
                loss = getattr(losses, name)
                # A product with ones is several times as fast as a sum over rows.
                sums = (np.ones(rows.size) if subject is None else subject[rows]) @ loss
                result += sums if time is None else time[columns] * sums
        return result

    def dense(self, rows: Rows, columns: slice) -> tuple[FloatArray, FloatArray]:
        """A and b themselves, (rows, columns)."""
        shape = rows.size, columns.stop - columns.start
        both = np.zeros((2, *shape))
        for weight, terms in zip(both, (self.event_free, self.event), strict=True):
            for subject, time in terms:
                by_subject = np.ones((shape[0], 1)) if subject is None else subject[rows][:, None]
                weight += by_subject * (1.0 if time is None else time[columns])
        return both[0], both[1]


@dataclass(frozen=True, eq=False)
class Imputed:
    """a = q and b = 1 − q, with q the chance of being event-free, computed block by block."""

    q: Callable[[Rows, slice], FloatArray]

    def total(self, rows: Rows, columns: slice, losses: Losses) -> FloatArray:
        """Σ over ``rows`` of a ℓ₁ + b ℓ₀, for each of the sorted ``columns``."""
        q = self.q(rows, columns)
        gain = losses.event_free - losses.event
        return np.einsum("ij,ij->j", q, gain) + np.ones(rows.size) @ losses.event

    def dense(self, rows: Rows, columns: slice) -> tuple[FloatArray, FloatArray]:
        """A and b themselves, (rows, columns)."""
        q = self.q(rows, columns)
        return q, 1.0 - q


@dataclass(frozen=True, eq=False)
class Observed:
    """A weight for those seen event-free that differs by subject and time, computed block by block; b = 0."""

    weight: Callable[[Rows, slice], FloatArray]

    def total(self, rows: Rows, columns: slice, losses: Losses) -> FloatArray:
        """Σ over ``rows`` of a ℓ₁ + b ℓ₀, for each of the sorted ``columns``."""
        return np.einsum("ij,ij->j", self.weight(rows, columns), losses.event_free)

    def dense(self, rows: Rows, columns: slice) -> tuple[FloatArray, FloatArray]:
        """A and b themselves, (rows, columns)."""
        weight = self.weight(rows, columns)
        return weight, np.zeros_like(weight)


#: Not counted; event-free for sure; had the event for sure.
NOTHING = Terms()
EVENT_FREE = Terms(event_free=((None, None),))
EVENT = Terms(event=((None, None),))


@dataclass(frozen=True, eq=False)
class Group:
    """Subjects whose weights have the same form, in the order of their cuts."""

    rows: Rows
    cut: IntArray
    before: Weights
    after: Weights

    @classmethod
    def of(cls, rows: Rows, cut: IntArray, before: Weights, after: Weights) -> Group:
        """The group of ``rows`` in any order, with the cuts of all subjects."""
        rows = by_cut(rows, cut)
        return cls(rows, cut[rows], before, after)


def by_cut(rows: Rows, cut: IntArray) -> Rows:
    """``rows`` in the order of their ``cut``, which is given for all subjects."""
    # Few distinct small numbers, which numpy sorts by counting.
    small = cut.max(initial=0) < 2**16
    return rows[np.argsort(cut[rows].astype(np.uint16 if small else np.int64), kind="stable")]


class Status:
    """The two weights of every subject at every time, and the normaliser.

    Made by :meth:`Adjustment.status`. Metrics use :meth:`mean`; ``a`` and ``b`` materialise the weights as
    n × T arrays, for inspection.

    Attributes
    ----------
    times : array
        In the order given.
    n : int
        Number of subjects.
    normaliser : float
    until : float
        From this time on the adjustment gives no answer: weights and scores there are NaN.
    n_floored : int
        How many weights, over subjects and times, rest on a floor that was asked for.
    notes : tuple of str
        What was decided on the way to the answer.
    model : JointModel or None
        The joint model behind the answer, if there is one.
    """

    def __init__(
        self,
        grid: TimeGrid,
        n: int,
        groups: tuple[Group, ...],
        *,
        normaliser: float | None = None,
        until: float = np.inf,
        n_floored: int = 0,
        notes: tuple[str, ...] = (),
        model: Any = None,
    ) -> None:
        self.grid, self.n, self.groups = grid, n, groups
        self.times = grid.times
        self.normaliser = float(n) if normaliser is None else float(normaliser)
        self.until, self.n_floored = until, n_floored
        self.notes, self.model = notes, model

    def __repr__(self) -> str:
        return f"Status(n={self.n}, times={self.times.size}, normaliser={self.normaliser:g})"

    @np.errstate(over="ignore")  # of sums from where on there is no score
    def mean(self, loss: Loss, estimate: Any) -> FloatArray:
        """The weighted mean of a loss of the predictions, at each time in the order given."""
        predicted = Estimate.of(estimate, self.grid.sorted, self.grid.order, self.n)
        total = np.zeros(self.times.size)
        for group in self.groups:
            for part in row_blocks(group.rows.size, self.times.size):
                rows, cut = group.rows[part], group.cut[part]
                block = predicted.block(rows)
                low, high = int(cut[0]), int(cut[-1])
                mixed = cut[:, None] > np.arange(low, high)
                sides: tuple[tuple[Weights, slice, BoolArray | None], ...] = (
                    (group.before, slice(0, low), None),
                    (group.before, slice(low, high), mixed),
                    (group.after, slice(low, high), ~mixed),
                    (group.after, slice(high, self.times.size), None),
                )
                for weights, columns, mask in sides:
                    if columns.start < columns.stop and weights is not NOTHING:
                        losses = Losses(loss, block[:, columns], mask)
                        total[columns] += weights.total(rows, columns, losses)
        result = self.grid.restore(total / self.normaliser)
        result[self.times >= self.until] = np.nan
        above = result > loss.largest * (1.0 + 1e-9)
        if above.any():
            warnings.warn(
                f"the score at time {self.times[above].min():g} is above {loss.largest:g}, the largest loss there is: "
                "the weights stand for more subjects than there are.",
                HorizonWarning,
                stacklevel=4,
            )
        return result

    @cached_property
    def a(self) -> FloatArray:
        """The weights of "event-free at t", (n, T)."""
        return self._weights[0]

    @cached_property
    def b(self) -> FloatArray:
        """The weights of "event by t", (n, T)."""
        return self._weights[1]

    @cached_property
    def _weights(self) -> FloatArray:
        both = np.empty((2, self.n, self.times.size))
        every = slice(0, self.times.size)
        columns = np.arange(self.times.size)
        for group in self.groups:
            if not group.rows.size:
                continue
            before = group.cut[:, None] > columns
            early, late = (side.dense(group.rows, every) for side in (group.before, group.after))
            for weight, x, y in zip(both, early, late, strict=True):
                weight[group.rows] = self.grid.restore(np.where(before, x, y))
        both[:, :, self.times >= self.until] = np.nan
        return both


@dataclass(frozen=True, eq=False)
class TimeGrid:
    """The times of a question, in the order given and sorted; times may be repeated."""

    times: FloatArray
    order: npt.NDArray[np.intp] | None
    sorted: FloatArray

    @classmethod
    def of(cls, times: npt.ArrayLike) -> TimeGrid:
        """The grid of ``times``, of which there must be at least one."""
        given = as_times(as_vector(np.atleast_1d(np.asarray(times)), "times"), "times")
        if not given.size:
            raise ValueError("times is empty: at least one time is needed.")
        if (np.diff(given) >= 0).all():
            return cls(given, None, given)
        order = np.argsort(given, kind="stable")
        return cls(given, order, given[order])

    @property
    def last(self) -> float:
        """The largest time."""
        return float(self.sorted[-1])

    def cut(self, until: FloatArray) -> IntArray:
        """For each subject the number of times before ``until``."""
        return lookup(self.sorted, until, "left")

    def restore(self, values: FloatArray) -> FloatArray:
        """``values`` by sorted time (in the last axis) in the order of the times given."""
        if self.order is None:
            return values
        result = np.empty_like(values)
        result[..., self.order] = values
        return result
