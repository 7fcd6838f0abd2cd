r"""Expected observations under a joint model: events and dropouts of every subject, period by period.

With :math:`L = -\log C(S_E, S_C)` along the subject's time under observation, and :math:`x = H_E, y = H_C`, the
expected number of events in a period is what L gains by x alone, and that of dropouts what it gains by y:

.. math:: \int \frac{\partial L}{\partial x}\,dH_E(t), \qquad \int \frac{\partial L}{\partial y}\,dH_C(t).

In each step of a fine grid the gain of L, which is exact, is shared by the mean of the two ways round its corners. For
grouped times the chances of a group, :math:`1 - C(u, v^-)/C(u^-, v^-)` for an event and :math:`1 - C(u, v)/C(u, v^-)`
for a dropout of whoever had no event in it, are exact.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from cocensor._checks import BoolArray, FloatArray, row_blocks
from cocensor._numerics import hazard_from_log
from cocensor.copulas import Copula
from cocensor.data import Survival
from cocensor.joint.margins import last_end, start_of_group
from cocensor.joint.model import JointModel

# Steps of the grid for each period, the closer the earlier: a period's number is right within 1 % up to τ = 0.6, and
# within 1.5 % at 0.8.
_STEPS, _CLOSER = 5, 1.5


class Expected(NamedTuple):
    """The expected number by subject and period, and the variance of the observed number about it."""

    number: FloatArray
    variance: FloatArray


def expected_counts(
    model: JointModel, X: FloatArray, y: Survival, periods: FloatArray
) -> tuple[Expected, Expected]:
    """The events and dropouts that a model expects of subjects under observation; the first period begins at 0."""
    grouped = model.ends_ is not None
    times, seen, dropout_seen = periods, y.time, y.time
    if model.ends_ is not None:
        times = model.ends_[model.ends_ <= periods[-1]]
        seen = last_end(model.ends_, y.time)
        # At one time events come first: whoever has one is no candidate for a dropout of the same group.
        dropout_seen = np.where(y.event, start_of_group(model.ends_, y.time), seen)
    elif not model.copula.is_independence:
        # The ends of the periods, and between them times at shares of what is observed, the closer the earlier.
        observed, n = y.time[(y.time > 0) & (y.time <= periods[-1])], _STEPS * periods.size
        between = np.quantile(observed, (np.arange(1, n) / n) ** _CLOSER) if observed.size else periods
        times = np.unique(np.concatenate((between, periods)))
    edges = [0, *np.searchsorted(times, periods, side="right").tolist()]
    margins = (model.event.of(X), seen), (model.dropout.of(X), dropout_seen)
    last = [hazard_from_log(margin.log_hazard(until))[:, None] for margin, until in margins]
    grid = np.concatenate(([0.0], times))
    at = [margin.at(grid) for margin, _ in margins]
    sums = [np.zeros((len(y), periods.size)) for _ in range(4 if grouped else 2)]
    for rows in row_blocks(len(y), 4 * grid.size):
        # Whoever is no longer under observation stands still.
        x, v = (
            np.minimum(hazard_from_log(log_hazards(rows, slice(None))), until[rows])
            for log_hazards, until in zip(at, last, strict=True)
        )
        under = grid[:-1] < seen[rows, None]
        for total, gains in zip(sums, _gains(model.copula, x, v, under, grouped), strict=True):
            steps = np.zeros(under.shape)
            steps[under] = gains
            for period, (first, stop) in enumerate(pairwise(edges)):
                total[rows, period] = steps[:, first:stop].sum(axis=1)
    return Expected(sums[0], sums[-2]), Expected(sums[1], sums[-1])


def _gains(copula: Copula, x: FloatArray, y: FloatArray, under: BoolArray, grouped: bool) -> list[FloatArray]:
    """The expected events and dropouts of each step ``under`` observation; for grouped times their variances too."""

    def gained(x: FloatArray, y: FloatArray) -> FloatArray:
        return -copula.log_cdf_hazard(x[under], y[under])

    along = np.zeros(x.shape)
    along[:, 1:][under] = end = gained(x[:, 1:], y[:, 1:])
    start, event_first = along[:, :-1][under], gained(x[:, 1:], y[:, :-1])
    if grouped:
        chances = [-np.expm1(start - event_first), -np.expm1(event_first - end)]
        return [*chances, *(chance * (1.0 - chance) for chance in chances)]
    turn = event_first - gained(x[:, :-1], y[:, 1:])
    return [0.5 * (end - start + turn), 0.5 * (end - start - turn)]
