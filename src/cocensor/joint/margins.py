r"""Margins given covariates, :math:`\log H(t \mid x) = s(\log t) + x'\beta + x_v'\gamma \log t`.

Hazards are proportional but for the columns :math:`x_v`, whose effect changes with log time.

A Weibull margin has a straight line for s. A spline margin (Royston and Parmar, 2002) has a cubic spline that goes on
as a straight line beyond its outer knots; without inner knots it is the Weibull margin, so one class serves both.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import numpy as np

from cocensor._checks import FloatArray, IntArray, Rows, row_blocks
from cocensor._namespaces import Placing
from cocensor._newton import Derivatives
from cocensor._numerics import quantile

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
    def at_quantiles(cls, log_times: FloatArray, n_inner: int, weight: FloatArray | None = None) -> Basis:
        """Outer knots at the first and last of the times, inner ones at equally spaced quantiles."""
        if not n_inner:
            return cls(np.empty(0))
        return cls(np.unique(quantile(log_times, np.linspace(0.0, 1.0, n_inner + 2), weight)))

    @property
    def size(self) -> int:
        """The number of functions."""
        return 2 + max(self.knots.size - 2, 0) if self.present else 0

    @property
    def matrix(self) -> FloatArray:
        """From the coefficients of this basis to those of 1, log t and the cubic terms themselves."""
        return np.eye(self.size) if self.transform is None else self.transform

    def orthonormal(self, log_t: FloatArray) -> Basis:
        """A basis of this space whose functions are orthonormal on average over ``log_t``."""
        _, upper = np.linalg.qr(self.values(log_t))
        return Basis(self.knots, np.linalg.inv(upper) * np.sqrt(log_t.size))

    def values(self, log_t: FloatArray) -> FloatArray:
        """The functions at ``log_t``, (n, size)."""
        return self._functions(log_t, np.ones_like(log_t), log_t, 3)

    def slopes(self, log_t: FloatArray) -> FloatArray:
        """Their derivatives in log t, (n, size)."""
        return self._functions(log_t, np.zeros_like(log_t), np.ones_like(log_t), 2)

    def slope_bounds(self) -> FloatArray:
        """Combinations of the coefficients that keep s rising everywhere if all of them are positive.

        Between knots the slope is a parabola, and a parabola is positive where its Bernstein coefficients are. Each
        stretch is split in four, which leaves next to no rising spline out. Beyond the knots the slope is constant.
        """
        if not self.knots.size:
            return self.slopes(np.zeros(1))
        share = np.linspace(0.0, 1.0, 5)
        edges = (self.knots[:-1, None] * (1.0 - share) + self.knots[1:, None] * share).ravel()
        at_edges, between = self.slopes(edges), self.slopes(0.5 * (edges[:-1] + edges[1:]))
        middle = 2.0 * between - 0.5 * (at_edges[:-1] + at_edges[1:])
        return np.vstack((at_edges, middle[edges[1:] > edges[:-1]]))

    def _functions(self, log_t: FloatArray, one: FloatArray, line: FloatArray, power: int) -> FloatArray:
        """``one``, ``line`` and the cubic terms (``power`` 3) or their derivatives (2)."""

        def above(knot: float) -> FloatArray:
            over = np.maximum(log_t - knot, 0.0)
            return over * over * (over if power == 3 else 3.0)  # many times as fast as a power

        columns = [one, line]
        if self.knots.size:
            first, *inner, last = self.knots
            from_first, from_last = above(first), above(last)
            for knot in inner:
                share = (last - knot) / (last - first)
                columns.append(above(knot) - share * from_first - (1.0 - share) * from_last)
        raw = np.column_stack(columns)
        return raw if self.transform is None else raw @ self.transform


@dataclass(frozen=True, eq=False)
class Margin:
    """A fitted margin: s, the log-hazard ratios, and ``gamma``, by how much those ``varying`` change with log time."""

    basis: Basis
    coef: FloatArray
    beta: FloatArray
    varying: tuple[int, ...] = ()
    gamma: FloatArray = field(default_factory=lambda: np.empty(0))

    @property
    def name(self) -> MarginForm:
        """Which kind it is."""
        return "spline" if self.basis.knots.size else "weibull"

    def baseline(self, log_t: FloatArray) -> FloatArray:
        """s(log t), the log cumulative hazard at x = 0; −∞ for what never happens."""
        if not self.basis.present:
            return np.full(log_t.shape, -np.inf)
        return self.basis.values(log_t.ravel()).dot(self.coef).reshape(log_t.shape)

    def of(self, X: FloatArray) -> MarginOfSubjects:
        """The margin for the subjects in the rows of X."""
        relative = X @ self.beta if self.beta.size else np.zeros(len(X))
        drift = X[:, self.varying] @ self.gamma if self.gamma.size else None
        return MarginOfSubjects(self, relative, drift)


@dataclass(frozen=True, eq=False)
class MarginOfSubjects:
    """A margin for some subjects: log H(t) = s(log t) + ``relative`` + ``drift`` log t (None where nobody drifts)."""

    margin: Margin
    relative: FloatArray
    drift: FloatArray | None

    def log_hazard(self, t: FloatArray) -> FloatArray:
        """The log cumulative hazards, one time for each subject; −∞ at time 0."""
        log_t = log_or_zero(t)
        value = self.margin.baseline(log_t) + self.relative
        return np.where(t > 0, value if self.drift is None else value + self.drift * log_t, -np.inf)

    def at(self, t: FloatArray) -> HazardBlocks:
        """The log cumulative hazards at the same times for all, to be read by blocks."""
        log_t = log_or_zero(t)
        return HazardBlocks(self, np.where(t > 0, self.margin.baseline(log_t), -np.inf), log_t)

    def log_time(self, log_hazard: FloatArray) -> FloatArray:
        """The log t at which each subject's log cumulative hazard is ``log_hazard``."""
        margin, basis = self.margin, self.margin.basis
        if not basis.present:
            return np.full(log_hazard.shape, np.inf)
        log_hazard, drift = log_hazard - self.relative, 0.0 if self.drift is None else self.drift
        if not basis.knots.size:
            return (log_hazard - margin.coef[0]) / (margin.coef[1] + drift)
        from scipy.optimize.elementwise import find_root

        def gap(z: FloatArray, log_hazard: FloatArray, drift: FloatArray) -> FloatArray:
            return margin.baseline(z) + drift * z - log_hazard

        # Beyond the outer knots s is a straight line, which brackets the root.
        ends = low, high = basis.knots[[0, -1]]
        drift = np.broadcast_to(drift, log_hazard.shape)
        (s_low, s_high), (d_low, d_high) = margin.baseline(ends), basis.slopes(ends) @ margin.coef
        below, above = log_hazard - s_low - drift * low, log_hazard - s_high - drift * high
        left = np.where(below < 0, low + below / (d_low + drift) - 1.0, low)
        right = np.where(above > 0, high + above / (d_high + drift) + 1.0, high)
        tolerances = {"xatol": 1e-13, "xrtol": 1e-14}
        return np.asarray(find_root(gap, (left, right), args=(log_hazard, drift), tolerances=tolerances).x)


@dataclass(frozen=True, eq=False)
class HazardBlocks:
    """Log cumulative hazards of subjects at common times, block by block."""

    subjects: MarginOfSubjects
    baseline: FloatArray
    log_t: FloatArray

    def __call__(self, rows: Rows | slice, columns: slice) -> FloatArray:
        """The log hazards of ``rows`` at the times ``columns``."""
        relative, baseline = self.subjects.relative[rows][:, None], self.baseline[columns]
        if self.subjects.drift is None:
            return baseline + relative
        value = self.subjects.drift[rows][:, None] * self.log_t[columns]
        value += baseline
        value += relative
        return value

    def placed(self, placing: Placing) -> HazardBlocks:
        """The blocks for arrays of another library."""
        drift = None if self.subjects.drift is None else placing.subjects(self.subjects.drift)
        moved = replace(self.subjects, relative=placing.subjects(self.subjects.relative), drift=drift)
        return HazardBlocks(moved, placing.times(self.baseline), placing.times(self.log_t))


def log_or_zero(t: FloatArray) -> FloatArray:
    """The logarithms of times, 0 for a time of 0."""
    return np.log(np.where(t > 0, t, 1.0))


def start_of_group(ends: FloatArray, t: FloatArray) -> FloatArray:
    """The end of the group before that of ``t``; 0 before the first."""
    return np.concatenate(([0.0], ends))[np.searchsorted(ends, t, side="left")]


def last_end(ends: FloatArray, t: FloatArray) -> FloatArray:
    """The last end of a group up to t; 0 before the first."""
    return np.concatenate(([0.0], ends))[np.searchsorted(ends, t, side="right")]


# Once a step of Newton's method is this share of c, what is left is about the square of it.
_PRECISION = 1e-8
_MAX_STEPS = 200


@dataclass(frozen=True, eq=False)
class Barrier:
    r"""A weight times the logs of the slopes that must stay positive.

    The slope of :math:`\log H(t \mid x)` by log t is :math:`s'(\log t) + w'\gamma`, with w the columns whose effect
    changes with log time. It is positive for all subjects at all times if some c lies below all bounds :math:`b_k` on
    :math:`s'` and if :math:`w_i'\gamma + c` is positive for all of the n subjects. The barrier is

    .. math:: \max_c \; \sum_k \log(b_k - c) + \frac{1}{n} \sum_i \log(w_i'\gamma + c),

    and :math:`\sum_k \log b_k` where no effect changes. It is concave, and as smooth as Newton's method likes: a
    maximum over c of logs of linear functions.
    """

    at: IntArray
    bounds: FloatArray
    drifts: FloatArray | None
    weight: float

    def value(self, parameters: FloatArray) -> float:
        """The barrier; −∞ where a cumulative hazard may fall."""
        rooms = self._rooms(parameters)
        return -np.inf if rooms is None else self._worth(*rooms)

    def derivatives(self, parameters: FloatArray) -> Derivatives:
        """The barrier with its gradient and Hessian; where it is −∞ these are NaN."""
        rooms = self._rooms(parameters)
        if rooms is None:
            unknown = np.full(parameters.size, np.nan)
            return Derivatives(-np.inf, unknown, np.outer(unknown, unknown))
        above, below = rooms
        worth, scaled = self._worth(above, below), self.bounds / above[:, None]
        gradient = scaled.sum(axis=0)
        if self.drifts is None:
            return Derivatives(worth, self.weight * gradient, self.weight * -(scaled.T @ scaled))
        (n, n_drifts), size = self.drifts.shape, gradient.size
        total, squares = np.zeros(n_drifts), np.zeros(n_drifts)
        for rows in row_blocks(n, n_drifts):
            pulled = self.drifts[rows] / below[rows, None]
            total += pulled.sum(axis=0)
            squares += (1.0 / below[rows]) @ pulled
        # c moves along with the parameters. What it moves is taken from every slope before these are squared: taken
        # from the sum of squares it would leave rounding alone, where one subject is next to the barrier.
        motion = np.concatenate(((1.0 / above) @ scaled, -squares / n))
        motion /= np.sum(above**-2.0) + np.mean(below**-2.0)
        of_bounds = (np.pad(self.bounds, ((0, 0), (0, n_drifts))) - motion) / above[:, None]
        hessian = -(of_bounds.T @ of_bounds)
        for rows in row_blocks(n, motion.size):
            of_drifts = (np.pad(self.drifts[rows], ((0, 0), (size, 0))) + motion) / below[rows, None]
            hessian -= of_drifts.T @ of_drifts / n
        gradient = np.concatenate((gradient, total / n))
        return Derivatives(worth, self.weight * gradient, self.weight * hessian)

    def _worth(self, above: FloatArray, below: FloatArray) -> float:
        return self.weight * float(np.log(above).sum() + (np.log(below).mean() if below.size else 0.0))

    def _rooms(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        """The heights of the bounds above the best c, and of the drifts above −c; None where no c lies between."""
        size = self.bounds.shape[1]
        slopes = self.bounds @ parameters[:size]
        if self.drifts is None:
            return (slopes, np.empty(0)) if (slopes > 0).all() else None
        drifts = np.concatenate(
            [self.drifts[rows] @ parameters[size:] for rows in row_blocks(*self.drifts.shape)]
        )
        room = float(slopes.min() + drifts.min())
        if not room > 0:
            return None
        # Counted from the lowest, slopes and drifts keep their digits where there is next to no room.
        slopes, drifts = slopes - slopes.min(), drifts - drifts.min()
        c = _between(slopes, drifts, room)
        return slopes + (room - c), drifts + c


def _between(slopes: FloatArray, drifts: FloatArray, room: float) -> float:
    """The best c, counted from the lowest, by Newton's method, halving where that leaves the bracket."""
    # Each bound weighs as much as all subjects together, so that c is in the lower half of the room.
    low, high = 0.0, 0.5 * room
    c = 0.5 * high
    for _ in range(_MAX_STEPS):
        above, below = 1.0 / (slopes + (room - c)), 1.0 / (drifts + c)
        rise = float(below.sum()) / below.size - float(above.sum())
        low, high = (c, high) if rise > 0 else (low, c)
        before, c = c, c + rise / (float(above @ above) + float(below @ below) / below.size)
        if not low <= c <= high:
            c = 0.5 * (low + high)
        if abs(c - before) <= _PRECISION * before:
            break
    return c
