"""Fitting the joint model."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from cocensor._validation import (
    ConvergenceWarning,
    FloatArray,
    as_matrix,
    as_vector,
    check_choice,
    check_length,
    check_number,
    check_whole,
    column_names,
)
from cocensor.copulas import Copula, Independence, copula_families
from cocensor.joint.likelihood import Derivatives, Likelihood
from cocensor.joint.link import LARGEST_TAU, Link, tau_slope
from cocensor.joint.margins import MARGINS, Basis, Margin, Margins
from cocensor.joint.model import JointModel, Start, refuse_zero
from cocensor.joint.newton import Minimum, minimise
from cocensor.outcomes import Survival

Times = Literal["auto", "continuous", "grouped"]
Family = str | type[Copula] | Copula

#: Where θ starts by default, as Kendall's τ; negative ones for the families that reach them.
STARTS = (-0.6, 0.3, 0.6, 0.9)
# Times count as grouped when at least half of the subjects share theirs with this part of the sample.
_SHARED = 0.01
# Keeps splines rising, in units of the log-likelihood: where they rise anyway it moves that by less than 1e-6.
_BARRIER = 1e-4
# A standardised coefficient with a standard error above this is not known at all.
_UNKNOWN = 100.0
# τ moves by at most this much at once when margins are followed along it.
_STRIDE = 0.3


def fit_joint(
    X: Any,
    y: Any,
    copula: Family = "clayton",
    margins: Margins = "weibull",
    penalty: float = 0.01,
    theta: float | None = None,
    starts: Sequence[float] = STARTS,
    *,
    knots: int = 3,
    times: Times = "auto",
) -> JointModel:
    r"""Fit event and dropout given covariates, with a copula between them, by maximum likelihood.

    Minimises the mean negative log-likelihood plus :math:`\lambda(\theta - \theta_0)^2`, the squared distance from
    independence. It assumes that the margins have the stated form: the data tell about the dependence through
    nothing else.

    Parameters
    ----------
    X : array, frame or None
        Covariates (n, p), or None for a model without.
    y : Survival or what it can be coerced from
        All times above 0. Mark an end of study as administrative: otherwise it passes for dropout, and a sharp end
        of follow-up for strong dependence.
    copula : str, class or Copula
        A family by name or class, whose θ is estimated, or a member such as ``Clayton(2.0)``, which is kept as it is.
    margins : {"weibull", "spline"}
        The form of both margins: Weibull, or restricted cubic splines on log time.
    penalty : float
        λ. It does not fade as n grows: the paper's 0.01 draws a true θ of 2 to about 0.84 at n = 10,000. With 0 the
        estimate is that of maximum likelihood.
    theta : float, optional
        Keep θ at this value of the named family.
    starts : sequence of float
        Kendall's τ from which θ starts, beside independence, which is always among them; those that a family does
        not reach are left out.
    knots : int
        Inner knots of a spline, at quantiles of the log times of what the margin is about.
    times : {"auto", "continuous", "grouped"}
        Whether a time is a point or the end of a group such as a month. "auto" takes "grouped" when there are few
        different times; ``times_reason_`` says what it found.

    Returns
    -------
    JointModel

    Notes
    -----
    Newton's method with exact derivatives in cumulative hazards, on standardised covariates. The independence
    fit is a concave problem; from there the margins are followed to each start before θ is released. A
    :class:`ConvergenceWarning` says when the best optimum is not one.

    Examples
    --------
    >>> from cocensor.simulate import SyntheticDesign
    >>> from cocensor import Clayton
    >>> data = SyntheticDesign(n=5000, n_features=2, copula=Clayton(2.0)).draw(0)
    >>> model = fit_joint(data.X, data.y, "clayton", penalty=0)
    >>> model.converged_, round(model.copula.tau, 2), round(model.tau_se_, 2)
    (True, 0.52, 0.03)

    References
    ----------
    Lillelund, C. M., Qi, S., Greiner, R. (2026). Overcoming dependent censoring in the evaluation of survival
    models. *UAI*.

    Royston, P., Parmar, M. K. B. (2002). Flexible parametric proportional-hazards and proportional-odds models for
    censored survival data. *Statistics in Medicine* 21, 2175–2197.
    """
    family, fixed = resolve_family(copula, theta)
    problem = JointProblem.of(X, y, margins=margins, penalty=penalty, knots=knots, times=times)
    return problem.fit(family, fixed, starts)


def resolve_family(copula: Any, theta: float | None = None) -> tuple[type[Copula], float | None]:
    """The family, and its θ if that is given."""
    if isinstance(copula, Copula):
        if theta is not None:
            raise ValueError(f"theta must be None where copula has its own, but is {theta}.")
        return type(copula), copula.theta
    if isinstance(copula, str):
        check_choice(copula.lower(), "copula", tuple(copula_families()))
        copula = copula_families()[copula.lower()]
    if not (isinstance(copula, type) and issubclass(copula, Copula) and hasattr(copula, "name")):
        kind = type(copula).__name__
        raise TypeError(f"copula must be a copula, a family or its name, but is of type {kind}.")
    if copula is Independence:
        return Independence, Independence(0.0 if theta is None else theta).theta
    return copula, None if theta is None else copula(theta).theta


@dataclass(frozen=True, eq=False)
class JointProblem:
    """A sample made ready for fits with any copula: covariates standardised, functions of time orthonormal."""

    y: Survival
    likelihood: Likelihood
    bases: tuple[Basis, Basis]
    centre: FloatArray
    scale: FloatArray
    penalty: float
    columns: tuple[str, ...] | None
    times: Literal["continuous", "grouped"]
    times_reason: str
    ends: FloatArray | None

    @classmethod
    def of(
        cls, X: Any, y: Any, *, margins: Margins, penalty: float, knots: int = 3, times: Times = "auto"
    ) -> JointProblem:
        """Check all arguments and prepare the sample."""
        check_settings(margins, penalty, knots, times)
        outcomes = Survival.coerce(y)
        refuse_zero(outcomes.time, "y")
        columns = column_names(X)
        if X is None:
            X = np.empty((len(outcomes), 0))
        else:
            X = as_matrix(X, "X")
            check_length(X, "X", len(outcomes), "y")
        kind, reason = _kind_of_times(outcomes, times)
        dropout = (
            ~outcomes.event if outcomes.administrative is None else ~outcomes.event & ~outcomes.administrative
        )
        log_t = np.log(outcomes.time)
        bases = []
        for happened, what in ((outcomes.event, "event"), (dropout, "dropout")):
            found = int(happened.sum())
            if not found:
                if what == "event" or outcomes.administrative is None or not outcomes.administrative.any():
                    raise ValueError(f"y has no {what}: its margin cannot be fitted.")
                bases.append(Basis(np.empty(0), present=False))  # all censoring is administrative
                continue
            own_times = np.unique(outcomes.time[happened])
            if own_times.size == 1 and log_t.min() < log_t.max():
                raise ValueError(
                    f"y has all its {what}s at time {own_times[0]:g}: mark an end of study as administrative."
                )
            inner = knots if margins == "spline" else 0
            if kind == "grouped":
                # A margin needs more different times than it has functions of time.
                if own_times.size <= 2:
                    raise ValueError(
                        f"y has its {what}s at {own_times.size} different times, which is too few for grouped times."
                    )
                if inner > own_times.size - 3:
                    inner = own_times.size - 3
                    reason += f"; {inner} inner knots for the {what}s at {own_times.size} times"
            basis = Basis.at_quantiles(log_t[happened], inner)
            needed = basis.size + X.shape[1]
            if found < needed:
                some = f"{found} {what}{'s' if found > 1 else ''}"
                raise ValueError(
                    f"y has too few {what}s: {some} for the {needed} parameters of their margin."
                )
            if log_t.min() == log_t.max():
                raise ValueError(f"y must have different times, but all of them are {outcomes.time[0]:g}.")
            bases.append(basis.orthonormal(log_t))
        with np.errstate(over="ignore", invalid="ignore"):
            centre, scale = X.mean(axis=0), X.std(axis=0)
        Z = _standardised(X, centre, scale, columns)
        ends = np.unique(outcomes.time[outcomes.event | dropout]) if kind == "grouped" else None
        likelihood = Likelihood(outcomes, Z, (bases[0], bases[1]), ends, _BARRIER)
        named = None if columns is None else tuple(columns)
        return cls(
            outcomes, likelihood, (bases[0], bases[1]), centre, scale, penalty, named, kind, reason, ends
        )

    # --- fits ----------------------------------------------------------------------------------------

    def fit(self, family: type[Copula], fixed: float | None, starts: Sequence[float] = STARTS) -> JointModel:
        """The best local optimum over all starts, or the margins at a fixed θ."""
        if not self.bases[1].present and fixed is None:
            raise ValueError("y has no dropout: the dependence cannot be estimated.")
        if fixed is not None:
            copula = family(fixed)
            return self.model(family, self.margins_at(copula), [], fixed=copula)
        taus = _reachable(as_vector(starts, "starts"), family)
        runs = [(0.0, self._released(family, np.append(self.independence.point, 0.0)))]
        for sign in (1.0, -1.0):
            point, reached = self.independence.point, 0.0
            for tau in sorted((tau for tau in taus if sign * tau > 0), key=abs):
                point = self._followed(family, point, reached, tau)
                reached = tau
                runs.append(
                    (
                        tau,
                        self._released(
                            family, np.append(point, Link.of(family).eta(family.from_tau(tau).theta))
                        ),
                    )
                )
        runs.sort(key=lambda run: (not np.isfinite(run[1].value), run[1].value))
        return self.model(family, runs[0][1], runs, fixed=None)

    @cached_property
    def independence(self) -> Minimum:
        """The fit of both margins at independence, a concave problem."""
        start = []
        for basis, happened in zip(self.bases, (self.y.event, ~self.y.event), strict=True):
            if not basis.present:
                continue
            # The constant hazard of what was seen: log H = log rate + log t.
            raw = np.zeros(basis.size)
            raw[:2] = np.log(max(int(happened.sum()), 1) / self.y.time.sum()), 1.0
            start += [np.linalg.solve(_transform(basis), raw), np.zeros(self.centre.size)]
        return self._minimised(Independence, np.concatenate(start), fixed=0.0)

    def margins_at(self, copula: Copula) -> Minimum:
        """The margins at a fixed copula, followed from independence, or from the nearest τ on the way that is known."""
        family, tau = type(copula), copula.tau
        known = self._optima.setdefault(family, {})
        if tau in known:
            return known[tau]
        reached = max((t for t in known if 0.0 < t / tau < 1.0), key=abs, default=0.0) if tau else 0.0
        start = known[reached] if reached else self.independence
        point = self._followed(family, start.point, reached, tau)
        found = self._minimised(family, point, fixed=copula.theta)
        if found.converged:
            known[tau] = found
        return found

    @cached_property
    def _optima(self) -> dict[type[Copula], dict[float, Minimum]]:
        """Margins that were fitted at a fixed copula, by family and τ."""
        return {}

    def _followed(self, family: type[Copula], point: FloatArray, reached: float, tau: float) -> FloatArray:
        """Margins at τ, in strides from those at ``reached``; only roughly at their optimum."""
        n_strides = max(1, int(np.ceil(abs(tau - reached) / _STRIDE - 1e-9)))
        for between in np.linspace(reached, tau, n_strides + 1)[1:]:
            theta = family.from_tau(between).theta
            point = self._minimised(family, point, fixed=theta, tolerance=1.0, max_iter=20).point
        return point

    def _released(self, family: type[Copula], start: FloatArray) -> Minimum:
        return self._minimised(family, start, fixed=None)

    def _minimised(
        self,
        family: type[Copula],
        start: FloatArray,
        *,
        fixed: float | None,
        tolerance: float = 1e-10,
        max_iter: int = 200,
    ) -> Minimum:
        """Newton's method on the penalised mean; ``tolerance`` is in units of the log-likelihood."""
        n, link = self.likelihood.n, Link.of(family)
        lam, theta_0 = self.penalty, family.independence_theta
        k = self.likelihood.n_parameters

        def value(point: FloatArray) -> float:
            theta = link.theta(point[-1]) if fixed is None else fixed
            loglik = self.likelihood.value(point[:k], family.formulas_at(theta))
            return -loglik / n + lam * (theta - theta_0) ** 2

        def derivatives(point: FloatArray) -> Derivatives:
            if fixed is not None:
                at = self.likelihood.derivatives(point, family, fixed, fixed=True)
                penalty = lam * (fixed - theta_0) ** 2
                return Derivatives(-at.value / n + penalty, -at.gradient / n, -at.hessian / n)
            theta, slope, curvature = link.theta(point[-1]), *link.derivatives(point[-1])
            at = self.likelihood.derivatives(point[:k], family, theta, fixed=False)
            gradient, hessian = -at.gradient / n, -at.hessian / n
            gradient[-1] += 2.0 * lam * (theta - theta_0)
            hessian[-1, -1] += 2.0 * lam
            # From θ to the scale on which it is optimised.
            hessian[-1, :] *= slope
            hessian[:, -1] *= slope
            hessian[-1, -1] += curvature * gradient[-1]
            gradient[-1] *= slope
            return Derivatives(-at.value / n + lam * (theta - theta_0) ** 2, gradient, hessian)

        bounds = link.bounds if fixed is None else None
        return minimise(
            derivatives, value, start, bounds=bounds, longest=1.0, tolerance=tolerance / n, max_iter=max_iter
        )

    # --- from the scale of the optimiser to the user's ------------------------------------------------

    def model(
        self, family: type[Copula], best: Minimum, runs: list[tuple[float, Minimum]], fixed: Copula | None
    ) -> JointModel:
        """The fitted model, in the units of the data."""
        k, n, link = self.likelihood.n_parameters, self.likelihood.n, Link.of(family)
        theta = link.theta(best.point[-1]) if fixed is None else fixed.theta
        copula = family(theta)
        to_user = self._to_user()
        parameters = to_user @ best.point[:k]
        event, censoring = self._margin(parameters, 0), self._margin(parameters, 1)
        covariance, theta_se, tau_se = self._uncertainty(best, to_user, link, copula, fixed is None)
        starts = tuple(self._start(tau, run, link, family) for tau, run in runs)
        loglik = self.loglik(best, copula)
        if not best.converged:
            warnings.warn(
                f"the joint model with the {family.name} copula did not converge in {best.n_iter} iterations: "
                "its estimates are not those of an optimum.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return JointModel(
            copula=copula,
            event=event,
            censoring=censoring,
            loglik_=loglik,
            nll_=-loglik / n + self.penalty * (theta - family.independence_theta) ** 2,
            penalty=self.penalty,
            theta_fixed=fixed is not None,
            converged_=best.converged,
            starts_=starts,
            covariance_=covariance,
            theta_se_=theta_se,
            tau_se_=tau_se,
            names_=self._names(fixed is None),
            columns_=self.columns,
            times_=self.times,
            times_reason_=self.times_reason,
            ends_=self.ends,
            n_=n,
            t_max_=self.y.t_max,
        )

    def loglik(self, minimum: Minimum, copula: Copula) -> float:
        """The log-likelihood at a minimum, without the penalty and the barrier."""
        penalty = self.penalty * (copula.theta - copula.independence_theta) ** 2
        margins = minimum.point[: self.likelihood.n_parameters]
        return -self.likelihood.n * (minimum.value - penalty) - self.likelihood.barrier_at(margins)

    def _start(self, tau: float, run: Minimum, link: Link, family: type[Copula]) -> Start:
        theta = link.theta(run.point[-1])
        copula = family(theta)
        loglik = self.loglik(run, copula)
        nll = -loglik / self.likelihood.n + self.penalty * (theta - family.independence_theta) ** 2
        return Start(tau, theta, copula.tau, nll, loglik, run.converged, run.n_iter, run.bound)

    def _margin(self, parameters: FloatArray, which: int) -> Margin:
        basis = self.bases[which]
        mine = parameters[which * self.likelihood.sizes[0] :][: self.likelihood.sizes[which]]
        return Margin(Basis(basis.knots, present=basis.present), mine[: basis.size], mine[basis.size :])

    def _to_user(self) -> FloatArray:
        """The matrix from the optimiser's parameters of the margins to those in the units of the data."""
        k, p = self.likelihood.n_parameters, self.centre.size
        matrix = np.zeros((k, k))
        at = 0
        for basis in self.bases:
            if not basis.present:
                continue
            own = slice(at, at + basis.size)
            of_x = slice(own.stop, own.stop + p)
            matrix[own, own] = _transform(basis)
            matrix[of_x, of_x] = np.diag(1.0 / self.scale)
            matrix[at, of_x] = -self.centre / self.scale
            at = of_x.stop
        return matrix

    def _uncertainty(
        self, best: Minimum, to_user: FloatArray, link: Link, copula: Copula, free: bool
    ) -> tuple[FloatArray, float, float]:
        """The covariance of all parameters, and the standard errors of θ and τ."""
        k = self.likelihood.n_parameters
        used = k + (free and not best.bound)
        information = best.at.hessian[:used, :used] * self.likelihood.n
        try:
            inverse = np.linalg.inv(information)
        except np.linalg.LinAlgError:
            inverse = np.full(information.shape, np.nan)
        self._warn_of_separation(np.diag(inverse))
        inverse = np.where(np.diag(inverse).min() < 0, np.nan, inverse)
        size = k + free
        jacobian = np.zeros((size, used))
        jacobian[:k, :k] = to_user
        if used > k:
            jacobian[k, k] = link.derivatives(best.point[-1])[0]
        covariance = jacobian @ inverse @ jacobian.T
        if not free:
            return covariance, np.nan, np.nan
        if best.bound:
            covariance[-1, :] = covariance[:, -1] = np.nan
            return covariance, np.nan, np.nan
        theta_se = float(np.sqrt(covariance[-1, -1]))
        return covariance, theta_se, theta_se * abs(tau_slope(copula))

    def _warn_of_separation(self, variance: FloatArray) -> None:
        """Name a covariate whose coefficient runs off: the likelihood hardly knows it any more."""
        names, at = self._names(False), 0
        for basis, size in zip(self.bases, self.likelihood.sizes, strict=True):
            for i in range(at + basis.size, at + size):
                if not variance[i] < _UNKNOWN**2:
                    warnings.warn(
                        f"the coefficient {names[i]!r} has no finite optimum: the covariate separates those to whom "
                        "it happens from the rest.",
                        ConvergenceWarning,
                        stacklevel=6,
                    )
            at += size

    def _names(self, free: bool) -> tuple[str, ...]:
        of_x = self.columns or tuple(f"x{i}" for i in range(self.centre.size))
        names = []
        for basis, what in zip(self.bases, ("event", "censoring"), strict=True):
            if not basis.present:
                continue
            cubics = (f"cubic {i + 1}" for i in range(basis.size - 2))
            own = ("intercept", "log time", *cubics) if basis.size > 2 else ("intercept", "shape")
            names += [f"{what}: {name}" for name in (*own, *of_x)]
        return (*names, "theta") if free else tuple(names)


def check_settings(margins: Any, penalty: Any, knots: Any, times: Any) -> None:
    """Refuse what no joint model can be fitted with, before there are data."""
    check_choice(margins, "margins", MARGINS)
    check_choice(times, "times", ("auto", "continuous", "grouped"))
    if check_number(penalty, "penalty") < 0:
        raise ValueError(f"penalty must not be negative, but is {penalty:g}.")
    check_whole(knots, "knots")


def _reachable(taus: FloatArray, family: type[Copula]) -> list[float]:
    """The starts that a family reaches."""
    if (np.abs(taus) >= 1.0).any():
        raise ValueError(
            f"starts must lie strictly between -1 and 1, but one is {taus[np.abs(taus) >= 1][0]:g}."
        )
    lower, upper = family.tau_range
    inside = (taus > max(lower, -LARGEST_TAU)) & (taus < min(upper, LARGEST_TAU)) & (taus != 0)
    return [float(tau) for tau in np.unique(taus[inside])]


def _transform(basis: Basis) -> FloatArray:
    return np.eye(basis.size) if basis.transform is None else basis.transform


def _standardised(
    X: FloatArray, centre: FloatArray, scale: FloatArray, columns: list[str] | None
) -> FloatArray:
    """X in units of its standard deviations; a column that others make up is refused."""

    def named(column: int) -> str:
        return f"column {column}" if columns is None else f"column {columns[column]!r}"

    if not np.isfinite(scale).all():
        raise ValueError(
            f"X must be of moderate size, but {named(int(np.argmin(np.isfinite(scale))))} overflows."
        )
    constant = scale <= 1e-12 * np.maximum(np.abs(centre), 1e-300)
    if constant.any():
        raise ValueError(f"X must vary in every column, but {named(int(np.argmax(constant)))} is constant.")
    Z = (X - centre) / scale
    if Z.shape[1] > 1:
        # What of each column the columns before it do not explain.
        unexplained = np.abs(np.diag(np.linalg.qr(Z.T @ Z / len(Z), mode="r")))
        if unexplained.min() < 1e-11:
            dependent = int(np.argmax(unexplained < 1e-11))
            raise ValueError(
                f"X has linearly dependent columns: {named(dependent)} is a combination of those before it."
            )
    return Z


def _kind_of_times(y: Survival, times: Times) -> tuple[Literal["continuous", "grouped"], str]:
    if times != "auto":
        return times, "as asked"
    # A common end of study is no grouping: whoever reached the last time does not count.
    time = y.time[y.time < y.t_max]
    _, place, counts = np.unique(time, return_inverse=True, return_counts=True)
    found = f"{len(y):,} subjects at {counts.size + 1:,} different times"
    shared = float(np.median(counts[place])) if time.size else 1.0
    if shared > 1 and shared >= _SHARED * len(y):
        return "grouped", f"{found}, half of them at one shared by {shared:.0f} or more"
    return "continuous", found
