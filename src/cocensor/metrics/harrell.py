"""Harrell's concordance."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray, IntArray, as_vector, check_length
from cocensor.data import Survival
from cocensor.warnings import CensoringWarning


def harrell_concordance(y: Any, estimate: npt.ArrayLike) -> float:
    r"""Harrell's concordance of a risk score, for reference.

    Of the pairs of subjects whose earlier time is an event, it is the share in which that subject has the higher risk,

    .. math:: C_H = \frac{\sum_{i,j} \delta_i 1[t_i \prec t_j] (1[M_i > M_j] + \frac12 1[M_i = M_j])}
        {\sum_{i,j} \delta_i 1[t_i \prec t_j]},

    with :math:`t_i \prec t_j` where :math:`t_i < t_j`, or where the two are equal and j was censored.

    Which pairs can be compared depends on when subjects were censored: two studies of the same patients with different
    follow-up differ in it, even if censoring is independent of the event. So there is a :class:`CensoringWarning`
    where anybody was censored. :func:`concordance_index` adjusts for the censoring, under a stated assumption.

    Parameters
    ----------
    y : Survival, structured array or tuple
        The outcomes.
    estimate : array of shape (n,)
        Risk scores, the greater the riskier.

    Returns
    -------
    float

    Notes
    -----
    A censoring at the time of an event comes after it; two events at one time are no pair. scikit-survival's
    ``concordance_index_censored`` counts in the same way (and takes scores that differ by less than 1e-8 for tied), as
    does lifelines' ``concordance_index`` (which takes predicted times: minus the risk). The cost is that of sorting.

    Examples
    --------
    >>> from cocensor import harrell_concordance
    >>> harrell_concordance(([1.0, 2.0, 3.0, 4.0], [1, 1, 1, 1]), [0.9, 0.1, 0.2, 0.6])
    0.5

    References
    ----------
    Harrell, F. E., Califf, R. M., Pryor, D. B., Lee, K. L., Rosati, R. A. (1982). Evaluating the yield of medical
    tests. *JAMA* 247, 2543–2546.
    """
    outcomes = Survival.coerce(y, "y")
    risk = as_vector(estimate, "estimate")
    check_length(risk, "estimate", len(outcomes), "y")
    value = harrell_c(outcomes, risk)
    n_censored = len(outcomes) - outcomes.n_events
    if n_censored:
        warnings.warn(
            f"Harrell's C depends on when the {n_censored} of {len(outcomes)} subjects were censored: "
            "concordance_index corrects for that.",
            CensoringWarning,
            stacklevel=2,
        )
    return value


def harrell_c(y: Survival, risk: FloatArray) -> float:
    """Harrell's concordance of a checked score, without a warning."""
    # The last to leave comes first. Events at one time are in the order of falling risk: none is above one before it.
    place = np.lexsort((-risk, y.event, -y.time))
    event, level = y.event[place], np.unique(risk[place], return_inverse=True)[1]
    at_once = _starts(y.time[place], event)
    # Whoever comes before the events at one time outlasts them.
    comparable = int(at_once[event].sum())
    if not comparable:
        raise ValueError("y has no comparable pair: Harrell's C is not defined.")
    # Those of a level in a row, the last to leave first.
    by_level = np.argsort(level, kind="stable")
    before = np.arange(len(y)) - _starts(level[by_level])
    within = np.arange(len(y)) - _starts(level[by_level], at_once[by_level])
    tied = int((before - within)[event[by_level]].sum())
    return (int(smaller_before(level)[event].sum()) + 0.5 * tied) / comparable


def smaller_before(values: IntArray) -> IntArray:
    """For each of some whole numbers from 0 on, how many before it are smaller; in n log n steps.

    Two numbers differ first in some bit, the greater has it, and they agree in all above: numbers in the order of
    their bits above one, and within that in the order given, differ in that bit.

    Examples
    --------
    >>> smaller_before(np.array([2, 0, 3, 3, 1]))
    array([0, 0, 2, 2, 1])
    """
    n, count = values.size, np.zeros(values.size, dtype=np.int64)
    place, sorted_values = np.arange(n), values
    for bit in reversed(range(int(values.max(initial=0)).bit_length())):
        has = ((sorted_values >> bit) & 1).astype(bool)
        start = _starts(sorted_values >> (bit + 1))
        without = np.concatenate(([0], np.cumsum(~has)))
        smaller = without[:-1] - without[start]  # before it, among those that agree so far
        count[place[has]] += smaller[has]
        order = np.argsort(sorted_values >> bit, kind="stable")
        place, sorted_values = place[order], sorted_values[order]
    return count


def _starts(*keys: Any) -> IntArray:
    """For each element the place of the first of the run of equal keys that it is in."""
    new = np.ones(keys[0].size, dtype=bool)
    new[1:] = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
    return np.maximum.accumulate(np.where(new, np.arange(new.size), 0))
