r"""How imputed probabilities move with the subjects that a joint model was fitted to.

A score that rests on :math:`q_i(t)` has a gradient g in the parameters of the joint model. These minimise the mean of
the negative log-likelihood with its penalties, ridges and barrier, whose Hessian is H. So subject j of the sample moves
the score by :math:`\psi_j = g'H^{-1}(s_j - \bar s)`, with :math:`s_j` the gradient of its own log-likelihood; under a
penalty its mean :math:`\bar s` is not 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from cocensor._newton import Minimum
from cocensor._validation import FloatArray, IntArray, Rows, row_blocks
from cocensor.joint.conditional import Conditional
from cocensor.joint.estimates import to_units_of_data
from cocensor.joint.link import Link
from cocensor.joint.margins import Margin
from cocensor.joint.model import JointModel
from cocensor.joint.problem import BARRIER, JointProblem

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
        starts = (0, likelihood.sizes[0])
        for barrier in likelihood.barriers:
            at = starts[barrier.margin] + barrier.at
            pull[at] += barrier.derivatives(self.optimum.point[at]).gradient
        moved = np.linalg.solve(self.optimum.at.hessian * likelihood.n, pull)
        return bool(pull @ moved > _ACTIVE * BARRIER)

    def psi(self, gradient: FloatArray) -> Iterator[tuple[Rows, FloatArray]]:
        """By subject, what moves scores with a ``gradient`` in the parameters, in the units of the data."""
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
        # Ridges and barrier weigh less where more subjects count; at the optimum they balance the mean score.
        held = mean.copy()
        if not fixed:
            held -= (
                2.0
                * self.problem.penalty
                * (self.model.copula.theta - family.independence_theta)
                * directions[-1]
            )
        shift = np.full((n, mean.size), -held)
        shift[counted] += scale * (held - mean)
        yield np.arange(n), shift


def parameter_gradient(
    model: JointModel,
    q: Conditional,
    X: FloatArray,
    groups: list[tuple[Rows, IntArray]],
    gains: Gains,
    n_models: int,
    time_weights: FloatArray,
) -> FloatArray:
    """How scores move with the parameters of a joint model, by way of q: (parameters, scores).

    Parameters are in the units of the data, θ last unless it was fixed; scores are the models' for each column of the
    weights of times. ``groups`` are subjects with what each is asked for, in one stretch of columns.
    """
    free, size = not model.theta_fixed, time_weights.shape[1]
    event = _Margin(model.event, X, n_models * size)
    dropout = _Margin(model.dropout, X, n_models * size)
    of_theta = np.zeros((1, n_models * size))
    n_times = len(time_weights)
    started = q.t > 0
    log_t = np.log(np.where(started, q.t, 1.0))
    drifting = time_weights * log_t[:, None]
    for rows, cut in groups:
        for part in row_blocks(rows.size, n_times):
            block, first = rows[part], int(cut[part].min())
            columns = slice(first, n_times)
            if first == n_times:
                continue
            slopes = q.slopes(block, columns, free=free)
            weights, drifts = time_weights[columns], drifting[columns]
            asked = cut[part][:, None] <= np.arange(first, n_times)
            at_c, at_before = (np.zeros((block.size, n_models * size)) for _ in range(2))
            event_at_c = np.zeros((block.size, n_models * size))
            by_time = np.zeros((n_times, n_models * size))
            relative, drift = (np.zeros((block.size, n_models * size)) for _ in range(2))
            for m, gain in enumerate(gains(block, columns)):
                own = slice(m * size, (m + 1) * size)
                gain = gain * asked
                moved = gain * slopes.event_at_times
                by_time[columns, own] = (np.ones(block.size) @ moved)[:, None] * weights
                relative[:, own], drift[:, own] = moved @ weights, moved @ drifts
                event_at_c[:, own] = ((gain * slopes.q) @ weights) * slopes.event_at_censoring[:, None]
                if slopes.dropout_at_censoring is not None:
                    at_c[:, own] = (gain * slopes.dropout_at_censoring) @ weights
                if slopes.dropout_before is not None:
                    at_before[:, own] = (gain * slopes.dropout_before) @ weights
                if slopes.theta is not None:
                    of_theta[0, own] += np.sum((gain * slopes.theta) @ weights, axis=0)
            event.at_common_times(block, q.t, by_time, relative, drift)
            event.at_own_time(block, q.c[block], event_at_c)
            if slopes.dropout_at_censoring is not None:
                dropout.at_own_time(block, q.c[block], at_c)
            if slopes.dropout_before is not None:
                dropout.at_own_time(block, q.before[block], at_before)
    parts = [event.gradient, dropout.gradient]
    return np.concatenate([*parts, of_theta] if free else parts)


class _Margin:
    """Derivatives by log cumulative hazards of a margin, gathered as those by its parameters."""

    def __init__(self, margin: Margin, X: FloatArray, size: int) -> None:
        self.margin, self.X = margin, X
        self.coef = np.zeros((margin.coef.size, size))
        self.beta = np.zeros((margin.beta.size, size))
        self.gamma = np.zeros((margin.gamma.size, size))

    @property
    def gradient(self) -> FloatArray:
        return np.concatenate((self.coef, self.beta, self.gamma))

    def at_common_times(
        self, rows: Rows, t: FloatArray, by_time: FloatArray, relative: FloatArray, drift: FloatArray
    ) -> None:
        """Sums over subjects by time; and over times by subject, plain and times log t."""
        started = t > 0
        self.coef += self.margin.basis.values(np.log(t[started])).T @ by_time[started]
        self._of_covariates(rows, relative, drift)

    def at_own_time(self, rows: Rows, t: FloatArray, values: FloatArray) -> None:
        """One time for each subject."""
        if not self.margin.basis.present:
            return
        started = t > 0
        values = np.where(started[:, None], values, 0.0)
        log_t = np.log(np.where(started, t, 1.0))
        self.coef += self.margin.basis.values(log_t).T @ values
        self._of_covariates(rows, values, values * log_t[:, None])

    def _of_covariates(self, rows: Rows, relative: FloatArray, drift: FloatArray) -> None:
        if self.beta.size:
            X = self.X[rows]
            self.beta += X.T @ relative
            if self.gamma.size:
                self.gamma += X[:, self.margin.varying].T @ drift
