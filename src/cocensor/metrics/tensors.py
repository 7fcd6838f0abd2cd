"""Scores of predictions that are arrays of another library, where they are."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from cocensor._checks import FloatArray, to_numpy
from cocensor._namespaces import Array, Place, Placing, is_foreign, kind_of
from cocensor.adjustments import Adjustment, EventWeights, Fitted, Modelled
from cocensor.adjustments.samples import Samples
from cocensor.adjustments.weights import Term
from cocensor.data import Predictions
from cocensor.data.predictions import Predicted
from cocensor.data.probabilities import count_rounded
from cocensor.data.times import TimeGrid
from cocensor.metrics.kernel import Integration, Loss, PointwiseMetric, time_weights
from cocensor.warnings import HorizonWarning, PredictionWarning

# So many numbers are held at once: in a processor's cache, or enough for a device.
_IN_CACHE, _ON_DEVICE = 2**18, 2**25

#: A factor per subject and a factor per time, where the predictions are; None stands for 1.
PlacedTerm = tuple[Array | None, Array | None]


@dataclass(frozen=True, eq=False)
class PlacedWeights:
    """:class:`EventWeights` beside the predictions, subjects in their order; nothing of them is n × T.

    Columns are in the order of the times given. A subject is event-free at those whose time comes before its ``cut``.
    """

    place: Place
    n: int
    normaliser: float
    cut: Array
    columns: Array
    event_free: tuple[PlacedTerm, ...]
    event: tuple[PlacedTerm, ...]
    modelled: tuple[tuple[Modelled, Callable[[Any], Array]], ...]
    #: At which columns there is a score; None for all.
    valid: Array | None

    @classmethod
    def of(cls, weights: EventWeights, place: Place) -> PlacedWeights:
        """Return the weights after all host work, and one copy of each vector to where the predictions are."""
        grid = weights.grid
        order = np.arange(grid.sorted.size) if grid.place is None else grid.place
        placing = Placing(place, order)
        valid = grid.times < weights.valid_until
        modelled = []
        for part in weights.modelled:
            if part.placed is None:
                raise ValueError("the weights of this adjustment are computed from numpy arrays alone.")
            modelled.append((part, part.placed(placing)))
        return cls(
            place,
            weights.n,
            weights.normaliser,
            place.put(weights.cut.astype(np.int64)),
            place.put(order.astype(np.int64)),
            _terms(weights.event_free, placing),
            _terms(weights.event, placing),
            tuple(modelled),
            None if valid.all() else place.put(valid),
        )

    def weighed(self, rows: Any, event_free: Array, event: Array) -> Array:
        """Return what the two losses of some rows add at each time, (rows, times)."""
        alive, had = (
            [_times(term, rows, losses) for term in terms]
            for terms, losses in ((self.event_free, event_free), (self.event, event))
        )
        for part, q in self.modelled:
            weighed = q(rows) * (event_free if part.observed else event_free - event)
            (alive if part.before else had).append(weighed)
        before = self.cut[rows][:, None] > self.columns
        return self.place.xp.where(before, _sum(alive), _sum(had))


def _terms(terms: tuple[Term, ...], placing: Placing) -> tuple[PlacedTerm, ...]:
    return tuple(
        (
            None if subject is None else placing.subjects(subject),
            None if time is None else placing.times(time),
        )
        for subject, time in terms
    )


def _times(term: PlacedTerm, rows: Any, values: Array) -> Array:
    subject, time = term
    if time is not None:
        values = values * time
    return values if subject is None else values * subject[rows][:, None]


def _sum(parts: list[Array]) -> Any:
    total: Any = 0.0
    for k, part in enumerate(parts):
        total = total + part if k else part
    return total


def placed_mean_losses(weights: PlacedWeights, loss: Loss, table: Array, rows: Array | None = None) -> Array:
    """Return the mean loss at each column of predictions of another library than numpy, summed in double precision.

    ``table`` has a row for each subject, or for each of ``rows``. Temporary arrays hold a block of rows.
    """
    xp, total = weights.place.xp, None
    n = table.shape[0]
    for part in placed_row_blocks(table, weights.place):
        block = table if part is None else table[part, :]
        who = part or slice(0, n)
        if rows is not None:
            who = rows if part is None else rows[part]
        values = weights.weighed(who, loss.event_free(block), loss.event(block))
        sums = xp.sum(values, axis=0, dtype=weights.place.exact)
        total = sums if total is None else total + sums
    total = total / (weights.normaliser * (n / weights.n))
    return total if weights.valid is None else xp.where(weights.valid, total, xp.nan)


def placed_row_blocks(table: Array, place: Place) -> Iterator[slice | None]:
    """Slices of rows; None for all of them at once, which is what a compiler is given: it keeps no temporary array."""
    at_once = _IN_CACHE if "cpu" in str(place.device).lower() else _ON_DEVICE
    n_rows, n_columns = table.shape
    step = max(1, at_once // max(1, n_columns))
    if _compiling() or n_rows <= step:
        yield None
        return
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def _compiling() -> bool:
    """Whether torch is tracing this."""
    torch = sys.modules.get("torch")
    return torch is not None and bool(torch.compiler.is_compiling())


class MeansOverTime(Protocol):
    """A metric with mean losses at each time."""

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The losses of which means are taken."""

    @property
    def single(self) -> bool:
        """Whether there is one loss, and values have no axis for it."""


@dataclass(frozen=True, eq=False)
class ArraysAsked:
    """The arguments of a score function of arrays of another library: values are such arrays, without intervals."""

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
        """Check the arrays of all models, which must be at one place."""
        tables = {
            key: ArrayTable.of(
                estimate,
                len(samples.y_test),
                grid,
                f"estimate[{str(key)!r}]" if several else "estimate",
                single=single,
            )
            for key, estimate in models.items()
        }
        first, *others = tables.values()
        for other in others:
            if not other.place.same(first.place):
                raise ValueError(
                    f"estimate must hold arrays of one kind, but {first.name} is a {first.place} and {other.name} a "
                    f"{other.place}."
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
            table = place.xp.astype(place.xp.stack(curves, axis=1), place.dtype)
            table = table[:, 0] if metric.single else table
            values[name] = table[0, ...] if self.single else table
        return self._returned(values)

    def averages(self, metric: PointwiseMetric, integration: Integration, return_influence: bool) -> Any:
        """The values averaged over time."""
        if return_influence:
            refuse_foreign(self.models, "influences are")
        order = np.argsort(self.grid.times, kind="stable")
        weights = np.empty(order.size)
        weights[order] = time_weights(self.grid.times[order], integration)
        values = {}
        for name, [curve] in self._curves(metric.losses, whole=True).items():
            place = self.tables[name].place
            by_time = place.xp.asarray(weights, dtype=curve.dtype, device=place.device)
            values[name] = place.xp.astype(place.xp.sum(curve * by_time), place.dtype)
        return self._returned(values)

    def _curves(self, losses: tuple[Loss, ...], *, whole: bool = False) -> dict[Any, list[Array]]:
        """The mean of each loss over time, of all models, in double precision."""
        curves: dict[Any, list[Array]] = {}
        for models, _, weights in self.samples.weights_by_fit(self.chosen, self.grid, self._given()):
            if whole:
                refuse_unknown(self.grid, weights.valid_until)
            place = self.tables[next(iter(models))].place
            placed = PlacedWeights.of(weights, place)
            for name in models:
                curves[name] = [placed_mean_losses(placed, loss, self.tables[name].values) for loss in losses]
                for loss, curve in zip(losses, curves[name], strict=True):
                    warn_above(curve, loss, place)
        return curves

    def _given(self) -> dict[Any, Any]:
        """The predictions that a fit is given, which is done in numpy; only the names where it is given none."""
        needs = frozenset() if isinstance(self.chosen, Fitted) else self.chosen.needs
        if not needs & {"prediction", "predictions"}:
            return dict.fromkeys(self.tables)
        return {name: table.as_predictions(self.grid) for name, table in self.tables.items()}

    def _returned(self, values: dict[Any, Any]) -> Any:
        return values if self.several else values[""]


def refuse_unknown(grid: TimeGrid, until: float) -> None:
    """Refuse an average over times from one of which on there is no score."""
    beyond = grid.sorted[grid.sorted >= until]
    if beyond.size:
        raise ValueError(f"times must not pass {beyond[0]:g}, from where the adjustment gives no score.")


def warn_above(curve: Array, loss: Loss, place: Place) -> None:
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
    foreign = [name for name, estimate in models.items() if is_foreign(estimate)]
    if foreign and len(foreign) < len(models):
        other = next(name for name in models if name not in foreign)
        raise TypeError(
            f"estimate must hold arrays of one library, but {foreign[0]!r} is a {kind_of(models[foreign[0]])} and "
            f"{other!r} a {kind_of(models[other])}."
        )
    return bool(foreign)


def refuse_foreign(models: Mapping[Any, Any], what: str) -> None:
    """Refuse arrays of another library than numpy, where something ``what`` is computed from numpy's alone."""
    for estimate in models.values():
        if is_foreign(estimate):
            raise TypeError(
                f"{what} computed from numpy arrays alone, but estimate is a {kind_of(estimate)}: give one of numpy, "
                "as by estimate.cpu().numpy()."
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
        """Return predictions in numpy, for a fit that is given them."""
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
        table = to_numpy(self.values, self.name)
        if grid.place is None:
            return table
        first = np.unique(grid.place, return_index=True)[1]
        if not np.array_equal(table[:, first][:, grid.place], table, equal_nan=True):
            raise ValueError(f"{self.name} must have equal columns where times are repeated.")
        return table[:, first]
