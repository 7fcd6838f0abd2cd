"""A status where the predictions are: the weights of all subjects, in their order, beside the predictions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cocensor._checks import BoolArray, FloatArray
from cocensor._namespaces import Array, Place, Placing
from cocensor.adjustments import EventWeights
from cocensor.adjustments.weights import Imputed, Observed, Term, Terms, Weights

#: A factor for each subject, or 1, and one for each time, or 1.
PlacedTerm = tuple[Array | None, Array | None]


@dataclass(frozen=True, eq=False)
class PlacedSide:
    """The weights of all subjects on one side of their cuts."""

    event_free: tuple[PlacedTerm, ...]
    event: tuple[PlacedTerm, ...]
    #: Of those seen event-free; and chances q of being event-free, which add to a what they take from b.
    observed: tuple[Callable[[Any], Array], ...]
    imputed: tuple[Callable[[Any], Array], ...]

    def weighed(self, rows: Any, event_free: Array, event: Array) -> Any:
        """What the two losses of some rows add, (rows, times); 0 where they count for nothing."""
        total: Any = None
        parts = [_times(term, rows, event_free) for term in self.event_free]
        parts += [_times(term, rows, event) for term in self.event]
        parts += [weight(rows) * event_free for weight in self.observed]
        parts += [q(rows) * (event_free - event) for q in self.imputed]
        for part in parts:
            total = part if total is None else total + part
        return 0.0 if total is None else total


def _times(term: PlacedTerm, rows: Any, values: Array) -> Array:
    subject, time = term
    if time is not None:
        values = values * time
    return values if subject is None else values * subject[rows][:, None]


@dataclass(frozen=True, eq=False)
class PlacedStatus:
    """The weights of a :class:`EventWeights` beside the predictions; nothing of them is n × T.

    Columns are in the order of the times given. A subject is on the side ``before`` at the columns whose time comes
    before its ``cut``.
    """

    place: Place
    n: int
    normaliser: float
    cut: Array
    columns: Array
    before: PlacedSide
    after: PlacedSide
    #: At which columns there is a score; None for all.
    known: Array | None

    @classmethod
    def of(cls, status: EventWeights, place: Place) -> PlacedStatus:
        """All host work, and one copy of each vector to where the predictions are."""
        grid = status.grid
        order = np.arange(grid.sorted.size) if grid.place is None else grid.place
        placing = Placing(place, order)
        cut = np.empty(status.n, dtype=np.int64)
        for group in status.groups:
            cut[group.rows] = group.cut
        known = grid.times < status.valid_until
        return cls(
            place,
            status.n,
            status.normaliser,
            place.put(cut),
            place.put(order.astype(np.int64)),
            # Nobody asks for the weights of who has no time on that side.
            _side(status, placing, cut > 0, lambda group: group.before),
            _side(status, placing, cut < grid.sorted.size, lambda group: group.after),
            None if known.all() else place.put(known),
        )


def _side(
    status: EventWeights, placing: Placing, asked: BoolArray, side: Callable[[Any], Weights]
) -> PlacedSide:
    """The weights of all groups together: subjects that are not ``asked`` for may have any."""
    members: list[tuple[Weights, BoolArray]] = []
    for group in status.groups:
        weights = side(group)
        belongs = next((rows for other, rows in members if other is weights), None)
        if belongs is None:
            belongs = np.zeros(status.n, dtype=bool)
            members.append((weights, belongs))
        belongs[group.rows] = True
    sums = _Sums(status.n), _Sums(status.n)
    observed, imputed = [], []
    for weights, belongs in members:
        wanted = belongs & asked
        if not wanted.any():
            continue
        if isinstance(weights, Terms):
            for total, terms in zip(sums, (weights.event_free, weights.event), strict=True):
                total.add(terms, belongs)
        elif isinstance(weights, Imputed) and weights.placed is not None:
            sums[1].add(((None, None),), belongs)
            imputed.append(weights.placed(placing, np.flatnonzero(wanted)))
        elif isinstance(weights, Observed) and weights.placed is not None and not (asked & ~belongs).any():
            observed.append(weights.placed(placing))
        else:
            raise ValueError("the weights of this adjustment are computed from numpy arrays alone.")
    event_free, event = (total.placed(placing, asked) for total in sums)
    return PlacedSide(event_free, event, tuple(observed), tuple(imputed))


class _Sums:
    """Terms of several groups with the same factor per time, added up."""

    def __init__(self, n: int) -> None:
        self._n = n
        self._found: dict[bytes, tuple[FloatArray | None, FloatArray]] = {}

    def add(self, terms: tuple[Term, ...], belongs: BoolArray) -> None:
        for subject, time in terms:
            key = b"" if time is None else time.tobytes()
            factor = self._found.setdefault(key, (time, np.zeros(self._n)))[1]
            factor[belongs] += 1.0 if subject is None else subject[belongs]

    def placed(self, placing: Placing, asked: BoolArray) -> tuple[PlacedTerm, ...]:
        return tuple(
            (
                None if (factor[asked] == 1.0).all() else placing.subjects(factor),
                None if time is None else placing.times(time),
            )
            for time, factor in self._found.values()
            if factor[asked].any()
        )
