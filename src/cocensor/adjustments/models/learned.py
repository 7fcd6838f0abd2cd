"""Learned scores: what covariates say of event and dropout, predicted out of fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from zlib import crc32

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from cocensor._checks import BoolArray, FloatArray, IntArray, spelled
from cocensor._notes import Note, noted
from cocensor._numerics import GOLDEN, splitmix64
from cocensor.data import Sample
from cocensor.data.covariates import Covariates, as_covariates
from cocensor.data.ids import is_numbered
from cocensor.data.risk_table import WhichMargin

Learned = Literal["auto"] | bool
Keys = npt.NDArray[np.uint64]
KINDS: tuple[WhichMargin, ...] = ("event", "dropout")
# With fewer events, or dropouts, "auto" learns nothing of them.
_FEWEST = 100
_FOLDS = 5
_TREES: dict[str, Any] = {"max_iter": 150, "learning_rate": 0.1, "max_leaf_nodes": 4, "l2_regularization": 1}
# A tree sees which of so many groups of equal size a number is in, and the most frequent levels of a category.
_BINS, _LEVELS = 64, 255
# Splits choose among so many columns, and each fold is learned from so many subjects.
_MOST_COLUMNS, _MOST_SUBJECTS = 50, 25_000
_LARGEST = 1e38  # of single precision


@dataclass(frozen=True, eq=False)
class LearnedScores:
    r"""Log hazard ratios of events and dropouts, learned from covariates by gradient boosting.

    With H the Nelson–Aalen estimate, events are counts of mean :math:`H(t_i) e^{f(x_i)}`: f maximises their Poisson
    likelihood, which is that of proportional hazards. Subjects belong to folds by a hash of their label, or else of
    their values, and the score of a subject is that of the trees which were fitted without its fold. This holds for
    any subjects, so that one score serves those fitted to and all others. Subjects without labels whose values are the
    same are dealt out to the folds, and all have the mean of their scores.
    """

    columns: tuple[Numbers | Categories, ...]
    #: By kind and fold, the trees and their log mean rate.
    trees: Mapping[tuple[WhichMargin, int], tuple[Any, float]]
    #: The keys of more than one subject, in order, and of how many.
    copies: tuple[Keys, IntArray]
    #: Whether the subjects learned from have labels of their own.
    by_label: bool

    @classmethod
    def of(cls, test: Sample, learned: Learned) -> tuple[LearnedScores, FloatArray, tuple[Note, ...]]:
        """Learn from a sample, together with its training sample, and return the scores of its subjects by kind."""
        samples = [test] if test.train is None or test.train.x is None else [test, test.train]
        table = Covariates.joined([as_covariates(sample.x, "x_test", incomplete=True) for sample in samples])
        keys, fold, order, copies = _dealt(samples)
        columns, notes = _columns(table, np.concatenate([sample.counted for sample in samples]))
        matrix = _coded(columns, table)
        weight = np.concatenate(
            [sample.counted * 1.0 if sample.weight is None else sample.weight for sample in samples]
        )
        trees: dict[tuple[WhichMargin, int], tuple[Any, float]] = {}
        for kind in KINDS:
            happened = np.concatenate([getattr(sample.y, kind) & sample.counted for sample in samples])
            n = int(happened.sum())
            if not getattr(test.y, kind).any():
                continue
            if learned == "auto" and n < _FEWEST:
                notes.append(noted("not_learned", kind=kind, n=n, fewest=_FEWEST))
                continue
            exposure = np.concatenate([_exposure(sample, kind) for sample in samples])
            exposed = (exposure * weight)[order] > 0
            for k in range(_FOLDS):
                rows = order[exposed & (fold[order] != k)][:_MOST_SUBJECTS]
                if happened[rows].any():
                    counts, share = happened[rows] / exposure[rows], (weight * exposure)[rows]
                    trees[kind, k] = _boosted(columns, matrix[rows], counts, share)
        scores = cls(columns, trees, copies, _has_labels(test))
        return scores, scores._predicted(matrix[: len(test)], keys[: len(test)]), tuple(notes)

    @property
    def kinds(self) -> list[WhichMargin]:
        """What is learned: events, dropouts, both or nothing."""
        return list(dict.fromkeys(kind for kind, _ in self.trees))

    def of_subjects(self, sample: Sample) -> FloatArray:
        """The scores of any subjects, one column for each kind."""
        table = as_covariates(sample.x, "x_test", incomplete=True)
        return self._predicted(_coded(self.columns, table), _keys(sample, self.by_label))

    def _predicted(self, matrix: FloatArray, keys: Keys) -> FloatArray:
        several, counts = self.copies
        n = np.ones(keys.size, dtype=np.intp)
        if several.size:
            at = np.minimum(np.searchsorted(several, keys), several.size - 1)
            n = np.where(several[at] == keys, counts[at], 1)
        scores = np.zeros((len(matrix), len(self.kinds)))
        with threadpool_limits(1, "openmp"):
            for (kind, k), (boosting, level) in self.trees.items():
                place = (k - (keys % np.uint64(_FOLDS)).astype(np.intp)) % _FOLDS
                in_fold = (n - place + _FOLDS - 1) // _FOLDS
                rows = np.flatnonzero(in_fold)
                if rows.size:
                    share = in_fold[rows] / n[rows]
                    own = np.log(boosting.predict(matrix[rows])) - level
                    scores[rows, self.kinds.index(kind)] += share * own
        return scores


def _boosted(
    columns: Sequence[Numbers | Categories], matrix: FloatArray, rates: FloatArray, weight: FloatArray
) -> tuple[Any, float]:
    """Return trees for rates of what happened, and the logarithm of their mean."""
    # Late: it takes longer than all of the library.
    from sklearn.ensemble import HistGradientBoostingRegressor

    boosting = HistGradientBoostingRegressor(
        loss="poisson",
        early_stopping=False,
        categorical_features=[isinstance(column, Categories) for column in columns],
        max_features=min(1.0, _MOST_COLUMNS / len(columns)),
        random_state=0,
        **_TREES,
    )
    with threadpool_limits(1, "openmp"):
        boosting.fit(matrix, rates, sample_weight=weight)
    return boosting, float(np.log(weight @ rates / weight.sum()))


def _dealt(samples: Sequence[Sample]) -> tuple[Keys, IntArray, IntArray, tuple[Keys, IntArray]]:
    """Return keys and folds of the subjects of samples, their order by key, and the keys that several have."""
    labelled = [_has_labels(sample) for sample in samples]
    keys = np.concatenate(list(map(_keys, samples, labelled)))
    by_values = ~np.repeat(labelled, list(map(len, samples)))
    order = np.lexsort((np.concatenate([sample.y.dropout for sample in samples]), keys))
    own, first, counts = np.unique(keys[order], return_index=True, return_counts=True)
    place = (np.arange(keys.size) - np.repeat(first, counts)) * by_values[order]
    fold = np.empty(keys.size, dtype=np.intp)
    fold[order] = (keys[order] + place.astype(np.uint64)) % np.uint64(_FOLDS)
    several = (counts > 1) & by_values[order][first]
    return keys, fold, order, (own[several], counts[several])


def _exposure(sample: Sample, kind: WhichMargin) -> FloatArray:
    """The Nelson–Aalen estimate at the time of each subject."""
    steps = sample.risk_table.margin(kind)
    until = np.append(0.0, np.cumsum(steps.fraction))
    return until[np.searchsorted(steps.times, sample.y.time, side="right")]


def _labels(sample: Sample) -> Any:
    return sample.y.labels if sample.cluster is None else sample.cluster


def _has_labels(sample: Sample) -> bool:
    """Whether clusters, or labels that do not merely count, tell which subjects belong together."""
    labels = _labels(sample)
    return not (labels is None or is_numbered(labels))


def _keys(sample: Sample, by_label: bool) -> Keys:
    """A number for each subject by its cluster or label, or else by its outcome and covariates."""
    labels = _labels(sample)
    if by_label and labels is not None:
        texts = (spelled(label).encode() for label in np.asarray(labels).tolist())
        return splitmix64(np.array([crc32(text) for text in texts], dtype=np.uint64) * GOLDEN)
    table, key = as_covariates(sample.x, "x_test", incomplete=True), sample.y.event.astype(np.uint64)
    hashed = {k: np.array([crc32(level.encode()) for level in levels]) for k, levels in table.levels.items()}
    values = (hashed[k][table.codes(k)] if k in hashed else x for k, x in enumerate(table.values.T))
    for column in (sample.y.time, *values):
        key = splitmix64(key * GOLDEN + (_settled(column) + 0.0).view(np.uint64))
    return key


def _settled(values: npt.NDArray[Any]) -> FloatArray:
    """Values in single precision: rounding decides neither folds nor splits."""
    return np.clip(values, -_LARGEST, _LARGEST).astype(np.float32).astype(np.float64)


# --- covariates as trees take them ----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Numbers:
    """The numbers of a column by the quantiles that they lie between; NaN where there is none."""

    place: int
    edges: FloatArray

    def coded(self, table: Covariates) -> FloatArray:
        """Return the codes of subjects."""
        values = _settled(table.values[:, self.place])
        return np.where(np.isnan(values), np.nan, np.searchsorted(self.edges, values))


@dataclass(frozen=True, eq=False)
class Categories:
    """The levels of a column by their place; all that are not among them are one more."""

    place: int
    levels: tuple[str, ...]

    def coded(self, table: Covariates) -> FloatArray:
        """Return the codes of subjects."""
        places = table.places_among(self.levels, self.place)
        return np.where(places < 0, len(self.levels), places).astype(float)


def _columns(table: Covariates, counted: BoolArray) -> tuple[tuple[Numbers | Categories, ...], list[Note]]:
    """Return the columns of the sample learned from, and notes on levels that are taken together."""
    columns: list[Numbers | Categories] = []
    notes = []
    for k, label in enumerate(table.labels):
        if k in table.levels:
            counts = np.bincount(table.codes(k)[counted], minlength=len(table.levels[k]))
            by_size = sorted(zip(-counts, table.levels[k], strict=True))
            seen = [level for count, level in by_size if count]
            if len(seen) > _LEVELS:
                notes.append(noted("levels_grouped", covariate=label, n=len(seen), kept=_LEVELS - 1))
                seen = seen[: _LEVELS - 1]
            columns.append(Categories(k, tuple(sorted(seen))))
            continue
        values = table.values[counted & ~np.isnan(table.values[:, k]), k]
        levels = np.arange(1, _BINS) / _BINS
        edges = np.quantile(_settled(values), levels, method="inverted_cdf") if values.size else values
        columns.append(Numbers(k, np.unique(edges)))
    return tuple(columns), notes


def _coded(columns: tuple[Numbers | Categories, ...], table: Covariates) -> FloatArray:
    return np.column_stack([column.coded(table) for column in columns])
