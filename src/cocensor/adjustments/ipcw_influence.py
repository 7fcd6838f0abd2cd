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

from cocensor._numerics import lookup
from cocensor._validation import FloatArray, Rows, Side, row_blocks
from cocensor.adjustments.censoring_curves import ByCox
from cocensor.adjustments.gradient import Functionals
from cocensor.adjustments.status import Group, Status, Weights
from cocensor.curves import TimeGrid
from cocensor.estimators.hazard_influence import HazardInfluence
from cocensor.outcomes import Survival

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


class IPCWStatus(Status):
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
        response, use = self._fitted.response, self._use
        if not response.steps.size:
            return
        sums = _Sums(self, functionals, response, use)
        order = np.argsort(response.position, kind="stable")
        # Of the events, in the order of time, how many use less of the hazard than the subject was exposed to.
        passed = np.searchsorted(sums.at[use.y.order], response.position[order])
        gain = response.jump - response.exposure * response.cumulated[response.position]
        n = float(len(self._fitted.sample))
        for block, before, cumulated in sums.of_events():
            last = block.stop == self.n
            mine = np.searchsorted(passed, (block.start, self.n + 1 if last else block.stop))
            for part in row_blocks(int(mine[1] - mine[0]), functionals.size):
                chosen = slice(mine[0] + part.start, mine[0] + part.stop)
                rows, row = order[chosen], passed[chosen] - block.start
                own, exposure = gain[rows, None], response.exposure[rows, None]
                yield rows, -n * (own * before[row] + exposure * cumulated[row])
        # What is known after the last block: the sums of all.
        from_time, until_time = sums.of_times()
        passed = np.searchsorted(sums.grid_at, response.position[order])
        for part in row_blocks(order.size, functionals.size):
            rows, row = order[part], passed[part]
            own, exposure = gain[rows, None], response.exposure[rows, None]
            values = n * (own * (sums.total + from_time[row]) - exposure * until_time[row])
            yield rows, values + response.coefficients[rows] @ sums.slope


class _Sums:
    """Sums over the uses of a hazard; all but ``of_events`` are complete when that is through."""

    def __init__(
        self, status: Status, functionals: Functionals, response: HazardInfluence, use: HazardUse
    ) -> None:
        self.use, self.response, self.functionals = use, response, functionals
        known = int(np.searchsorted(status.grid.sorted, status.until))
        self.times = status.grid.sorted[:known]
        self.weights = functionals.time_weights[:known]
        self.at = lookup(response.steps, use.y.time, use.side)
        self.grid_at = np.searchsorted(response.steps, use.times[:known], "right")
        n_models, p = len(functionals.gradients), response.drift.shape[1]
        self.at_risk = np.zeros((n_models, known))
        self.moments = np.zeros((n_models, known, p))
        self.total = np.zeros(functionals.size)
        self.slope = np.zeros((p, functionals.size))

    def of_events(self) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
        """Blocks of test subjects in the order of time, and before each of them the two running sums over events."""
        use, response, size = self.use, self.response, self.functionals.size
        order = use.y.order
        cumulated_total = np.zeros(size)
        for block in row_blocks(order.size, max(self.times.size, size)):
            rows = order[block]
            covariates, exposure = use.covariates(rows), use.exposure(rows, response.log_unit)[:, None]
            # Nobody here is over before the late columns, or event-free after the early ones.
            late, early = np.searchsorted(self.times, use.y.time[rows[[0, -1]]])
            at_risk = use.event_free(rows, self.times[:early]) * exposure
            weights = use.event(rows)[:, None] * exposure
            events = np.flatnonzero(weights)
            at_event = weights[events] * (use.y.time[rows[events]][:, None] <= self.times[late:])
            values = np.zeros((rows.size, len(self.functionals.gradients), self.weights.shape[1]))
            for m, gradient in enumerate(self.functionals.gradients):
                found = gradient.of_subjects(rows)
                used = at_risk * found.part(slice(0, early)).event_free
                self.at_risk[m, :early] += used.sum(axis=0)
                self.moments[m, :early] += used.T @ covariates
                after = found.part(slice(late, self.times.size)).event
                values[events, m] = (at_event * after[events]) @ self.weights[late:]
            flat = values.reshape(rows.size, size)
            at = self.at[rows]
            running = _from(self.total, flat)
            cumulated = _from(cumulated_total, flat * response.cumulated[at][:, None])
            moved = response.drift[at] + response.hazard[at][:, None] * covariates
            self.total, cumulated_total = running[-1], cumulated[-1]
            self.slope += moved.T @ flat
            yield block, running, cumulated
        drift = self.at_risk[:, :, None] * response.drift[self.grid_at]
        drift += self.moments * response.hazard[self.grid_at][:, None]
        self.slope += np.einsum("mkp,kf->pmf", drift, self.weights).reshape(self.slope.shape)

    def of_times(self) -> tuple[FloatArray, FloatArray]:
        """Over those seen event-free, at each time of the grid the sum of uses from it on, and of Γ at those before."""
        flat = (self.at_risk.T[:, :, None] * self.weights[:, None, :]).reshape(
            self.times.size, self.functionals.size
        )
        cumulated = self.response.cumulated[self.grid_at][:, None]
        return _from(0.0, flat[::-1])[::-1], _from(0.0, flat * cumulated)


def _from(start: FloatArray | float, rows: FloatArray) -> FloatArray:
    """Running sums before each of the rows, and after the last."""
    sums = np.empty((len(rows) + 1, rows.shape[1]))
    sums[0] = start
    np.cumsum(rows, axis=0, out=sums[1:])
    sums[1:] += start
    return sums
