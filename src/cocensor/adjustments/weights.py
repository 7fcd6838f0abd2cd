r"""The weights of subjects: who is still event-free at t? The answer that every metric reads.

For subject i and time t there are two weights, :math:`a_i(t)` for "event-free at t" and :math:`b_i(t)` for "event by
t", and a normaliser m. With the times sorted, each subject has a *cut*, the number of times before its observed time.
Up to the cut a subject is event-free, from then on it counts as one with the event, unless something else is modelled:

.. math:: a_i(t_k) = 1[k < c_i] \sum_m f_{im}\,g_m(t_k) + q_i(t_k), \qquad
    b_i(t_k) = 1[k \ge c_i] \sum_m f_{im}\,g_m(t_k) - q_i(t_k)

Weights are never held as n × T arrays. Products of a factor f per subject and a factor g per time leave a weighted sum
to a product of a vector with a block of losses; the *modelled* q, which differ by subject and time, are computed for
blocks of subjects of similar cut, for the times on the side of the cut where they are not 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import KW_ONLY, dataclass, field, replace
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from cocensor._cached import cached_property
from cocensor._checks import BoolArray, FloatArray, IntArray, Rows
from cocensor._namespaces import Array, Placing
from cocensor._notes import Note
from cocensor.adjustments.gradient import Part
from cocensor.adjustments.whole import WeightLoad
from cocensor.data import Sample, Survival
from cocensor.data.times import TimeGrid

# Of all subjects at some times so many numbers are held at once.
_TILE_ELEMENTS = 2**24
# Weights at all times are kept, where these are fewer.
_KEPT_ELEMENTS = 2**21
# Rows among which subjects are put in the order of their cuts, and how many numbers of a block stay in the cache.
STRIP_ROWS = 2**13
_BLOCK_ELEMENTS = 2**16

#: A factor per subject and a factor per time; None stands for 1.
Term = tuple[FloatArray | None, FloatArray | None]
#: One, for everybody at all times.
CERTAIN: tuple[Term, ...] = ((None, None),)


@dataclass(frozen=True, eq=False)
class Modelled:
    """Weights of some subjects that differ by subject and time, on one side of a cut.

    Attributes
    ----------
    rows : array of int
        The subjects, ascending.
    cut : array of int
        The number of sorted times before the cut, for each of them.
    q : callable
        The weights of some rows at some of the sorted times: added to a, and taken from b. What it gives on the other
        side of the cut does not count.
    before : bool
        Whether they hold up to the cut, or from it on.
    observed : bool
        Whether they are weights of subjects seen event-free, which are not taken from b.
    placed : callable, optional
        Makes the same function for arrays of another library, 0 for other subjects; without, they are numpy's alone.

    See Also
    --------
    EventWeights : Holds them, and has an example.
    """

    rows: Rows
    cut: IntArray
    q: Callable[[Rows, slice], FloatArray]
    before: bool = False
    observed: bool = False
    placed: Callable[[Placing], Callable[[Any], Array]] | None = None

    @classmethod
    def product(
        cls,
        rows: Rows,
        cut: IntArray,
        subject: FloatArray,
        time: FloatArray | None = None,
        observed: bool = False,
    ) -> Self:
        """Return weights from the cut on with a factor for each of all subjects, and one for each time."""

        def q(some: Rows, columns: slice) -> FloatArray:
            factor = np.ones(columns.stop - columns.start) if time is None else time[columns]
            return np.multiply.outer(subject[some], factor)

        def placed(placing: Placing) -> Callable[[Any], Array]:
            own = np.zeros(subject.size)
            own[rows] = subject[rows]
            factors, factor = placing.subjects(own), 1.0 if time is None else placing.times(time)
            return lambda some: factors[some][:, None] * factor

        return cls(rows, cut, q, observed=observed, placed=placed)

    def weighted(self, weight: FloatArray) -> Modelled:
        """Return the same of subjects who count by a ``weight`` each, without those who do not count."""
        counted = weight[self.rows] > 0

        def q(rows: Rows, columns: slice) -> FloatArray:
            return weight[rows, None] * self.q(rows, columns)

        def placed(placing: Placing) -> Callable[[Any], Array]:
            assert self.placed is not None
            own, bare = placing.subjects(weight), self.placed(placing)
            return lambda some: own[some][:, None] * bare(some)

        rows, cut = self.rows[counted], self.cut[counted]
        return replace(self, rows=rows, cut=cut, q=q, placed=self.placed and placed)

    @cached_property
    def in_order(self) -> tuple[Rows, IntArray]:
        """Rows and cuts, in the order of the cuts within strips of neighbouring rows."""
        order = by_cut(self.rows, self.cut)
        return self.rows[order], self.cut[order]


class Piece(NamedTuple):
    """The modelled weights of some subjects at some of the sorted times."""

    rows: Rows
    columns: slice
    q: FloatArray
    observed: bool


@dataclass(frozen=True, eq=False)
class Tile:
    """All subjects at some of the sorted times: the weights a and b, (subjects, columns) each."""

    columns: slice
    event_free: FloatArray
    event: FloatArray

    @cached_property
    def by_time(self) -> tuple[FloatArray, FloatArray]:
        """The weights a and b, (columns, subjects) each."""
        return np.ascontiguousarray(self.event_free.T), np.ascontiguousarray(self.event.T)


@dataclass(eq=False, repr=False)
class EventWeights:
    """The two weights of every subject at every time, and the normaliser.

    Made by :meth:`Fitted.weights`. Metrics read :meth:`blocks` or :meth:`tiles`; ``a`` and ``b`` materialise the
    weights as n × T arrays, for inspection.

    Attributes
    ----------
    grid : TimeGrid
        The times; ``times`` has them in the order given.
    n : int
        Number of subjects.
    cut : array of int
        For each subject how many of the sorted times lie before its observed time.
    event_free, event : tuple of terms
        The weights a before the cut, and b from the cut on, as sums of products (f, g) of a factor per subject and one
        per time; None stands for 1. By default both are 1.
    modelled : tuple of Modelled
        Weights that are no such products.
    mass : array, optional
        How much each subject counts by its two weights together; by default 1.
    normaliser : float
        The sum of ``mass``: by default the number of subjects.
    weight : array or None
        The sampling weight of each subject, by which a, b and ``mass`` are multiplied already; None for 1 each.
    valid_until : float
        From this time on the adjustment gives no answer: weights and scores there are NaN. That of a part of a sample
        is known once all parts are (:meth:`Fitted.settled`).
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
    >>> weights = IPCW().fit(y).weights(y, [2.5])
    >>> weights
    EventWeights(n=4, times=1, normaliser=4)
    >>> weights.a.T.round(2), weights.b.T.round(2)
    (array([[0. , 0. , 1.5, 1.5]]), array([[1., 0., 0., 0.]]))
    """

    grid: TimeGrid
    cut: IntArray
    _: KW_ONLY
    event_free: tuple[Term, ...] = CERTAIN
    event: tuple[Term, ...] = CERTAIN
    modelled: tuple[Modelled, ...] = ()
    mass: FloatArray | None = None
    valid_until: float = np.inf
    load: WeightLoad | None = None
    notes: tuple[Note, ...] = ()
    model: Any = None
    #: Makes the same answer at other times; None where nothing can.
    at_times: Callable[[TimeGrid], EventWeights] | None = field(default=None, init=False)
    #: How the subjects are related to those fitted to, for errors, where they are drawn from these (``Subsample``).
    subsample: Any = field(default=None, init=False)
    weight: FloatArray | None = field(default=None, init=False)
    #: The weights that were multiplied by the last sampling weights, and by which.
    bare: EventWeights | None = field(default=None, init=False)
    factor: FloatArray | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.n = int(self.cut.size)
        self.modelled = tuple(part for part in self.modelled if part.rows.size)
        self.normaliser = float(self.n if self.mass is None else self.mass.sum())

    def replaced(self, **changes: Any) -> Self:
        """Return a copy with other attributes: weights are a value, and nothing sets one of their attributes."""
        changed, kind = copy(self), type(self)
        computed = [name for name in vars(self) if isinstance(getattr(kind, name, None), cached_property)]
        vars(changed).update(changes)
        for name in computed:
            del vars(changed)[name]
        return changed

    def weighted(self, weight: FloatArray) -> Self:
        """Return the weights of subjects who count by a ``weight`` each, of which the adjustment is not aware."""

        def weighed(terms: tuple[Term, ...]) -> tuple[Term, ...]:
            return tuple((weight if f is None else weight * f, g) for f, g in terms)

        at_times, mass = self.at_times, weight if self.mass is None else weight * self.mass
        return self.replaced(
            event_free=weighed(self.event_free),
            event=weighed(self.event),
            modelled=tuple(part.weighted(weight) for part in self.modelled),
            mass=mass,
            normaliser=float(mass.sum()),
            weight=weight if self.weight is None else weight * self.weight,
            at_times=None if at_times is None else lambda grid: at_times(grid).weighted(weight),
            bare=self,
            factor=weight,
        )

    def __repr__(self) -> str:
        return f"EventWeights(n={self.n}, times={self.times.size}, normaliser={self.normaliser:g})"

    @property
    def times(self) -> FloatArray:
        """The times, in the order given."""
        return self.grid.times

    @property
    def n_floored(self) -> int:
        """The number of weights that rest on a floor."""
        return 0 if self.load is None else self.load.n_floored

    def pieces(self, rows: slice, columns: slice) -> Iterator[Piece]:
        """Return the modelled weights of neighbouring rows at some of the sorted times, in pieces that add up."""
        for modelled in self.modelled:
            first, last = np.searchsorted(modelled.rows, (rows.start, rows.stop)).tolist()
            order = first + np.argsort(_short(modelled.cut[first:last]), kind="stable")
            n_pieces = min(order.size, -(-order.size * (columns.stop - columns.start) // _BLOCK_ELEMENTS))
            for subjects in np.array_split(order, n_pieces) if n_pieces else ():
                cut = modelled.cut[subjects]
                if modelled.before:
                    some = slice(columns.start, min(columns.stop, int(cut[-1])))
                else:
                    some = slice(max(columns.start, int(cut[0])), columns.stop)
                if some.start < some.stop:
                    who = modelled.rows[subjects]
                    holds = (cut[:, None] > np.arange(some.start, some.stop)) == modelled.before
                    yield Piece(who, some, np.where(holds, modelled.q(who, some), 0.0), modelled.observed)

    def block(self, rows: slice, columns: slice | None = None) -> tuple[FloatArray, FloatArray]:
        """Return the weights a and b of neighbouring rows at all, or some, sorted times, (rows, columns) each."""
        columns = slice(0, self.grid.sorted.size) if columns is None else columns
        free = self.cut[rows, None] > np.arange(columns.start, columns.stop)
        a = np.where(free, _summed(self.event_free, rows, columns), 0.0)
        b = np.where(free, 0.0, _summed(self.event, rows, columns))
        for piece in self.pieces(rows, columns):
            place = piece.rows - rows.start
            some = slice(piece.columns.start - columns.start, piece.columns.stop - columns.start)
            a[place, some] += piece.q
            if not piece.observed:
                b[place, some] -= piece.q
        return a, b

    def blocks(self, columns: slice | None = None) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
        """Return all subjects in blocks of neighbouring rows: the rows, and their weights as by :meth:`block`."""
        n_columns = self.grid.sorted.size if columns is None else columns.stop - columns.start
        for rows in _slices(self.n, min(STRIP_ROWS, max(1, 4 * _BLOCK_ELEMENTS // max(1, n_columns)))):
            yield rows, *self.block(rows, columns)

    def tiles(self, n_arrays: int = 16) -> Iterator[Tile]:
        """Return the weights of all subjects as arrays, at some times after the other; so many are held at once."""
        n_times = self.grid.sorted.size
        kept = self.n * n_times <= _KEPT_ELEMENTS
        for columns in _slices(n_times, max(1, _TILE_ELEMENTS // max(1, self.n * n_arrays))):
            yield Tile(columns, *(self._whole[:, :, columns] if kept else self._dense(columns)))

    def fit_in_one(self, n_arrays: int) -> bool:
        """Whether so many arrays of all subjects at all times can be held at once."""
        return self.n * self.grid.sorted.size * n_arrays <= _TILE_ELEMENTS

    @cached_property
    def _whole(self) -> FloatArray:
        """Both weights of all subjects at all of the sorted times."""
        return self._dense(slice(0, self.grid.sorted.size))

    def _dense(self, columns: slice) -> FloatArray:
        """Both weights of all subjects at some of the sorted times."""
        both = np.empty((2, self.n, columns.stop - columns.start))
        for rows, a, b in self.blocks(columns):
            both[0, rows], both[1, rows] = a, b
        return both

    def at_columns(self, columns: slice) -> EventWeights:
        """Return the same answer at some of the sorted times alone."""
        if columns.start == 0 and columns.stop >= self.grid.sorted.size:
            return self
        if self.at_times is None:
            raise ValueError("a status that was made by hand is known at its own times alone.")
        return self.at_times(TimeGrid.of(self.grid.sorted[columns]))

    pulls_back_at_once: ClassVar[bool] = False

    @property
    def sample(self) -> Survival | None:
        """The outcomes that the adjustment was fitted to; None where nothing was fitted."""
        raise ValueError("the adjustment has no analytic influence function.")

    @property
    def hazard_ratio(self) -> float | None:
        """Right after leaving: the hazard of a dropout, against those alike still under observation.

        The geometric mean over the dropouts who are imputed, of the ratios that are finite; None where there is none.
        """
        rows, log_ratio = self.log_hazard_ratios
        share = np.ones(rows.size) if self.weight is None else self.weight[rows]
        used = np.isfinite(log_ratio) & (share > 0)
        with np.errstate(over="ignore", under="ignore"):  # inf and 0 beyond double precision
            return float(np.exp(np.average(log_ratio[used], weights=share[used]))) if used.any() else None

    @property
    def log_hazard_ratios(self) -> tuple[Rows, FloatArray]:
        """The dropouts who are imputed, and the logarithm of the hazard ratio of each."""
        return np.empty(0, dtype=np.intp), np.empty(0)

    @property
    def interval_caveats(self) -> tuple[Note, ...]:
        """Why intervals that rest on :meth:`pull_back` may be off."""
        return ()

    def pull_back(self, parts: Iterator[Part], size: int) -> Iterator[tuple[Rows, FloatArray]]:
        r"""Return what each subject of the ``sample`` adds to scores by way of the fit, in blocks (rows, functionals).

        With the gradient :math:`(\alpha, \beta)` of a score by the weights it is
        :math:`\psi_j = \sum_{i,t} w(t)[\alpha_i(t)\,\dot a_i(t; j) + \beta_i(t)\,\dot b_i(t; j)]`, where a dot is
        the influence of subject j on the weights: of a small share ε of the sample given to j, with the rest
        shrunk by 1 − ε, the derivative by ε (times the sampling weight of j, over their mean). Its mean over the sample
        is 0. The ``parts`` of so many values, each by the weights at some of the times, add up; they are all of the
        same values unless an adjustment ``pulls_back_at_once``. Blocks come in any order; a subject may come in
        several, which add up, or in none. An adjustment without an analytic influence says so.
        """
        raise ValueError("the adjustment has no analytic influence function.")

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
        both = self._dense(slice(0, self.grid.sorted.size))
        both[:, :, self.grid.sorted >= self.valid_until] = np.nan
        return self.grid.restore(both)


class NothingFitted(EventWeights):
    """Weights that are known beforehand: no subject adds anything by way of a fit."""

    sample = None

    def pull_back(self, parts: Iterator[Part], size: int) -> Iterator[tuple[Rows, FloatArray]]:
        """Return nothing: no subject adds anything."""
        yield from ()


def pulled_back(weights: EventWeights, parts: Iterator[Part], size: int) -> Iterator[tuple[Rows, FloatArray]]:
    """What each subject of the ``sample`` adds to scores; by weights times sampling weights, by the chain rule."""
    bare, factor = weights.bare, weights.factor
    if bare is None:
        return weights.pull_back(parts, size)
    return pulled_back(bare, (part.bare(factor) for part in parts), size)


def cut_where_unknown(sample: Sample, grid: TimeGrid) -> tuple[IntArray, BoolArray]:
    """Return the cuts for imputation, and who is imputed: whoever counts, and is censored before the last time."""
    y = sample.y
    imputed = ~y.event & (y.time < grid.last) & sample.counted
    return np.where(y.event | imputed, grid.cut(y.time), grid.sorted.size), imputed


def by_cut(rows: Rows, cut: IntArray) -> Rows:
    """Indices that put ascending ``rows`` in the order of their ``cut``, within strips of neighbouring rows."""
    keys = _short(cut)
    ends = np.searchsorted(rows, np.arange(0, rows.max(initial=0) + 1 + STRIP_ROWS, STRIP_ROWS))
    parts = pairwise(ends.tolist())
    return np.concatenate([start + np.argsort(keys[start:stop], kind="stable") for start, stop in parts])


def _short(cut: IntArray) -> npt.NDArray[Any]:
    """Few distinct small numbers, which numpy sorts by counting."""
    return cut.astype(np.uint16 if cut.max(initial=0) < 2**16 else np.int64)


def _slices(stop: int, step: int) -> list[slice]:
    """Neighbours, so many in each slice."""
    return [slice(start, min(start + step, stop)) for start in range(0, stop, step)]


def _summed(terms: tuple[Term, ...], rows: slice, columns: slice) -> FloatArray:
    """Sums of products, (rows, columns) or what broadcasts to it."""
    total: FloatArray = np.zeros((1, 1))
    for subject, time in terms:
        f = 1.0 if subject is None else subject[rows, None]
        total = total + f * (1.0 if time is None else time[columns])
    return total
