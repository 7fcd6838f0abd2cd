"""A scorer for scikit-learn's model selection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray, check_number
from cocensor.adjustments import Adjustment, Fitted
from cocensor.adjustments.samples import Samples
from cocensor.copulas import Copula
from cocensor.data import Survival, TimeGrid, predict
from cocensor.metrics import Metric, time_grid
from cocensor.metrics.scoring import chosen_adjustment
from cocensor.study.plan import HorizonRule, as_metrics, as_scored_times
from cocensor.study.prepare import DEFAULT_HORIZON, N_TIMES, usable_samples


class FoldError(ValueError):
    """A fold cannot be scored. With ``error_score="raise"`` scikit-learn lets it through, else the fold is NaN.

    See Also
    --------
    survival_scorer : Its scorer raises it.
    """


def survival_scorer(
    metric: str | Metric = "ibs",
    adjustment: str | Adjustment | Fitted = "imputation",
    *,
    copula: Copula | None = None,
    covariates: str | int | Sequence[str | int] | None = "all",
    times: npt.ArrayLike | None = None,
    horizon: HorizonRule = None,
    y_train: Any = None,
    x_train: Any = None,
) -> Scorer:
    """A scorer for ``cross_val_score`` and ``GridSearchCV``: greater is better, so that a loss is negated.

    All folds are scored on one interval, which ``times``, ``horizon`` or ``y_train`` must fix.

    Parameters
    ----------
    metric, adjustment, copula, covariates
        As in :func:`evaluate`; one of each. By default candidates are judged by imputation given their own prediction,
        as one is seen at a time, and the covariates; without a copula, at independence.
    times : array-like, optional
        Times to score at; by default 100, equally spaced from 0 to the horizon.
    horizon : number, or with ``y_train`` also "t_max" or {"at_risk": share}
        By default the largest time with at least 5 % of ``y_train`` at risk.
    y_train, x_train : outcomes and covariates, optional
        What an adjustment learns from that is not given predictions; by default the fold that is scored.

    Returns
    -------
    callable
        ``scorer(estimator, X, y)``, the score as a float.

    Examples
    --------
    >>> import cocensor as cc
    >>> from sklearn.model_selection import cross_val_score
    >>> from sksurv.datasets import load_whas500
    >>> from sksurv.linear_model import CoxPHSurvivalAnalysis
    >>> X, y = load_whas500()
    >>> frank = cc.Frank.from_tau(0.3)
    >>> scorer = cc.survival_scorer(copula=frank, horizon=1000.0)
    >>> found = cross_val_score(CoxPHSurvivalAnalysis(), X[["age", "bmi"]].astype(float), y, scoring=scorer, cv=3)
    >>> bool((found < 0).all())
    True
    """
    [chosen] = as_metrics(metric)
    if times is not None:
        if horizon is not None:
            raise ValueError("horizon must be None where times are given: they end where it lies.")
        grid = as_scored_times(times, [chosen])
    elif y_train is not None:
        grid = time_grid(
            y_train, n=N_TIMES, horizon={"at_risk": DEFAULT_HORIZON.share} if horizon is None else horizon
        )
    elif horizon is not None and not isinstance(horizon, str | Mapping):
        end = check_number(horizon, "horizon", lower=0.0)
        grid = time_grid(([end], [True]), n=N_TIMES, horizon=end)
    else:
        raise ValueError("times, a horizon or y_train is needed: all folds must share one interval of time.")
    made = chosen_adjustment(adjustment, copula)
    needs = made.needs if isinstance(made, Adjustment) else frozenset()
    if x_train is not None and y_train is None:
        raise ValueError("y_train is needed where x_train is given.")
    if "covariates" in needs and y_train is not None and x_train is None:
        raise ValueError("x_train is needed beside y_train for an adjustment given covariates.")
    chosen.grid(TimeGrid.of(grid))  # refuses a time past the last
    return Scorer(chosen, made, grid, y_train, x_train, covariates)


@dataclass(frozen=True, eq=False, repr=False)
class Scorer:
    """What :func:`survival_scorer` returns; called with a fitted estimator, covariates and outcomes."""

    metric: Metric
    adjustment: Adjustment | Fitted
    times: FloatArray
    y_train: Any
    x_train: Any
    covariates: Any = "all"

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        """How well ``estimator`` predicts for ``X``; greater is better."""
        try:
            test = Survival.coerce(y, "y")
            train = None if self.y_train is None else Survival.coerce(self.y_train, "y_train")
            last = min(each.t_max for each in (test, train) if each is not None)
            if self.times.max() > last:
                raise ValueError(f"the times reach {self.times.max():g}, and its last time is {last:g}.")
            given = Samples.of(test, X, train, self.x_train)
            samples, _ = usable_samples(given, self.covariates, {repr(self.adjustment): self.adjustment})
            [(models, _, status)] = samples.weights_by_fit(
                self.adjustment, self.metric.grid(TimeGrid.of(self.times)), {"": predict(estimator, X)}
            )
            value = self.metric.evaluate(status, models)[""].value
            if not np.isfinite(value):
                raise ValueError(f"the {self.metric.label} is not defined: {self.metric.undefined}.")
            return value if self.metric.direction == "greater" else -value
        except (TypeError, ValueError) as error:
            subjects = f" of {len(X)} subjects" if hasattr(X, "__len__") else ""
            raise FoldError(f"a fold{subjects} cannot be scored: {error}") from error

    def __repr__(self) -> str:
        return f"survival_scorer({self.metric.name!r}, {self.adjustment!r}, until {self.times.max():g})"
