"""Cox's model as a learner, and the curves of all models of proportional hazards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cocensor._checks import FloatArray, check_choice
from cocensor._numerics import row_products
from cocensor.data import Predictions, StepFunction, Survival
from cocensor.estimators import CoxPH
from cocensor.estimators.cox import Ties
from cocensor.paper.learners.base import Learner, Part


@dataclass(eq=False, kw_only=True)
class CoxLearner(Learner):
    r"""Cox's model with a ridge: :math:`S(t \mid x) = \exp(-H_0(t)\,e^{x'\beta})`.

    β maximises the partial log-likelihood less :math:`\frac\lambda2\lVert\beta\rVert^2`, by Newton's method
    (:class:`cocensor.CoxPH`). Assumes proportional hazards, and that event and censoring are independent given x.

    Parameters
    ----------
    ridge : float
        λ, the ``alpha`` of scikit-survival's ``CoxPHSurvivalAnalysis``: both penalise the sum over subjects, in
        the units of X, and give the same coefficients.
    ties : {"breslow", "efron"}
        How tied events share the partial likelihood.
    max_iter : int
        Newton steps before a :class:`cocensor.warnings.FitWarning`.

    Attributes
    ----------
    coef_ : array of shape (p,)
        β. A column that is constant in ``fit`` has the coefficient 0, which is its optimum for every λ > 0; with
        λ = 0 there is none, and such a column is refused.

    Notes
    -----
    Curves are steps at the n × (number of distinct event times) points where they fall, and stay at their last
    value beyond.

    Examples
    --------
    >>> import numpy as np
    >>> from cocensor.paper.learners import CoxLearner
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 2))
    >>> time = rng.exponential(np.exp(-X @ [1.0, -0.5]))
    >>> model = CoxLearner().fit(X, (time, np.ones(2000)))
    >>> model.coef_.round(1)
    array([ 1. , -0.5])
    >>> model.predict([[0.0, 0.0], [1.0, 0.0]])([0.5, 1.0]).round(1)
    array([[0.6, 0.4],
           [0.2, 0.1]])

    References
    ----------
    Cox, D. R. (1972). Regression models and life-tables. *Journal of the Royal Statistical Society B* 34, 187–220.
    """

    name: ClassVar[str] = "coxph"

    ridge: float = 0.01
    ties: Ties = "breslow"
    max_iter: int = 100

    def __post_init__(self) -> None:
        check_choice(self.ties, "ties", ("breslow", "efron"))
        self._model()

    def _model(self) -> CoxPH:
        return CoxPH(ties=self.ties, ridge=self.ridge, max_iter=self.max_iter)

    def _fit(self, part: Part, validation: Part | None) -> None:
        varies = np.ptp(part.X, axis=0) > 0 if self.ridge > 0 else np.ones(part.X.shape[1], bool)
        self.coef_ = np.zeros(varies.size)
        if varies.any():
            self.coef_[varies] = self._model().fit(part.X[:, varies], part.y).coef_
        self._hazards = ProportionalHazards.fit(part.y, row_products(part.X, self.coef_))

    def _predict(self, X: FloatArray) -> Predictions:
        return self._hazards.curves(row_products(X, self.coef_))


@dataclass(frozen=True, eq=False)
class ProportionalHazards:
    r"""Curves from the logarithms r(x) of relative hazards, :math:`S(t \mid x) = \exp(-H(t)\,e^{r(x) - \bar r})`.

    Breslow's estimator gives the cumulative hazard at the mean :math:`\bar r` of the training subjects,

    .. math:: H(t) = \sum_{t_j \le t} \frac{d_j}{\sum_{i: t_i \ge t_j} e^{r_i - \bar r}}

    with :math:`d_j` events at :math:`t_j`. Assumes that event and censoring are independent given x.

    Examples
    --------
    >>> hazards = ProportionalHazards.fit(Survival([1.0, 2.0, 3.0], [1, 0, 1]), np.zeros(3))
    >>> hazards.hazard.values.round(3)
    array([0.333, 1.333])
    >>> hazards.curves(np.log([1.0, 3.0])).probabilities.round(3)
    array([[0.717, 0.264],
           [0.368, 0.018]])
    """

    centre: float
    hazard: StepFunction

    @classmethod
    def fit(cls, y: Survival, log_hazard: FloatArray) -> ProportionalHazards:
        """Breslow's estimator for outcomes and the logarithms of the relative hazards."""
        centre = float(log_hazard.mean())
        latest_first = (log_hazard - centre)[y.order[::-1]]
        table = y.risk_table
        rows = table.events > 0
        at_risk = np.logaddexp.accumulate(latest_first)[table.at_risk[rows] - 1]
        steps = np.exp(np.log(table.events[rows]) - at_risk)
        hazard: FloatArray = np.cumsum(steps, dtype=np.float64)
        return cls(centre, StepFunction.trusted(table.times[rows].copy(), hazard, initial=0.0))

    def curves(self, log_hazard: FloatArray) -> Predictions:
        """One curve per subject: steps at the times of the events, the last value beyond."""
        with np.errstate(over="ignore"):
            table = np.multiply.outer(np.exp(log_hazard - self.centre), -self.hazard.values)
        np.exp(table, out=table)
        return Predictions(self.hazard.times, table, interpolation="step", tail="last")
