"""A fitted joint model of event and dropout."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

from cocensor._checks import (
    FloatArray,
    Seed,
    as_flags,
    as_generator,
    as_matrix,
    as_vector,
    as_weights,
    check_length,
    check_whole,
    row_blocks,
)
from cocensor._files import write_whole
from cocensor.copulas import Copula, copula_families
from cocensor.data import Survival
from cocensor.data.covariates import Encoding
from cocensor.estimators.cox import from_log_hazard
from cocensor.joint.conditional import Conditional
from cocensor.joint.design import Design
from cocensor.joint.likelihood import Drift, Likelihood
from cocensor.joint.margins import Margin
from cocensor.joint.settings import TimeKind

_FORMAT = "cocensor joint model, version 5"


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
        t = as_vector(t, "t", single=True, negative=False)
        c = as_vector(c, "c", single=True, negative=False)
        design = self.covariates(X, c.size, rows_of="c")
        ended = as_flags(np.zeros(c.size) if administrative is None else administrative, "administrative")
        check_length(ended, "administrative", c.size, "c")
        given = Conditional(self, t, c, design, ended)
        result = np.empty((c.size, t.size))
        for rows in row_blocks(*result.shape):
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
        event, dropout = self.event.of(design), self.dropout.of(design)
        with np.errstate(over="ignore"):
            e, c = event.log_time(np.log(-np.log(u))), dropout.log_time(np.log(-np.log(v)))
            return np.exp(e), np.exp(c)

    def loglik(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The log-likelihood of outcomes, also of others than those fitted to (``X`` is None without covariates).

        A time of 0 adds nothing. ``sample_weight`` are case weights, one for each subject.
        """
        outcomes = Survival.coerce(y)
        design = self.covariates(X, len(outcomes))
        drift = Drift(self.event.varying) if self.event.varying else None
        bases = self.event.basis, self.dropout.basis
        weight = None if sample_weight is None else as_weights(sample_weight, len(outcomes))
        likelihood = Likelihood(outcomes, design, bases, self.ends_, drift=drift, weight=weight)
        return likelihood.value(self._of_margins, self.copula)

    def parameters(self) -> dict[str, tuple[float, float]]:
        """Estimate and standard error of every parameter, by name."""
        values = [*self._of_margins.tolist(), *(() if self.theta_fixed else (self.copula.theta,))]
        errors = np.sqrt(np.diag(self.covariance_)).tolist()
        return {name: (value, error) for name, value, error in zip(self.names_, values, errors, strict=True)}

    def summary(self) -> str:
        """A readable table of the fit."""
        times = f"{self.time_kind_} ({self.time_kind_reason_})"
        lines = [
            f"Joint model of event and dropout: {self.event.name} margins, {self.copula.name} copula",
            f"{self.n_:,.10g} subjects, log-likelihood {self.loglik_:.4f}, times {times}",
            f"penalised mean negative log-likelihood {self.nll_:.6f}, penalty {self.penalty:g}",
            "" if self.converged_ else "NOT CONVERGED: the figures below are not those of an optimum.",
            f"{'':<28}{'estimate':>14}{'std. error':>14}",
        ]
        table = self.parameters()
        table["theta"] = self.copula.theta, self.theta_se_
        table["tau"] = self.copula.tau, self.tau_se_
        for name, (value, error) in table.items():
            missing = "fixed" if self.theta_fixed else "at the bound" if name in ("theta", "tau") else "–"
            shown = f"{error:14.6g}" if np.isfinite(error) else f"{missing:>14}"
            lines.append(f"{name:<28}{value:14.6g}{shown}")
        if len(self.starts_) > 1:
            lines += ["", f"{'θ started at τ':<16}{'θ':>12}{'τ':>8}{'penalised NLL':>16}  converged"]
            for start in self.starts_:
                end = ("yes" if start.converged else "no") + (" (bound)" if start.at_bound else "")
                row = f"{start.tau_start:<16.2f}{start.theta:12.5g}{start.tau:8.3f}{start.nll:16.6f}  {end}"
                lines.append(row)
        if not self.theta_fixed:
            lines += ["", "τ is identified only by the form of the margins: a hint, not a measurement."]
        return "\n".join(lines)

    def __repr__(self) -> str:
        p = self.event.beta.size
        return f"JointModel({self.copula!r}, margins={self.event.name!r}, n={self.n_:.10g}, covariates={p})"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a JSON file, which :meth:`load` reads; numbers keep all their digits.

        Parameters
        ----------
        path : path
            Where it is written.
        """
        content = {"format": _FORMAT, **_encoded(self)}
        write_whole(path, json.dumps(content, indent=1, allow_nan=False))

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
        rule = "path must name a saved joint model, but"
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
        except (ValueError, RecursionError) as error:  # also numbers and nesting beyond Python's limits
            raise ValueError(f"{rule} {path} is not JSON: {error}.") from None
        if not isinstance(content, dict) or content.get("format") != _FORMAT:
            raise ValueError(f"{rule} {path} is not one.")
        try:
            model: JointModel = _decoded(JointModel, content)
            belongs = _belongs_together(model)
        except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
            raise ValueError(f"{rule} {path} is damaged: {str(error).rstrip('.')}.") from None
        if not belongs:
            raise ValueError(f"{rule} the parts of {path} do not belong together.")
        return model

    def _survival(self, margin: Margin, t: npt.ArrayLike, X: Any) -> FloatArray:
        t = as_vector(t, "t", single=True, negative=False)
        hazards = margin.of(self.covariates(X, 1 if X is None else None)).at(t)
        return from_log_hazard(hazards(slice(None), slice(None)))

    def covariates(self, X: Any, n: int | None, name: str = "X", rows_of: str = "y") -> FloatArray:
        """The covariates as an array, one row for each of ``n``; for a model without, it has no columns."""
        p = self.event.beta.size
        if not p:
            given = 1 if X is None else len(X)
            return np.empty((given if n is None else n, 0))
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

    @property
    def _of_margins(self) -> FloatArray:
        """The parameters of both margins, in the order of their names."""
        margins = (self.event, self.dropout)
        return np.concatenate([part for m in margins for part in (m.coef, m.beta, m.gamma)])


def _encoded(value: Any) -> Any:
    """A value as JSON can hold it, which has no NaN, and texts alone as keys."""
    if isinstance(value, Copula):
        return {"family": value.name, "theta": value.theta}
    if is_dataclass(value):
        return {field.name: _encoded(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return [[key, _encoded(item)] for key, item in value.items()]
    if isinstance(value, np.ndarray | list | tuple):
        return [_encoded(item) for item in value]
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else str(float(value))
    return value


def _decoded(kind: Any, value: Any) -> Any:
    """The value of a type that was encoded."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Copula:
        return copula_families()[value["family"]](value["theta"])
    if hasattr(kind, "__dataclass_fields__"):
        return kind(**{name: _decoded(of, value[name]) for name, of in get_type_hints(kind).items()})
    if type(None) in arguments:
        return None if value is None else _decoded(arguments[0], value)
    if origin is Literal:
        return _decoded(str, value)
    if origin is np.ndarray:
        return np.array(_decoded(list, value), dtype=np.float64)
    if origin is tuple:
        items = _decoded(list, value)
        kinds = [arguments[0]] * len(items) if arguments[-1] is Ellipsis else arguments
        return tuple(_decoded(*pair) for pair in zip(kinds, items, strict=True))
    if origin is Mapping:
        of_key, of_item = arguments
        return {_decoded(of_key, key): _decoded(of_item, item) for key, item in _decoded(list, value)}
    if kind is float:
        return float(value)  # which reads "nan" and "inf" as well
    if type(value) not in (arguments or (kind,)):
        raise TypeError(f"{str(value)[:20]!r} is no {kind.__name__ if isinstance(kind, type) else kind}")
    return value


def _belongs_together(model: JointModel) -> bool:
    """Whether the parts of a file do."""
    p, size, encoding = model.event.beta.size, len(model.names_), model.encoding_
    fits = [
        model.covariance_.shape == (size, size),
        size == model._of_margins.size + (not model.theta_fixed),
        model.time_kind_ == ("continuous" if model.ends_ is None else "grouped"),
        model.ends_ is None or bool((np.diff(model.ends_) > 0).all()),
    ]
    if encoding is not None:
        levels, columns, sources = encoding.levels, range(len(encoding.columns)), encoding.sources
        fits.append(len(sources) == p)
        fits += [k in columns and (level in levels[k] if level else k not in levels) for k, level in sources]
    for margin in (model.event, model.dropout):
        basis, varying = margin.basis, margin.varying
        fits += [
            margin.coef.shape == (basis.size,),
            margin.beta.shape == (p if basis.present else 0,),
            margin.gamma.shape == (len(varying) if basis.present else 0,),
            all(0 <= i < p for i in varying) and varying == model.event.varying,
            bool((np.diff(basis.knots) > 0).all()),
            bool(np.isfinite(np.concatenate((margin.coef, margin.beta, margin.gamma))).all()),
        ]
        if all(fits) and basis.present:
            fits.append(bool((basis.slope_bounds() @ margin.coef > 0).all()))
    return all(fits)
