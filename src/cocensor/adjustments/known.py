"""Subjects whose status counts as known: event-free before their cut, with the event from there on.

Their weights are products of a factor per subject and one per time, so that a weighted sum is a product of a vector
with a block of losses of what is known. No order of subjects is needed: predictions are read as they lie in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cocensor._cached import cached_property
from cocensor._checks import FloatArray
from cocensor.adjustments.status import EventWeights, Group
from cocensor.adjustments.weights import Term, Terms

# A table of so many times stays in the cache.
_MOST_TABULATED = 256


@dataclass(frozen=True, eq=False)
class Known:
    """For all subjects their cut and their weights, which are 0 for those whose status does not count as known.

    The weights of being event-free hold before the cut, those of the event from there on.
    """

    cut: npt.NDArray[np.unsignedinteger]
    columns: npt.NDArray[np.unsignedinteger]
    terms: Terms

    @classmethod
    def of(cls, status: EventWeights) -> tuple[Known | None, tuple[Group, ...]]:
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

    def event_free(self, rows: slice, out: FloatArray) -> FloatArray:
        """Who is event-free at which time, 1 or 0, written to ``out`` in the order of its memory."""
        cut, columns = self.cut[rows], self.columns
        if not out.flags.c_contiguous:
            np.copyto(out.T, cut > columns[:, None])
        elif self.by_cut is not None:
            self.by_cut.take(
                cut, axis=0, out=out, mode="clip"
            )  # no cut is clipped: other modes copy once more
        else:
            np.copyto(out, cut[:, None] > columns)
        return out

    @cached_property
    def by_cut(self) -> FloatArray | None:
        """For each cut, at which times a subject is event-free; None where that is beyond the cache."""
        n_times = self.columns.size
        return np.tri(n_times + 1, n_times, -1) if n_times <= _MOST_TABULATED else None

    def weights(self, rows: slice) -> KnownWeights:
        """The weights of some subjects at all times."""
        # A product with ones is several times as fast as a sum over rows.
        event_free, event = (
            [
                (np.ones(rows.stop - rows.start) if subject is None else subject[rows], time)
                for subject, time in terms
            ]
            for terms in (self.terms.event_free, self.terms.event)
        )
        return KnownWeights(event_free, event)

    def total_alike(self, rows: slice, event_free: FloatArray, event: FloatArray) -> FloatArray:
        """The weighted sums over some subjects of losses at each time that are the same for all of them."""
        cut, n_times = self.cut[rows], self.columns.size
        total = np.zeros(n_times)
        for subject, time in self.terms.event_free:
            by_cut = np.bincount(cut, None if subject is None else subject[rows], n_times + 1)
            total += _by_time(by_cut[::-1].cumsum()[::-1][1:] * event_free, time)
        for subject, time in self.terms.event:
            by_cut = np.bincount(cut, None if subject is None else subject[rows], n_times + 1)
            total += _by_time(by_cut.cumsum()[:n_times] * event, time)
        return total

    def by_subject_alike(self, rows: slice, event_free: FloatArray, event: FloatArray) -> FloatArray:
        """The weighted sums over time of such losses, which the weights of the times are a part of."""
        cut = self.cut[rows]
        total = np.zeros(cut.size)
        for subject, time in self.terms.event_free:
            before = np.append(0.0, _by_time(event_free, time).cumsum())[cut]
            total += before if subject is None else subject[rows] * before
        for subject, time in self.terms.event:
            after = np.append(_by_time(event, time)[::-1].cumsum()[::-1], 0.0)[cut]
            total += after if subject is None else subject[rows] * after
        return total


@dataclass(frozen=True, eq=False)
class KnownWeights:
    """The weights of some subjects: factors by subject and by time, None for 1."""

    event_free: list[tuple[FloatArray, FloatArray | None]]
    event: list[tuple[FloatArray, FloatArray | None]]

    def total(self, losses: FloatArray, event_free: FloatArray) -> FloatArray:
        """The weighted sums over subjects of losses, of which ``event_free`` are those before the cuts, 0 after."""
        total = np.zeros(losses.shape[1])
        for subject, time in self.event_free:
            total += _by_time(subject @ event_free, time)
        for subject, time in self.event:
            total += _by_time(subject @ losses - subject @ event_free, time)
        return total

    def by_subject(self, losses: FloatArray, event_free: FloatArray, time_weights: FloatArray) -> FloatArray:
        """The same over times, with weights."""
        total = np.zeros(len(losses))
        for subject, time in self.event_free:
            total += subject * (event_free @ _by_time(time_weights, time))
        for subject, time in self.event:
            over = _by_time(time_weights, time)
            total += subject * (losses @ over - event_free @ over)
        return total


def _by_time(values: FloatArray, time: FloatArray | None) -> FloatArray:
    return values if time is None else time * values


def _counts_as_known(group: Group, n_times: int) -> bool:
    before, after = group.before, group.after
    if not (isinstance(before, Terms) and isinstance(after, Terms)) or before.event:
        return False
    return not after.event_free or bool((group.cut >= n_times).all())


def _together(found: Sequence[tuple[Group, tuple[Term, ...]]], n: int) -> tuple[Term, ...]:
    """The terms of several groups as terms of all subjects; those with the same factor per time are added up."""
    if len(found) == 1 and found[0][0].rows.size == n:
        return found[0][1]
    sums: dict[bytes, tuple[FloatArray, FloatArray | None]] = {}
    for group, terms in found:
        for subject, time in terms:
            factor, _ = sums.setdefault(b"" if time is None else time.tobytes(), (np.zeros(n), time))
            factor[group.rows] += 1.0 if subject is None else subject[group.rows]
    return tuple(sums.values())
