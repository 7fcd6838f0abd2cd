r"""The influence on imputed probabilities of the subjects that a joint model was fitted to.

A score that rests on :math:`q_i(t)` has a gradient g in the parameters of the joint model. These minimise the mean of
the negative log-likelihood with its penalties, ridges and barrier, whose Hessian is H. So subject j of the sample moves
the score by :math:`\psi_j = g'H^{-1}(s_j - \bar s)`, with :math:`s_j` the gradient of its own log-likelihood; under a
penalty its mean :math:`\bar s` is not 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from cocensor._cached import cached_property
from cocensor._checks import FloatArray, IntArray, Rows, row_blocks
from cocensor._newton import Minimum
from cocensor.joint.after_dropout import LaterSlopes
from cocensor.joint.conditional import Conditional
from cocensor.joint.estimates import to_units_of_data
from cocensor.joint.fit import JointProblem
from cocensor.joint.margins import Margin, log_or_zero
from cocensor.joint.model import JointModel
from cocensor.joint.settings import Link

# Of the weight of the barrier, what tells of an active constraint.
_ACTIVE = 0.3

#: How much some scores of one model gain where subjects are event-free at times rather than not: which scores, the
#: gains, and what the times count in each of the scores.
Gains = Callable[[Rows, slice], Iterator[tuple[IntArray, FloatArray, FloatArray]]]


@dataclass(frozen=True, eq=False)
class JointInfluence:
    """The influence of the sample that a joint model was fitted to, by way of the fit."""

    problem: JointProblem
    optimum: Minimum
    model: JointModel

    @cached_property
    def held(self) -> bool:
        r"""Whether the barrier holds the optimum, so that a constraint is active.

        With b the gradient of the barrier, :math:`b'H^{-1}b` in units of the log-likelihood is about the barrier's
        weight for each active constraint, and next to nothing where all hazards rise by themselves.
        """
        likelihood, pull = self.problem.likelihood, np.zeros(self.optimum.point.size)
        for barrier in likelihood.barriers:
            pull[barrier.at] += barrier.derivatives(self.optimum.point[barrier.at]).gradient
        moved = np.linalg.solve(self.optimum.at.hessian * likelihood.n, pull)
        return bool(pull @ moved > _ACTIVE * likelihood.barrier)

    def psi(self, gradient: FloatArray) -> Iterator[tuple[Rows, FloatArray]]:
        """The influence of each subject on scores with a ``gradient`` in the parameters, in the units of the data."""
        likelihood, copula, point = self.problem.likelihood, self.model.copula, self.optimum.point
        free, k = not self.model.theta_fixed, likelihood.n_parameters
        own = to_units_of_data(self.problem).T @ gradient[:k]
        if free:
            slope = Link.of(type(copula)).derivatives(point[-1])[0]
            own = np.vstack((own, slope * gradient[k:]))
        directions = np.asarray(np.linalg.solve(self.optimum.at.hessian, own), dtype=np.float64)
        if free:
            directions[-1] *= slope
        scores = likelihood.scores_along(point[:k], copula, directions, free=free)
        n, counted = len(self.problem.design), likelihood.subjects
        weight = np.ones(n) if likelihood.weight is None else likelihood.weight
        # A share of the sample is a larger share of those who count.
        scale, mean, share = (
            weight.sum() / likelihood.n,
            np.zeros(directions.shape[1]),
            weight / weight.mean(),
        )
        for rows, values in scores:
            mean += weight[rows] @ values / likelihood.n
            yield rows, scale * share[rows, None] * values
        # Ridges, barrier and the default penalty weigh less where more subjects count; at the optimum they balance the
        # mean score, with a penalty that was set.
        held, penalty = mean.copy(), self.problem.penalty
        if free and penalty is not None:
            held -= 2.0 * penalty * (copula.theta - copula.independence_theta) * directions[-1]
        counts = np.zeros(n, dtype=bool)
        counts[counted] = True
        for part in row_blocks(n, mean.size):
            rows = np.arange(part.start, part.stop)
            yield rows, share[rows, None] * np.where(counts[part, None], scale * (held - mean) - held, -held)


def parameter_gradient(
    model: JointModel,
    q: Conditional,
    X: FloatArray,
    groups: list[tuple[Rows, IntArray]],
    gains: Gains,
    n_times: int,
    n_scores: int,
    width: int,
) -> tuple[FloatArray, FloatArray]:
    """The derivatives of scores, by way of q, by the parameters of a joint model and by the shares of hazard ratios.

    Parameters are in the units of the data, θ last unless it was fixed. ``groups`` are subjects with the first time at
    which each has a q, and ``width`` is the most scores that ``gains`` gives at once.
    """
    free = not model.theta_fixed
    margins = [_Margin(margin, X, n_scores) for margin in (model.event, model.dropout)]
    of_theta = np.zeros((int(free), n_scores))
    of_shares = np.zeros((0 if q.ratio is None else q.ratio.shares.size, n_scores))

    for rows, cuts in groups:
        # Who was there at the end of the study under a ratio has a q that hangs on both hazards from then on.
        later = q.later if rows.size and q.ended[rows[0]] else None
        n_held = max(n_times, n_scores) if later is None else later.n_steps * width
        for part in row_blocks(rows.size, n_held):
            block, cut = rows[part], cuts[part]
            columns = slice(int(cut.min()), n_times)
            if columns.start >= n_times:
                continue
            t = q.t[columns]
            if later is None:
                at_times, at_own_times, by_theta = q.slopes(block, columns, free=free)
                common = _AtCommonTimes(t, block.size, n_scores)
                own = np.zeros((len(at_own_times), block.size, n_scores))
                for scores, gain, weights in gains(block, columns):
                    common.add(gain * at_times, weights, scores)
                    for (_, _, slope), sums in zip(at_own_times, own, strict=True):
                        sums[:, scores] = (gain * slope) @ weights
                    if by_theta is not None:
                        of_theta[0, scores] += np.sum((gain * by_theta) @ weights, axis=0)
                margins[0].add(block, t, common.by_time, common.relative, common.drift)
                for (margin, own_t, _), sums in zip(at_own_times, own, strict=True):
                    margins[margin].at_own_time(block, own_t, sums)
                continue
            wanted = cut[:, None] <= np.arange(columns.start, n_times)
            slopes = LaterSlopes(later, block, columns)
            log_nodes = log_or_zero(slopes.nodes)
            for scores, gain, weights in gains(block, columns):
                gain = gain * wanted
                before, by_shares = slopes.before(gain, weights)
                of_shares[:, scores] += by_shares
                for gathered, by_t, (at_nodes, at_a) in zip(margins, slopes.at_times, before, strict=True):
                    common = _AtCommonTimes(t, block.size, scores.size)
                    common.add(gain * by_t, weights, slice(None))
                    gathered.add(block, t, common.by_time, common.relative, common.drift, scores)
                    by_time, relative = at_nodes.sum(axis=1), at_nodes.sum(axis=0)
                    drift = np.einsum("k,kif->if", log_nodes, at_nodes)
                    gathered.add(block, slopes.nodes, by_time, relative, drift, scores)
                    gathered.at_own_time(block, q.c[block], at_a, scores)
    return np.concatenate((*(margin.gradient for margin in margins), of_theta)), of_shares


class _AtCommonTimes:
    """Derivatives of scores by log cumulative hazards of subjects at the same times, summed up by time and subject."""

    def __init__(self, t: FloatArray, n_rows: int, n_scores: int) -> None:
        self._log_t = log_or_zero(t)[:, None]
        self.by_time = np.zeros((t.size, n_scores))
        self.relative, self.drift = np.zeros((2, n_rows, n_scores))

    def add(self, values: FloatArray, weights: FloatArray, scores: Any) -> None:
        """Set those of some scores from derivatives (rows, times), by what the times count in each."""
        self.by_time[:, scores] = (np.ones(len(values)) @ values)[:, None] * weights
        self.relative[:, scores] = values @ weights
        self.drift[:, scores] = values @ (weights * self._log_t)


class _Margin:
    """Derivatives by log cumulative hazards of a margin, gathered as those by its parameters."""

    def __init__(self, margin: Margin, X: FloatArray, size: int) -> None:
        self.margin, self.X = margin, X
        self.gradient = np.zeros((margin.coef.size + margin.beta.size + margin.gamma.size, size))

    def at_own_time(self, rows: Rows, t: FloatArray, values: FloatArray, scores: Any = slice(None)) -> None:
        """Add derivatives at one time for each subject."""
        values = np.where((t > 0)[:, None], values, 0.0)
        self.add(rows, t, values, values, values * log_or_zero(t)[:, None], scores)

    def add(
        self,
        rows: Rows,
        t: FloatArray,
        by_time: FloatArray,
        relative: FloatArray,
        drift: FloatArray,
        scores: Any = slice(None),
    ) -> None:
        """Add sums over subjects by time; and over times by subject, plain and times log t."""
        if not self.margin.basis.present:
            return
        started = t > 0
        parts = [self.margin.basis.values(np.log(t[started])).T @ by_time[started]]
        if self.margin.beta.size:
            X = self.X[rows]
            parts += [X.T @ relative, X[:, self.margin.varying].T @ drift]
        self.gradient[:, scores] += np.concatenate(parts)
