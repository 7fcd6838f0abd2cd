"""The two weights of subjects: the forms that they have, and sums that they weigh."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from cocensor._checks import FloatArray, Rows
from cocensor._namespaces import Array, Placing

Term = tuple[FloatArray | None, FloatArray | None]
#: Of some rows at all times at once, as an array of another library.
PlacedWeights = Callable[[Any], Array]


class Pair(Protocol):
    """Two blocks of values: what counts if a subject is event-free, and what counts if not."""

    @property
    def event_free(self) -> FloatArray:
        """The values that a weighs."""

    @property
    def event(self) -> FloatArray:
        """The values that b weighs."""


class BlockWeights(Protocol):
    """The weights of a block of subjects at some times, ready to be used for many pairs."""

    def total(self, pair: Pair) -> FloatArray:
        """Σ over the subjects of a x + b y, for each time."""

    def by_subject(self, pair: Pair, weights: FloatArray) -> FloatArray:
        """The sums of a x + b y over times, with weights (times, F), for each subject."""

    def dense(self) -> tuple[FloatArray, FloatArray]:
        """A and b themselves, (subjects, times)."""


class Weights(Protocol):
    """The weights of a group of subjects on one side of their cuts."""

    def block(self, rows: Rows, columns: slice) -> BlockWeights:
        """Those of some subjects at some of the sorted times."""


@dataclass(frozen=True, eq=False)
class Terms:
    """Weights that are sums of products of a factor per subject and a factor per time; None stands for 1."""

    event_free: tuple[Term, ...] = ()
    event: tuple[Term, ...] = ()

    def block(self, rows: Rows, columns: slice) -> BlockWeights:
        """Those of some subjects at some of the sorted times."""

        def taken(terms: tuple[Term, ...]) -> tuple[tuple[FloatArray, FloatArray | None], ...]:
            # A product with ones is several times as fast as a sum over rows.
            return tuple(
                (
                    np.ones(rows.size) if subject is None else subject[rows],
                    None if time is None else time[columns],
                )
                for subject, time in terms
            )

        n_times = columns.stop - columns.start
        return _TermsBlock(taken(self.event_free), taken(self.event), rows.size, n_times)


@dataclass(frozen=True, eq=False)
class _TermsBlock:
    event_free: tuple[tuple[FloatArray, FloatArray | None], ...]
    event: tuple[tuple[FloatArray, FloatArray | None], ...]
    n_rows: int
    n_times: int

    def total(self, pair: Pair) -> FloatArray:
        result = np.zeros(self.n_times)
        for terms, name in ((self.event_free, "event_free"), (self.event, "event")):
            for subject, time in terms:
                found = subject @ getattr(pair, name)
                result += found if time is None else time * found
        return result

    def by_subject(self, pair: Pair, weights: FloatArray) -> FloatArray:
        result = np.zeros((self.n_rows, weights.shape[1]))
        for terms, name in ((self.event_free, "event_free"), (self.event, "event")):
            for subject, time in terms:
                over_time = weights if time is None else time[:, None] * weights
                result += subject[:, None] * (getattr(pair, name) @ over_time)
        return result

    def dense(self) -> tuple[FloatArray, FloatArray]:
        return self._dense(self.event_free), self._dense(self.event)

    def _dense(self, terms: tuple[tuple[FloatArray, FloatArray | None], ...]) -> FloatArray:
        shape = (self.n_rows, self.n_times)
        products = [
            np.broadcast_to(subject[:, None], shape) if time is None else np.multiply.outer(subject, time)
            for subject, time in terms
        ]
        if not products:
            return np.broadcast_to(0.0, shape)
        return products[0] if len(products) == 1 else np.sum(products, axis=0)


@dataclass(frozen=True, eq=False)
class Imputed:
    """a = q and b = 1 − q, with q the chance of being event-free, computed block by block.

    ``placed`` gives the same of some subjects, and 0 of others, for arrays of another library; None where nothing does.
    """

    q: Callable[[Rows, slice], FloatArray]
    placed: Callable[[Placing, Rows], PlacedWeights] | None = None

    def block(self, rows: Rows, columns: slice) -> BlockWeights:
        """Those of some subjects at some of the sorted times."""
        return _ImputedBlock(self.q(rows, columns))


@dataclass(frozen=True, eq=False)
class _ImputedBlock:
    q: FloatArray

    def total(self, pair: Pair) -> FloatArray:
        gained = np.einsum("ij,ij->j", self.q, pair.event_free - pair.event)
        return gained + np.ones(len(self.q)) @ pair.event

    def by_subject(self, pair: Pair, weights: FloatArray) -> FloatArray:
        return (self.q * (pair.event_free - pair.event)) @ weights + pair.event @ weights

    def dense(self) -> tuple[FloatArray, FloatArray]:
        return self.q, 1.0 - self.q


@dataclass(frozen=True, eq=False)
class Observed:
    """A weight for those seen event-free that differs by subject and time, computed block by block; b = 0.

    ``placed`` gives the same for arrays of another library; None where nothing does.
    """

    weight: Callable[[Rows, slice], FloatArray]
    placed: Callable[[Placing], PlacedWeights] | None = None

    def block(self, rows: Rows, columns: slice) -> BlockWeights:
        """Those of some subjects at some of the sorted times."""
        return _ObservedBlock(self.weight(rows, columns))


@dataclass(frozen=True, eq=False)
class _ObservedBlock:
    weight: FloatArray

    def total(self, pair: Pair) -> FloatArray:
        return np.einsum("ij,ij->j", self.weight, pair.event_free)

    def by_subject(self, pair: Pair, weights: FloatArray) -> FloatArray:
        return (self.weight * pair.event_free) @ weights

    def dense(self) -> tuple[FloatArray, FloatArray]:
        return self.weight, np.broadcast_to(0.0, self.weight.shape)


#: Not counted; event-free for sure; had the event for sure.
NOTHING = Terms()
EVENT_FREE = Terms(event_free=((None, None),))
EVENT = Terms(event=((None, None),))
