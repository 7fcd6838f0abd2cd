"""Hazards of event and dropout given covariates, by learners of any kind, cross-fitted."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from cocensor._cached import cached_property
from cocensor._checks import (
    BoolArray,
    FloatArray,
    IntArray,
    Rows,
    Side,
    as_vector,
    check_choice,
    check_length,
    need,
)
from cocensor._numerics import LOG_LARGEST_HAZARD
from cocensor.data import StepFunction, Survival
from cocensor.data.risk_table import WhichMargin
from cocensor.data.survival import structured
from cocensor.estimators import CoxPH
from cocensor.estimators.cox import RiskSets, centre_and_scale

# Of standardised covariates: about as much as one more event says.
_RIDGE = 1.0
# An axis along which subjects differ by less than this share of the longest is rounding.
_NO_AXIS = 1e-10
# A forest costs (distinct times) × (subjects of a tree): both are limited.
_FOREST = {"n_estimators": 100, "min_samples_leaf": 15, "max_features": "sqrt", "low_memory": True}
_FOREST_SUBJECTS, _FOREST_TIMES = 1000, 32
_LARGEST = 1e30
_NO_HAZARD = StepFunction.trusted(np.array([]), np.array([]), initial=-np.inf)


class RiskModel(Protocol):
    """Any estimator of a risk score given covariates, in scikit-survival's manner."""

    def fit(self, X: Any, y: Any) -> Any:
        """Fit to covariates and a structured array of outcomes."""

    def predict(self, X: Any) -> Any:
        """One score per row, the higher the sooner it happens."""


Learner = Literal["cox", "forest"] | RiskModel
Learners = Literal["auto"] | Learner | tuple[Learner, ...]


def check_learners(learners: Any, name: str) -> Any:
    """Learners as they are asked for: a word, an object, or a tuple of these."""
    if isinstance(learners, str) and learners == "auto":
        return learners
    several = isinstance(learners, list | tuple)
    if several and not learners:
        raise ValueError(f"{name} is empty: at least one learner is needed.")
    for each in learners if several else [learners]:
        if isinstance(each, str):
            check_choice(each, name, ("auto", "cox", "forest") if not several else ("cox", "forest"))
        elif isinstance(each, type) or not (hasattr(each, "fit") and hasattr(each, "predict")):
            raise TypeError(
                f"{name} must be 'auto', 'cox', 'forest', an object with fit and predict, or several of these, but is "
                f"{each!r}."
            )
    return tuple(learners) if several else learners


def resolved(learners: Learners) -> tuple[Learner, ...]:
    """The learners themselves; by default a Cox model and, where scikit-survival is there, a forest."""
    if isinstance(learners, tuple):
        return learners
    if isinstance(learners, str) and learners == "auto":
        return ("cox", "forest") if find_spec("sksurv") else ("cox",)
    return (learners,)


def in_words(learners: tuple[Learner, ...]) -> str:
    """What the learners are called."""
    known = {"cox": "a Cox model", "forest": "a random survival forest"}
    return " and ".join(known[each] if isinstance(each, str) else type(each).__name__ for each in learners)


@dataclass(frozen=True, eq=False)
class Hazard:
    """The cumulative hazard of each subject, a baseline times a ratio, as their logarithms."""

    log_baseline: StepFunction
    log_ratio: FloatArray

    def at(self, times: FloatArray, rows: Rows, side: Side = "right") -> FloatArray:
        """That of each of ``rows`` at its own time."""
        return self.over(np.asarray(self.log_baseline(times, side)), rows)

    def over(self, log_baseline: FloatArray, rows: Rows) -> FloatArray:
        """That of ``rows`` over a baseline whose logarithm is known already; the two broadcast."""
        return np.exp(np.minimum(log_baseline + self.log_ratio[rows], LOG_LARGEST_HAZARD))


@dataclass(frozen=True, eq=False)
class Nuisance:
    r"""What one margin, event or dropout, is learned from: a sample in folds.

    Each learner is fitted with each fold left out, and gives the subjects of that fold a risk score s. A Cox model of
    these scores makes one hazard of them, :math:`\Lambda(t \mid x) = \Lambda_0(t) \exp \sum_l w_l s_l(x)` with w ≥ 0: a
    score that overfits gets a small weight. For the subjects of a fold it is fitted to the scores of the other folds.

    Learners see subjects in the order of their ``place``, which outcomes and covariates determine.
    """

    x: FloatArray
    y: Survival
    of: WhichMargin
    learners: tuple[Learner, ...]
    place: IntArray
    fold: IntArray
    seed: int

    def drawn(self, rows: Rows) -> Nuisance:
        """The same of ``rows``, which stay in their folds."""
        return replace(self, x=self.x[rows], y=self.y[rows], place=self.place[rows], fold=self.fold[rows])

    def of_fold(self, k: int) -> Hazard:
        """The hazard of the subjects of a fold, from the other folds."""
        stack = self._stack(self.fold != k)
        return Hazard(stack.log_baseline, stack.score(self._scores))

    def model_without(self, k: int | None) -> HazardModel:
        """The hazard given any covariates, from all folds but one, or (None) from all."""
        kept = np.full(len(self.y), True) if k is None else self.fold != k
        learned = self._learned(slice(None)) if k is None else self._by_fold[k]
        return HazardModel(learned, self._stack(kept))

    def _stack(self, fitted: Any) -> _Proportional:
        """A Cox model of the out-of-fold scores of those ``fitted``."""
        return _proportional(self._scores[fitted], self.y[fitted], self.of, rising=True)

    @cached_property
    def _scores(self) -> FloatArray:
        """Out-of-fold scores, (subjects, learners)."""
        scores = np.empty((len(self.y), len(self.learners)))
        for k, learned in self._by_fold.items():
            scores[self.fold == k] = learned.scores(self.x[self.fold == k])
        return scores

    @cached_property
    def _by_fold(self) -> dict[int, _Learned]:
        """What is learned with each fold left out."""
        return {int(k): self._learned(self.fold != k) for k in np.unique(self.fold)}

    def _learned(self, fitted: Any) -> _Learned:
        """Learners fitted to some of the subjects; none where these tell nothing."""
        rows = np.arange(len(self.y))[fitted]
        rows = rows[np.argsort(self.place[rows], kind="stable")]
        y, known = self.y[rows], self.x[rows]
        happens = y.event if self.of == "event" else ~y.event
        models: list[_Proportional | _Forest | _Own] = []
        if len(y) < 2 or not happens.any():
            return _Learned((), len(self.learners))
        for learner in self.learners:
            if isinstance(learner, str):
                cox = learner == "cox"
                models.append(
                    _proportional(known, y, self.of)
                    if cox
                    else _Forest.fitted(known, y.time, happens, self.seed)
                )
                continue
            model: Any = copy.deepcopy(learner)  # the user's own stays as it is
            model.fit(known, structured(y.time, happens))
            models.append(_Own(model))
        return _Learned(tuple(models), len(self.learners))


@dataclass(frozen=True, eq=False)
class _Learned:
    """Fitted learners; without any, all scores are 0."""

    models: tuple[_Proportional | _Forest | _Own, ...]
    n_scores: int

    def scores(self, x: FloatArray) -> FloatArray:
        """Those of subjects with covariates ``x``, (n, learners)."""
        if not self.models:
            return np.zeros((len(x), self.n_scores))
        return np.column_stack([each.score(x) for each in self.models])


@dataclass(frozen=True, eq=False)
class HazardModel:
    """The hazard of any subjects, from learners and what makes one hazard of their scores."""

    learned: _Learned
    stack: _Proportional

    def of(self, x: FloatArray, rows: Rows, n: int) -> Hazard:
        """That of ``rows``, out of ``n``, with covariates ``x``."""
        log_ratio = np.zeros(n)
        log_ratio[rows] = self.stack.score(self.learned.scores(x))
        return Hazard(self.stack.log_baseline, log_ratio)


@dataclass(frozen=True, eq=False)
class _Proportional:
    """A Cox model of standardised columns; those that do not vary, or that would count the wrong way, have none."""

    centre: FloatArray
    slope: FloatArray
    log_baseline: StepFunction

    def score(self, x: FloatArray) -> FloatArray:
        """The log-hazard ratio to the centre."""
        return (x - self.centre) @ self.slope


def _proportional(x: FloatArray, y: Survival, of: WhichMargin, *, rising: bool = False) -> _Proportional:
    """Fitted with a small ridge, under which a constant column has the slope 0; ``rising`` allows no slope below."""
    centre, scale = centre_and_scale(x)
    slope = np.zeros(scale.size)
    if not (y.event.any() if of == "event" else (~y.event).any()):
        return _Proportional(centre, slope, _NO_HAZARD)
    kept = np.flatnonzero(scale)
    while kept.size:
        z = (x[:, kept] - centre[kept]) / scale[kept]
        axes = _axes(z)
        model = CoxPH(of=of, ridge=_RIDGE).fit(z if axes is None else z @ axes, y)
        coef = model.coef_ if axes is None else axes @ model.coef_
        if not rising or coef.min() >= 0:
            slope[kept] = coef / scale[kept]
            return _Proportional(centre, slope, model.log_baseline_at_centre_)
        kept = np.delete(kept, np.argmin(coef))
    return _Proportional(centre, slope, RiskSets.build(y, of, "efron").log_breslow(np.zeros(len(y))))


def _axes(z: FloatArray) -> FloatArray | None:
    """Orthonormal columns that span the subjects, where there are fewer of these than columns; else None.

    Under a ridge the effects lie in that span, whatever its axes: the same model has fewer parameters.
    """
    if z.shape[1] <= len(z):
        return None
    _, sizes, axes = np.linalg.svd(z, full_matrices=False)
    return np.asarray(axes[sizes > _NO_AXIS * sizes[0]].T)


@dataclass(frozen=True, eq=False)
class _Forest:
    model: Any

    @classmethod
    def fitted(cls, x: FloatArray, time: FloatArray, happens: Any, seed: int) -> _Forest:
        ensemble = need("sksurv.ensemble", "the learner 'forest'", "scikit-survival", "learners")
        levels = np.arange(1, _FOREST_TIMES + 1) / _FOREST_TIMES
        ends = np.unique(np.quantile(time, levels, method="inverted_cdf"))
        forest = ensemble.RandomSurvivalForest(
            **_FOREST, max_samples=min(len(x), _FOREST_SUBJECTS), random_state=seed
        )
        return cls(forest.fit(_single(x), structured(ends[np.searchsorted(ends, time)], happens)))

    def score(self, x: FloatArray) -> FloatArray:
        """The logarithm of the cumulative hazard, summed over times."""
        # A leaf may have seen nothing happen.
        return np.asarray(np.log(self.model.predict(_single(x)) + 1e-3))


def _single(x: FloatArray) -> FloatArray:
    """A forest knows the order of values alone, and adds them up in single precision: beyond it they are alike."""
    return np.clip(x, -_LARGEST, _LARGEST)


@dataclass(frozen=True, eq=False)
class _Own:
    """A learner that is not ours."""

    model: Any

    def score(self, x: FloatArray) -> FloatArray:
        """What it predicts."""
        name = f"what {type(self.model).__name__} predicts"
        found = as_vector(self.model.predict(x), name)
        check_length(found, name, len(x), "x")
        return found


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
