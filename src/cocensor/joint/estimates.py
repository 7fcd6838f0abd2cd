"""From the scale of the optimiser to the user's: estimates in the units of the data, with their uncertainty."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from cocensor._checks import FloatArray
from cocensor._newton import Minimum
from cocensor.copulas import Copula
from cocensor.estimators.cox import inverse_or_nan
from cocensor.joint.margins import Basis, Margin
from cocensor.joint.model import JointModel, Start
from cocensor.joint.settings import Link, tau_slope
from cocensor.warnings import FitWarning

if TYPE_CHECKING:
    from cocensor.joint.fit import JointProblem

# A standardised coefficient with a standard error above this, in units of what its column has beyond the others, is
# not known at all.
_UNKNOWN = 100.0
# Nor is one that is shrunk and still above this an effect: a hazard ratio of 7 for one standard deviation.
_DECISIVE = 2.0


def fitted_model(
    problem: JointProblem,
    family: type[Copula],
    best: Minimum,
    runs: list[tuple[float, Minimum]],
    fixed: float | None = None,
) -> JointModel:
    """The fitted model, in the units of the data."""
    k, link = problem.likelihood.n_parameters, Link.of(family)
    copula = family(link.theta(best.point[-1]) if fixed is None else fixed)
    to_user = to_units_of_data(problem)
    parameters, design, margins = to_user @ best.point[:k], problem.design, []
    for basis, span in zip(problem.likelihood.bases, problem.likelihood.spans, strict=True):
        parts = np.split(parameters[span], [basis.size, basis.size + design.n_columns])
        plain = Basis(basis.knots, present=basis.present)
        margins.append(Margin(plain, parts[0], parts[1], design.varying, parts[2]))
    covariance, theta_se, tau_se = _uncertainty(problem, best, to_user, link, copula, fixed is None)
    starts = []
    for tau, run in runs:
        of_run = family(link.theta(run.point[-1]))
        nll, loglik = problem.values(run, of_run)
        starts.append(Start(tau, of_run.theta, of_run.tau, nll, loglik, run.converged, run.n_iter, run.bound))
    nll, loglik = problem.values(best, copula)
    if not best.converged:
        warnings.warn(
            f"the joint model with the {family.name} copula did not converge in {best.n_iter} iterations: "
            "its estimates are not those of an optimum.",
            FitWarning,
            stacklevel=4,
        )
    return JointModel(
        copula=copula,
        event=margins[0],
        dropout=margins[1],
        loglik_=loglik,
        nll_=nll,
        penalty=problem.penalty_on(family),
        theta_fixed=fixed is not None,
        converged_=best.converged,
        starts_=tuple(starts),
        covariance_=covariance,
        theta_se_=theta_se,
        tau_se_=tau_se,
        names_=_names(problem, fixed is None),
        columns_=design.columns,
        encoding_=design.encoding,
        time_kind_=problem.time_kind,
        time_kind_reason_=problem.time_kind_reason,
        ends_=problem.likelihood.ends,
        n_=problem.likelihood.n,
        t_max_=problem.y.t_max,
    )


def to_units_of_data(problem: JointProblem) -> FloatArray:
    """The matrix from the optimiser's parameters of the margins to those in the units of the data."""
    likelihood = problem.likelihood
    centre, scale, drift = likelihood.X.centre, likelihood.X.scale, likelihood.drift
    matrix = np.zeros((likelihood.n_parameters, likelihood.n_parameters))
    for basis, span in zip(likelihood.bases, likelihood.spans, strict=True):
        if not basis.present:
            continue
        first, end = span.start, span.start + basis.size
        of_x = slice(end, end + centre.size)
        matrix[first:end, first:end] = basis.matrix
        matrix[of_x, of_x] = np.diag(1.0 / scale)
        matrix[first, of_x] = -centre / scale
        if drift is None:
            continue
        # (x − centre) (log t − mean) / (both scales), multiplied out.
        varying, mean = np.array(drift.varying), drift.centre
        of_drift = np.arange(of_x.stop, of_x.stop + varying.size)
        unit = 1.0 / (scale[varying] * drift.scale)
        matrix[of_drift, of_drift] = unit
        matrix[of_x.start + varying, of_drift] = -mean * unit
        matrix[first, of_drift] = centre[varying] * mean * unit
        matrix[first + 1, of_drift] = -centre[varying] * unit
    return matrix


def _uncertainty(
    problem: JointProblem, best: Minimum, to_user: FloatArray, link: Link, copula: Copula, free: bool
) -> tuple[FloatArray, float, float]:
    """The covariance of all parameters, and the standard errors of θ and τ."""
    k = problem.likelihood.n_parameters
    used = k + (free and not best.bound)
    inverse = inverse_or_nan(best.at.hessian[:used, :used] * problem.likelihood.n)
    _warn_of_effects(problem, best.point, np.diag(inverse))
    inverse = np.where(np.diag(inverse).min() < 0, np.nan, inverse)
    jacobian = np.zeros((k + free, used))
    jacobian[:k, :k] = to_user
    if used > k:
        jacobian[k, k] = link.derivatives(best.point[-1])[0]
    covariance = jacobian @ inverse @ jacobian.T
    if not free:
        return covariance, np.nan, np.nan
    if best.bound:
        covariance[-1, :] = covariance[:, -1] = np.nan
    theta_se = float(np.sqrt(covariance[-1, -1]))
    return covariance, theta_se, theta_se * abs(tau_slope(copula))


def _warn_of_effects(problem: JointProblem, point: FloatArray, variance: FloatArray) -> None:
    """Name a covariate whose coefficient runs off, and a column that a ridge could not hold."""
    design, names, effects = problem.design, _names(problem, False), problem.design.names_of_effects
    # The likelihood hardly knows a coefficient that runs off; as a rule there is none.
    precise = bool((variance < _UNKNOWN**2).all())
    # The share of the variance of each effect's column that the others without a ridge leave; 1 under a ridge.
    own = np.ones(design.n_columns)
    free = np.flatnonzero([not ridge for ridge in design.ridge_of_effects[: own.size]])
    if free.size > 1 and not precise:
        own[free] = 1.0 / np.diag(np.linalg.inv(np.corrcoef(design.matrix[:, free], rowvar=False)))
    own = np.append(own, own[list(design.varying)])
    for basis, span in zip(problem.likelihood.bases, problem.likelihood.spans, strict=True):
        for j, effect in enumerate(effects if basis.present else ()):
            i, warning = span.start + basis.size + j, ""
            if not problem.ridge[i]:
                if not (precise or variance[i] * own[j] < _UNKNOWN**2):
                    warning = (
                        f"the coefficient {names[i]!r} has no finite estimate: the covariate separates those with "
                        "the outcome from the rest."
                    )
            elif j < design.n_columns and abs(point[i]) > _DECISIVE:
                warning = (
                    f"the column {effect!r} almost determines the outcome, with a log hazard ratio of "
                    f"{point[i]:.1f} per standard deviation: was it known before the outcome?"
                )
            if warning:
                warnings.warn(warning, FitWarning, stacklevel=6)


def _names(problem: JointProblem, free: bool) -> tuple[str, ...]:
    of_x = problem.design.names_of_effects
    names = []
    for basis, what in zip(problem.likelihood.bases, ("event", "dropout"), strict=True):
        if not basis.present:
            continue
        cubics = (f"cubic {i + 1}" for i in range(basis.size - 2))
        own = ("intercept", "log time", *cubics) if basis.size > 2 else ("intercept", "shape")
        names += [f"{what}: {name}" for name in (*own, *of_x)]
    return (*names, "theta") if free else tuple(names)
