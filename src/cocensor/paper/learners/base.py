"""The base of survival learners."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple, Self

from cocensor._checks import FloatArray, as_matrix, check_length
from cocensor.data import Predictions, Survival
from cocensor.data.covariates import column_names


class Part(NamedTuple):
    """Checked covariates (n, p) and the outcomes of the same subjects."""

    X: FloatArray
    y: Survival


class Learner(ABC):
    """A model that learns from covariates and outcomes to predict a survival curve for each subject.

    The constructor takes hyperparameters and nothing else; ``dataclasses.replace(learner)`` is an unfitted copy.
    Every learner here assumes that event and censoring are independent given x: an end of study counts as any
    other censoring, and a dependent dropout biases the predicted curves.

    Covariates are numbers, in an array or a data frame: encode categories before. With frames the names and
    the order of the columns must stay those of ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from cocensor.paper.learners import learner
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 1))
    >>> model = learner("coxph").fit(X, (rng.exponential(np.exp(-X[:, 0])), np.ones(200)))
    >>> model.predict([[-1.0], [1.0]]).median().round(1)
    array([1.8, 0.3])
    """

    name: ClassVar[str]

    def fit(self, X: Any, y: Any, X_val: Any = None, y_val: Any = None) -> Self:
        """Learn from covariates (n, p) and outcomes.

        A validation part is for early stopping: only the networks look at it, the others learn from ``X`` and
        ``y`` alone.
        """
        self._is_fitted = False
        self._columns = column_names(X)
        design = as_matrix(X, "X")
        self._width = design.shape[1]
        part = _part(design, "X", y, "y")
        if not part.y.n_events:
            raise ValueError("y has no event: nothing to learn from.")
        if (X_val is None) != (y_val is None):
            raise ValueError(
                f"{'X_val' if X_val is None else 'y_val'} is missing: a validation part has both."
            )
        validation = None if X_val is None else _part(self._design(X_val, "X_val"), "X_val", y_val, "y_val")
        self._fit(part, validation)
        self._is_fitted = True
        return self

    def predict(self, X: Any) -> Predictions:
        """The survival curve of each row; what holds between and beyond its times is stored with it."""
        if not self.is_fitted:
            raise ValueError(f"{type(self).__name__} is not fitted: call fit(X, y) first.")
        return self._predict(self._design(X, "X"))

    @property
    def is_fitted(self) -> bool:
        """Whether ``fit`` has succeeded."""
        return getattr(self, "_is_fitted", False)

    @abstractmethod
    def _fit(self, part: Part, validation: Part | None) -> None: ...

    @abstractmethod
    def _predict(self, X: FloatArray) -> Predictions: ...

    def _design(self, X: Any, name: str) -> FloatArray:
        """Covariates with the columns of ``fit``."""
        names = column_names(X)
        if names is not None and self._columns is not None and names != self._columns:
            raise ValueError(f"{name} must have the columns {self._columns} in this order, but has {names}.")
        design = as_matrix(X, name)
        if design.shape[1] != self._width:
            raise ValueError(
                f"{name} must have {self._width} columns, as X in fit, but has {design.shape[1]}."
            )
        return design


def _part(X: FloatArray, x_name: str, y: Any, y_name: str) -> Part:
    outcomes = Survival.coerce(y, y_name)
    check_length(X, x_name, len(outcomes), y_name)
    return Part(X, outcomes)
