"""Survival curves of a model of proportional hazards."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cocensor._checks import FloatArray
from cocensor.data import Predictions, StepFunction, Survival


@dataclass(frozen=True, eq=False)
class ProportionalHazards:
    r"""Curves from the logarithms r(x) of relative hazards, :math:`S(t \mid x) = \exp(-H(t)\,e^{r(x) - \bar r})`.

    Breslow's estimator gives the cumulative hazard at the mean :math:`\bar r` of the training subjects,

    .. math:: H(t) = \sum_{t_j \le t} \frac{d_j}{\sum_{i: t_i \ge t_j} e^{r_i - \bar r}}

    with :math:`d_j` events at :math:`t_j`. Assumes that event and censoring are independent given x.

    Examples
    --------
    >>> hazards = ProportionalHazards.fit(Survival([1.0, 2.0, 3.0], [1, 0, 1]), np.zeros(3))
    >>> hazards.hazard.values.round(3)
    array([0.333, 1.333])
    >>> hazards.curves(np.log([1.0, 3.0])).probabilities.round(3)
    array([[0.717, 0.264],
           [0.368, 0.018]])
    """

    centre: float
    hazard: StepFunction

    @classmethod
    def fit(cls, y: Survival, log_hazard: FloatArray) -> ProportionalHazards:
        """Breslow's estimator for outcomes and the logarithms of the relative hazards."""
        centre = float(log_hazard.mean())
        latest_first = (log_hazard - centre)[y.order[::-1]]
        table = y.risk_table
        rows = table.events > 0
        at_risk = np.logaddexp.accumulate(latest_first)[table.at_risk[rows] - 1]
        steps = np.exp(np.log(table.events[rows]) - at_risk)
        hazard: FloatArray = np.cumsum(steps, dtype=np.float64)
        return cls(centre, StepFunction.trusted(table.times[rows].copy(), hazard, initial=0.0))

    def curves(self, log_hazard: FloatArray) -> Predictions:
        """One curve per subject: steps at the times of the events, the last value beyond."""
        with np.errstate(over="ignore"):
            table = np.multiply.outer(np.exp(log_hazard - self.centre), -self.hazard.values)
        np.exp(table, out=table)
        return Predictions(self.hazard.times, table, interpolation="step", tail="last")
