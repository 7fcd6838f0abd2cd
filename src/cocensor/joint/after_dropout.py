r"""The hazard of the event after a dropout, as a multiple ρ of that of those alike still under observation.

Event and dropout are independent up to the dropout, with cumulative hazards Λ and M given z. After a dropout at c,
:math:`q(t) = e^{-\rho[\Lambda(t) - \Lambda(c)]}`. Whoever was under observation at the end of the study, at a, may have
dropped out later: with :math:`\Pi = e^{-\Lambda - M}`,

.. math:: q(t) = \frac{\Pi(t)}{\Pi(a)} + \int_a^t \frac{\Pi(s)}{\Pi(a)}\, e^{-\rho[\Lambda(t) - \Lambda(s)]}\, dM(s).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cocensor._checks import BoolArray, FloatArray, IntArray, Rows, row_blocks
from cocensor._jets import Jet, value_of
from cocensor._numerics import expm1_over, hazard_from_log
from cocensor.joint.margins import MarginOfSubjects

# Steps of the integral: so many of equal length, and to so many quantiles, where a few times lie far beyond the others.
_N_EQUAL, _N_QUANTILES = 96, 32
# Beyond the last observed time each step is so much longer than all time before it.
_GROWTH = 2.0 ** (1 / 32)


@dataclass(frozen=True, eq=False)
class HazardRatio:
    """The factor on the hazard of the event from a dropout on; event and dropout are independent up to it.

    ``own`` is the ratio of each subject, after a dropout at its censoring. Whoever was still under observation when the
    study ended would have dropped out later, with the ratio ``later[i, r]`` (one row where it is the same for all) in a
    share ``shares[r]`` of all dropouts. Shares that were estimated are those ``among`` the subjects of a sample, which
    says to which each belongs, −1 for none. Integrals step to quantiles of the times ``observed`` in a sample.
    """

    own: FloatArray
    later: FloatArray
    shares: FloatArray
    among: IntArray | None = None
    observed: FloatArray | None = None

    @property
    def influence(self) -> FloatArray | None:
        """The influence of the sample on the shares, (subjects, shares); None where these are not estimated."""
        if self.among is None:
            return None
        belongs = self.among[:, None] == np.arange(self.shares.size)
        dropped = self.among >= 0
        return (belongs - self.shares) * dropped[:, None] / dropped.mean()


class LaterDropout:
    r"""P(E > t) of those under observation at the end of the study, some of whom would have dropped out later.

    The integral goes by steps, from a over nodes that do not depend on the times asked for. Over a step, if increments
    L of Λ and m of M are proportional to each other, it is :math:`m\,[e^{-\rho L} - e^{-L - m}]/(L + m - \rho L)`. With
    ``ends`` of groups, events come before dropouts at each end, and the sum over the ends is exact.
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
        nodes, self.grouped = ends, ends is not None
        if nodes is None:
            end = float(observed.max())
            late = max(0, int(np.ceil(np.log(t[-1] / end) / np.log(_GROWTH)))) if t[-1] > end > 0 else 0
            even, beyond = np.linspace(0.0, end, _N_EQUAL + 1), end * _GROWTH ** np.arange(1, late + 1)
            nodes = np.unique(np.concatenate((even, step_quantiles(observed), beyond)))
        self.nodes, self.t, self.a = nodes[nodes < t[-1]], t, a
        self.at_nodes, self.at_t = ([margin.at(at) for margin in margins] for at in (self.nodes, t))
        self.at_a = [hazard_from_log(margin.log_hazard(a)) for margin in margins]
        self.shares, self.ratios = ratio.shares, np.broadcast_to(ratio.later, (a.size, ratio.shares.size))
        #: The number of values that are held of each subject at once.
        self.n_steps = self.nodes.size + t.size

    def __call__(self, rows: Rows, columns: slice) -> FloatArray:
        """The probabilities of ``rows`` at the times ``columns``."""
        result = np.empty((rows.size, columns.stop - columns.start))
        if not result.size:
            return result
        for part in row_blocks(rows.size, self.n_steps):
            steps = _Steps(self, rows[part], columns)
            result[part] = np.sum([share * _Under(steps, rho).value for share, rho in steps.shared], axis=0).T
        return result


class _Steps:
    """The steps of some subjects: from a over the nodes, the first after one of the a, and from the last to each time.

    Arrays are (nodes or times, rows). Λ and M, the ``hazards`` at the nodes, begin with a; up to a they stay as they
    are there. Each time is reached from the node ``start``; 0 is a.
    """

    def __init__(self, later: LaterDropout, rows: Rows, columns: slice) -> None:
        self.a, t, self.grouped = later.a[rows], later.t[columns], later.grouped
        first = int(np.searchsorted(later.nodes, self.a.min(), side="right"))
        some = slice(first, max(first, int(np.searchsorted(later.nodes, t[-1]))))
        self.nodes = later.nodes[some]
        self.start = start = np.searchsorted(self.nodes, t)
        #: The shares of dropouts, each with the ratio that the subjects have in it.
        self.shared = list(zip(later.shares.tolist(), later.ratios[rows].T, strict=True))
        self.hazards, self.hazards_t = [], []
        for hazard, at_nodes, at_t in zip(later.at_a, later.at_nodes, later.at_t, strict=True):
            at_a = hazard[rows]
            inner, outer = hazard_from_log(at_nodes(rows, some)).T, hazard_from_log(at_t(rows, columns)).T
            self.hazards.append(np.vstack((at_a, np.maximum(inner, at_a))))
            self.hazards_t.append(np.maximum(outer, at_a))
        (x, y), (x_t, y_t) = self.hazards, self.hazards_t
        #: Increments of Λ and M, and how many of those under observation before a step still are after it.
        self.inner, self.last = (x[1:] - x[:-1], y[1:] - y[:-1]), (x_t - x[start], y_t - y[start])
        self.left, self.left_last = (np.exp(-L - m) for L, m in (self.inner, self.last))
        #: Who is event-free at each node and has not dropped out.
        self.observed = np.vstack((np.ones(rows.size), np.multiply.accumulate(self.left, axis=0)))


class _Under:
    """Who is event-free under a ratio: at the nodes those who ``dropped`` out before, all (``value``) at the times."""

    def __init__(self, steps: _Steps, rho: FloatArray) -> None:
        self.kept, self.kept_last = (np.exp(-rho * L) for L, _ in (steps.inner, steps.last))
        self.joining = _joining(*steps.inner, rho, steps.grouped)
        self.dropped = np.zeros(steps.observed.shape)
        np.multiply(steps.observed[:-1], self.joining, out=self.dropped[1:])
        for k in range(1, len(self.dropped)):
            self.dropped[k] += self.dropped[k - 1] * self.kept[k - 1]
        #: By who is under observation at the node before the time.
        self.by_observed = steps.left_last + _joining(*steps.last, rho, steps.grouped)
        start = steps.start
        self.value = steps.observed[start] * self.by_observed + self.dropped[start] * self.kept_last


def _joining(L: Any, m: Any, rho: FloatArray, grouped: bool) -> Any:
    """Who drops out in a step and is event-free after it, of those who are there before it; takes jets."""
    if grouped:
        return np.exp(-L) * -np.expm1(-m)
    # m times the mean of exponentials from ρL to L + m, counted from the lower of the two.
    gap = L + m - rho * L
    later = value_of(gap) > 0
    mean = np.where(later, np.exp(-rho * L), np.exp(-L - m)) * expm1_over(np.where(later, -gap, gap))
    return m * mean


def _joining_slopes(step: tuple[FloatArray, FloatArray], rho: FloatArray, grouped: bool) -> list[FloatArray]:
    """The derivatives of that by L and m."""
    L, m = (Jet.variable(increment, k, 2, order=1) for k, increment in enumerate(step))
    return list(_joining(L, m, rho, grouped).first)


class LaterSlopes:
    """The derivatives of q, of a block of subjects and times, by the log cumulative hazards behind it."""

    def __init__(self, later: LaterDropout, rows: Rows, columns: slice) -> None:
        self._steps = steps = _Steps(later, rows, columns)
        self._parts = [_Part(steps, share, rho) for share, rho in steps.shared]
        self._by_times = [np.sum([part.last[k] for part in self._parts], axis=0) for k in (0, 1)]
        #: By those of event and dropout at the times, (rows, times) each.
        self.at_times = [(by * x_t).T for by, x_t in zip(self._by_times, steps.hazards_t, strict=True)]
        self.nodes = steps.nodes

    def before(
        self, gain: FloatArray, weights: FloatArray
    ) -> tuple[list[tuple[FloatArray, FloatArray]], FloatArray]:
        """The derivatives of sums of ``gain`` times ``weights`` by log hazards at the nodes and a, and by shares."""
        steps = self._steps
        starts = [(j, steps.start == j) for j in np.unique(steps.start)]
        started = (steps.nodes[:, None] > steps.a)[:, :, None]
        by_nodes = np.zeros((2, len(steps.observed), gain.shape[0], weights.shape[1]))
        for part in self._parts:
            part.pull_back(gain, weights, starts, by_nodes)
        derivatives = []
        for by_node, by_time, hazard in zip(by_nodes, self._by_times, steps.hazards, strict=True):
            moved = gain * by_time.T
            for j, times in starts:
                by_node[j] -= moved[:, times] @ weights[times]
            inner = by_node[1:] * started
            # All hangs on differences of hazards: what moves with those after a moves against that at a.
            at_a = -(inner.sum(axis=0) + moved @ weights) * hazard[0][:, None]
            derivatives.append((inner * hazard[1:, :, None], at_a))
        values = [np.einsum("it,ti->t", gain, part.value) @ weights for part in self._parts]
        return derivatives, np.array(values)


class _Part(_Under):
    """The part of a share of all dropouts, who have one ratio."""

    def __init__(self, steps: _Steps, share: float, rho: FloatArray) -> None:
        super().__init__(steps, rho)
        self._share, self._left = share, steps.left
        before, gone, start = steps.observed[:-1], self.dropped[:-1], steps.start
        by_L, by_m = _joining_slopes(steps.inner, rho, steps.grouped)
        self._by_steps = before * by_L - rho * gone * self.kept, before * by_m
        self._by_observed = -before * steps.left
        by_L, by_m = _joining_slopes(steps.last, rho, steps.grouped)
        observed, kept = steps.observed[start], self.dropped[start] * self.kept_last
        by_L = observed * (by_L - steps.left_last) - rho * kept
        #: By Λ and M at the times.
        self.last = share * by_L, share * (observed * (by_m - steps.left_last))

    def pull_back(
        self, gain: FloatArray, weights: FloatArray, starts: list[tuple[int, BoolArray]], by_nodes: FloatArray
    ) -> None:
        """Add the derivatives by Λ and M at the nodes, but for the last step to each time."""
        observed, dropped = np.zeros((2, *by_nodes.shape[1:]))
        for total, slope in ((observed, self.by_observed), (dropped, self.kept_last)):
            moved = self._share * gain * slope.T
            for j, times in starts:
                total[j] = moved[:, times] @ weights[times]
        for k in range(len(observed) - 1, 0, -1):
            joins, left, kept = (chances[k - 1][:, None] for chances in (self.joining, self._left, self.kept))
            observed[k - 1] += observed[k] * left + dropped[k] * joins
            dropped[k - 1] += dropped[k] * kept
        stayed = observed[1:] * self._by_observed[:, :, None]
        for total, slope in zip(by_nodes, self._by_steps, strict=True):
            moved = stayed + dropped[1:] * slope[:, :, None]
            total[1:] += moved
            total[:-1] -= moved


def tau_after_dropout(ratio: float, event: FloatArray, dropout: FloatArray) -> FloatArray:
    r"""Kendall's τ of event and dropout, by subject, under a hazard ratio ρ after dropout.

    Of two subjects alike nobody can say whose pair comes first until one of the four times ends the wait. If that is an
    event, the dropouts that follow are in either order alike. If it is a dropout at c, the events are ordered alike
    with the chance (1 + D(c))/2, D' = (ρ + 1 + k)D − (ρ − 1) on the scale of Λ, with k = dM/dΛ, so that

    .. math:: \tau = \int_0^\infty 2 e^{-2[\Lambda(c) + M(c)]} D(c)\, dM(c).

    Where k is constant this is :math:`k(\rho - 1)/[(1 + k)(1 + k + \rho)]`. ``event`` and ``dropout`` are Λ and M at
    increasing times, (subjects, times); in between and beyond they move in proportion to each other.
    """
    start = np.zeros((len(event), 1))
    L, m = (np.maximum(np.diff(hazard, axis=1, prepend=start), 0.0) for hazard in (event, dropout))
    whole, gone = event[:, -1] + dropout[:, -1], dropout[:, -1]
    share = np.divide(gone, whole, out=np.zeros_like(whole), where=whole > 0)  # k/(1 + k)
    # D and τ among those left after the last time, then step by step to the start.
    ahead = (ratio - 1.0) * (1.0 - share) / (ratio * (1.0 - share) + 1.0)
    tau = share * ahead
    for L_k, m_k in zip(L.T[::-1], m.T[::-1], strict=True):
        wait, lost = 2.0 * (L_k + m_k), (ratio + 1.0) * L_k + m_k
        level = np.divide((ratio - 1.0) * L_k, lost, out=np.zeros_like(lost), where=lost > 0)
        through = np.exp(-np.minimum(wait, lost)) * expm1_over(-np.abs(wait - lost))
        tau = tau * np.exp(-wait) + 2.0 * m_k * (level * expm1_over(-wait) + (ahead - level) * through)
        ahead = level + (ahead - level) * np.exp(-lost)
    return tau


def step_quantiles(observed: FloatArray) -> FloatArray:
    """All that integrals take of observed times."""
    return np.quantile(observed, np.linspace(0.0, 1.0, _N_QUANTILES + 1))
