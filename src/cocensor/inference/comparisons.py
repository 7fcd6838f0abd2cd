"""Which of several estimates differ, and which cannot be distinguished from the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from scipy.special import ndtr

from cocensor._cached import cached_property
from cocensor._checks import BoolArray, FloatArray, check_choice, escaped
from cocensor._views import view
from cocensor.inference.bands import N_DRAWS, normal_draws, quantile_limits
from cocensor.inference.estimates import ConfidenceInterval, Estimate, Estimates, Method

#: Which scores are better.
Direction = Literal["lower", "higher"]
#: What an interval says of a difference, in this order; see :meth:`Comparison.relation`.
Relation = Literal["equivalent", "superior", "better", "undecided"]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Two estimates from the same subjects, compared."""

    a: str
    b: str
    #: Of the value of a minus that of b, whichever direction is better; NaN where there is none.
    difference: float
    standard_error: float
    replicates: FloatArray | None = field(default=None, repr=False)  # of bootstrap samples
    #: Why there is no interval.
    missing: str | None = None
    #: From :func:`pairwise`.
    adjusted_pvalue: float | None = None

    def confidence_interval(
        self, confidence_level: float = 0.95, method: Method | None = None
    ) -> ConfidenceInterval:
        """The interval of the difference; see :meth:`Estimate.confidence_interval`."""
        estimate = Estimate(self.difference, self.standard_error, self.replicates)
        return estimate.confidence_interval(confidence_level, method)

    @cached_property
    def pvalue(self) -> float:
        r"""Two-sided, of no difference: :math:`2\Phi(-|d|/\mathrm{se})`; 1 for equal ones.

        Of B bootstrap differences d*, twice the smaller of (1 + #{d* ≤ 0})/(B + 1) and (1 + #{d* ≥ 0})/(B + 1).
        """
        if np.isnan(self.difference) or np.isnan(self.standard_error):
            return float("nan")
        if self.replicates is not None:
            drawn = self.replicates[~np.isnan(self.replicates)]
            tail = 1.0 + min(np.count_nonzero(drawn <= 0), np.count_nonzero(drawn >= 0))
            return float(min(1.0, 2.0 * tail / (drawn.size + 1.0)))
        if self.standard_error == 0:
            return 1.0 if self.difference == 0 else 0.0
        return float(2.0 * ndtr(-abs(self.difference) / self.standard_error))

    def __repr__(self) -> str:
        return escaped(str(view("text.digits.comparison_in_words")(self)))

    def relation(self, margin: float = 0.0, confidence_level: float = 0.95) -> Relation:
        """What the interval says of the two, given a margin of relevance; the first that applies.

        Equivalent: the interval lies within ± the margin, even if it leaves out 0. Superior: it lies beyond the margin,
        on either side. Better: it leaves out 0. Else undecided.

        Examples
        --------
        >>> close = Comparison("a", "b", difference=-0.001, standard_error=0.0004)
        >>> [close.relation(margin) for margin in (0.002, 0.001, 0.0001)]
        ['equivalent', 'better', 'superior']
        """
        low, high = self.confidence_interval(confidence_level)
        if -margin <= low and high <= margin:
            return "equivalent"
        if low > margin or high < -margin:
            return "superior"
        return "better" if low > 0 or high < 0 else "undecided"

    def better(self, direction: Direction, confidence_level: float = 0.95, margin: float = 0.0) -> str | None:
        """The better one, where the interval leaves out 0 and the two are not equivalent; else None."""
        check_choice(direction, "direction", ("lower", "higher"))
        if self.relation(margin, confidence_level) in ("equivalent", "undecided"):
            return None
        return (
            self.a
            if (self.confidence_interval(confidence_level).high < 0) == (direction == "lower")
            else self.b
        )


def compare(estimates: Estimates, a: str, b: str) -> Comparison:
    """The value of a minus that of b, both from the same subjects; equal ones differ by 0 with an error of 0."""
    return _comparisons(estimates, a, [b])[0]


def pairwise(estimates: Estimates) -> tuple[Comparison, ...]:
    r"""All pairs compared, in the order of the names, with p-values adjusted for their number.

    The adjusted p is the chance that the largest :math:`|Z|` of all pairs exceeds this pair's (single step), Z normal
    with the correlations of the differences. Differences from the same subjects are strongly correlated, which Holm's
    method would not use. It is at least the p of the pair alone and at most Bonferroni's, which small ones equal, as
    draws are too few for them.
    """
    names = estimates.names
    compared = [pair for m, a in enumerate(names) for pair in _comparisons(estimates, a, names[m + 1 :])]
    count = sum(pair.standard_error > 0 for pair in compared)
    spread = np.full((len(names), len(names)), np.nan)
    spread[np.triu_indices(len(names), 1)] = [pair.standard_error for pair in compared]
    maxima = np.empty(0)
    if count > 1:
        firsts = np.flatnonzero((spread > 0).any(axis=1)).tolist()
        draws = normal_draws(estimates.errors)
        sizes = ([np.abs(_z(drawn, spread, m)).max(axis=0) for m in firsts] for drawn in draws)
        maxima = np.sort(np.concatenate([np.max(block, axis=0) for block in sizes]))
    return tuple(replace(pair, adjusted_pvalue=_adjusted(pair, maxima, count)) for pair in compared)


def may_be_best(
    estimates: Estimates, direction: Direction, confidence_level: float = 0.95, margin: float = 0.0
) -> tuple[str, ...]:
    """The best estimate with an interval, and all that it is not better than by :meth:`Comparison.better`.

    One without an interval stays, as nothing sets it apart; one without a value does not. There is no correction for
    the number of estimates: see :func:`indistinguishable_from_best`.

    Examples
    --------
    >>> scores = Estimates(("a", "b", "c"), np.array([0.0, 1.0, 5.0]), np.eye(3))
    >>> may_be_best(scores, "lower"), may_be_best(scores, "higher")
    (('a', 'b'), ('c',))
    """
    check_choice(direction, "direction", ("lower", "higher"))
    sizes = estimates.values if direction == "lower" else -estimates.values
    able = [name for name, size in zip(estimates.names, sizes, strict=True) if not np.isnan(size)]
    with_error = np.where(np.isnan(estimates.standard_errors), np.nan, sizes)
    if np.isnan(with_error).all():
        return tuple(able)
    best = np.nanmin(with_error)
    leaders = [name for name, size in zip(estimates.names, with_error, strict=True) if size == best]
    pairs = [pair for leader in leaders for pair in _comparisons(estimates, leader, able)]
    beaten = {pair.b for pair in pairs if pair.better(direction, confidence_level, margin) == pair.a}
    return tuple(name for name in able if name not in beaten)


def indistinguishable_from_best(
    estimates: Estimates, direction: Direction, confidence_level: float = 0.95
) -> tuple[str, ...]:
    r"""The estimates that cannot be distinguished from the best: multiple comparisons with the best.

    With smaller values better, m is kept if :math:`\hat\theta_m - \hat\theta_k \le q_m\,\mathrm{se}_{mk}` for
    all k, :math:`q_m` the quantile of :math:`\max_k Z_{mk}`, Z normal with the correlations of the differences with m.
    The truly best one is kept with a chance of at least ``confidence_level`` in large samples. The best estimate is
    always kept. Equal ones stay or go together. One without an interval is kept, as nothing sets it apart from the
    best; one without a value is not.
    """
    check_choice(direction, "direction", ("lower", "higher"))
    sign = 1.0 if direction == "lower" else -1.0
    gaps, spread = sign * estimates.apart.values, estimates.apart.standard_errors
    among = np.maximum(np.count_nonzero(spread > 0, axis=1), 1)

    def within(quantiles: FloatArray) -> BoolArray:
        reach = np.maximum(quantiles, 0.0)[:, None] * spread
        return ~((gaps > reach).any(axis=1) | np.isnan(estimates.values))

    # Most are in or out whatever the correlations; draws are for the others.
    limits = [quantile_limits(confidence_level, int(count), two_sided=False) for count in among]
    lowest, highest = np.reshape(limits, (-1, 2)).T
    kept = within(lowest)
    unsure = within(highest) & ~kept
    if unsure.any():
        largest = np.divide(gaps, spread, out=np.full_like(gaps, -np.inf), where=spread > 0).max(axis=1)
        kept |= _is_reached(estimates, spread, np.where(unsure, largest, np.nan), confidence_level)
    return tuple(name for name, stays in zip(estimates.names, kept, strict=True) if stays)


def _comparisons(estimates: Estimates, a: str, others: Sequence[str]) -> list[Comparison]:
    differences = estimates.differences([(a, b) for b in others])
    pairs = zip(others, differences, strict=True)
    return [Comparison(a, b, d.value, d.standard_error, d.replicates, d.missing) for b, d in pairs]


def _adjusted(pair: Comparison, maxima: FloatArray, count: int) -> float:
    """From sorted draws of the largest |Z| of ``count`` pairs."""
    if not pair.standard_error > 0:
        return pair.pvalue
    size = abs(pair.difference) / pair.standard_error
    exceeded = (1.0 + maxima.size - float(np.searchsorted(maxima, size))) / (1.0 + maxima.size)
    return max(pair.pvalue, min(exceeded, count * pair.pvalue))


def _is_reached(
    estimates: Estimates, spread: FloatArray, sizes: FloatArray, confidence_level: float
) -> BoolArray:
    """Whether the quantile of the largest Z of m is at least its size; NaN has no answer."""
    reached = np.zeros(len(sizes), dtype=bool)
    left, enough = N_DRAWS, confidence_level * N_DRAWS
    below = dict.fromkeys(np.flatnonzero(~np.isnan(sizes)).tolist(), 0)
    for drawn in normal_draws(estimates.errors):
        left -= drawn.shape[1]
        for m, count in [*below.items()]:
            # Z and −Z have one distribution.
            below[m] = count + int(np.count_nonzero(_z(drawn, spread, m).max(axis=0) < sizes[m]))
            reached[m] = below[m] + left < enough
            if reached[m] or below[m] >= enough:  # the draws that are left cannot change it
                del below[m]
        if not below:
            break
    return reached


def _z(drawn: FloatArray, spread: FloatArray, m: int) -> FloatArray:
    """The Z of m less each other that has a positive standard error with it."""
    positive = spread[m] > 0
    z = drawn[m] - drawn[positive]
    z /= spread[m, positive, None]
    return z
