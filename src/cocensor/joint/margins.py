r"""Proportional-hazards margins, :math:`\log H(t \mid x) = s(\log t) + x'\beta`.

A Weibull margin has a straight line for s. A spline margin (Royston and Parmar, 2002) has a cubic spline that goes on
as a straight line beyond its outer knots; without inner knots it is the Weibull margin, so one class serves both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from cocensor._validation import FloatArray, refuse_first

MarginForm = Literal["weibull", "spline"]
MARGIN_FORMS: tuple[MarginForm, ...] = get_args(MarginForm)


@dataclass(frozen=True, eq=False)
class Basis:
    r"""The functions whose combination is s: 1, log t and one cubic term per inner knot.

    With knots :math:`k_0 < k_1 < \dots < k_K` of log t and :math:`\lambda_j = (k_K - k_j)/(k_K - k_0)`,

    .. math:: v_j(z) = (z - k_j)_+^3 - \lambda_j (z - k_0)_+^3 - (1 - \lambda_j)(z - k_K)_+^3.

    ``transform`` (the identity by default) gives a combination of them that suits an optimiser. A margin of what never
    happens has no functions (``present`` is False).
    """

    knots: FloatArray
    transform: FloatArray | None = None
    present: bool = True

    @classmethod
    def at_quantiles(cls, log_times: FloatArray, n_inner: int) -> Basis:
        """Outer knots at the first and last of the times, inner ones at equally spaced quantiles."""
        if not n_inner:
            return cls(np.empty(0))
        return cls(np.unique(np.quantile(log_times, np.linspace(0.0, 1.0, n_inner + 2))))

    @property
    def size(self) -> int:
        """How many functions there are."""
        return 2 + max(self.knots.size - 2, 0) if self.present else 0

    @property
    def matrix(self) -> FloatArray:
        """From the coefficients of this basis to those of 1, log t and the cubic terms themselves."""
        return np.eye(self.size) if self.transform is None else self.transform

    def orthonormal(self, log_t: FloatArray) -> Basis:
        """The same space, with functions that are orthonormal on average over ``log_t``."""
        if not self.present:
            return self
        _, upper = np.linalg.qr(self.values(log_t))
        return Basis(self.knots, np.linalg.inv(upper) * np.sqrt(log_t.size))

    def values(self, log_t: FloatArray) -> FloatArray:
        """The functions at ``log_t``, (n, size)."""
        columns = [np.ones_like(log_t), log_t, *self._cubics(log_t, 3)]
        return self._transformed(np.column_stack(columns))

    def slopes(self, log_t: FloatArray) -> FloatArray:
        """Their derivatives in log t, (n, size)."""
        columns = [np.zeros_like(log_t), np.ones_like(log_t), *self._cubics(log_t, 2)]
        return self._transformed(np.column_stack(columns))

    def slope_bounds(self) -> FloatArray:
        """Combinations of the coefficients that keep s rising everywhere if all of them are positive.

        Between knots the slope is a parabola, and a parabola is positive where its Bernstein coefficients are. Each
        stretch is split in four, which leaves next to no rising spline out. Beyond the knots the slope is constant.
        """
        if not self.knots.size:
            return self.slopes(np.zeros(1))
        share = np.linspace(0.0, 1.0, 5)
        edges = (self.knots[:-1, None] * (1.0 - share) + self.knots[1:, None] * share).ravel()
        left, right = edges[:-1], edges[1:]
        at_edges, between = self.slopes(edges), self.slopes(0.5 * (left + right))
        middle = 2.0 * between - 0.5 * (at_edges[:-1] + at_edges[1:])
        return np.vstack((at_edges, middle[right > left]))

    def _transformed(self, raw: FloatArray) -> FloatArray:
        return raw if self.transform is None else raw @ self.transform

    def _cubics(self, log_t: FloatArray, power: int) -> list[FloatArray]:
        """The cubic terms (``power`` 3) or their derivatives (2)."""
        if not self.knots.size:
            return []
        first, *inner, last = self.knots
        factor = 1.0 if power == 3 else 3.0

        def above(knot: float) -> FloatArray:
            return factor * np.maximum(log_t - knot, 0.0) ** power

        outer = above(first), above(last)
        weights = [(last - knot) / (last - first) for knot in inner]
        return [
            above(knot) - share * outer[0] - (1.0 - share) * outer[1]
            for knot, share in zip(inner, weights, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class Margin:
    """A fitted margin: the basis of s with its coefficients, and the log-hazard ratios of the covariates."""

    basis: Basis
    coef: FloatArray
    beta: FloatArray

    @property
    def name(self) -> MarginForm:
        """Which kind it is."""
        return "spline" if self.basis.knots.size else "weibull"

    def baseline(self, log_t: FloatArray) -> FloatArray:
        """s(log t), the log cumulative hazard at x = 0; −∞ for what never happens."""
        if not self.basis.present:
            return np.full(log_t.shape, -np.inf)
        return self.basis.values(log_t.ravel()).dot(self.coef).reshape(log_t.shape)

    def log_hazard(self, t: FloatArray) -> FloatArray:
        """The log cumulative hazard at x = 0 by the times t, −∞ at 0."""
        return np.where(t > 0, self.baseline(np.log(np.where(t > 0, t, 1.0))), -np.inf)

    def relative(self, X: FloatArray) -> FloatArray:
        """x'β of each row."""
        return X @ self.beta if self.beta.size else np.zeros(X.shape[0])

    def log_time(self, log_hazard: FloatArray) -> FloatArray:
        """The log t at which s reaches ``log_hazard``: the inverse of :meth:`baseline`."""
        if not self.basis.present:
            return np.full(log_hazard.shape, np.inf)
        intercept, slope = self.coef[0], self.coef[1]
        if not self.basis.knots.size:
            return (log_hazard - intercept) / slope
        from scipy.optimize.elementwise import find_root

        def gap(z: FloatArray, wanted: FloatArray) -> FloatArray:
            return self.baseline(z) - wanted

        # Beyond the outer knots s is a straight line, which brackets the root.
        low, high = self.basis.knots[0], self.basis.knots[-1]
        ends = np.array([low, high])
        (s_low, s_high), (d_low, d_high) = self.baseline(ends), self.basis.slopes(ends) @ self.coef
        left = np.where(log_hazard < s_low, low + (log_hazard - s_low) / d_low - 1.0, low)
        right = np.where(log_hazard > s_high, high + (log_hazard - s_high) / d_high + 1.0, high)
        root = find_root(gap, (left, right), args=(log_hazard,), tolerances={"xatol": 1e-13, "xrtol": 1e-14})
        return np.asarray(root.x)


def refuse_zero(time: FloatArray, name: str) -> None:
    """Refuse times that have no logarithm."""
    if (time <= 0).any():
        refuse_first(time <= 0, time, f"{name} must have times above 0 for a joint model")
