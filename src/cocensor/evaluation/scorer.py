"""A scorer for scikit-learn's model selection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from cocensor import metrics as _metrics
from cocensor._validation import FloatArray, check_number
from cocensor.adjustments import Adjustment
from cocensor.copulas import Copula
from cocensor.evaluation.evaluate import DEFAULT_HORIZON, N_TIMES, Horizon, as_grid, named_adjustment
from cocensor.evaluation.predictions import predicted_curves
from cocensor.metrics import Metric, time_grid
from cocensor.metrics.scoring import scores, time_average
from cocensor.outcomes import Survival


class FoldError(BaseException):
    """A fold cannot be scored.

    Not an ``Exception``: those become NaN in scikit-learn's hands, and a search would lose a fold without a word.
    """


def make_scorer(
    metric: str | Metric = "ibs",
    adjustment: str | Adjustment = "ipcw",
    *,
    copula: Copula | None = None,
    times: npt.ArrayLike | None = None,
    horizon: Horizon = None,
    y_train: Any = None,
    x_train: Any = None,
) -> Scorer:
    """A scorer for ``cross_val_score`` and ``GridSearchCV``: the negative of a score, as greater is better there.

    All folds are scored on one interval, which ``times``, ``horizon`` or ``y_train`` must fix.

    Parameters
    ----------
    metric, adjustment, copula
        As in :func:`evaluate`; one of each.
    times : array-like, optional
        Times to score at; by default 100, equally spaced from 0 to the horizon.
    horizon : number, or with ``y_train`` also "t_max" or {"at_risk": share}
        By default the largest time with at least 5 % of ``y_train`` at risk.
    y_train, x_train : outcomes and covariates, optional
        What the adjustment learns from; by default the fold that is scored.

    Examples
    --------
    >>> import cocensor as cc
    >>> from sklearn.model_selection import cross_val_score
    >>> from sksurv.datasets import load_whas500
    >>> from sksurv.linear_model import CoxPHSurvivalAnalysis
    >>> X, y = load_whas500()
    >>> frank = cc.Frank.from_tau(0.3)
    >>> scorer = cc.make_scorer(adjustment="given_prediction", copula=frank, y_train=y, horizon=1000.0)
    >>> found = cross_val_score(CoxPHSurvivalAnalysis(), X[["age", "bmi"]].astype(float), y, scoring=scorer, cv=3)
    >>> bool((found < 0).all())
    True
    """
    if times is not None:
        if horizon is not None:
            raise ValueError("horizon must be None where times are given: they end where it lies.")
        grid = as_grid(times)
    elif y_train is not None:
        grid = time_grid(y_train, n=N_TIMES, horizon=DEFAULT_HORIZON if horizon is None else horizon)
    elif horizon is not None and not isinstance(horizon, str | Mapping):
        end = check_number(horizon, "horizon", lower=0.0)
        grid = time_grid(([end], [True]), n=N_TIMES, horizon=end)
    else:
        raise ValueError("times, a horizon or y_train is needed: all folds must share one interval of time.")
    if isinstance(adjustment, Adjustment) and copula is not None:
        raise ValueError("copula must be None beside an adjustment object, which has its own.")
    made = adjustment if isinstance(adjustment, Adjustment) else named_adjustment(adjustment, copula)
    if x_train is not None and y_train is None:
        raise ValueError("y_train is needed where x_train is given.")
    if "covariates" in made.needs and y_train is not None and x_train is None:
        raise ValueError("x_train is needed beside y_train for an adjustment given covariates.")
    chosen = metric if isinstance(metric, Metric) else _metrics.metric(metric)
    return Scorer(chosen, made, grid, y_train, x_train)


@dataclass(frozen=True, eq=False, repr=False)
class Scorer:
    """What :func:`make_scorer` returns; called with a fitted estimator, covariates and outcomes."""

    metric: Metric
    adjustment: Adjustment
    times: FloatArray
    y_train: Any
    x_train: Any

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        """The negative score of what ``estimator`` predicts for ``X``."""
        try:
            found = predicted_curves(estimator, X)
            if found is None:
                raise TypeError(f"{type(estimator).__name__} has no method that predicts survival curves.")
            own = self.y_train is None
            last = min(Survival.coerce(each, "y").t_max for each in ((y,) if own else (y, self.y_train)))
            if self.times.max() > last:
                raise ValueError(f"the times reach {self.times.max():g}, and its last time is {last:g}.")
            at_times = scores(
                self.metric.loss,
                y if own else self.y_train,
                Survival.coerce(y, "y"),
                found[0],
                self.times,
                self.adjustment,
                X if own else self.x_train,
                X,
                None,
            )
            return -float(time_average(self.times, at_times, "trapezoid"))
        except Exception as error:  # whatever it is, it must not become NaN
            raise FoldError(f"a fold of {len(X)} subjects cannot be scored: {error}") from error

    def __repr__(self) -> str:
        return f"make_scorer({self.metric.name!r}, {self.adjustment!r}, until {self.times.max():g})"
