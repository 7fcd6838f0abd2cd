r"""Who is still event-free at t? The answer that every metric reads.

For subject i and time t a status holds two weights, :math:`a_i(t)` for "event-free at t" and :math:`b_i(t)` for
"event by t", and a normaliser m.

Weights are never held as n × T arrays. Up to a subject's observed time they have one form, from then on another:
with the times sorted, each subject has a *cut*, and within a block of subjects of similar cut nearly all columns lie
on one side. There a weighted sum is a product of a vector with a block of values that fits into the cache. Subjects
are put in the order of their cuts within *strips* of neighbouring rows alone: predictions are read from one end of the
memory to the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from cocensor._cached import cached_property
from cocensor._checks import BoolArray, FloatArray, IntArray, Rows
from cocensor._notes import Note
from cocensor._numerics import put_rows
from cocensor.adjustments.gradient import Functionals, Part
from cocensor.adjustments.tile import Block, Strip, Tile
from cocensor.adjustments.weights import NOTHING, Weights
from cocensor.adjustments.whole import WeightLoad
from cocensor.data import Survival
from cocensor.data.times import TimeGrid

# Of all subjects at some times so many numbers are held at once.
_TILE_ELEMENTS = 2**24
# Weights at all times are kept, where these are fewer.
_KEPT_ELEMENTS = 2**21
# Rows that are put in the order of their cuts, and how many numbers are read of them at once; those of a block stay in
# the cache.
_STRIP_ROWS = 2**13
_STRIP_ELEMENTS = 2**20
_BLOCK_ELEMENTS = 2**17


@dataclass(frozen=True, eq=False)
class Group:
    """Subjects whose weights have the same form: their rows, ascending, and the cut of each."""

    rows: Rows
    cut: IntArray
    before: Weights
    after: Weights

    @classmethod
    def of(cls, rows: Rows, cut: IntArray, before: Weights, after: Weights) -> Group:
        """The group of ascending ``rows``, with the cuts of all subjects."""
        return cls(rows, cut if rows.size == cut.size else cut[rows], before, after)

    @cached_property
    def in_order(self) -> tuple[Rows, IntArray]:
        """Rows and cuts, strip by strip in the order of the cuts."""
        order = by_cut(self.rows, self.cut)
        return self.rows[order], self.cut[order]

    def parts(self, strip: int, width: int) -> Iterator[slice]:
        """The subjects of a strip, in that order, in parts of about the same size, for so many times."""
        first, last = np.searchsorted(self.rows, (strip * _STRIP_ROWS, (strip + 1) * _STRIP_ROWS)).tolist()
        n_parts = min(last - first, -(-(last - first) * width // _BLOCK_ELEMENTS))
        for k in range(n_parts):
            yield slice(*(first + (last - first) * end // n_parts for end in (k, k + 1)))


def by_cut(rows: Rows, cut: IntArray) -> Rows:
    """Indices that put ascending ``rows`` strip by strip in the order of their ``cut``."""
    # Few distinct small numbers, which numpy sorts by counting.
    keys = cut.astype(np.uint16 if cut.max(initial=0) < 2**16 else np.int64)
    ends = np.searchsorted(rows, np.arange(0, rows.max(initial=0) + 1 + _STRIP_ROWS, _STRIP_ROWS))
    parts = (slice(*some) for some in pairwise(ends.tolist()))
    return np.concatenate([part.start + np.argsort(keys[part], kind="stable") for part in parts])


def _block(group: Group, part: slice, start: int, stop: int) -> Block:
    """Some subjects of a group, with their weights from one of the sorted times up to another."""
    rows, cut = (each[part] for each in group.in_order)
    low, high = (int(min(max(end, start), stop)) for end in (cut[0], cut[-1]))
    mixed = cut[:, None] > np.arange(low, high)
    stretches: tuple[tuple[Weights, slice, BoolArray | None], ...] = (
        (group.before, slice(start, low), None),
        (group.before, slice(low, high), mixed),
        (group.after, slice(low, high), ~mixed),
        (group.after, slice(high, stop), None),
    )
    used = tuple(
        (weights.block(rows, some), some, mask)
        for weights, some, mask in stretches
        if some.start < some.stop and weights is not NOTHING
    )
    return Block(rows, used)


class EventWeights:
    """The two weights of every subject at every time, and the normaliser.

    Made by :meth:`Fitted.weights`. Metrics read :meth:`blocks`; ``a`` and ``b`` materialise the weights as
    n × T arrays, for inspection.

    Attributes
    ----------
    grid : TimeGrid
        The times; ``times`` has them in the order given.
    n : int
        Number of subjects.
    normaliser : float
    valid_until : float
        From this time on the adjustment gives no answer: weights and scores there are NaN. That of a part of a sample
        is known once all parts are (:meth:`Fitted.valid_until`).
    load : WeightLoad or None
        What the weights come to, where that decides on ``valid_until``.
    n_floored : int
        How many weights, over subjects and times, rest on a floor that was asked for.
    notes : tuple of Note
        What was decided on the way to the answer.
    model : JointModel or None
        The joint model behind the answer, if there is one.

    Examples
    --------
    >>> from cocensor import IPCW
    >>> y = ([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 1])
    >>> status = IPCW().fit(y).weights(y, [2.5])
    >>> status
    EventWeights(n=4, times=1, normaliser=4)
    >>> status.a.T.round(2), status.b.T.round(2)
    (array([[0. , 0. , 1.5, 1.5]]), array([[1., 0., 0., 0.]]))
    """

    def __init__(
        self,
        grid: TimeGrid,
        n: int,
        groups: tuple[Group, ...],
        *,
        normaliser: float | None = None,
        valid_until: float = np.inf,
        load: WeightLoad | None = None,
        notes: tuple[Note, ...] = (),
        model: Any = None,
    ) -> None:
        self.grid, self.n, self.groups = grid, n, groups
        self.normaliser = float(n) if normaliser is None else float(normaliser)
        self.valid_until, self.load = valid_until, load
        self.notes, self.model = notes, model
        #: Makes the same answer at other times; None where nothing can.
        self.at_times: Callable[[TimeGrid], EventWeights] | None = None
        #: How the subjects are related to those fitted to, for errors, where they are drawn from these (``Subsample``).
        self.subsample: Any = None

    def replaced(self, **changes: Any) -> Self:
        """The same with other attributes: a status is a value, and nothing sets one of its attributes."""
        made = copy(self)
        vars(made).update(changes)
        return made

    def __repr__(self) -> str:
        return f"EventWeights(n={self.n}, times={self.times.size}, normaliser={self.normaliser:g})"

    @property
    def times(self) -> FloatArray:
        """The times, in the order given."""
        return self.grid.times

    @property
    def n_floored(self) -> int:
        """How many weights rest on a floor."""
        return 0 if self.load is None else self.load.n_floored

    def blocks(self, columns: slice | None = None) -> Iterator[Block]:
        """All subjects in blocks, each with its weights at all times, or at some of the sorted ones."""
        for number in range(self.n_strips):
            for strip in self.strips(number, columns):
                yield from strip.blocks

    @property
    def n_strips(self) -> int:
        """The number of strips of neighbouring rows."""
        return -(-self.n // _STRIP_ROWS)

    def strip(self, number: int) -> slice:
        """The rows of a strip."""
        return slice(number * _STRIP_ROWS, min((number + 1) * _STRIP_ROWS, self.n))

    def strips(
        self, number: int, columns: slice | None = None, groups: tuple[Group, ...] | None = None
    ) -> Iterator[Strip]:
        """The blocks of a strip together, or where there are many times in lots that can be read at once.

        Those of all groups, or of some.
        """
        start, stop = (0, self.grid.sorted.size) if columns is None else (columns.start, columns.stop)
        most = max(1, _STRIP_ELEMENTS // max(1, stop - start))
        blocks: list[Block] = []
        for group in self.groups if groups is None else groups:
            for part in group.parts(number, stop - start):
                if blocks and sum(block.rows.size for block in blocks) + part.stop - part.start > most:
                    yield Strip.of(blocks)
                    blocks = []
                blocks.append(_block(group, part, start, stop))
        if blocks:
            yield Strip.of(blocks)

    def tiles(self, n_arrays: int = 16) -> Iterator[Tile]:
        """All subjects at some of the times, with their weights as arrays; so many such are to be held at once."""
        n_times = self.grid.sorted.size
        width = max(1, _TILE_ELEMENTS // max(1, self.n * n_arrays))
        for start in range(0, n_times, width):
            columns = slice(start, min(start + width, n_times))
            kept = self.n * n_times <= _KEPT_ELEMENTS
            yield Tile(columns, *(self._whole[:, :, columns] if kept else self._dense(columns)))

    def fit_in_one(self, n_arrays: int) -> bool:
        """Whether so many arrays of all subjects at all times can be held at once."""
        return self.n * self.grid.sorted.size * n_arrays <= _TILE_ELEMENTS

    @cached_property
    def _whole(self) -> FloatArray:
        """Both weights of all subjects at all of the sorted times."""
        return self._dense(slice(0, self.grid.sorted.size))

    def at_columns(self, columns: slice) -> EventWeights:
        """The same answer at some of the sorted times alone."""
        if columns.start == 0 and columns.stop >= self.grid.sorted.size:
            return self
        if self.at_times is None:
            raise ValueError("a status that was made by hand is known at its own times alone.")
        return self.at_times(TimeGrid.of(self.grid.sorted[columns]))

    def _dense(self, columns: slice) -> FloatArray:
        """Both weights of all subjects at some of the sorted times."""
        both = np.zeros((2, self.n, columns.stop - columns.start))
        for block in self.blocks(columns):
            for weight, values in zip(both, block.dense(columns), strict=True):
                put_rows(weight, block.rows, values)  # each subject is in one block
        return both

    @property
    def sample(self) -> Survival | None:
        """The outcomes that the adjustment was fitted to; None where nothing was fitted."""
        raise ValueError("the adjustment has no analytic influence function.")

    @property
    def hazard_ratio(self) -> float | None:
        """Right after leaving: the hazard of a dropout, against those alike still under observation.

        The geometric mean over the dropouts whose status is imputed; None where nobody's is.
        """
        return None

    @property
    def interval_caveats(self) -> tuple[Note, ...]:
        """Why intervals that rest on :meth:`pull_back` may be off."""
        return ()

    def pull_back(self, functionals: Functionals) -> Iterator[tuple[Rows, FloatArray]]:
        r"""What each subject of the ``sample`` adds to scores by way of the fit, in blocks (rows, functionals).

        With the gradient :math:`(\alpha, \beta)` of a score by the weights it is
        :math:`\psi_j = \sum_{i,t} w(t)[\alpha_i(t)\,\dot a_i(t; j) + \beta_i(t)\,\dot b_i(t; j)]`, where a dot is
        the influence of subject j on the weights: of a small share ε of the sample given to j, with the rest
        shrunk by 1 − ε, the derivative by ε. Its mean over the sample is 0. Blocks come in any order; a subject may
        come in several, which add up, or in none. An adjustment without an analytic influence says so.
        """
        raise ValueError("the adjustment has no analytic influence function.")

    def pull_back_parts(self, parts: Iterator[Part]) -> Iterator[tuple[Rows, FloatArray]]:
        """The same of several parts about the same values, each by the status at some of the times."""
        for part in parts:
            yield from part.status.pull_back(part.functionals)

    @cached_property
    def a(self) -> FloatArray:
        """The weights of "event-free at t", (n, T)."""
        return self._weights[0]

    @cached_property
    def b(self) -> FloatArray:
        """The weights of "event by t", (n, T)."""
        return self._weights[1]

    @cached_property
    def _weights(self) -> npt.NDArray[np.float64]:
        both = self._dense(slice(0, self.grid.sorted.size))
        both[:, :, self.grid.sorted >= self.valid_until] = np.nan
        return self.grid.restore(both)


class NothingFitted(EventWeights):
    """The answer of what is known beforehand: no subject adds anything by way of a fit."""

    @property
    def sample(self) -> Survival | None:
        """None."""
        return None

    def pull_back(self, functionals: Functionals) -> Iterator[tuple[Rows, FloatArray]]:
        """Nothing."""
        yield from ()
