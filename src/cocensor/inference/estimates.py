"""Several estimates and their errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from cocensor._cached import cached_property
from cocensor._checks import BoolArray, FloatArray, Rows, check_choice
from cocensor.inference.bands import Band, normal_quantile, simultaneous_quantile

Method = Literal["normal", "percentile", "basic"]
#: Estimates that differ by less than this share of themselves, and errors by less than this share, are equal.
_ROUNDING = 1e-9


class ConfidenceInterval(NamedTuple):
    """The two ends of an interval; NaN where there is none."""

    low: float
    high: float


class Apart(NamedTuple):
    """Every estimate less every other, one by row and the other by column; see :meth:`Estimates.differences`."""

    values: FloatArray
    standard_errors: FloatArray


@dataclass(frozen=True, eq=False)
class Estimate:
    """An estimate and its error."""

    #: An error of 0 is known to be none; NaN where there is no error.
    value: float
    standard_error: float
    #: The estimate in bootstrap samples.
    replicates: FloatArray | None = field(default=None, repr=False)
    #: Why there is no interval.
    missing: str | None = None

    def confidence_interval(
        self, confidence_level: float = 0.95, method: Method | None = None
    ) -> ConfidenceInterval:
        r"""Where the true value lies, with a chance of ``confidence_level`` in large samples.

        Parameters
        ----------
        confidence_level : float
        method : {"normal", "percentile", "basic"}, optional
            "normal": the value ± z standard errors; the default without replicates. With q the quantiles of bootstrap
            replicates, "percentile" is (q_low, q_high), the default with them, and "basic" is
            (2 value − q_high, 2 value − q_low).

        Examples
        --------
        >>> low, high = Estimate(0.2, 0.01).confidence_interval()
        >>> round(low, 4), round(high, 4)
        (0.1804, 0.2196)
        """
        replicates = None if self.replicates is None else self.replicates[:, None]
        value, error = np.array([self.value]), np.array([self.standard_error])
        low, high = _limits(value, error, replicates, confidence_level, method)
        return ConfidenceInterval(float(low[0]), float(high[0]))


@dataclass(frozen=True, eq=False)
class Estimates:
    r"""Estimates by name, and what their errors are made of."""

    names: tuple[str, ...]
    values: FloatArray
    #: (R, S): independent parts of the errors, whose covariance is :math:`\sum_r r r'`; of large samples by batches.
    rows: FloatArray = field(repr=False)
    #: (B, S): the estimates in bootstrap samples, which then take the place of the rows; NaN where a sample has none.
    replicates: FloatArray | None = field(default=None, repr=False)
    #: By name, why an estimate has no interval.
    missing: dict[str, str] = field(default_factory=dict)
    #: What intervals and bands of all of them are cut to.
    range: tuple[float, float] = (-np.inf, np.inf)

    @cached_property
    def errors(self) -> FloatArray:
        """Rows whose sum of squares is the covariance of all estimates; NaN for those without an interval."""
        errors = self.rows if self.replicates is None else _errors_of(self.replicates)
        absent = np.array([name in self.missing for name in self.names], dtype=bool)
        absent |= np.isnan(self.values)
        if not len(errors):
            return np.full((1, len(self.names)), np.nan)
        return np.where(absent, np.nan, errors) if absent.any() else errors

    @cached_property
    def standard_errors(self) -> FloatArray:
        """The standard errors of all estimates, in the order of the names."""
        return _lengths(self.errors)

    def index(self, name: str) -> int:
        """The place of a name."""
        return int(self._indices([name])[0])

    def estimate(self, name: str) -> Estimate:
        """One of the estimates, with its error and its interval."""
        return self._at(self.index(name))

    def __iter__(self) -> Iterator[Estimate]:
        return map(self._at, range(len(self.names)))

    def confidence_intervals(self, confidence_level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """The lower and the upper ends of the intervals of all estimates, each for itself."""
        low, high = _limits(self.values, self.standard_errors, self.replicates, confidence_level, None)
        return np.clip(low, *self.range), np.clip(high, *self.range)

    def only(self, names: Sequence[str]) -> Estimates:
        """Some of the estimates."""
        if tuple(names) == self.names:
            return self
        at = self._indices(names)
        replicates = None if self.replicates is None else self.replicates[:, at]
        missing = self._missing_of(names, at)
        return Estimates(tuple(names), self.values[at], self.errors[:, at], replicates, missing, self.range)

    def band(self, confidence_level: float = 0.95) -> Band:
        """Limits that hold all true values at once, with normal errors; one without error is its own limit."""
        quantile = simultaneous_quantile(self.errors, confidence_level)
        reach = np.where(self.standard_errors == 0, 0.0, quantile * self.standard_errors)
        low, high = (np.clip(self.values + way, *self.range) for way in (-reach, reach))
        return Band(low, high, quantile)

    def differences(self, pairs: Sequence[tuple[str, str]]) -> Estimates:
        """The first less the second of each pair, named "a - b"; 0 without error if they differ by rounding alone."""
        first, second = self._indices([a for a, _ in pairs]), self._indices([b for _, b in pairs])
        values, errors, replicates = self._less(first, second)
        names = tuple(f"{a} - {b}" for a, b in pairs)
        return Estimates(names, values, errors, replicates, self._missing_of(names, first, second))

    @cached_property
    def apart(self) -> Apart:
        """The differences of all pairs, with their standard errors."""
        size = len(self.names)
        apart = Apart(np.empty((size, size)), np.empty((size, size)))
        present = ~np.isnan(self.standard_errors)
        for k in range(size):
            apart.values[k], errors, _ = self._less(np.full(size, k), np.arange(size))
            apart.standard_errors[k] = np.where(present[k] & present, _lengths(errors), np.nan)
        return apart

    def skills(self, names: Sequence[str], reference: str, best: float = 0.0) -> Estimates:
        r"""Skill scores :math:`(v - r)/(v^* - r)`: 0 is no better than the reference, 1 is the ``best`` value v*.

        Errors by the delta method: that of the skill s is :math:`(\delta_v - (1 - s)\,\delta_r)/(v^* - r)`; those of
        the bootstrap are of the replicates' skills.
        """
        chosen, at = self._indices(names), self.index(reference)

        def skill(values: FloatArray) -> FloatArray:
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = (values[..., chosen] - values[..., [at]]) / (best - values[..., [at]])
            return np.where(np.isfinite(ratio), ratio, np.nan)

        values = skill(self.values)
        replicates = None if self.replicates is None else skill(self.replicates)
        errors = self.errors[:, chosen] - (1.0 - values) * self.errors[:, [at]]
        with np.errstate(divide="ignore", invalid="ignore"):
            errors /= best - self.values[at]
        missing = self._missing_of(names, chosen, np.full(len(names), at))
        if self.values[at] == best:
            missing |= dict.fromkeys(names, f"the reference {reference} is as good as can be")
        return Estimates(tuple(names), values, errors, replicates, missing)

    def _less(self, first: Rows, second: Rows) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        """Differences, rows of their errors, and their replicates."""
        values = self.values[first] - self.values[second]
        if self.replicates is None:
            replicates, errors = None, self.errors[:, first] - self.errors[:, second]
        else:
            replicates = self.replicates[:, first] - self.replicates[:, second]
            errors = _errors_of(replicates)
        size, spread = np.abs(self.values), self.standard_errors
        equal = _negligible(values, size[first], size[second])
        equal &= _negligible(_lengths(errors), spread[first], spread[second])
        values[equal], errors[:, equal] = 0.0, 0.0
        if replicates is not None:
            replicates[:, equal] = 0.0
        return values, errors, replicates

    def _at(self, k: int) -> Estimate:
        replicates = None if self.replicates is None else self.replicates[:, k]
        value, error = float(self.values[k]), float(self.standard_errors[k])
        return Estimate(value, error, replicates, self._why_missing(k))

    def _why_missing(self, k: int) -> str | None:
        if self.names[k] in self.missing:
            return self.missing[self.names[k]]
        if np.isnan(self.values[k]):
            return "there is no estimate"
        return "there is no standard error" if np.isnan(self.standard_errors[k]) else None

    def _indices(self, names: Sequence[str]) -> Rows:
        where = {name: k for k, name in enumerate(self.names)}
        for name in names:
            check_choice(name, "name", self.names)
        return np.array([where[name] for name in names], dtype=np.intp)

    def _missing_of(self, names: Sequence[str], *parts: Rows) -> dict[str, str]:
        """Why things made of several estimates have no interval: the first of their parts that has none."""
        pairs = [pair for part in parts for pair in zip(names, part, strict=True)]
        return {name: why for name, k in reversed(pairs) if (why := self._why_missing(k)) is not None}


def _limits(
    values: FloatArray, errors: FloatArray, replicates: FloatArray | None, level: float, method: Method | None
) -> tuple[FloatArray, FloatArray]:
    chosen = method or ("normal" if replicates is None else "percentile")
    check_choice(chosen, "method", ("normal", "percentile", "basic"))
    reach = normal_quantile(level) * errors
    if chosen == "normal":
        return values - reach, values + reach
    if replicates is None:
        raise ValueError(f"method must be 'normal' without bootstrap replicates, but is {chosen!r}.")
    tail = (1.0 - level) / 2.0
    ends = np.full((2, len(values)), np.nan)
    for k in np.flatnonzero(~np.isnan(errors)):
        column = replicates[:, k]
        ends[:, k] = np.quantile(column[~np.isnan(column)], [tail, 1.0 - tail])
    low, high = ends if chosen == "percentile" else 2.0 * values - ends[::-1]
    return low, high


def _errors_of(replicates: FloatArray) -> FloatArray:
    """Deviations from the mean over √(B − 1), of the B samples that have the estimate; NaN for fewer than two."""
    present = ~np.isnan(replicates)
    count = present.sum(axis=0)
    filled = np.where(present, replicates, 0.0)
    centre = filled.sum(axis=0) / np.maximum(count, 1)
    spread = np.where(count > 1, np.sqrt(np.maximum(count - 1.0, 1.0)), np.nan)
    return np.where(present, filled - centre, 0.0) / spread


def _lengths(errors: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(np.square(errors).sum(axis=0)))


def _negligible(gap: FloatArray, *sizes: FloatArray) -> BoolArray:
    return np.abs(gap) <= _ROUNDING * np.maximum(*sizes)
