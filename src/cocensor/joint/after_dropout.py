r"""The hazard of the event after a dropout, as a multiple ρ of that of those alike still under observation.

Event and dropout are independent up to the dropout, with cumulative hazards Λ and M given z. After a dropout at c,
:math:`q(t) = e^{-\rho[\Lambda(t) - \Lambda(c)]}`. Whoever was under observation at the end of the study, at a, may have
dropped out later: with :math:`\Pi = e^{-\Lambda - M}`,

.. math:: q(t) = \frac{\Pi(t)}{\Pi(a)} + \int_a^t \frac{\Pi(s)}{\Pi(a)}\, e^{-\rho[\Lambda(t) - \Lambda(s)]}\, dM(s).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cocensor._numerics import hazard_from_log
from cocensor._validation import BoolArray, FloatArray, IntArray, Rows
from cocensor.joint.margins import HazardBlocks, MarginOfSubjects

# Steps of the integral: at so many quantiles of the observed times, and as many equal steps of time.
_N_NODES = 64
# Beyond the last observed time each step is so much longer than all time before it.
_GROWTH = 2.0 ** (1 / 32)
# Up to here a mean of exponentials is a series.
_CLOSE = 1e-2


@dataclass(frozen=True, eq=False)
class HazardRatio:
    """By what the hazard of the event is multiplied from a dropout on; event and dropout are independent up to it.

    ``own`` is the ratio of each subject, after a dropout at its censoring. Whoever was still under observation when the
    study ended would have dropped out later, with the ratio ``later[i, r]`` in a share ``shares[r]`` of all dropouts;
    ``later`` has one row where it is the same for all subjects. Shares that were estimated are those ``among`` the
    subjects of a sample: it says to which each belongs, −1 for who did not drop out.
    """

    own: FloatArray
    later: FloatArray
    shares: FloatArray
    among: IntArray | None = None

    @property
    def influence(self) -> FloatArray | None:
        """Of each subject of the sample on the shares, (subjects, shares); None where these are not estimated."""
        if self.among is None:
            return None
        belongs = self.among[:, None] == np.arange(self.shares.size)
        dropped = self.among >= 0
        return (belongs - self.shares) * dropped[:, None] / dropped.mean()

    def components(self, rows: Rows) -> list[tuple[float, FloatArray]]:
        """The shares, each with the ratio that ``rows`` have in it."""
        later = np.broadcast_to(self.later, (self.own.size, self.shares.size))[rows]
        return list(zip(self.shares.tolist(), later.T, strict=True))


class LaterDropout:
    r"""P(E > t) of those under observation at the end of the study, some of whom would have dropped out later.

    The integral goes by steps between nodes that do not depend on the times asked for, and these times. Over a step,
    with increments L of Λ and m of M that are taken to be proportional to each other, it is exactly
    :math:`m\,[e^{-\rho L} - e^{-L - m}]/(L + m - \rho L)`. With ``ends`` of groups, events come before dropouts at each
    end, and the sum over the ends is exact.
    """

    def __init__(
        self,
        ratio: HazardRatio,
        margins: tuple[MarginOfSubjects, MarginOfSubjects],
        observed: FloatArray,
        t: FloatArray,
        a: FloatArray,
        ends: FloatArray | None,
    ) -> None:
        self._ratio, self._a, self._grouped = ratio, a, ends is not None
        nodes = _nodes(observed, t) if ends is None else ends
        self.nodes = np.union1d(nodes[nodes <= t[-1]], t)
        self._position = np.searchsorted(self.nodes, t)
        self._at_nodes = tuple(margin.at(self.nodes) for margin in margins)
        self._at_a = tuple(hazard_from_log(margin.log_hazard(a)) for margin in margins)

    def __call__(self, rows: Rows, columns: slice) -> FloatArray:
        """The probabilities of ``rows`` at the times ``columns``."""
        if not rows.size or columns.start >= columns.stop:
            return np.ones((rows.size, columns.stop - columns.start))
        steps = self._steps(rows, columns)
        total = np.zeros(steps.L.shape)
        for share, rho in self._ratio.components(rows):
            total += share * (steps.under_observation + steps.after_dropout(rho))
        at = self._position[columns] - steps.first
        return np.where(at[:, None] >= 0, total[np.maximum(at, 0)], 1.0).T

    def slopes(self, rows: Rows, columns: slice, gains: FloatArray, weights: FloatArray) -> LaterSlopes:
        """How functionals move, the sums over times of ``gains`` (rows, columns) times ``weights`` (columns, F)."""
        steps, size = self._steps(rows, columns), weights.shape[1]
        n_nodes = steps.L.shape[0]
        by_event, by_dropout = (np.zeros((n_nodes, rows.size, size)) for _ in range(2))
        asked = np.zeros((n_nodes, rows.size, size))
        at = self._position[columns] - steps.first
        for column in np.flatnonzero(at >= 0):
            asked[at[column]] += np.multiply.outer(gains[:, column], weights[column])
        by_share = [
            steps.pull_back(rho, asked, share, by_event, by_dropout)
            for share, rho in self._ratio.components(rows)
        ]
        found = []
        for margin, (moved, hazard) in enumerate(((by_event, steps.x), (by_dropout, steps.y))):
            # All hangs on differences of hazards: what moves with those after a moves against that at a.
            moved *= steps.started[:, :, None]
            at_a = -self._at_a[margin][rows][:, None] * moved.sum(axis=0)
            found.append((moved * hazard[:, :, None], at_a))
        within = slice(steps.first, steps.first + n_nodes)
        return LaterSlopes(self.nodes[within], *found[0], *found[1], np.array(by_share))

    def _steps(self, rows: Rows, columns: slice) -> _Steps:
        """From the first node after one of the censorings to the last time that is asked for."""
        last = int(self._position[columns.stop - 1]) + 1
        first = min(int(np.searchsorted(self.nodes, self._a[rows].min(), side="right")), last)

        def hazards(at_nodes: HazardBlocks, at_a: FloatArray) -> FloatArray:
            values = hazard_from_log(at_nodes(rows, slice(first, last))).T
            return np.vstack((at_a[rows], np.maximum(values, at_a[rows])))

        x, y = map(hazards, self._at_nodes, self._at_a)
        return _Steps(first, x, y, self.nodes[first:last, None] > self._a[rows], grouped=self._grouped)


@dataclass(frozen=True, eq=False)
class LaterSlopes:
    """Derivatives of functionals by log cumulative hazards at the ``nodes``, (nodes, rows, F), and at a, (rows, F).

    ``shares`` are those by the share of each ratio, (shares, F).
    """

    nodes: FloatArray
    event: FloatArray
    event_at_a: FloatArray
    dropout: FloatArray
    dropout_at_a: FloatArray
    shares: FloatArray


class _Steps:
    """The steps of some subjects from node to node, (nodes, rows); increments are 0 up to a."""

    def __init__(
        self, first: int, x: FloatArray, y: FloatArray, started: BoolArray, *, grouped: bool
    ) -> None:
        self.first, self.x, self.y, self.started, self._grouped = first, x[1:], y[1:], started, grouped
        self.L, self.m = x[1:] - x[:-1], y[1:] - y[:-1]
        self._left = np.exp(-self.L - self.m)
        #: Who is event-free and has not dropped out, after each step and before it.
        self.under_observation: FloatArray = np.multiply.accumulate(self._left, axis=0)
        self._before = np.vstack((np.ones(x.shape[1]), self.under_observation[:-1]))

    def after_dropout(self, rho: FloatArray) -> FloatArray:
        """Who is event-free and has dropped out, after each step."""
        kept = np.exp(-rho * self.L)
        found = self._before * self._joining(rho, kept)
        for k in range(1, len(found)):
            found[k] += found[k - 1] * kept[k]
        return found

    def pull_back(
        self, rho: FloatArray, asked: FloatArray, share: float, by_event: FloatArray, by_dropout: FloatArray
    ) -> FloatArray:
        """Add the derivatives by Λ and M at the nodes of a ``share`` of what is ``asked``; the value of all of it."""
        kept = np.exp(-rho * self.L)
        joining, by_L, by_m = self._joining_slopes(rho, kept)
        dropped = self.after_dropout(rho)
        earlier = np.vstack((np.zeros(rho.size), dropped[:-1]))
        value = np.einsum("kif,ki->f", asked, self.under_observation + dropped)
        adjoint = share * asked
        for k in range(len(adjoint) - 2, -1, -1):
            adjoint[k] += adjoint[k + 1] * kept[k + 1][:, None]
        by_observed = share * asked
        by_observed[:-1] += adjoint[1:] * joining[1:, :, None]
        by_observed *= self.under_observation[:, :, None]
        for total, slope in (
            (by_event, self._before * by_L - rho * earlier * kept),
            (by_dropout, self._before * by_m),
        ):
            by_step = adjoint * slope[:, :, None]
            total += by_step - by_observed
            total[:-1] -= by_step[1:]
        return value

    def _joining(self, rho: FloatArray, kept: FloatArray) -> FloatArray:
        """Who drops out in a step and is event-free after it, of those who are there before it."""
        if self._grouped:
            return np.exp(-self.L) * -np.expm1(-self.m)
        gap = self.L + self.m - rho * self.L
        near = np.abs(gap) < _CLOSE
        return self.m * np.where(near, kept * _phi(gap), (kept - self._left) / np.where(near, 1.0, gap))

    def _joining_slopes(self, rho: FloatArray, kept: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The same, with its derivatives by L and m."""
        if self._grouped:
            joining = self._joining(rho, kept)
            return joining, -joining, self._left
        gap = self.L + self.m - rho * self.L
        near = np.abs(gap) < _CLOSE
        apart = np.where(near, 1.0, gap)
        mean = np.where(near, kept * _phi(gap), (kept - self._left) / apart)
        # By the end of the gap, L + m; by its start, ρL, the rest of −mean.
        by_end = np.where(near, kept * _phi_slope(gap), (self._left - mean) / apart)
        by_L = self.m * (by_end - rho * (mean + by_end))
        return self.m * mean, by_L, mean + self.m * by_end


def _nodes(observed: FloatArray, t: FloatArray) -> FloatArray:
    end, share = observed.max(), np.linspace(0.0, 1.0, _N_NODES + 1)
    late = max(0, int(np.ceil(np.log(t[-1] / end) / np.log(_GROWTH)))) if t[-1] > end > 0 else 0
    beyond = end * _GROWTH ** np.arange(1, late + 1)
    return np.concatenate((np.quantile(observed, share), end * share, beyond))


def _phi(k: FloatArray) -> FloatArray:
    """(1 − e^−k)/k near 0."""
    return 1.0 - k / 2.0 * (1.0 - k / 3.0 * (1.0 - k / 4.0 * (1.0 - k / 5.0 * (1.0 - k / 6.0))))


def _phi_slope(k: FloatArray) -> FloatArray:
    """Its derivative near 0."""
    return -0.5 + k * (1.0 / 3.0 - k * (1.0 / 8.0 - k * (1.0 / 30.0 - k * (1.0 / 144.0 - k / 840.0))))
