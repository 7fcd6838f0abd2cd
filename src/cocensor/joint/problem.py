"""A sample made ready for joint models: the fits with every copula start from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cocensor._newton import Derivatives, Minimum, minimise
from cocensor._numerics import squares_beyond
from cocensor._validation import FloatArray, as_matrix, check_length, column_names
from cocensor.copulas import Copula, Independence
from cocensor.copulas.walks import as_taus, walks_from_independence
from cocensor.joint.estimates import fitted_model
from cocensor.joint.likelihood import Likelihood
from cocensor.joint.link import LARGEST_TAU, Link
from cocensor.joint.margins import Basis, MarginForm, refuse_zero
from cocensor.joint.model import JointModel
from cocensor.joint.settings import AskedTimeKind, TimeKind, check_settings
from cocensor.outcomes import Survival

#: Where θ starts by default, as Kendall's τ; negative ones for the families that reach them.
STARTS = (-0.6, 0.3, 0.6, 0.9)
# Times count as grouped when at least half of the subjects share theirs with this part of the sample.
_SHARED = 0.01
# Keeps splines rising, in units of the log-likelihood: where they rise anyway it moves that by less than 1e-6.
_BARRIER = 1e-4
# τ moves by at most this much at once when margins are followed along it.
_STRIDE = 0.3


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
    time_kind: TimeKind
    time_kind_reason: str
    ends: FloatArray | None

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        *,
        margins: MarginForm,
        penalty: float,
        knots: int = 3,
        time_kind: AskedTimeKind = "auto",
    ) -> JointProblem:
        """Check all arguments and prepare the sample."""
        check_settings(margins, penalty, knots, time_kind)
        outcomes = Survival.coerce(y)
        refuse_zero(outcomes.time, "y")
        columns = column_names(X)
        if X is None:
            X = np.empty((len(outcomes), 0))
        else:
            X = as_matrix(X, "X")
            check_length(X, "X", len(outcomes), "y")
        kind, reason = _time_kind(outcomes, time_kind)
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
            return fitted_model(self, family, self.margins_at(copula), [], fixed=copula)
        link, start = Link.of(family), self.independence.point
        runs = [(0.0, self._released(family, np.append(start, 0.0)))]
        for walk in walks_from_independence(family, _checked_starts(starts)):
            point, reached = start, 0.0
            for tau in walk:
                point, reached = self._followed(family, point, reached, tau), tau
                eta = link.eta(family.from_tau(tau).theta)
                runs.append((tau, self._released(family, np.append(point, eta))))
        runs.sort(key=lambda run: (not np.isfinite(run[1].value), run[1].value))
        return fitted_model(self, family, runs[0][1], runs, fixed=None)

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
            start += [np.linalg.solve(basis.matrix, raw), np.zeros(self.centre.size)]
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

    def loglik(self, minimum: Minimum, copula: Copula) -> float:
        """The log-likelihood at a minimum, without the penalty and the barrier."""
        penalty = self.penalty * (copula.theta - copula.independence_theta) ** 2
        margins = minimum.point[: self.likelihood.n_parameters]
        return -self.likelihood.n * (minimum.value - penalty) - self.likelihood.barrier_at(margins)


def _checked_starts(starts: Sequence[float]) -> FloatArray:
    """The τ to start from, each once; those beyond the largest that is fitted are left out."""
    taus = as_taus(starts, "starts")
    return taus[np.abs(taus) < LARGEST_TAU]


def _standardised(
    X: FloatArray, centre: FloatArray, scale: FloatArray, columns: list[str] | None
) -> FloatArray:
    """X in units of its standard deviations; a column that others make up is refused."""

    def named(column: int) -> str:
        return f"column {column}" if columns is None else f"column {columns[column]!r}"

    outside = squares_beyond(scale)
    if outside.any():
        column = int(np.argmax(outside))
        reached = np.abs(X[:, column]).max()
        raise ValueError(
            f"X must be of moderate size, but {named(column)} reaches {reached:g}: measure it in another unit."
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


def _time_kind(y: Survival, asked: AskedTimeKind) -> tuple[TimeKind, str]:
    if asked != "auto":
        return asked, "as asked"
    # A common end of study is no grouping: whoever reached the last time does not count.
    time = y.time[y.time < y.t_max]
    _, place, counts = np.unique(time, return_inverse=True, return_counts=True)
    found = f"{len(y):,} subjects at {counts.size + 1:,} different times"
    shared = float(np.median(counts[place])) if time.size else 1.0
    if shared > 1 and shared >= _SHARED * len(y):
        return "grouped", f"{found}, half of them at one shared by {shared:.0f} or more"
    return "continuous", found
