"""Predictions that are arrays of another library, checked where they are."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cocensor._checks import FloatArray, to_numpy
from cocensor._namespaces import Array, Place, is_foreign, kind_of
from cocensor.arrays.kernel import row_blocks
from cocensor.data import Predictions
from cocensor.data.predictions import Predicted
from cocensor.data.probabilities import count_rounded
from cocensor.data.times import TimeGrid
from cocensor.warnings import PredictionWarning


def are_foreign(models: Mapping[Any, Any]) -> bool:
    """Whether the predictions of models are arrays of another library than numpy: of all of them, or none."""
    foreign = [name for name, each in models.items() if is_foreign(each)]
    if foreign and len(foreign) < len(models):
        other = next(name for name in models if name not in foreign)
        raise TypeError(
            f"estimate must hold arrays of one library, but {foreign[0]!r} is a {kind_of(models[foreign[0]])} and "
            f"{other!r} a {kind_of(models[other])}."
        )
    return bool(foreign)


def refuse_foreign(models: Mapping[Any, Any], what: str) -> None:
    """Refuse arrays of another library than numpy, where something ``what`` is computed from numpy's alone."""
    for each in models.values():
        if is_foreign(each):
            raise TypeError(
                f"{what} computed from numpy arrays alone, but estimate is a {kind_of(each)}: give one of numpy, as by "
                "estimate.cpu().numpy()."
            )


@dataclass(frozen=True, eq=False)
class ArrayTable:
    """Survival probabilities of one model, (subjects, times in the order given), where they are."""

    values: Array
    place: Place
    #: What refusals call it.
    name: str

    @classmethod
    def of(cls, estimate: Array, n: int, grid: TimeGrid, name: str, *, single: bool) -> ArrayTable:
        """Checked: one number is copied from the device, and more only where something is wrong."""
        place = Place.of(estimate, name)
        values = estimate[:, None] if single and estimate.ndim == 1 else estimate
        shape = tuple(values.shape)
        if shape != (n, grid.times.size):
            raise ValueError(
                f"{name} must have one row per test subject and one column per time, ({n}, {grid.times.size}), "
                f"but its shape is {tuple(estimate.shape)}."
            )
        table = cls(values, place, name)
        if bool(table._falls(grid)):
            return table
        rounded = count_rounded(table._sorted(grid), name, grid.sorted)
        if not rounded:  # rises by rounding alone
            return table
        warnings.warn(
            f"{name} has {rounded} values outside [0, 1] by less than 1e-6: they are read as 0 or 1.",
            PredictionWarning,
            stacklevel=5,
        )
        return cls(place.xp.clip(values, 0.0, 1.0), place, name)

    def as_predictions(self, grid: TimeGrid) -> Predicted:
        """The same in numpy, for a fit that is given predictions."""
        return Predictions.trusted(grid.sorted, self._sorted(grid), source=f"{self.place.kind} at the times")

    def _falls(self, grid: TimeGrid) -> Array:
        """One truth value: whether all curves fall, from at most 1 to at least 0."""
        xp, put = self.place.xp, self.place.put
        by_time = None if grid.place is None else np.argsort(grid.place, kind="stable")
        order = None if by_time is None else put(by_time)
        # Where a time is repeated, its columns are the same.
        changes = None if by_time is None else put(np.diff(grid.times[by_time]) > 0)
        good: Any = None
        for part in row_blocks(self.values, self.place):
            block = self.values if part is None else self.values[part, :]
            block = block if order is None else xp.take(block, order, axis=1)
            early, late = block[:, :-1], block[:, 1:]
            fine = xp.all(late <= early) & xp.all(block[:, 0] <= 1.0) & xp.all(block[:, -1] >= 0.0)
            if changes is not None:
                fine = fine & xp.all((late >= early) | changes)
            good = fine if good is None else good & fine
        return good

    def _sorted(self, grid: TimeGrid) -> FloatArray:
        """The table in numpy, a column for each of the sorted times."""
        found = to_numpy(self.values, self.name)
        if grid.place is None:
            return found
        first = np.unique(grid.place, return_index=True)[1]
        if not np.array_equal(found[:, first][:, grid.place], found, equal_nan=True):
            raise ValueError(f"{self.name} must have equal columns where times are repeated.")
        return found[:, first]
