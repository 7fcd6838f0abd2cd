"""Hazards of event and dropout given covariates, by learners of any kind, cross-fitted."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
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
from cocensor._numerics import GOLDEN, LOG_LARGEST_HAZARD, splitmix64
from cocensor.data import Sample, StepFunction, Survival
from cocensor.data.risk_table import WhichMargin
from cocensor.data.survival import fit_weighted, structured
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
#: Of subjects that were not fitted to.
NO_FOLD = -1
_NO_HAZARD = StepFunction.trusted(np.array([]), np.array([]), initial=-np.inf)


class RiskModel(Protocol):
    """Any estimator of a risk score given covariates, in scikit-survival's manner."""

    def fit(self, X: Any, y: Any) -> Any:
        """Fit to covariates and a structured array of outcomes."""

    def predict(self, X: Any) -> Any:
        """One score per row, the higher the sooner it happens."""


Learner = Literal["cox", "forest"] | RiskModel
RiskScore = Callable[[FloatArray], FloatArray]
Learners = Literal["auto"] | Learner | tuple[Learner, ...]


def check_learners(learners: Any, name: str) -> Any:
    """Return learners as they are given: a word, an object, or a tuple of these."""
    if isinstance(learners, str) and learners == "auto":
        return learners
    several = isinstance(learners, list | tuple)
    if several and not learners:
        raise ValueError(f"{name} is empty: at least one learner is needed.")
    for learner in learners if several else [learners]:
        if isinstance(learner, str):
            check_choice(learner, name, ("cox", "forest") if several else ("auto", "cox", "forest"))
        elif isinstance(learner, type) or not (hasattr(learner, "fit") and hasattr(learner, "predict")):
            kinds = "'auto', 'cox', 'forest', an object with fit and predict, or several of these"
            raise TypeError(f"{name} must be {kinds}, but is {learner!r}.")
    return tuple(learners) if several else learners


def resolved(learners: Learners) -> tuple[Learner, ...]:
    """Return the learners themselves; by default a Cox model and, where scikit-survival is there, a forest."""
    if isinstance(learners, tuple):
        return learners
    if isinstance(learners, str) and learners == "auto":
        return ("cox", "forest") if find_spec("sksurv") else ("cox",)
    return (learners,)


def in_words(learners: tuple[Learner, ...]) -> str:
    """Return what the learners are called."""
    names = {"cox": "a Cox model", "forest": "a random survival forest"}
    words = (names[learner] if isinstance(learner, str) else type(learner).__name__ for learner in learners)
    return " and ".join(words)


@dataclass(frozen=True, eq=False)
class Hazard:
    """The cumulative hazard of each subject, a baseline times a ratio, as their logarithms."""

    log_baseline: StepFunction
    log_ratio: FloatArray

    def at(self, times: FloatArray, rows: Rows, side: Side = "right") -> FloatArray:
        """The hazard of each of ``rows`` at its own time."""
        return self.over(np.asarray(self.log_baseline(times, side)), rows)

    def over(self, log_baseline: FloatArray, rows: Rows) -> FloatArray:
        """The hazard of ``rows`` over a baseline whose logarithm is known already; the two broadcast."""
        return np.exp(np.minimum(log_baseline + self.log_ratio[rows], LOG_LARGEST_HAZARD))


@dataclass(frozen=True, eq=False)
class Nuisance:
    r"""The sample, in folds, that one margin, event or dropout, is learned from.

    Each learner is fitted with each fold left out, and gives the subjects of that fold a risk score s. A Cox model of
    these scores makes one hazard of them, :math:`\Lambda(t \mid x) = \Lambda_0(t) \exp \sum_l w_l s_l(x)` with w ≥ 0: a
    score that overfits gets a small weight. For the subjects of a fold it is fitted to the scores of the other folds.

    Learners see subjects in the order of their ``place``, which outcomes and covariates determine.
    """

    sample: Sample
    of: WhichMargin
    learners: tuple[Learner, ...]
    place: IntArray
    fold: IntArray
    seed: int

    def model_without(self, k: int) -> HazardModel:
        """The hazard given covariates, from all folds but one, or from all."""
        kept = self.fold != k
        scores = self._learned(kept) if k == NO_FOLD else self._by_fold[k]
        rows = np.flatnonzero(kept & self.sample.counted)
        own, x = self.sample[rows], self._out_of_fold[rows]
        return HazardModel(scores, _proportional(x, own.y, self.of, own.weight, rising=True))

    @cached_property
    def _out_of_fold(self) -> FloatArray:
        """Out-of-fold scores, (subjects, learners)."""
        scores = np.empty((len(self.sample), len(self.learners)))
        for k, learned in self._by_fold.items():
            scores[self.fold == k] = _scored(learned, self.sample.x[self.fold == k])
        return scores

    @cached_property
    def _by_fold(self) -> dict[int, tuple[RiskScore, ...]]:
        """The scores learned with each fold left out."""
        return {int(k): self._learned(self.fold != k) for k in np.unique(self.fold)}

    def _learned(self, fitted: BoolArray) -> tuple[RiskScore, ...]:
        """The scores of learners fitted to some of the subjects; 0 where these tell nothing."""
        rows = np.flatnonzero(fitted & self.sample.counted)
        happens = self.sample.y.event[rows] == (self.of == "event")
        if rows.size < 2 or not happens.any():
            return (_no_score,) * len(self.learners)
        order = np.argsort(self.place[rows], kind="stable")
        own, happens = self.sample[rows[order]], happens[order]
        y, x, weight = own.y, own.x, own.weight
        scores: list[RiskScore] = []
        for learner in self.learners:
            if learner == "cox":
                scores.append(_proportional(x, y, self.of, weight).score)
            elif learner == "forest":
                scores.append(_forest(x, y.time, happens, self.seed, weight))
            else:
                model: Any = copy.deepcopy(learner)  # the user's own stays as it is
                fit_weighted(model, self.of, x, structured(y.time, happens), weight)
                scores.append(partial(_own_score, model))
        return tuple(scores)


@dataclass(frozen=True, eq=False)
class HazardModel:
    """The hazard of any subjects, from the scores of learners and what makes one hazard of them."""

    scores: tuple[RiskScore, ...]
    stack: _Proportional

    def of(self, x: FloatArray, rows: Rows) -> Hazard:
        """The hazard of ``rows`` of the covariates ``x``."""
        log_ratio = np.zeros(len(x))
        log_ratio[rows] = self.stack.score(_scored(self.scores, x[rows]))
        return Hazard(self.stack.log_baseline, log_ratio)


@dataclass(frozen=True, eq=False)
class CrossFitted:
    """Hazards of event and dropout of any subjects: of those fitted to from the other folds, of others from all.

    ``keys``, sorted, tell the subjects fitted to by outcome and covariates, and ``folds`` where they belong. ``models``
    are those without each fold, fitted when needed to the samples of ``nuisances``, which a copy for others lacks.
    """

    nuisances: tuple[Nuisance, Nuisance] | None
    keys: npt.NDArray[np.uint64]
    folds: IntArray
    times: FloatArray
    models: dict[int, tuple[HazardModel, HazardModel]]

    @classmethod
    def of(cls, event: Nuisance, dropout: Nuisance) -> CrossFitted:
        """Return both margins of a sample, to be fitted when needed."""
        y, fold = event.sample.y, event.fold
        keys = _keys(y, event.sample.x)
        order = np.lexsort((fold, keys))  # of subjects that are alike, the one in the first fold tells it
        return cls((event, dropout), keys[order], fold[order], np.unique(y.time), {})

    def drawn(self, rows: Rows) -> CrossFitted:
        """Return the same of ``rows`` of the sample, which stay in their folds."""
        assert self.nuisances is not None
        event, dropout = self.nuisances
        own: dict[str, Any] = {name: getattr(event, name)[rows] for name in ("sample", "place", "fold")}
        return self.of(*(replace(margin, **own) for margin in (event, dropout)))

    @property
    def for_others(self) -> CrossFitted:
        """The models without the sample."""
        for k in (NO_FOLD, *np.unique(self.folds).tolist()):
            self._models(k)
        return replace(self, nuisances=None)

    def parts(self, y: Survival, x: FloatArray) -> Iterator[tuple[Rows, Hazard, Hazard]]:
        """Return some subjects at a time, and the hazards of their events and dropouts."""
        fold = self._fold_of(y, x)
        for k in np.unique(fold).tolist():
            rows = np.flatnonzero(fold == k)
            event, dropout = self._models(k)
            yield rows, event.of(x, rows), dropout.of(x, rows)

    def _models(self, k: int) -> tuple[HazardModel, HazardModel]:
        if k not in self.models:
            assert self.nuisances is not None
            event, dropout = self.nuisances
            self.models[k] = event.model_without(k), dropout.model_without(k)
        return self.models[k]

    def _fold_of(self, y: Survival, x: FloatArray) -> IntArray:
        if self.nuisances is not None:
            own = self.nuisances[0].sample
            pairs = ((y.time, own.y.time), (y.event, own.y.event), (x, own.x))
            if all(np.array_equal(one, other) for one, other in pairs):
                return self.nuisances[0].fold
        keys = _keys(y, x)
        at = np.minimum(np.searchsorted(self.keys, keys), self.keys.size - 1)
        return np.where(self.keys[at] == keys, self.folds[at], NO_FOLD)


def places(y: Survival, x: FloatArray, seed: int) -> IntArray:
    """The place of each subject in an order that does not depend on the order of the rows, nor on units.

    Covariates are hashed by their ranks. Those with the same covariates are in the order of their times, and those with
    the same outcomes as well have the same place.
    """
    key = np.full(len(y), seed, dtype=np.uint64)
    for column in x.T:
        key = splitmix64(key * GOLDEN + np.unique(column, return_inverse=True)[1].astype(np.uint64))
    order = np.lexsort((y.event, y.time, key))
    differs = [values[order][1:] != values[order][:-1] for values in (key, y.time, y.event)]
    place = np.empty(len(y), dtype=np.intp)
    place[order] = np.concatenate(([0], np.cumsum(np.logical_or.reduce(differs))))
    return place


def dealt(place: IntArray, event: BoolArray, n_folds: int) -> IntArray:
    """The fold of each subject: those with events are dealt out first, by their places, then the others.

    So are those in one place: else what others learn of a time could lack all who had the event then.
    """
    fold = np.empty(place.size, dtype=np.intp)
    fold[np.lexsort((place, ~event))] = np.arange(place.size) % n_folds
    return fold


def _keys(y: Survival, x: FloatArray) -> npt.NDArray[np.uint64]:
    """A number for each subject that tells it from others, by its outcome and covariates."""
    key = np.where(y.event, np.uint64(1), np.uint64(0))
    for column in (y.time, *x.T):
        bits = (np.ascontiguousarray(column) + 0.0).view(np.uint64)  # -0.0 becomes 0.0
        key = splitmix64(key * GOLDEN + bits)
    return key


@dataclass(frozen=True, eq=False)
class _Proportional:
    """A Cox model of columns, of which those that do not vary, or would count the wrong way, have no slope."""

    centre: FloatArray
    slope: FloatArray
    log_baseline: StepFunction

    def score(self, x: FloatArray) -> FloatArray:
        """The log-hazard ratio to the centre."""
        return (x - self.centre) @ self.slope


def _proportional(
    x: FloatArray, y: Survival, of: WhichMargin, weight: FloatArray | None = None, *, rising: bool = False
) -> _Proportional:
    """Fit with a small ridge, under which a constant column has the slope 0; ``rising`` allows no slope below."""
    centre, scale = centre_and_scale(x, weight)
    slope = np.zeros(scale.size)
    if not (y.event.any() if of == "event" else (~y.event).any()):
        return _Proportional(centre, slope, _NO_HAZARD)
    kept = np.flatnonzero(scale)
    while kept.size:
        z = (x[:, kept] - centre[kept]) / scale[kept]
        axes = None
        if len(z) < z.shape[1]:
            # Under a ridge the effects lie in the span of the subjects: the same model has fewer parameters.
            _, sizes, span = np.linalg.svd(z, full_matrices=False)
            axes = span[sizes > _NO_AXIS * sizes[0]].T
        model = CoxPH(of=of, ridge=_RIDGE).fit(z if axes is None else z @ axes, y, weight)
        coef = model.coef_ if axes is None else axes @ model.coef_
        if not rising or coef.min() >= 0:
            slope[kept] = coef / scale[kept]
            return _Proportional(centre, slope, model.log_baseline_at_centre_)
        kept = np.delete(kept, np.argmin(coef))
    return _Proportional(centre, slope, RiskSets(y, of, "efron", weight).log_breslow(np.zeros(len(y))))


def _forest(
    x: FloatArray, time: FloatArray, happens: BoolArray, seed: int, weight: FloatArray | None = None
) -> RiskScore:
    """The logarithm of the cumulative hazard, summed over times."""
    ensemble = need("sksurv.ensemble", "the learner 'forest'", "scikit-survival", "learners")
    levels = np.arange(1, _FOREST_TIMES + 1) / _FOREST_TIMES
    ends = np.unique(np.quantile(time, levels, method="inverted_cdf"))
    n_subjects = min(len(x), _FOREST_SUBJECTS)
    forest = ensemble.RandomSurvivalForest(**_FOREST, max_samples=n_subjects, random_state=seed)
    y = structured(ends[np.searchsorted(ends, time)], happens)
    return partial(_forest_score, forest.fit(_single(x), y, sample_weight=weight))


def _forest_score(forest: Any, x: FloatArray) -> FloatArray:
    # A leaf may have seen nothing happen.
    return np.asarray(np.log(forest.predict(_single(x)) + 1e-3))


def _single(x: FloatArray) -> FloatArray:
    """A forest knows the order of values alone, and adds them up in single precision: beyond it they are alike."""
    return np.clip(x, -_LARGEST, _LARGEST)


def _own_score(model: Any, x: FloatArray) -> FloatArray:
    """The score of a learner that is not ours."""
    name = f"what {type(model).__name__} predicts"
    score = as_vector(model.predict(x), name)
    check_length(score, name, len(x), "x")
    return score


def _no_score(x: FloatArray) -> FloatArray:
    return np.zeros(len(x))


def _scored(scores: tuple[RiskScore, ...], x: FloatArray) -> FloatArray:
    """The scores of subjects with covariates ``x``, (n, learners)."""
    return np.column_stack([score(x) for score in scores])
