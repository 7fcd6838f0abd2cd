"""Predictions of one model, handed out block by block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cocensor._validation import FloatArray, as_table, check_curves, row_blocks
from cocensor.curves import SurvivalCurves, evaluate_step_functions


@dataclass(frozen=True, eq=False)
class Estimate:
    """Survival probabilities at sorted times for any rows; every block is checked when it is read."""

    times: FloatArray
    read: Callable[[npt.NDArray[np.intp]], npt.NDArray[Any]]
    n: int
    #: At other times, where the predictions are curves.
    elsewhere: Callable[[FloatArray], npt.NDArray[Any]] | None = None
    #: Up to when they are known.
    end: float = np.inf

    @classmethod
    def of(cls, estimate: Any, times: FloatArray, order: npt.NDArray[np.intp] | None, n: int) -> Estimate:
        """From an (n, T) array at the times *as given*, :class:`SurvivalCurves`, or step functions.

        ``order`` sorts the times given; ``times`` are sorted.
        """
        if isinstance(estimate, SurvivalCurves):
            _check_rows(len(estimate), n)
            return cls(
                times,
                lambda rows: estimate.evaluate(times, rows),
                n,
                lambda t: estimate.evaluate(t, slice(None)),
                float(estimate.times[-1]) if estimate.tail is None else np.inf,
            )
        if are_step_functions(estimate):
            _check_rows(len(estimate), n)
            values = evaluate_step_functions(estimate, times)
            return cls(times, lambda rows: values[rows], n, lambda t: evaluate_step_functions(estimate, t))
        array = as_table(estimate, "estimate")
        if array.shape != (n, times.size):
            raise ValueError(
                f"estimate must have one row per test subject and one column per time, "
                f"({n}, {times.size}), but its shape is {array.shape}."
            )
        if order is not None:
            return cls(times, lambda rows: array[rows][:, order], n)
        # Of plain arrays take() is the faster one; of others it would copy the whole for every block.
        plain = array.flags.c_contiguous and array.flags.aligned
        return cls(times, (lambda rows: array.take(rows, axis=0)) if plain else array.__getitem__, n)

    def block(self, rows: npt.NDArray[np.intp]) -> FloatArray:
        """The probabilities of ``rows`` at the sorted times, in double precision."""
        block = np.asarray(self.read(rows), dtype=np.float64)
        check_curves(block, "estimate", self.times, rows)
        return block

    def read_at(self, wanted: FloatArray) -> tuple[FloatArray, FloatArray]:
        """All predictions at a few times, or at the nearest that tell subjects apart; and those times."""
        if self.elsewhere is not None:
            wanted = np.unique(np.minimum(wanted, self.end))
            values = np.asarray(self.elsewhere(wanted), dtype=np.float64)
            check_curves(values, "estimate", wanted, np.arange(len(values)))
            return values, wanted
        low, high = np.full(self.times.size, np.inf), np.full(self.times.size, -np.inf)
        for rows in row_blocks(self.n, self.times.size):
            block = self.block(np.arange(rows.start, rows.stop))
            low, high = np.minimum(low, block.min(axis=0)), np.maximum(high, block.max(axis=0))
        distance = np.abs(self.times - wanted[:, None]) + np.where(low < high, 0.0, np.inf)
        columns = np.unique(np.where(np.isfinite(distance), distance, np.finfo(float).max).argmin(axis=1))
        values = np.empty((self.n, columns.size))
        for rows in row_blocks(self.n, self.times.size):
            values[rows] = self.block(np.arange(rows.start, rows.stop))[:, columns]
        return values, self.times[columns]


def _check_rows(found: int, n: int) -> None:
    if found != n:
        raise ValueError(f"estimate has length {found}, but y_test has length {n}.")


def are_step_functions(estimate: Any) -> bool:
    """Whether these are what scikit-survival's ``predict_survival_function`` returns."""
    if not isinstance(estimate, list | tuple | np.ndarray) or not len(estimate):
        return False
    return hasattr(estimate[0], "x") and hasattr(estimate[0], "y")
