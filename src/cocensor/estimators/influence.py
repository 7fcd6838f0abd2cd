r"""The influence of subjects on margins, on margin times and on cumulative hazards, in linear time.

Let :math:`\pi` be the Kaplan–Meier estimate of :math:`P(\min(E, C) > t)` (the share still at risk when
nobody is censored administratively), :math:`\psi(p) = p\varphi'(p)`, and :math:`\Psi(t) = \varphi(S(t))`.
At its j-th step a margin takes :math:`\pi` from :math:`\pi_j^-` to :math:`\pi_j^+`. Since
:math:`\delta\varphi(\pi) = \psi(\pi)\,\delta\log\pi`,

.. math:: \delta\Psi(t) = \sum_{u_j \le t} \left[ \psi(\pi_j^+)\,\delta\log(\pi_j^+/\pi_j^-)
    + \Delta_j\,\delta\log\pi_j^- \right], \qquad \Delta_j = \psi(\pi_j^+) - \psi(\pi_j^-),

and :math:`\log\pi_j^-` is the sum of all earlier :math:`\log(1 - \text{fraction})`, of events and of dropouts.
Under the infinitesimal jackknife these are uncorrelated, each with Greenwood's increment as its variance.
So the exit k, with increment :math:`v_k`, enters :math:`\Psi(t)` with the weight
:math:`w_k(t) = \psi(\pi_k^+)\,1[k \text{ is a step}] + \sum_{k < j,\,u_j \le t} \Delta_j`, and
:math:`\operatorname{var}\Psi(t) = \sum_k v_k w_k(t)^2` is a running sum, in units of :math:`\psi(S(t))`: ψ spans
thousands of orders of magnitude at strong dependence. For positive dependence ψ and Δ have one sign: nothing cancels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cocensor._checks import FloatArray, IntArray, Rows, as_matrix, row_blocks
from cocensor._numerics import by_weight, lookup, running_logsumexp, segments
from cocensor.copulas import ArchimedeanCopula
from cocensor.data import RiskTable, StepFunction, Survival
from cocensor.data.risk_table import WhichMargin
from cocensor.estimators.cox import CoxPH, RiskSets

if TYPE_CHECKING:
    from cocensor.estimators.margin import MarginEstimator


class MarginInfluence:
    """Sums over the influence of all subjects on one margin; index 0 stands for "before the first step"."""

    def __init__(
        self, table: RiskTable, copula: ArchimedeanCopula, of: WhichMargin, survival: StepFunction
    ) -> None:
        steps = table.margin(of)
        kept = slice(0, int(np.count_nonzero(survival.values)))
        self.times, self.survival, hazard = steps.times[kept], survival.values[kept], steps.hazard[kept]
        after_events = table.after_events.astype(float)
        with np.errstate(divide="ignore", invalid="ignore"):
            events = np.where(table.events > 0, table.events / (table.at_risk * after_events), 0.0)
            dropouts = np.where(
                table.dropouts > 0, table.dropouts / (after_events * table.after_dropouts), 0.0
            )
        earlier = np.concatenate(([0.0], np.cumsum(events + dropouts)[:-1]))
        #: Greenwood's variance of log(1 − fraction) at each step, and the sum of all such before it.
        if of == "event":
            rows = np.flatnonzero(table.events)[kept]
            self.own, self.before = events[rows], earlier[rows]
        else:
            rows = np.flatnonzero(table.dropouts)[kept]
            self.own, self.before = dropouts[rows], (earlier + events)[rows]
        self.log_scale = copula.log_elasticity(-np.log(self.survival))
        self.log_after = copula.log_elasticity(hazard - np.log1p(-steps.fraction[kept]))
        self.log_before = copula.log_elasticity(hazard)
        #: Σ v w² / ψ(S)² and Σ v w / |ψ(S)| after each step.
        self.square, self.linear = self._running_sums()
        at_zero = np.full(survival.values.size - kept.stop, np.nan)
        self.variance = np.concatenate(([0.0], self.survival**2 * self.square[1:], at_zero))

    def margin_time_variance(self, c: FloatArray, t0: float) -> FloatArray:
        r"""The variance of :math:`\int_c^{t_0} S / S(c)`.

        With :math:`g = S/\psi(S)`, :math:`I(c) = \int_c^{t_0} g` and :math:`A(c) = \int_c^{t_0} S`, the exit k
        enters with :math:`\frac{1}{S(c)}\left[\int_c^{t_0} g\,w_k - \frac{A(c)}{S(c)}\,g(c)\,w_k(c)\right]`: a fixed
        multiple of :math:`w_k(c)` plus a constant for k up to c, and an integral from k on for later ones.
        """
        widths = np.diff(np.minimum(self.times, t0), append=t0)
        widths[self.times >= t0] = 0.0
        with np.errstate(divide="ignore"):
            log_g = np.log(self.survival * widths) - self.log_scale
        log_integral = running_logsumexp(log_g[::-1])[::-1]
        own_weight = np.exp(self.log_after + log_integral)
        gain = own_weight - np.exp(self.log_before + log_integral)
        # ∫ g (Σ of Δ since the step) over [step, t₀], also from before the first step
        later_gain = _sum_after(gain)
        others = np.diff(self.before, append=self.before[-1:]) - self.own
        others[-1:] = 0.0  # beyond the last step nothing more is gained
        late_square = _sum_after(self.own * (own_weight + later_gain[1:]) ** 2 + others * later_gain[1:] ** 2)
        index = np.searchsorted(self.times, c, side="right")
        survival = np.concatenate(([1.0], self.survival))[index]
        area = _sum_after(self.survival * widths)[index]
        integral = np.append(log_integral, -np.inf)[index]
        with np.errstate(invalid="ignore"):
            scaled = np.exp(np.concatenate(([-np.inf], self.log_scale))[index] + integral)
        multiple = np.where(index > 0, scaled - area, 0.0)
        constant = later_gain[index]
        total = np.append(self.before, 0.0)[index]
        early_square = self.square[index] * multiple**2 + 2.0 * self.linear[index] * multiple * constant
        return (early_square + total * constant**2 + late_square[index]) / survival**2

    def _running_sums(self) -> FloatArray:
        square, linear = sums_after = np.zeros((2, self.times.size + 1))
        carried_square, carried_linear, reference = 0.0, 0.0, -np.inf
        for part in segments(self.log_scale):
            shrink = np.exp(reference - self.log_scale[part.start])
            reference = self.log_scale[part.start]
            carried_square *= shrink**2
            carried_linear *= shrink
            weight = np.exp(self.log_after[part] - reference)
            gain = weight - np.exp(self.log_before[part] - reference)
            own, before = self.own[part], self.before[part]
            sums = carried_linear + np.cumsum(gain * before + own * weight)
            previous = np.concatenate(([carried_linear], sums[:-1]))
            squares = carried_square + np.cumsum(gain * (2.0 * previous + gain * before) + own * weight**2)
            carried_linear, carried_square = sums[-1], squares[-1]
            unit = np.exp(reference - self.log_scale[part])
            rows = slice(part.start + 1, part.stop + 1)
            linear[rows], square[rows] = sums * unit, squares * unit**2
        return sums_after


def _sum_after(values: FloatArray) -> FloatArray:
    """For each index 0, …, n the sum of ``values`` that follow it; index 0 stands before the first."""
    return np.concatenate((np.cumsum(values[::-1])[::-1], [0.0]))


class MarginGradient(NamedTuple):
    """Derivatives by the hazards of the event after a row, and the dropout before and after it; None is 0."""

    event: FloatArray
    before: FloatArray | None = None
    after: FloatArray | None = None


class PullBack:
    r"""The two margins of a sample at its distinct times, in rows: row 0 stands before all of them.

    Takes gradients by the values of the margins to the subjects that these were fitted to, in linear time. In the
    notation of this module, with :math:`e = |\psi|`, hazards :math:`x = -\log\pi` and :math:`H = -\log S`, and
    :math:`\lambda_k` the variation of :math:`-\log(1 - \text{fraction})` at the exit k,

    .. math:: e(H(t))\,\delta H(t) = \sum_{u_j \le t} \left[ e(x_j^+)\,\lambda_j
        + \Delta_j \sum_{k < j} \lambda_k \right], \qquad \Delta_j = e(x_j^+) - e(x_j^-).

    A gradient g by the hazards H of a margin is summed backwards in time, :math:`B_j = \sum_{t \ge u_j} g(t)/e(H(t))`,
    and the exit k weighs :math:`W_k = e(x_k^+) B_k\,1[k \text{ is a step}] + \sum_{j > k} \Delta_j B_j`, over both
    margins. A subject of N has :math:`\lambda_k = N(\Delta N_k - f_k Y_k)/(n_k(1 - f_k))`, with the fraction
    :math:`f_k`, the number at risk :math:`n_k`, and :math:`Y_k` and :math:`\Delta N_k` for being at risk and for
    leaving. Sums run over blocks of times, each in units of e(H) at its start: e spans thousands of orders of magnitude
    at strong dependence, but :math:`e(x_j^+)/e(H_j)` is at most about the number at risk.
    """

    def __init__(self, y: Survival, margin: MarginEstimator, weight: FloatArray | None = None) -> None:
        table = margin.risk_table_
        self._n, self._times = len(y), table.times
        self._share = None if weight is None else weight / weight.mean()
        event, dropout = np.asarray(margin.predict(table.times)), margin.dropout_survival(table.times)
        self._event = _Exits(table, margin.copula, "event", event)
        self._dropout = _Exits(table, margin.copula, "dropout", np.asarray(dropout))
        row, kind = self.row(y.time), np.where(y.event, 0, np.where(y.dropout, 1, 2))
        self._subjects = order = np.argsort(row, kind="stable")
        self._row, self._kind = row[order], kind[order]
        dropouts = np.flatnonzero(table.dropouts)
        #: The row of the first dropout; 0 without any.
        self.first_dropout = int(dropouts[0]) + 1 if dropouts.size else table.times.size

    def row(self, t: FloatArray) -> IntArray:
        """The last row up to ``t``."""
        return lookup(self._times, t)

    def __call__(
        self, *sources: Callable[[slice], MarginGradient], stop: int, size: int, width: int
    ) -> Iterator[tuple[Rows, FloatArray]]:
        """The influence of each subject by way of the margins, in blocks (subjects, functionals).

        A source is asked for the gradient at all rows before ``stop``, from the last to the first: by blocks of rows
        that may hold ``width`` numbers each. The sum of all sources is what is pulled back.
        """
        # Rows in blocks, from the last to the first, within each of which one unit will do for each margin.
        edges = {stop} | {part.start for part in row_blocks(stop, max(size, width))}
        for exits in (self._event, self._dropout):
            edges |= {part.start for part in segments(exits.log_scale[:stop])}
        blocks = [slice(a, b) for a, b in pairwise(sorted(edges))][::-1]
        total = np.zeros(size)
        for source in sources:
            event, dropout = _Running(self._event, size), _Running(self._dropout, size)
            gained, taken = np.zeros(size), np.zeros(size)  # Σ Δ B and Σ of what exits take, over later rows
            both = False
            for rows in blocks:
                gradient = source(rows)
                by_events, gain = event.weigh(rows, None, gradient.event)
                by_dropouts = np.zeros_like(by_events)
                both |= gradient.before is not None or gradient.after is not None
                if both:
                    by_dropouts, gain_of_dropouts = dropout.weigh(rows, gradient.before, gradient.after)
                    by_events += gain_of_dropouts  # which come after the events at the same time
                    gain += gain_of_dropouts
                later, gained = _sum_later(gain, gained)
                by_events = (by_events + later) * self._event.unit[rows, None]
                by_dropouts = (by_dropouts + later) * self._dropout.unit[rows, None]
                at_dropouts = by_dropouts * self._dropout.fraction[rows, None]
                after, taken = _sum_later(by_events * self._event.fraction[rows, None] + at_dropouts, taken)
                values = np.concatenate((by_events + at_dropouts + after, by_dropouts + after, after))
                first, last = np.searchsorted(self._row, (rows.start, rows.stop))
                for part in row_blocks(last - first, size):
                    at = slice(first + part.start, first + part.stop)
                    index = self._row[at] - rows.start + self._kind[at] * (rows.stop - rows.start)
                    yield self._by_share(self._subjects[at], values[index])
            total += taken
        # Exits take from whom they find at risk. So far those after a subject gave it as much: now all of them take.
        for part in row_blocks(self._n, size):
            subjects = np.arange(part.start, part.stop)
            yield self._by_share(subjects, np.broadcast_to(-total, (subjects.size, size)))

    def _by_share(self, subjects: Rows, values: FloatArray) -> tuple[Rows, FloatArray]:
        return subjects, by_weight(values, None if self._share is None else self._share[subjects])


class _Exits:
    """One margin at each row: log e(H) after it, and log e(x) before and after what happens at it.

    The first is −∞ before the first step, the others are where there is none; ``counted`` says where H can vary. An
    exit adds its ``unit``, N/(n_k (1 − f_k)), to who leaves by it, and takes the ``fraction`` f_k of that from all who
    were at risk of it; the unit is 0 where nobody leaves or nobody stays.
    """

    def __init__(
        self, table: RiskTable, copula: ArchimedeanCopula, of: WhichMargin, survival: FloatArray
    ) -> None:
        steps, leave, stay = table.margin(of), table.events, table.after_events
        if of == "dropout":
            leave, stay = table.dropouts, table.after_dropouts
        survival = np.concatenate(([1.0], survival))
        self.counted = counted = (survival > 0) & (survival < 1)
        self.log_scale, self.log_before, self.log_after = np.full((3, survival.size), -np.inf)
        self.log_scale[counted] = copula.log_elasticity(-np.log(survival[counted]))
        rows = np.flatnonzero(leave) + 1
        kept = counted[rows]  # all but a last step to 0
        hazard = steps.hazard[kept]
        self.log_before[rows[kept]] = copula.log_elasticity(hazard)
        self.log_after[rows[kept]] = copula.log_elasticity(hazard - np.log1p(-steps.fraction[kept]))
        if counted.any():
            self.log_scale[survival == 0] = self.log_scale[counted][-1]
        self.unit, self.fraction = np.zeros((2, survival.size))
        np.divide(table.n, stay, out=self.unit[1:], where=(leave > 0) & (stay > 0))
        self.fraction[rows] = steps.fraction


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
            return np.zeros_like(gradient), np.zeros_like(gradient)
        unit, counted = np.zeros(len(gradient)), exits.counted[rows]
        unit[counted] = np.exp(reference - exits.log_scale[rows][counted])
        gradient *= unit[:, None]
        later, carried = _sum_later(gradient, self._carried * np.exp(reference - self._reference))
        self._carried, self._reference = carried, reference
        later += gradient
        start, end = (np.exp(logs[rows] - reference)[:, None] for logs in (exits.log_before, exits.log_after))
        return end * later, (end - start) * later


def _sum_later(values: FloatArray, carried: FloatArray) -> tuple[FloatArray, FloatArray]:
    """For each row the sum of those after it and of what is ``carried``, and the sum of all."""
    sums = np.cumsum(np.concatenate((carried[None], values[::-1])), axis=0)[::-1]
    return sums[1:].copy(), sums[0].copy()


@dataclass(frozen=True, eq=False)
class HazardInfluence:
    r"""The derivatives of a cumulative hazard of dropout by the shares of the N subjects of its sample.

    Of a share ε of the sample given to subject j, with the rest shrunk by 1 − ε, let a dot be the derivative by ε. The
    Kaplan–Meier curve of dropout has :math:`-\log G = -\sum_u \log(1 - m_u/y_u)` with m dropouts among y at risk,
    events at u having left before, and Cox's model :math:`-\log G(s \mid x) = H_0(s)\,e^{(x - c)'\beta}` with Breslow's
    :math:`H_0 = \sum_u m_u/S_u`, :math:`S_u = \sum_{l \text{ at risk}} e_l`, :math:`e_l=e^{(x_l-c)'\beta}`. Both have

    .. math:: \dot H(s; j) = N\Bigl[ g_j\,1[\text{dropout of } j \text{ by } s]
        - e_j \sum_{u \le s,\ j \text{ at risk}} \gamma_u \Bigr] + h(s)'\dot\beta_j,

    Kaplan–Meier with :math:`g = 1/(y - m)`, :math:`\gamma = m/(y(y - m))`, e = 1 and no coefficients; Breslow with
    :math:`g = 1/S`, :math:`\gamma = m/S^2`, :math:`h(s) = -\sum_{u \le s} m_u \sum_l e_l (x_l - c)/S_u^2`, where G does
    not depend on c. "At s" has U + 1 values: before the first of the U times of dropout, and from each on.
    """

    steps: FloatArray  # the times of dropout
    position: IntArray  # at how many of them each subject was at risk
    jump: FloatArray  # g, 0 for those who did not drop out
    exposure: FloatArray  # e
    cumulated: FloatArray  # the sum of γ at s
    hazard: FloatArray  # the hazard itself at s, where there are coefficients
    drift: FloatArray  # h at s, (U + 1, p)
    coefficients: FloatArray  # the derivative of the coefficients, (N, p)
    log_unit: float = 0.0  # the logarithm of the e that stands for 1


def of_kaplan_meier(y: Survival, weight: FloatArray | None = None) -> HazardInfluence:
    """The influence on the Kaplan–Meier curve of dropout; a last step to 0, where no derivative is, has none.

    With sampling weights, jumps and exposures are multiplied by them.
    """
    table = y.risk_table if weight is None else y.weighted_risk_table(weight)
    rows = np.flatnonzero(table.dropouts)
    steps, dropouts = table.times[rows], table.dropouts[rows].astype(float)
    at_risk = (table.at_risk - table.events)[rows].astype(float)
    left = at_risk - dropouts
    jump = np.divide(1.0, left, out=np.zeros(left.size), where=left > 0)
    position = lookup(steps, y.time, "left")
    share = np.ones(len(y)) if weight is None else weight
    dropout = np.flatnonzero(y.dropout & (share > 0))
    own, cumulated = np.zeros(len(y)), _from_zero(dropouts / at_risk * jump)
    own[dropout] = share[dropout] * jump[position[dropout]]
    position[dropout] += 1
    hazard, no_drift, none = np.zeros(cumulated.size), np.zeros((cumulated.size, 0)), np.zeros((len(y), 0))
    return HazardInfluence(steps, position, own, share, cumulated, hazard, no_drift, none)


def of_cox(model: CoxPH, X: Any, y: Survival, weight: FloatArray | None = None) -> HazardInfluence:
    """The influence on a Cox model at its centre, fitted to ``X`` and ``y``, and to case weights where there are."""
    n, counted = len(y), np.arange(len(y)) if weight is None else np.flatnonzero(weight)
    X = as_matrix(X, "X")
    if weight is not None:
        X, y, weight = X[counted], y[counted], weight[counted]
    sets = RiskSets(y, model.of, model.ties, weight)
    Z = (X - model.centre_)[sets.order]
    relative = Z @ model.coef_
    log_unit = float(relative.max())
    exposure = by_weight(np.exp(relative - log_unit), sets.weight)
    residuals = sets.score_residuals(Z, exposure)
    # Under a penalty their mean is not 0.
    mean = residuals.sum(axis=0) / len(y)
    if sets.weight is not None:
        mean = np.outer(sets.weight / sets.weight.sum(), residuals.sum(axis=0))
    coefficients = n * (residuals - mean) @ model.covariance_

    steps, first = np.unique(sets.times, return_index=True)
    dropouts = np.bincount(np.searchsorted(steps, sets.times), sets.event_weight)
    sums = sets.over_risk_sets(exposure)[first]
    moments = sets.over_risk_sets(Z * exposure[:, None])[first]
    jump = np.zeros(len(y))
    jump[sets.happens] = 1.0 / sums[np.searchsorted(steps, sets.times)]
    jump = by_weight(jump, sets.weight)
    position = np.searchsorted(sets.start[first], np.arange(len(y)), side="right")
    # Who has no weight moves nothing.
    at, of_counted = counted[sets.order], (position, jump, exposure, coefficients)
    everyone = [np.zeros((n, *own.shape[1:]), own.dtype) for own in of_counted]
    for own, values in zip(everyone, of_counted, strict=True):
        own[at] = values
    position, jump, exposure, coefficients = everyone
    cumulated, hazard = _from_zero(dropouts / sums**2), _from_zero(dropouts / sums)
    drift = _from_zero(-(dropouts / sums**2)[:, None] * moments)
    return HazardInfluence(steps, position, jump, exposure, cumulated, hazard, drift, coefficients, log_unit)


def _from_zero(increments: FloatArray) -> FloatArray:
    """Running sums that begin with 0."""
    first = np.zeros((1, *increments.shape[1:]))
    return np.concatenate((first, np.cumsum(increments, axis=0)))
