r"""How much each subject moves a score: the influence function, by composition.

A metric gives the gradient of its value by the weights of the status; an adjustment pulls that gradient back to the
subjects that it was fitted to. The influence of test subject i is its own part,
:math:`d_i = n\sum_k w_k [a_i(t_k)\alpha_i(t_k) + b_i(t_k)\beta_i(t_k)]` minus its mean (its share of their sum by
sampling weight), plus what is pulled back to it.
Where the adjustment was fitted to another sample, that sample adds a part of its own: the error is
:math:`\frac1n\sum_i d_i + \frac1N\sum_j \psi_j`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from cocensor._checks import FloatArray, IntArray, Rows
from cocensor._numerics import put_rows
from cocensor.adjustments import EventWeights
from cocensor.adjustments.gradient import Functionals, Linearised, Part
from cocensor.adjustments.weights import pulled_back
from cocensor.data import Survival
from cocensor.inference.estimates import Estimates

#: Of more subjects than this, sums over so many random batches stand for the single ones where much is kept of each.
N_BATCHES = 4096
# Directions in which values vary less than by this share of the most are alike but for rounding.
_ROUNDING = 1e-9
# Squares of larger influences, and sums of them, are beyond double precision.
_LARGEST = 1e100


@dataclass(frozen=True, eq=False)
class Influence:
    """The influence of each subject on one value, or on several: how far it moves them, with mean 0.

    The error of a value is about the mean of the influence over subjects: hence standard errors, also of differences.

    Parameters
    ----------
    test : array of shape (n_test,) or (n_test, n_values)
        That of the test subjects.
    fitted : array, optional
        That of the sample that the adjustment was fitted to; None where that is the test sample, or nothing was fitted.

    Examples
    --------
    >>> from cocensor import brier_score
    >>> y = ([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 1])
    >>> models = {"good": [[0.6, 0.2], [0.9, 0.6], [0.8, 0.4], [0.9, 0.7]], "flat": [[0.7, 0.4]] * 4}
    >>> scores, influence = brier_score(y, y, models, [1.5, 3.5], return_influence=True)
    >>> (scores["good"] - scores["flat"]).round(3)
    array([-0.085, -0.131])
    >>> (influence["good"] - influence["flat"]).standard_errors.round(3)
    array([0.017, 0.083])
    """

    test: FloatArray
    fitted: FloatArray | None = None

    @property
    def rows(self) -> FloatArray:
        r"""Independent parts of the errors: their covariance is the sum over rows of :math:`r r'`."""
        parts = (part for part in (self.test, self.fitted) if part is not None)
        return np.concatenate([part / _spread(len(part)) for part in parts])

    @property
    def standard_errors(self) -> FloatArray:
        """Of the values."""
        return np.sqrt((self.rows**2).sum(axis=0))

    def __getitem__(self, values: Any) -> Influence:
        """That on some of the values."""
        return self._each(lambda part: part[:, values])

    def __mul__(self, factor: float | FloatArray) -> Influence:
        """That on values times a factor, or times one of each."""
        return self._each(lambda part: factor * part)

    def __sub__(self, other: Influence) -> Influence:
        """That on the difference of two values in the same samples."""
        if self.fitted is None or other.fitted is None:
            fitted = self.fitted if other.fitted is None else (other * -1.0).fitted
        else:
            fitted = self.fitted - other.fitted
        return Influence(self.test - other.test, fitted)

    def combined(self, weights: FloatArray) -> Influence:
        """That on sums of the values with weights (values, sums)."""
        return self._each(lambda part: part @ weights)

    def split(self, n: int) -> list[Influence]:
        """In n parts with as many values each."""
        size = self.test.shape[1] // n
        return [self[m * size : (m + 1) * size] for m in range(n)]

    def _each(self, change: Callable[[FloatArray], FloatArray]) -> Influence:
        return Influence(change(self.test), None if self.fitted is None else change(self.fitted))


@dataclass(frozen=True, eq=False)
class Subsample:
    r"""Test subjects that were drawn at random, M of the N that adjustments were fitted to.

    The errors that they tell are those of values over n subjects, who include the M. Where :math:`n \ge N` the N are
    among the n, and the error is :math:`\frac1n\sum_i d_i + \frac1N\sum_j \psi_j`, of variance
    :math:`V(d)/n + V(\psi)/N + 2\,\mathrm{Cov}(d, \psi)/n`; else n = M.
    """

    n: int
    #: The outcomes of the N, and where the test subjects are among them.
    sample: Survival
    rows: Rows
    #: Of the own parts d of all n subjects, where it is known.
    covariance: FloatArray | None = None

    def parts(self, test: FloatArray, pulled: FloatArray | None, fit: _Fit) -> list[tuple[FloatArray, int]]:
        """Parts of the errors, and of how many subjects each, from what the M add and what is ``pulled`` back.

        Where the fit is to the N, what is pulled back has the M first, and then, where n < N, the others.
        """
        n, n_fitted, n_test = self.n, len(self.sample), self.rows.size
        if pulled is None or fit.sample is None or not fit.same:
            alone = [(np.sqrt(n_test / n) * test, n_test)]
            return alone if pulled is None or fit.sample is None else [*alone, (pulled, len(fit.sample))]
        mine, others = pulled[: len(test)], pulled[len(test) :]
        shared = np.sqrt(min(n, n_fitted) / n_test)
        both = [(shared * n_test * (test / n + mine / n_fitted), n_test)]
        if n > n_fitted:
            return [*both, (np.sqrt((n - n_fitted) * n_test) / n * test, n_test)]
        if n == n_fitted:
            return both
        # One more, of no influence: a part of one subject would have no spread.
        left = n_fitted - n_test + 1
        return [*both, (np.pad(others, [(0, 1), (0, 0)]) * (_spread(left) / n_fitted), left)]


def influence(
    status: EventWeights, values: Linearised, y: Survival, subsample: Subsample | None = None
) -> Influence:
    """The influence of every subject on some values, under the status of the test outcomes ``y``.

    Where these are drawn from more, ``subsample`` says whose values they are; by default their own.
    """
    return Influence(*(part for part, _ in _parts(status, values, y, subsample, batched=False)))


def batched_rows(
    status: EventWeights, values: Linearised, y: Survival, subsample: Subsample | None = None
) -> FloatArray:
    """The ``rows`` of :func:`influence`, where they would be too many summed over random batches of subjects."""
    parts = _parts(status, values, y, subsample, batched=True)
    return np.concatenate([part / _spread(count) for part, count in parts])


def _parts(
    status: EventWeights, values: Linearised, y: Survival, subsample: Subsample | None, batched: bool
) -> list[tuple[FloatArray, int]]:
    """Independent parts of the errors, by subject or by batch, with the number of subjects that each stands for."""
    subsample = subsample or status.subsample
    fit, n = _Fit.of(status, y, subsample, batched), len(y)
    test, pulled = _gathered(status, values, fit)
    weight: Any = fit.of_test.sizes
    if status.weight is not None:
        weight = fit.of_test.sums(iter([(np.arange(n), status.weight[:, None])]), 1)[:, 0]
    test -= weight[:, None] * (test.sum(axis=0) / weight.sum())
    if subsample is not None:
        if subsample.covariance is not None and not batched:
            test = test @ _towards(np.atleast_2d(np.cov(test, rowvar=False)), subsample.covariance)
        return subsample.parts(test, pulled, fit)
    if pulled is None or fit.sample is None:
        return [(test, n)]
    return [(test + pulled, n)] if fit.same else [(test, n), (pulled, len(fit.sample))]


def as_estimates(
    values: Mapping[str, float], influences: Mapping[str, Influence], missing: Mapping[str, str]
) -> tuple[Estimates, FloatArray]:
    """Values by name with the errors of their influences in the same samples, and rows of these by batches of subjects.

    Those without an influence are ``missing``, which says why.
    """
    known = {name: influences[name] for name in values if name in influences}
    at = [k for k, name in enumerate(values) if name in known]
    errors, batches = np.empty((1, 0)), np.empty((1, 0))
    if known:
        parts = [np.column_stack([part.test for part in known.values()])]
        fitted = {name: part.fitted for name, part in known.items() if part.fitted is not None}
        if fitted:
            nothing = np.zeros(len(next(iter(fitted.values()))))
            parts.append(np.column_stack([fitted.get(name, nothing) for name in known]))
        scaled = [part / _spread(len(part)) for part in parts]
        blocks = [(_Places.batched(len(part)), iter([(np.arange(len(part)), part)])) for part in scaled]
        batches = np.concatenate([places.sums(block, len(at)) for places, block in blocks])
        errors = np.asarray(np.linalg.qr(np.concatenate(scaled), mode="r"))
    wide_errors, wide_batches = (np.full((len(rows), len(values)), np.nan) for rows in (errors, batches))
    wide_errors[:, at], wide_batches[:, at] = errors, batches
    found = np.array(list(values.values()), dtype=np.float64)
    return Estimates(tuple(values), found, wide_errors, missing=dict(missing)), wide_batches


class _Places(NamedTuple):
    """In which row what each subject adds is summed up, in none below 0, and how many subjects are in each row."""

    of: IntArray
    sizes: IntArray

    @classmethod
    def each(cls, n: int) -> _Places:
        """A row for each of n subjects."""
        return cls(np.arange(n), np.ones(n, dtype=np.intp))

    @classmethod
    def batched(cls, n: int) -> _Places:
        """A row for each, or of many subjects for each of some random batches, which are the same for all calls."""
        if n <= N_BATCHES:
            return cls.each(n)
        batch = np.random.default_rng(n).permutation(n) % N_BATCHES
        return cls(batch, np.bincount(batch))

    def sums(self, blocks: Iterator[tuple[Rows, FloatArray]], size: int) -> FloatArray:
        """Values of subjects, added up; each comes once in a block."""
        total = np.zeros((self.sizes.size, size))
        alone = self.sizes.max(initial=1) == 1
        for rows, values in blocks:
            at = self.of[rows]
            if at.size and at.min() < 0:
                at, values = at[at >= 0], values[at >= 0]
            if alone:
                put_rows(total, at, total.take(at, axis=0) + values)
                continue
            order = np.argsort(at, kind="stable")
            first = np.flatnonzero(np.diff(at[order], prepend=-1))
            total[at[order][first]] += np.add.reduceat(values[order], first, axis=0)
        return total


class _Fit(NamedTuple):
    """Which sample an answer was fitted to, whether it is that of the test subjects, and where sums of both go."""

    sample: Survival | None
    same: bool
    of_test: _Places
    of_sample: _Places

    @classmethod
    def of(cls, status: EventWeights, y: Survival, subsample: Subsample | None, batched: bool) -> _Fit:
        sample, places = status.sample, _Places.batched if batched else _Places.each
        test = places(len(y))
        if sample is None:
            return cls(None, False, test, test)
        n, same = len(sample), sample.equals(y if subsample is None else subsample.sample)
        if subsample is None or not same:
            return cls(sample, same, test, places(n))
        place, sizes = np.full(n, -1), test.sizes
        place[subsample.rows] = test.of
        if subsample.n < n:
            # Those who were not drawn count: values are those of the ones drawn, and the fit is not.
            others = places(n - len(y))
            place[place < 0] = sizes.size + others.of
            sizes = np.concatenate((sizes, others.sizes))
        return cls(sample, True, test, _Places(place, sizes))


def _gathered(status: EventWeights, values: Linearised, fit: _Fit) -> tuple[FloatArray, FloatArray | None]:
    """What each test subject's own weights add, not centred, and what each of the sample does; None without a fit."""
    test = np.zeros((fit.of_test.sizes.size, values.size))
    pulled = None if fit.sample is None else np.zeros((fit.of_sample.sizes.size, values.size))

    def counted(parts: Iterator[Part]) -> Iterator[Part]:
        for part in parts:
            own = _own(part.status, part.functionals)
            test[:, part.places] += fit.of_test.sums(own, part.functionals.size)
            yield part

    all_parts = values.parts(status)
    for places, lot in [(None, all_parts)] if status.pulls_back_at_once else groupby(all_parts, _places):
        parts = counted(lot)
        if pulled is not None:
            at, size = (slice(None), values.size) if places is None else (places, len(places))
            pulled[:, at] += fit.of_sample.sums(pulled_back(status, parts, size), size)
        deque(parts, maxlen=0)  # whatever nothing was pulled back of
    if pulled is not None and not np.all(np.abs(pulled) < _LARGEST):
        raise ValueError(
            "the fit moves with single subjects beyond double precision; assume a weaker dependence."
        )
    return test, pulled


def _places(part: Part) -> list[int] | None:
    """Which of the values a part is about; None where it is about all."""
    return None if isinstance(part.places, slice) else list(part.places)


def own_parts(status: EventWeights, values: Linearised) -> FloatArray:
    """What each subject's presence adds to n times the values, (subjects, values)."""
    test, _ = _gathered(status, values, _Fit(None, False, *2 * (_Places.each(status.n),)))
    return test


def _towards(covariance: FloatArray, wanted: FloatArray) -> FloatArray:
    r"""The map T nearest to the identity that gives rows of a covariance A the covariance B: :math:`T'AT = B`.

    :math:`T = A^{-1/2}(A^{1/2} B A^{1/2})^{1/2} A^{-1/2}`; what A has nothing of stays as it is.
    """
    root, inverse = _power(covariance, 0.5), _power(covariance, -0.5)
    known = root @ inverse
    return inverse @ _power(root @ wanted @ root, 0.5) @ inverse + (np.eye(len(known)) - known)


def _power(matrix: FloatArray, exponent: float) -> FloatArray:
    """Of a symmetric matrix, on the space where it differs from 0 beyond rounding."""
    values, vectors = np.linalg.eigh(matrix)
    known = values > _ROUNDING * values.max(initial=0.0)
    return (vectors[:, known] * values[known] ** exponent) @ vectors[:, known].T


def _own(status: EventWeights, functionals: Functionals) -> Iterator[tuple[Rows, FloatArray]]:
    """What each subject's presence adds to n times the values, block by block."""
    if functionals.own is not None:
        yield np.arange(status.n), functionals.own
        return
    weights = functionals.time_weights
    for block, a, b in status.blocks():
        rows = np.arange(block.start, block.stop)
        values = np.empty((rows.size, len(functionals.gradients), weights.shape[1]))
        for m, gradient in enumerate(functionals.gradients):
            derivatives = gradient.of_subjects(rows)
            values[:, m] = (a * derivatives.event_free + b * derivatives.event) @ weights
        yield rows, status.n * values.reshape(rows.size, functionals.size)


def _spread(n: int) -> float:
    """√(n (n − 1)): influences over it have as sum of squares the variance of their mean; NaN for one subject."""
    return float(np.sqrt(n * (n - 1.0))) if n > 1 else np.nan
