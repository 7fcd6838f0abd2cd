r"""The hazard of the event after a dropout, as a multiple ρ of that of those alike still under observation.

Event and dropout are independent up to the dropout, with cumulative hazards Λ and M given z. After a dropout at c,
:math:`q(t) = e^{-\rho[\Lambda(t) - \Lambda(c)]}`. Whoever was under observation at the end of the study, at a, may have
dropped out later: with :math:`\Pi = e^{-\Lambda - M}`,

.. math:: q(t) = \frac{\Pi(t)}{\Pi(a)} + \int_a^t \frac{\Pi(s)}{\Pi(a)}\, e^{-\rho[\Lambda(t) - \Lambda(s)]}\, dM(s).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cocensor._cached import cached_property
from cocensor._checks import BoolArray, FloatArray, IntArray, Rows, row_blocks
from cocensor._numerics import hazard_from_log
from cocensor.joint.margins import MarginOfSubjects

# Steps of the integral: so many of equal length, and to so many quantiles, where a few times lie far beyond the others.
_N_EQUAL, _N_QUANTILES = 96, 32
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
    subjects of a sample: it says to which each belongs, −1 for who did not drop out. Integrals step to quantiles of the
    times ``observed`` in a sample, by default to those of the subjects.
    """

    own: FloatArray
    later: FloatArray
    shares: FloatArray
    among: IntArray | None = None
    observed: FloatArray | None = None

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

    The integral goes by steps, from a over nodes that do not depend on the times asked for, to each of these times.
    Over a step, with increments L of Λ and m of M that are taken to be proportional to each other, it is exactly
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
        self.ratio, self._t, self._a, self.grouped = ratio, t, a, ends is not None
        nodes = _nodes(observed, t) if ends is None else ends
        self._nodes = nodes[nodes < t[-1]]
        self._at_nodes, self._at_t = (tuple(each.at(at) for each in margins) for at in (self._nodes, t))
        self._at_a = tuple(hazard_from_log(margin.log_hazard(a)) for margin in margins)

    def __call__(self, rows: Rows, columns: slice) -> FloatArray:
        """The probabilities of ``rows`` at the times ``columns``."""
        result = np.empty((rows.size, columns.stop - columns.start))
        if not result.size:
            return result
        for part in row_blocks(rows.size, self.n_steps):
            some = rows[part]
            steps, shared = self.steps(some, columns), self.ratio.components(some)
            result[part] = np.sum([share * _Under(steps, rho).value for share, rho in shared], axis=0).T
        return result

    @property
    def n_steps(self) -> int:
        """How many numbers of each subject are held at once."""
        return self._nodes.size + self._t.size

    def steps(self, rows: Rows, columns: slice) -> _Steps:
        """From the first node after one of the censorings on."""
        a, t = self._a[rows], self._t[columns]
        first = int(np.searchsorted(self._nodes, a.min(), side="right"))
        some = slice(first, max(first, int(np.searchsorted(self._nodes, t[-1]))))
        nodes = self._nodes[some]

        def hazards(margin: int) -> tuple[FloatArray, FloatArray]:
            at_a = self._at_a[margin][rows]
            at_nodes, at_t = (
                np.maximum(hazard_from_log(each[margin](rows, part)).T, at_a)
                for each, part in ((self._at_nodes, some), (self._at_t, columns))
            )
            return np.vstack((at_a, at_nodes)), at_t

        return _Steps(a, nodes, t, *hazards(0), *hazards(1), self.grouped)


@dataclass(eq=False)
class _Steps:
    """The steps of some subjects: from a over the nodes, and from the node before each time to it.

    Arrays are (nodes or times, rows). ``x`` and ``y``, Λ and M at the nodes, begin with a; up to a they stay as they
    are there. Each time is reached from the node ``start``; 0 is a. ``observed`` are those at each node who are
    event-free and have not dropped out.
    """

    a: FloatArray
    nodes: FloatArray
    t: FloatArray
    x: FloatArray
    x_t: FloatArray
    y: FloatArray
    y_t: FloatArray
    grouped: bool

    def __post_init__(self) -> None:
        x, y = self.x, self.y
        self.start = start = np.searchsorted(self.nodes, self.t)
        self.inner = _Step(x[1:] - x[:-1], y[1:] - y[:-1], self.grouped)
        self.last = _Step(self.x_t - x[start], self.y_t - y[start], self.grouped)
        self.observed = np.vstack((np.ones(self.a.size), np.multiply.accumulate(self.inner.left, axis=0)))


class _Under:
    """Who is event-free under a ratio: at the nodes those who ``dropped`` out before, all (``value``) at the times."""

    def __init__(self, steps: _Steps, rho: FloatArray) -> None:
        self.kept, self.kept_last = (np.exp(-rho * each.L) for each in (steps.inner, steps.last))
        self.joining = steps.inner.joining(rho, self.kept)
        self.dropped = np.zeros(steps.observed.shape)
        np.multiply(steps.observed[:-1], self.joining, out=self.dropped[1:])
        for k in range(1, len(self.dropped)):
            self.dropped[k] += self.dropped[k - 1] * self.kept[k - 1]
        #: By who is under observation at the node before the time.
        self.by_observed = steps.last.left + steps.last.joining(rho, self.kept_last)
        start = steps.start
        self.value = steps.observed[start] * self.by_observed + self.dropped[start] * self.kept_last


@dataclass(frozen=True, eq=False)
class _Step:
    """Increments of Λ and M; ``left`` of those under observation, who are still after it."""

    L: FloatArray
    m: FloatArray
    grouped: bool

    @cached_property
    def left(self) -> FloatArray:
        return np.asarray(np.exp(-self.L - self.m))

    def joining(self, rho: FloatArray, kept: FloatArray) -> FloatArray:
        """Who drops out in a step and is event-free after it, of those who are there before it."""
        if self.grouped:
            return np.exp(-self.L) * -np.expm1(-self.m)
        return self.m * self._mean(rho, kept)[0]

    def joining_slopes(self, rho: FloatArray, kept: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The derivatives of that by L and m."""
        if self.grouped:
            return -self.joining(rho, kept), self.left
        mean, by_end = self._mean(rho, kept)
        # By the start of the gap, ρL, it is the rest of −mean.
        return self.m * (by_end - rho * (mean + by_end)), mean + self.m * by_end

    def _mean(self, rho: FloatArray, kept: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The mean of exponentials from ρL to L + m, and its derivative by the latter."""
        gap = self.L + self.m - rho * self.L
        near = np.abs(gap) < _CLOSE
        apart = np.where(near, 1.0, gap)
        mean = np.where(near, kept * _phi(gap), (kept - self.left) / apart)
        return mean, np.where(near, kept * _phi_slope(gap), (self.left - mean) / apart)


class LaterSlopes:
    """The derivatives of q, of a block of subjects and times, by the log cumulative hazards behind it.

    ``event`` and ``dropout`` are those by the hazards at the times, (rows, times).
    """

    def __init__(self, steps: _Steps, shared: list[tuple[float, FloatArray]]) -> None:
        self._steps = steps
        self._parts = [_Part(steps, share, rho) for share, rho in shared]
        self._by_x, self._by_y = (np.sum([each.last[k] for each in self._parts], axis=0) for k in (0, 1))
        self.event, self.dropout = (self._by_x * steps.x_t).T, (self._by_y * steps.y_t).T
        self.nodes = steps.nodes

    def before(self, gain: FloatArray, weights: FloatArray) -> tuple[FloatArray, ...]:
        """Of the sums over times of ``gain`` (rows, times) times ``weights`` (times, F): by all that comes before.

        By the event's log hazards at the nodes, (nodes, rows, F), and at a, (rows, F); by the dropout's; and by the
        shares, (shares, F).
        """
        steps = self._steps
        shape = (len(steps.x), gain.shape[0], weights.shape[1])
        starts = [(j, steps.start == j) for j in np.unique(steps.start)]
        started = (steps.nodes[:, None] > steps.a)[:, :, None]
        by_x, by_y = np.zeros(shape), np.zeros(shape)
        for part in self._parts:
            part.pull_back(gain, weights, starts, by_x, by_y)
        derivatives = []
        for by_node, by_time, hazard in ((by_x, self._by_x, steps.x), (by_y, self._by_y, steps.y)):
            moved = gain * by_time.T
            for j, times in starts:
                by_node[j] -= moved[:, times] @ weights[times]
            inner = by_node[1:] * started
            # All hangs on differences of hazards: what moves with those after a moves against that at a.
            at_a = -(inner.sum(axis=0) + moved @ weights) * hazard[0][:, None]
            derivatives += [inner * hazard[1:, :, None], at_a]
        values = [np.einsum("it,ti->t", gain, part.value) @ weights for part in self._parts]
        return (*derivatives, np.array(values))


class _Part:
    """What a share of all dropouts adds, who have one ratio."""

    def __init__(self, steps: _Steps, share: float, rho: FloatArray) -> None:
        under, (inner, last) = _Under(steps, rho), (steps.inner, steps.last)
        self.value, self._share, self._under, self._left = under.value, share, under, inner.left
        before, gone, start = steps.observed[:-1], under.dropped[:-1], steps.start
        by_L, by_m = inner.joining_slopes(rho, under.kept)
        self._by_dropped = before * by_L - rho * gone * under.kept, before * by_m
        self._by_observed = -before * inner.left
        by_L, by_m = last.joining_slopes(rho, under.kept_last)
        observed, kept = steps.observed[start], under.dropped[start] * under.kept_last
        #: By Λ and M at the times.
        self.last = (
            share * (observed * (by_L - last.left) - rho * kept),
            share * (observed * (by_m - last.left)),
        )

    def pull_back(
        self,
        gain: FloatArray,
        weights: FloatArray,
        starts: list[tuple[int, BoolArray]],
        by_x: FloatArray,
        by_y: FloatArray,
    ) -> None:
        """Add the derivatives by Λ and M at the nodes, but for the last step to each time."""
        under = self._under
        observed, dropped = np.zeros(by_x.shape), np.zeros(by_x.shape)
        for total, slope in ((observed, under.by_observed), (dropped, under.kept_last)):
            moved = self._share * gain * slope.T
            for j, times in starts:
                total[j] = moved[:, times] @ weights[times]
        for k in range(len(observed) - 1, 0, -1):
            joins, left, kept = (each[k - 1][:, None] for each in (under.joining, self._left, under.kept))
            observed[k - 1] += observed[k] * left + dropped[k] * joins
            dropped[k - 1] += dropped[k] * kept
        stayed = observed[1:] * self._by_observed[:, :, None]
        for total, slope in zip((by_x, by_y), self._by_dropped, strict=True):
            moved = stayed + dropped[1:] * slope[:, :, None]
            total[1:] += moved
            total[:-1] -= moved


def step_quantiles(observed: FloatArray) -> FloatArray:
    """All that integrals take of observed times."""
    return np.quantile(observed, np.linspace(0.0, 1.0, _N_QUANTILES + 1))


def _nodes(observed: FloatArray, t: FloatArray) -> FloatArray:
    end = float(observed.max())
    late = max(0, int(np.ceil(np.log(t[-1] / end) / np.log(_GROWTH)))) if t[-1] > end > 0 else 0
    beyond = end * _GROWTH ** np.arange(1, late + 1)
    return np.unique(np.concatenate((np.linspace(0.0, end, _N_EQUAL + 1), step_quantiles(observed), beyond)))


def _phi(k: FloatArray) -> FloatArray:
    """(1 − e^−k)/k near 0."""
    return 1.0 - k * (1.0 / 2.0 - k * (1.0 / 6.0 - k * (1.0 / 24.0 - k * (1.0 / 120.0 - k * (1.0 / 720.0)))))


def _phi_slope(k: FloatArray) -> FloatArray:
    """Its derivative near 0."""
    return -0.5 + k * (1.0 / 3.0 - k * (1.0 / 8.0 - k * (1.0 / 30.0 - k * (1.0 / 144.0 - k * (1.0 / 840.0)))))
