"""A fitted joint model of event and dropout."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from cocensor._files import write_whole
from cocensor._numerics import log1mexp
from cocensor._validation import (
    FloatArray,
    Seed,
    as_flags,
    as_generator,
    as_matrix,
    as_table,
    as_times,
    as_vector,
    check_length,
    check_whole,
    column_names,
    refuse_first,
    row_blocks,
)
from cocensor.copulas import Copula, copula_families
from cocensor.copulas.steps import log_step
from cocensor.joint.likelihood import Likelihood, last_end, start_of_group
from cocensor.joint.margins import Basis, Margin
from cocensor.outcomes import Survival

_FORMAT = "cocensor joint model, version 1"
_TINY = 1e-300


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
        \log(-\log S(t \mid x)) = s(\log t) + x'\beta.

    Made by :func:`fit_joint`. The dependence is identified by the form of the margins alone: read θ̂ as a hint, and
    see what other τ would say.

    Attributes
    ----------
    copula : Copula
    event, censoring : Margin
        With ``basis.knots`` (of log time), ``coef`` and ``beta``, in the units of the data.
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
    times_, times_reason_ : str
        Which likelihood was used for the times, "continuous" or "grouped", and why.
    n_, t_max_ : int, float
        The number of subjects fitted to, and their largest time: beyond it the margins extrapolate.
    """

    copula: Copula
    event: Margin
    censoring: Margin
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
    times_: Literal["continuous", "grouped"]
    times_reason_: str
    ends_: FloatArray | None
    n_: int
    t_max_: float

    # --- what it says of subjects --------------------------------------------------------------------

    def survival(self, t: npt.ArrayLike, X: Any = None) -> FloatArray:
        r""":math:`S_E(t \mid x)` for each row of ``X`` at each of ``t``, (n, len(t)); one row without covariates."""
        return self._survival(self.event, t, X)

    def censoring_survival(self, t: npt.ArrayLike, X: Any = None) -> FloatArray:
        r""":math:`S_C(t \mid x)` for each row of ``X`` at each of ``t``, (n, len(t))."""
        return self._survival(self.censoring, t, X)

    def conditional_survival(
        self, t: npt.ArrayLike, c: npt.ArrayLike, X: Any = None, administrative: Any = None
    ) -> FloatArray:
        r""":math:`P(E > t \mid E > c, C = c, x)` for subjects that dropped out at ``c``, (len(c), len(t)).

        .. math:: q(t) = h_2(S_E(t), S_C(c)) / h_2(S_E(c), S_C(c)),

        1 up to c. Where ``administrative`` is set the study ended at c instead, and all that is known is C > c:
        :math:`q(t) = C(S_E(t), S_C(c)) / C(S_E(c), S_C(c))`.
        """
        t, c = as_times(np.atleast_1d(t), "t"), as_vector(np.atleast_1d(c), "c")
        refuse_zero(c, "c")
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
            raise ValueError("X is None: say how many draws with n.")
        if X is not None and n is not None:
            raise ValueError("n must be None where X says how many draws there are.")
        if n is not None:
            check_whole(n, "n")
        rng = as_generator(rng)
        design = self.covariates(X, n)
        u, v = self.copula.sample(design.shape[0], rng).T
        times = []
        for margin, survival in ((self.event, u), (self.censoring, v)):
            with np.errstate(over="ignore"):
                times.append(np.exp(margin.log_time(np.log(-np.log(survival)) - margin.relative(design))))
        return times[0], times[1]

    def loglik(self, X: Any, y: Any) -> float:
        """The log-likelihood of outcomes, also of others than those fitted to (``X`` is None without covariates)."""
        outcomes = Survival.coerce(y)
        refuse_zero(outcomes.time, "y")
        design = self.covariates(X, len(outcomes))
        likelihood = Likelihood(outcomes, design, (self.event.basis, self.censoring.basis), self.ends_)
        parameters = [self.event.coef, self.event.beta, self.censoring.coef, self.censoring.beta]
        return likelihood.value(np.concatenate(parameters), self.copula)

    # --- what it says of itself ----------------------------------------------------------------------

    def parameters(self) -> dict[str, tuple[float, float]]:
        """Estimate and standard error of every parameter, by name."""
        margins = (self.event, self.censoring)
        values = [value for each in margins for value in (*each.coef, *each.beta)]
        if not self.theta_fixed:
            values.append(self.copula.theta)
        errors = np.sqrt(np.diag(self.covariance_))
        return {
            name: (float(value), float(error))
            for name, value, error in zip(self.names_, values, errors, strict=True)
        }

    def summary(self) -> str:
        """A readable table of the fit."""
        kind = f"{self.event.name} margins, {self.copula.name} copula"
        lines = [
            f"Joint model of event and dropout: {kind}",
            f"{self.n_:,} subjects, log-likelihood {self.loglik_:.4f}, times {self.times_} ({self.times_reason_})",
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
            lines += ["", "τ is identified by the form of the margins alone: a hint, not a measurement."]
        return "\n".join(lines)

    def __repr__(self) -> str:
        p = self.event.beta.size
        return f"JointModel({self.copula!r}, margins={self.event.name!r}, n={self.n_}, covariates={p})"

    # --- files ---------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a JSON file, which :meth:`load` reads; numbers keep all their digits."""
        content = {
            "format": _FORMAT,
            "copula": {"family": self.copula.name, "theta": self.copula.theta},
            "event": _margin_to_json(self.event),
            "censoring": _margin_to_json(self.censoring),
            "starts": [{k: _number(v) for k, v in asdict(start).items()} for start in self.starts_],
            "covariance": [[_number(v) for v in row] for row in self.covariance_],
            "ends": None if self.ends_ is None else self.ends_.tolist(),
            **{name: _number(getattr(self, name)) for name in _PLAIN},
        }
        write_whole(path, json.dumps(content, indent=1, allow_nan=False))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> JointModel:
        """Read a model from a file that :meth:`save` has written."""
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
        except (ValueError, RecursionError) as error:  # also numbers and nesting beyond Python's limits
            raise ValueError(
                f"path must name a saved joint model, but {path} is not JSON: {error}."
            ) from None
        if not isinstance(content, dict) or content.get("format") != _FORMAT:
            raise ValueError(f"path must name a saved joint model, but {path} is not one.")
        try:
            model = cls(
                copula=copula_families()[content["copula"]["family"]](content["copula"]["theta"]),
                event=_margin_from_json(content["event"]),
                censoring=_margin_from_json(content["censoring"]),
                starts_=tuple(Start(**_read(Start, each)) for each in content["starts"]),
                covariance_=np.array(content["covariance"], dtype=np.float64),
                ends_=None if content["ends"] is None else np.array(content["ends"], dtype=np.float64),
                **_read(cls, content, _PLAIN),
            )
        except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
            raise ValueError(f"path must name a saved joint model, but {path} is damaged: {error}.") from None
        _check_loaded(model, path)
        return model

    # --- helpers -------------------------------------------------------------------------------------

    def _survival(self, margin: Margin, t: npt.ArrayLike, X: Any) -> FloatArray:
        t = as_times(np.atleast_1d(t), "t")
        relative = margin.relative(self.covariates(X, 1 if X is None else None))
        with np.errstate(over="ignore"):
            return np.exp(-np.exp(self._baseline(margin, t) + relative[:, None]))

    def _baseline(self, margin: Margin, t: FloatArray) -> FloatArray:
        """s(log t), −∞ at 0."""
        return np.where(t > 0, margin.baseline(np.log(np.where(t > 0, t, 1.0))), -np.inf)

    def covariates(self, X: Any, n: int | None, name: str = "X", rows_of: str = "y") -> FloatArray:
        """The covariates as an array, one row for each of ``n``; for a model without, it has no columns."""
        p = self.event.beta.size
        if not p:
            rows = (1 if X is None else len(as_table(X, "X"))) if n is None else n
            return np.empty((rows, 0))
        if X is None:
            raise ValueError(f"X is needed: the model has {p} covariates.")
        names = column_names(X)
        if names is not None and self.columns_ is not None and tuple(names) != self.columns_:
            raise ValueError(
                f"{name} must have the columns {list(self.columns_)} in this order, but has {names}."
            )
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


class Conditional:
    """P(E > t given what a censoring at c says), for blocks of subjects and times.

    The question of imputation: :meth:`JointModel.conditional_survival` and the adjustments ask it.
    """

    def __init__(
        self, model: JointModel, t: FloatArray, c: FloatArray, X: FloatArray, ended: npt.NDArray[np.bool_]
    ) -> None:
        self._copula, self._ended = model.copula, ended
        self._t, self._c = t, c
        self._relative = model.event.relative(X)
        before = c
        if model.ends_ is not None:
            # What is recorded at the end of a group has happened by then, and at no time in between.
            t, before = last_end(model.ends_, t), start_of_group(model.ends_, c)
            c = np.where(ended, last_end(model.ends_, c), c)
        self._at_t = model._baseline(model.event, t)
        self._x_c = _hazard(model._baseline(model.event, c) + self._relative)
        relative = model.censoring.relative(X)
        self._y, self._y_before = (
            _hazard(model._baseline(model.censoring, each) + relative) for each in (c, before)
        )
        self._grouped = model.ends_ is not None
        if self._grouped:
            # A step of the dropout hazard too small for double precision is the smallest that is not.
            self._y = np.maximum(self._y, np.nextafter(self._y_before, np.inf))

    def __call__(self, rows: npt.NDArray[np.intp], columns: slice) -> FloatArray:
        """The probabilities of ``rows`` at the times ``columns``; 1 for times up to c."""
        x_c = self._x_c[rows][:, None]
        x_t = np.maximum(_hazard(self._at_t[columns] + self._relative[rows][:, None]), x_c)
        ended = self._ended[rows]
        result = np.empty(x_t.shape)
        for log_chance, mask in ((self._log_cdf, ended), (self._log_dropout, ~ended)):
            if mask.any():
                at = rows[mask]
                with np.errstate(invalid="ignore"):
                    ratio = np.exp(log_chance(x_t[mask], at) - log_chance(x_c[mask], at))
                # Beyond what double precision can tell, nobody is left.
                result[mask] = np.where(np.isnan(ratio), 0.0, np.minimum(ratio, 1.0))
        return np.where(self._t[columns] <= self._c[rows][:, None], 1.0, result)

    def _log_cdf(self, x: FloatArray, rows: npt.NDArray[np.intp]) -> FloatArray:
        return self._copula.log_cdf_hazard(x, self._y[rows][:, None])

    def _log_dropout(self, x: FloatArray, rows: npt.NDArray[np.intp]) -> FloatArray:
        y = self._y[rows][:, None]
        if not self._grouped:
            return self._copula.log_hfunc2_hazard(x, y)
        return log_step(self._copula, self._y_before[rows][:, None], y, x)


class AtRisk:
    """S_E(t) / C(S_E(t), S_C(t)): for how many event-free subjects one stands that is still under observation."""

    def __init__(self, model: JointModel, t: FloatArray, X: FloatArray) -> None:
        if model.ends_ is not None:
            t = last_end(model.ends_, t)
        self._copula = model.copula
        self._margins = [(model._baseline(m, t), m.relative(X)) for m in (model.event, model.censoring)]

    def __call__(self, rows: npt.NDArray[np.intp], columns: slice) -> FloatArray:
        """The weights of ``rows`` at the times ``columns``."""
        x, y = (_hazard(at_t[columns] + relative[rows][:, None]) for at_t, relative in self._margins)
        with np.errstate(over="ignore"):
            return np.exp(-x - self._copula.log_cdf_hazard(x, y))

    def event_survival(self, rows: npt.NDArray[np.intp], columns: slice) -> FloatArray:
        """S_E of ``rows`` at the times ``columns``."""
        at_t, relative = self._margins[0]
        return np.exp(-_hazard(at_t[columns] + relative[rows][:, None]))


def event_weights(model: JointModel, t: FloatArray, X: FloatArray) -> FloatArray:
    """1 / P(C ≥ t given E = t): for how many events at ``t`` one stands that is seen; one row of X for each t."""
    relative = [margin.relative(X) for margin in (model.event, model.censoring)]

    def hazards(t: FloatArray) -> list[FloatArray]:
        margins = (model.event, model.censoring)
        return [_hazard(model._baseline(m, t) + r) for m, r in zip(margins, relative, strict=True)]

    (x, y), copula = hazards(t), model.copula
    with np.errstate(over="ignore"):
        if model.ends_ is None:
            return np.exp(-copula.log_hfunc1_hazard(x, y))
        # Over the group: [S_E(t−) − S_E(t)] / [C(S_E(t−), S_C(t−)) − C(S_E(t), S_C(t−))].
        x_before, y_before = hazards(start_of_group(model.ends_, t))
        happened = log1mexp(x - x_before) - x_before
        return np.exp(happened - log_step(copula, x_before, x, y_before))


def refuse_zero(time: FloatArray, name: str) -> None:
    """Refuse times that have no logarithm."""
    if (time <= 0).any():
        refuse_first(time <= 0, time, f"{name} must have times above 0 for a joint model")


def _hazard(log_hazard: FloatArray) -> FloatArray:
    """The cumulative hazard, inside the positive numbers, where the copulas' formulas hold."""
    return np.exp(np.clip(log_hazard, np.log(_TINY), 600.0))


_PLAIN = (
    "loglik_",
    "nll_",
    "penalty",
    "theta_fixed",
    "converged_",
    "theta_se_",
    "tau_se_",
    "names_",
    "columns_",
    "times_",
    "times_reason_",
    "n_",
    "t_max_",
)


def _number(value: Any) -> Any:
    """JSON has no NaN and no tuples of numpy's."""
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else str(float(value))
    return list(value) if isinstance(value, tuple) else value


def _read(kind: type[Any], content: dict[str, Any], names: tuple[str, ...] | None = None) -> dict[str, Any]:
    """The fields of a dataclass from JSON, each of its type."""
    return {
        each.name: _READERS.get(str(each.type), _text)(content[each.name])
        for each in fields(kind)
        if names is None or each.name in names
    }


def _of_type(kind: type[Any], value: Any) -> Any:
    if type(value) is not kind:
        raise TypeError(f"{str(value)[:20]!r} is no {kind.__name__}")
    return value


_text = partial(_of_type, str)


def _texts(values: Any) -> tuple[str, ...]:
    return tuple(map(_text, _of_type(list, values)))


_READERS: dict[str, Callable[[Any], Any]] = {
    "float": float,  # which reads "nan" and "inf" as well
    "int": partial(_of_type, int),
    "bool": partial(_of_type, bool),
    "tuple[str, ...]": _texts,
    "tuple[str, ...] | None": lambda values: None if values is None else _texts(values),
}


def _check_loaded(model: JointModel, path: Any) -> None:
    """Refuse a file whose parts do not belong together."""
    p, size = model.event.beta.size, len(model.names_)
    fits = [model.covariance_.shape == (size, size), size == _n_parameters(model)]
    for margin in (model.event, model.censoring):
        basis = margin.basis
        fits += [margin.coef.size == basis.size, margin.beta.size == (p if basis.present else 0)]
        fits += [
            bool((np.diff(basis.knots) > 0).all()),
            bool(np.isfinite(np.append(margin.coef, margin.beta)).all()),
        ]
        if all(fits) and basis.present:
            fits.append(bool((basis.slope_bounds() @ margin.coef > 0).all()))
    fits.append(model.times_ == ("continuous" if model.ends_ is None else "grouped"))
    fits.append(model.ends_ is None or bool((np.diff(model.ends_) > 0).all()))
    if not all(fits):
        raise ValueError(
            f"path must name a saved joint model, but the parts of {path} do not belong together."
        )


def _n_parameters(model: JointModel) -> int:
    margins = (model.event, model.censoring)
    return sum(m.coef.size + m.beta.size for m in margins) + (not model.theta_fixed)


def _margin_to_json(margin: Margin) -> dict[str, list[float]]:
    return {"knots": margin.basis.knots.tolist(), "coef": margin.coef.tolist(), "beta": margin.beta.tolist()}


def _margin_from_json(content: dict[str, list[float]]) -> Margin:
    knots, coef, beta = (np.array(content[name], dtype=np.float64) for name in ("knots", "coef", "beta"))
    return Margin(Basis(knots, present=coef.size > 0), coef, beta)
