r"""The influence on imputed probabilities of the subjects that a joint model was fitted to.

A score that rests on :math:`q_i(t)` has a gradient g in the parameters of the joint model. These minimise the mean of
the negative log-likelihood with its penalties, ridges and barrier, whose Hessian is H. So subject j of the sample moves
the score by :math:`\psi_j = g'H^{-1}(s_j - \bar s)`, with :math:`s_j` the gradient of its own log-likelihood; under a
penalty its mean :math:`\bar s` is not 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from cocensor._checks import BoolArray, FloatArray, IntArray, Rows, row_blocks
from cocensor._newton import Minimum
from cocensor.joint.after_dropout import LaterDropout, LaterSlopes
from cocensor.joint.conditional import Conditional
from cocensor.joint.estimates import to_units_of_data
from cocensor.joint.fit import JointProblem
from cocensor.joint.margins import Margin, log_or_zero
from cocensor.joint.model import JointModel
from cocensor.joint.settings import Link

# Of the weight of the barrier, what tells of an active constraint.
_ACTIVE = 0.3

#: By how much each score gains where a subject is event-free at a time rather than not: blocks of the scores' models.
Gains = Callable[[Rows, slice], Iterator[FloatArray]]


@dataclass(frozen=True, eq=False)
class JointInfluence:
    """The influence of the sample that a joint model was fitted to, by way of the fit."""

    problem: JointProblem
    optimum: Minimum
    model: JointModel

    @property
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
        likelihood, family = self.problem.likelihood, type(self.model.copula)
        fixed, k = self.model.theta_fixed, likelihood.n_parameters
        own = to_units_of_data(self.problem).T @ gradient[:k]
        if not fixed:
            slope = Link.of(family).derivatives(self.optimum.point[-1])[0]
            own = np.vstack((own, slope * gradient[k:]))
        directions = np.asarray(np.linalg.solve(self.optimum.at.hessian, own), dtype=np.float64)
        if not fixed:
            directions[-1] *= slope
        scores = likelihood.scores_along(
            self.optimum.point[:k], family, self.model.copula.theta, directions, fixed=fixed
        )
        n, counted = len(self.problem.design), likelihood.subjects
        # A share of the sample is a larger share of those who count.
        scale, mean = n / counted.size, np.zeros(directions.shape[1])
        for rows, values in scores:
            mean += values.sum(axis=0) / counted.size
            yield rows, scale * values
        # Ridges, barrier and the default penalty weigh less where more subjects count; at the optimum they balance the
        # mean score, with a penalty that was set.
        held, penalty = mean.copy(), self.problem.penalty
        if not fixed and penalty is not None:
            held -= 2.0 * penalty * (self.model.copula.theta - family.independence_theta) * directions[-1]
        counts = np.zeros(n, dtype=bool)
        counts[counted] = True
        for part in row_blocks(n, mean.size):
            rows = np.arange(part.start, part.stop)
            yield rows, np.where(counts[part, None], scale * (held - mean) - held, -held)


def parameter_gradient(
    model: JointModel,
    q: Conditional,
    X: FloatArray,
    groups: list[tuple[Rows, IntArray]],
    gains: Gains,
    n_models: int,
    time_weights: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """The derivatives of scores by the parameters of a joint model, by way of q: (parameters, scores).

    Parameters are in the units of the data, θ last unless it was fixed; scores are the models' for each column of the
    weights of times. ``groups`` are subjects with the first time at which each has a q. Second, how they move with the
    shares of hazard ratios after dropout: (shares, scores).
    """
    gathered = _Gathered(model, q, X, gains, n_models, time_weights)
    for rows, cut in groups:
        if q.later is not None and rows.size and q.ended[rows[0]]:
            gathered.of_later(q.later, rows, cut)
        else:
            gathered.of_conditional(rows, cut)
    return gathered.gradient, gathered.of_shares


@dataclass(eq=False)
class _Gathered:
    """Derivatives of scores by the parameters of a joint model, summed over groups of subjects."""

    model: JointModel
    q: Conditional
    X: FloatArray
    gains: Gains
    n_models: int
    time_weights: FloatArray

    def __post_init__(self) -> None:
        self.size = self.time_weights.shape[1]
        n_scores = self.n_models * self.size
        self.margins = [
            _Margin(margin, self.X, n_scores) for margin in (self.model.event, self.model.dropout)
        ]
        self.of_theta = np.zeros((0 if self.model.theta_fixed else 1, n_scores))
        self.of_shares = np.zeros((0 if self.q.ratio is None else self.q.ratio.shares.size, n_scores))

    @property
    def gradient(self) -> FloatArray:
        return np.concatenate((*(margin.gradient for margin in self.margins), self.of_theta))

    def of_conditional(self, rows: Rows, cut: IntArray) -> None:
        """Add those of subjects whose q hangs on the hazards at t and at the censoring alone."""
        q = self.q
        for block, columns, wanted in self._blocks(rows, cut, len(self.time_weights)):
            slopes = q.slopes(block, columns, free=not self.model.theta_fixed)
            weights = self.time_weights[columns]
            for own, gain in self._of_models(block, columns, wanted):
                self.margins[0].at_common_times(block, q.t[columns], gain * slopes.at_times, weights, own)
                for margin, t, slope in slopes.at_own_times:
                    self.margins[margin].at_own_time(block, t, (gain * slope) @ weights, own)
                if slopes.theta is not None:
                    self.of_theta[0, own] += np.sum((gain * slopes.theta) @ weights, axis=0)

    def of_later(self, later: LaterDropout, rows: Rows, cut: IntArray) -> None:
        """Add those of subjects whose q hangs on both hazards from the censoring on."""
        q = self.q
        for block, columns, wanted in self._blocks(rows, cut, later.n_steps * self.size):
            slopes = LaterSlopes(later.steps(block, columns), later.ratio.components(block))
            weights, log_t = self.time_weights[columns], log_or_zero(slopes.nodes)
            for own, gain in self._of_models(block, columns, wanted):
                before, shares = slopes.before(gain, weights)
                self.of_shares[:, own] += shares
                for margin, at_times, (at_nodes, at_a) in zip(
                    self.margins, slopes.at_times, before, strict=True
                ):
                    margin.at_common_times(block, q.t[columns], gain * at_times, weights, own)
                    sums = at_nodes.sum(axis=1), at_nodes.sum(axis=0), np.einsum("k,kif->if", log_t, at_nodes)
                    margin.summed(block, slopes.nodes, *sums, own)
                    margin.at_own_time(block, q.c[block], at_a, own)

    def _blocks(self, rows: Rows, cut: IntArray, width: int) -> Iterator[tuple[Rows, slice, BoolArray]]:
        """Some subjects, the times from the first that any of them has on, and which of these each of them has."""
        n_times = len(self.time_weights)
        for part in row_blocks(rows.size, width):
            first = int(cut[part].min())
            if first < n_times:
                yield rows[part], slice(first, n_times), cut[part][:, None] <= np.arange(first, n_times)

    def _of_models(self, rows: Rows, columns: slice, wanted: BoolArray) -> Iterator[tuple[slice, FloatArray]]:
        """The scores of each model, and what they gain."""
        for m, gain in enumerate(self.gains(rows, columns)):
            yield slice(m * self.size, (m + 1) * self.size), gain * wanted


class _Margin:
    """Derivatives by log cumulative hazards of a margin, gathered as those by its parameters."""

    def __init__(self, margin: Margin, X: FloatArray, size: int) -> None:
        self.margin, self.X = margin, X
        self.gradient = np.zeros((margin.coef.size + margin.beta.size + margin.gamma.size, size))

    def at_common_times(
        self, rows: Rows, t: FloatArray, values: FloatArray, weights: FloatArray, scores: slice
    ) -> None:
        """Derivatives (rows, times) of what the ``weights`` of the times make some of the scores."""
        if self.margin.basis.present:
            by_time = (np.ones(rows.size) @ values)[:, None] * weights
            self.summed(
                rows, t, by_time, values @ weights, values @ (weights * log_or_zero(t)[:, None]), scores
            )

    def summed(
        self,
        rows: Rows,
        t: FloatArray,
        by_time: FloatArray,
        relative: FloatArray,
        drift: FloatArray,
        scores: slice,
    ) -> None:
        """Sums over subjects by time; and over times by subject, plain and times log t."""
        if self.margin.basis.present:
            started = t > 0
            of_coef = self.margin.basis.values(np.log(t[started])).T @ by_time[started]
            self._add(rows, of_coef, relative, drift, scores)

    def at_own_time(self, rows: Rows, t: FloatArray, values: FloatArray, scores: slice) -> None:
        """One time for each subject."""
        if self.margin.basis.present:
            values, log_t = np.where((t > 0)[:, None], values, 0.0), log_or_zero(t)
            of_coef = self.margin.basis.values(log_t).T @ values
            self._add(rows, of_coef, values, values * log_t[:, None], scores)

    def _add(
        self, rows: Rows, of_coef: FloatArray, relative: FloatArray, drift: FloatArray, scores: slice
    ) -> None:
        parts = [of_coef]
        if self.margin.beta.size:
            X = self.X[rows]
            parts += [X.T @ relative, X[:, self.margin.varying].T @ drift]
        self.gradient[:, scores] += np.concatenate(parts)
