"""A study that is right, and the mistakes that one makes with it."""

from dataclasses import dataclass

import numpy as np

import cocensor as cc

TIMES = np.arange(0.0, 61.0)


@dataclass(frozen=True)
class Right:
    """Outcomes in months, and the curves that they were drawn from."""

    y: cc.Survival
    risk: np.ndarray
    probabilities: np.ndarray

    @property
    def curves(self):
        return cc.Predictions(TIMES, self.probabilities)

    @property
    def flat(self):
        """One curve for everybody."""
        mean = self.probabilities.mean(axis=0)
        return cc.Predictions(TIMES, np.repeat(mean[None], len(self.y), axis=0))


def right(n=600, seed=0, effect=1.0, dropout=0.4):
    """Weibull times with two thirds of events; the curves are the truth."""
    rng = np.random.default_rng(seed)
    risk = effect * rng.normal(size=n)
    event = 24.0 * (rng.exponential(size=n) * np.exp(-risk)) ** (1 / 1.2)
    left = np.minimum(24.0 / dropout * rng.exponential(size=n), 60.0)
    curves = np.exp(-np.exp(risk)[:, None] * (TIMES / 24.0) ** 1.2)
    return Right(cc.Survival(np.minimum(event, left), event <= left), risk, curves)


def quickly(models, y, **options):
    """Evaluated under IPCW by the integrated Brier score."""
    return cc.evaluate(models, y, **({"adjustments": "ipcw", "metrics": "ibs"} | options))


def kinds(result, model):
    """The kinds of alarms about a model, of all models among them."""
    return {check.code for check in result.checks if check.model in (model, None)}


def cause(result, model):
    """The cause that disqualifies a model, by its code."""
    [found] = {check.values["cause"] for check in disqualifying(result, model)}
    return found


def disqualifying(result, model):
    """The checks that disqualify a model, of all models among them."""
    return [check for check in result.checks if check.disqualifies and check.model in (model, None)]
