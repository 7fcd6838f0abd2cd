"""Fitting the joint model: a sample is made ready, and the fits with every copula start from it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from cocensor._cached import cached_property
from cocensor._checks import BoolArray, FloatArray, IntArray, as_weights, check_choice
from cocensor._newton import Derivatives, Minimum, minimise
from cocensor._numerics import mean_and_sd
from cocensor._parallel import one_blas_thread
from cocensor.copulas import Copula, Independence
from cocensor.copulas.registry import as_taus, walks_from_independence
from cocensor.data import Survival
from cocensor.joint.design import Design, Standardised, standardised
from cocensor.joint.estimates import fitted_model
from cocensor.joint.knots import check_enough, constant_hazard, margin_bases
from cocensor.joint.likelihood import BARRIER, Drift, Likelihood
from cocensor.joint.margins import MarginForm
from cocensor.joint.model import JointModel
from cocensor.joint.settings import (
    DEFAULT_MARGINS,
    LARGEST_TAU,
    AskedTimeKind,
    Family,
    Knots,
    Link,
    TimeKind,
    as_time_kind,
    check_settings,
    resolve_family,
    tau_slope,
)
from cocensor.warnings import FitWarning

#: Where θ starts by default, as Kendall's τ; negative ones for the families that reach them.
STARTS = (-0.6, 0.3, 0.6, 0.9)
# How many times as much barriers weigh before the lowest one.
_HIGHER_BARRIERS = (1e4, 1e3, 1e2, 1e1)
# What τ² costs where no penalty is asked for, in units of the log-likelihood of all subjects: it fades as their number
# grows, and holds θ where a few hundred subjects would take any.
_UNITS = 4.0
# τ moves by at most this much at once when margins are followed along it.
_STRIDE = 0.3
# Up to this stride the optimum is sought at once, from where so many before it point to.
_SHORT, _ON_THE_WAY = 0.12, 4
# From where a fit to other weights has ended it is a few steps; where it is more, they creep along the barrier.
_FEW_STEPS = 6
# About so many go first, of at least twice as many subjects.
_SUBSAMPLE = 25_000
# They have so many events, and dropouts, for each parameter.
_EVENTS_PER_PARAMETER = 20


@one_blas_thread
def fit_joint(
    X: Any,
    y: Any,
    copula: Family = "clayton",
    margins: MarginForm = DEFAULT_MARGINS,
    penalty: float | None = None,
    theta: float | None = None,
    starts: Sequence[float] = STARTS,
    *,
    knots: Knots = "auto",
    time_kind: AskedTimeKind = "auto",
    sample_weight: Any = None,
) -> JointModel:
    r"""Fit event and dropout given covariates, with a copula between them, by maximum likelihood.

    Minimises the mean negative log-likelihood plus :math:`\lambda(\theta - \theta_0)^2`, the squared distance from
    independence. It assumes that the margins have the stated form: the data inform on the dependence through
    nothing else.

    Parameters
    ----------
    X : array, frame or None
        Covariates (n, p), or None for a model without. Texts and categories become indicators of their levels.
    y : Survival or what it can be coerced from
        A time of 0 says nothing of a hazard: such subjects do not count. Mark an end of study as administrative:
        otherwise it passes for dropout, and a sharp end of follow-up for strong dependence.
    copula : str, class or Copula
        A family by name or class, whose θ is estimated, or a member such as ``Clayton(2.0)``, which is kept as it is.
    margins : {"spline", "weibull"}
        The form of both margins: restricted cubic splines on log time, or Weibull, as in the paper. Margins of another
        form than assumed pass for dependence, or for its absence.
    penalty : float, optional
        λ. By default :math:`4 \tau'(\theta_0)^2 / n`, so that τ costs about :math:`4 \tau^2` units of the
        log-likelihood of all n subjects in every family: λ = 1/n for Clayton, 0.05/n for Frank, 4/n for Gumbel, 1.3/n
        for Joe, 1.6/n for the Gaussian copula. That fades as n grows. A number does not: the paper's 0.01 draws a true
        θ of 2 to about 0.84 at n = 10,000. With 0 the estimate is that of maximum likelihood, and a few hundred
        subjects take any τ.
    theta : float, optional
        Keep θ at this value of the named family.
    starts : sequence of float
        Kendall's τ from which θ starts, beside independence, which is always among them; those that a family does
        not reach are left out.
    knots : int or "auto"
        Inner knots of a spline, at quantiles of the log times of what the margin is about. "auto" takes for each margin
        those with the smallest AIC of the margin alone, without covariates: 0, 1, 2, 3, 4, 6, 8, 12 or 16, with 10 or
        more events of its kind per knot, at evenly spaced quantiles or reaching into both tails. Grouped times have one
        for each time, as far as that goes.
    time_kind : {"auto", "continuous", "grouped"}
        Whether a time is a point or the end of a group such as a month. "auto" takes "grouped" when there are few
        different times; ``time_kind_reason_`` says what it found.
    sample_weight : array-like of shape (n,), optional
        Case weights: a subject of weight w counts w times, and one of weight 0 is left out. The mean negative
        log-likelihood is then :math:`-\sum w_i \ell_i / \sum w_i`, and the sum of the weights is the amount of data, in
        standard errors and in the choice of knots. Whole weights are the same as repeated rows; others need not be.
        The kind of times is decided by the subjects, whatever their weights.

    Returns
    -------
    JointModel

    Notes
    -----
    Newton's method with exact derivatives in cumulative hazards, on standardised covariates. The independence
    fit is a concave problem; from there the margins are followed to each start before θ is released. A
    :class:`FitWarning` says when the best optimum is not one.

    Examples
    --------
    >>> from cocensor.simulate import SyntheticDesign
    >>> from cocensor import Clayton, fit_joint
    >>> data = SyntheticDesign(n=5000, n_features=2, copula=Clayton(2.0)).draw(0)
    >>> model = fit_joint(data.X, data.y, "clayton", "weibull")
    >>> model.converged_, round(model.copula.tau, 2), round(model.tau_se_, 2)
    (True, 0.49, 0.03)

    References
    ----------
    Lillelund, C. M., Qi, S., Greiner, R. (2026). Overcoming dependent censoring in the evaluation of survival
    models. *UAI*.

    Royston, P., Parmar, M. K. B. (2002). Flexible parametric proportional-hazards and proportional-odds models for
    censored survival data. *Statistics in Medicine* 21, 2175–2197.
    """
    family, fixed = resolve_family(copula, theta)
    problem = JointProblem.of(
        X, y, margins=margins, penalty=penalty, knots=knots, time_kind=time_kind, sample_weight=sample_weight
    )
    return problem.fit(family, fixed, starts)


@dataclass(frozen=True, eq=False)
class JointProblem:
    """A sample made ready for fits with any copula: covariates standardised, functions of time orthonormal."""

    y: Survival  # those fitted to
    design: Design
    likelihood: Likelihood  # knows all subjects, one for each row of the design
    penalty: float | None  # as it was asked for
    time_kind: TimeKind
    time_kind_reason: str
    #: The problem whose optima the fits start from, and whether they keep its ridges.
    parent: JointProblem | None = None
    keeps_ridge: bool = False
    #: Margins that were fitted at a fixed copula, by family and τ; and the best optimum with θ estimated, by family.
    _optima: dict[type[Copula], dict[float, Minimum]] = field(init=False, default_factory=dict)
    _estimated: dict[type[Copula], Minimum] = field(init=False, default_factory=dict)

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        *,
        margins: MarginForm,
        penalty: float | None,
        knots: Knots = "auto",
        time_kind: AskedTimeKind = "auto",
        included: BoolArray | None = None,
        sample_weight: Any = None,
    ) -> JointProblem:
        """Check all arguments and prepare the sample; only those ``included`` are fitted to."""
        check_settings(margins, penalty, knots, time_kind)
        everyone = Survival.coerce(y)
        design = Design.of(X, len(everyone))
        weight = None if sample_weight is None else as_weights(sample_weight, len(everyone))
        weighty = np.ones(len(everyone), dtype=bool) if weight is None else weight > 0
        counted = (everyone.time > 0) & weighty & (True if included is None else included)
        if not counted.any():
            raise ValueError("y must have times above 0, but all of them are 0.")
        outcomes = everyone[np.flatnonzero(counted)]
        own_weight = None if weight is None else weight[counted]
        n_zero = int(((everyone.time == 0) & weighty).sum())
        if n_zero and included is None:
            warnings.warn(
                f"{n_zero} subject{'s have' if n_zero > 1 else ' has'} a time of 0, which carries no "
                f"information on a hazard: the joint model is fitted without {'them' if n_zero > 1 else 'it'}.",
                FitWarning,
                stacklevel=2,
            )
        kind, reason = as_time_kind(outcomes, time_kind)
        ends = np.unique(outcomes.time[outcomes.event | outcomes.dropout]) if kind == "grouped" else None
        n_unshrunk = design.ridge_of_effects.count("")
        bases, fewer = margin_bases(outcomes, n_unshrunk, margins, knots, ends, own_weight)
        Z, drift = standardised(design, counted, weight), None
        if design.varying:
            mean, sd = mean_and_sd(np.log(outcomes.time), own_weight)
            drift = Drift(design.varying, float(mean), float(sd) or 1.0)
        likelihood = Likelihood(everyone, Z, bases, ends, BARRIER, drift, included, weight)
        return cls(outcomes, design, likelihood, penalty, kind, reason + fewer)

    def weighted(self, sample_weight: Any, ridge: Literal["keep", "refit"] = "keep") -> JointProblem:
        """The sample with other case weights, whose fits start from the optima that are known here.

        All else stays as it is, also the barrier for those of weight 0, and the weights of the ridges, which makes fits
        smooth in the weights; "refit" chooses these again. θ is estimated from its optimum here alone.
        """
        check_choice(ridge, "ridge", ("keep", "refit"))
        everyone = self.likelihood.y
        likelihood = self.likelihood.of(everyone, self.likelihood.X, as_weights(sample_weight, len(everyone)))
        y, n_unshrunk = everyone[likelihood.subjects], self.design.ridge_of_effects.count("")
        event, dropout = likelihood.bases
        check_enough(y.n_events, event.size + n_unshrunk, "event")
        if dropout.present:
            check_enough(int(y.dropout.sum()), dropout.size + n_unshrunk, "dropout")
        return replace(self, y=y, likelihood=likelihood, parent=self, keeps_ridge=ridge == "keep")

    def fit(self, family: type[Copula], fixed: float | None, starts: Sequence[float] = STARTS) -> JointModel:
        """The model at the best local optimum over all starts, or with the margins at a fixed θ."""
        return self.optimum(family, fixed, starts)[1]

    def optimum(
        self, family: type[Copula], fixed: float | None, starts: Sequence[float] = STARTS
    ) -> tuple[Minimum, JointModel]:
        """The optimum and its model."""
        if not self.likelihood.bases[1].present and fixed is None:
            raise ValueError("y has no dropout: the dependence cannot be estimated.")
        if fixed is not None:
            optimum = self.margins_at(family(fixed))
            return optimum, fitted_model(self, family, optimum, [], fixed)
        link = Link.of(family)
        of_parent = None if self.parent is None else self.parent._estimated.get(family)
        if of_parent is not None:
            run = self._minimised(family, of_parent.point)
            if run.converged:
                tau = family(link.theta(of_parent.point[-1])).tau
                return run, fitted_model(self, family, run, [(tau, run)])
        start = self.independence.point
        runs = [(0.0, self._minimised(family, np.append(start, 0.0)))]
        taus = as_taus(starts, "starts")
        for walk in walks_from_independence(family, taus[np.abs(taus) < LARGEST_TAU]):
            point, reached = start, 0.0
            for tau in walk:
                point, reached = self._followed(family, point, reached, tau), tau
                eta = link.eta(family.from_tau(tau).theta)
                runs.append((tau, self._minimised(family, np.append(point, eta))))
        runs.sort(key=lambda run: (not np.isfinite(run[1].value), run[1].value))
        best = runs[0][1]
        self._estimated[family] = best
        return best, fitted_model(self, family, best, runs)

    @property
    def independence(self) -> Minimum:
        """The fit of both margins at independence, a concave problem."""
        return self._at_independence[0]

    @property
    def ridge(self) -> FloatArray:
        """The weight of the ridge of each parameter of the margins, chosen at independence, kept for all copulas."""
        return self._at_independence[1]

    @cached_property
    def _at_independence(self) -> tuple[Minimum, FloatArray]:
        def fit(ridge: FloatArray, start: FloatArray, **options: Any) -> Minimum:
            return self._minimised(Independence, start, fixed=0.0, ridge=ridge, **options)

        def inside(ridge: FloatArray, start: FloatArray) -> Minimum:
            """The first fit, behind ever lower barriers: at the lowest, Newton's method creeps along it from afar."""
            if self.likelihood.barriers:
                for factor in _HIGHER_BARRIERS:
                    higher = self.likelihood.with_barriers(factor)
                    start = fit(ridge, start, tolerance=0.1, likelihood=higher).point
            return fit(ridge, start)

        def near(ridge: FloatArray, start: FloatArray, **options: Any) -> Minimum:
            """A fit from a start that is close by, unless it creeps."""
            optimum = fit(ridge, start, max_iter=_FEW_STEPS, **options)
            return optimum if optimum.converged else inside(ridge, start)

        if self._before is not None:
            before, chosen = self._before._at_independence
            start = risen(self.likelihood, before.point)
            if self.keeps_ridge:
                return near(chosen, start), chosen
            # On the way to the weights a step for each choice of them will do.
            rough = partial(near, tolerance=1.0)
            last, weights = ridge_weights(self._ridges, self.likelihood.n, rough, rough, start, chosen)
            return near(weights, last.point), weights
        n_effects = len(self.design.ridge_of_effects)
        exposure = float(self.y.time.sum())
        first: list[FloatArray] = []
        for basis, happened in zip(self.likelihood.bases, (self.y.event, ~self.y.event), strict=True):
            if basis.present:
                first += [constant_hazard(basis, int(happened.sum()), exposure), np.zeros(n_effects)]
        return ridge_weights(self._ridges, self.likelihood.n, inside, fit, np.concatenate(first))

    @cached_property
    def _before(self) -> JointProblem | None:
        """The problem whose optima the fits start from: the parent, or that of some of many subjects."""
        whole, design = self.likelihood, self.design
        every = len(whole.y) // _SUBSAMPLE
        if self.parent is not None or whole.included is not None or whole.weight is not None or every < 2:
            return self.parent
        rows = np.arange(0, len(whole.y), every)
        sample, design = whole.y[rows], design[rows]
        y = sample[np.flatnonzero(sample.time > 0)]
        for basis, happened in zip(whole.bases, (y.event, y.dropout), strict=True):
            n_parameters = basis.size + len(design.ridge_of_effects)
            if basis.present and happened.sum() < _EVENTS_PER_PARAMETER * n_parameters:
                return None
        likelihood = whole.of(sample, Standardised(design.matrix, whole.X.centre, whole.X.scale))
        return replace(self, y=y, design=design, likelihood=likelihood)

    @property
    def _ridges(self) -> IntArray:
        """The number of the ridge that shrinks each parameter of the margins, −1 for none; each margin has its own."""
        names: dict[tuple[int, str], int] = {}
        numbers = []
        for margin, basis in enumerate(self.likelihood.bases):
            numbers += [-1] * basis.size
            for ridge in self.design.ridge_of_effects if basis.present else ():
                numbers.append(names.setdefault((margin, ridge), len(names)) if ridge else -1)
        return np.array(numbers)

    def margins_at(self, copula: Copula) -> Minimum:
        """The margins at a fixed copula, followed from independence, or from the nearest τ on the way that is known."""
        family, tau = type(copula), copula.tau
        fitted = self._optima.setdefault(family, {})
        if tau in fitted:
            return fitted[tau]
        before, optimum = self._before, None
        if before is not None and before is not self.parent:
            before.margins_at(copula)
        known = None if before is None else before._optima.get(family, {}).get(tau)
        if known is not None:
            start = risen(self.likelihood, known.point)
            optimum = self._minimised(family, start, fixed=copula.theta, max_iter=_FEW_STEPS)
        if optimum is None or not optimum.converged:
            optimum = self._margins_followed_to(copula)
        if optimum.converged:
            fitted[tau] = optimum
        return optimum

    def _margins_followed_to(self, copula: Copula) -> Minimum:
        """The margins at a fixed copula, from those fitted on the way to it."""
        family, tau = type(copula), copula.tau
        # A copy: another thread may add to what is fitted.
        fitted = self._optima[family].copy().items()
        on_the_way = {0.0: self.independence} | {t: at for t, at in fitted if tau and 0.0 < t / tau < 1.0}
        nearest = sorted(on_the_way, key=abs)[-_ON_THE_WAY:]
        reached, start = nearest[-1], on_the_way[nearest[-1]].point
        if abs(tau - reached) <= _SHORT:
            # Margins go on along the polynomial through the nearest.
            gaps = np.subtract.outer(nearest, nearest) + np.eye(len(nearest))
            shares = [
                np.prod((tau - np.delete(nearest, k)) / np.delete(gaps[k], k)) for k in range(len(nearest))
            ]
            point = np.array(shares) @ [on_the_way[at].point for at in nearest]
            if np.isneginf(self.likelihood.barrier_at(point)):  # a hazard would fall
                point = start
            optimum = self._minimised(family, point, fixed=copula.theta)
            if optimum.converged:
                return optimum
        return self._minimised(family, self._followed(family, start, reached, tau), fixed=copula.theta)

    def penalty_on(self, family: type[Copula]) -> float:
        """The weight λ of (θ − θ₀)² in the mean that is minimised."""
        if self.penalty is not None:
            return self.penalty
        # The same θ is another dependence in each family: what costs the same is τ, to first order from independence.
        slope = 0.0 if family is Independence else tau_slope(family(family.independence_theta))
        return _UNITS * slope**2 / self.likelihood.n

    def _followed(self, family: type[Copula], point: FloatArray, reached: float, tau: float) -> FloatArray:
        """Margins at τ, in strides from those at ``reached``; only roughly at their optimum."""
        n_strides = max(1, int(np.ceil(abs(tau - reached) / _STRIDE - 1e-9)))
        for between in np.linspace(reached, tau, n_strides + 1)[1:]:
            theta = family.from_tau(between).theta
            point = self._minimised(family, point, fixed=theta, tolerance=1.0, max_iter=20).point
        return point

    def _minimised(
        self,
        family: type[Copula],
        start: FloatArray,
        *,
        fixed: float | None = None,
        tolerance: float = 1e-8,
        max_iter: int = 200,
        ridge: FloatArray | None = None,
        likelihood: Likelihood | None = None,
    ) -> Minimum:
        """The minimum of the penalised mean, where a step promises less than ``tolerance`` in the log-likelihood."""
        likelihood = self.likelihood if likelihood is None else likelihood
        n, k, free, link = likelihood.n, likelihood.n_parameters, fixed is None, Link.of(family)
        lam, theta_0 = self.penalty_on(family), family.independence_theta
        weights = (self.ridge if ridge is None else ridge) / n

        def copula_at(point: FloatArray) -> Copula:
            return family.formulas_at(link.theta(point[-1]) if fixed is None else fixed)

        def value(point: FloatArray) -> float:
            copula = copula_at(point)
            loglik = likelihood.value(point[:k], copula)
            return -loglik / n + 0.5 * float(weights @ point[:k] ** 2) + lam * (copula.theta - theta_0) ** 2

        def derivatives(point: FloatArray) -> Derivatives:
            copula = copula_at(point)
            at, distance = likelihood.derivatives(point[:k], copula, free=free), copula.theta - theta_0
            gradient, hessian, pull = -at.gradient / n, -at.hessian / n, weights * point[:k]
            gradient[:k] += pull
            hessian[np.arange(k), np.arange(k)] += weights
            if free:
                slope, curvature = link.derivatives(point[-1])
                gradient[-1] += 2.0 * lam * distance
                hessian[-1, -1] += 2.0 * lam
                # From θ to the scale on which it is optimised.
                hessian[-1, :] *= slope
                hessian[:, -1] *= slope
                hessian[-1, -1] += curvature * gradient[-1]
                gradient[-1] *= slope
            penalties = 0.5 * float(pull @ point[:k]) + lam * distance**2
            return Derivatives(-at.value / n + penalties, gradient, hessian)

        bounds, tolerance = link.bounds if free else None, tolerance / n
        return minimise(
            derivatives, value, start, bounds=bounds, longest=1.0, tolerance=tolerance, max_iter=max_iter
        )

    def values(self, minimum: Minimum, copula: Copula) -> tuple[float, float]:
        """The penalised mean negative log-likelihood and the log-likelihood at a minimum, without the barrier."""
        margins, n = minimum.point[: self.likelihood.n_parameters], self.likelihood.n
        nll = minimum.value + self.likelihood.barrier_at(margins) / n
        penalty = self.penalty_on(type(copula)) * (copula.theta - copula.independence_theta) ** 2
        return nll, -n * (nll - penalty) + 0.5 * float(self.ridge @ margins**2)


# How much of the changes with time is tried.
_SHARES = (1.0, 0.9, 0.7, 0.4, 0.0)


def risen(likelihood: Likelihood, point: FloatArray) -> FloatArray:
    """Parameters with as much of the changes of effects with time as leaves the hazards of all subjects rising."""
    if likelihood.drift is None:
        return point
    n_drifts = len(likelihood.drift.varying)
    changes = np.concatenate([np.arange(size) >= size - n_drifts for size in likelihood.sizes])
    candidates = (np.where(changes, share, 1.0) * point for share in _SHARES)
    return next((lower for lower in candidates if np.isfinite(likelihood.barrier_at(lower))), point)


# In units of the log-likelihood for standardised columns: an effect has a prior standard deviation of 1/√weight.
_START = 1e3
_RANGE = (1e-3, 1e6)
# Weights have settled when none of them would change the effective number of effects by more than this.
_SETTLED = 0.05
_MAX_ROUNDS = 20

#: A fit with given weights for all parameters, from a start.
Fit = Callable[[FloatArray, FloatArray], Minimum]


def ridge_weights(
    ridges: IntArray, n: float, first_fit: Fit, fit: Fit, start: FloatArray, before: FloatArray | None = None
) -> tuple[Minimum, FloatArray]:
    r"""The weights that make the data most likely, effects integrated out, and the fit with them.

    Effects of ridge g have the prior :math:`N(0, 1/\lambda_g)`. The marginal likelihood (Laplace's approximation) is
    stationary where :math:`\lambda_g = d_g / \sum \hat b_j^2`, with :math:`d_g = r_g - \lambda_g \mathrm{tr}_g H^{-1}`
    the effective number of its :math:`r_g` effects and H the penalised information. That is iterated (Fellner and
    Schall; Wood and Fasiolo, 2017, *Biometrics* 73, 1071–1081). ``ridges`` are numbers, −1 for what is not shrunk.
    """
    groups = [np.flatnonzero(ridges == g) for g in range(int(ridges.max(initial=-1)) + 1)]
    # A weight before under which no effect is left would count as settled, whatever the data.
    weights = np.minimum(np.where(ridges >= 0, _START, 0.0), np.inf if before is None else before)
    optimum = first_fit(weights, start)
    for _ in range(_MAX_ROUNDS if groups else 0):
        variances = _variances(optimum.at.hessian * n)
        moved = 0.0
        for at in groups:
            old = weights[at[0]]
            effective = float(np.clip(at.size - old * variances[at].sum(), 1e-6, at.size))
            new = float(np.clip(effective / max(np.sum(optimum.point[at] ** 2), 1e-300), *_RANGE))
            moved = max(moved, abs(np.log(new / old)) * min(effective, at.size - effective))
            weights[at] = new
        optimum = fit(weights, optimum.point)
        if moved < _SETTLED:
            break
    return optimum, weights


def _variances(information: FloatArray) -> FloatArray:
    """The diagonal of its inverse; of the generalised one where it has none."""
    try:
        root = np.linalg.inv(np.linalg.cholesky(information))  # a tenth of what eigenvalues take
    except np.linalg.LinAlgError:
        return np.diag(np.linalg.pinv(information, hermitian=True))
    return np.einsum("ij,ij->j", root, root)
