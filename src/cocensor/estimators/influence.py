r"""Variances of a margin and of its margin time, in linear time.

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
:math:`\operatorname{var}\Psi(t) = \sum_k v_k w_k(t)^2` is a running sum. For positive dependence ψ and Δ have one
sign: nothing cancels. Both are kept in units of :math:`\psi(S(t))`, because they span thousands of orders of
magnitude at strong dependence; their ratio does not.
"""

from __future__ import annotations

import numpy as np

from cocensor._checks import FloatArray
from cocensor._numerics import running_logsumexp, segments
from cocensor.copulas import ArchimedeanCopula
from cocensor.data import RiskTable, StepFunction, WhichMargin


class MarginInfluence:
    """Sums over the influence of all subjects on one margin; index 0 stands for "before the first step"."""

    def __init__(
        self, table: RiskTable, copula: ArchimedeanCopula, of: WhichMargin, survival: StepFunction
    ) -> None:
        steps = table.margin(of)
        kept = slice(0, int(np.count_nonzero(survival.values)))
        self.times = steps.times[kept]
        self.survival = survival.values[kept]
        self.own, self.before = _greenwood_increments(table, of, kept.stop)
        hazard = steps.hazard[kept]
        after = hazard - np.log1p(-steps.fraction[kept])
        self.log_scale = copula.log_elasticity(-np.log(self.survival))
        self.log_after = copula.log_elasticity(after)
        self.log_before = copula.log_elasticity(hazard)
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
        early_square = (
            self.square[index] * multiple**2
            + 2.0 * self.linear[index] * multiple * constant
            + total * constant**2
        )
        return (early_square + late_square[index]) / survival**2

    def _running_sums(self) -> tuple[FloatArray, FloatArray]:
        """Σ v w² / ψ(S)² and Σ v w / |ψ(S)| after each step."""
        square, linear = np.zeros(self.times.size + 1), np.zeros(self.times.size + 1)
        carried_square = carried_linear = 0.0
        reference = -np.inf
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
        return square, linear


def _greenwood_increments(table: RiskTable, of: WhichMargin, n_steps: int) -> tuple[FloatArray, FloatArray]:
    """The variance of log(1 − fraction) at each step, and the sum of all such before it."""
    after_events = table.after_events.astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        events = np.where(table.events > 0, table.events / (table.at_risk * after_events), 0.0)
        dropouts = np.where(table.dropouts > 0, table.dropouts / (after_events * table.after_dropouts), 0.0)
    earlier = np.concatenate(([0.0], np.cumsum(events + dropouts)[:-1]))
    if of == "event":
        rows = np.flatnonzero(table.events)[:n_steps]
        return events[rows], earlier[rows]
    rows = np.flatnonzero(table.dropouts)[:n_steps]
    return dropouts[rows], earlier[rows] + events[rows]


def _sum_after(values: FloatArray) -> FloatArray:
    """For each index 0, …, n the sum of ``values`` that follow it; index 0 stands before the first."""
    return np.concatenate((np.cumsum(values[::-1])[::-1], [0.0]))
