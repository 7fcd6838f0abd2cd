"""Step functions, ours and those in scikit-survival's manner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from cocensor._checks import (
    FloatArray,
    Side,
    as_floats,
    as_probabilities,
    as_vector,
    broadcast,
    check_choice,
    check_length,
    check_number,
    read_only,
    refuse_first,
)
from cocensor._numerics import lookup, scalar_like

# Probabilities that differ by less are one probability: 1 − 0.1 − 0.4 has reached the median.
QUANTILE_TOLERANCE = 1e-12
_MOST_UNITED = 2**28  # functions on grids of their own are put on the union of these, up to this many numbers


@dataclass(frozen=True, eq=False)
class StepFunction:
    """A right-continuous step function: ``initial`` before the first jump, ``values[j]`` from ``times[j]`` on.

    Parameters
    ----------
    times : array-like of shape (k,)
        Where it jumps, strictly increasing.
    values : array-like of shape (k,)
        The value from each of these on.
    initial : float
        The value before the first jump.

    Examples
    --------
    >>> from cocensor.data import StepFunction
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
        check_increasing(times)
        initial = check_number(self.initial, "initial")
        vars(self).update(times=read_only(times), values=read_only(values), initial=initial)

    @classmethod
    def trusted(cls, times: FloatArray, values: FloatArray, initial: float = 1.0) -> Self:
        """Return the function of arrays that belong to the caller: nothing is checked or copied."""
        function = object.__new__(cls)
        vars(function).update(times=read_only(times), values=read_only(values), initial=initial)
        return function

    def __call__(self, t: npt.ArrayLike, side: Side = "right") -> Any:
        """Return the value at ``t``, after (``side="right"``) or before (``"left"``) a jump there."""
        check_choice(side, "side", ("left", "right"))
        t = as_floats(t, "t")
        return scalar_like(self.read(t, side), t)

    def read(self, t: FloatArray, side: Side = "right") -> FloatArray:
        """Return the values at ``t``; nothing is checked again."""
        values = self.values if self.values.size else np.array([self.initial])
        index = lookup(self.times, t, side)
        # No copy of all values: a part of a sample may ask for few of them.
        return np.where(index > 0, values[np.maximum(index - 1, 0)], self.initial)

    def integrate(self, lower: npt.ArrayLike, upper: npt.ArrayLike) -> Any:
        r"""The exact integral :math:`\int_{lower}^{upper} f(t)\,dt`; the two broadcast.

        Sums run from the largest ``upper`` downwards (from a single ``lower`` upwards when there are several
        ``upper``), so that the area under a small tail is not the difference of two large ones.
        """
        lower, upper = as_floats(lower, "lower"), as_floats(upper, "upper")
        start, stop = broadcast(lower=lower, upper=upper)
        if not start.size:
            return np.zeros(start.shape)
        for end in stop[start > stop][:1]:
            refuse_first(start > stop, start, f"lower must not exceed upper, {end:g}")
        anchor = float(lower) if upper.ndim and not lower.ndim else float(upper.max())
        return scalar_like(self._antiderivative(stop, anchor) - self._antiderivative(start, anchor), start)

    def quantile(self, p: npt.ArrayLike) -> Any:
        r"""For a falling function, :math:`\inf\{t : f(t) \le 1 - p\}`, and infinity where f stays above."""
        p = as_probabilities(p, "p")
        # -values is sorted; the first index with values <= 1 - p.
        index = np.searchsorted(-self.values, p - 1.0 - QUANTILE_TOLERANCE, side="left")
        reached = np.append(self.times, np.inf)[index]
        return scalar_like(np.where(self.initial <= 1.0 - p, 0.0, reached), p)

    def _antiderivative(self, t: FloatArray, anchor: float) -> FloatArray:
        """Return ∫ f from ``anchor`` to ``t`` on either side of it, summed outwards from the anchor."""
        split = int(np.searchsorted(self.times, anchor, side="right"))
        knots = np.concatenate((self.times[:split], [anchor], self.times[split:]))
        padded = np.concatenate(([self.initial], self.values))
        heights = np.concatenate((padded[: split + 1], padded[split:]))
        areas = np.diff(knots) * heights[1:-1]
        below = -np.cumsum(areas[:split][::-1])[::-1]
        primitive = np.concatenate((below, [0.0], np.cumsum(areas[split:])))
        index = lookup(knots, t, "right") - 1
        # Below the anchor take the knot above, so that the sum still starts at the anchor.
        index = np.where(t < anchor, index + 1, index)
        height = np.where(t < anchor, heights[index], heights[index + 1])
        return primitive[index] + (t - knots[index]) * height


def table_of_steps(
    functions: Sequence[Any] | npt.NDArray[Any], known_for_good: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the union of the steps of scikit-survival's functions, and their values there, (n, steps).

    Functions are 1 before their first step. Unless they are ``known_for_good``, the union ends where not all are known.
    """
    if not len(functions):
        raise ValueError("functions is empty: at least one curve is needed.")
    for row, function in enumerate(functions):
        if not are_step_functions([function]):
            what = f"row {row} is of type {type(function).__name__}"
            raise TypeError(f"functions must be step functions with x and y, but {what}.")
    shared, end = functions[0].x, min(map(_last_known, functions))
    alike = all(f.x is shared or np.array_equal(f.x, shared) for f in functions)
    steps = shared if alike else np.concatenate([f.x for f in functions])
    times = np.unique(np.append(np.asarray(steps, dtype=np.float64), end))
    times = times if known_for_good else times[times <= end]
    if len(functions) * times.size > _MOST_UNITED:
        n = f"{len(functions):,} of them have {times.size:,} steps in all"
        raise ValueError(
            f"functions must share their steps where they are many, but {n}: give an array at common times."
        )
    table = np.empty((len(functions), times.size))
    index = np.searchsorted(shared, times, side="right")
    for row, function in enumerate(functions):
        own = index if function.x is shared else np.searchsorted(function.x, times, side="right")
        values = getattr(function, "a", 1.0) * np.asarray(function.y) + getattr(function, "b", 0.0)
        table[row] = np.where(own > 0, values[np.maximum(own - 1, 0)], 1.0)
    return times, table


def are_step_functions(values: Any) -> bool:
    """Whether these are what scikit-survival's ``predict_survival_function`` returns."""
    some = isinstance(values, list | tuple | np.ndarray) and len(values) > 0
    return some and hasattr(values[0], "x") and hasattr(values[0], "y")


def _last_known(function: Any) -> float:
    """Return up to when a step function of scikit-survival is known."""
    domain = getattr(function, "domain", None)
    return float(function.x[-1] if domain is None or domain[1] is None else domain[1])


def check_increasing(times: FloatArray) -> None:
    """Refuse times that do not increase strictly."""
    refuse_first(np.diff(times, prepend=-np.inf) <= 0, times, "times must increase strictly")
