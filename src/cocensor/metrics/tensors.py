"""Scores of predictions that are arrays of another library, where they are."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

import numpy as np

from cocensor._checks import FloatArray, to_numpy
from cocensor._namespaces import Array, Place, Placing, kind_of
from cocensor.adjustments import Adjustment, EventWeights, Fitted, Modelled
from cocensor.adjustments.samples import Samples
from cocensor.data import Predictions
from cocensor.data.predictions import Predicted
from cocensor.data.probabilities import count_rounded
from cocensor.data.times import TimeGrid
from cocensor.metrics.kernel import Integration, Loss, PointwiseMetric, time_weights
from cocensor.warnings import HorizonWarning, PredictionWarning

# So many numbers are held at once: in a processor's cache, or enough for a device.
_IN_CACHE, _ON_DEVICE = 2**18, 2**25


class PlacedWeights:
    """:class:`EventWeights` beside the predictions: nothing is n × T; columns are in the order of the times given."""

    def __init__(self, weights: EventWeights, place: Place) -> None:
        grid = weights.grid
        order = np.arange(grid.sorted.size) if grid.place is None else grid.place
        placing, valid = Placing(place, order), grid.times < weights.valid_until
        self.place, self.n, self.normaliser = place, weights.n, weights.normaliser
        self.modelled = list[tuple[Modelled, Callable[[Any], Array]]]()
        for part in weights.modelled:
            if part.placed is None:
                raise ValueError("the weights of this adjustment are computed from numpy arrays alone.")
            self.modelled.append((part, part.placed(placing)))
        self.cut, self.columns = (place.put(whole.astype(np.int64)) for whole in (weights.cut, order))
        #: The terms of a and of b; None stands for 1.
        self.terms: list[list[tuple[Array | None, Array | None]]] = [
            [
                (None if f is None else placing.subjects(f), None if g is None else placing.times(g))
                for f, g in terms
            ]
            for terms in (weights.event_free, weights.event)
        ]
        #: At which columns there is a score; None for all.
        self.valid: Array | None = None if valid.all() else place.put(valid)

    def weighed(self, rows: Any, event_free: Array, event: Array) -> Array:
        """Return what the two losses of some rows add at each time, (rows, times)."""
        both: tuple[list[Array], list[Array]] = ([], [])
        for parts, terms, losses in zip(both, self.terms, (event_free, event), strict=True):
            for subject, time in terms:
                timed = losses if time is None else losses * time
                parts.append(timed if subject is None else timed * subject[rows][:, None])
        for part, q in self.modelled:
            weighed = q(rows) * (event_free if part.observed else event_free - event)
            both[0 if part.before else 1].append(weighed)
        # What adds to 0 would make one more array.
        alive, had = (sum(parts[1:], start=parts[0]) if parts else 0.0 for parts in both)
        return self.place.xp.where(self.cut[rows][:, None] > self.columns, alive, had)


def placed_mean_losses(weights: PlacedWeights, loss: Loss, table: Array, rows: Array | None = None) -> Array:
    """Return the mean loss at each column of a table, with a row for each subject or of ``rows``, block by block."""
    xp, total = weights.place.xp, None
    for part, block in _blocks(table, weights.place):
        who = part if rows is None else rows[part]
        values = weights.weighed(who, loss.event_free(block), loss.event(block))
        sums = xp.sum(values, axis=0, dtype=weights.place.exact)
        total = sums if total is None else total + sums
    total = total / (weights.normaliser * (table.shape[0] / weights.n))
    return total if weights.valid is None else xp.where(weights.valid, total, xp.nan)


def _blocks(table: Array, place: Place) -> Iterator[tuple[slice, Array]]:
    """Rows, and the table of them; all at once where torch compiles this, which keeps no temporary array."""
    n_rows, n_columns = table.shape
    step = max(1, (_IN_CACHE if "cpu" in str(place.device).lower() else _ON_DEVICE) // max(1, n_columns))
    torch = sys.modules.get("torch")
    if n_rows <= step or (torch is not None and torch.compiler.is_compiling()):
        yield slice(0, n_rows), table
        return
    for start in range(0, n_rows, step):
        part = slice(start, min(start + step, n_rows))
        yield part, table[part, :]


class MeansOverTime(Protocol):
    """A metric with mean losses at each time."""

    @property
    def loss(self) -> Loss | tuple[Loss, ...]:
        """The loss of which there is a mean; several where values have an axis for them."""


@dataclass(frozen=True, eq=False)
class Asked:
    """The arguments of a score function, read, but for the predictions."""

    chosen: Adjustment | Fitted
    samples: Samples
    grid: TimeGrid
    several: bool
    #: Whether the time was given as one number: values at it then have no axis of times.
    single: bool
    return_influence: bool

    def returned(self, values: dict[Any, Any], *moved: dict[Any, Any]) -> Any:
        """Return the result of a score function: the values by model, with influences a pair of such."""
        lots = [by_model if self.several else by_model[""] for by_model in (values, *moved)]
        return tuple(lots) if moved else lots[0]


@dataclass(frozen=True, eq=False)
class ArraysAsked(Asked):
    """The arguments with arrays of another library: values are such arrays, without intervals."""

    tables: dict[Any, ArrayTable]

    def __post_init__(self) -> None:
        first, *others = self.tables.values()
        for other in others:
            if not other.place.same(first.place):
                raise ValueError(
                    f"estimate must hold arrays of one kind, but {first.name} is a {first.place} and {other.name} a "
                    f"{other.place}."
                )

    def over_time(self, metric: MeansOverTime) -> Any:
        """The values at each time, in the order given, or at the single one; for a dict of models a dict."""
        losses, values = metric.loss if isinstance(metric.loss, tuple) else (metric.loss,), {}
        for name, curves in self._curves(losses).items():
            place = self.tables[name].place
            table = place.xp.astype(place.xp.stack(curves, axis=1), place.dtype)
            table = table if isinstance(metric.loss, tuple) else table[:, 0]
            values[name] = table[0, ...] if self.single else table
        return self.returned(values)

    def averages(self, metric: PointwiseMetric, integration: Integration) -> Any:
        """The values averaged over time."""
        order = np.argsort(self.grid.times, kind="stable")
        weights = np.empty(order.size)
        weights[order] = time_weights(self.grid.times[order], integration)
        values = {}
        for name, [curve] in self._curves((metric.loss,), whole=True).items():
            place = self.tables[name].place
            by_time = place.xp.asarray(weights, dtype=curve.dtype, device=place.device)
            values[name] = place.xp.astype(place.xp.sum(curve * by_time), place.dtype)
        return self.returned(values)

    def _curves(self, losses: tuple[Loss, ...], *, whole: bool = False) -> dict[Any, list[Array]]:
        """The mean of each loss over time, of all models, in double precision."""
        if self.return_influence:
            refuse_foreign(next(iter(self.tables.values())).values, "influences are")
        needs = frozenset() if isinstance(self.chosen, Fitted) else self.chosen.needs
        # A fit is done in numpy, and given no predictions unless it needs them.
        given: dict[Any, Any] = dict.fromkeys(self.tables)
        if needs & {"prediction", "predictions"}:
            given = {name: table.as_predictions(self.grid) for name, table in self.tables.items()}
        curves: dict[Any, list[Array]] = {}
        for models in self.samples.groups(self.chosen, given):
            weights = self.samples.weights(self.samples.fit(self.chosen, models), self.grid)
            if whole:
                refuse_unknown(self.grid, weights.valid_until)
            place = self.tables[next(iter(models))].place
            placed = PlacedWeights(weights, place)
            for name in models:
                curves[name] = [placed_mean_losses(placed, loss, self.tables[name].values) for loss in losses]
                for loss, curve in zip(losses, curves[name], strict=True):
                    if np.isfinite(loss.largest) and place.xp.any(curve > loss.largest * (1.0 + 1e-9)):
                        warnings.warn(
                            f"a score is above {loss.largest:g}, the largest possible loss: the weights represent "
                            "more subjects than there are.",
                            HorizonWarning,
                            stacklevel=5,
                        )
        return curves


def refuse_unknown(grid: TimeGrid, until: float) -> None:
    """Refuse an average over times from one of which on there is no score."""
    beyond = grid.sorted[grid.sorted >= until]
    if beyond.size:
        raise ValueError(f"times must not pass {beyond[0]:g}, from where the adjustment gives no score.")


def refuse_mixed(models: Mapping[Any, Any], foreign: list[Any]) -> None:
    """Refuse models of which some are arrays of another library than numpy, and others are not."""
    for other in [name for name in models if name not in foreign][:1]:
        raise TypeError(
            f"estimate must hold arrays of one library, but {foreign[0]!r} is a {kind_of(models[foreign[0]])} and "
            f"{other!r} a {kind_of(models[other])}."
        )


def refuse_foreign(estimate: Array, what: str) -> NoReturn:
    """Refuse an array of another library than numpy, where something ``what`` is computed from numpy's alone."""
    raise TypeError(
        f"{what} computed from numpy arrays alone, but estimate is a {kind_of(estimate)}: give one of numpy, as by "
        "estimate.cpu().numpy()."
    )


@dataclass(frozen=True, eq=False)
class ArrayTable:
    """Survival probabilities of one model, (subjects, times in the order given), where they are."""

    values: Array
    place: Place
    name: str

    @classmethod
    def of(cls, estimate: Array, name: str, asked: Asked) -> ArrayTable:
        """Checked: one number is copied from the device, and more only where something is wrong."""
        place, grid, n = Place.of(estimate, name), asked.grid, len(asked.samples.y_test)
        values = estimate[:, None] if asked.single and estimate.ndim == 1 else estimate
        if tuple(values.shape) != (n, grid.times.size):
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
        xp, good = self.place.xp, None
        order = changes = None
        if grid.place is not None:
            by_time = np.argsort(grid.place, kind="stable")
            # Where a time is repeated, its columns are the same.
            order, changes = self.place.put(by_time), self.place.put(np.diff(grid.times[by_time]) > 0)
        for _, block in _blocks(self.values, self.place):
            block = block if order is None else xp.take(block, order, axis=1)
            early, late = block[:, :-1], block[:, 1:]
            fine = xp.all(late <= early) & xp.all(block[:, 0] <= 1.0) & xp.all(block[:, -1] >= 0.0)
            if changes is not None:
                fine = fine & xp.all((late >= early) | changes)
            good = fine if good is None else good & fine
        return good

    def _sorted(self, grid: TimeGrid) -> FloatArray:
        """The table in numpy, a column for each of the sorted times."""
        return grid.sorted_table(to_numpy(self.values, self.name), self.name)
