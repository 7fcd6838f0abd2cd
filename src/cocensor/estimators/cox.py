"""Cox's proportional-hazards model."""

from __future__ import annotations

import warnings
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from cocensor._checks import (
    FloatArray,
    as_matrix,
    as_vector,
    as_weights,
    check_choice,
    check_length,
    check_number,
    refuse_first,
)
from cocensor._newton import Derivatives, Minimum, minimise
from cocensor._numerics import by_weight, mean_and_sd, row_products, squares_beyond
from cocensor._parallel import one_blas_thread
from cocensor.data import Predictions, StepFunction, Survival
from cocensor.data.covariates import check_width, column_names
from cocensor.data.risk_table import WhichMargin
from cocensor.warnings import FitWarning

# Information that has shrunk to this share of what it was at 0 tells of a coefficient on its way to infinity.
_VANISHED = 1e-6


class CoxPH:
    r"""Proportional hazards, :math:`S(t \mid x) = \exp(-H_0(t)\,e^{x'\beta})`, by partial likelihood.

    Assumes that event and censoring are independent given x.

    Parameters
    ----------
    ties : {"efron", "breslow"}
        How tied events share the partial likelihood.
    ridge : float
        Weight λ of the penalty :math:`\frac\lambda2\lVert\beta\rVert^2` on the log-likelihood.
    of : {"event", "dropout"}
        Whose hazard. For dropouts, events tied with them have left the risk set before.
    max_iter : int
        Newton steps before a :class:`FitWarning`.

    Attributes
    ----------
    coef_ : array of shape (p,)
    covariance_ : array of shape (p, p)
        The inverse of the observed (penalised) information.
    log_likelihood_ : float
        The partial log-likelihood, without the penalty.
    centre_, baseline_at_centre_ : array of shape (p,), StepFunction
        The means of the covariates, and Breslow's cumulative baseline hazard there; ``log_baseline_at_centre_`` is its
        logarithm, which no hazard ratio takes out of double precision.
    converged_, n_iter_ : bool, int

    Notes
    -----
    Newton's method with step halving on centred and scaled covariates. After one sort an iteration costs
    O(n p²) and keeps a few n × p arrays.

    Examples
    --------
    >>> import numpy as np
    >>> from cocensor import CoxPH, Survival
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(5000, 2))
    >>> time = rng.exponential(np.exp(-X @ [1.0, -0.5]))
    >>> CoxPH().fit(X, Survival.from_latent(time, 2.0)).coef_.round(1)
    array([ 1. , -0.5])

    References
    ----------
    Cox, D. R. (1972). Regression models and life-tables. *Journal of the Royal Statistical Society B* 34, 187–220.

    Efron, B. (1977). The efficiency of Cox's likelihood function for censored data. *Journal of the American
    Statistical Association* 72, 557–565.
    """

    def __init__(
        self, ties: Ties = "efron", ridge: float = 0.0, of: WhichMargin = "event", max_iter: int = 50
    ) -> None:
        check_choice(ties, "ties", ("efron", "breslow"))
        check_choice(of, "of", ("event", "dropout"))
        self.ridge = check_number(ridge, "ridge")
        if self.ridge < 0:
            raise ValueError(f"ridge must not be negative, but is {ridge}.")
        if not isinstance(max_iter, int) or max_iter < 1:
            raise ValueError(f"max_iter must be a whole number above 0, but is {max_iter!r}.")
        self.ties, self.of, self.max_iter = ties, of, max_iter

    def __repr__(self) -> str:
        return f"CoxPH(ties={self.ties!r}, ridge={self.ridge:g}, of={self.of!r})"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        r"""Fit to covariates (n, p) and outcomes.

        ``sample_weight`` are case weights :math:`w_i`: a subject of weight w counts w times, and one of weight 0 is
        left out. With :math:`\mathcal R_j` those at risk at an event time and :math:`D_j` the d events tied there,
        the log-likelihood is

        .. math:: \sum_j \sum_{i \in D_j} w_i x_i'\beta - \sum_j \bar w_j \sum_{r=0}^{d-1}
            \log\Bigl(\sum_{i \in \mathcal R_j} w_i e^{x_i'\beta} - \tfrac rd \sum_{i \in D_j} w_i e^{x_i'\beta}\Bigr),
            \qquad \bar w_j = \tfrac1d \sum_{i \in D_j} w_i,

        with Efron's correction, and without the terms in r/d with Breslow's. Under Breslow's, whole weights are the
        same as repeated rows. Under Efron's they are not, because repeated rows would be corrected as if they were
        ties: this is the convention of R's ``coxph``, which is smooth in the weights and whose coefficients do not
        depend on their unit. The covariance is that of so many cases: it does depend on it.
        """
        self._columns = column_names(X)
        X = as_matrix(X, "X")
        check_width(X.shape[1], "X")
        outcomes = Survival.coerce(y)
        check_length(X, "X", len(outcomes), "y")
        weight, unit = None, 1.0
        if sample_weight is not None:
            weight = as_weights(sample_weight, len(outcomes))
            counted = np.flatnonzero(weight)
            X, outcomes, weight = X[counted], outcomes[counted], weight[counted]
            # The optimiser sees weights around 1.
            unit = float(weight.mean())
            weight = weight / unit
        sets = RiskSets(outcomes, self.of, self.ties, weight)
        if not sets.happens.any():
            raise ValueError(f"y has no {'event' if self.of == 'event' else 'dropout'}: nothing to fit.")
        centre, scale = centre_and_scale(X, weight)
        if (scale == 0).any():
            raise ValueError(f"X must vary in every column, but column {int(np.argmin(scale))} is constant.")
        Z = ((X - centre) / scale)[sets.order]
        # The penalty is on the coefficients of the user's own units.
        penalty = self.ridge / scale**2 / unit
        with one_blas_thread:
            optimum = self._minimised(Z, sets, penalty)
            inverse = inverse_or_nan(optimum.at.hessian)
        coef = optimum.point
        self.coef_ = coef / scale
        self.covariance_ = inverse / np.outer(scale, scale) / unit
        n_happened = float(sets.times.size if sets.event_weight is None else sets.event_weight.sum())
        unpenalised = -optimum.value + 0.5 * float(penalty @ coef**2)
        self.log_likelihood_ = unit * (unpenalised - n_happened * np.log(unit))
        self.centre_, self.log_baseline_at_centre_ = centre, sets.log_breslow(Z @ coef)
        return self

    @property
    def baseline_(self) -> StepFunction:
        """Breslow's cumulative baseline hazard at x = 0, which may be far from the data."""
        self._check_fitted()
        return self._baseline(self.log_relative_hazard(np.zeros((1, self.coef_.size)))[0])

    @property
    def baseline_at_centre_(self) -> StepFunction:
        """Breslow's cumulative baseline hazard at the means of the covariates."""
        return self._baseline(0.0)

    def predict(self, X: Any) -> FloatArray:
        r"""The log-hazard ratio :math:`x'\beta` of each row."""
        return row_products(self._design(X), self.coef_)

    def survival(self, times: npt.ArrayLike, X: Any) -> FloatArray:
        """S(t given x) of each row at ``times``, (n, len(times)); constant beyond the last event."""
        log_ratio = self.log_relative_hazard(X)[:, None]
        times = as_vector(times, "times", single=True, negative=False)
        return from_log_hazard(self.log_baseline_at_centre_(times) + log_ratio)

    def relative_hazard(self, X: Any) -> FloatArray:
        r"""The hazard of each row relative to that at the centre of the training data."""
        with np.errstate(over="ignore"):
            return np.exp(self.log_relative_hazard(X))

    def log_relative_hazard(self, X: Any) -> FloatArray:
        r"""The log-hazard ratio of each row to the centre of the training data."""
        design = self._design(X)
        with np.errstate(over="ignore", invalid="ignore"):
            log_ratio = row_products(design - self.centre_, self.coef_)
        if not np.isfinite(log_ratio).all():
            refuse_first(~np.isfinite(log_ratio), log_ratio, "X must have finite log-hazard ratios")
        return log_ratio

    def predict_survival_function(self, X: Any) -> Predictions:
        """Survival curves of all rows, as steps at the times of the events: n × (number of such times)."""
        self._check_fitted()
        times = self.log_baseline_at_centre_.times
        return Predictions(times, self.survival(times, X), interpolation="step", tail="last")

    def _design(self, X: Any) -> FloatArray:
        self._check_fitted()
        names = column_names(X)
        if names is not None and self._columns is not None and names != self._columns:
            raise ValueError(f"X must have the columns {self._columns} in this order, but has {names}.")
        X = as_matrix(X, "X")
        if X.shape[1] != self.coef_.size:
            raise ValueError(f"X must have {self.coef_.size} columns, as in fit, but has {X.shape[1]}.")
        return X

    def _baseline(self, log_ratio: float) -> StepFunction:
        self._check_fitted()
        at_centre = self.log_baseline_at_centre_
        with np.errstate(over="ignore"):
            return StepFunction(at_centre.times, np.exp(at_centre.values + log_ratio), initial=0.0)

    def _check_fitted(self) -> None:
        if not hasattr(self, "coef_"):
            raise ValueError("CoxPH is not fitted: call fit(X, y) first.")

    def _minimised(self, Z: FloatArray, sets: RiskSets, penalty: FloatArray) -> Minimum:
        least_at_start: list[float] = []

        def vanished(at: Derivatives) -> bool:
            own, curvature = np.diag(at.hessian), np.linalg.eigvalsh(at.hessian)
            if not least_at_start:
                # Covariates may tell nothing alone, or beside the others.
                if own.size and own.min() <= 1e-12 * own.max():
                    raise ValueError(
                        f"X must vary among those at risk at the event times, but column {int(np.argmin(own))} does "
                        "not: leave it out, or set ridge above 0."
                    )
                if curvature[0] <= 1e-12 * curvature[-1]:
                    raise ValueError("X has linearly dependent columns: leave one out, or set ridge above 0.")
                least_at_start.append(curvature[0])
            return bool(curvature[0] <= _VANISHED * least_at_start[0])

        # Quadratic convergence: once a step promises this little, the next one is rounding. In units of Breslow's
        # log-likelihood at coefficients of 0, the sum over events of the log of those at risk.
        tolerance = 0.5e-13 * max(1.0, float(np.log(sets.order.size - sets.start).sum()))
        optimum = minimise(
            lambda coef: sets.derivatives(Z, coef, penalty),
            None,
            np.zeros(Z.shape[1]),
            tolerance=tolerance,
            max_iter=self.max_iter,
            slack=1e-12,
            hopeless=vanished,
        )
        self.converged_, self.n_iter_ = optimum.converged, optimum.n_iter
        if not optimum.converged:
            warnings.warn(
                f"CoxPH did not converge in {self.n_iter_} iterations: a covariate may separate events from the rest, "
                "so that its coefficient has no finite estimate; set ridge above 0.",
                FitWarning,
                stacklevel=3,
            )
        return optimum


def centre_and_scale(
    X: FloatArray, weight: FloatArray | None = None, columns: tuple[str, ...] | None = None
) -> tuple[FloatArray, FloatArray]:
    """Means and standard deviations of covariates, 0 for what is constant up to rounding; refuses extreme ones."""
    centre, scale = mean_and_sd(X, weight)
    outside = squares_beyond(scale)
    if outside.any():
        column = int(np.argmax(outside))
        named = column if columns is None else repr(columns[column])
        raise ValueError(
            f"X must have values of moderate size, but column {named} reaches "
            f"{np.abs(X[:, column]).max():g}: use another unit."
        )
    return centre, np.where(scale <= 1e-12 * np.maximum(np.abs(centre), 1e-300), 0.0, scale)


def inverse_or_nan(information: FloatArray) -> FloatArray:
    """The inverse; NaN where coefficients have run off until no information is left."""
    try:
        return np.asarray(np.linalg.inv(information), dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.full(information.shape, np.nan)


def from_log_hazard(log_hazard: FloatArray) -> FloatArray:
    """The survival probability at the logarithm of a cumulative hazard, whatever its size."""
    with np.errstate(over="ignore"):
        return np.exp(-np.exp(log_hazard))


Ties = Literal["efron", "breslow"]
# A risk set that weighs less than this share of the heaviest subject is beyond double precision.
_LIGHTEST = 1e-280


class RiskSets:
    """Subjects sorted by time, in groups that leave the risk set together; one row per event that happens.

    A tied event r of d in its group sees the sum over the risk set less the share ``discount[r]`` of the sum
    over the tied ones: r/d with Efron's correction, 0 with Breslow's. With case weights these are sums of weights, and
    each of the d events counts by the mean of their weights. Of dropouts, events tied with them have left before.
    """

    def __init__(self, y: Survival, of: WhichMargin, ties: Ties, weight: FloatArray | None = None) -> None:
        self.order = order = y.order if of == "event" else np.lexsort((~y.event, y.time))
        time, event = y.time[order], y.event[order]
        new = np.diff(time, prepend=-1.0) > 0
        if of == "dropout":
            new[1:] |= event[1:] != event[:-1]
        # Of each sorted subject.
        self.happens = happens = event if of == "event" else y.dropout[order]
        self.group = np.cumsum(new) - 1
        self.weight = None if weight is None else weight[order]
        # Of each event; its risk set is from the sorted subject ``start`` on.
        self.event_group = group = self.group[happens]
        self.start, self.times = np.flatnonzero(new)[group], time[happens]
        tied = np.bincount(group)[group]
        position = np.arange(group.size) - np.searchsorted(group, group)
        self.discount = position / tied if ties == "efron" else np.zeros(group.size)
        self.event_weight = None
        if self.weight is not None:
            self.event_weight = np.bincount(group, self.weight[happens])[group] / tied

    def derivatives(self, Z: FloatArray, coef: FloatArray, penalty: FloatArray) -> Derivatives:
        """The negative penalised log-likelihood and its derivatives; infinite where no double holds the weights."""
        relative = Z @ coef
        shift = relative.max()
        weight = by_weight(np.exp(relative - shift), self.weight)
        sums, means = self._seen(Z, weight)
        if sums.min() < _LIGHTEST:
            return Derivatives(np.inf, np.full_like(coef, np.nan), np.full((coef.size, coef.size), np.nan))
        own_weight = None if self.weight is None else self.weight[self.happens]
        at_events = np.sum(by_weight(relative[self.happens] - shift, own_weight))
        value = float(at_events - np.sum(by_weight(np.log(sums), self.event_weight)))
        counted = by_weight(means, self.event_weight)
        gradient = by_weight(Z[self.happens], own_weight).sum(axis=0) - counted.sum(axis=0)
        # Σ over events of the second moments, gathered by subject: each takes part with the hazard it has met.
        met = self._met(by_weight(1.0 / sums, self.event_weight))
        information = (Z * (weight * met)[:, None]).T @ Z - counted.T @ means
        value -= 0.5 * float(penalty @ coef**2)
        return Derivatives(-value, penalty * coef - gradient, information + np.diag(penalty))

    def log_breslow(self, relative: FloatArray) -> StepFunction:
        """The logarithm of H₀ = Σ d_j / Σ_{risk set} exp(x'β), both sums of weights."""
        shift = relative.max()
        at_risk = self.over_risk_sets(by_weight(np.exp(relative - shift), self.weight))
        times, index = np.unique(self.times, return_inverse=True)
        steps = by_weight(1.0 / at_risk, self.event_weight)
        hazard = np.cumsum(np.bincount(index, steps), dtype=np.float64)
        return StepFunction.trusted(times, np.log(hazard) - shift, initial=-np.inf)

    def over_risk_sets(self, values: FloatArray) -> FloatArray:
        """For each event the sum of what sorted subjects have over its risk set."""
        return np.add.accumulate(values[::-1], axis=0)[::-1][self.start]

    def score_residuals(self, Z: FloatArray, exposure: FloatArray) -> FloatArray:
        r"""The derivative of the log-likelihood's gradient by the case weight of each sorted subject, times that.

        With :math:`e_j` the ``exposure``, :math:`w_j e^{x'\beta}`, :math:`S_r` the sum of these that event r sees,
        :math:`m_r` the mean of x in it and :math:`c_{rj}` the share that subject j has in it, it is
        :math:`w_j\delta_j(x_j - \bar m_j) - e_j \sum_r \bar w_r c_{rj}(x_j - m_r)/S_r`, where :math:`\bar m_j` is the
        mean over the events tied with that of j. They sum to the gradient.
        """
        sums, means = self._seen(Z, exposure)
        steps = np.column_stack((np.ones(sums.size), means)) / sums[:, None]
        met = self._met(by_weight(steps, self.event_weight))
        residuals: FloatArray = exposure[:, None] * (met[:, 1:] - Z * met[:, :1])
        count = np.bincount(self.event_group)[self.event_group]
        gain = Z[self.happens] - self._by_group(means)[self.event_group] / count[:, None]
        residuals[self.happens] += by_weight(gain, None if self.weight is None else self.weight[self.happens])
        return residuals

    def _seen(self, Z: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The sum of weights that each event sees, and the means of covariates by them."""

        def seen(values: FloatArray) -> FloatArray:
            tied = self._by_group(values[self.happens])[self.event_group]
            return self.over_risk_sets(values) - by_weight(tied, self.discount)

        sums = seen(weight)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return sums, seen(Z * weight[:, None]) / sums[:, None]

    def _met(self, steps: FloatArray) -> FloatArray:
        """For each subject the sum of the events' ``steps`` that saw it, each by the share that it had."""
        own = self._by_group(by_weight(steps, self.discount))[self.group]
        own[~self.happens] = 0.0
        return np.cumsum(self._by_group(steps), axis=0)[self.group] - own

    def _by_group(self, per_event: FloatArray) -> FloatArray:
        """The sums of rows ``per_event`` over the events of each group."""
        total = np.zeros((self.group[-1] + 1, *per_event.shape[1:]))
        first = np.flatnonzero(np.diff(self.event_group, prepend=-1))
        total[self.event_group[first]] = np.add.reduceat(per_event, first, axis=0)
        return total
