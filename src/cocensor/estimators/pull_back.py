r"""From gradients by the values of two margins to the subjects that the margins were fitted to, in linear time.

In the notation of :mod:`cocensor.estimators.influence`, with :math:`e = |\psi|`, hazards :math:`x = -\log\pi` and
:math:`H = -\log S`, and :math:`\lambda_k` the variation of :math:`-\log(1 - \text{fraction})` at the exit k,

.. math:: e(H(t))\,\delta H(t) = \sum_{u_j \le t} \left[ e(x_j^+)\,\lambda_j + \Delta_j \sum_{k < j} \lambda_k \right],
    \qquad \Delta_j = e(x_j^+) - e(x_j^-).

A gradient g by the hazards H of a margin is summed backwards in time, :math:`B_j = \sum_{t \ge u_j} g(t)/e(H(t))`, and
the exit k weighs :math:`W_k = e(x_k^+) B_k\,1[k \text{ is a step}] + \sum_{j > k} \Delta_j B_j`, over both margins.
A subject of N has :math:`\lambda_k = N(\Delta N_k - f_k Y_k)/(n_k(1 - f_k))`, with the fraction :math:`f_k`, the number
at risk :math:`n_k`, and :math:`Y_k` and :math:`\Delta N_k` for being at risk and for leaving. Sums run over blocks of
times, each in units of e(H) at its start: e spans thousands of orders of magnitude at strong dependence, but
:math:`e(x_j^+)/e(H_j)` is at most about the number at risk.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cocensor._checks import BoolArray, Counts, FloatArray, IntArray, Rows, row_blocks
from cocensor._numerics import lookup, segments
from cocensor.copulas import ArchimedeanCopula
from cocensor.data import RiskTable, Survival, WhichMargin

if TYPE_CHECKING:
    from cocensor.estimators.margin import MarginEstimator

Pulled = tuple[Rows, FloatArray]


class MarginGradient(NamedTuple):
    """Of several functionals, by the hazards of margins at some rows of a :class:`PullBack`, (rows, functionals).

    By that of the event after the row, and that of the dropout before and after its dropouts; None is 0.
    """

    event: FloatArray
    before: FloatArray | None = None
    after: FloatArray | None = None


class PullBack:
    """The two margins of a sample at its distinct times, in rows: row 0 stands before all of them."""

    def __init__(self, y: Survival, margin: MarginEstimator) -> None:
        table = y.risk_table
        self._n, self._times = len(y), table.times
        self._event = _Exits.of(table, margin.copula, "event", np.asarray(margin.predict(table.times)))
        self._dropout = _Exits.of(
            table, margin.copula, "dropout", np.asarray(margin.dropout_survival(table.times))
        )
        # What each exit adds to who leaves by it, and takes from all who were at risk of it.
        self._event_unit, self._event_fraction = _units(table.events, table.after_events, self._n)
        self._dropout_unit, self._dropout_fraction = _units(table.dropouts, table.after_dropouts, self._n)
        row = self.row(y.time)
        self._subjects = np.argsort(row, kind="stable")
        self._row = row[self._subjects]
        self._kind = np.where(y.event, 0, np.where(y.dropout, 1, 2))[self._subjects]

    def row(self, t: FloatArray) -> IntArray:
        """The last row up to ``t``."""
        return lookup(self._times, t)

    def __call__(
        self, *sources: Callable[[slice], MarginGradient], stop: int, size: int, width: int
    ) -> Iterator[Pulled]:
        """What each subject adds by way of the margins, in blocks (subjects, functionals).

        A source is asked for the gradient at all rows before ``stop``, from the last to the first: by blocks of rows
        that may hold ``width`` numbers each. The sum of all sources is what is pulled back.
        """
        total = np.zeros(size)
        for source in sources:
            total += yield from self._backwards(source, self._blocks(stop, max(size, width)), size)
        # Exits take from whom they find at risk. So far those after a subject gave it as much: now all of them take.
        for part in row_blocks(self._n, size):
            rows = np.arange(part.start, part.stop)
            yield rows, np.broadcast_to(-total, (rows.size, size))

    def _blocks(self, stop: int, width: int) -> list[slice]:
        """Rows in blocks, from the last to the first, within each of which one unit will do for each margin."""
        starts = {part.start for part in row_blocks(stop, width)}
        for exits in (self._event, self._dropout):
            starts |= {part.start for part in segments(exits.log_scale[:stop])}
        edges = [*sorted(starts), stop]
        return [slice(a, b) for a, b in pairwise(edges)][::-1]

    def _backwards(
        self, source: Callable[[slice], MarginGradient], blocks: list[slice], size: int
    ) -> Generator[Pulled, None, FloatArray]:
        """The values of all subjects but for the sum over all exits, which is what is returned in the end."""
        event, dropout = _Running(self._event, size), _Running(self._dropout, size)
        gained, taken = np.zeros(size), np.zeros(size)  # Σ Δ B and Σ of what exits take, over later rows
        both = False
        for rows in blocks:
            gradient = source(rows)
            by_events, gain = event.weigh(rows, None, gradient.event)
            both |= gradient.before is not None or gradient.after is not None
            if both:
                by_dropouts, gain_of_dropouts = dropout.weigh(rows, gradient.before, gradient.after)
                by_events += gain_of_dropouts  # which come after the events at the same time
                gain += gain_of_dropouts
            else:
                by_dropouts = np.zeros_like(by_events)
            later, gained = _sum_later(gain, gained)
            by_events += later
            by_dropouts += later
            by_events *= self._event_unit[rows, None]
            by_dropouts *= self._dropout_unit[rows, None]
            at_dropouts = by_dropouts * self._dropout_fraction[rows, None]
            after, taken = _sum_later(by_events * self._event_fraction[rows, None] + at_dropouts, taken)
            values = np.concatenate((by_events + at_dropouts + after, by_dropouts + after, after))
            first, last = np.searchsorted(self._row, (rows.start, rows.stop))
            for part in row_blocks(last - first, size):
                at = slice(first + part.start, first + part.stop)
                index = self._row[at] - rows.start + self._kind[at] * (rows.stop - rows.start)
                yield self._subjects[at], values[index]
        return taken


class _Exits(NamedTuple):
    """One margin at each row: log e(H) after it, and log e(x) before and after what happens at it.

    The first is −∞ before the first step, the others are where there is none; ``counted`` says where H can vary.
    """

    log_scale: FloatArray
    log_before: FloatArray
    log_after: FloatArray
    counted: BoolArray

    @classmethod
    def of(
        cls, table: RiskTable, copula: ArchimedeanCopula, which: WhichMargin, survival: FloatArray
    ) -> _Exits:
        steps, happens = table.margin(which), table.events if which == "event" else table.dropouts
        survival = np.concatenate(([1.0], survival))
        counted = (survival > 0) & (survival < 1)
        log_scale, log_before, log_after = (np.full(survival.size, -np.inf) for _ in range(3))
        log_scale[counted] = copula.log_elasticity(-np.log(survival[counted]))
        rows = np.flatnonzero(happens) + 1
        kept = counted[rows]  # all but a last step to 0
        hazard = steps.hazard[kept]
        log_before[rows[kept]] = copula.log_elasticity(hazard)
        log_after[rows[kept]] = copula.log_elasticity(hazard - np.log1p(-steps.fraction[kept]))
        if counted.any():
            log_scale[survival == 0] = log_scale[counted][-1]
        return cls(log_scale, log_before, log_after, counted)


class _Running:
    """The sums B of one margin, from the last rows to the first."""

    def __init__(self, exits: _Exits, size: int) -> None:
        self._exits = exits
        self._carried, self._reference = np.zeros(size), np.inf
        self._previous = np.zeros(size)  # the gradient at the row before the last block

    def weigh(
        self, rows: slice, before: FloatArray | None, after: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        """e(x⁺) B and Δ B at some rows, given the gradient before and after what happens at them."""
        exits = self._exits
        gradient = np.zeros((rows.stop - rows.start, self._carried.size)) if after is None else after.copy()
        gradient[-1] += self._previous
        if before is not None:
            gradient[:-1] += before[1:]
            self._previous = before[0]
        reference = float(exits.log_scale[rows.start])
        if reference == -np.inf:  # before the first step nothing varies
            gradient[:] = 0.0
            return gradient, gradient.copy()
        unit = np.zeros(len(gradient))
        counted = exits.counted[rows]
        unit[counted] = np.exp(reference - exits.log_scale[rows][counted])
        gradient *= unit[:, None]
        later, carried = _sum_later(gradient, self._carried * np.exp(reference - self._reference))
        self._carried, self._reference = carried, reference
        later += gradient
        start, end = (np.exp(each[rows] - reference)[:, None] for each in (exits.log_before, exits.log_after))
        return end * later, (end - start) * later


def _units(leave: Counts, stay: Counts, n: int) -> tuple[FloatArray, FloatArray]:
    """N/(n_k (1 − f_k)) and f_k by row, the first 0 where nobody leaves or nobody stays."""
    unit = np.divide(n, stay, out=np.zeros(stay.size), where=(leave > 0) & (stay > 0))
    fraction = np.divide(leave, leave + stay, out=np.zeros(stay.size), where=leave > 0)
    return np.concatenate(([0.0], unit)), np.concatenate(([0.0], fraction))


def _sum_later(values: FloatArray, carried: FloatArray) -> tuple[FloatArray, FloatArray]:
    """For each row the sum of those after it and of what is ``carried``, and the sum of all."""
    sums = np.cumsum(np.concatenate((carried[None], values[::-1])), axis=0)[::-1]
    return sums[1:].copy(), sums[0].copy()
