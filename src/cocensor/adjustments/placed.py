"""The weights of all subjects beside predictions that are arrays of another library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cocensor._namespaces import Array, Place, Placing
from cocensor.adjustments import EventWeights
from cocensor.adjustments.weights import Modelled, Term

#: A factor for each subject, or 1, and one for each time, or 1.
PlacedTerm = tuple[Array | None, Array | None]
#: The modelled weights of some rows at all times.
PlacedWeights = Callable[[Any], Array]


@dataclass(frozen=True, eq=False)
class PlacedStatus:
    """:class:`EventWeights` beside the predictions, subjects in their order; nothing of them is n × T.

    Columns are in the order of the times given. A subject is event-free at those whose time comes before its ``cut``.
    """

    place: Place
    n: int
    normaliser: float
    cut: Array
    columns: Array
    event_free: tuple[PlacedTerm, ...]
    event: tuple[PlacedTerm, ...]
    modelled: tuple[tuple[Modelled, PlacedWeights], ...]
    #: At which columns there is a score; None for all.
    known: Array | None

    @classmethod
    def of(cls, weights: EventWeights, place: Place) -> PlacedStatus:
        """Return the weights after all host work, and one copy of each vector to where the predictions are."""
        grid = weights.grid
        order = np.arange(grid.sorted.size) if grid.place is None else grid.place
        placing = Placing(place, order)
        known = grid.times < weights.valid_until
        return cls(
            place,
            weights.n,
            weights.normaliser,
            place.put(weights.cut.astype(np.int64)),
            place.put(order.astype(np.int64)),
            _terms(weights.event_free, placing),
            _terms(weights.event, placing),
            tuple((part, _placed(part, placing)) for part in weights.modelled),
            None if known.all() else place.put(known),
        )

    def weighed(self, rows: Any, event_free: Array, event: Array) -> Array:
        """Return what the two losses of some rows add at each time, (rows, times)."""
        alive, had = (
            [_times(term, rows, losses) for term in terms]
            for terms, losses in ((self.event_free, event_free), (self.event, event))
        )
        for part, q in self.modelled:
            weighed = q(rows) * (event_free if part.observed else event_free - event)
            (alive if part.before else had).append(weighed)
        before = self.cut[rows][:, None] > self.columns
        return self.place.xp.where(before, _sum(alive), _sum(had))


def _terms(terms: tuple[Term, ...], placing: Placing) -> tuple[PlacedTerm, ...]:
    return tuple(
        (
            None if subject is None else placing.subjects(subject),
            None if time is None else placing.times(time),
        )
        for subject, time in terms
    )


def _placed(part: Modelled, placing: Placing) -> PlacedWeights:
    if part.placed is None:
        raise ValueError("the weights of this adjustment are computed from numpy arrays alone.")
    return part.placed(placing)


def _times(term: PlacedTerm, rows: Any, values: Array) -> Array:
    subject, time = term
    if time is not None:
        values = values * time
    return values if subject is None else values * subject[rows][:, None]


def _sum(parts: list[Array]) -> Any:
    total: Any = 0.0
    for k, part in enumerate(parts):
        total = total + part if k else part
    return total
