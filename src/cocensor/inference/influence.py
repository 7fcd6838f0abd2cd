r"""How much each subject moves a score: the influence function, by composition.

A metric gives the gradient of its value by the weights of the status; an adjustment pulls that gradient back to the
subjects that it was fitted to. The influence of test subject i is its own part,
:math:`d_i = n\sum_k w_k [a_i(t_k)\alpha_i(t_k) + b_i(t_k)\beta_i(t_k)]` less its mean, plus what is pulled back to it.
Where the adjustment was fitted to another sample, that sample adds a part of its own: the error is
:math:`\frac1n\sum_i d_i + \frac1N\sum_j \psi_j`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cocensor._numerics import put_rows
from cocensor._validation import FloatArray, IntArray, Rows
from cocensor.adjustments import Functionals, Linearised, Status
from cocensor.inference.estimates import Estimates
from cocensor.outcomes import Survival

#: Of more subjects than this, sums over so many random batches stand for the single ones where much is kept of each.
N_BATCHES = 4096
#: Adds up blocks of values by subject: the blocks, the number of subjects and that of values.
_Gather = Callable[[Iterator[tuple[Rows, FloatArray]], int, int], FloatArray]


@dataclass(frozen=True, eq=False)
class Influence:
    """The influence of subjects on one value, (subjects,), or on several, (subjects, values): their mean is 0.

    ``fitted`` is that of the sample that the adjustment was fitted to; None where that is the test sample itself, or
    where nothing was fitted.
    """

    test: FloatArray
    fitted: FloatArray | None = None

    @property
    def rows(self) -> FloatArray:
        r"""Independent parts of the errors: their covariance is the sum over rows of :math:`r r'`."""
        parts = [self.test] if self.fitted is None else [self.test, self.fitted]
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


def influence(status: Status, values: Linearised, y: Survival) -> Influence:
    """The influence of every subject on some values, under the status of the test outcomes ``y``."""
    parts = _Parts.of(status, y)
    test, pulled = _gathered(status, values, parts, _by_subject)
    test = test - test.mean(axis=0)
    if pulled is None:
        return Influence(test)
    return Influence(test + pulled) if parts.same else Influence(test, pulled)


def batched_rows(status: Status, values: Linearised, y: Survival) -> FloatArray:
    """The ``rows`` of :func:`influence`, where they would be too many summed over random batches of subjects."""
    parts, n = _Parts.of(status, y), len(y)
    test, pulled = _gathered(status, values, parts, _batched)
    sizes = np.bincount(_batches(n))[:, None] if n > N_BATCHES else 1.0
    test -= sizes * (test.sum(axis=0) / n)
    if pulled is None or parts.sample is None:
        return test / _spread(n)
    if parts.same:
        return (test + pulled) / _spread(n)
    return np.concatenate((test / _spread(n), pulled / _spread(len(parts.sample))))


def as_estimates(
    values: Mapping[str, float], influences: Mapping[str, Influence], missing: Mapping[str, str]
) -> tuple[Estimates, FloatArray]:
    """Values by name with the errors that their influences, of single values in the same samples, tell.

    Those without an influence are ``missing``, which says why. Beside them come the rows of the errors by batches of
    subjects, to be held against those of other values in the same samples.
    """
    known = {name: influences[name] for name in values if name in influences}
    at = [k for k, name in enumerate(values) if name in known]
    found = np.array(list(values.values()), dtype=np.float64)
    errors, batches = np.full((1, found.size), np.nan), np.full((1, found.size), np.nan)
    if known:
        parts = [np.column_stack([each.test for each in known.values()])]
        fitted = {name: each.fitted for name, each in known.items() if each.fitted is not None}
        if fitted:
            nothing = np.zeros(len(next(iter(fitted.values()))))
            parts.append(np.column_stack([fitted.get(name, nothing) for name in known]))
        scaled = [part / _spread(len(part)) for part in parts]
        sums = [_batched(iter([(np.arange(len(part)), part)]), len(part), len(at)) for part in scaled]
        errors, batches = (
            _widened(each, at, found.size)
            for each in (np.asarray(np.linalg.qr(np.concatenate(scaled), mode="r")), np.concatenate(sums))
        )
    return Estimates(tuple(values), found, errors, missing=dict(missing)), batches


def _widened(values: FloatArray, at: list[int], size: int) -> FloatArray:
    """Columns in their places among ``size``; NaN in the others."""
    wide = np.full((len(values), size), np.nan)
    wide[:, at] = values
    return wide


class _Parts(NamedTuple):
    """Which sample an answer was fitted to, and whether it is the test sample."""

    sample: Survival | None
    same: bool

    @classmethod
    def of(cls, status: Status, y: Survival) -> _Parts:
        sample = status.sample
        return cls(sample, sample is not None and sample.equals(y))


def _gathered(
    status: Status, values: Linearised, parts: _Parts, gather: _Gather
) -> tuple[FloatArray, FloatArray | None]:
    """What each test subject's own weights add, not centred, and what each of the sample does; None without a fit."""
    n, sample = status.n, parts.sample
    test = gather(iter(()), n, values.size)
    pulled = None if sample is None else gather(iter(()), len(sample), values.size)
    for part in values.parts(status):
        size = part.functionals.size
        test[:, part.places] += gather(_own(part.status, part.functionals), n, size)
        if pulled is not None and sample is not None:
            blocks = part.status.pull_back(part.functionals)
            pulled[:, part.places] += gather(blocks, len(sample), size)
    return test, pulled


def _own(status: Status, functionals: Functionals) -> Iterator[tuple[Rows, FloatArray]]:
    """What each subject's presence adds to n times the values, block by block."""
    if functionals.own is not None:
        yield np.arange(status.n), functionals.own
        return
    weights = functionals.time_weights
    for block in status.blocks():
        values = np.zeros((block.rows.size, len(functionals.gradients), weights.shape[1]))
        for m, gradient in enumerate(functionals.gradients):
            found = gradient.of_subjects(block.rows)
            for used, columns, mask in block.stretches:
                values[:, m] += used.by_subject(found.part(columns, mask), weights[columns])
        yield block.rows, status.n * values.reshape(block.rows.size, functionals.size)


def _by_subject(blocks: Iterator[tuple[Rows, FloatArray]], n: int, size: int) -> FloatArray:
    total = np.zeros((n, size))
    for rows, values in blocks:
        put_rows(total, rows, total.take(rows, axis=0) + values)
    return total


def _batched(blocks: Iterator[tuple[Rows, FloatArray]], n: int, size: int) -> FloatArray:
    """Values by subject, added up over batches."""
    if n <= N_BATCHES:
        return _by_subject(blocks, n, size)
    batch, sums = _batches(n), np.zeros((N_BATCHES, size))
    for rows, values in blocks:
        order = np.argsort(batch[rows], kind="stable")
        at = batch[rows][order]
        first = np.flatnonzero(np.diff(at, prepend=-1))
        sums[at[first]] += np.add.reduceat(values[order], first, axis=0)
    return sums


def _batches(n: int) -> IntArray:
    """The batch of each of n subjects, the same for all calls: a random one, as rows may be in some order."""
    return np.random.default_rng(n).permutation(n) % N_BATCHES


def _spread(n: int) -> float:
    """√(n (n − 1)): influences over it have as sum of squares the variance of their mean; NaN for one subject."""
    return float(np.sqrt(n * (n - 1.0))) if n > 1 else np.nan
