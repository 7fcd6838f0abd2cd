"""Hazards of event and dropout for any subjects, each from other subjects."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cocensor._cached import cached_property
from cocensor._checks import BoolArray, FloatArray, IntArray, Rows
from cocensor.adjustments.nuisances import Hazard, HazardModel, Nuisance
from cocensor.data import Survival

#: Some subjects, and their hazards of event and dropout.
PartHazards = tuple[Rows, Hazard, Hazard]
# Of splitmix64, a hash that mixes all bits.
_STEP, _FIRST, _SECOND = (
    np.uint64(each) for each in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)


@dataclass(frozen=True, eq=False)
class CrossFitted:
    """Both margins of a sample: how they are fitted, and what they say of its own subjects."""

    event: Nuisance
    dropout: Nuisance

    def drawn(self, rows: Rows) -> CrossFitted:
        """The same of ``rows``, which stay in their folds."""
        return CrossFitted(self.event.drawn(rows), self.dropout.drawn(rows))

    @cached_property
    def times(self) -> FloatArray:
        """The distinct times."""
        return np.unique(self.event.y.time)

    def holds(self, y: Survival, x: FloatArray) -> bool:
        """Whether these are the subjects of the sample, row by row."""
        own = self.event
        pairs = ((y.time, own.y.time), (y.event, own.y.event), (x, own.x))
        return all(np.array_equal(one, other) for one, other in pairs)

    @cached_property
    def own(self) -> list[PartHazards]:
        """The subjects of each fold, and their hazards from the other folds."""
        fold = self.event.fold
        return [
            (np.flatnonzero(fold == k), self.event.of_fold(k), self.dropout.of_fold(k))
            for k in np.unique(fold)
        ]

    @cached_property
    def for_others(self) -> HazardsOfAny:
        """What they say of any subjects."""
        sample, fold = self.event, self.event.fold
        keys = _keys(sample.y, sample.x)
        order = np.lexsort((fold, keys))  # of subjects that are alike, the one in the first fold tells it
        models = {
            k: (self.event.model_without(k), self.dropout.model_without(k))
            for k in (None, *np.unique(fold).tolist())
        }
        return HazardsOfAny(models, keys[order], fold[order].astype(np.intp), self.times)


@dataclass(frozen=True, eq=False)
class HazardsOfAny:
    """The models of event and dropout without each fold, and (None) with all of them.

    ``keys``, sorted, tell the subjects of the sample by outcome and covariates, and ``folds`` where they belong;
    ``times`` are the distinct ones of the sample.
    """

    models: dict[int | None, tuple[HazardModel, HazardModel]]
    keys: npt.NDArray[np.uint64]
    folds: IntArray
    times: FloatArray

    def parts(self, y: Survival, x: FloatArray) -> list[PartHazards]:
        """Of any subjects: of those fitted to from the other folds, of others from all."""
        keys = _keys(y, x)
        at = np.minimum(np.searchsorted(self.keys, keys), self.keys.size - 1)
        known = self.keys[at] == keys
        found: list[PartHazards] = []
        for k, (event, dropout) in self.models.items():
            rows = np.flatnonzero(~known if k is None else known & (self.folds[at] == k))
            if rows.size:
                found.append((rows, event.of(x[rows], rows, len(y)), dropout.of(x[rows], rows, len(y))))
        return found


def places(y: Survival, x: FloatArray, seed: int) -> IntArray:
    """The place of each subject in an order that does not depend on the order of the rows, nor on units.

    Covariates are hashed by their ranks. Those with the same covariates are in the order of their times, and those with
    the same outcomes as well have the same place.
    """
    key = np.full(len(y), seed, dtype=np.uint64)
    for column in x.T:
        key = _mixed(key * _STEP + np.unique(column, return_inverse=True)[1].astype(np.uint64))
    order = np.lexsort((y.event, y.time, key))
    differs = [values[order][1:] != values[order][:-1] for values in (key, y.time, y.event)]
    place = np.empty(len(y), dtype=np.intp)
    place[order] = np.concatenate(([0], np.cumsum(np.logical_or.reduce(differs))))
    return place


def dealt(place: IntArray, event: BoolArray, n_folds: int) -> IntArray:
    """The fold of each subject: those with events are dealt out first, by their places, then the others.

    Subjects in one place are dealt out too: in one fold, all who had the event at a time would be missing in what the
    others learn of that time.
    """
    fold = np.empty(place.size, dtype=np.intp)
    fold[np.lexsort((place, ~event))] = np.arange(place.size) % n_folds
    return fold


def _keys(y: Survival, x: FloatArray) -> npt.NDArray[np.uint64]:
    """A number for each subject that tells it from others, by its outcome and covariates."""
    key = np.where(y.event, np.uint64(1), np.uint64(0))
    for column in (y.time, *x.T):
        key = _mixed(key * _STEP + (np.ascontiguousarray(column) + 0.0).view(np.uint64))  # -0.0 becomes 0.0
    return key


def _mixed(key: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    key = (key ^ (key >> np.uint64(30))) * _FIRST
    key = (key ^ (key >> np.uint64(27))) * _SECOND
    return key ^ (key >> np.uint64(31))
