"""Subjects whose status counts as known: event-free before their cut, with the event from there on.

Their weights are products of a factor per subject and one per time, so that a weighted sum is a product of a vector with
a block of losses of what is known. No order of subjects is needed: predictions are read as they lie in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cocensor._validation import FloatArray
from cocensor.adjustments.status import BlockWeights, Group, Status, Term, Terms


@dataclass(frozen=True, eq=False)
class Known:
    """For all subjects their cut and their weights, which are 0 for those whose status does not count as known.

    The weights of being event-free hold before the cut, those of the event from there on.
    """

    cut: npt.NDArray[np.unsignedinteger]
    columns: npt.NDArray[np.unsignedinteger]
    terms: Terms

    @classmethod
    def of(cls, status: Status) -> tuple[Known | None, tuple[Group, ...]]:
        """Those of a status, and the groups of the others; None where they are less than half of all."""
        n_times = status.grid.sorted.size
        groups = [group for group in status.groups if _counts_as_known(group, n_times)]
        if 2 * sum(group.rows.size for group in groups) < status.n:
            return None, status.groups
        small = np.min_scalar_type(n_times)
        cut = np.zeros(status.n, dtype=small)
        for group in groups:
            cut[group.rows] = group.cut
        before, after = (
            _together([(group, getattr(getattr(group, side), name)) for group in groups], status.n)
            for side, name in (("before", "event_free"), ("after", "event"))
        )
        others = tuple(group for group in status.groups if group not in groups)
        return cls(cut, np.arange(n_times, dtype=small), Terms(before, after)), others

    def event_free(self, rows: slice, like: FloatArray) -> FloatArray:
        """Who is event-free at which time, 1 or 0, in the memory order of the values that it is held against."""
        cut, columns = self.cut[rows], self.columns
        if like.strides[0] < like.strides[1]:
            return (cut > columns[:, None]).astype(np.float64).T
        return (cut[:, None] > columns).astype(np.float64)

    def weights(self, rows: slice) -> BlockWeights:
        """The weights of some subjects at all times."""
        return self.terms.block(rows, slice(0, self.columns.size))


def _counts_as_known(group: Group, n_times: int) -> bool:
    before, after = group.before, group.after
    if not (isinstance(before, Terms) and isinstance(after, Terms)) or before.event:
        return False
    return not after.event_free or bool((group.cut >= n_times).all())


def _together(found: Sequence[tuple[Group, tuple[Term, ...]]], n: int) -> tuple[Term, ...]:
    """The terms of several groups as terms of all subjects; those with the same factor per time are added up."""
    if len(found) == 1 and found[0][0].rows.size == n:
        return found[0][1]
    sums: dict[int, tuple[FloatArray, FloatArray | None]] = {}
    for group, terms in found:
        for subject, time in terms:
            factor, _ = sums.setdefault(id(time), (np.zeros(n), time))
            factor[group.rows] += 1.0 if subject is None else subject[group.rows]
    return tuple(sums.values())
