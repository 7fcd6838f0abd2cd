"""Laws of event and dropout given six standard normal covariates.

In every law event and dropout given x have exactly the stated copula: u and v of the copula are the survival
probabilities of the two times given x. A hidden factor, gamma with variance 1, multiplies the hazard of the event
alone; given x it is integrated out, so that S(t | x) = 1/(1 + H(t | x)).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import ndtri

import cocensor as cc
from cocensor._checks import FloatArray

N_COVARIATES = 6
#: The share of subjects whose dropout comes first, in the population.
DROPOUT = 0.45
_CALIBRATION = 200_000
# Cumulative hazards from which bisection starts, and its steps: to 1e-11 of the cumulative hazard.
_HAZARDS, _BISECTIONS = (1e-12, 700.0), 42

#: From covariates and survival probabilities given them to times.
Law = Callable[[FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True)
class Truth:
    """How event and dropout depend on covariates, each given its survival probability."""

    name: str
    event: Law
    dropout: Law


@dataclass(frozen=True)
class Sample:
    """Subjects with both of their times."""

    x: FloatArray
    y: cc.Survival
    event_time: FloatArray

    def __getitem__(self, rows: slice) -> Sample:
        return Sample(self.x[rows], self.y[rows], self.event_time[rows])


def draw(truth: Truth, copula: cc.copulas.Copula, n: int, seed: int) -> Sample:
    rng = np.random.default_rng(seed)
    x, event, dropout = _latent(truth, copula, n, rng)
    return Sample(x, cc.Survival.from_latent(event, dropout * _dropout_scale(truth, copula)), event)


def _latent(
    truth: Truth, copula: cc.copulas.Copula, n: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray]:
    x = rng.standard_normal((n, N_COVARIATES))
    u, v = copula.sample(n, rng).T
    return x, truth.event(x, u), truth.dropout(x, v)


@cache
def _dropout_scale(truth: Truth, copula: cc.copulas.Copula) -> float:
    """What dropout times are multiplied with, so that the wanted share of them comes first."""
    _, event, dropout = _latent(truth, copula, _CALIBRATION, np.random.default_rng(0))
    return float(np.quantile(event / dropout, 1.0 - DROPOUT))


def true_law(truth: Truth, copula: cc.copulas.Copula, x: FloatArray) -> cc.adjustments.TrueLaw:
    """The imputation that knows the law of subjects ``x``: what it is off by is chance alone."""
    scale = _dropout_scale(truth, copula)

    def event(t: FloatArray) -> FloatArray:
        return survival(truth.event, x, t)

    def dropout(t: FloatArray) -> FloatArray:
        return survival(truth.dropout, x, t / scale)

    def events(times: FloatArray) -> FloatArray:
        return np.column_stack([event(np.full(len(x), t)) for t in times])

    return cc.adjustments.TrueLaw(copula, events, event, dropout)


def survival(law: Law, x: FloatArray, t: FloatArray) -> FloatArray:
    """The survival probability at which a law has the time ``t`` of each subject, by bisection of its −log."""
    low, high = (np.full(len(x), np.log(end)) for end in _HAZARDS)
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        early = law(x, np.exp(-np.exp(middle))) < t
        low, high = np.where(early, middle, low), np.where(early, high, middle)
    return np.exp(-np.exp(high))


def _weibull(hazard: FloatArray, risk: FloatArray, shape: float | FloatArray) -> FloatArray:
    """The time at which exp(risk) t^shape reaches ``hazard``."""
    return (hazard * np.exp(-risk)) ** (1.0 / shape)


# --- truths of the study -------------------------------------------------------------------------------


def _linear_risk(x: FloatArray) -> FloatArray:
    return 0.7 * x[:, 0] + 0.5 * x[:, 1] - 0.4 * x[:, 2] + 0.3 * x[:, 3]


def _linear_event(x: FloatArray, u: FloatArray) -> FloatArray:
    return _weibull(-np.log(u), _linear_risk(x), 1.5)


def _linear_dropout(x: FloatArray, v: FloatArray) -> FloatArray:
    return _weibull(-np.log(v), 0.5 * x[:, 0] - 0.4 * x[:, 4], 1.2)


def _curved_event(x: FloatArray, u: FloatArray) -> FloatArray:
    risk = 0.8 * (x[:, 0] ** 2 - 1.0) + 0.6 * x[:, 1] * x[:, 2] + 0.4 * x[:, 3]
    return _weibull(-np.log(u), risk, 1.5)


def _curved_dropout(x: FloatArray, v: FloatArray) -> FloatArray:
    return _weibull(-np.log(v), 0.5 * (x[:, 0] ** 2 - 1.0) + 0.4 * x[:, 4], 1.2)


def _crossing_event(x: FloatArray, u: FloatArray) -> FloatArray:
    return _weibull(-np.log(u), 0.5 * x[:, 1] + 0.3 * x[:, 2], np.where(x[:, 0] > 0.0, 2.8, 0.8))


def _crossing_dropout(x: FloatArray, v: FloatArray) -> FloatArray:
    return _weibull(-np.log(v), 0.4 * x[:, 0] + 0.4 * x[:, 1] + 0.3 * x[:, 3], 1.2)


def _hidden_event(x: FloatArray, u: FloatArray) -> FloatArray:
    return _weibull(1.0 / u - 1.0, _linear_risk(x), 1.5)


TRUTHS = (
    Truth("linear", _linear_event, _linear_dropout),
    Truth("squares and interactions", _curved_event, _curved_dropout),
    Truth("crossing hazards", _crossing_event, _crossing_dropout),
    Truth("hidden factor", _hidden_event, _linear_dropout),
)


# --- forms of margins, dropout that depends on nothing -------------------------------------------------


def _gompertz_event(x: FloatArray, u: FloatArray) -> FloatArray:
    return np.log1p(-10.0 * np.log(u) * np.exp(-_linear_risk(x))) / 2.0


def _log_normal_event(x: FloatArray, u: FloatArray) -> FloatArray:
    return np.exp(-0.7 * ndtri(u) - 0.6 * _linear_risk(x))


def _bathtub_event(x: FloatArray, u: FloatArray) -> FloatArray:
    """Its cumulative hazard is .8 √t + .4 t⁴, times exp(risk)."""
    t = np.geomspace(1e-14, 1e2, 20_000)
    return np.interp(-np.log(u) * np.exp(-_linear_risk(x)), 0.8 * np.sqrt(t) + 0.4 * t**4, t)


def _plain_dropout(x: FloatArray, v: FloatArray) -> FloatArray:
    return -np.log(v)


def _two_waves(x: FloatArray, v: FloatArray) -> FloatArray:
    """Half leave about time .35, half about 1.1."""
    early = v < 0.5
    level = np.where(early, 2.0 * v, 2.0 * v - 1.0)
    return np.maximum(np.where(early, 0.35 + 0.06 * ndtri(level), 1.1 + 0.12 * ndtri(level)), 0.01)


FORMS = (
    Truth("Gompertz", _gompertz_event, _plain_dropout),
    Truth("log-normal", _log_normal_event, _plain_dropout),
    Truth("bathtub", _bathtub_event, _plain_dropout),
    Truth("Weibull, dropout in two waves", _linear_event, _two_waves),
)
