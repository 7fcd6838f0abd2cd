"""Where adjustments have their joint model from."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any

import numpy as np

from cocensor._validation import FloatArray, as_matrix, check_length, column_names
from cocensor.copulas import Copula, Independence
from cocensor.joint import CopulaChoice, JointModel
from cocensor.joint.fit import JointProblem, Times, check_settings, resolve_family
from cocensor.joint.margins import Margins
from cocensor.joint.model import refuse_zero
from cocensor.outcomes import Survival


def chosen_copula(copula: Any) -> Any:
    """Independence for None; the copula of what :func:`select_copula` or :func:`fit_joint` returned."""
    if copula is None:
        return Independence()
    return copula.copula if isinstance(copula, CopulaChoice | JointModel) else copula


@dataclass(frozen=True)
class JointRecipe:
    """How an adjustment fits its joint model."""

    family: type[Copula]
    theta: float | None
    margins: Margins
    knots: int
    penalty: float
    times: Times
    #: For recipes that are used on one sample under many copulas.
    prepared: Prepared | None = field(default=None, compare=False)

    @classmethod
    def of(cls, copula: Any, margins: Margins, knots: int, penalty: float, times: Times) -> JointRecipe:
        """The recipe with a copula, a family whose θ is estimated, or a choice."""
        check_settings(margins, penalty, knots, times)
        family, theta = resolve_family(chosen_copula(copula))
        return cls(family, theta, margins, knots, penalty, times)

    @property
    def settings(self) -> dict[str, Any]:
        """All but the copula, by name."""
        return {"margins": self.margins, "knots": self.knots, "penalty": self.penalty, "times": self.times}

    def __str__(self) -> str:
        if self.theta is None:
            return f"a {self.family.name} copula with the θ that fits best"
        return repr(self.family(self.theta))

    def fit(self, X: Any, y: Survival) -> JointModel:
        """The model of a sample."""
        problem = JointProblem.of if self.prepared is None else self.prepared.of
        return problem(X, y, **self.settings).fit(self.family, self.theta)


class Prepared:
    """Samples made ready for fits, each once; a fit at one copula is a start for the next."""

    def __init__(self) -> None:
        self._problems: dict[bytes, JointProblem] = {}

    def of(self, X: Any, y: Survival, **settings: Any) -> JointProblem:
        """As :meth:`JointProblem.of`; a sample is known by its content."""
        content = blake2b(repr((settings, None if X is None else column_names(X))).encode())
        for part in (None if X is None else as_matrix(X, "X"), y.time, y.event, y.administrative):
            content.update(b"" if part is None else np.ascontiguousarray(part).tobytes())
        key = content.digest()
        if key not in self._problems:
            self._problems[key] = JointProblem.of(X, y, **settings)
        return self._problems[key]


@dataclass(frozen=True, eq=False)
class JointGivenCovariates:
    """A joint model given covariates, taken as it is or fitted to the training data."""

    recipe: JointRecipe
    model: JointModel | None = None
    #: Why there is no model, for samples in which as a rule nobody needs one.
    missing: str = ""

    def fitted(self, y: Survival, x: Any) -> JointGivenCovariates:
        """The same with a model: the one it has, or one fitted to ``x`` and ``y``."""
        if self.model is not None:
            return self
        if x is None:
            raise ValueError("x_train is needed: the joint model is given covariates.")
        check_length(as_matrix(x, "x_train"), "x_train", len(y), "y_train")
        try:
            return replace(self, model=self.recipe.fit(x, y))
        except ValueError as error:
            sentence = f"the joint model cannot be fitted to x_train and y_train: {error}"
            if y.n_events in (0, len(y)):
                return replace(self, missing=sentence)
            raise ValueError(sentence) from error

    def of(self, x: Any, y: Survival) -> tuple[JointModel, FloatArray]:
        """The model, and the covariates of the test subjects."""
        if self.model is None:
            raise ValueError(self.missing)
        if x is None and self.model.event.beta.size:
            raise ValueError("x_test is needed: the joint model is given covariates.")
        refuse_zero(y.time, "y_test")
        return self.model, self.model.covariates(x, len(y), "x_test", "y_test")


def check_model(model: Any, copula: Any) -> None:
    """Refuse what is not a joint model, or a model beside a copula."""
    if model is None:
        return
    if not isinstance(model, JointModel):
        raise TypeError(f"model must be a JointModel, but is of type {type(model).__name__}.")
    if copula is not None:
        raise ValueError(f"copula must be None where a model is given, but is {copula!r}.")
