"""Scores of predictions that are arrays of another library, where they are."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from cocensor._checks import FloatArray, to_numpy
from cocensor._namespaces import Array, Place, is_foreign, kind_of
from cocensor.adjustments import Adjustment, Fitted
from cocensor.adjustments.placed import PlacedStatus
from cocensor.adjustments.samples import Samples
from cocensor.data import Predictions
from cocensor.data.predictions import Predicted
from cocensor.data.probabilities import count_rounded
from cocensor.data.times import TimeGrid
from cocensor.metrics.kernel import Loss, placed_mean_losses, placed_row_blocks
from cocensor.metrics.pointwise import Integration, PointwiseMetric, time_weights
from cocensor.warnings import HorizonWarning, PredictionWarning


class MeansOverTime(Protocol):
    """What has mean losses at each time."""

    @property
    def losses(self) -> tuple[Loss, ...]:
        """Of which means are taken."""

    @property
    def single(self) -> bool:
        """Whether there is one of them, and values have no axis for it."""


@dataclass(frozen=True, eq=False)
class ArraysAsked:
    """What a score function is asked for of arrays of another library: values come as such, and nothing else does."""

    chosen: Adjustment | Fitted
    samples: Samples
    grid: TimeGrid
    tables: dict[Any, ArrayTable]
    several: bool
    single: bool

    @classmethod
    def of(
        cls,
        chosen: Adjustment | Fitted,
        samples: Samples,
        grid: TimeGrid,
        models: Mapping[Any, Array],
        *,
        several: bool,
        single: bool,
    ) -> ArraysAsked:
        """From the arrays of all models, which must be at one place."""
        tables = {
            key: ArrayTable.of(
                each,
                len(samples.y_test),
                grid,
                f"estimate[{str(key)!r}]" if several else "estimate",
                single=single,
            )
            for key, each in models.items()
        }
        first, *others = tables.values()
        for each in others:
            if not each.place.same(first.place):
                raise ValueError(
                    f"estimate must hold arrays of one kind, but {first.name} is a {first.place} and {each.name} a "
                    f"{each.place}."
                )
        return cls(chosen, samples, grid, tables, several, single)

    @property
    def models(self) -> dict[Any, Array]:
        """The arrays."""
        return {name: table.values for name, table in self.tables.items()}

    def over_time(self, metric: MeansOverTime, return_influence: bool) -> Any:
        """The values at each time, in the order given, or at the single one; for a dict of models a dict."""
        if return_influence:
            refuse_foreign(self.models, "influences are")
        values = {}
        for name, curves in self._curves(metric.losses).items():
            place = self.tables[name].place
            found = place.xp.astype(place.xp.stack(curves, axis=1), place.dtype)
            found = found[:, 0] if metric.single else found
            values[name] = found[0, ...] if self.single else found
        return self._returned(values)

    def averages(self, metric: PointwiseMetric, integration: Integration, return_influence: bool) -> Any:
        """The values averaged over time."""
        if return_influence:
            refuse_foreign(self.models, "influences are")
        weights = weights_in_order(self.grid, integration)
        values = {}
        for name, [curve] in self._curves(metric.losses, whole=True).items():
            values[name] = averaged(curve, weights, self.tables[name].place)
        return self._returned(values)

    def _curves(self, losses: tuple[Loss, ...], *, whole: bool = False) -> dict[Any, list[Array]]:
        """The mean of each loss over time, of all models, in double precision."""
        found: dict[Any, list[Array]] = {}
        for models, _, status in self.samples.weights_by_fit(self.chosen, self.grid, self._given()):
            if whole:
                refuse_unknown(self.grid, status.valid_until)
            place = self.tables[next(iter(models))].place
            placed = PlacedStatus.of(status, place)
            for name in models:
                found[name] = [placed_mean_losses(placed, loss, self.tables[name].values) for loss in losses]
                for loss, curve in zip(losses, found[name], strict=True):
                    warn_above(curve, loss, place, self.grid)
        return found

    def _given(self) -> dict[Any, Any]:
        """The predictions that a fit is given, which is done in numpy; only the names where it is given none."""
        needs = frozenset() if isinstance(self.chosen, Fitted) else self.chosen.needs
        if not needs & {"prediction", "predictions"}:
            return dict.fromkeys(self.tables)
        return {name: table.as_predictions(self.grid) for name, table in self.tables.items()}

    def _returned(self, values: dict[Any, Any]) -> Any:
        return values if self.several else values[""]


def weights_in_order(grid: TimeGrid, integration: Integration) -> FloatArray:
    """The weights of the average over time, for the times in the order given."""
    order = np.argsort(grid.times, kind="stable")
    weights = np.empty(order.size)
    weights[order] = time_weights(grid.times[order], integration)
    return weights


def averaged(curve: Array, weights: FloatArray, place: Place) -> Array:
    """The average over time of a curve in double precision, in the precision of the predictions."""
    xp = place.xp
    return xp.astype(xp.sum(curve * xp.asarray(weights, dtype=curve.dtype, device=place.device)), place.dtype)


def refuse_unknown(grid: TimeGrid, until: float) -> None:
    """Refuse an average over times from one of which on there is no score."""
    beyond = grid.sorted[grid.sorted >= until]
    if beyond.size:
        raise ValueError(f"times must not pass {beyond[0]:g}, from where the adjustment gives no score.")


def warn_above(curve: Array, loss: Loss, place: Place, grid: TimeGrid) -> None:
    """Warn where a score is above the largest possible loss."""
    if np.isfinite(loss.largest) and bool(place.xp.any(curve > loss.largest * (1.0 + 1e-9))):
        warnings.warn(
            f"a score is above {loss.largest:g}, the largest possible loss: the weights represent more subjects than "
            "there are.",
            HorizonWarning,
            stacklevel=6,
        )


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
        for part in placed_row_blocks(self.values, self.place):
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
