"""Inverse probability of censoring weights under a copula."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from cocensor._numerics import lookup
from cocensor._validation import BoolArray, FloatArray, HorizonWarning
from cocensor.adjustments.base import Adjustment, Beyond, always_event_free
from cocensor.adjustments.status import EVENT_FREE, Group, Status, Terms, TimeGrid, by_cut
from cocensor.copulas import ArchimedeanCopula, Independence
from cocensor.curves import StepFunction
from cocensor.estimators import CopulaGraphic
from cocensor.outcomes import RiskTable, Survival

#: Below this chance of being seen, weights say more about a few subjects than about the score.
SMALLEST_CHANCE = 0.05


class DependentIPCW(Adjustment):
    r"""Events weigh as many as they stand for under the copula; who had no observed event is event-free.

    An event at t is seen with the chance :math:`P(C \ge t \mid E = t) = h_1(S_E(t), S_C(t-))`. Over the step of
    :math:`S_E` at t its weight is

    .. math:: w = \frac{S_E(t-) - S_E(t)}{C(S_E(t-), S_C(t-)) - C(S_E(t), S_C(t-))},

    between steps :math:`1/h_1`; an end of study divides by the chance of outlasting it as well. Then
    :math:`b_i(t) = \delta_i\,1[t_i \le t]\,w_i` and :math:`a_i(t) = 1 - b_i(t)`: the events that are seen stand
    for those that are not, and the rest is event-free.

    Parameters
    ----------
    copula : ArchimedeanCopula, optional
        The survival copula of event and dropout; independence by default.
    beyond : {"last"}, optional
        Hold curves at their last value beyond the last training time, instead of refusing.

    Notes
    -----
    Needs that dropout is independent of the prediction given the event time. Weights a may be negative. Where an
    event would be seen with a chance below 0.05 (:math:`h_1`, or :math:`C/S_E`, times the chance of outlasting the
    study) at a training event, or an event of the test sample has a weight above 20, the answer stops: from there
    on scores and weights are NaN, with a :class:`HorizonWarning`. On the fitting sample
    :math:`\sum_{t_i \le t} \delta_i w_i = N(1 - S_E(t))` exactly, without administrative censoring.

    Examples
    --------
    >>> from cocensor import Clayton
    >>> y = ([1, 3, 5, 4, 7, 8, 10, 13], [1, 0, 0, 1, 1, 0, 1, 0])
    >>> DependentIPCW(Clayton(1.0)).fit(y).status(y, [7.0]).b.T.round(3)
    array([[1.   , 0.   , 0.   , 1.324, 1.822, 0.   , 0.   , 0.   ]])
    """

    assumption = (
        "Event and dropout have the stated copula, and dropout is independent of the prediction given the "
        "event time."
    )

    def __init__(self, copula: ArchimedeanCopula | None = None, beyond: Beyond = None) -> None:
        self.copula = Independence() if copula is None else copula
        self.beyond = beyond
        CopulaGraphic(self.copula)  # refuses a copula without a graphic form
        self._check_beyond()

    def __repr__(self) -> str:
        return f"DependentIPCW({self.copula!r})"

    def _fit(self, y: Survival, x: Any) -> None:
        self._event = CopulaGraphic(self.copula).fit(y)
        self._outlast = _outlasting(y.risk_table)
        steps = y.risk_table.margin("event")
        survival = self._event.survival_.values
        # The two margins give back the joint curve: C(S_E(t−), S_C(t−)) − C(S_E(t), S_C(t−)) is what events take.
        self._step_weights = -np.diff(survival, prepend=1.0) / (np.exp(-steps.hazard) * steps.fraction)
        left = np.exp(-steps.hazard) * (1.0 - steps.fraction)
        outlast = np.asarray(self._outlast(steps.times, "left"))
        rare = (self._step_weights * SMALLEST_CHANCE > outlast) | (
            left * outlast < SMALLEST_CHANCE * survival
        )
        self._until = _first(steps.times, rare)

    def _status(self, y: Survival, grid: TimeGrid, x: Any, estimate: Any) -> Status:
        self._refuse_beyond(grid.times, self._event.support_, "times")
        cut = grid.cut(y.time)
        rows = by_cut(np.flatnonzero(y.event & (y.time <= grid.last)), cut)
        seen = np.zeros(len(y), dtype=bool)
        seen[rows] = True
        self._refuse_beyond(np.where(seen, y.time, 0.0), self._event.t_max_, "y_test")
        weights = np.zeros(len(y))
        t = np.minimum(y.time[rows], self._event.t_max_)  # held there, where beyond allows it
        weights[rows] = self._weights(t) / np.asarray(self._outlast(t, "left"))
        until = min(self._until, _first(y.time[rows], weights[rows] * SMALLEST_CHANCE > 1.0))
        if grid.last >= until:
            warnings.warn(
                f"from time {until:g} on fewer than {SMALLEST_CHANCE:.0%} of the events are seen: scores there "
                "are NaN; choose a horizon before that time.",
                HorizonWarning,
                stacklevel=4,
            )
        had = Terms(event_free=((1.0 - weights, None),), event=((weights, None),))
        groups = (
            Group(rows, cut[rows], EVENT_FREE, had),
            always_event_free(np.flatnonzero(~seen), y, grid),
        )
        return Status(grid, len(y), groups, until=until)

    def _weights(self, t: FloatArray) -> FloatArray:
        """1 over the chance that an event at t is seen, before the end of the study is considered."""
        curve = self._event.survival_
        if not curve.times.size:
            raise ValueError("y_train has no event: what an event stands for is not known.")
        # Before the first event its step stands in.
        index = np.maximum(lookup(curve.times, t) - 1, 0)
        weights = self._step_weights[index]
        between = curve.times[index] < t
        v = np.asarray(self._event.censoring_survival(t[between], "left"))
        weights[between] = np.exp(-np.asarray(self.copula.log_hfunc1(curve.values[index[between]], v)))
        return weights


def _first(times: FloatArray, where: BoolArray) -> float:
    """The earliest of the times at which something holds."""
    return float(times[where].min(initial=np.inf))


def _outlasting(table: RiskTable) -> StepFunction:
    """Kaplan–Meier of the end of the study: at one time, events and dropouts come first."""
    if table.administrative is None:
        return StepFunction(np.empty(0), np.empty(0))
    exposed = table.at_risk - table.events - table.dropouts
    rows = np.flatnonzero(table.administrative)
    left = np.multiply.accumulate(1.0 - table.administrative[rows] / exposed[rows])
    return StepFunction(table.times[rows], left)
