r"""How inverse probability of censoring weights answer to the subjects that their G was fitted to.

A weight is :math:`1/G_i(s) = e^{e_i H(s)}`, s the time t for those seen event-free and the own time for those whose
event was seen, so that a score answers by :math:`\sum v\,e_i[\dot H(s) + H(s)(x_i - c)'\dot\beta]`, a sum over all such
*uses* of H, where v is the weight times the gradient of the score. With the parts of :math:`\dot H` as in
:mod:`cocensor.estimators.hazard_influence`, :math:`\Gamma(s) = \sum_{u \le s}\gamma_u`, and :math:`s_j` the last time
of dropout that subject j of the sample was at risk at,

.. math:: \psi_j = N\Bigl[(g_j - e_j\Gamma(s_j)) \sum_{s \ge s_j} v e_i - e_j \sum_{s < s_j} v e_i\,\Gamma(s)\Bigr]
    + \dot\beta_j' \sum v e_i [h(s) + H(s)(x_i - c)].

Both sums by s are running sums. Those over events are kept for one block of subjects at a time; those over subjects
seen event-free have one row for each time of the grid.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from cocensor._checks import FloatArray, IntArray, Rows, Side, row_blocks
from cocensor._numerics import lookup
from cocensor.adjustments.censoring_curves import ByCox
from cocensor.adjustments.gradient import Functionals, Part
from cocensor.adjustments.status import EventWeights, Group
from cocensor.adjustments.weights import Weights
from cocensor.data import Survival
from cocensor.data.times import TimeGrid
from cocensor.estimators.hazard_influence import HazardInfluence

# Products of such a ratio are numbers of double precision.
_LARGEST_LOG_RATIO = 500.0


class FittedHazard(Protocol):
    """A hazard of censoring, and what it was fitted to."""

    @property
    def sample(self) -> Survival:
        """The outcomes, as they were handed over."""

    @property
    def response(self) -> HazardInfluence:
        """How the subjects of the sample move the hazard."""


@dataclass(frozen=True, eq=False)
class HazardUse:
    """Where the weights of test subjects ``y`` use a cumulative hazard.

    Attributes
    ----------
    y : Survival
    times : array of shape (n_times,)
        At which those seen event-free at each sorted time use the hazard.
    side : {"left", "right"}
        Whether the weight of an event uses the hazard before or from its time on.
    at_event : array of shape (n,)
        The weights of events; 0 for others.
    at_risk : Weights
        Those of subjects seen event-free.
    ceiling : float
        Weights do not exceed it, and one that rests on it does not move with the hazard.
    given : ByCox or None
        The model given covariates.
    """

    y: Survival
    times: FloatArray
    side: Side
    at_event: FloatArray
    at_risk: Weights
    ceiling: float
    given: ByCox | None

    def event_free(self, rows: Rows, times: FloatArray) -> FloatArray:
        """The weights that move of those of ``rows`` seen event-free at the first of the sorted times, 0 for others."""
        weights, _ = self.at_risk.block(rows, slice(0, times.size)).dense()
        return weights * ((self.y.time[rows][:, None] > times) & (weights < self.ceiling))

    def event(self, rows: Rows) -> FloatArray:
        """The weights that move of the events of ``rows``, 0 for others."""
        weights = self.at_event[rows]
        return np.where(weights < self.ceiling, weights, 0.0)

    def exposure(self, rows: Rows, log_unit: float) -> FloatArray:
        """The hazard ratios to the centre of the sample."""
        if self.given is None:
            return np.ones(rows.size)
        # Whoever has a larger one has left at once: its weights do not move.
        return np.exp(np.minimum(self.given.log_ratio[rows] - log_unit, _LARGEST_LOG_RATIO))

    def covariates(self, rows: Rows) -> FloatArray:
        """The distance from the centre of the sample; of no covariates without a model."""
        if self.given is None:
            return np.zeros((rows.size, 0))
        return self.given.covariates[rows] - self.given.centre


class IPCWStatus(EventWeights):
    """Weights by an estimated hazard of censoring, of which the influence is known."""

    def __init__(
        self, grid: TimeGrid, groups: tuple[Group, ...], use: HazardUse, fitted: FittedHazard, **settings: Any
    ) -> None:
        super().__init__(grid, len(use.y), groups, **settings)
        self._use, self._fitted = use, fitted

    @property
    def sample(self) -> Survival | None:
        """The outcomes that the hazard of censoring was fitted to."""
        return self._fitted.sample

    def pull_back(self, functionals: Functionals) -> Iterator[tuple[Rows, FloatArray]]:
        """What each subject of the ``sample`` adds to scores by way of G."""
        return self.pull_back_parts(iter([Part(self, functionals, slice(None))]))

    def pull_back_parts(self, parts: Iterator[Part]) -> Iterator[tuple[Rows, FloatArray]]:
        """The same of several parts, whose uses of the hazard are added up first."""
        response, use = self._fitted.response, self._use
        if not response.steps.size:
            return
        sums = _Sums(response, use)
        order = np.argsort(response.position, kind="stable")
        # Of the events, in the order of time, how many use less of the hazard than the subject was exposed to.
        passed = np.searchsorted(sums.at[use.y.order], response.position[order])
        gain = response.jump - response.exposure * response.cumulated[response.position]
        n = float(len(self._fitted.sample))
        for block, before, cumulated in sums.running(self._uses(sums, parts)):
            last = block.stop == self.n
            mine = np.searchsorted(passed, (block.start, self.n + 1 if last else block.stop))
            for part in row_blocks(int(mine[1] - mine[0]), before.shape[1]):
                chosen = slice(mine[0] + part.start, mine[0] + part.stop)
                rows, row = order[chosen], passed[chosen] - block.start
                own, exposure = gain[rows, None], response.exposure[rows, None]
                yield rows, -n * (own * before[row] + exposure * cumulated[row])
        # What is known after the last block: the sums of all.
        grid_at, from_time, until_time = sums.of_times()
        passed = np.searchsorted(grid_at, response.position[order])
        for part in row_blocks(order.size, from_time.shape[1]):
            rows, row = order[part], passed[part]
            own, exposure = gain[rows, None], response.exposure[rows, None]
            values = n * (own * (sums.total + from_time[row]) - exposure * until_time[row])
            yield rows, values + response.coefficients[rows] @ sums.slope

    def _uses(self, sums: _Sums, parts: Iterator[Part]) -> Iterator[tuple[slice, FloatArray]]:
        """Blocks of test subjects in the order of time, with what their events add to all parts."""
        held: FloatArray | None = None
        for part in parts:
            status = part.status
            assert isinstance(status, IPCWStatus)
            blocks = sums.of_part(status, status._use, part.functionals)
            if status is self:  # at all times: there is no other part
                yield from blocks
                continue
            if held is None:
                held = np.zeros((self.n, part.functionals.size))
            for block, values in blocks:
                held[block] += values
        if held is not None:
            for block in row_blocks(*held.shape):
                yield block, held[block]


class _Sums:
    """Sums over the uses of a hazard; all but those that run over events are complete when these are through."""

    def __init__(self, response: HazardInfluence, use: HazardUse) -> None:
        self.response, self._use = response, use
        self.at = lookup(response.steps, use.y.time, use.side)
        self.total: FloatArray | float = 0.0
        self.slope: FloatArray | float = 0.0
        self._grid_at, self._by_time = list[IntArray](), list[FloatArray]()

    def of_part(
        self, status: EventWeights, use: HazardUse, functionals: Functionals
    ) -> Iterator[tuple[slice, FloatArray]]:
        """Blocks of test subjects in the order of time, with what their events add; the rest is summed up by time."""
        response, order = self.response, use.y.order
        known = int(np.searchsorted(status.grid.sorted, status.valid_until))
        times, weights = status.grid.sorted[:known], functionals.time_weights[:known]
        n_models, p = len(functionals.gradients), response.drift.shape[1]
        at_risk_sums, moments = np.zeros((n_models, known)), np.zeros((n_models, known, p))
        for block in row_blocks(order.size, max(known, functionals.size)):
            rows = order[block]
            covariates, exposure = use.covariates(rows), use.exposure(rows, response.log_unit)[:, None]
            # Nobody here is over before the late columns, or event-free after the early ones.
            late, early = np.searchsorted(times, use.y.time[rows[[0, -1]]])
            at_risk = use.event_free(rows, times[:early]) * exposure
            at_events = use.event(rows)[:, None] * exposure
            events = np.flatnonzero(at_events)
            at_event = at_events[events] * (use.y.time[rows[events]][:, None] <= times[late:])
            values = np.zeros((rows.size, n_models, weights.shape[1]))
            for m, gradient in enumerate(functionals.gradients):
                found = gradient.of_subjects(rows)
                used = at_risk * found.part(slice(0, early)).event_free
                at_risk_sums[m, :early] += used.sum(axis=0)
                if p:
                    moments[m, :early] += used.T @ covariates
                after = found.part(slice(late, known)).event
                values[events, m] = (at_event * after[events]) @ weights[late:]
            yield block, values.reshape(rows.size, functionals.size)
        grid_at = np.searchsorted(response.steps, use.times[:known], "right")
        drift = at_risk_sums[:, :, None] * response.drift[grid_at]
        drift += moments * response.hazard[grid_at][:, None]
        self.slope = self.slope + np.einsum("mkp,kf->pmf", drift, weights).reshape(p, functionals.size)
        self._grid_at.append(grid_at)
        self._by_time.append(np.einsum("mk,kf->kmf", at_risk_sums, weights).reshape(known, functionals.size))

    def running(
        self, blocks: Iterator[tuple[slice, FloatArray]]
    ) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
        """Blocks in the order of time, and before each of their subjects the two running sums over events."""
        response, order = self.response, self._use.y.order
        cumulated_total: FloatArray | float = 0.0
        for block, values in blocks:
            rows = order[block]
            at = self.at[rows]
            running = _from(self.total, values)
            cumulated = _from(cumulated_total, values * response.cumulated[at][:, None])
            self.total, cumulated_total = running[-1], cumulated[-1]
            if response.drift.shape[1]:
                moved = response.drift[at] + response.hazard[at][:, None] * self._use.covariates(rows)
                self.slope = self.slope + moved.T @ values
            yield block, running, cumulated

    def of_times(self) -> tuple[IntArray, FloatArray, FloatArray]:
        """Over those seen event-free, at each use the sum of those from it on, and of Γ at those before."""
        grid_at, by_time = np.concatenate(self._grid_at), np.concatenate(self._by_time)
        order = np.argsort(grid_at, kind="stable")
        grid_at, by_time = grid_at[order], by_time[order]
        cumulated = self.response.cumulated[grid_at][:, None]
        return grid_at, _from(0.0, by_time[::-1])[::-1], _from(0.0, by_time * cumulated)


def _from(start: FloatArray | float, rows: FloatArray) -> FloatArray:
    """Running sums before each of the rows, and after the last."""
    sums = np.empty((len(rows) + 1, rows.shape[1]))
    sums[0] = start
    np.cumsum(rows, axis=0, out=sums[1:])
    sums[1:] += start
    return sums
