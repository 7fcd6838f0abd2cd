"""The models that are evaluated, and versions of them that are too sure and not sure enough."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import cocensor as cc
from benchmarks.impartiality.truths import Sample
from cocensor._checks import FloatArray
from cocensor.paper.learners import learner

Curves = dict[str, FloatArray]

# Without these limits the versions would blow up what a forest says of times at which it has seen no event, or no one.
_CUMULATIVE_HAZARDS = (1e-3, 20.0)
# A split of the forest costs the number of distinct times.
_FOREST_TIMES = 100


def _cox(train: Sample, x: FloatArray, times: FloatArray) -> FloatArray:
    return learner("coxph").fit(train.x, train.y).predict(x)(times)


def _forest(train: Sample, x: FloatArray, times: FloatArray) -> FloatArray:
    values = np.quantile(train.y.time, np.arange(1, _FOREST_TIMES + 1) / _FOREST_TIMES, method="higher")
    rounded = cc.Survival(values[np.searchsorted(values, train.y.time)], train.y.event)
    forest = learner("rsf", n_estimators=50, max_depth=8, min_samples_leaf=15, max_features=3)
    return forest.fit(train.x, rounded).predict(x)(times)


def _boosting(train: Sample, x: FloatArray, times: FloatArray) -> FloatArray:
    boosting = learner("gbsa", n_estimators=100, max_depth=3, min_samples_leaf=10)
    return boosting.fit(train.x, train.y).predict(x)(times)


def _weibull(train: Sample, x: FloatArray, times: FloatArray) -> FloatArray:
    return cc.fit_joint(train.x, train.y, "independence", margins="weibull").survival(times, x)


CLASSES: dict[str, Callable[[Sample, FloatArray, FloatArray], FloatArray]] = {
    "Cox": _cox,
    "forest": _forest,
    "boosting": _boosting,
    "Weibull": _weibull,
}
#: By what the spread of log(−log Ŝ(t)) over the subjects is multiplied at every t.
VERSIONS = {"overconfident": 1.5, "underconfident": 0.6}


def predictions(
    train: Sample, x: FloatArray, times: FloatArray, classes: tuple[str, ...], versions: bool
) -> Curves:
    """Survival probabilities of the subjects ``x`` by model, at ``times``."""
    found = {name: CLASSES[name](train, x, times) for name in classes}
    if versions:
        plain = dict(found)
        found |= {
            f"{name}, {how}": spread(curves, factor)
            for how, factor in VERSIONS.items()
            for name, curves in plain.items()
        }
    return found


def spread(curves: FloatArray, factor: float) -> FloatArray:
    """Curves with ``factor`` times the spread of log(−log Ŝ) about its mean; they never rise."""
    with np.errstate(divide="ignore"):
        score = np.log(np.clip(-np.log(curves), *_CUMULATIVE_HAZARDS))
    centre = score.mean(axis=0)
    return np.minimum.accumulate(np.exp(-np.exp(centre + factor * (score - centre))), axis=1)
