"""A fitted joint model of event and dropout."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cocensor._checks import (
    FloatArray,
    Seed,
    as_flags,
    as_generator,
    as_matrix,
    as_times,
    as_vector,
    check_length,
    check_whole,
    row_blocks,
)
from cocensor.copulas import Copula
from cocensor.data import Survival
from cocensor.data.covariates import Encoding
from cocensor.joint.conditional import Conditional
from cocensor.joint.design import Design
from cocensor.joint.likelihood import Drift, Likelihood
from cocensor.joint.margins import Margin
from cocensor.joint.settings import TimeKind


@dataclass(frozen=True)
class Start:
    """One run of the optimiser: where θ started, and the local optimum that it led to."""

    tau_start: float
    theta: float
    tau: float
    #: The penalised mean negative log-likelihood.
    nll: float
    loglik: float
    converged: bool
    n_iter: int
    #: Whether θ is held by the bound of its family (as a rule, independence).
    at_bound: bool


@dataclass(frozen=True, eq=False)
class JointModel:
    r"""Event and dropout given covariates: two proportional-hazards margins and a copula.

    .. math:: P(E > t, C > c \mid x) = C_\theta(S_E(t \mid x), S_C(c \mid x)), \qquad
        \log(-\log S(t \mid x)) = s(\log t) + x'\beta + x_v'\gamma \log t.

    Hazards are proportional but for the columns :math:`x_v` whose effect changes with time, if there are any. Made by
    :func:`fit_joint`. The dependence is identified by the form of the margins alone: read θ̂ as a hint, and see what
    other τ would say.

    Attributes
    ----------
    copula : Copula
    event, dropout : Margin
        With ``basis.knots`` (of log time), ``coef``, ``beta`` and ``gamma``, in the units of the data.
    loglik_, nll_ : float
        The log-likelihood, and the penalised mean negative log-likelihood that was minimised.
    covariance_ : array
        Of all parameters in the order of ``names_``; NaN for a θ on its bound. With a penalty it is the inverse of
        the penalised information.
    theta_se_, tau_se_ : float
        Standard errors of θ and τ; NaN where θ is fixed or on its bound.
    converged_ : bool
    starts_ : tuple of Start
        Every run of the optimiser, the best one first.
    columns_, encoding_ : tuple of str or None, Encoding or None
        What the columns of x are called, and how they come from covariates.
    time_kind_, time_kind_reason_ : str
        Which likelihood was used for the times, "continuous" or "grouped", and why.
    n_, t_max_ : int or float, float
        The number of subjects fitted to (the sum of their case weights, where they have any), and their largest time:
        beyond it the margins extrapolate.

    Examples
    --------
    >>> from cocensor import Clayton, fit_joint
    >>> from cocensor.simulate import SyntheticDesign
    >>> data = SyntheticDesign(n=500, n_features=1, copula=Clayton(2.0)).draw(0)
    >>> model = fit_joint(data.X, data.y, Clayton(2.0))
    >>> model.survival([5.0, 15.0], [[0.5]]).round(2)
    array([[0.99, 0.45]])
    >>> model.conditional_survival([15.0], [5.0], [[0.5]]).round(2)
    array([[0.1]])

    References
    ----------
    Royston, P., Parmar, M. K. B. (2002). Flexible parametric proportional-hazards and proportional-odds models for
    censored survival data. *Statistics in Medicine* 21, 2175–2197.
    """

    copula: Copula
    event: Margin
    dropout: Margin
    loglik_: float
    nll_: float
    penalty: float
    theta_fixed: bool
    converged_: bool
    starts_: tuple[Start, ...]
    covariance_: FloatArray
    theta_se_: float
    tau_se_: float
    names_: tuple[str, ...]
    columns_: tuple[str, ...] | None
    encoding_: Encoding | None
    time_kind_: TimeKind
    time_kind_reason_: str
    ends_: FloatArray | None
    n_: int | float
    t_max_: float

    # --- what it says of subjects --------------------------------------------------------------------

    def survival(self, t: npt.ArrayLike, X: Any = None) -> FloatArray:
        r""":math:`S_E(t \mid x)` for each row of ``X`` at each of ``t``, (n, len(t)); one row without covariates."""
        return self._survival(self.event, t, X)

    def dropout_survival(self, t: npt.ArrayLike, X: Any = None) -> FloatArray:
        r""":math:`S_C(t \mid x)` for each row of ``X`` at each of ``t``, (n, len(t))."""
        return self._survival(self.dropout, t, X)

    def conditional_survival(
        self, t: npt.ArrayLike, c: npt.ArrayLike, X: Any = None, administrative: Any = None
    ) -> FloatArray:
        r""":math:`P(E > t \mid E > c, C = c, x)` for subjects that dropped out at ``c``, (len(c), len(t)).

        .. math:: q(t) = h_2(S_E(t), S_C(c)) / h_2(S_E(c), S_C(c)),

        1 up to c. Where ``administrative`` is set the study ended at c instead, and all that is known is C > c:
        :math:`q(t) = C(S_E(t), S_C(c)) / C(S_E(c), S_C(c))`.
        """
        t = as_times(as_vector(t, "t", single=True), "t")
        c = as_times(as_vector(c, "c", single=True), "c")
        design = self.covariates(X, c.size, rows_of="c")
        ended = (
            np.zeros(c.size, dtype=bool)
            if administrative is None
            else as_flags(administrative, "administrative")
        )
        check_length(ended, "administrative", c.size, "c")
        given = Conditional(self, t, c, design, ended)
        result = np.empty((c.size, t.size))
        for rows in row_blocks(c.size, t.size):
            result[rows] = given(np.arange(rows.start, rows.stop), slice(0, t.size))
        return result

    def sample(self, X: Any = None, rng: Seed = None, n: int | None = None) -> tuple[FloatArray, FloatArray]:
        """Draws of (E, C), one for each row of ``X``, or ``n`` of them from a model without covariates."""
        if X is None and n is None:
            raise ValueError("X is None: give the number of draws, n.")
        if X is not None and n is not None:
            raise ValueError("n must be None where X says how many draws there are.")
        if n is not None:
            check_whole(n, "n")
        rng = as_generator(rng)
        design = self.covariates(X, n)
        u, v = self.copula.sample(design.shape[0], rng).T
        times = []
        for margin, survival in ((self.event, u), (self.dropout, v)):
            with np.errstate(over="ignore"):
                times.append(np.exp(margin.of(design).log_time(np.log(-np.log(survival)))))
        return times[0], times[1]

    def loglik(self, X: Any, y: Any) -> float:
        """The log-likelihood of outcomes, also of others than those fitted to (``X`` is None without covariates).

        A time of 0 adds nothing.
        """
        outcomes = Survival.coerce(y)
        design = self.covariates(X, len(outcomes))
        drift = Drift(self.event.varying) if self.event.varying else None
        likelihood = Likelihood(
            outcomes, design, (self.event.basis, self.dropout.basis), self.ends_, drift=drift
        )
        parameters = [
            part for each in (self.event, self.dropout) for part in (each.coef, each.beta, each.gamma)
        ]
        return likelihood.value(np.concatenate(parameters), self.copula)

    # --- what it says of itself ----------------------------------------------------------------------

    def parameters(self) -> dict[str, tuple[float, float]]:
        """Estimate and standard error of every parameter, by name."""
        margins = (self.event, self.dropout)
        values = [value for each in margins for value in (*each.coef, *each.beta, *each.gamma)]
        if not self.theta_fixed:
            values.append(self.copula.theta)
        errors = np.sqrt(np.diag(self.covariance_))
        return {
            name: (float(value), float(error))
            for name, value, error in zip(self.names_, values, errors, strict=True)
        }

    def summary(self) -> str:
        """A readable table of the fit."""
        times = f"{self.time_kind_} ({self.time_kind_reason_})"
        kind = f"{self.event.name} margins, {self.copula.name} copula"
        lines = [
            f"Joint model of event and dropout: {kind}",
            f"{self.n_:,.10g} subjects, log-likelihood {self.loglik_:.4f}, times {times}",
            f"penalised mean negative log-likelihood {self.nll_:.6f}, penalty {self.penalty:g}",
            "" if self.converged_ else "NOT CONVERGED: the figures below are not those of an optimum.",
            f"{'':<28}{'estimate':>14}{'std. error':>14}",
        ]
        table = self.parameters()
        table["theta"] = self.copula.theta, self.theta_se_
        table["tau"] = self.copula.tau, self.tau_se_
        for name, (value, error) in table.items():
            shown = f"{error:14.6g}" if np.isfinite(error) else f"{self._without_error(name):>14}"
            lines.append(f"{name:<28}{value:14.6g}{shown}")
        if len(self.starts_) > 1:
            lines += ["", f"{'θ started at τ':<16}{'θ':>12}{'τ':>8}{'penalised NLL':>16}  converged"]
            for each in self.starts_:
                where = " (bound)" if each.at_bound else ""
                lines.append(
                    f"{each.tau_start:<16.2f}{each.theta:12.5g}{each.tau:8.3f}{each.nll:16.6f}  "
                    f"{'yes' if each.converged else 'no'}{where}"
                )
        if not self.theta_fixed:
            lines += ["", "τ is identified only by the form of the margins: a hint, not a measurement."]
        return "\n".join(lines)

    def __repr__(self) -> str:
        p = self.event.beta.size
        return f"JointModel({self.copula!r}, margins={self.event.name!r}, n={self.n_:.10g}, covariates={p})"

    # --- files ---------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a JSON file, which :meth:`load` reads; numbers keep all their digits.

        Parameters
        ----------
        path : path
            Where it is written.
        """
        from cocensor.joint import files

        files.save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> JointModel:
        """Read a model from a file that :meth:`save` has written.

        Parameters
        ----------
        path : path
            A file that :meth:`save` has written.

        Returns
        -------
        JointModel
        """
        from cocensor.joint import files

        return files.load(path)

    # --- helpers -------------------------------------------------------------------------------------

    def _survival(self, margin: Margin, t: npt.ArrayLike, X: Any) -> FloatArray:
        t = as_times(as_vector(t, "t", single=True), "t")
        hazards = margin.of(self.covariates(X, 1 if X is None else None)).at(t)
        with np.errstate(over="ignore"):
            return np.exp(-np.exp(hazards(slice(None), slice(None))))

    def covariates(self, X: Any, n: int | None, name: str = "X", rows_of: str = "y") -> FloatArray:
        """The covariates as an array, one row for each of ``n``; for a model without, it has no columns."""
        p = self.event.beta.size
        if not p:
            rows = (1 if X is None else len(X)) if n is None else n
            return np.empty((rows, 0))
        if X is None:
            raise ValueError(f"{name} is needed: the model has {p} covariates.")
        if isinstance(X, Design):
            X = X.matrix
        elif self.encoding_ is not None:
            X = self.encoding_.matrix(X, name)
        X = as_matrix(X, name)
        if X.shape[1] != p:
            raise ValueError(f"{name} must have {p} columns, as in the fit, but has {X.shape[1]}.")
        if n is not None:
            check_length(X, name, n, rows_of)
        return X

    def _without_error(self, name: str) -> str:
        if self.theta_fixed:
            return "fixed"
        return "at the bound" if name in ("theta", "tau") else "–"
