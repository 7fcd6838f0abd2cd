"""The sums over risk sets that Cox's partial likelihood is made of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray
from cocensor._newton import Derivatives
from cocensor._numerics import by_weight
from cocensor.data import StepFunction, Survival, WhichMargin

Ties = Literal["efron", "breslow"]
# A risk set that weighs less than this share of the heaviest subject is beyond double precision.
_LIGHTEST = 1e-280


@dataclass(frozen=True, eq=False)
class RiskSets:
    """Subjects sorted by time, in groups that leave the risk set together; one row per event that happens.

    A tied event r of d in its group sees the sum over the risk set less the share ``discount[r]`` of the sum
    over the tied ones: r/d with Efron's correction, 0 with Breslow's. With case weights these are sums of weights, and
    each of the d events counts by the mean of their weights.
    """

    order: npt.NDArray[np.intp]
    happens: npt.NDArray[np.bool_]  # of each sorted subject
    start: npt.NDArray[np.intp]  # first sorted subject of the risk set, for each event
    group: npt.NDArray[np.intp]  # of each sorted subject
    event_group: npt.NDArray[np.intp]  # of each event
    discount: FloatArray  # of each event
    times: FloatArray  # of each event
    weight: FloatArray | None = None  # of each sorted subject
    event_weight: FloatArray | None = None  # of each event, the mean of those tied

    @classmethod
    def build(cls, y: Survival, of: WhichMargin, ties: Ties, weight: FloatArray | None = None) -> RiskSets:
        """The sets of one margin; of dropouts, events tied with them have left before."""
        if of == "event":
            order, happening = y.order, y.event
            time = y.time[order]
            new = np.diff(time, prepend=-1.0) > 0
        else:
            dropout = ~y.event if y.administrative is None else ~y.event & ~y.administrative
            order, happening = np.lexsort((~y.event, y.time)), dropout
            time, event = y.time[order], y.event[order]
            new = (np.diff(time, prepend=-1.0) > 0) | np.concatenate(([True], event[1:] != event[:-1]))
        happens = happening[order]
        group = np.cumsum(new) - 1
        first = np.flatnonzero(new)
        event_group = group[happens]
        position = np.arange(event_group.size) - np.searchsorted(event_group, event_group)
        tied = np.bincount(event_group, minlength=first.size)[event_group]
        discount = position / tied if ties == "efron" else np.zeros(event_group.size)
        sets = cls(order, happens, first[event_group], group, event_group, discount, time[happens])
        if weight is None:
            return sets
        weight = weight[order]
        total = np.bincount(event_group, weight[happens], minlength=first.size)
        return replace(sets, weight=weight, event_weight=total[event_group] / tied)

    @property
    def n_happened(self) -> float:
        """How many events there are, by their weights."""
        return float(self.times.size if self.event_weight is None else self.event_weight.sum())

    @property
    def log_size(self) -> float:
        """The sum over events of the log of those at risk: minus Breslow's log-likelihood at coefficients of 0."""
        return float(np.log(self.order.size - self.start).sum())

    def derivatives(self, Z: FloatArray, coef: FloatArray, penalty: FloatArray) -> Derivatives:
        """The negative of the penalised log-likelihood, with its gradient and its Hessian, the information.

        It is infinite where double precision cannot hold the weights: no step leads there.
        """
        relative = Z @ coef
        shift = relative.max()
        weight = by_weight(np.exp(relative - shift), self.weight)
        sums, tied = self._sums(weight)
        if sums.min() < _LIGHTEST:
            return Derivatives(np.inf, np.full_like(coef, np.nan), np.full((coef.size, coef.size), np.nan))
        each = self.event_weight
        mine = None if self.weight is None else self.weight[self.happens]
        value = float(
            np.sum(by_weight(relative[self.happens] - shift, mine)) - np.sum(by_weight(np.log(sums), each))
        )
        weighted = Z * weight[:, None]
        means = (_from_the_end(weighted)[self.start] - self.discount[:, None] * tied(weighted)) / sums[
            :, None
        ]
        counted = by_weight(means, each)
        gradient = by_weight(Z[self.happens], mine).sum(axis=0) - counted.sum(axis=0)
        # Σ over events of the second moments, gathered by subject: each takes part with the hazard it has met.
        steps = by_weight(1.0 / sums, each)
        hazard = self._per_subject(steps)
        own = np.bincount(self.event_group, self.discount * steps, minlength=self.group[-1] + 1)[self.group]
        met = hazard - np.where(self.happens, own, 0.0)
        information = (weighted * met[:, None]).T @ Z - counted.T @ means
        value -= 0.5 * float(penalty @ coef**2)
        return Derivatives(-value, penalty * coef - gradient, information + np.diag(penalty))

    def log_breslow(self, relative: FloatArray) -> StepFunction:
        """The logarithm of H₀ = Σ d_j / Σ_{risk set} exp(x'β), both sums of weights."""
        shift = relative.max()
        at_risk = _from_the_end(by_weight(np.exp(relative - shift), self.weight))[self.start]
        times, index = np.unique(self.times, return_inverse=True)
        steps = by_weight(1.0 / at_risk, self.event_weight)
        hazard = np.cumsum(np.bincount(index, steps), dtype=np.float64)
        return StepFunction.trusted(times, np.log(hazard) - shift, initial=-np.inf)

    def _sums(self, weight: FloatArray) -> tuple[FloatArray, Any]:
        """For each event the sum of weights over its risk set, and a function that sums over the tied ones."""

        def tied(values: FloatArray) -> FloatArray:
            mine = np.where(self.happens.reshape(-1, *(1,) * (values.ndim - 1)), values, 0.0)
            first = np.flatnonzero(np.diff(self.group, prepend=-1))
            sums: FloatArray = np.add.reduceat(mine, first, axis=0)
            return sums[self.event_group]

        return _from_the_end(weight)[self.start] - self.discount * tied(weight), tied

    def _per_subject(self, per_event: FloatArray) -> FloatArray:
        """For each subject the sum of ``per_event`` over the events in whose risk set it was."""
        per_group = np.bincount(self.event_group, per_event, minlength=self.group[-1] + 1)
        met: FloatArray = np.cumsum(per_group, dtype=np.float64)
        return met[self.group]

    def over_risk_sets(self, values: FloatArray) -> FloatArray:
        """For each event the sum of what sorted subjects have over its risk set."""
        return _from_the_end(values)[self.start]

    def score_residuals(self, Z: FloatArray, exposure: FloatArray) -> FloatArray:
        r"""How the gradient of the log-likelihood answers to the case weight of each sorted subject.

        With :math:`S_r` the sum of :math:`e^{x'\beta}` that event r sees, :math:`m_r` the mean of x in it and
        :math:`c_{rj}` the share that subject j has in it, it is
        :math:`\delta_j(x_j - \bar m_j) - e_j \sum_r c_{rj}(x_j - m_r)/S_r`, where :math:`\bar m_j` is the mean over
        the events tied with that of j. They sum to the gradient.
        """
        sums, tied = self._sums(exposure)
        weighted = Z * exposure[:, None]
        means = (self.over_risk_sets(weighted) - self.discount[:, None] * tied(weighted)) / sums[:, None]
        steps = np.column_stack((np.ones(sums.size), means)) / sums[:, None]
        mine = np.where(
            self.happens[:, None], self._by_group(self.discount[:, None] * steps)[self.group], 0.0
        )
        met = np.cumsum(self._by_group(steps), axis=0)[self.group] - mine
        residuals: FloatArray = exposure[:, None] * (met[:, 1:] - Z * met[:, :1])
        count = np.bincount(self.event_group)[self.event_group]
        residuals[self.happens] += Z[self.happens] - self._by_group(means)[self.event_group] / count[:, None]
        return residuals

    def _by_group(self, per_event: FloatArray) -> FloatArray:
        """The sums of rows ``per_event`` over the events of each group."""
        groups, first = np.unique(self.event_group, return_index=True)
        total = np.zeros((self.group[-1] + 1, *per_event.shape[1:]))
        total[groups] = np.add.reduceat(per_event, first, axis=0)
        return total


def _from_the_end(values: FloatArray) -> FloatArray:
    return np.add.accumulate(values[::-1], axis=0)[::-1]
