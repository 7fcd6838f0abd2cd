"""How adjustments fit a joint model of event and dropout."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cocensor._checks import Rows, check_choice
from cocensor._newton import Minimum
from cocensor._notes import Note
from cocensor._parallel import one_blas_thread
from cocensor.adjustments.encoded import encoded
from cocensor.data import Survival
from cocensor.joint import JointModel
from cocensor.joint.design import Design
from cocensor.joint.margins import MarginForm
from cocensor.joint.problem import JointProblem
from cocensor.joint.settings import DEFAULT_MARGINS, AskedTimeKind, Knots, check_settings, resolve_family

#: Why nothing is known of the error that a fit brings in.
FITTED_ELSEWHERE = "the joint model was fitted elsewhere, and its settings are unknown."


@dataclass(frozen=True, eq=False, kw_only=True)
class JointSettings:
    """The settings of :func:`fit_joint` but for the copula; ``model`` is a fitted model to use instead."""

    margins: MarginForm = DEFAULT_MARGINS
    knots: Knots = "auto"
    penalty: float | None = None
    time_kind: AskedTimeKind = "auto"
    model: JointModel | None = None

    def check(self, copula: Any) -> None:
        """Refuse settings that no model can be fitted with, or a model beside a copula."""
        check_choice(self.time_kind, "time_kind", ("auto", "continuous", "grouped"))
        check_settings(self.margins, self.penalty, self.knots, self.time_kind)
        if self.model is None:
            return
        if not isinstance(self.model, JointModel):
            raise TypeError(f"model must be a JointModel, but is of type {type(self.model).__name__}.")
        if copula is not None and copula != self.model.copula:
            raise ValueError(f"copula must be None where a model is given, but is {copula!r}.")

    def problem(self, X: Any, y: Survival, of: str) -> JointProblem:
        """A sample, called ``of``, made ready for fits with any copula."""
        try:
            return JointProblem.of(
                X, y, margins=self.margins, knots=self.knots, penalty=self.penalty, time_kind=self.time_kind
            )
        except ValueError as error:
            raise ValueError(f"the joint model cannot be fitted to {of}: {error}") from error


@dataclass(frozen=True, eq=False)
class JointFit:
    """A joint model and the sample that it was fitted to; or why it could not be, where nobody may need it.

    In a sample without events, or where nobody is censored before its last time, there may be no joint model; whether
    one is needed shows later.
    """

    model: JointModel | None
    problem: JointProblem | None = None
    missing: str = ""
    optimum: Minimum | None = None

    @classmethod
    def of(cls, settings: JointSettings, copula: Any, X: Any, y: Survival, sample: str) -> JointFit:
        """The model that is given, or one fitted to ``X`` and ``y``."""
        if settings.model is not None:
            return cls(settings.model)
        try:
            return cls(None, settings.problem(X, y, sample)).with_copula(copula)
        except ValueError as error:
            if not y.n_events or (y.event | (y.time == y.t_max)).all():
                return cls(None, missing=str(error))
            raise

    def with_copula(self, copula: Any) -> JointFit:
        """Fitted to the same sample under another copula, starting from the fits so far."""
        if self.problem is None:
            return self
        with one_blas_thread:
            optimum, model = self.problem.optimum(*resolve_family(copula))
        return JointFit(model, self.problem, optimum=optimum)

    def resampled(self, rows: Rows, copula: Any) -> JointFit:
        """Fitted to ``rows`` drawn from the same sample, by case weights; design, knots and kind of times are kept."""
        if self.model is None:
            return self
        if self.problem is None:
            raise ValueError(FITTED_ELSEWHERE)
        weight = np.bincount(rows, minlength=len(self.problem.sample))
        return replace(self, problem=self.problem.weighted(weight, ridge="refit")).with_copula(copula)

    @property
    def model_alone(self) -> JointFit:
        """Without the sample: nothing can be fitted again, and nothing is known of the error."""
        return JointFit(self.model, missing=self.missing)

    @property
    def needed(self) -> JointModel:
        """The model, or a refusal that says why there is none."""
        if self.model is None:
            raise ValueError(self.missing)
        return self.model


def design_given(x: Any, name: str, n: int, of: str) -> tuple[Design, tuple[Note, ...]]:
    """Covariates as a joint model is given them, and what was left out of them."""
    if x is None:
        raise ValueError(f"{name} is needed: the joint model conditions on covariates.")
    encoding, matrix, notes = encoded(x, name, n, of)
    return Design.encoded(encoding, matrix), notes
