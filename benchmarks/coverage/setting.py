"""Two laws of event and dropout, models that were trained once, and the interval of time that they are scored on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

import cocensor as cc
from benchmarks.impartiality.truths import TRUTHS, Sample, Truth, draw
from cocensor._checks import FloatArray
from cocensor.paper.learners import learner

#: Under the last one the judge is also given the square and the product that event and dropout depend on.
LAWS: dict[str, Truth] = dict(zip(("linear", "nonlinear"), TRUTHS, strict=False))
FORM_GIVEN = "nonlinear, form given"
LAWS[FORM_GIVEN] = LAWS["nonlinear"]
#: Kendall's τ of the Clayton copula that data are drawn with, and that is assumed.
TRUE_TAUS = (0.0, 0.3, 0.6)
GRID = tuple(round(0.1 * k, 1) for k in range(9))
MODELS = ("Cox", "small Cox", "forest", "joint")
PAIRS = (("Cox", "small Cox"), ("Cox", "forest"), ("Cox", "joint"))

_N_TRAIN, _TRAIN_TAU, _N_TIMES, _AT_RISK, _N_HORIZON = 1_000, 0.3, 50, 0.1, 100_000
# No repeat has a seed as high.
TRAIN_SEED, HORIZON_SEED, POPULATION_SEED = 10_000_000, 10_000_001, 10_000_002
_SMALL = [1, 3]
_FOREST_TIMES = 100


@dataclass(frozen=True, eq=False)
class Setting:
    """A law with the models that are scored, the same under every dependence, and the times to score them at."""

    law: Truth
    form_given: bool
    times: FloatArray
    predict: dict[str, Callable[[FloatArray], FloatArray]]

    def curves(self, x: FloatArray) -> dict[str, FloatArray]:
        """Survival probabilities by model."""
        return {name: predict(x) for name, predict in self.predict.items()}

    def given(self, x: FloatArray) -> FloatArray:
        """The covariates that the judge is given."""
        return np.column_stack((x, x[:, 0] ** 2, x[:, 1] * x[:, 2])) if self.form_given else x

    def draw(self, tau: float, n: int, seed: int) -> Sample:
        """Subjects under a Clayton copula."""
        return draw(self.law, clayton(tau), n, seed)


def clayton(tau: float) -> cc.copulas.Copula:
    return cc.Clayton.from_tau(tau) if tau else cc.Independence()


@cache
def setting(law: str) -> Setting:
    """The models are trained on subjects of their own: a Cox model, one on two covariates, a forest, and a joint model.

    The joint model takes it that dropout is far more dependent than it was in training, so that who assumes more
    dependence will come to prefer it to the Cox model.
    """
    truth = LAWS[law]
    train = draw(truth, clayton(_TRAIN_TAU), _N_TRAIN, TRAIN_SEED)
    values = np.quantile(train.y.time, np.arange(1, _FOREST_TIMES + 1) / _FOREST_TIMES, method="higher")
    rounded = cc.Survival(values[np.searchsorted(values, train.y.time)], train.y.event)
    cox = learner("coxph").fit(train.x, train.y)
    small = learner("coxph").fit(train.x[:, _SMALL], train.y)
    forest = learner("rsf", n_estimators=50, max_depth=8, min_samples_leaf=15, max_features=3)
    forest.fit(train.x, rounded)
    joint = cc.fit_joint(train.x, train.y, clayton(0.6), "weibull")
    horizon = min(
        np.quantile(draw(truth, clayton(tau), _N_HORIZON, HORIZON_SEED).y.time, 1.0 - _AT_RISK)
        for tau in TRUE_TAUS
    )
    times = np.linspace(0.0, horizon, _N_TIMES + 1)[1:]
    predict = (
        lambda x: cox.predict(x)(times),
        lambda x: small.predict(x[:, _SMALL])(times),
        lambda x: forest.predict(x)(times),
        lambda x: joint.survival(times, x),
    )
    return Setting(truth, law == FORM_GIVEN, times, dict(zip(MODELS, predict, strict=True)))
