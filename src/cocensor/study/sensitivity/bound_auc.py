r"""Sharp bounds of the AUC at one time: who dropped out before may be a case or a control.

With weights w, cases i and controls j the AUC is :math:`v = N/D`, :math:`N = \sum w_i w_j K_{ij}`,
:math:`D = \sum w_i w_j`, :math:`K_{ij} = 1[M_i > M_j] + \tfrac12 1[M_i = M_j]`. *The highest AUC is attained by a
threshold*: of the dropouts those with a marker above are cases, the others controls.

Proof. Let v be the highest AUC; if it is 0, every assignment has it. An assignment that attains it maximises
:math:`N - vD`. Hold all but two dropouts fixed, with markers :math:`M_i > M_j`. Each gains, per unit of its weight,
:math:`g = \sum_{controls} w_l (K_{\cdot l} - v)` as a case and :math:`h = \sum_{cases} w_l (K_{l \cdot} - v)` as a
control, where :math:`g_i \ge g_j` and :math:`h_i \le h_j`. Suppose i is a control and j a case, and that this is best.
It is no worse than both as controls: :math:`h_j \le g_j - w_i v`; nor than both as cases: :math:`g_i \le h_i - w_j v`.
So :math:`g_j \le g_i \le h_i - w_j v \le h_j - w_j v \le g_j - (w_i + w_j) v`, which is false for v > 0.

Of dropouts with equal markers some may be cases and some controls, which is better where v is below ½. With equal
weights only their number matters, so they are tried one after the other. With unequal ones, as those of administrative
censoring are, the bound can then be off a little: by about the square of a subject's share of all weight.

The lowest AUC is 1 less the highest of the negative marker. All thresholds are tried by running sums.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cocensor._checks import BoolArray, FloatArray, Rows
from cocensor.adjustments import DenseGradient, Functionals, Tile
from cocensor.data import Predicted
from cocensor.inference import influence
from cocensor.metrics.auc import CumulativeDynamicAUC
from cocensor.metrics.ranks import Order
from cocensor.metrics.sections import sections
from cocensor.study.sensitivity.dropouts import Dropouts, Extremes

NO_DIFFERENCE = (
    "the difference of two AUCs has no sharp bounds that can be computed: a threshold for one model is none for the "
    "other"
)


def extremes_of_auc(
    metric: CumulativeDynamicAUC, open_: Dropouts, predictions: Mapping[str, Predicted], with_errors: bool
) -> Extremes:
    """The bounds of several models; NaN for their differences, and where no assignment has both cases and controls."""
    n_models, status = len(predictions), open_.status
    values = np.full((2, n_models * (n_models + 1) // 2), np.nan)
    errors = np.full_like(values, np.nan)
    [tile] = status.tiles()
    left = open_.first == 0  # who leaves at the very time is event-free then
    unknown, at_the_time = open_.rows[left], open_.rows[~left]
    weights = tile.event[unknown, 0]
    for m, each in enumerate(predictions.values()):
        [(_, section)] = sections(status, tile, each)
        for side, marker in enumerate((-section.marker, section.marker)):
            event_free, event = tile.event_free[:, 0].copy(), tile.event[:, 0].copy()
            event_free[at_the_time], event[at_the_time], event[unknown] = event[at_the_time], 0.0, 0.0
            cases = _cases_of_highest(Order(marker), event_free, event, unknown, weights)
            if cases is None:
                continue
            event[unknown[cases]], event_free[unknown[~cases]] = weights[cases], weights[~cases]
            [(_, assigned)] = sections(status, Tile(tile.columns, event_free[:, None], event[:, None]), each)
            value, by_free, by_event, _ = metric.linear(assigned)
            values[side, m] = value
            if with_errors:
                # The weight of a dropout is that of an event, also where it counts as a control. Which assignment is
                # best moves with the weights, but does not move the AUC at first order.
                controls = np.concatenate((unknown[~cases], at_the_time))
                by_event[controls] = by_free[controls]
                gradient = DenseGradient(by_free[:, None], by_event[:, None])
                moved = influence(status, Functionals((gradient,), np.ones((1, 1))), open_.y)
                errors[side, m] = moved.standard_errors[0]
    return Extremes(values, errors if with_errors else None)


def _cases_of_highest(
    order: Order, controls: FloatArray, cases: FloatArray, unknown: Rows, weights: FloatArray
) -> BoolArray | None:
    """Which of the unknown are cases where the AUC is highest; None where none of the thresholds has an AUC.

    ``controls`` and ``cases`` are the weights of those who are known.
    """
    rows = order.rows
    of_unknown, place = np.zeros(rows.size), np.empty(rows.size, dtype=np.intp)
    of_unknown[unknown] = weights
    place[rows] = np.arange(rows.size)
    walk = np.argsort(place[unknown], kind="stable")  # they turn into controls from the lowest marker on
    at = place[unknown[walk]]
    first, end = (at, at + 1) if order.ties is None else (each[at] for each in order.ties)
    w, n_unknown = weights[walk], weights.size

    def below(values: FloatArray) -> tuple[FloatArray, FloatArray, float]:
        """Of values in the order, the sums below each of those who walk, of those level with it, and in all."""
        sums = np.append(0.0, np.cumsum(values))
        return sums[first], sums[end] - sums[first], float(sums[-1])

    lower_controls, level_controls, n_controls = below(controls[rows])
    lower_cases, level_cases, n_cases = below(cases[rows])
    lower, level, total = below(of_unknown[rows])
    passed = np.append(0.0, np.cumsum(w))
    turned = passed[:-1] - lower  # of those level with it, who are controls by now
    loses = lower_controls + lower + 0.5 * (level_controls + turned)
    gains = (n_cases - lower_cases - level_cases) + (total - lower - level)
    gains += 0.5 * (level_cases + level - turned - w)
    all_cases = cases + of_unknown
    start = float(all_cases[rows] @ order.others_below(controls[rows]))
    ordered = start + np.append(0.0, np.cumsum(w * (gains - loses)))
    pairs = (n_controls + passed) * (n_cases + total - passed)
    defined = pairs > 1e-9 * max(1.0, float(pairs.max()))
    if not defined.any():
        return None
    auc = np.full(pairs.size, -np.inf)
    np.divide(ordered, pairs, out=auc, where=defined)
    found = np.ones(n_unknown, dtype=bool)
    found[walk[: int(np.argmax(auc))]] = False
    return found
