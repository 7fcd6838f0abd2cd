"""How covariates and predictions become columns of an imputation model, for subjects fitted to and any others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray, check_length
from cocensor.data.covariates import Encoding
from cocensor.data.predictions import Predicted, RiskScores
from cocensor.joint.design import Design
from cocensor.joint.margins import Basis

Ridge = Literal["", "scores", "covariates", "curvature", "time"]
# Of a natural spline with 3 degrees of freedom.
_OUTER_KNOTS = (0.05, 0.95)
# A function that those before it explain up to this share of its size is left out.
_COLLINEAR = 1e-6


@dataclass(frozen=True, eq=False)
class Centring:
    """What is added to the scores of each fold, so that all folds have the same mean."""

    labels: npt.NDArray[Any]
    shifts: FloatArray

    @classmethod
    def of(cls, score: FloatArray, folds: npt.NDArray[Any]) -> Centring:
        """The means of the folds, against the mean of all."""
        labels, fold = np.unique(folds, return_inverse=True)
        return cls(labels, float(score.mean()) - np.bincount(fold, score) / np.bincount(fold))

    def __call__(self, score: FloatArray, folds: npt.NDArray[Any] | None) -> FloatArray:
        """The scores of subjects in some of the ``folds``."""
        if folds is None:
            raise ValueError("folds are needed: the fit was to out-of-fold predictions.")
        at = np.minimum(np.searchsorted(self.labels, folds), self.labels.size - 1)
        unknown = self.labels[at] != folds
        if unknown.any():
            raise ValueError(f"folds must be those of the fit, but has {folds[unknown][0].item()!r}.")
        return score + self.shifts[at]


@dataclass(frozen=True, eq=False)
class Score:
    r"""The risk score :math:`\log(-\log \hat S(t))` of a model, or (t is None) the one that it predicts.

    ``lowest`` and ``highest`` are those of the subjects fitted to: a prediction of 0 or 1 gets one of them.
    """

    model: str
    t: float | None
    lowest: float
    highest: float
    centring: Centring | None = None

    @classmethod
    def fitted(
        cls, model: str, t: float | None, score: FloatArray, folds: npt.NDArray[Any] | None
    ) -> tuple[Score, FloatArray]:
        """What the finite ``score`` of the subjects fitted to says, and that score centred within folds."""
        centring = None if folds is None else Centring.of(score, folds)
        made = cls(model, t, float(score.min()), float(score.max()), centring)
        return made, score if centring is None else centring(score, folds)

    def of(self, predictions: Mapping[str, Predicted], folds: npt.NDArray[Any] | None = None) -> FloatArray:
        """The scores of any subjects."""
        predicted = predictions.get(self.model)
        if predicted is None:
            raise ValueError(f"predictions must hold those of {self.model!r}, as in the fit.")
        is_risk = isinstance(predicted, RiskScores)
        if is_risk != (self.t is None):
            kind = "risk scores" if self.t is None else "survival curves"
            raise ValueError(f"predictions of {self.model!r} must be {kind}, as in the fit.")
        if isinstance(predicted, RiskScores):
            score = predicted.risk
        elif self.t is not None:
            score = within(raw_score(predicted, self.t), self.lowest, self.highest)
        return score if self.centring is None else self.centring(score, folds)


def raw_score(predicted: Predicted, t: float) -> FloatArray:
    """log(−log Ŝ(t)); infinite for a prediction of 0 or 1."""
    with np.errstate(divide="ignore"):
        return np.log(-np.log(predicted.read(np.array([t]), slice(None))[:, 0]))


def within(score: FloatArray, lowest: float, highest: float) -> FloatArray:
    """The scores, with the infinite ones set to the lowest or highest."""
    finite = np.isfinite(score)
    return score if finite.all() else np.where(finite, score, np.clip(score, lowest, highest))


@dataclass(frozen=True, eq=False)
class Curvature:
    """What a natural spline of a score has beyond the straight line.

    Over the subjects fitted to, its functions are orthonormal, and orthogonal to that line.
    """

    centre: float
    scale: float
    basis: Basis

    @classmethod
    def fitted(cls, score: FloatArray, df: int) -> Curvature | None:
        """With knots at quantiles of the ``score`` of the subjects fitted to; None where these are too few."""
        knots = np.unique(np.quantile(score, np.linspace(*_OUTER_KNOTS, df + 1)))
        if knots.size < 3 or score.size <= knots.size:
            return None
        centre, scale = float(score.mean()), spread_of(score)
        made = cls(centre, scale, Basis((knots - centre) / scale))
        columns = made.of(score)
        _, upper = np.linalg.qr(columns)
        kept = np.abs(np.diag(upper)) > _COLLINEAR * np.linalg.norm(columns, axis=0)
        if not kept.all():
            _, upper = np.linalg.qr(columns[:, kept])
        transform = np.zeros((columns.shape[1], upper.shape[1]))
        transform[kept] = np.linalg.inv(upper) * np.sqrt(score.size)
        return cls(centre, scale, Basis(made.basis.knots, transform[:, 2:]))

    @property
    def size(self) -> int:
        """How many functions there are."""
        return int(self.basis.matrix.shape[1])

    def of(self, score: FloatArray) -> FloatArray:
        """The functions of any scores, (n, size)."""
        return self.basis.values((score - self.centre) / self.scale)


def spread_of(value: FloatArray) -> float:
    """The standard deviation; 0 where it is rounding alone."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = float(np.std(value))
    return 0.0 if found <= 1e-12 * max(1.0, float(np.abs(value).max(initial=0.0))) else found


@dataclass(frozen=True, eq=False)
class Column:
    """A score, one of the functions that bend it, or a covariate by its place; and the ridge that shrinks it."""

    name: str
    ridge: Ridge
    source: Score | int
    curvature: Curvature | None = None
    function: int = 0


@dataclass(frozen=True, eq=False)
class ImputationDesign(Design):
    """What an imputation model is given of the subjects fitted to, and how it comes about for any others.

    ``sources`` says how each column is made, ``covariates`` how those of the fit were encoded; None where there were
    none.
    """

    sources: tuple[Column, ...] = ()
    covariates: Encoding | None = None

    def matrix_of(
        self,
        n: int,
        x: Any,
        predictions: Mapping[str, Predicted],
        folds: npt.NDArray[Any] | None = None,
    ) -> FloatArray:
        """The columns of ``n`` subjects with covariates ``x`` and predictions."""
        given = self._covariates(x, n)
        matrix = np.empty((n, len(self.sources)))
        scores: dict[Score, FloatArray] = {}
        bent: dict[Curvature, FloatArray] = {}
        for j, column in enumerate(self.sources):
            if not isinstance(column.source, Score):
                matrix[:, j] = given[:, column.source]
                continue
            if column.source not in scores:
                scores[column.source] = column.source.of(predictions, folds)
                check_length(scores[column.source], f"predictions[{column.source.model!r}]", n, "y_test")
            score, curvature = scores[column.source], column.curvature
            if curvature is None:
                matrix[:, j] = score
                continue
            if curvature not in bent:
                bent[curvature] = curvature.of(score)
            matrix[:, j] = bent[curvature][:, column.function]
        return matrix

    def _covariates(self, x: Any, n: int) -> FloatArray:
        if self.covariates is None:
            return np.empty((n, 0))
        if x is None:
            raise ValueError("x_test is needed: the joint model conditions on covariates.")
        matrix = self.covariates.matrix(x, "x_test")
        check_length(matrix, "x_test", n, "y_test")
        return matrix
