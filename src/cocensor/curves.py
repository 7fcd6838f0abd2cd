"""Curves over time: step functions, and predicted survival probabilities on a grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import narwhals as nw
import numpy as np
import numpy.typing as npt

from cocensor._numerics import lookup, scalar_like
from cocensor._validation import (
    FloatArray,
    Side,
    as_curves,
    as_floats,
    as_frame,
    as_probabilities,
    as_times,
    as_vector,
    broadcast,
    check_choice,
    check_length,
    check_number,
    frame_column,
    read_only,
    refuse_first,
)

Tail = Literal["last", "zero", "linear", "exponential"]
TAILS: tuple[str, ...] = ("last", "zero", "linear", "exponential")
Interpolation = Literal["linear", "step"]
# Probabilities that differ by less are one probability: 1 − 0.1 − 0.4 has reached the median.
QUANTILE_TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False)
class StepFunction:
    r"""A right-continuous step function: ``initial`` before the first jump, ``values[j]`` from ``times[j]`` on.

    Examples
    --------
    >>> f = StepFunction([1.0, 3.0], [0.75, 0.25], initial=1.0)
    >>> f([0.5, 1.0, 3.0])
    array([1.  , 0.75, 0.25])
    >>> f(3.0, side="left")
    0.75
    >>> f.integrate(0.0, 4.0)
    2.75
    """

    times: FloatArray
    values: FloatArray
    initial: float = 1.0

    def __post_init__(self) -> None:
        times = as_vector(self.times, "times", copy=True)
        values = as_vector(self.values, "values", copy=True)
        check_length(values, "values", times.size, "times")
        _check_increasing(times)
        object.__setattr__(self, "times", read_only(times))
        object.__setattr__(self, "values", read_only(values))
        object.__setattr__(self, "initial", check_number(self.initial, "initial"))

    @classmethod
    def trusted(cls, times: FloatArray, values: FloatArray, initial: float = 1.0) -> Self:
        """From arrays that are right and belong to the caller: nothing is checked or copied."""
        function = object.__new__(cls)
        for name, value in (("times", read_only(times)), ("values", read_only(values)), ("initial", initial)):
            object.__setattr__(function, name, value)
        return function

    def __call__(self, t: npt.ArrayLike, side: Side = "right") -> Any:
        """The value at ``t``, after (``side="right"``) or before (``"left"``) a jump there."""
        check_choice(side, "side", ("left", "right"))
        t = as_floats(t, "t")
        index = lookup(self.times, t, side)
        return scalar_like(np.where(index > 0, self._padded()[index], self.initial), t)

    def integrate(self, lower: npt.ArrayLike, upper: npt.ArrayLike) -> Any:
        r"""The exact integral :math:`\int_{lower}^{upper} f(t)\,dt`; the two broadcast.

        Sums run from the largest ``upper`` downwards (from a single ``lower`` upwards when there are
        several ``upper``), so that the area under a small tail is not the difference of two large ones.
        """
        lower, upper = as_floats(lower, "lower"), as_floats(upper, "upper")
        start, stop = broadcast(lower=lower, upper=upper)
        if not start.size:
            return np.zeros(start.shape)
        if (start > stop).any():
            refuse_first(start > stop, start, f"lower must not exceed upper, {stop[start > stop][0]:g}")
        anchor = float(lower) if upper.ndim and not lower.ndim else float(upper.max())
        return scalar_like(self._antiderivative(stop, anchor) - self._antiderivative(start, anchor), start)

    def quantile(self, p: npt.ArrayLike) -> Any:
        r"""For a falling function, :math:`\inf\{t : f(t) \le 1 - p\}`, and infinity where f stays above."""
        p = as_probabilities(p, "p")
        # -values is sorted; the first index with values <= 1 - p.
        index = np.searchsorted(-self.values, p - 1.0 - QUANTILE_TOLERANCE, side="left")
        reached = np.append(self.times, np.inf)[index]
        return scalar_like(np.where(self.initial <= 1.0 - p, 0.0, reached), p)

    def _padded(self) -> FloatArray:
        return np.concatenate(([self.initial], self.values))

    def _antiderivative(self, t: FloatArray, anchor: float) -> FloatArray:
        """∫ f from ``anchor`` to ``t`` on either side of it, summed outwards from the anchor."""
        split = int(np.searchsorted(self.times, anchor, side="right"))
        knots = np.concatenate((self.times[:split], [anchor], self.times[split:]))
        heights = np.concatenate((self._padded()[: split + 1], self._padded()[split:]))
        areas = np.diff(knots) * heights[1:-1]
        below = -np.cumsum(areas[:split][::-1])[::-1]
        primitive = np.concatenate((below, [0.0], np.cumsum(areas[split:])))
        index = lookup(knots, t, "right") - 1
        # Below the anchor take the knot above, so that the sum still starts at the anchor.
        index = np.where(t < anchor, index + 1, index)
        height = np.where(t < anchor, heights[index], heights[index + 1])
        return primitive[index] + (t - knots[index]) * height


@dataclass(frozen=True, eq=False, repr=False)
class SurvivalCurves:
    r"""Predicted survival curves of n subjects on one grid of m times.

    :math:`S_i(0) = 1` is implied where the grid does not hold 0. Between grid times a curve is
    interpolated linearly or held as a step; beyond the last one it follows ``tail``.

    Parameters
    ----------
    times : array-like of shape (m,)
        Strictly increasing times.
    probabilities : array-like of shape (n, m)
        :math:`\hat S_i(t)`, in [0, 1] and not increasing along a row (rises below 1e-6, which single
        precision makes, pass). Kept without a copy, in its own precision: do not write to it later.
    interpolation : {"linear", "step"}
        What holds between grid times.
    tail : {"last", "zero", "linear", "exponential"} or None
        Beyond the grid: refuse (None, the default), hold the last value, drop to zero, or go on along
        the line, or the exponential, from (0, 1) through the last point.

    Examples
    --------
    >>> curves = SurvivalCurves([1.0, 2.0], [[0.8, 0.4], [0.9, 0.7]], tail="last")
    >>> curves([0.5, 1.5, 3.0])
    array([[0.9 , 0.6 , 0.4 ],
           [0.95, 0.8 , 0.7 ]])
    >>> curves.median()
    array([1.75,  inf])
    """

    times: FloatArray
    probabilities: npt.NDArray[np.floating[Any]]
    interpolation: Interpolation = "linear"
    tail: Tail | None = None

    def __post_init__(self) -> None:
        check_choice(self.interpolation, "interpolation", ("linear", "step"))
        if self.tail is not None:
            check_choice(self.tail, "tail", TAILS)
        times = as_times(as_vector(self.times, "times", copy=True), "times")
        if not times.size:
            raise ValueError("times is empty: a curve needs at least one time.")
        _check_increasing(times)
        probabilities = as_curves(self.probabilities, "probabilities", times)
        object.__setattr__(self, "times", read_only(times))
        object.__setattr__(self, "probabilities", read_only(probabilities))

    @classmethod
    def from_step_functions(
        cls, functions: Sequence[Any] | npt.NDArray[Any], tail: Tail | None = "last"
    ) -> SurvivalCurves:
        """Curves from what scikit-survival's ``predict_survival_function`` returns.

        Takes objects with ``x`` and ``y`` (and, where present, the affine ``a`` and ``b``). Functions on
        different grids are put on the union of these, which loses nothing of a step.
        """
        functions = _step_functions(functions)
        grid = functions[0].x
        if not all(f.x is grid or np.array_equal(f.x, grid) for f in functions):
            grid = np.concatenate([f.x for f in functions])
        grid = np.unique(np.asarray(grid, dtype=np.float64))
        return cls(grid, evaluate_step_functions(functions, grid), interpolation="step", tail=tail)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        time: str | None = None,
        interpolation: Interpolation = "step",
        tail: Tail | None = "last",
    ) -> SurvivalCurves:
        """Curves from a frame with one row per time and one column per subject.

        This is what lifelines' ``predict_survival_function`` and pycox' ``predict_surv_df`` return: the
        index holds the times. For a frame without an index name the column that holds them in ``time``.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"a": [0.8, 0.4], "b": [0.9, 0.7]}, index=[1.0, 2.0])
        >>> SurvivalCurves.from_frame(frame)
        SurvivalCurves(n=2, times 1 to 2 (2), interpolation='step', tail='last')
        """
        table = as_frame(frame, "frame")
        if time is not None:
            times = frame_column(table, time, "frame")
            return cls(times, table.drop(time).to_numpy().T, interpolation, tail)
        index = nw.maybe_get_index(table)
        if index is None:
            raise ValueError("time must name the column with the times: this frame has no index.")
        return cls(np.asarray(index), table.to_numpy().T, interpolation, tail)

    def __len__(self) -> int:
        return int(self.probabilities.shape[0])

    def __getitem__(self, rows: Any) -> SurvivalCurves:
        """The curves of some subjects: a slice, a mask or indices."""
        index = np.atleast_1d(np.arange(len(self))[rows])
        return SurvivalCurves(self.times, self.probabilities[index], self.interpolation, self.tail)

    def __repr__(self) -> str:
        return (
            f"SurvivalCurves(n={len(self)}, times {self.times[0]:g} to {self.times[-1]:g} "
            f"({self.times.size}), interpolation={self.interpolation!r}, tail={self.tail!r})"
        )

    def __call__(self, times: npt.ArrayLike) -> npt.NDArray[np.floating[Any]]:
        """Probabilities of every subject at ``times``, in their order: (n, len(times)).

        Exactly on the grid this is the stored array itself, read-only and without a copy.
        """
        return self.evaluate(as_times(as_vector(times, "times"), "times"), slice(None))

    def evaluate(self, t: FloatArray, rows: Any) -> npt.NDArray[np.floating[Any]]:
        """Probabilities of some ``rows`` at times that need no check; a few blocks of memory at most."""
        grid, table = self.times, self.probabilities
        if t.size == grid.size and np.array_equal(t, grid):
            return table[rows]
        table = table[rows]
        beyond = t > grid[-1]
        left = np.searchsorted(grid, t, side="right") - 1
        result = table[:, np.maximum(left, 0)]
        result[:, left < 0] = 1.0  # S(0) = 1 is implied
        if self.interpolation == "linear":
            right = np.minimum(left + 1, grid.size - 1)
            start = np.where(left >= 0, grid[left], 0.0)
            width = grid[right] - start
            # Beyond the grid, and on its last time, the weight is 0.
            weight = np.divide(t - start, width, out=np.zeros_like(t), where=width > 0)
            result += weight * (table[:, right] - result)
        if beyond.any():
            tail = self._tail_beyond(float(t.max()), "times")
            last = table[:, -1:].astype(np.float64)
            result[:, beyond] = tail_values(tail, last, grid[-1], t[beyond])
        return result

    def median(self) -> FloatArray:
        """The median survival time of each subject, infinite where its curve stays above one half."""
        return self.quantile(0.5)

    def quantile(self, p: float) -> FloatArray:
        r"""Each subject's :math:`\inf\{t : S_i(t) \le 1 - p\}`.

        A curve that has not fallen that far at the end of the grid follows the tail rule, and gives
        infinity without one.
        """
        p = check_number(p, "p", lower=0.0, upper=1.0)
        level = 1.0 - p
        below = self.probabilities <= level + QUANTILE_TOLERANCE
        reached = below.any(axis=1)
        index = np.argmax(below, axis=1)
        rows = np.arange(len(self))
        result = self.times[index].copy()
        if self.interpolation == "linear":
            top = np.where(index > 0, self.probabilities[rows, index - 1], 1.0)
            start = np.where(index > 0, self.times[index - 1], 0.0)
            fall = top - self.probabilities[rows, index]
            share = np.divide(top - level, fall, out=np.ones(len(self)), where=fall > 0)
            result = start + np.clip(share, 0.0, 1.0) * (result - start)
        later = tail_quantile(self.tail or "last", self._last, float(self.times[-1]), level)
        result[~reached] = later[~reached]
        return result

    def restricted_mean(self, horizon: float) -> FloatArray:
        r"""Each subject's mean survival time up to ``horizon``, :math:`\int_0^{horizon} S_i(t)\,dt`."""
        horizon = check_number(horizon, "horizon", lower=0.0)
        end = float(self.times[-1])
        inner = self.times[(self.times > 0) & (self.times < horizon)]
        knots = np.concatenate(([0.0], inner, [min(horizon, end)]))
        widths = np.diff(knots)
        # S is evaluated at the left end of each piece for steps, at both ends for lines.
        values = self(knots).astype(np.float64)
        area: FloatArray = values[:, :-1] @ widths
        if self.interpolation == "linear":
            area = 0.5 * (area + values[:, 1:] @ widths)
        if horizon > end:
            tail = self._tail_beyond(horizon, "horizon")
            area = area + tail_area(tail, self._last, end, end, horizon)
        return area

    @property
    def _last(self) -> FloatArray:
        return self.probabilities[:, -1].astype(np.float64)

    def _tail_beyond(self, t: float, name: str) -> Tail:
        if self.tail is None:
            raise ValueError(
                f"{name} must not pass the grid's end at {self.times[-1]:g} unless tail is set, "
                f"but reaches {t:g}."
            )
        return self.tail


def evaluate_step_functions(functions: Sequence[Any] | npt.NDArray[Any], times: FloatArray) -> FloatArray:
    """Step functions in scikit-survival's manner at ``times``: 1 before their first step, (n, len(times)).

    They have ``x`` and ``y`` and, where present, the affine ``a`` and ``b``, and stay at their last value.
    """
    functions = _step_functions(functions)
    result = np.empty((len(functions), times.size))
    shared = functions[0].x
    index = np.searchsorted(shared, times, side="right")
    for row, function in enumerate(functions):
        own = index if function.x is shared else np.searchsorted(function.x, times, side="right")
        values = getattr(function, "a", 1.0) * np.asarray(function.y) + getattr(function, "b", 0.0)
        result[row] = np.where(own > 0, values[np.maximum(own - 1, 0)], 1.0)
    return result


def _step_functions(functions: Sequence[Any] | npt.NDArray[Any]) -> list[Any]:
    functions = list(functions)
    if not functions:
        raise ValueError("functions is empty: at least one curve is needed.")
    for row, function in enumerate(functions):
        if not (hasattr(function, "x") and hasattr(function, "y")):
            kind = type(function).__name__
            raise TypeError(
                f"functions must be step functions with x and y, but row {row} is of type {kind}."
            )
    return functions


def tail_values(tail: Tail, last: FloatArray | float, end: float, t: FloatArray | float) -> FloatArray:
    r"""A survival curve beyond its end; ``last`` and ``t`` broadcast.

    A curve known up to ``end``, where it is ``last``, goes on as: ``"last"`` constant; ``"zero"`` zero;
    ``"linear"`` the line from (0, 1) through (end, last) down to zero; ``"exponential"``
    :math:`last^{t/end}`, the constant hazard that leads from (0, 1) to (end, last).
    """
    level, time = _broadcast(last, t)
    if tail == "last":
        return level
    if tail == "zero":
        return np.zeros_like(level)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if tail == "linear":
            values = np.maximum(1.0 - (1.0 - level) * (time / end), 0.0)
        else:
            values = np.power(level, time / end)
    return np.where(_falls_at_once(level, end), 0.0, np.where(level == 1, 1.0, values))


def tail_area(
    tail: Tail,
    last: FloatArray | float,
    end: float,
    lower: FloatArray | float,
    upper: FloatArray | float,
) -> FloatArray:
    r""":math:`\int_{lower}^{upper}` of a curve beyond its end; ``upper`` may be infinite, arguments broadcast.

    A curve that has not fallen at all has an infinite mean under every rule but ``"zero"``.
    """
    level, start, stop = _broadcast(last, lower, upper)
    if tail == "zero":
        return np.zeros_like(level)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if tail == "last":
            area = level * (stop - start)
        elif tail == "linear":
            cross = end / (1.0 - level)
            left, right = np.minimum(start, cross), np.minimum(stop, cross)
            area = (1.0 - (1.0 - level) * (left + right) / (2.0 * end)) * (right - left)
        else:
            hazard = -np.log(level) / end
            area = np.exp(-hazard * start) * -np.expm1(-hazard * (stop - start)) / hazard
    return np.where(_falls_at_once(level, end, tail), 0.0, np.where(level == 1, stop - start, area))


def tail_quantile(tail: Tail, last: FloatArray | float, end: float, level: FloatArray | float) -> FloatArray:
    """When a curve that is still above ``level`` at ``end`` comes down to it; infinity if never."""
    top, level = _broadcast(last, level)
    if tail == "zero":
        return np.full(top.shape, end)
    if tail == "last":
        return np.full(top.shape, np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        if tail == "linear":
            reached = (1.0 - level) * end / (1.0 - top)
        else:
            reached = end * np.log(level) / np.log(top)
    return np.where(top == 1, np.inf, reached)


def _falls_at_once(level: FloatArray, end: float, tail: Tail = "linear") -> npt.NDArray[np.bool_]:
    """Where nothing is left beyond ``end``: the curve is 0, or fell at time 0, from where no slope is finite."""
    return (level == 0) | ((end == 0) & (level < 1) & (tail != "last"))


def _broadcast(*values: FloatArray | float) -> list[FloatArray]:
    return list(np.broadcast_arrays(*(np.asarray(value, dtype=np.float64) for value in values)))


def _check_increasing(times: FloatArray) -> None:
    if (np.diff(times) <= 0).any():
        repeated = np.concatenate(([False], np.diff(times) <= 0))
        refuse_first(repeated, times, "times must increase strictly")
