"""Several estimates and their errors."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from cocensor._validation import FloatArray, check_number


class ConfidenceInterval(NamedTuple):
    """The two ends of an interval; NaN where there is none."""

    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Estimates:
    r"""Estimates by name, and what their errors are made of.

    Attributes
    ----------
    names : tuple of str
    values : array of shape (S,)
    rows : array of shape (R, S)
        Independent parts of the errors: their covariance is :math:`\sum_r r r'`. Of large samples, batches of
        subjects (:func:`~cocensor.inference.influence.batched_rows`).
    known_covariance : array of shape (S, S), optional
        Of the errors, where it is known better than the rows tell.
    replicates : array of shape (B, S), optional
        The estimates in bootstrap samples; intervals are then theirs.
    missing : dict of str
        Why an estimate has no interval, by name.
    """

    names: tuple[str, ...]
    values: FloatArray
    rows: FloatArray = field(repr=False)
    known_covariance: FloatArray | None = field(default=None, repr=False)
    replicates: FloatArray | None = field(default=None, repr=False)
    missing: dict[str, str] = field(default_factory=dict)

    @cached_property
    def covariance(self) -> FloatArray:
        """Of the errors of all estimates."""
        if self.known_covariance is not None:
            return self.known_covariance
        return self.rows.T @ self.rows

    @cached_property
    def standard_errors(self) -> FloatArray:
        """Of all estimates, in the order of the names."""
        return np.sqrt(np.diag(self.covariance))

    def index(self, name: str) -> int:
        """Where a name is."""
        return self.names.index(name)


def normal_quantile(confidence_level: float, *, two_sided: bool = True) -> float:
    """The quantile of the standard normal distribution that an interval reaches."""
    level = check_number(confidence_level, "confidence_level", lower=0.0, upper=1.0)
    return float(ndtri(0.5 + 0.5 * level if two_sided else level))
