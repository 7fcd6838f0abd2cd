"""Elementary functions that stay accurate where the textbook forms do not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.polynomial.polynomial import polyder

from cocensor._checks import FloatArray, IntArray, Side, row_blocks
from cocensor._jets import differentiable, value_of
from cocensor._late import special
from cocensor._namespaces import at_least, is_foreign, namespace, quiet

#: Between e to these powers the copulas' formulas hold, with their second derivatives: a cumulative hazard below is as
#: good as none, and one above leaves nobody.
LOG_SMALLEST_HAZARD, LOG_LARGEST_HAZARD = -300.0, 600.0
_LOG_SINGLE = -40.0, 80.0  # the same in single precision
_SMALLEST_HAZARD, _LARGEST_HAZARD = np.exp(LOG_SMALLEST_HAZARD), np.exp(LOG_LARGEST_HAZARD)
_SMALLEST_SCALE = 1e-150
_SMALLEST_UNIFORM = 2.0**-54
_LOG_2 = float(np.log(2.0))
#: Of splitmix64 (Steele, Lea & Flood 2014): the golden ratio, and two multipliers.
GOLDEN, _FIRST, _SECOND = (np.uint64(k) for k in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
# Times that differ by less, relative to themselves, are one time that was computed in two ways.
_ROUNDING = 1e-9
# Times are looked up by bins; a grid of few points leaves nearly all of these without one.
_BINS, _FEW_POINTS = 2**16, 1000
# exp() of anything in a segment of this width, squared too, stays far inside double precision.
_SEGMENT_WIDTH = 200.0
# Power series around 0, and those of the first two derivatives.
_ORDERS = np.arange(16.0)
_EXPM1_OVER = [polyder(1.0 / np.cumprod(_ORDERS + 1.0), m).tolist() for m in range(3)]
_LOG1P_OVER = [polyder((-1.0) ** _ORDERS / (_ORDERS + 1.0), m).tolist() for m in range(3)]


def squares_beyond(scale: FloatArray) -> npt.NDArray[np.bool_]:
    """Where the square of a standard deviation, or the inverse of the square, is beyond double precision."""
    return ~(scale < 1.0 / _SMALLEST_SCALE) | ((scale > 0) & (scale < _SMALLEST_SCALE))


def mean_and_sd(X: FloatArray, weight: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
    """The means and standard deviations of columns, infinite or NaN where squares leave double precision."""
    with np.errstate(over="ignore", invalid="ignore"):
        if weight is None:
            return X.mean(axis=0), X.std(axis=0)
        share = weight / weight.sum()
        mean = share @ X
        return mean, np.sqrt(share @ (X - mean) ** 2)


def by_weight(values: npt.NDArray[Any], weight: FloatArray | None) -> npt.NDArray[Any]:
    """Each row times its weight; ``values`` themselves where nobody has one."""
    return values if weight is None else values * weight.reshape(-1, *(1,) * (values.ndim - 1))


def quantile(values: FloatArray, levels: Any, weight: FloatArray | None = None) -> FloatArray:
    """Return ``numpy.quantile``; with case weights that of repeated values.

    The place q (W − 1) in the order of all cases, W of them, lies between two values and takes its share of both.
    """
    if weight is None:
        return np.quantile(values, levels)
    levels, order = np.asarray(levels), np.argsort(values)
    ordered, until = values[order], np.cumsum(weight[order])
    place = np.maximum(levels * (until[-1] - 1.0), 0.0)
    first = np.floor(place)
    after = np.searchsorted(until, [first, first + 1.0], side="right")
    low, high = ordered[np.minimum(after, ordered.size - 1)]
    return np.where(levels == 1.0, ordered[-1], low + (place - first) * (high - low))


def row_products(X: FloatArray, coef: FloatArray) -> FloatArray:
    """``X @ coef``, to the last bit the same for rows that are the same.

    A matrix product rounds some rows in another way than others, so that subjects who are alike would not tie.
    """
    products = np.empty(len(X))
    for rows in row_blocks(*X.shape):
        np.multiply(X[rows], coef, order="C").sum(axis=1, out=products[rows])
    return products


def scalar_like(result: FloatArray, template: npt.NDArray[Any]) -> Any:
    """``result`` as a float when the question was a single number."""
    return float(result) if np.ndim(template) == 0 else result


def hazard_from_log(log_hazard: Any) -> Any:
    """The cumulative hazard from its logarithm (an array or a jet), within what copulas take."""
    if is_foreign(log_hazard):
        xp = namespace(log_hazard)
        single = log_hazard.dtype == xp.float32
        low, high = _LOG_SINGLE if single else (LOG_SMALLEST_HAZARD, LOG_LARGEST_HAZARD)
        return xp.exp(xp.clip(log_hazard, low, high))
    values = value_of(log_hazard)
    if values.min(initial=0.0) < LOG_SMALLEST_HAZARD:
        log_hazard = np.maximum(log_hazard, LOG_SMALLEST_HAZARD)
    if values.max(initial=0.0) > LOG_LARGEST_HAZARD:
        log_hazard = np.minimum(log_hazard, LOG_LARGEST_HAZARD)
    return np.exp(log_hazard)


def hazard_from_survival(survival: FloatArray) -> FloatArray:
    """The cumulative hazard −log S, within what copulas take."""
    with np.errstate(divide="ignore"):
        return np.clip(-np.log(survival), _SMALLEST_HAZARD, _LARGEST_HAZARD)


def open_uniform(rng: np.random.Generator, size: Any) -> FloatArray:
    """Uniform draws strictly between 0 and 1, whose logarithm is finite."""
    return np.maximum(rng.random(size), _SMALLEST_UNIFORM)


def in_bins(t: FloatArray, low: float, high: float) -> npt.NDArray[np.uint16] | None:
    """Which of 65536 equal bins from ``low`` to ``high`` each ``t`` is in; None where these are too wide or too narrow.

    Sorting numbers so small takes a fraction of the time that sorting ``t`` does.
    """
    with np.errstate(over="ignore", divide="ignore"):
        scale = (_BINS - 1.0) / (high - low)
    return ((t - low) * scale).astype(np.uint16) if 0.0 < scale < np.inf else None


def lookup(grid: FloatArray, t: FloatArray, side: Side = "right") -> npt.NDArray[np.intp]:
    """``numpy.searchsorted`` for many ``t`` in any order, about three times as fast.

    Binary searches one after the other are quick when their answers lie close together, and slow when the
    branch predictor sees noise. So each ``t`` is put into one of 65536 bins. Where few of these hold a point of the
    grid, the others are the answer; else the searches are made bin after bin.
    """
    if t.size < 1000 or grid.size < 16:
        return np.asarray(np.searchsorted(grid, t, side=side))
    flat = t.ravel()
    low, high = flat.min(), flat.max()
    bins = in_bins(flat, low, high)
    if bins is None:
        return np.asarray(np.searchsorted(grid, t, side=side))
    of_grid = in_bins(np.clip(grid, low, high), low, high) if grid.size <= _FEW_POINTS else None
    if of_grid is not None and flat.size >= _BINS:
        points = np.bincount(of_grid, minlength=_BINS)
        result = (np.cumsum(points) - points)[bins]
        searched = np.flatnonzero((points > 0)[bins])
    else:
        result = np.empty(flat.size, dtype=np.intp)
        searched = np.argsort(bins, kind="stable")
    result[searched] = np.searchsorted(grid, flat[searched], side=side)
    return result.reshape(t.shape)


def settled(t: FloatArray, onto: FloatArray) -> FloatArray:
    """``t``, but where it meets one of the sorted times ``onto`` up to rounding exactly that one (the last of several).

    Which side of a tie a computed time falls on must not depend on the unit that times are measured in.
    """
    last = onto[np.maximum(np.searchsorted(onto, t * (1.0 + _ROUNDING), side="right") - 1, 0)]
    return np.where(np.abs(last - t) <= _ROUNDING * last, last, t)


def pool_starts(counts: FloatArray, fewest: float) -> npt.NDArray[np.intp]:
    """Where pools of neighbours begin whose counts sum up to ``fewest`` each; what is left over belongs to the last.

    Examples
    --------
    >>> pool_starts(np.array([2.0, 4.0, 7.0, 1.0, 1.0]), 5.0)
    array([0, 2])
    """
    starts, total = [0], 0.0
    for i, more in enumerate(counts, start=1):
        total += more
        if total >= fewest:
            starts.append(i)
            total = 0.0
    return np.array(starts[:-1], dtype=np.intp)


def piecewise(mask: Any, x: Any, inside: Callable[[Any], Any], outside: Callable[[Any], Any]) -> Any:
    """``inside(x)`` where the mask holds, ``outside(x)`` elsewhere; in numpy the former is computed there alone."""
    if not isinstance(x, np.ndarray):
        return namespace(x).where(mask, inside(x), outside(x))
    result = np.array(outside(x))
    if mask.any():
        result[mask] = inside(x[mask])
    return result


def series_where(near: Any, z: Any, coefficients: Sequence[float], values: Any) -> Any:
    """The sum of ``coefficients`` times the powers of ``z`` where ``near`` holds, ``values`` elsewhere."""

    def series(z: Any) -> Any:
        return reduce(lambda total, coefficient: total * z + coefficient, reversed(coefficients))

    return piecewise(near, z, series, lambda _: values)


def as_numbers(x: Any) -> Any:
    """Plain numbers and arrays of other libraries as they are, all else as float64 of numpy."""
    return x if isinstance(x, float) or is_foreign(x) else np.asarray(x, dtype=np.float64)


def _softplus_derivatives(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    share = special.expit(x)
    return share, share * special.expit(-x)


def _log1mexp_derivatives(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    with np.errstate(over="ignore", divide="ignore"):
        slope = 1.0 / np.expm1(x)
    return slope, -slope * (1.0 + slope)


def _log_expm1_derivatives(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    slope, curvature = _log1mexp_derivatives(x)
    return 1.0 + slope, curvature


def _log_softplus_derivatives(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    share = special.expit(x)
    slope = np.where(x < -37.0, 1.0, share / softplus(np.maximum(x, -37.0)))
    return slope, slope * (special.expit(-x) - slope)


def _over_derivatives(
    z: FloatArray, function: FloatArray, slope: FloatArray, curvature: FloatArray, width: float, series: Any
) -> tuple[FloatArray, FloatArray]:
    """Return slope and curvature of f(z) / z, from f and its own, and from a power series near 0."""
    near = np.abs(z) < width
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = (slope - function / z) / z
        curvature = (curvature - 2.0 * slope) / z
    return series_where(near, z, series[1], slope), series_where(near, z, series[2], curvature)


@differentiable(_softplus_derivatives)
def softplus(x: Any) -> Any:
    r"""``log(1 + exp(x))`` without overflow."""
    x = as_numbers(x)
    if is_foreign(x):
        xp = namespace(x)
        return xp.logaddexp(x, xp.zeros((), dtype=x.dtype, device=x.device))  # the same in one go
    return np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x)))


@differentiable(_log1mexp_derivatives)
@quiet
def log1mexp(x: Any) -> Any:
    r"""``log(1 - exp(-x))`` for x ≥ 0, accurate at both ends (−∞ at 0)."""
    x = as_numbers(x)
    xp = namespace(x)
    return piecewise(x > _LOG_2, x, lambda x: xp.log1p(-xp.exp(-x)), lambda x: xp.log(-xp.expm1(-x)))


@differentiable(_log_expm1_derivatives)
@quiet
def log_expm1(x: Any) -> Any:
    r"""``log(exp(x) - 1)`` for x ≥ 0 without overflow (−∞ at 0)."""
    x = as_numbers(x)
    xp = namespace(x)
    return x + xp.log(-xp.expm1(-x))


@differentiable(_log_softplus_derivatives)
def log_softplus(x: Any) -> Any:
    r"""``log(log(1 + exp(x)))``, also where the inner logarithm underflows."""
    x = as_numbers(x)
    xp = namespace(x)
    return xp.where(x < -37.0, x, xp.log(softplus(at_least(x, -37.0))))


@differentiable(lambda z: _over_derivatives(z, np.expm1(z), np.exp(z), np.exp(z), 0.5, _EXPM1_OVER))
def expm1_over(z: Any) -> Any:
    r"""``expm1(z) / z``, smooth through 0."""
    z = as_numbers(z)
    xp, zero = namespace(z), z == 0.0
    return xp.where(zero, 1.0, xp.expm1(z) / xp.where(zero, 1.0, z))


@differentiable(
    lambda z: _over_derivatives(z, np.log1p(z), 1.0 / (1.0 + z), -((1.0 + z) ** -2.0), 0.05, _LOG1P_OVER)
)
def log1p_over(z: Any) -> Any:
    r"""``log1p(z) / z`` for z > −1, smooth through 0."""
    z = as_numbers(z)
    xp, zero = namespace(z), z == 0.0
    return xp.where(zero, 1.0, xp.log1p(z) / xp.where(zero, 1.0, z))


def segments(log_scale: FloatArray) -> list[slice]:
    """Return the segments of a nondecreasing ``log_scale``, within each of which one scale factor will do.

    ``numpy.cumsum`` sums terms of a segment in units of ``exp(log_scale)`` at its start. A leading run of −∞ is a
    segment of its own.
    """
    if not log_scale.size:
        return []
    finite = log_scale > -np.inf
    level = np.full(log_scale.shape, -1.0)
    level[finite] = np.floor((log_scale[finite] - log_scale[np.argmax(finite)]) / _SEGMENT_WIDTH)
    edges = [0, *(np.flatnonzero(np.diff(level)) + 1).tolist(), log_scale.size]
    return [slice(a, b) for a, b in pairwise(edges)]


def running_logsumexp(log_terms: FloatArray) -> FloatArray:
    r"""``log(Σ_{i ≤ k} exp(log_terms[i]))`` for every k, in linear time and without overflow."""
    if not log_terms.size:
        return log_terms
    scale = log_terms.max()
    if log_terms.min() > scale - _SEGMENT_WIDTH:  # as a rule one scale will do
        return np.log(np.cumsum(np.exp(log_terms - scale))) + scale
    top, carried = np.maximum.accumulate(log_terms), -np.inf
    result = np.full(log_terms.shape, -np.inf)
    for part in segments(top):
        scale = top[part.start]
        if scale > -np.inf:
            total = np.cumsum(np.exp(log_terms[part] - scale)) + np.exp(carried - scale)
            result[part] = np.log(total) + scale
            carried = result[part.stop - 1]
    return result


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function has another sign on its two sides, up to rounding, by Chandrupatla's method (1997).

    scipy's would take longer to import than the evaluation of a small study.

    >>> root(lambda x: x**2 - 2.0, 0.0, 2.0) == 2.0**0.5
    True
    """
    a, b, at_a, at_b = low, high, function(low), function(high)
    if at_a * at_b > 0.0:
        raise ValueError(f"the function has one sign at {low:g} and at {high:g}.")
    share = 0.5
    for _ in range(500):
        nearer, at_nearer = (a, at_a) if abs(at_a) < abs(at_b) else (b, at_b)
        least = 2.0**-52 * abs(nearer) / abs(b - a) if a != b else 1.0
        if at_nearer == 0.0 or least > 0.5:
            break
        x = a + min(max(share, least), 1.0 - least) * (b - a)
        at_x = function(x)
        # The root lies between a, the newest point, and b; c is the one before.
        c, at_c = (a, at_a) if (at_x < 0.0) == (at_a < 0.0) else (b, at_b)
        b, at_b = (b, at_b) if c == a else (a, at_a)
        a, at_a = x, at_x
        place, height = (a - b) / (c - b), (at_a - at_b) / (at_c - at_b)
        share = 0.5
        if height**2 < place and (1.0 - height) ** 2 < 1.0 - place:
            share = at_a / (at_b - at_a) * at_c / (at_b - at_c)
            share += (c - a) / (b - a) * at_a / (at_c - at_a) * at_b / (at_c - at_b)
    return float(nearer)


def put_rows(table: FloatArray, rows: IntArray, values: FloatArray) -> None:
    """Set some rows of a table, all different: ``table[rows] = values``, but each row in one go."""
    if table.shape[1]:
        whole = np.dtype((np.void, table.shape[1] * table.itemsize))
        table.view(whole)[:, 0][rows] = np.ascontiguousarray(values, dtype=table.dtype).view(whole)[:, 0]


def splitmix64(state: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """All bits of each number mixed, one to one."""
    state = (state ^ (state >> np.uint64(30))) * _FIRST
    state = (state ^ (state >> np.uint64(27))) * _SECOND
    return state ^ (state >> np.uint64(31))
